//! The codes of findings about OpenSM files.

/// Every code of `netloom site lint` with its title and its long text.
pub const CODES: &[(&str, &str, &str)] = &[
    (
        "E1140",
        "QoS is off",
        "OpenSM programs arbitration tables and SL-to-VL maps only if the file says `qos TRUE`, \
         in capitals, or the command line has -Q. Otherwise it does not touch the ports: they \
         keep what they had, which may be what an earlier subnet manager wrote.",
    ),
    (
        "E1141",
        "a key that OpenSM does not know",
        "OpenSM prints \"Unrecognized token\" and ignores the line.",
    ),
    (
        "E1142",
        "qos_max_vls has no effect",
        "OpenSM reads `qos_max_vls` and `qos_*_max_vls` but does not use them (torus-2QoS only \
         checks them for a warning). The lanes of a link are limited by `max_op_vls`, which takes \
         a code: 1 is VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7, 5 VL0-14.",
    ),
    (
        "E1143",
        "max_op_vls is a code, not a number of lanes",
        "1 is VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7, 5 VL0-14. A larger number has no effect. 0 is not a \
         code of the standard.",
    ),
    (
        "E1144",
        "lanes of a table are folded",
        "OpenSM does not reject a lane that the port does not use. It keeps the lowest bits of \
         the lane's number: with VL0-3, an entry for VL4 becomes one for VL0, and the weights of \
         two classes add up.",
    ),
    (
        "E1145",
        "service levels are folded onto one lane",
        "A service level that is mapped to a lane that the port does not use goes to the lane \
         given by the lowest bits. With VL0-3, a level meant for VL4 shares VL0. VL15, which \
         drops packets, is never folded.",
    ),
    (
        "E1146",
        "a list that OpenSM reads differently",
        "OpenSM reads a number, skips one character whatever it is, and reads the next number. A \
         blank before a comma, a missing colon or a leading zero (octal) shifts or changes \
         everything after it. A blank after a comma is harmless.",
    ),
    (
        "E1147",
        "a number out of range",
        "OpenSM prints a warning and uses the number modulo its range: lanes of an arbitration \
         table modulo 15, weights modulo 256, lanes of sl2vl modulo 16. A limit above 255 is \
         ignored: the common `qos_high_limit` or 0 takes its place.",
    ),
    (
        "E1148",
        "not one lane for each of the 16 service levels",
        "Service levels missing from the list go to VL0. Lanes after the sixteenth are ignored.",
    ),
    (
        "E1149",
        "more entries than a table can hold",
        "OpenSM keeps 64 entries of a list and warns if there are more. It silently writes only \
         as many of them as the port can hold. Ports with 8 or 16 entries are common: see \
         VLArbLowCap and VLArbHighCap of `smpquery portinfo`.",
    ),
    (
        "E1150",
        "a port with 64 entries gets 32",
        "OpenSM writes tables in blocks of 32 and computes the length of the second block as cap \
         modulo 32, which is 0 for a cap of 64. Entries 33 to 64 are written as zeros. A cap of \
         63 works.",
    ),
    (
        "E1151",
        "OpenSM's default table is used",
        "OpenSM uses its defaults for what the file does not set. The high table has VL0 alone \
         with weight 4 and limit 0. The low table has VL1 to VL14 with weight 4 each. A weight of \
         4 is 256 bytes, less than one packet, so VL0 sends about every second packet whatever \
         the other lanes need.",
    ),
    (
        "E1152",
        "the first sweep uses the earlier OperVLs",
        "In its first sweep as master, OpenSM folds the tables of switches by the OperVLs that \
         their ports had before that sweep, and sets the new OperVLs afterwards. Ports that come \
         up with VL0 only get VL0 everywhere in their tables. Light sweeps do not correct this; a \
         second heavy sweep does. Send SIGHUP to OpenSM once, and check with `netloom site \
         verify`. This is a remark: it applies to every file.",
    ),
    (
        "E1153",
        "weights below one packet",
        "An entry with any weight left sends a whole packet, so a weight below the largest packet \
         counts as one packet. Weights are in units of 64 bytes: 64 is one packet of 4096 bytes, \
         32 one of 2048. Shares are as written only if the weights are multiples of that number.",
    ),
    (
        "E1154",
        "lanes of the low table can starve",
        "With a limit of 255, the low table is served only while no lane of the high table has \
         anything to send. A lane in the low table alone can wait forever.",
    ),
    (
        "E1155",
        "lanes of the low table get next to nothing",
        "The limit counts in units of 4096 bytes. While the high table always has something to \
         send, the low table sends one packet after each `limit` times 4096 bytes.",
    ),
    (
        "E1156",
        "a service level that is never served",
        "The service level goes to a lane that has no weight in either table of the port. Its \
         packets wait forever, and so does everything queued after them.",
    ),
    (
        "E1157",
        "a service level that is dropped",
        "VL15 is the lane of the subnet manager, and data mapped to it is discarded. This is the \
         way to forbid a service level, so it is a remark.",
    ),
    (
        "E1158",
        "a lane that no service level uses",
        "The entry never sends and takes space in the table. Often the SL-to-VL map was meant to \
         use the lane.",
    ),
    (
        "E1159",
        "an entry of weight 0",
        "The standard says that such an entry is skipped. For Switch-IB 2 and Quantum-2, the \
         vendor lists unexpected behaviour with weight 0 as a known firmware issue. Remove the \
         entry.",
    ),
    (
        "E1160",
        "hosts or switches keep OpenSM's tables",
        "The file sets tables for one kind of port by its own keys, but not for the other. A \
         packet then meets OpenSM's default tables at the other end of the cable.",
    ),
    (
        "E1161",
        "hosts and switches have different tables",
        "This may be intended, so it is a remark. A class then has one share where it enters the \
         fabric and another within.",
    ),
    (
        "E1162",
        "a line that is too long",
        "OpenSM reads at most 1022 characters of a line and treats the rest as a line of its own.",
    ),
    (
        "E1163",
        "rules of torus-2QoS",
        "torus-2QoS needs QoS, 8 lanes between switches and 2 at hosts. It makes the SL-to-VL \
         maps itself. VL0 to VL3 must have equal weights at switch ports, and so must VL4 to VL7. \
         Ports of hosts use VL0 and VL1. The common qos_vlarb_* keys would give hosts and \
         switches the same tables.",
    ),
    (
        "E1164",
        "a rule of qos-ulps that comes too late",
        "The first rule that matches a path sets the service level, so a rule after a broader one \
         never applies. A rule by target port matches all traffic to it: put rules by service \
         before it.",
    ),
    (
        "E1165",
        "qos-setup is ignored",
        "OpenSM reads this section but does not use it. The qos_* keys of opensm.conf set the \
         tables.",
    ),
    (
        "E1166",
        "a policy that OpenSM rejects",
        "OpenSM logs an error (ERR AC03 or AC04) and runs without any policy.",
    ),
    (
        "E1167",
        "a port-name with a space",
        "Outside quotes OpenSM drops spaces: `port-name: node1 HCA-1/P1` looks for a node \
         described as `node1HCA-1`, and silently finds none. Put the name in quotes, or list port \
         GUIDs.",
    ),
    (
        "E1168",
        "a port that the fabric does not have",
        "The group will not contain this port, and OpenSM does not report it.",
    ),
    (
        "E1169",
        "keys for ports 0 that the fabric does not have",
        "The qos_sw0_* keys are for enhanced ports 0 only. A base port 0 has no tables.",
    ),
    (
        "E1170",
        "another routing engine than the first choice",
        "If a routing engine fails, OpenSM uses the next one of the list, and finally minhop, and \
         reports that the subnet is up. On a torus or a ring, minhop can deadlock. \
         `routing_engine ftree,no_fallback` makes OpenSM stop instead.",
    ),
    (
        "E1171",
        "OpenSM rejected the policy",
        "The log has an error in the policy file: OpenSM runs without any policy.",
    ),
    (
        "E1172",
        "firmware that does not follow the tables",
        "For Switch-IB 2 and Quantum-2, the vendor lists two known issues: the limit of the high \
         table does not work as expected (use the low table only), and entries of weight 0 \
         misbehave. This is a remark.",
    ),
    (
        "E1173",
        "a key that is set twice",
        "OpenSM uses the last value.",
    ),
    (
        "E1174",
        "service levels of the policy that share a lane",
        "The policy separates these service levels, but the port does not: they share one lane, \
         one queue and one weight.",
    ),
    (
        "E1175",
        "unplanned service levels on a lane of the high table",
        "Several service levels go to a lane of the high table, for example because the list of \
         lanes is repeated up to 16. Traffic on a level that no class uses, such as that of a \
         program with its own level, then precedes all others and can take what was planned for \
         the class of that lane. Levels set by the policy count as planned. Without a policy, the \
         first level of each lane does. Map all others to a lane of the low table without a \
         deadline.",
    ),
];
