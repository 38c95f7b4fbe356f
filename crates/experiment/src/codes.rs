//! What the codes of notes mean, at length, for `netloom explain E0501`.

/// The long text of a code.
pub fn explain_code(code: &str) -> Option<&'static str> {
    let found = codes().find(|(known, _, _)| known.eq_ignore_ascii_case(code));
    found.map(|(_, _, text)| text)
}

/// A code, its title and its long text.
pub type Code = (&'static str, &'static str, &'static str);

/// Every code: those of experiments, and those of files of real sites.
pub fn codes() -> impl Iterator<Item = Code> {
    let of_sites = netloom_infiniband::codes::CODES;
    let of_opensm = netloom_infiniband::opensm::codes::CODES;
    CODES.iter().chain(of_sites).chain(of_opensm).copied()
}

/// Every code with its title and its long text. Codes are never given a new meaning.
const CODES: &[Code] = &[
    (
        "E0001",
        "the file is not valid TOML",
        "The file cannot be read as TOML (version 1.1). All such places are told at once; nothing else about the \
         file is, because whatever stands behind a hole would be misunderstood.\n\nCommon causes: a text without \
         quotes (rate = 100 Gbps instead of rate = \"100 Gbps\"), a missing bracket, the same key twice in a table.",
    ),
    (
        "E0002",
        "a --set argument cannot be applied",
        "--set takes the path of a key, an equals sign and a value: --set traffic.load=0.5. A number in the path \
         picks one table of a list (traffic.0.load); without one, all of them are set. A value that is no TOML is \
         taken as text, so --set link.delay='20 ns' works without further quotes.",
    ),
    (
        "E0003",
        "the format of the file is missing or unknown",
        "Every file begins with netloom = 1, the version of the format it is written in. So a later version of \
         netloom can still tell what an old file means.",
    ),
    (
        "E0004",
        "the file that this one extends cannot be used",
        "extends = \"base.toml\" puts a file over another one: tables are merged key by key, lists and single values \
         replace those of the other file, and a table whose `kind` differs replaces the other whole. File names are \
         relative to the folder of the file that has them. The other file may extend a further one, but no file may \
         extend itself in the end.",
    ),
    (
        "E0005",
        "further mistakes",
        "A file with more than a thousand mistakes is most likely the wrong file, or damaged as a whole. The first \
         thousand are reported one by one, the others are counted.",
    ),
    (
        "E0101",
        "a value has the wrong type",
        "The key takes another type of value, for example a whole number where a text stands. `netloom explain \
         KEY` tells what a key takes.",
    ),
    (
        "E0102",
        "a value is out of range",
        "The value has the right type and lies outside what makes sense or can be simulated. The help says the \
         range.",
    ),
    (
        "E0103",
        "a quantity is not understood",
        "Times, rates, amounts of data and lengths are texts with their unit: \"5.12 ns\", \"100 Gbps\", \"4 KiB\", \
         \"5 m\". The unit is mandatory, because a bare number is the most common mistake in configuration files. \
         Gbps counts bits, GB/s bytes; KiB is 1024 bytes, KB is 1000. Values are exact decimals or fractions \
         (\"10/13 ns\"); nothing is rounded when the file is read. InfiniBand rates may be named: \"NDR x4\".",
    ),
    (
        "E0104",
        "a name is unknown",
        "The key takes one of several names, and this is none of them. `netloom list` shows all kinds.",
    ),
    (
        "E0105",
        "a key is missing",
        "The table needs this key, and there is no sensible default for it.",
    ),
    (
        "E0106",
        "a key is unknown",
        "No key of this name has a meaning here. Unknown keys are refused rather than ignored, so that a slip of \
         the fingers cannot silently run a default.",
    ),
    (
        "E0107",
        "two keys exclude each other",
        "Both keys say the same thing in different ways, for example the delay of a link and the length of its \
         cable. Keep one of them.",
    ),
    (
        "E0108",
        "a name cannot be shown",
        "Results go by the names of experiments, classes and variants: in tables, figures and terminals. A name with \
         control characters could tell a terminal what to do, and one that begins with =, +, - or @ a spreadsheet. \
         Begin it with a letter or digit.",
    ),
    (
        "E0109",
        "two kinds have the same name",
        "A program that adds kinds of its own calls one like another that is there, and a file could not say which it \
         means. This is for whoever wrote the program: give the kind another `NAME`.",
    ),
    (
        "E0200",
        "the parameters of a topology do not fit together",
        "The numbers describe no fabric of this kind, or one that is too large to hold (2^27 switch ports).",
    ),
    (
        "E0201",
        "the fabric cannot be built",
        "The description is sound by itself, but building it failed: a graph file has mistakes (each is told with \
         its line), or no connected random graph was found.",
    ),
    (
        "E0202",
        "a switch has too many ports",
        "The simulated switches have at most 512 ports. Use more levels, or trunks with fewer members.",
    ),
    (
        "E0203",
        "there are no two NICs",
        "Traffic goes from one NIC to another, so a fabric needs at least two.",
    ),
    (
        "E0204",
        "a failure is not possible in this fabric",
        "A [[failure]] names a cable by a switch and its port (link = \"s3:7\"), a switch without hosts (switch = \"s70\"), or \
         draws cables of a level of a fat tree (links = { level = 1, share = 0.02 }). `netloom topo show` prints the \
         switches with their ports. Failures of a real site are made in its files.",
    ),
    (
        "E0205",
        "failures separate hosts",
        "With the cables and switches of [[failure]] missing, some hosts have no path between them. The message names \
         two of them. Let fewer cables fail; for cables that are drawn, another seed draws others.",
    ),
    (
        "E0301",
        "a class of links is unknown",
        "[link.class.NAME] changes rate or delay of one class of links. Each topology names its own classes: `host` \
         for the cables of NICs, and others by level or dimension. `netloom topo` lists them for a file.",
    ),
    (
        "W0302",
        "NICs have links of different rates",
        "Workloads count time in flits of a NIC's link. With several rates, times of a workload (from, until, lists \
         of messages) hold for NICs with the rate of the first one; loads are fractions of each NIC's own link.",
    ),
    (
        "E0310",
        "a packet would cross a switch in no time",
        "Decisions of a switch take effect at least one cycle later, so allocation and crossbar together take at \
         least one cycle.",
    ),
    (
        "E0311",
        "a buffer cannot hold a packet",
        "Flow control is per packet (virtual cut-through): a packet starts only if all of it fits into the next \
         buffer. A buffer smaller than the largest packet of a lane would stop that lane for ever. In a pool only \
         what is kept for the lane (min) counts, because other lanes may hold the rest.\n\nThe largest packet of a \
         lane follows from the messages of its classes, `link.mtu` and `link.header`, in whole flits.",
    ),
    (
        "W0312",
        "an input buffer is smaller than the credit round trip",
        "A sender may have as many flits under way as there is room behind the link. From a flit leaving to its \
         credit being back pass two wire delays and the stages of the switch (input, routing, allocation, credit) \
         and of the sender (output). While that lasts a busy link wants to send on, and it starts a packet only \
         with credits for all of it. So full rate on one lane needs\n\n    round trip x rate + one largest packet\n\n\
         With less, a single lane cannot fill the link; several lanes together may. This is a warning because small \
         buffers are a legitimate thing to study.",
    ),
    (
        "E0313",
        "too many queues",
        "Every input has one queue per lane and output (\"voq\"), per lane and destination (\"voq-net\"), or as many per \
         lane as the file says (\"obqa\", \"dbbm\"). The simulator holds up to 8192 of them per input.",
    ),
    (
        "E0314",
        "the minima of a pool exceed it",
        "A pool keeps `min` free for each lane, so that no lane can be shut out by the others. All minima together \
         must fit into the pool. Left out, the minimum of a lane is its largest packet.",
    ),
    (
        "E0315",
        "a buffer is too large to be counted",
        "Credits and room are counted in flits, with 16 bits for each lane: 65,535 flits, or about 4 MiB of 64-byte \
         flits. In a pool the largest part of one lane counts (max, or all that the minima of the others leave), \
         and the pool itself may have 2^24 flits. Real switches have far less.",
    ),
    (
        "E0320",
        "an input buffer has too little headroom for PFC",
        "PFC stops a lane when its part of an input buffer holds more than xoff. The sender learns of it a wire later, and \
         finishes what it has begun. Until then the lane must take what comes, because a lossless fabric never drops. So\n\n    \
         size of the lane - xoff >= headroom = 2 x delay of the cable x rate + 2 largest packets\n\nin whole flits, for every \
         class of links; the stages of the signal and of the sender count as part of the second packet, and take its place \
         where they are longer than it. `netloom check` prints headroom and thresholds for each cable. Left out, xoff is the \
         size less the headroom.",
    ),
    (
        "E0321",
        "PFC lets a lane go on above the mark that stops it",
        "A lane is stopped while it holds more than xoff and goes on at xon or less, so xon is at most xoff. Left out, xon is \
         xoff less one largest packet.",
    ),
    (
        "E0322",
        "PFC with an input buffer that lanes share",
        "Headroom is room that is certainly free when a lane has been stopped. In a pool other lanes may hold it. Give each \
         lane its own part: input-buffer = \"48 KiB\".",
    ),
    (
        "E0323",
        "a flow control that switches or routing do not go with",
        "Hierarchical switches have credits per lane. The bubble rule counts slots of a lane at both ends of a link, which are \
         credits too; with PFC or credits per queue use routing.deadlock = \"dateline\".",
    ),
    (
        "E0324",
        "a queue cannot hold a packet",
        "With flow-control = \"queue-credits\", and for the injection queues of nic.queues = \"per-destination\", every queue has \
         a part of its own: what input-buffer = { per-queue = … } says, or the part of a lane divided evenly over its queues. A \
         packet starts only if all of it fits, so a part below the largest packet would stop the queue for ever.",
    ),
    (
        "E0325",
        "an input-queued switch with links of several rates",
        "Without an output buffer, a packet goes from the input buffer over the crossbar onto the link in one go, at one rate. \
         Switches with buffers at inputs and outputs (kind = \"cioq\") join links of different rates.",
    ),
    (
        "W0326",
        "an input-queued switch does not use a value",
        "kind = \"iq\" takes the keys of kind = \"cioq\", so that the kind is the one line that differs between two files. It has \
         no output buffer, and its crossbar is as fast as its links; these values have no effect and are no part of the \
         resolved file.",
    ),
    (
        "E0327",
        "an input-queued switch cannot do this",
        "Without output buffers there is no place for the slots of the bubble rule or for the tags of scfq and wfq. Input \
         buffers are divided among lanes or queues and not pooled, and the crossbar keeps the pace of the links, so the clock \
         has a simple ratio to their flits.",
    ),
    (
        "E0328",
        "a hierarchical switch without stages before its first allocation",
        "Messages are allocated twice, to a central link and to an output, and each stage sees what the other did a cycle \
         later. So `input` and `routing` together take at least one cycle.",
    ),
    (
        "E0329",
        "one queue for several lanes that must stay apart",
        "queues = \"1q\" keeps all lanes in one queue, in order of arrival, while room is still counted by lane. A lane then \
         waits for another one's head. Where lanes are how a routing avoids deadlock (dateline, or a bubble in each), that \
         brings the deadlock back; and a part of the buffer per queue says nothing about lanes.",
    ),
    (
        "E0330",
        "NIC queues by destination with a random routing",
        "A NIC with queues by destination moves packets into the injection queue that stands for their queue at the first \
         switch. That queue follows from the path, so there must be one path from a NIC to another.",
    ),
    (
        "E0331",
        "a buffer without queues is given by queue",
        "{ per-queue = … } divides an input buffer among the queues of `queues`. Output buffers and central buffers have one \
         queue for each lane: give them an amount for each lane, or a pool.",
    ),
    (
        "E0332",
        "lanes that cannot cross beside each other",
        "input-ports = \"per-lane\" gives every lane of an input its own way into the crossbar. That takes a queue for each lane, \
         credits for each lane (what several lanes free at once is counted lane by lane) and an output buffer that tells them \
         apart. A switch has at most 2,048 such ways.",
    ),
    (
        "E0340",
        "the tiles of a switch do not add up",
        "A tiled switch with P ports has R rows of tiles with I inputs each and C columns with O outputs each: P = R × I = C × O. \
         `rows` and `columns` divide the ports, of which there may be more than the topology uses (`ports`). Sets of ports, of \
         tiles, and of a tile's outputs or rows by virtual channel have 64 members at most; a tile has up to 16 inputs and \
         outputs.",
    ),
    (
        "E0341",
        "a tiled switch has no arbiters and no lanes by service level",
        "Its virtual channels are those of the routing, all service levels share them, and channels and rows take turns. \
         So `qos.vls` is 1, `arbiter` has nothing to choose, and no table can keep bandwidth for `[connections]`. NICs can have \
         an arbiter: with `nic-arbiter` they have a queue for each level to choose from.",
    ),
    (
        "E0342",
        "the core of a tiled switch is slower than its links",
        "Inside a tiled switch a packet moves by one flit per cycle of its core clock, without pause. A core that is slower than \
         the links could not take in what comes.",
    ),
    (
        "E0343",
        "acknowledgements, stashes, congestion control and faults do not go together",
        "Copies in a stash are kept until an acknowledgement comes; marks come back by acknowledgements; packets are put aside by \
         inputs that congestion control calls congested; what faults destroy must be sent again by somebody, which is the \
         stash with `reliability`. And a stash must be able to hold a packet.",
    ),
    (
        "E0344",
        "a window that may be too small for a packet",
        "A flow whose window never has room for its next packet would wait for ever. So the least that marks leave of a window, \
         and the window itself, hold the largest packet.",
    ),
    (
        "E0345",
        "two kinds of queues per destination at one NIC",
        "A congestion control holds back the flow to one destination and lets the others go on, so its NICs have a send queue for \
         each destination, which take turns. Admittance and injection queues (nic.queues = \"per-destination\") would be a second \
         set of the same. NICs of tiled switches have send queues that take turns, or, with `nic-arbiter`, a queue for each level; \
         both only with a congestion control.",
    ),
    (
        "E0346",
        "a bounded NIC that cannot be told apart from its application",
        "nic.buffer bounds what is in a NIC; the rest waits in the application, in the order of each service level. So a NIC has a \
         queue for each level and none for each destination, and holds at least the largest packet of every level: otherwise \
         one level could shut out another.",
    ),
    (
        "E0401",
        "the number of lanes is out of range",
        "InfiniBand has 15 data lanes (VL0 to VL14); VL15 is for management and is not counted.",
    ),
    (
        "E0402",
        "a row of [qos] is too long",
        "There are 16 service levels and 32 service channels. A row has one value for each, from SL0 or SC0 on. In \
         `sl2vl` and `sc2vl`, those left out take VL n modulo the number of lanes; in `sl2sc` they have no channel; in \
         `sl-mtu` they have the MTU of the links.",
    ),
    (
        "E0403",
        "the routing needs more lanes than a link has",
        "A routing that avoids deadlock with lanes (deadlock = \"dateline\" takes two) multiplies the lanes of the \
         service levels: VL = lane of the level + levels' lanes x lane of the routing. All together a link has 15.",
    ),
    (
        "E0404",
        "an exception of a map names a switch or port that does not exist",
        "Exceptions of sl2vl are keyed by switch, input port and output port, those of sc2vl by switch and output port, those of \
         sc2sc by switch and, where wanted, input and output port, each counted from 0. `netloom topo` lists them.",
    ),
    (
        "E0405",
        "a service level or channel maps to a lane that does not exist",
        "Every entry of sl2vl (or sc2vl) must be below qos.vls. Left out, qos.vls is as large as the service levels \
         (or channels) in use and the entries of sl2vl (or sc2vl) need.",
    ),
    (
        "E0406",
        "a service level does not exist",
        "Switches of this model have 16 service levels, SL0 to SL15.",
    ),
    (
        "E0407",
        "two maps from service levels to lanes",
        "InfiniBand maps a service level to a lane directly: sl2vl, with sl2vl-exception for single switches. \
         Omni-Path goes by way of service channels: sl2sc gives a level one or more channels, sc2vl gives each channel \
         its lane, with sc2vl-exception for single switches, and sc2sc changes channels on the way. A file uses one of them. sl2vl = [0, 2, 1] is the same as sl2sc = [0, 1, 2] with sc2vl = [0, 2, 1].",
    ),
    (
        "E0408",
        "a service channel is of two service levels",
        "A packet of Omni-Path carries its service channel only, and switches find its service level by SC2SL. So a \
         channel belongs to one level, also where sc2sc changes channels on the way. Two levels can still share a lane: give \
         each its channel, and both channels the same lane in sc2vl.",
    ),
    (
        "E0409",
        "SC2SL does not lead back",
        "sc2sl is the inverse of sl2sc: channel n of level m has m at its place. It follows from sl2sc and may be left \
         out; where it is written, for instance to copy the tables of a real fabric, it must agree. Entries of channels \
         that no level has may say anything.",
    ),
    (
        "E0410",
        "the arbiter cannot serve this traffic",
        "The arbiter names lanes that do not exist, or has no way to send a lane that carries traffic: with \
         arbitration tables, a lane in no table (or only with weight 0) is never sent, as in real hardware.",
    ),
    (
        "W0411",
        "the arbiter will probably disappoint",
        "The arbiter can run and will not do what its numbers promise, for example because a weight is below the \
         packets it is for (a started packet is always finished, so its lane gets more than its share), or because \
         a high-priority table without a limit can starve the low one.",
    ),
    (
        "E0412",
        "a service level has no entry in the arbiter",
        "Arbiters that speak service levels (dtable, bxi-table, bxi-deficit, weighted-round-robin by SL) send only \
         those that their table names. A packet of another level would stay at the head of its queue for ever and \
         block everything behind it on its lane.",
    ),
    (
        "E0413",
        "a service level has no service channel",
        "Where sl2sc is written, only its service levels have channels, and a message of another could not be sent. \
         Where it is left out and sc2vl is written, SL n has SC n; SL15 has none, as SC15 is for management.",
    ),
    (
        "E0414",
        "an MTU of a service level is above that of the links",
        "sl-mtu cuts the messages of a service level into smaller packets than link.mtu would: the unit of scheduling, \
         of buffers and of credits. It cannot exceed link.mtu, which every link and buffer is made for. Where link.mtu is \
         \"message\", a level may have any MTU, or \"message\" as well.",
    ),
    (
        "W0415",
        "an arbiter that decides nothing",
        "An arbiter chooses among lanes and service levels. All traffic of this file has one of each, so every arbiter sends \
         the same packets in the same order, and comparing arbiters compares nothing. Give classes different service \
         levels (`sl`), which take different lanes by `qos.sl2vl`.",
    ),
    (
        "W0416",
        "a service level that the map leaves out",
        "`qos.sl2vl` lists the lanes of service level 0, 1, 2, …; a level behind its end takes VL n modulo `vls`, which \
         may be the lane of another class. The message says which; write it down, or what was meant. The same goes \
         for `qos.sc2vl`. With `[plan]`, a level without a class takes the lane with the largest share among those \
         without a deadline.",
    ),
    (
        "E0417",
        "classes ask for service levels, and the paths of a site have their own",
        "Routings of OpenSM such as lash, dfsssp, nue and torus-2QoS are free of deadlock only if every path uses the service \
         level that they give it. A file of path levels (psl) among `topology.files` has them, and then every packet goes on \
         the level of its path: a class cannot ask for another one by `sl`.",
    ),
    (
        "W0418",
        "tables of a site that do not serve a lane",
        "Every output of a real site is simulated with the arbitration tables that its files have. A lane that carries \
         traffic and has no weight in the tables of an output is never sent there. Perhaps no path with traffic on that \
         lane leaves by it; otherwise packets wait for ever, as they would on the site.",
    ),
    (
        "E0419",
        "packets of a site do not arrive",
        "The routes of a real site are followed for every service level with traffic, on the lanes that its SL2VL maps give. \
         A map that has VL15 for a level drops its packets at that port, and an experiment would lose them. `netloom route \
         check` lists what does not arrive.",
    ),
    (
        "E0420",
        "management has no lane of its own",
        "Traffic with management = true is subnet management of InfiniBand: it travels on VL15, with SL15 and SC15, before \
         all data. Level and channel must not be given to data, the routing must need one lane only, and the switches \
         and links must be those of a fabric with credits.",
    ),
    (
        "E0500",
        "the routing does not fit the fabric",
        "Routings by arithmetic need a fabric of their structure: d-mod-k and random-up need a fat tree, det a k-ary \
         n-tree, dimension-order a mesh, torus or hypercube, minimal, valiant and ugal a dragonfly or megafly, par and par-ugal a \
         dragonfly. up-down and shortest take any connected fabric.\n\nIn a fat tree with missing cables some hosts may have \
         no path that climbs and then descends, although longer paths are left: up-down finds those. A graph is a fat tree \
         if its switches, ports and hosts are numbered as `netloom topo export` writes one; cables may be missing.",
    ),
    (
        "E0501",
        "the routing can deadlock",
        "A packet that holds one channel (a lane of a link) and asks for another makes the second a dependency of \
         the first. Where dependencies form a cycle, packets can wait for each other for ever (Dally and Seitz, \
         1987). netloom collects the dependencies of every destination and shows the shortest cycle it finds.\n\n\
         On a torus: routing.deadlock = \"bubble\" (a packet enters a ring only if room for another is left) or \
         \"dateline\" (twice the lanes). Elsewhere: routing.kind = \"up-down\". A cycle means that a deadlock is \
         possible, not that it will happen; --force runs the experiment all the same, and the run looks for \
         deadlocks and shows the packets in them.",
    ),
    (
        "E0502",
        "buffers too small for the bubble rule",
        "Under the bubble rule the ports of a ring count room in slots of their lane's largest packet. A packet \
         enters a ring only with two free slots and moves on with one, so that one slot always stays free. Hence an \
         output buffer has at least two slots for each lane, and an input buffer one. In a pool only the minimum \
         of a lane counts.",
    ),
    (
        "E0503",
        "packets that change their lane break the bubble rule",
        "The bubble rule guards each lane of a ring by itself. A packet that changes its lane inside a ring enters \
         that lane without the guard.",
    ),
    (
        "E0504",
        "the routing decides later than the flow control must know",
        "With link.flow-control = \"queue-credits\" a sender holds credits for one queue of the next switch, so it must know \
         which queue a packet will join there. With queues by output (voq-switch, obqa) that is the output that the \
         next switch will choose; a routing that looks at queues chooses it when the packet has arrived. Queues \
         by destination (voq-net, dbbm) are known before. `--force` does not help: credits would be lost.",
    ),
    (
        "E0601",
        "a set of NICs is not understood",
        "A set of NICs is \"all\", a range like \"0-63\" with both ends included, a list like [3, 7, 11], or terms from \
         left to right that put NICs in or take them out: \"3 mod 4, not 123, 122\" has every fourth NIC from 3 on but \
         123, and 122. NICs are counted from 0. Where numbers stand, the name of one of [groups] may stand: \"victims\", \
         \"all, not hot-spots\".",
    ),
    (
        "E0602",
        "a pattern does not fit the fabric",
        "Some patterns need a certain number of sources (bit patterns a power of two, transpose an even number of \
         bits), or at least two of them.",
    ),
    (
        "E0603",
        "a value of a traffic class makes no sense",
        "For example a load above 1, an empty message, a time that ends before it starts, or a packet of more than \
         65,535 flits.",
    ),
    (
        "E0604",
        "keys of a traffic class exclude each other",
        "A class is either drawn from a law (load, pattern, arrival, message or size), listed in a file (flows), or \
         left to a workload. `message` is short for a fixed `size`. An arrival process with a period has no load.",
    ),
    (
        "E0605",
        "a list of messages cannot be read",
        "A list of messages is a CSV file with a header line: time (with its unit) or time_ns, source, destination, \
         bytes and, if wanted, sl. Every mistake is told with its line.",
    ),
    (
        "E0606",
        "there is no traffic",
        "Nothing would happen. A class of traffic needs no more than [[traffic]] and load = 0.5.",
    ),
    (
        "E0607",
        "too many classes of traffic",
        "Results are kept by class and service level, of which there are at most 255.",
    ),
    (
        "E0608",
        "two classes of traffic have the same name",
        "Results name classes, so names differ. Classes without a name are called after their service level.",
    ),
    (
        "W0609",
        "a source is asked for more than its link carries",
        "The loads of all classes of a NIC add up to more than 1. Its queues grow without end and the latency of at \
         least one class has no steady state; throughput is still meaningful. This is a warning because overload is \
         a legitimate thing to study.",
    ),
    (
        "E0610",
        "a table of message sizes cannot be read",
        "A table of sizes is a CSV file with the columns bytes and probability: which share of messages has at most so \
         many bytes. Both rise from line to line, and the last probability is 1. Every mistake is told with its line.",
    ),
    (
        "E0611",
        "a workload does not fit the fabric",
        "A workload names NICs of its own, for example the hosts and disks of `san`: they must exist and have one role \
         each, and its list of messages must fit into memory. A skeleton of an MPI program needs a NIC for each of its \
         ranks: make its `grid` smaller, or give it more `nics`. An all-reduce has a rank on each of its NICs, two at \
         least, and a chunk for each: of at least one byte, and smaller than 4 GiB.",
    ),
    (
        "E0612",
        "a group of NICs cannot be formed",
        "[groups] names parts of the fabric that have no NIC in common: victims = \"random 3020\" draws so many of those \
         left, \"next 100\" takes the first that are left, \"rest\" all of them, and a set like \"0-63\" exactly these. Sets \
         come first, then the others in the order written, \"rest\" last. Which NICs are drawn depends on the seed, so \
         a class that names a drawn group names no NICs by number: with another seed they might be in that group.",
    ),
    (
        "E0614",
        "a NIC runs two programs",
        "A NIC runs one rank of one job. Give each job NICs of its own: name two groups in [groups], and write them as \
         `nics` of the workloads.",
    ),
    (
        "E0701",
        "a value of [measure] makes no sense",
        "For example a run of no length, no runs, or a width that is no fraction.",
    ),
    (
        "E0702",
        "the warm-up is as long as the run",
        "What happens during the warm-up is discarded; `length` includes it.",
    ),
    (
        "W0703",
        "times are rounded",
        "Simulated time is counted in ticks that divide every period and delay of the fabric. Where the common \
         divisor is absurdly small, a tick is chosen that keeps every error below 1e-4; here not even that was \
         possible.",
    ),
    (
        "E0704",
        "there is less memory than the run needs",
        "What a run takes is estimated before anything large is built: switches and NICs with their queues, messages \
         that wait at NICs (bursts, and what is offered beyond the rate of a link), and the tables of all seeds. \
         Measured runs are within a factor of two of it. What there is is the free memory of the machine, or what a \
         control group or a limit of the process leaves. Take a smaller fabric, fewer seeds or smaller bursts; --force \
         runs it all the same, and the system may then end it.",
    ),
    (
        "W0705",
        "this machine has less memory than the run needs",
        "The same as E0704, where nothing is run here: on a machine with as much memory the experiment is sound.",
    ),
    (
        "E0801",
        "a value of [connections] makes no sense",
        "Connections are listed in a file (`list`) or drawn (`target`). Each sends packets of one size at a \
         constant rate; such a packet is one packet on the wire, so its payload is at most the MTU.",
    ),
    (
        "E0802",
        "a list of connections is wrong",
        "The list is a CSV file with a header: source, destination, bandwidth and, where it is not to follow \
         from the bandwidth, sl (0 to 3), and for a guarantee of time a deadline. A NIC is given by name or number, a bandwidth with its unit. Every \
         mistake is told with its line.",
    ),
    (
        "E0803",
        "a connection is refused",
        "Admission reserves slots of 64 bytes, of a frame of 16,320, at every output on the way of a connection: \
         its bandwidth over that of the link, rounded up. Connections may have what connections.reserve leaves of the slots of a port, 80 %; with \
         mode = \"strict-entries\" they must also fit into the 64 entries of its table. The message names the line, \
         the first output without room, the slots needed and those left. Connections are admitted in the order of \
         the list. With refused = \"skip\" the others run without them.",
    ),
    (
        "E0804",
        "connections have no bandwidth to rely on in this fabric",
        "Admission needs one path per connection (a routing that draws none per packet), links of one rate, and \
         lanes for connections that best effort and challenged traffic do not use. Service levels of connections may share a \
         lane, which then has what all of them reserved; those with deadlines may not.",
    ),
    (
        "E0805",
        "too many connections of one NIC and service level",
        "A packet carries the number of its connection, among those of its NIC and service level, in 8 bits.",
    ),
    (
        "W0806",
        "tables are longer than those of a port",
        "In mode \"paper\" only slots limit admission. All of them can need more entries than the 64 of a table: \
         best effort (13 for 20 %) and challenged traffic (1) have theirs, and each service level may leave one partly filled. Such \
         tables are simulated with virtual entries, which no port has and no file can write.",
    ),
    (
        "E0807",
        "traffic on a lane that admission gives no entry",
        "Where [connections] makes the tables of all ports, they hold the lanes of connections, of best effort \
         (connections.reserve of the slots) and of challenged traffic (one slot). Traffic on any other lane would never be sent.",
    ),
    (
        "E0808",
        "a deadline without a largest packet",
        "How long a packet waits depends on how large the others may be. With link.mtu = \"message\" packets have \
         no largest size: give link.mtu a size, or say --packet.",
    ),
    (
        "E0901",
        "classes of a plan contradict each other",
        "Two classes of [plan] have the same service level or name, or a class says two things about the same. A \
         table tells classes apart by their service levels, so each needs its own.",
    ),
    (
        "E0902",
        "there is nothing to plan",
        "`netloom plan` reads the section [plan] of a file: the ports, and in [[plan.class]] the share, the packets \
         and, if wanted, the deadline of every class.\n\n[plan]\nentries = 8\n\n[[plan.class]]\nname = \
         \"storage\"\nshare = 0.3",
    ),
    (
        "E0903",
        "classes of a plan cannot be met together",
        "No tables of such ports give all classes what they need. The message names the fewest classes that \
         exclude each other, and what cannot be met among them alone: shares of more than a whole link, a \
         deadline shorter than the packets of another class take, or fewer entries than classes. `netloom plan` \
         shows the nearest tables.",
    ),
    (
        "W0904",
        "a planned share is less exact than asked",
        "Entries count whole units, and InfiniBand rounds up to whole packets; with few entries not every ratio \
         can be had. The message says what is given. A larger `plan.tolerance` accepts it, more entries or \
         smaller packets come nearer.",
    ),
    (
        "E0905",
        "a plan for packets without a largest size",
        "How long a class waits, and what an entry gives it, depends on how large packets are. A class that does not \
         say it (`packet`, `packets`) has packets of the MTU and header of the links; with link.mtu = \"message\" \
         these have no largest size.",
    ),
    (
        "W0906",
        "packets are larger than planned for",
        "The traffic of this service level has larger packets on the wire, header included, than its class of [plan] \
         says. Bounds on waits then hold for nobody, for a large packet makes all others wait; and shares differ, \
         since InfiniBand counts whole packets. Write the true size, or leave `packet` out: it then follows from \
         `link.mtu` and `link.header`.",
    ),
    (
        "W0907",
        "planned tables that decide nothing",
        "A table chooses among packets that wait at an output. With a speed-up of 1 the crossbar brings no more than the output \
         sends, so packets wait at inputs, where the crossbar's allocator chooses: shares and deadlines of the plan are not \
         kept. A switch.speedup of 2 or more moves the queues to the outputs.",
    ),
    (
        "W0908",
        "cables slower than planned for",
        "At most one cable in a hundred is slower than all others, as where a cable came up with one lane of four. The plan is \
         for the others: on the slow ones waits are longer than its bounds. Replace the cables that are named, or write \
         plan.rate for all.",
    ),
    (
        "E1001",
        "an axis of a study names no key",
        "A key under [study.axes], in a [[study.zip]] or in the `set` of a [[study.variant]] is the path of a value \
         of the file, as for --set: \"traffic.load\" for all classes, \"traffic.0.load\" for the first, \
         \"qos.arbiter.kind\". It stands in quotes because of its dots. `netloom schema` has all keys.",
    ),
    (
        "E1002",
        "an axis of a study has no proper values",
        "An axis has a list of values, [0.1, 0.2] or [\"16 KiB\", \"32 KiB\"], or a table of numbers: { from = 0.1, \
         to = 1.0, step = 0.1 }. Steps are counted exactly, in decimals; a step below zero leads down. With `refine` \
         the values must rise, and a whole number of `refine` must make a step.",
    ),
    (
        "E1003",
        "axes that step together have different lengths",
        "The lists of one [[study.zip]] are read side by side: the first values of all, then the second ones. So they \
         have the same length. Axes of which every combination is wanted stand under [study.axes].",
    ),
    (
        "E1004",
        "two values of an axis cannot be told apart",
        "Results name a point by the values of its axes, so that each value of an axis and the name of each variant \
         stands there once. Tables of the same kind with different parameters are told apart as [[study.variant]]s \
         with names of their own.",
    ),
    (
        "E1005",
        "two axes of a study set the same value",
        "Axes are put into the file one after the other: variants, then the others in the order of the file. The value \
         of one would be lost behind that of another.",
    ),
    (
        "E1006",
        "a rule of a study has no axis to follow",
        "`refine` and `stop-after-saturation` walk up one axis of numbers and look where the fabric saturates. That \
         axis is the one with `refine`, or else the one load under [study.axes]; there must be exactly one, and its \
         values must rise.",
    ),
    (
        "E1007",
        "the seeds of a study do not fit together",
        "`interval` adds seeds until the mean latency is known well enough. It needs at least two to begin with \
         (measure.repeat = 2 or more), and `most-seeds`, which must be at least as many, says where it ends.",
    ),
    (
        "E1008",
        "this key cannot be an axis",
        "The seeds of a study are measure.seed and the measure.repeat - 1 numbers after it, for every point; name and \
         format of the file are the same for all of its runs.",
    ),
    (
        "E1009",
        "a --set argument is lost behind an axis",
        "The study gives this value itself at every point. The values of an axis can be set as well: \
         --set 'study.axes.\"traffic.load\"=[0.5, 0.6]'.",
    ),
    (
        "E1010",
        "a variant goes with nothing",
        "`only` of a [[study.variant]] names columns of the other axes, as results have them, and values that these axes \
         have: such points are run, the others are left out.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Every code in the sources of all crates: a quote, a letter, four digits, a quote.
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
