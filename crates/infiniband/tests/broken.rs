//! Broken files: every error is reported with its line, and no memory is allocated for impossible
//! sizes.

mod sample_files;

use netloom_catalog::Notes;
use netloom_infiniband::reading::{
    Asked, MOST_MISTAKES, read_fdbs, read_forwarding, read_ibnetdiscover, read_path_levels,
    read_sl_to_vl_dump, read_slvl, read_smpquery, read_subnet, read_subnet_list,
};
use netloom_infiniband::{Programmed, Subnet};
use sample_files::{shown, subnet, text};

/// Reads a listing and returns its errors.
fn listing(text: &str) -> Vec<String> {
    let mut notes = Notes::new();
    let subnet = read_subnet(text, 0, &mut notes);
    assert_symmetric(&subnet);
    shown(text, notes)
}

/// Checks that the cables are symmetric, whatever errors the listing has.
fn assert_symmetric(subnet: &Subnet) {
    for (at, node) in subnet.nodes.iter().enumerate() {
        for (number, port) in node.ports.iter().enumerate() {
            let Some(cable) = port.cable else { continue };
            let back = subnet.nodes[cable.node.index()].ports[usize::from(cable.port)].cable;
            let back = back.map(|back| (back.node.index(), usize::from(back.port)));
            assert_eq!(back, Some((at, number)), "a cable that does not lead back");
        }
    }
}

#[test]
fn a_listing_that_is_cut_off() {
    let whole = text("ft8/ibnetdiscover.txt");
    // Within the line of a cable.
    let cut = &whole[..whole.find("[3](98039b0300100061)").unwrap_or(560)];
    let messages = listing(cut);
    assert_eq!(
        messages[0],
        "E1109 line 11: \"H-98039b0300100040\" is named here but not described"
    );
    let within = &whole[..whole.find("H-98039b0300100060").unwrap() + 9];
    let messages = listing(within);
    assert_eq!(
        messages.last().unwrap(),
        "E1102 line 13: expected the name of the node at the other end, in quotes"
    );
    // Between the keys of a node and the node.
    let before = &whole[..whole.find("\nCa\t").unwrap() + 1];
    let messages = listing(before);
    let line = before.lines().count() - 3;
    assert_eq!(
        messages.last().unwrap(),
        &format!("E1102 line {line}: expected a node after these lines, found the end of the file")
    );
}

#[test]
fn ports_that_a_node_does_not_have() {
    let wrong = text("ft8/ibnetdiscover.txt").replacen("[4]\t\"H-", "[40]\t\"H-", 1);
    assert_eq!(
        listing(&wrong),
        [
            "E1105 line 14: no port 40 on \"MF0;leaf1:MQM8700/U1\", which has ports 1 to 8",
            "E1107 line 59: cable from \"node007 mlx5_0\"[1] to \"MF0;leaf1:MQM8700/U1\"[4], \
             which lists none",
        ]
    );
    let zero = text("ft8/ibnetdiscover.txt").replacen(
        "\"[3]\t\t# \"MF0;spine0",
        "\"[0]\t\t# \"MF0;spine0",
        1,
    );
    assert_eq!(
        listing(&zero),
        [
            "E1105 line 15: no port 0 on \"MF0;spine0:MQM8700/U1\", which has ports 1 to 8",
            "E1107 line 37: cable from \"MF0;spine0:MQM8700/U1\"[3] to \
             \"MF0;leaf1:MQM8700/U1\"[5], which lists none",
        ]
    );
}

#[test]
fn ports_and_guids_that_stand_twice() {
    let whole = text("ft8/ibnetdiscover.txt");
    let twice = whole.replacen("[2]\t\"H-", "[1]\t\"H-", 1);
    assert_eq!(
        listing(&twice),
        [
            "E1106 line 12: port 1 occurs twice",
            "E1107 line 73: cable from \"node005 mlx5_0\"[1] to \"MF0;leaf1:MQM8700/U1\"[2], \
             which lists none",
        ]
    );
    let start = whole.rfind("\nvendid").unwrap();
    let doubled = format!("{whole}{}", &whole[start..]);
    let line = whole.lines().count() + 6;
    assert_eq!(
        listing(&doubled),
        [format!(
            "E1104 line {line}: node GUID 0x98039b0300100000 occurs twice"
        )]
    );
    let list = text("ft8/opensm-subnet.lst");
    let (first, _) = list.split_once('\n').unwrap();
    let line = list.lines().count() + 1;
    assert_eq!(
        listing(&format!("{list}{first}\n")),
        [format!("E1106 line {line}: port 1 occurs twice")]
    );
}

