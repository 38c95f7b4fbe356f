//! The long texts of note codes, which `netloom explain E0501` prints.

/// Returns the long text of a code.
pub fn explain_code(code: &str) -> Option<&'static str> {
    let found = codes().find(|(known, _, _)| known.eq_ignore_ascii_case(code));
    found.map(|(_, _, text)| text)
}

/// A code, its title and its long text.
pub type Code = (&'static str, &'static str, &'static str);

/// Returns every code of experiments, of files of real sites, and of settings of libraries.
pub fn codes() -> impl Iterator<Item = Code> {
    let of_sites = netloom_infiniband::codes::CODES;
    let of_opensm = netloom_infiniband::opensm::codes::CODES;
    let of_settings = netloom_settings::codes::CODES;
    let all = CODES.iter().chain(of_sites).chain(of_opensm);
    all.chain(of_settings).copied()
}

/// Every code with its title and its long text. The meaning of a code never changes.
const CODES: &[Code] = &[
    (
        "E0001",
        "the file is not valid TOML",
        "The file cannot be parsed as TOML 1.1. All syntax errors are reported together. Other \
         checks are skipped, since they would report false errors.\n\nCommon causes: a string \
         without quotes (rate = 100 Gbps instead of rate = \"100 Gbps\"), a missing bracket, or \
         the same key twice in a table.",
    ),
    (
        "E0002",
        "a --set argument cannot be applied",
        "--set takes the path of a key, an equals sign and a value: --set traffic.load=0.5. A \
         number in the path selects one table of a list (traffic.0.load). Without a number, all \
         tables of the list are set. A value that is not valid TOML is read as a string, so --set \
         link.delay='20 ns' needs no further quotes.",
    ),
    (
        "E0003",
        "the format of the file is missing or unknown",
        "Every file begins with netloom = 1, the version of its format. Later versions of netloom \
         use it to read old files correctly.",
    ),
    (
        "E0004",
        "the file that this one extends cannot be used",
        "extends = \"base.toml\" starts from another file. Tables are merged key by key. Lists and \
         single values replace those of the base file. A table with a different `kind` replaces \
         the whole table of the base file. File names are relative to the folder of the file that \
         contains them. The base file may extend another file, but the chain must not contain a \
         cycle.",
    ),
    (
        "E0005",
        "further errors",
        "A file with more than 1,000 errors is probably the wrong file, or damaged. The first \
         1,000 are reported one by one, and the rest are counted.",
    ),
    (
        "E0101",
        "a value has the wrong type",
        "The key takes a different type of value, for example an integer instead of a string. \
         `netloom explain KEY` describes what a key takes.",
    ),
    (
        "E0102",
        "a value is out of range",
        "The value has the right type but lies outside the range that is meaningful or can be \
         simulated. The help states the range.",
    ),
    (
        "E0103",
        "a quantity cannot be parsed",
        "Times, rates, amounts of data and lengths are strings with a unit: \"5.12 ns\", \"100 \
         Gbps\", \"4 KiB\", \"5 m\". The unit is mandatory, because a bare number is the most \
         common mistake in configuration files. Gbps counts bits and GB/s counts bytes. KiB is \
         1024 bytes and KB is 1000 bytes. Values are exact decimals or fractions (\"10/13 ns\"). \
         They are not rounded when the file is read. InfiniBand rates may be given by name: \"NDR \
         x4\".",
    ),
    (
        "E0104",
        "a name is unknown",
        "The key takes one of a fixed set of names, and the given name is not one of them. \
         `netloom explain` lists all kinds.",
    ),
    (
        "E0105",
        "a key is missing",
        "The table requires this key, and there is no sensible default for it.",
    ),
    (
        "E0106",
        "a key is unknown",
        "The key has no meaning in this table. Unknown keys are errors, so that a typing mistake \
         cannot silently select a default.",
    ),
    (
        "E0107",
        "two keys exclude each other",
        "Both keys set the same thing in different ways, for example the delay of a link and the \
         length of its cable. Remove one of them.",
    ),
    (
        "E0108",
        "a name cannot be displayed",
        "The names of experiments, classes and variants appear in tables, figures and terminals. A \
         terminal could execute control characters in a name, and a spreadsheet could evaluate a \
         name that begins with =, +, - or @. Begin the name with a letter or digit.",
    ),
    (
        "E0109",
        "two kinds have the same name",
        "A program that adds its own kinds reuses the name of an existing kind, so a file could \
         not select between the two. This error is for the author of the program: give the new \
         kind another `NAME`.",
    ),
    (
        "E0200",
        "the parameters of a topology do not fit together",
        "The parameters do not describe a fabric of this kind, or the fabric is too large (more \
         than 2^27 switch ports).",
    ),
    (
        "E0201",
        "the fabric cannot be built",
        "The parameters are valid, but the fabric could not be built. Either a graph file has \
         errors (each is reported with its line), or no connected random graph was found.",
    ),
    (
        "E0202",
        "a switch has too many ports",
        "A simulated switch has at most 512 ports. Use more levels, or trunks with fewer members.",
    ),
    (
        "E0203",
        "the fabric has fewer than two NICs",
        "Traffic goes from one NIC to another, so a fabric needs at least two NICs.",
    ),
    (
        "E0204",
        "a failure is not possible in this fabric",
        "A [[failure]] names a cable by a switch and its port (link = \"s3:7\"), names a switch \
         without hosts (switch = \"s70\"), or draws cables of one level of a fat tree (links = { \
         level = 1, share = 0.02 }). `netloom show switches` prints the switches with their ports. \
         To model failures of a real site, edit its files.",
    ),
    (
        "E0205",
        "failures separate hosts",
        "Without the cables and switches listed in [[failure]], some hosts have no path between \
         them. The message names one such pair. Remove some failures. If cables are drawn at \
         random, another seed draws others.",
    ),
    (
        "E0301",
        "a class of links is unknown",
        "[link.class.NAME] changes the rate or delay of one class of links. Each topology defines \
         its own classes: `host` for the cables of NICs, and others by level or dimension.",
    ),
    (
        "W0302",
        "NICs have links of different rates",
        "Workloads count time in flits of a NIC's link. If these links have several rates, the \
         times of a workload (from, until, lists of messages) apply to NICs with the rate of the \
         first one. Loads are fractions of each NIC's own link.",
    ),
    (
        "E0310",
        "a packet would cross a switch in zero time",
        "Decisions of a switch take effect at least one cycle later. Allocation and crossbar \
         together must therefore take at least one cycle.",
    ),
    (
        "E0311",
        "a buffer cannot hold a packet",
        "Flow control works on whole packets (virtual cut-through): a packet starts only if it \
         fits completely into the next buffer. A buffer smaller than the largest packet of a lane \
         would block that lane forever. In a pool, only the space reserved for the lane (min) \
         counts, because other lanes may occupy the rest.\n\nThe largest packet of a lane follows \
         from the messages of its classes, `link.mtu` and `link.header`, in whole flits.",
    ),
    (
        "W0312",
        "an input buffer is smaller than the credit round trip",
        "A sender may have as many flits in flight as fit into the buffer at the other end of the \
         link. A credit returns to the sender two wire delays after its flit left, plus the stages \
         of the switch (input, routing, allocation, credit) and of the sender (output). During \
         this time a busy link continues to send, and a packet starts only with credits for all of \
         its flits. So the full rate on one lane requires\n\n    round trip x rate + one largest \
         packet\n\nWith a smaller buffer, a single lane cannot fill the link, although several \
         lanes together may. This is a warning because small buffers are a valid subject of study.",
    ),
    (
        "E0313",
        "too many queues",
        "Every input has one queue per lane and output (\"voq\"), one per lane and destination \
         (\"voq-net\"), or the configured number of queues per lane (\"obqa\", \"dbbm\"). The \
         simulator supports at most 8192 queues per input.",
    ),
    (
        "E0314",
        "the minima of a pool exceed its size",
        "A pool reserves `min` for each lane, so that the other lanes cannot block it. All minima \
         together must fit into the pool. The default minimum of a lane is its largest packet.",
    ),
    (
        "E0315",
        "a buffer is too large to be counted",
        "Credits and free space are counted in flits, with 16 bits per lane: at most 65,535 flits, \
         or about 4 MiB with flits of 64 bytes. In a pool, the largest share of one lane counts \
         (`max`, or all that the minima of the others leave). The pool itself may have 2^24 flits. \
         Real switches have far smaller buffers.",
    ),
    (
        "E0320",
        "an input buffer has too little headroom for PFC",
        "PFC stops a lane when its part of an input buffer holds more than xoff. The signal \
         reaches the sender one wire delay later, and the sender finishes the packet that it has \
         begun. Until then the lane must accept all data, because a lossless fabric never drops \
         packets. So\n\n    size of the lane - xoff >= headroom = 2 x delay of the cable x rate + \
         2 largest packets\n\nin whole flits, for every class of links. The stages of the signal \
         and of the sender count as part of the second packet. If they take longer than it, they \
         replace it. `netloom check` prints headroom and thresholds for each cable. The default \
         xoff is the size less the headroom.",
    ),
    (
        "E0321",
        "PFC resumes a lane above the threshold that stops it",
        "A lane stops when it holds more than xoff and resumes at xon or less, so xon must not \
         exceed xoff. The default xon is xoff less one largest packet.",
    ),
    (
        "E0322",
        "PFC with an input buffer that lanes share",
        "Headroom is buffer space that must be free when a lane stops. In a pool, other lanes may \
         occupy it. Give each lane its own part: input-buffer = \"48 KiB\".",
    ),
    (
        "E0323",
        "switches or routing do not support the flow control",
        "Hierarchical switches require credits per lane. The bubble rule counts slots of a lane at \
         both ends of a link, which also requires credits per lane. With PFC or credits per queue, \
         use routing.deadlock = \"dateline\".",
    ),
    (
        "E0324",
        "a queue cannot hold a packet",
        "With flow-control = \"queue-credits\", and for the injection queues of nic.queues = \
         \"per-destination\", every queue has its own part of the buffer. That part is the size in \
         input-buffer = { per-queue = … }, or the part of a lane divided evenly among its queues. \
         A packet starts only if it fits completely, so a part smaller than the largest packet \
         would block the queue forever.",
    ),
    (
        "E0325",
        "an input-queued switch with links of several rates",
        "Without an output buffer, a packet moves from the input buffer through the crossbar onto \
         the link at a single rate. For links of different rates, use a switch with buffers at \
         inputs and outputs (kind = \"cioq\").",
    ),
    (
        "W0326",
        "an input-queued switch does not use a value",
        "kind = \"iq\" accepts the keys of kind = \"cioq\", so that two files can differ in this \
         one line. It has no output buffer, and its crossbar is as fast as its links. These values \
         have no effect and do not appear in the resolved file.",
    ),
    (
        "E0327",
        "an input-queued switch does not support this",
        "Without output buffers there is no place for the slots of the bubble rule or for the tags \
         of scfq and wfq. Input buffers are divided among lanes or queues and cannot be pooled. \
         The crossbar runs at the rate of the links, so the clock must have a simple ratio to \
         their flits.",
    ),
    (
        "E0328",
        "a hierarchical switch without stages before its first allocation",
        "A message in a hierarchical switch is allocated twice, to a central link and to an \
         output. Each allocation sees the result of the other one cycle later. `input` and \
         `routing` together must therefore take at least one cycle.",
    ),
    (
        "E0329",
        "one queue for several lanes that must stay apart",
        "queues = \"1q\" keeps all lanes in one queue in order of arrival, while buffer space is \
         still counted per lane. A lane can then wait for a packet of another lane at the head of \
         the queue. If the routing avoids deadlock with lanes (dateline, or a bubble in each \
         lane), the deadlock returns. A buffer size per queue does not define a size per lane.",
    ),
    (
        "E0330",
        "NIC queues per destination with a random routing",
        "A NIC with queues per destination moves packets into the injection queue that corresponds \
         to their queue at the first switch. That queue follows from the path, so there must be \
         exactly one path from one NIC to another.",
    ),
    (
        "E0331",
        "a buffer without queues has a size per queue",
        "{ per-queue = … } divides an input buffer among the queues of `queues`. Output buffers \
         and central buffers have one queue per lane. Give them an amount for each lane, or a \
         pool.",
    ),
    (
        "E0332",
        "lanes that cannot cross in parallel",
        "input-ports = \"per-lane\" gives every lane of an input its own crossbar port. This \
         requires a queue per lane, credits per lane (space that several lanes free at once is \
         counted per lane) and an output buffer that separates lanes. A switch has at most 2,048 \
         crossbar ports of this type.",
    ),
    (
        "E0340",
        "the tiles of a switch do not match its ports",
        "A tiled switch with P ports has R rows of tiles with I inputs each, and C columns with O \
         outputs each: P = R × I = C × O. `rows` and `columns` must divide the number of ports, \
         which may be larger than the topology needs (`ports`). A switch has at most 64 ports and \
         64 tiles. A tile has at most 16 inputs and 16 outputs. The outputs of a tile times the \
         virtual channels, and the rows times the virtual channels, must not exceed 64.",
    ),
    (
        "E0341",
        "a tiled switch has no arbiters and no lanes per service level",
        "The virtual channels of a tiled switch are those of the routing. All service levels share \
         them, and channels and rows are served in turn. So `qos.vls` must be 1, `arbiter` has \
         nothing to choose, and no table can reserve bandwidth for `[connections]`. NICs can have \
         an arbiter: with `nic-arbiter`, each NIC has a queue per service level.",
    ),
    (
        "E0342",
        "the core of a tiled switch is slower than its links",
        "Inside a tiled switch, a packet moves one flit per cycle of the core clock, without \
         interruption. A core slower than the links could not keep up with arriving packets.",
    ),
    (
        "E0343",
        "acknowledgements, stashes, congestion control and faults do not fit together",
        "A stash for reliability keeps copies until an acknowledgement arrives. Congestion marks \
         return with acknowledgements. A stash for congestion takes packets from inputs that \
         congestion control marks as congested. Packets destroyed by faults must be resent, which \
         requires stash = \"reliability\". A stash must also be able to hold a packet.",
    ),
    (
        "E0344",
        "a window that may be too small for a packet",
        "A flow with a window smaller than its next packet would wait forever. The window, and the \
         smallest window that marks can leave, must hold the largest packet.",
    ),
    (
        "E0345",
        "two kinds of queues per destination at one NIC",
        "Congestion control slows down the flow to one destination and lets the others continue. \
         Its NICs therefore have one send queue per destination, served in turn. Admittance and \
         injection queues (nic.queues = \"per-destination\") would duplicate them. NICs of tiled \
         switches have send queues served in turn or, with `nic-arbiter`, one queue per service \
         level. They have both only with a congestion control.",
    ),
    (
        "E0346",
        "a bounded NIC needs a queue per service level",
        "nic.buffer limits the data in a NIC. The rest waits in the application, in order per \
         service level. So the NIC must have queues per service level, not per destination. It \
         must also hold at least the largest packet of every level, or one level could block \
         another.",
    ),
    (
        "E0401",
        "the number of lanes is out of range",
        "InfiniBand has 15 data lanes (VL0 to VL14). VL15 is reserved for management and is not \
         counted.",
    ),
    (
        "E0402",
        "a row of [qos] is too long",
        "There are 16 service levels and 32 service channels. A row has one value for each, \
         starting with SL0 or SC0. If `sl2vl` or `sc2vl` is shorter, the missing entries use VL n \
         modulo the number of lanes. Levels missing from `sl2sc` have no channel. Levels missing \
         from `sl-mtu` have the MTU of the links.",
    ),
    (
        "E0403",
        "the routing needs more lanes than a link has",
        "A routing that avoids deadlock with lanes (deadlock = \"dateline\" uses two) multiplies \
         the lanes of the service levels: VL = lane of the level + number of lanes of the levels x \
         lane of the routing. A link has 15 data lanes in total.",
    ),
    (
        "E0404",
        "a map exception names a switch or port that does not exist",
        "Exceptions of sl2vl are keyed by switch, input port and output port. Exceptions of sc2vl \
         are keyed by switch and output port. Exceptions of sc2sc are keyed by switch and, \
         optionally, input and output port. All are counted from 0. `netloom show switches` lists \
         them.",
    ),
    (
        "E0405",
        "a service level or channel maps to a lane that does not exist",
        "Every entry of sl2vl (or sc2vl) must be below qos.vls. By default, qos.vls is as large as \
         the service levels (or channels) in use and the entries of sl2vl (or sc2vl) require.",
    ),
    (
        "E0406",
        "a service level does not exist",
        "The simulated switches have 16 service levels, SL0 to SL15.",
    ),
    (
        "E0407",
        "two maps from service levels to lanes",
        "InfiniBand maps a service level directly to a lane: sl2vl, with sl2vl-exception for \
         single switches. Omni-Path maps service levels to service channels, and those to lanes. \
         sl2sc gives a level one or more channels. sc2vl gives each channel its lane, with \
         sc2vl-exception for single switches. sc2sc changes channels along the path. A file uses \
         one of the two. For example, sl2vl = [0, 2, 1] is the same as sl2sc = [0, 1, 2] with \
         sc2vl = [0, 2, 1].",
    ),
    (
        "E0408",
        "a service channel belongs to two service levels",
        "An Omni-Path packet carries only its service channel, and switches find its service level \
         with SC2SL. A channel therefore belongs to one level, even where sc2sc changes channels \
         along the path. Two levels can still share a lane: give each level its own channel, and \
         both channels the same lane in sc2vl.",
    ),
    (
        "E0409",
        "SC2SL is not the inverse of SL2SC",
        "sc2sl is the inverse of sl2sc: channel n of level m has m at position n. It follows from \
         sl2sc and may be left out. If it is present, for example as a copy of the tables of a \
         real fabric, it must agree with sl2sc. Entries of channels without a level may have any \
         value.",
    ),
    (
        "E0410",
        "the arbiter cannot serve this traffic",
        "The arbiter names lanes that do not exist, or cannot serve a lane that carries traffic. \
         With arbitration tables, a lane that is in no table (or only with weight 0) is never \
         served, as in real hardware.",
    ),
    (
        "W0411",
        "the arbiter probably does not do what its numbers suggest",
        "The arbiter can run, but the result will differ from what its numbers promise. For \
         example, a weight is smaller than the packets it applies to: a started packet is always \
         finished, so its lane gets more than its share. Or a high-priority table without a limit \
         can starve the low-priority table.",
    ),
    (
        "E0412",
        "a service level has no entry in the arbiter",
        "Arbiters by service level (dtable, bxi-table, bxi-deficit, weighted-round-robin by SL) \
         serve only the levels in their table. A packet of another level would stay at the head of \
         its queue forever and block all packets after it on its lane.",
    ),
    (
        "E0413",
        "a service level has no service channel",
        "If sl2sc is present, only its service levels have channels, and a message of another \
         level could not be sent. If sl2sc is absent and sc2vl is present, SL n has SC n. SL15 \
         then has no channel, because SC15 is reserved for management.",
    ),
    (
        "E0414",
        "the MTU of a service level is larger than that of the links",
        "sl-mtu cuts the messages of a service level into smaller packets than link.mtu would. \
         These packets are the unit of scheduling, buffers and credits. sl-mtu cannot exceed \
         link.mtu, because every link and buffer is dimensioned for it. If link.mtu is \
         \"message\", a level may have any MTU, including \"message\".",
    ),
    (
        "W0415",
        "an arbiter with nothing to choose",
        "An arbiter chooses among lanes and service levels. All traffic of this file uses the same \
         lane and service level, so every arbiter sends the same packets in the same order. A \
         comparison of arbiters would show no difference. Give classes different service levels \
         (`sl`), which `qos.sl2vl` maps to different lanes.",
    ),
    (
        "W0416",
        "a service level is missing from the map",
        "`qos.sl2vl` lists the lanes of service levels 0, 1, 2, …. A level beyond the end of the \
         list uses VL n modulo `vls`, which may be the lane of another class. The message names \
         the level and its lane. Add the intended lane to the list. The same applies to \
         `qos.sc2vl`. With `[plan]`, a level without a class uses the lane with the largest share \
         among the lanes without a deadline.",
    ),
    (
        "E0417",
        "classes set service levels, but the paths of the site have their own",
        "OpenSM routings such as lash, dfsssp, nue and torus-2QoS are free of deadlock only if \
         every path uses the service level that they assign to it. If `topology.files` includes a \
         file of path levels (psl), every packet uses the level of its path. A class cannot select \
         another level with `sl`.",
    ),
    (
        "W0418",
        "tables of a site that do not serve a lane",
        "Every output of a real site is simulated with the arbitration tables in the files of the \
         site. A lane that carries traffic but has no weight in the tables of an output is never \
         served there. If a path with traffic on that lane uses the output, its packets wait \
         forever, as they would on the site.",
    ),
    (
        "E0419",
        "packets of a site do not arrive",
        "The check follows the routes of a real site for every service level with traffic, on the \
         lanes of its SL2VL maps. A map that assigns VL15 to a level drops the packets of that \
         level at its port, so the experiment would lose them. `netloom show routing` lists the \
         routes that do not arrive.",
    ),
    (
        "E0420",
        "management has no lane of its own",
        "Traffic with management = true is InfiniBand subnet management. It uses VL15, SL15 and \
         SC15, with priority over all data. Data must not use this level and channel, and the \
         routing must need only one lane. The switches and links must support a lane for \
         management: tiled switches, PFC and PAUSE do not.",
    ),
    (
        "E0500",
        "the routing does not fit the fabric",
        "Routings for a regular structure need a fabric with that structure. d-mod-k and random-up \
         need a fat tree, det a k-ary n-tree, dimension-order a mesh, torus or hypercube, minimal, \
         valiant and ugal a dragonfly or megafly, par and par-ugal a dragonfly. up-down and \
         shortest work on any connected fabric.\n\nIn a fat tree with missing cables, some hosts \
         may have no path that goes up and then down, although longer paths exist. up-down finds \
         these. A graph counts as a fat tree if its switches, ports and hosts are numbered as in \
         the output of `netloom show graph`. Cables may be missing.",
    ),
    (
        "E0501",
        "the routing can deadlock",
        "A packet that holds one channel (a lane of a link) and waits for another makes the second \
         channel a dependency of the first. If the dependencies form a cycle, packets can wait for \
         each other forever (Dally and Seitz, 1987). netloom collects the dependencies of every \
         destination and prints the shortest cycle it finds.\n\nOn a torus, use routing.deadlock = \
         \"bubble\" (a packet enters a ring only if it leaves space for another packet) or \
         \"dateline\" (twice the lanes). On other fabrics, use routing.kind = \"up-down\". A cycle \
         means that a deadlock is possible, not that it will happen. --force runs the experiment \
         anyway. The run then detects deadlocks and prints the packets in them.",
    ),
    (
        "E0502",
        "buffers too small for the bubble rule",
        "Under the bubble rule, the ports of a ring count buffer space in slots of their lane's \
         largest packet. A packet enters a ring only with two free slots and moves on with one, so \
         that one slot always stays free. Output buffers therefore need at least two slots per \
         lane, and input buffers one. In a pool, only the minimum of a lane counts.",
    ),
    (
        "E0503",
        "packets that change their lane break the bubble rule",
        "The bubble rule protects each lane of a ring separately. A packet that changes its lane \
         inside a ring enters the new lane without this protection.",
    ),
    (
        "E0504",
        "the routing decides later than the flow control requires",
        "With link.flow-control = \"queue-credits\", a sender holds credits for one queue of the \
         next switch, so it must know which queue a packet will join there. With queues per output \
         (voq-switch, obqa), the queue depends on the output that the next switch will choose. A \
         routing that looks at queues chooses that output only after the packet has arrived. \
         Queues per destination (voq-net, dbbm) are known in advance. `--force` does not disable \
         this check, because credits would be lost.",
    ),
    (
        "E0601",
        "a set of NICs cannot be parsed",
        "A set of NICs is \"all\", a range such as \"0-63\" (both ends included), a list such as \
         [3, 7, 11], or a series of terms that add or remove NICs from left to right. For example, \
         \"3 mod 4, not 123, 122\" has every fourth NIC from 3 on except 123, and also 122. NICs \
         are counted from 0. The name of one of [groups] may stand in place of numbers: \
         \"victims\", \"all, not hot-spots\".",
    ),
    (
        "E0602",
        "a pattern does not fit the fabric",
        "Some patterns need a certain number of sources (bit patterns a power of two, transpose an \
         even number of bits). Others need at least two sources.",
    ),
    (
        "E0603",
        "a value of a traffic class is not valid",
        "For example, a load above 1, an empty message, a time that ends before it starts, or a \
         packet of more than 65,535 flits.",
    ),
    (
        "E0604",
        "keys of a traffic class exclude each other",
        "A class is drawn from a distribution (load, pattern, arrival, message or size), listed in \
         a file (flows), or defined by a workload. `message` is shorthand for a fixed `size`. An \
         arrival process with a period has no load.",
    ),
    (
        "E0605",
        "a list of messages cannot be read",
        "A list of messages is a CSV file with a header line: time (with a unit) or time_ns, \
         source, destination, bytes and, optionally, sl. All errors are reported with their lines.",
    ),
    (
        "E0606",
        "there is no traffic",
        "Without traffic nothing would happen. The shortest class of traffic is [[traffic]] with \
         load = 0.5.",
    ),
    (
        "E0607",
        "too many classes of traffic",
        "Results are kept for each pair of class and service level. There may be at most 255 \
         pairs.",
    ),
    (
        "E0608",
        "two classes of traffic have the same name",
        "Results identify classes by name, so names must differ. A class without a name is named \
         after its service level.",
    ),
    (
        "W0609",
        "a source has more load than its link carries",
        "The loads of all classes of a NIC add up to more than 1. Its queues grow without bound, \
         and the latency of at least one class has no steady state. The throughput is still \
         meaningful. This is a warning because overload is a valid subject of study.",
    ),
    (
        "E0610",
        "a table of message sizes cannot be read",
        "A table of sizes is a CSV file with the columns bytes and probability. Each row gives the \
         share of messages with at most that number of bytes. Both columns increase from row to \
         row, and the last probability is 1. All errors are reported with their lines.",
    ),
    (
        "E0611",
        "a workload does not fit the fabric",
        "A workload names its own NICs, for example the hosts and disks of `san`. They must exist \
         and have one role each, and the list of messages must fit into memory. A skeleton of an \
         MPI program needs a NIC for each of its ranks: reduce its `grid`, or give it more `nics`. \
         An all-reduce has a rank on each of its NICs, and at least two. It has a chunk for each \
         rank, of at least one byte and less than 4 GiB.",
    ),
    (
        "E0612",
        "a group of NICs cannot be formed",
        "[groups] names parts of the fabric that share no NIC. victims = \"random 3020\" draws \
         3020 of the remaining NICs, \"next 100\" takes the first 100 of them, and \"rest\" takes \
         all of them. A set such as \"0-63\" takes exactly these NICs. Sets are formed first, then \
         the others in the order of the file, and \"rest\" last. The drawn NICs depend on the \
         seed. So a class that names a drawn group cannot also name NICs by number: with another \
         seed they might be in that group.",
    ),
    (
        "E0614",
        "a NIC runs two programs",
        "A NIC runs one rank of one job. Give each job its own NICs: define two groups in \
         [groups], and set them as `nics` of the workloads.",
    ),
    (
        "E0701",
        "a value of [measure] is not valid",
        "For example, a run of length zero, zero runs, or a width that is not between 0 and 1.",
    ),
    (
        "E0702",
        "the warm-up is as long as the run",
        "The warm-up is discarded, and `length` includes it. So `length` must be larger than \
         `warmup`.",
    ),
    (
        "W0703",
        "times are rounded",
        "Simulated time is counted in ticks that divide every period and delay of the fabric. If \
         the common divisor is too small, netloom chooses a tick that keeps every error below \
         1e-4. For this fabric there is no such tick.",
    ),
    (
        "E0704",
        "there is less memory than the run needs",
        "The memory of a run is estimated before anything large is built. The estimate includes \
         switches and NICs with their queues, messages waiting at NICs (bursts, and load beyond \
         the rate of a link), and the tables of all seeds. Measured runs are within a factor of \
         two of it. The available memory is the free memory of the machine, or what remains under \
         the limit of a control group or process. Use a smaller fabric, fewer seeds or smaller \
         bursts. --force runs the experiment anyway, and the system may then kill it.",
    ),
    (
        "W0705",
        "this machine has less memory than the run needs",
        "The same as E0704, for a command that does not run the experiment. The experiment is \
         valid on a machine with enough memory.",
    ),
    (
        "E0801",
        "a value of [connections] is not valid",
        "Connections are listed in a file (`list`) or drawn (`target`). Each connection sends \
         packets of one size at a constant rate. Each of these is one packet on the wire, so its \
         payload is at most the MTU.",
    ),
    (
        "E0802",
        "a list of connections cannot be read",
        "The list is a CSV file with a header: source, destination, bandwidth and, optionally, sl \
         (0 to 3) and deadline. Without sl, the service level follows from the bandwidth. A \
         deadline guarantees a maximum waiting time. A NIC is given by name or number, a bandwidth \
         with its unit. All errors are reported with their lines.",
    ),
    (
        "E0803",
        "a connection is refused",
        "Admission reserves slots at every output on the path of a connection. A slot has 64 \
         bytes, and a frame has 16,320 slots. A connection needs its bandwidth divided by that of \
         the link, rounded up. Connections may use the slots of a port that connections.reserve \
         leaves, 80 % by default. With mode = \"strict-entries\" they must also fit into the 64 \
         entries of its table. The message names the line, the first output without space, the \
         slots needed and the slots left. Connections are admitted in the order of the list. With \
         refused = \"skip\" the others run without the refused ones.",
    ),
    (
        "E0804",
        "admission cannot guarantee bandwidth in this fabric",
        "Admission needs one path per connection (a routing that does not draw a path for each \
         packet), links of one rate, and lanes for connections that best-effort and challenged \
         traffic do not use. Service levels of connections may share a lane, which then has the \
         reservations of all of them. Levels with deadlines may not share a lane.",
    ),
    (
        "E0805",
        "too many connections of one NIC and service level",
        "A packet identifies its connection, among those of its NIC and service level, with 8 \
         bits.",
    ),
    (
        "W0806",
        "tables are longer than those of a port",
        "In mode \"paper\", only slots limit admission. The connections may then need more than \
         the 64 entries of a table. Best-effort traffic (13 entries for 20 %) and challenged \
         traffic (1 entry) need entries too, and each service level may leave one entry partly \
         filled. Such tables are simulated with virtual entries. No real port has these, and no \
         file can contain them.",
    ),
    (
        "E0807",
        "traffic on a lane without an entry from admission",
        "[connections] makes the tables of all ports. They contain the lanes of connections, of \
         best-effort traffic (connections.reserve of the slots) and of challenged traffic (one \
         slot). Traffic on any other lane would never be sent.",
    ),
    (
        "E0808",
        "a deadline without a largest packet",
        "How long a packet waits depends on how large the others may be. With link.mtu = \
         \"message\", packets have no largest size. Set link.mtu to a size, or use --packet.",
    ),
    (
        "E0901",
        "classes of a plan contradict each other",
        "Two classes of [plan] have the same service level or name, or one class sets the same \
         thing twice. A table distinguishes classes by their service levels, so each class needs \
         its own.",
    ),
    (
        "E0902",
        "there is nothing to plan",
        "`netloom plan` reads the section [plan] of a file: the ports and, in [[plan.class]], the \
         share, the packets and, optionally, the deadline of every class.\n\n[plan]\nentries = \
         8\n\n[[plan.class]]\nname = \"storage\"\nshare = 0.3",
    ),
    (
        "E0903",
        "classes of a plan cannot be met together",
        "No tables of such ports give all classes what they need. The message names a smallest set \
         of classes that exclude each other, and what cannot be met among them. Examples are \
         shares of more than a whole link, a deadline shorter than the packets of another class \
         take, and fewer entries than classes. `netloom plan` prints the nearest tables.",
    ),
    (
        "W0904",
        "a planned share is less exact than requested",
        "Entries count whole units, and InfiniBand rounds up to whole packets. With few entries, \
         not every ratio is possible. The message states the resulting share. A larger \
         `plan.tolerance` accepts it. More entries or smaller packets come nearer.",
    ),
    (
        "E0905",
        "a plan for packets without a largest size",
        "How long a class waits, and how much an entry gives it, depends on the size of packets. A \
         class without `packet` and `packets` uses the MTU and header of the links. With link.mtu \
         = \"message\", these have no largest size.",
    ),
    (
        "W0906",
        "packets are larger than planned for",
        "The traffic of this service level has larger packets on the wire, header included, than \
         its class of [plan] states. Bounds on waits then do not hold for any class, because a \
         large packet makes all others wait. Shares also differ, because InfiniBand counts whole \
         packets. Set `packet` to the true size, or remove it: it then follows from `link.mtu` and \
         `link.header`.",
    ),
    (
        "W0907",
        "arbitration tables that have no effect",
        "A table chooses among packets that wait at an output. With a speed-up of 1, the crossbar \
         delivers no more than the output sends. So packets wait at inputs, where the allocator of \
         the crossbar chooses, and the shares and deadlines of the plan are not kept. A \
         switch.speedup of 2 or more moves the queues to the outputs.",
    ),
    (
        "W0908",
        "cables slower than planned for",
        "At most one cable in a hundred is slower than all others, for example because a cable \
         came up with one lane of four. The plan is made for the other cables. On the slow ones, \
         waits are longer than its bounds. Replace the named cables, or set plan.rate for all.",
    ),
    (
        "E1001",
        "an axis of a study does not name a key",
        "A key under [study.axes], in a [[study.zip]] or in the `set` of a [[study.variant]] is \
         the path of a value of the file, as for --set: \"traffic.load\" for all classes, \
         \"traffic.0.load\" for the first, \"qos.arbiter.kind\". It must be quoted because of its \
         dots. `netloom schema` lists all keys.",
    ),
    (
        "E1002",
        "an axis of a study has no valid values",
        "An axis has a list of values, such as [0.1, 0.2] or [\"16 KiB\", \"32 KiB\"], or a table \
         of numbers: { from = 0.1, to = 1.0, step = 0.1 }. Steps are counted exactly, in decimals. \
         A negative step counts down. With `refine`, the values must increase, and `step` must be \
         a multiple of `refine`.",
    ),
    (
        "E1003",
        "axes that step together have different lengths",
        "The lists of one [[study.zip]] are combined by position: the first values of all lists, \
         then the second values, and so on. So they must have the same length. To run every \
         combination, put the axes under [study.axes].",
    ),
    (
        "E1004",
        "two values of an axis have the same name",
        "Results identify a point by the values of its axes. So each value of an axis and each \
         variant name must be unique. To use tables of the same kind with different parameters, \
         make each a [[study.variant]] with its own name.",
    ),
    (
        "E1005",
        "two axes of a study set the same value",
        "Axes are applied one after the other: variants first, then the others in the order of the \
         file. The value of one axis would overwrite that of the other.",
    ),
    (
        "E1006",
        "a rule of a study has no axis to follow",
        "`refine` and `stop-after-saturation` follow one axis of numbers to find where the fabric \
         saturates. That axis is the one with `refine`, or else the only load under [study.axes]. \
         There must be exactly one such axis, and its values must increase.",
    ),
    (
        "E1007",
        "the seeds of a study do not fit together",
        "`interval` adds seeds until the mean latency is known precisely enough. It needs at least \
         two seeds to start with (measure.repeat = 2 or more). `most-seeds` is the upper limit and \
         must not be smaller than measure.repeat.",
    ),
    (
        "E1008",
        "this key cannot be an axis",
        "The seeds of a study are measure.seed and the measure.repeat - 1 numbers after it, for \
         every point. The name and format of the file are the same for all of its runs.",
    ),
    (
        "E1009",
        "an axis overrides a --set argument",
        "The study itself sets this value at every point. To change the values of the axis, use \
         --set 'study.axes.\"traffic.load\"=[0.5, 0.6]'.",
    ),
    (
        "E1010",
        "a variant matches no point",
        "`only` of a [[study.variant]] names columns of the other axes, as in the results, and \
         values that these axes have. The variant runs at these points only.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Collects every code in the sources of all crates: a quote, a letter, four digits, a quote.
    fn codes_in(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                codes_in(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                for quoted in text.split('"') {
                    let is_code = quoted.len() == 5
                        && quoted.starts_with(['E', 'W'])
                        && quoted[1..].bytes().all(|b| b.is_ascii_digit());
                    if is_code {
                        found.insert(quoted.to_owned());
                    }
                }
            }
        }
    }

    #[test]
    fn every_code_of_every_crate_is_explained_and_none_is_invented() {
        let mut used = BTreeSet::new();
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for entry in std::fs::read_dir(crates).unwrap().flatten() {
            let folder = entry.path().join("src");
            if folder.is_dir() {
                codes_in(&folder, &mut used);
            }
        }
        for code in &used {
            assert!(
                explain_code(code).is_some(),
                "{code} is noted and not explained"
            );
        }
        // This file names every code itself, so only the order can be checked from here.
        let codes: Vec<&str> = codes().map(|(code, _, _)| &code[1..]).collect();
        assert!(codes.is_sorted(), "codes in order of their number");
    }
}
