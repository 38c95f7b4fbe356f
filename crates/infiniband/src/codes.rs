//! What the codes of notes about files of real fabrics mean, at length.

/// Every code with its title and its long text. Codes are never given a new meaning.
pub const CODES: &[(&str, &str, &str)] = &[
    (
        "E1100",
        "the file is of another kind than asked for",
        "A file of a real fabric is recognised by its first lines, whatever its name is. This one is either of no kind \
         that is known, or says something else than what is asked for here: the listing of ibnetdiscover and \
         opensm-subnet.lst say which nodes and cables there are, all other files say what is programmed in them.",
    ),
    (
        "E1101",
        "a line is not understood",
        "The line is none that the tool writes whose file this seems to be. It is left out, and so is what it said. \
         Tools mix their warnings into what they print: keep standard error out of the file (2>/dev/null).",
    ),
    (
        "E1102",
        "the file is cut off",
        "The file ends within a line or within a table. What stands before is read; what is missing cannot be told. \
         Write the file again: a full disk or an interrupted command leaves such files.",
    ),
    (
        "E1103",
        "a number is out of range",
        "Ports of a node are at most 254, LIDs of ports 1 to 49151 (0xbfff), an LMC 0 to 7, service levels and lanes 0 \
         to 15, and an arbitration table has at most 64 entries. A number beyond is refused before anything is \
         reserved for it.",
    ),
    (
        "E1104",
        "a GUID stands twice",
        "Two records describe a node with the same GUID. GUIDs are given by the maker, one for each node; two of a \
         kind are a listing that was joined from two, or cards whose firmware was copied. The second is left out.",
    ),
    (
        "E1105",
        "a port that the node does not have",
        "A line names a port beyond the number of ports of its node, or puts a cable at port 0, which is a switch's own \
         and has none. If it stands in another file than the listing, the two are of different subnets.",
    ),
    (
        "E1106",
        "a port stands twice",
        "A port has one cable, and its node lists two. The first is kept.",
    ),
    (
        "E1107",
        "a cable is listed at one end only",
        "Listings print every cable twice, once at each end. This one is missing at the other end: the subnet changed \
         while it was listed, or lines are missing. The cable is left out.",
    ),
    (
        "E1108",
        "the ends of a cable disagree",
        "One end lists a cable to a port that itself lists a cable to somewhere else. The end that disagrees is left \
         out.",
    ),
    (
        "E1109",
        "a node is named and not described",
        "A cable leads to a node that has no record in the file. Most likely the file is cut off at the end of a line, \
         or it was filtered (grep). The cable is left out.",
    ),
    (
        "E1110",
        "two ports have one address",
        "A LID belongs to one port of a subnet. A port with LMC n has 2^n of them, from its LID on; ranges must not \
         overlap. Two subnets in one file, or a subnet manager that was changing them, look like this.",
    ),
    (
        "E1111",
        "lines say different things of one port",
        "The address of a port at the other end of its cable is not what its own line says, or lines of a node give it \
         different numbers of ports. The own line counts.",
    ),
    (
        "E1112",
        "a speed or width is not known",
        "Widths are 1x, 2x, 4x, 8x and 12x, speeds SDR to XDR. Another word is taken as unknown: the cable is there, \
         its rate is not.",
    ),
    (
        "E1113",
        "nothing in the file",
        "The file has none of what its kind of file holds.",
    ),
    (
        "E1120",
        "a table of a switch that the subnet does not have",
        "A forwarding table names its switch by GUID, and no switch of the listing has it. The table is left out. If \
         all tables are, the files are of different subnets.",
    ),
    (
        "E1121",
        "an output that the switch does not have",
        "A forwarding table sends an address out of a port beyond those of the switch.",
    ),
    (
        "E1122",
        "an address has two outputs",
        "A forwarding table has an address twice, with different outputs; or a text has a switch twice, as two dumps \
         behind each other do. The first is kept.",
    ),
    (
        "E1123",
        "a table has fewer rows than it counts",
        "dump_fts and ibroute end a table with the number of its rows. Here rows are missing, or some were not \
         understood.",
    ),
    (
        "E1124",
        "multicast tables are not read",
        "The text has multicast tables (dump_fts -M, ibroute -M). Routes to groups are not checked here; routes to \
         single addresses are.",
    ),
    (
        "E1125",
        "addresses that no table has",
        "No switch has an output for these addresses. dump_fts and ibroute of infiniband-diags leave out the last LID \
         when it is a multiple of 64: opensm-lfts.dump has it.",
    ),
    (
        "E1130",
        "a row that is nobody's",
        "A row of a table stands before any heading that says of which port it is.",
    ),
    (
        "E1131",
        "a port that the subnet does not have",
        "Tables name their port by LID or GUID, and no port of the listing has it. They are left out. LIDs change when \
         a subnet manager starts anew: list the subnet and read its tables in one go.",
    ),
    (
        "E1132",
        "a directed route that cannot be followed",
        "smpquery -D names a port by the way to it, from the host where the query was sent: 0,1,5. Where that is must \
         be said, and every step must be a cable of the listing.",
    ),
    (
        "E1133",
        "a row has not 16 lanes",
        "SL to VL tables have a lane for each of the 16 service levels.",
    ),
    (
        "E1134",
        "an arbitration table has not as many entries as it says",
        "Each line of lanes is followed by a line with as many weights, and all of them together are as many as the \
         heading says (LowCap, HighCap). More than 32 are two pairs of lines.",
    ),
    (
        "E1135",
        "a query was not answered",
        "The tool wrote that a switch or a port did not answer. Nothing is known of it from this file.",
    ),
    (
        "E1136",
        "a value of PortInfo is not understood",
        "The value is none that smpquery writes for this name. It is taken as unknown.",
    ),
    (
        "E1139",
        "further mistakes",
        "A file with so many mistakes is most likely the wrong file, or damaged as a whole. The first hundred are told \
         one by one.",
    ),
];
