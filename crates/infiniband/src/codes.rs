//! The codes of notes about files of real fabrics.

/// Every code with its title and its long text. The meaning of a code never changes.
pub const CODES: &[(&str, &str, &str)] = &[
    (
        "E1100",
        "the file has the wrong format",
        "Files are recognised by their first lines, not by their names. This file is in an \
         unknown format, or not of the kind expected here. An ibnetdiscover listing or \
         opensm-subnet.lst gives the nodes and cables. All other files give what is programmed in \
         them.",
    ),
    (
        "E1101",
        "a line cannot be parsed",
        "The line does not belong to the format that the file appears to have, and is ignored. \
         Tools mix warnings into their output, so keep standard error out of the file \
         (2>/dev/null).",
    ),
    (
        "E1102",
        "the file is truncated",
        "The file ends within a line or a table. Everything before that point is read. Write the \
         file again: a full disk or an interrupted command leaves such files.",
    ),
    (
        "E1103",
        "a number is out of range",
        "A node has at most 254 ports. LIDs of ports are 1 to 49151 (0xbfff), an LMC is 0 to 7, \
         service levels and lanes are 0 to 15, and an arbitration table has at most 64 entries. A \
         larger number is rejected before any memory is allocated for it.",
    ),
    (
        "E1104",
        "a GUID occurs twice",
        "Two records describe a node with the same GUID. Vendors give each node its own GUID. \
         Duplicates occur when two listings were joined, or when the firmware of a card was \
         copied. The second record is ignored.",
    ),
    (
        "E1105",
        "a port that the node does not have",
        "A line names a port beyond the number of ports of its node, or a cable at port 0. Port 0 \
         is the management port of a switch and has no cable. If the line is not in the listing \
         itself, the two files are of different subnets.",
    ),
    (
        "E1106",
        "a port occurs twice",
        "A port has one cable, but its node lists two. The first is kept.",
    ),
    (
        "E1107",
        "a cable is listed at one end only",
        "A listing prints every cable twice, once at each end. This cable is missing at the other \
         end: the subnet changed while it was listed, or lines are missing. The cable is ignored.",
    ),
    (
        "E1108",
        "the ends of a cable disagree",
        "One end lists a cable to a port that itself lists a different cable. The end that \
         disagrees is ignored.",
    ),
    (
        "E1109",
        "a node is named but not described",
        "A cable leads to a node that has no record in the file. Most likely the file is \
         truncated at the end of a line, or was filtered (grep). The cable is ignored.",
    ),
    (
        "E1110",
        "two ports have the same address",
        "A LID belongs to one port of a subnet. A port with LMC n has 2^n LIDs, starting at its \
         own, and these ranges must not overlap. This happens with two subnets in one file, or \
         when a subnet manager was changing the LIDs.",
    ),
    (
        "E1111",
        "lines disagree about a port",
        "The address of a port at the other end of its cable differs from the one in its own \
         line, or lines of a node give different numbers of ports. The port's own line counts.",
    ),
    (
        "E1112",
        "a speed or width is unknown",
        "Widths are 1x, 2x, 4x, 8x and 12x. Speeds are SDR to XDR. Any other word counts as \
         unknown: the cable is kept, without a rate.",
    ),
    (
        "E1113",
        "the file is empty",
        "The file contains none of the data that its format is for.",
    ),
    (
        "E1120",
        "a forwarding table of an unknown switch",
        "A forwarding table names its switch by GUID, and no switch of the listing has this GUID. \
         The table is ignored. If all tables are ignored, the files are of different subnets.",
    ),
    (
        "E1121",
        "an output that the switch does not have",
        "A forwarding table sends an address to a port that the switch does not have.",
    ),
    (
        "E1122",
        "an address has two outputs",
        "A forwarding table lists an address twice with different outputs, or a file contains a \
         switch twice, as two concatenated dumps do. The first output is kept.",
    ),
    (
        "E1123",
        "a table has fewer rows than it states",
        "dump_fts and ibroute end a table with its number of rows. Here rows are missing, or some \
         could not be parsed.",
    ),
    (
        "E1124",
        "multicast tables are not read",
        "The file has multicast tables (dump_fts -M, ibroute -M). Only unicast routes are checked.",
    ),
    (
        "E1125",
        "addresses missing from all tables",
        "No switch has an output for these addresses. dump_fts and ibroute of infiniband-diags \
         omit the last LID when it is a multiple of 64; opensm-lfts.dump has it.",
    ),
    (
        "E1130",
        "a row without a heading",
        "A row of a table comes before any heading that names its port.",
    ),
    (
        "E1131",
        "a port that the subnet does not have",
        "Tables name their port by LID or GUID, and no port of the listing has it. The tables are \
         ignored. LIDs can change when a subnet manager restarts: read the tables right after \
         listing the subnet.",
    ),
    (
        "E1132",
        "a directed route that cannot be followed",
        "smpquery -D names a port by the directed route to it from the host that sent the query, \
         such as 0,1,5. That host must be known, and every step must be a cable of the listing.",
    ),
    (
        "E1133",
        "a row does not have 16 lanes",
        "SL-to-VL tables have one lane for each of the 16 service levels.",
    ),
    (
        "E1134",
        "an arbitration table has the wrong number of entries",
        "A line of lanes is followed by a line with the same number of weights. The number of \
         entries must match the heading (LowCap, HighCap). More than 32 entries take two pairs of \
         lines.",
    ),
    (
        "E1135",
        "a query was not answered",
        "The tool wrote that a switch or a port did not answer. The file has no data about it.",
    ),
    (
        "E1136",
        "a PortInfo value cannot be parsed",
        "smpquery does not write this value for this field. It counts as unknown.",
    ),
    (
        "E1139",
        "more errors",
        "A file with this many errors is most likely the wrong file, or damaged as a whole. Only \
         the first hundred are reported one at a time.",
    ),
];