#[test]
fn cables_whose_ends_disagree() {
    let crossed = text("ft8/ibnetdiscover.txt").replacen(
        "[5]\t\"S-b8599f0300200080\"[3]",
        "[5]\t\"S-b8599f0300200080\"[4]",
        1,
    );
    assert_eq!(
        listing(&crossed),
        [
            "E1108 line 15: cable from \"MF0;leaf1:MQM8700/U1\"[5] to \
             \"MF0;spine0:MQM8700/U1\"[4], which lists one to \"MF0;leaf1:MQM8700/U1\"[6]",
            "E1108 line 37: cable from \"MF0;spine0:MQM8700/U1\"[3] to \
             \"MF0;leaf1:MQM8700/U1\"[5], which lists one to \"MF0;spine0:MQM8700/U1\"[4]",
        ]
    );
}

#[test]
fn addresses_of_two_ports() {
    let twice = text("ft8/ibnetdiscover.txt").replacen("# lid 10 lmc 0", "# lid 9 lmc 0", 1);
    assert_eq!(
        listing(&twice),
        [
            "E1110 line 66: LID 9 is the address of two ports",
            "E1111 line 14: LID 10 here, but LID 9 at the port itself",
        ]
    );
    // 8 to 15 covers those of others.
    let ranges = text("ft8/ibnetdiscover.txt").replacen("# lid 8 lmc 0", "# lid 8 lmc 3", 1);
    let messages = listing(&ranges);
    let codes: Vec<&str> = messages.iter().map(|line| &line[..5]).collect();
    assert_eq!(codes, ["E1110"; 4], "{messages:#?}");
    let beyond = text("ft8/ibnetdiscover.txt").replacen("# lid 8 lmc 0", "# lid 49152 lmc 0", 1);
    assert_eq!(
        listing(&beyond)[0],
        "E1103 line 73: LID 49152 with LMC 0 is not a unicast address"
    );
    let shifted = text("ft8/ibnetdiscover.txt").replacen("# lid 8 lmc 0", "# lid 8 lmc 64", 1);
    assert_eq!(
        listing(&shifted)[0],
        "E1103 line 73: LID 8 with LMC 64 is not a unicast address"
    );
}

#[test]
fn hostile_lengths_reserve_nothing() {
    let hostile =
        "Switch 4000000000 \"a\"\n[1] \"b\"[99999999999999999999]\n\nCa 255 \"b\"\n[1] \"a\"[1]\n";
    assert_eq!(
        listing(hostile),
        [
            "E1103 line 1: expected at most 254 ports, found 4000000000",
            "E1103 line 4: expected at most 254 ports, found 255",
        ]
    );
    // Ten thousand nodes of 254 ports are more than any subnet has.
    let many: String = (0..10_000)
        .map(|n| format!("Switch 254 \"n{n}\"\n"))
        .collect();
    let mut notes = Notes::new();
    let read = read_ibnetdiscover(&many, 0, &mut notes);
    assert_eq!(read.nodes.len(), (1 << 20) / 255);
    let messages = shown(&many, notes);
    assert_eq!(messages.len(), MOST_MISTAKES + 1);
    assert_eq!(
        messages[0],
        "E1103 line 4113: more than 1048576 ports in one subnet"
    );
    let unreported = 10_000 - (1 << 20) / 255 - MOST_MISTAKES;
    let last = format!("E1139 line 10000: {unreported} more errors and warnings are not shown");
    assert_eq!(messages.last(), Some(&last));
    let ports = text("ft8/opensm-subnet.lst").replacen("Ports:01", "Ports:FFFFFFFF", 1);
    assert_eq!(
        listing(&ports)[0],
        "E1103 line 1: expected at most 254 ports, found 4294967295"
    );
}

#[test]
fn lines_of_nothing_known() {
    let strange = "Switch 2 \"a\"\n[1 \"b\"[1]\nwhat is this\ncaguid=0xzz\n\
        caguid=0x12345678901234567\n[2] \"b\"\nmagic=7\n";
    assert_eq!(
        listing(strange),
        [
            "E1101 line 2: expected a port number in brackets",
            "E1101 line 3: expected Switch, Ca, Rt, a port or a key of a node",
            "E1101 line 4: expected a number of at most 16 digits",
            "E1101 line 5: expected a number of at most 16 digits",
            "E1101 line 6: expected a port number in brackets",
            "E1101 line 7: unknown key `magic`",
        ]
    );
    let complaint = format!(
        "ibwarn: [6931] _do_madrpc: recv failed: Connection timed out\n{}",
        text("ft8/ibnetdiscover.txt")
    );
    assert_eq!(
        listing(&complaint),
        ["E1135 line 1: a node did not answer when the subnet was listed"]
    );
    let speeds = text("ft8/ibnetdiscover.txt").replacen("2xHDR", "3xGDR", 1);
    assert_eq!(
        listing(&speeds),
        [
            "E1112 line 11: unknown width `3x`",
            "E1112 line 11: unknown speed `GDR`",
        ]
    );
    let mut notes = Notes::new();
    read_ibnetdiscover("# nothing\n", 0, &mut notes);
    assert_eq!(
        shown("# nothing\n", notes),
        ["E1113 line 1: no node in this file"]
    );
}

