//! The findings about files of OpenSM: code, title, and at length.

/// Every code of `lint`, for `netloom explain`.
pub const CODES: &[(&str, &str, &str)] = &[
    (
        "E1140",
        "QoS is off",
        "OpenSM programs arbitration tables and maps of service levels only if the file says `qos TRUE`, in capitals, or \
         the command line has -Q. Otherwise it leaves the ports alone: they keep what they had, which may be what an \
         earlier subnet manager wrote.",
    ),
    (
        "E1141",
        "a key that OpenSM does not know",
        "OpenSM prints \"Unrecognized token\" and goes on without the line.",
    ),
    (
        "E1142",
        "qos_max_vls does nothing",
        "`qos_max_vls` and `qos_*_max_vls` are read and used nowhere (torus-2QoS looks at them for a warning). What \
         limits the lanes of a link is `max_op_vls`, a code: 1 is VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7, 5 VL0-14.",
    ),
    (
        "E1143",
        "max_op_vls is a code, not a number of lanes",
        "1 is VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7, 5 VL0-14. A larger number limits nothing; 0 is none of the standard's codes.",
    ),
    (
        "E1144",
        "lanes of a table are folded",
        "A lane that the port does not use is not refused: OpenSM keeps the lowest bits of its number, so that with \
         VL0-3 an entry for VL4 becomes one for VL0, and the weights of two classes are added up.",
    ),
    (
        "E1145",
        "service levels are folded onto one lane",
        "A service level that is mapped to a lane which the port does not use goes to the lane of the lowest bits: with \
         VL0-3, what should have VL4 shares VL0. VL15, which drops, stays what it is.",
    ),
    (
        "E1146",
        "a list that OpenSM reads differently",
        "OpenSM takes a number, skips one character whatever it is, and takes the next number. A blank before a comma, a \
         missing colon or a leading zero (octal) shifts or changes all that follows. A blank after a comma does no harm.",
    ),
    (
        "E1147",
        "a number out of range",
        "OpenSM prints a warning and uses the number all the same, cut to size: lanes of an arbitration table modulo 15, \
         weights modulo 256, lanes of sl2vl modulo 16. A limit above 255 counts as none: the common `qos_high_limit` or \
         0 takes its place.",
    ),
    (
        "E1148",
        "not one lane for each of the 16 service levels",
        "Service levels that the list does not reach go to VL0; what is beyond the sixteenth is ignored.",
    ),
    (
        "E1149",
        "more entries than a table has room for",
        "OpenSM keeps 64 entries of a list (and prints a warning if there are more), and writes only as many of them as \
         the port has room for, without a word. Ports with room for 8 or 16 are common: see VLArbLowCap and VLArbHighCap \
         of `smpquery portinfo`.",
    ),
    (
        "E1150",
        "a port with room for 64 entries gets 32",
        "OpenSM writes tables in blocks of 32 and computes the length of the second as cap modulo 32, which is 0 for a cap \
         of 64: entries 33 to 64 are written as zeros. A cap of 63 is fine.",
    ),
    (
        "E1151",
        "OpenSM's own table is used",
        "What the file does not say is OpenSM's default: the high table has VL0 alone with weight 4 and limit 0, the low \
         table has VL1 to VL14 with weight 4 each. A weight of 4 is 256 bytes, less than one packet, so that VL0 sends \
         about every second packet whatever the others want.",
    ),
    (
        "E1152",
        "the first sweep uses the OperVLs of before",
        "In the first sweep after it became master, OpenSM folds the tables of switches by the OperVLs that their ports had \
         before that sweep, and sets the new OperVLs afterwards. Ports that come up with VL0 only get VL0 everywhere in \
         their tables. Light sweeps do not mend it; a second heavy sweep does: send SIGHUP to OpenSM once, and compare \
         with `verify`. This is a remark: it is true of every file.",
    ),
    (
        "E1153",
        "weights below one packet",
        "An entry that has any weight left sends a whole packet, so that a weight below the largest packet counts as one \
         packet. Weights are in units of 64 bytes: 64 is one packet of 4096 bytes, 32 one of 2048. Shares come out as \
         written only if weights are multiples of that.",
    ),
    (
        "E1154",
        "lanes of the low table can starve",
        "With a limit of 255 the low table gets its turn only while no lane of the high table has anything to send. A lane \
         that is in the low table alone can wait forever.",
    ),
    (
        "E1155",
        "lanes of the low table get next to nothing",
        "The limit counts in units of 4096 bytes: while the high table always has something to send, the low table sends \
         one packet after each `limit` times 4096 bytes.",
    ),
    (
        "E1156",
        "a service level that is never served",
        "The service level goes to a lane that has no weight in either table of the port. Its packets wait for good, and \
         so does whatever waits behind them.",
    ),
    (
        "E1157",
        "a service level that is dropped",
        "VL15 is the lane of the subnet manager; data that is mapped to it is discarded. That is the way to forbid a \
         service level, so this is a remark.",
    ),
    (
        "E1158",
        "a lane that no service level uses",
        "The entry never sends, and takes room in the table. Often the map of service levels was meant to use the lane.",
    ),
    (
        "E1159",
        "an entry of weight 0",
        "The standard says that such an entry is skipped. The vendor lists unexpected behaviour with weight 0 as a known \
         issue of the firmware of Switch-IB 2 and Quantum-2; leave the entry out.",
    ),
    (
        "E1160",
        "hosts or switches are left with OpenSM's tables",
        "The file gives tables to one kind of port by its own keys and none to the other, so that a packet meets OpenSM's \
         default tables at the other end of the cable.",
    ),
    (
        "E1161",
        "hosts and switches have different tables",
        "That can be meant: this is a remark. A class then has one share where it enters the fabric and another within.",
    ),
    (
        "E1162",
        "a line that is too long",
        "OpenSM reads at most 1022 characters of a line and takes the rest for a line of its own.",
    ),
    (
        "E1163",
        "rules of torus-2QoS",
        "torus-2QoS needs QoS, 8 lanes between switches and 2 at hosts. It makes the maps of service levels itself. VL0 to \
         VL3 must have equal weights at switch ports, and so must VL4 to VL7; ports of hosts use VL0 and VL1. The common \
         qos_vlarb_* keys would give both the same tables.",
    ),
    (
        "E1164",
        "a rule of qos-ulps that comes too late",
        "The first rule that fits a path gives the service level, so that a rule behind one that fits more is never asked. \
         A rule by target port fits all traffic to it: put rules by service before.",
    ),
    (
        "E1165",
        "qos-setup is ignored",
        "OpenSM reads the section and uses nothing of it. Tables are set by the qos_* keys of opensm.conf.",
    ),
    (
        "E1166",
        "a policy that OpenSM refuses",
        "OpenSM logs an error (ERR AC03 or AC04) and comes up without any policy.",
    ),
    (
        "E1167",
        "a port-name with a space",
        "Outside of quotes OpenSM drops spaces, so that `port-name: node1 HCA-1/P1` looks for a node described as \
         `node1HCA-1` and finds none, without a word. Put the name in quotes, or list port GUIDs.",
    ),
    (
        "E1168",
        "a port that the fabric does not have",
        "The group will not have it, and OpenSM says nothing.",
    ),
    (
        "E1169",
        "keys for ports 0 that the fabric does not have",
        "The qos_sw0_* keys are for enhanced ports 0 only. A base port 0 has no tables.",
    ),
    (
        "E1170",
        "another routing engine than was asked for",
        "If a routing engine fails, OpenSM takes the next of the list and at last minhop, and says that the subnet is up. \
         On a torus or a ring minhop can deadlock. `routing_engine ftree,no_fallback` makes it stop instead.",
    ),
    (
        "E1171",
        "OpenSM refused the policy",
        "The log has an error of the policy file: OpenSM runs without any policy.",
    ),
    (
        "E1172",
        "firmware that does not follow the tables",
        "For Switch-IB 2 and Quantum-2 the vendor lists as known issues that the limit of the high table does not work as \
         expected (use the low table only), and that entries of weight 0 misbehave. This is a remark.",
    ),
    ("E1173", "a key that is given twice", "The last one counts."),
    (
        "E1174",
        "service levels of the policy that share a lane",
        "The policy tells them apart and the port does not: they have one lane, one queue and one weight.",
    ),
    (
        "E1175",
        "service levels on a lane of the high table that nothing plans for",
        "Several service levels go to a lane of the high table, as when the list of lanes is repeated up to 16. Traffic on a \
         level that no class uses, such as that of a program with a level of its own, then goes before all others and can take \
         what was planned for the class of that lane. Levels that the policy gives count as planned; without a policy, the \
         first level of each lane does. Map all others to a lane of the low table without a deadline.",
    ),
];