#[test]
fn a_subnet_list_that_is_cut_off_or_changed() {
    let list = text("ft8/opensm-subnet.lst");
    let cut = &list[..list.rfind("PHY=").unwrap() + 5];
    let messages = listing(cut);
    let line = list.lines().count();
    assert_eq!(
        messages[0],
        "E1107 line 21: cable from \"MF0;leaf1:MQM8700/U1\"[8] to \"MF0;spine1:MQM8700/U1\"[4], \
         which lists none"
    );
    assert!(
        messages
            .iter()
            .any(|message| message.starts_with(&format!("E1102 line {line}: expected")))
    );
    let changed = list.replacen("\n{ SW Ports:08", "\n{ SW Ports:09", 1);
    let mut notes = Notes::new();
    read_subnet_list(&changed, 0, &mut notes);
    let messages = shown(&changed, notes);
    let expected = "E1111 line 3: expected 9 ports, found 8";
    assert!(
        messages.iter().any(|message| message == expected),
        "{messages:#?}"
    );
}

/// Reads tables about the fat tree of 8 hosts.
fn tables(
    text: &str,
    read: impl Fn(&str, u16, &Subnet, &mut Programmed, &mut Notes),
) -> Vec<String> {
    let ft8 = subnet("ft8/ibnetdiscover.txt");
    let mut notes = Notes::new();
    read(text, 0, &ft8, &mut Programmed::default(), &mut notes);
    shown(text, notes)
}

#[test]
fn forwarding_tables_with_mistakes() {
    let dump = text("ft8/dump_fts.txt");
    let wrong = dump
        .replacen("0x0003 007", "0x0003 009", 1)
        .replacen(
            "0,1,7 guid 0xb8599f03002000c0",
            "0,1,7 guid 0xb8599f03002000c1",
            1,
        )
        .replacen("0x0001 001 :", "0xc001 001 :", 2);
    assert_eq!(
        tables(&wrong, read_forwarding),
        [
            "E1121 line 6: no output 9 on this switch, which has ports 0 to 8",
            "E1103 line 35: 0xc001 is not a unicast address",
            "E1120 line 17: no switch of the subnet has GUID 0xb8599f03002000c1",
        ]
    );
    let missing = dump.replacen("0x0003 007", "# 0x0003 007", 1);
    assert_eq!(
        tables(&missing, read_forwarding),
        [
            "E1101 line 6: expected an address and a port number",
            "E1123 line 16: expected 12 addresses, found 11",
        ]
    );
    let cut = &dump[..dump.rfind("valid").unwrap() - 3];
    let messages = tables(cut, read_forwarding);
    assert_eq!(
        messages,
        ["E1102 line 47: the table of this switch is truncated"]
    );
    let two = format!("{dump}{}", dump.replacen("0x0001 005", "0x0001 006", 1));
    let line = dump.lines().count() + 4;
    assert_eq!(
        tables(&two, read_forwarding),
        [format!("E1122 line {line}: LID 1 already has output 5")]
    );
    let complaint = format!("ibwarn: [77] mad_rpc: _do_madrpc failed; dport (Lid 9)\n{dump}");
    assert_eq!(
        tables(&complaint, read_forwarding),
        ["E1135 line 1: a switch did not answer when the tables were read"]
    );
}

#[test]
fn fdbs_with_mistakes() {
    let fdbs = text("ft8/opensm.fdbs");
    let wrong = fdbs.replacen("0x0001 : 001", "0x0001 : 021", 1);
    assert_eq!(
        tables(&wrong, read_fdbs),
        ["E1121 line 3: no output 21 on this switch, which has ports 0 to 8"]
    );
    let cut = &fdbs[..fdbs.len() - 20];
    let line = fdbs.lines().count();
    assert_eq!(
        tables(cut, read_fdbs),
        [format!(
            "E1102 line {line}: expected an address, `:` and a port"
        )]
    );
    assert_eq!(
        tables("0x0001 : 001  : 01   : yes\n", read_fdbs)[0],
        "E1101 line 1: expected `dump_ucast_routes: Switch` first"
    );
}

#[test]
fn lanes_with_mistakes() {
    let dump = text("ft8/opensm-sl2vl.dump");
    let wrong = dump
        .replacen("0   1   : 0  1 ", "0   1   : 0 ", 1)
        .replacen("1   1   : 0  1 ", "1   1   : 0  16 ", 1)
        .replacen("2   1   : 0  1 ", "9   1   : 0  1 ", 1)
        .replacen(
            "0x98039b0300100001, base LID 1,",
            "0x98039b0300100009, base LID 99,",
            1,
        );
    let messages = tables(&wrong, read_sl_to_vl_dump);
    assert_eq!(messages[0], "E1133 line 4: expected 16 lanes, found 15");
    assert_eq!(messages[1], "E1103 line 5: the lane of SL1 is out of range");
    assert_eq!(
        messages[2],
        "E1105 line 6: ports 9 and 1 of a node with 8 ports"
    );
    assert!(
        messages[3].ends_with("no port of the subnet has GUID 0x98039b0300100009 or LID 99"),
        "{messages:#?}"
    );
    assert_eq!(messages.len(), 4);
    assert_eq!(
        tables("0   1   : 0  1  2\n", read_sl_to_vl_dump),
        ["E1130 line 1: expected the heading of a port before its rows"]
    );
}

fn answers(text: &str) -> Vec<String> {
    tables(text, |text, source, subnet, programmed, notes| {
        let asked = Asked { subnet, from: None };
        read_smpquery(text, source, asked, programmed, notes);
    })
}

#[test]
fn answers_of_smpquery_with_mistakes() {
    let arbitration = text("ft8/smpquery_vlarb_all.txt");
    let first = arbitration.split("\n\n").next().unwrap();
    let wrong = first.replacen("|0xA ", "", 1);
    assert_eq!(
        answers(&wrong),
        ["E1134 line 5: expected 8 weights, found 7"]
    );
    let wrong = first.replacen("|0xA ", "|0x1A2 ", 1);
    assert_eq!(
        answers(&wrong),
        ["E1101 line 5: expected hexadecimal numbers between bars"]
    );
    let wrong = first.replacen("HighCap 8", "HighCap 16", 1);
    assert_eq!(
        answers(&wrong),
        ["E1134 line 2: expected 16 entries in the high table, found 8"]
    );
    let wrong = first.replacen("LowCap 8", "LowCap 4000000000", 1);
    assert_eq!(
        answers(&wrong),
        ["E1103 line 2: expected at most 64 entries, found 4000000000 and 8"]
    );
    let wrong = first.replacen("Lid 2 port 0", "Lid 99 port 0", 1);
    assert_eq!(
        answers(&wrong),
        ["E1131 line 2: no port of the subnet has LID 99"]
    );
    let wrong = first.replacen("Lid 2 port 0", "Lid 2 port 9", 1);
    assert_eq!(
        answers(&wrong),
        ["E1105 line 2: no port 9 on \"MF0;leaf0:MQM8700/U1\", which has 8 ports"]
    );
    let wrong = first.replacen("Lid 2 port 0", "DR path slid 0; dlid 0; 0,1 port 0", 1);
    assert_eq!(
        answers(&wrong),
        ["E1132 line 2: the start of this directed route is unknown"]
    );
    let information = text("ft8/smpquery_portinfo_etc.txt").replacen("VL0-7", "VL0-9", 1);
    assert_eq!(
        answers(&information),
        ["E1136 line 28: `VL0-9` is not a value of VLCap"]
    );
    assert_eq!(
        answers("smpquery: iberror: failed: operation portinfo: port info query failed\n"),
        ["E1135 line 1: a query was not answered"]
    );
    assert_eq!(
        answers("ports: in  0, out  1: | 0|\n"),
        ["E1130 line 1: expected the heading of a port before its rows"]
    );
    assert_eq!(
        answers("\u{fc}\n"),
        ["E1113 line 1: no output of smpquery sl2vl, vlarb or portinfo in this file"]
    );
}

#[test]
fn files_of_ibdmchk_with_mistakes() {
    let levels = "0x98039b0300100000 3 0\n0x98039b0300100000 3 16\n0x1 3 0\n\
        0x98039b0300100000 0 1\n0x98039b0300100000 3";
    assert_eq!(
        tables(levels, read_path_levels),
        [
            "E1103 line 2: 16 is not a service level",
            "E1131 line 3: no node of the subnet has GUID 0x0000000000000001",
            "E1103 line 4: 0 is not a unicast LID",
            "E1102 line 5: expected a GUID, a LID and a service level",
        ]
    );
    let lanes = "0xb8599f0300200000 0 9 0x01 0x23 0x45 0x67 0x01 0x23 0x45 0x67\n\
                 0xb8599f0300200000 0 8 0x01 0x23 0x45 0x67 0x01 0x23 0x45 0x167\n\
                 0x1 0 8 0x01 0x23 0x45 0x67 0x01 0x23 0x45 0x67\n";
    assert_eq!(
        tables(lanes, read_slvl),
        [
            "E1105 line 1: ports 0 and 9 of a node with 8 ports",
            "E1101 line 2: expected a GUID, two ports and 8 bytes",
            "E1131 line 3: no node of the subnet has GUID 0x0000000000000001",
        ]
    );
}
