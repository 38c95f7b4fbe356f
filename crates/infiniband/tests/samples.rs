//! Every sample is read completely and without errors, and written back unchanged.

mod sample_files;

use netloom_arbitration::Entry;
use netloom_catalog::Notes;
use netloom_infiniband::reading::{
    Asked, Format, initiated_from, read_forwarding, read_ibnetdiscover, read_programmed,
    read_smpquery, recognise,
};
use netloom_infiniband::{Guid, Lid, NodeKind, PortName, Programmed, Subnet, SubnetIndex, writing};
use netloom_units::Vl;
use sample_files::{programmed, shown, subnet, text};

/// Counts switches, channel adapters, ends of cables, and addresses.
fn counts(subnet: &Subnet) -> [usize; 4] {
    let ports = || subnet.nodes.iter().flat_map(|node| &node.ports);
    let switches = subnet.nodes.iter().filter(|node| node.kind.is_switch());
    let adapters = subnet.nodes.iter();
    let adapters = adapters.filter(|node| node.kind == NodeKind::ChannelAdapter);
    [
        switches.count(),
        adapters.count(),
        ports().filter(|port| port.cable.is_some()).count(),
        ports().map(|port| port.lids().count()).sum(),
    ]
}

/// A port, the one at the other end of its cable, and its address.
type End = (u8, PortName, Option<Lid>);

/// Returns nodes and neighbours by GUID, which are the same in all listings of a subnet.
fn wiring(subnet: &Subnet) -> Vec<(Guid, String, Vec<End>)> {
    let mut all: Vec<_> = subnet
        .nodes
        .iter()
        .map(|node| {
            let ports = node.ports.iter().zip(0u8..);
            let ends = ports.filter_map(|(port, number)| {
                let cable = port.cable?;
                let peer = subnet.port_name(cable.node, cable.port);
                Some((number, peer, port.lid))
            });
            (node.guid, node.description.clone(), ends.collect())
        })
        .collect();
    all.sort();
    all
}

#[test]
fn every_listing_has_its_nodes_cables_and_addresses() {
    for (name, expected) in [
        ("ft8/ibnetdiscover.txt", [4, 8, 32, 12]),
        ("ft8/ibnetdiscover_full.txt", [4, 8, 32, 12]),
        ("ft8/ibnetdiscover_group.txt", [4, 8, 32, 12]),
        ("ft8/opensm-subnet.lst", [4, 8, 32, 12]),
        ("ft8/ibsim_input.net", [4, 8, 32, 0]),
        ("ft8/ibsim_plain.net", [4, 8, 32, 0]),
        // Channel adapters have two addresses each.
        ("ft8_lmc1/ibnetdiscover.txt", [4, 8, 32, 20]),
        ("ft8_lmc1/opensm-subnet.lst", [4, 8, 32, 12]),
        ("k64/ibnetdiscover_full.txt", [48, 64, 384, 112]),
        ("k64/opensm-subnet.lst", [48, 64, 384, 112]),
        ("ring8/opensm-subnet.lst", [8, 16, 48, 24]),
        ("t444/opensm-subnet.lst", [64, 64, 512, 128]),
        ("t55/opensm-subnet.lst", [25, 50, 200, 75]),
        ("t55h1/opensm-subnet.lst", [25, 25, 150, 50]),
        ("t55h1/net.t55h1", [25, 25, 150, 0]),
    ] {
        assert_eq!(counts(&subnet(name)), expected, "{name}");
    }
}

#[test]
fn both_listings_of_a_subnet_agree() {
    for fabric in ["ft8/ibnetdiscover.txt", "k64/ibnetdiscover_full.txt"] {
        let listed = subnet(fabric);
        let folder = fabric.split('/').next().unwrap();
        let dumped = subnet(&format!("{folder}/opensm-subnet.lst"));
        assert_eq!(wiring(&listed), wiring(&dumped), "{fabric}");
        let speeds = |subnet: &Subnet| {
            let index = SubnetIndex::of(subnet);
            let mut all = vec![];
            for (guid, ..) in wiring(subnet) {
                let node = &subnet.nodes[index.node(guid).unwrap().index()];
                let rates = node.ports.iter().map(|port| {
                    let cable = port.cable?;
                    Some((cable.width.unwrap(), cable.speed.unwrap()))
                });
                all.push((node.device, node.system_guid, rates.collect::<Vec<_>>()));
            }
            all
        };
        assert_eq!(speeds(&listed), speeds(&dumped), "{fabric}");
    }
}

#[test]
fn names_get_the_numbers_that_ibsim_gives_them() {
    // OpenSM wrote the list for this net file.
    let mut named = wiring(&subnet("t55h1/net.t55h1"));
    let mut listed = wiring(&subnet("t55h1/opensm-subnet.lst"));
    for (.., ends) in named.iter_mut().chain(&mut listed) {
        ends.iter_mut().for_each(|(.., lid)| *lid = None);
    }
    assert_eq!(named, listed);
}

#[test]
fn a_listing_says_where_it_began() {
    let from = initiated_from(&text("ft8/ibnetdiscover.txt"));
    assert_eq!(from, Some(Guid(0x9803_9b03_0010_0000)));
    assert_eq!(initiated_from(&text("ft8/ibsim_plain.net")), None);
}

#[test]
fn a_description_may_hold_every_mark() {
    let listing = "Switch\t36 \"S-0008f105006015d4\"\t\t# \"Voltaire 4036 # \"4036\"-8C5C; a/b\" \
        enhanced port 0 lid 9 lmc 0\n\
                   [12][ext 7]\t\"H-0002c90300017860\"[2][ext 1](2c90300017862) \t\t# \"x\" lid 3 \
                   lmc 0 \"y\" lid 77 ?????\n\
                   \n\
                   rtguid=0x2c90300017860\n\
                   Rt\t2 \"H-0002c90300017860\"\t\t# \"it's a \"router\"\" (scp)\n\
                   [2](2c90300017862) \t\"S-0008f105006015d4\"[12]\t\t# lid 76 lmc 2 \"Voltaire\" \
                   lid 9 4xXDR s=8 w=2 v=4\n";
    let mut notes = Notes::new();
    let read = read_ibnetdiscover(listing, 0, &mut notes);
    // The other end gives LID 77. It is in the range of the port, but not its LID.
    assert_eq!(
        shown(listing, notes),
        ["E1111 line 2: LID 77 here, but LID 76 at the port itself"]
    );
    let [switch, router] = &read.nodes[..] else {
        panic!("{read:?}");
    };
    assert_eq!(switch.description, "Voltaire 4036 # \"4036\"-8C5C; a/b");
    assert_eq!(router.description, "it's a \"router\"");
    assert_eq!(router.kind, NodeKind::Router);
    let cable = switch.ports[12].cable.unwrap();
    assert_eq!((cable.port, cable.width, cable.speed), (2, None, None));
    assert_eq!(router.ports[2].lids().count(), 4);
    let cable = router.ports[2].cable.unwrap();
    let rate = (cable.width.unwrap(), cable.speed.unwrap());
    assert_eq!(format!("{}{}", rate.0, rate.1), "4xXDR");
}

#[test]
fn old_listings_have_addresses_at_the_other_end_only() {
    let listing = "switchguid=0x200\nSwitch 2 \"S-0000000000000200\" # \"old\" base port 0\n\
                   [1] \"H-0000000000000100\"[1] # \"h\" lid 5 4xSDR\n\n\
                   caguid=0x100\nCa 1 \"H-0000000000000100\" # \"h\"\n\
                   [1] \"S-0000000000000200\"[1] # \"old\" lid 6 4xSDR\n";
    let mut notes = Notes::new();
    let read = read_ibnetdiscover(listing, 0, &mut notes);
    assert!(notes.is_empty(), "{notes:#?}");
    assert_eq!(read.nodes[0].ports[0].lid, Some(Lid(6)));
    assert_eq!(read.nodes[1].ports[1].lid, Some(Lid(5)));
}

#[test]
fn speeds_of_net_files_are_the_fastest_of_their_masks() {
    let net = "width=3\nspeed=7\nextspeed=1\n\nHca 1 \"a\"\n[1] \"b\"[1] s=7 w=18 e=6\n\n\
        Hca 1 \"b\"\n[1] \"a\"[1]\n";
    let mut notes = Notes::new();
    let read = read_ibnetdiscover(net, 0, &mut notes);
    assert!(notes.is_empty(), "{notes:#?}");
    let rates = read.nodes.iter().map(|node| {
        let cable = node.ports[1].cable.unwrap();
        format!("{}{}", cable.width.unwrap(), cable.speed.unwrap())
    });
    assert_eq!(rates.collect::<Vec<_>>(), ["4xHDR", "4xFDR"]);
}

#[test]
fn aggregation_nodes_are_distinguished_from_hosts() {
    let listing = "Ca\t1 \"H-0000000000000100\"\t\t# \"Mellanox Technologies Aggregation Node\"\n\
                   [1](101) \t\"H-0000000000000200\"[1] (201) \t\t# lid 1 lmc 0 \"node1 mlx5_0\" \
                   lid 2 4xNDR\n\n\
                   Ca\t1 \"H-0000000000000200\"\t\t# \"node1 mlx5_0\"\n\
                   [1](201) \t\"H-0000000000000100\"[1] (101) \t\t# lid 2 lmc 0 \"Mellanox \
                   Technologies Aggregation Node\" lid 1 4xNDR\n";
    let mut notes = Notes::new();
    let read = read_ibnetdiscover(listing, 0, &mut notes);
    assert!(notes.is_empty(), "{notes:#?}");
    let flags: Vec<bool> = read.nodes.iter().map(|n| n.is_aggregation_node()).collect();
    assert_eq!(flags, [true, false]);
}

/// Returns the text without its initial comments, which contain a date.
fn without_heading(text: &str) -> &str {
    let start = text.find("\nvendid").expect("a node");
    &text[start..]
}

#[test]
fn listings_are_written_as_they_were() {
    for name in ["ft8/ibnetdiscover.txt", "ft8_lmc1/ibnetdiscover.txt"] {
        let written = writing::ibnetdiscover(&subnet(name));
        assert_eq!(
            without_heading(&written),
            without_heading(&text(name)),
            "{name}"
        );
    }
    // A listing in another form is written as the same subnet.
    for name in [
        "k64/opensm-subnet.lst",
        "t55h1/net.t55h1",
        "ft8/ibsim_plain.net",
    ] {
        let read = subnet(name);
        let mut notes = Notes::new();
        let again = read_ibnetdiscover(&writing::ibnetdiscover(&read), 0, &mut notes);
        assert!(notes.is_empty(), "{name}: {notes:#?}");
        assert_eq!(again, read, "{name}");
    }
}

#[test]
fn all_dialects_of_forwarding_tables_say_the_same() {
    let ft8 = subnet("ft8/ibnetdiscover.txt");
    let tables = programmed(&ft8, &["ft8/opensm-lfts.dump"]).forwarding;
    let entries = tables.values().map(|table| table.entries().count());
    assert_eq!(entries.sum::<usize>(), 46);
    for name in [
        "ft8/dump_fts.txt",
        "ft8/dump_fts_nodests.txt",
        "ft8/dump_lfts.txt",
        "ft8/opensm.fdbs",
    ] {
        assert_eq!(programmed(&ft8, &[name]).forwarding, tables, "{name}");
    }
    let leaf = Guid(0xb859_9f03_0020_0000);
    for name in ["ft8/ibroute_nodests.txt", "ft8/ibroutes_one.txt"] {
        let one = programmed(&ft8, &[name]).forwarding;
        assert_eq!(one.len(), 1, "{name}");
        assert_eq!(one[&leaf], tables[&leaf], "{name}");
    }
    let lmc = subnet("ft8_lmc1/ibnetdiscover.txt");
    let tables = programmed(&lmc, &["ft8_lmc1/opensm-lfts.dump"]).forwarding;
    let entries = tables.values().map(|table| table.entries().count());
    assert_eq!(entries.sum::<usize>(), 80);
    for name in ["ft8_lmc1/dump_fts.txt", "ft8_lmc1/opensm.fdbs"] {
        assert_eq!(programmed(&lmc, &[name]).forwarding, tables, "{name}");
    }
}

#[test]
fn forwarding_tables_are_written_as_they_were() {
    for folder in ["ft8", "ft8_lmc1"] {
        let subnet = subnet(&format!("{folder}/ibnetdiscover.txt"));
        let name = format!("{folder}/opensm-lfts.dump");
        let read = programmed(&subnet, &[&name]);
        assert_eq!(writing::forwarding(&subnet, &read), text(&name), "{name}");
    }
    let k64 = subnet("k64/opensm-subnet.lst");
    let read = programmed(&k64, &["k64/opensm.fdbs"]);
    let mut again = Programmed::default();
    let mut notes = Notes::new();
    let written = writing::forwarding(&k64, &read);
    read_forwarding(&written, 0, &k64, &mut again, &mut notes);
    assert!(notes.is_empty(), "{notes:#?}");
    assert_eq!(again.forwarding, read.forwarding);
}

#[test]
fn multicast_tables_are_reported() {
    let ft8 = subnet("ft8/ibnetdiscover.txt");
    let text = text("ft8/dump_fts_mcast.txt");
    let (mut read, mut notes) = (Programmed::default(), Notes::new());
    read_forwarding(&text, 0, &ft8, &mut read, &mut notes);
    assert_eq!(
        shown(&text, notes),
        ["E1124 line 1: multicast tables are ignored"]
    );
}

#[test]
fn the_last_address_that_ibroute_forgets_is_reported() {
    let ft8 = subnet("ft8/ibnetdiscover.txt");
    // The last address is changed to 64, and removed as the tool would do.
    let listing = text("ft8/ibnetdiscover.txt").replace("lid 12 ", "lid 64 ");
    let tables = text("ft8/dump_fts.txt").replace("0x0-0xc]", "0x0-0x40]");
    let tables: String = tables
        .lines()
        .filter(|line| !line.starts_with("0x000c"))
        .map(|line| match line {
            "12 valid lids dumped " => "11 valid lids dumped \n".to_owned(),
            "11 valid lids dumped " => "10 valid lids dumped \n".to_owned(),
            line => format!("{line}\n"),
        })
        .collect();
    // One of the spines had no entry for the other one.
    let tables = tables.replacen("10 valid", "11 valid", 2).replacen(
        "11 valid lids dumped \nUnicast lids [0x0-0x40] of switch DR path slid 0; dlid 0; 0,1,5 g",
        "10 valid lids dumped \nUnicast lids [0x0-0x40] of switch DR path slid 0; dlid 0; 0,1,5 g",
        1,
    );
    let mut notes = Notes::new();
    let moved = read_ibnetdiscover(&listing, 0, &mut notes);
    assert_ne!(moved, ft8);
    read_forwarding(&tables, 0, &moved, &mut Programmed::default(), &mut notes);
    let note = notes
        .iter()
        .find(|note| note.code == "E1125")
        .expect("present");
    assert_eq!(note.message, "LID 64 has no output at any switch");
    assert!(note.help.as_ref().unwrap().contains("multiple of 64"));
    assert_eq!(notes.iter().count(), 1, "{notes:#?}");
}

#[test]
fn lanes_of_all_ports_are_read_from_both_sources() {
    let ft8 = subnet("ft8/ibnetdiscover.txt");
    let dumped = programmed(&ft8, &["ft8/opensm-sl2vl.dump"]).sl_to_vl;
    let asked = programmed(&ft8, &["ft8/smpquery_sl2vl_all.txt"]).sl_to_vl;
    // The dump omits ports without a cable: 8 hosts have one row, 24 outputs have 9 inputs.
    assert_eq!(dumped.len(), 8 + 24 * 9);
    assert_eq!(asked.len(), 8 + 32 * 9);
    for (port, lanes) in &dumped {
        assert_eq!(asked.get(port), Some(lanes), "{port:?}");
    }
    let host = PortName {
        node: Guid(0x9803_9b03_0010_0000),
        port: 1,
    };
    let expected = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 15].map(Vl);
    assert_eq!(asked[&(host, 0)].0, expected);
}

#[test]
fn lanes_and_arbitration_are_written_as_they_were() {
    let ft8 = subnet("ft8/ibnetdiscover.txt");
    let read = programmed(
        &ft8,
        &["ft8/smpquery_sl2vl_all.txt", "ft8/smpquery_vlarb_all.txt"],
    );
    assert_eq!(read.arbitration.len(), 44);
    assert_eq!(
        writing::sl_to_vl(&ft8, &read),
        text("ft8/smpquery_sl2vl_all.txt")
    );
    assert_eq!(
        writing::vl_arbitration(&ft8, &read),
        text("ft8/smpquery_vlarb_all.txt")
    );
}

#[test]
fn tables_of_64_entries_stand_in_two_blocks() {
    let ft8 = subnet("ft8/ibnetdiscover.txt");
    let text = text("smpquery/own_sma_cap64_cap63_cap32_opvl1.txt");
    let cap = |from: &str, to: &str| {
        let start = text.find(from).unwrap();
        let end = text[start..].find(to).map_or(text.len(), |end| start + end);
        let (mut read, mut notes) = (Programmed::default(), Notes::new());
        let asked = Asked {
            subnet: &ft8,
            from: None,
        };
        read_smpquery(&text[start..end], 0, asked, &mut read, &mut notes);
        assert!(notes.is_empty(), "{notes:#?}");
        assert_eq!(read.arbitration.len(), 1);
        let arbitration = read.arbitration.values().next().unwrap().clone();
        // Writing it gives the sample again.
        let written = writing::vl_arbitration(&ft8, &read);
        for line in written.lines().filter(|line| !line.is_empty()) {
            assert!(text[start..end].contains(line), "{line}");
        }
        (arbitration, read)
    };
    let (of_64, read) = cap("===== cap64", "===== cap63");
    assert_eq!((of_64.low.len(), of_64.high_cap), (64, 64));
    // OpenSM lost the second half.
    assert!(of_64.low[32..].iter().all(|entry| entry.weight == 0));
    let lanes = read.lanes.values().next().unwrap();
    assert_eq!(lanes.cap, Some(15));
    assert_eq!(lanes.high_limit, Some(200));
    assert_eq!((lanes.low_cap, lanes.high_cap), (Some(64), Some(64)));
    assert_eq!(lanes.neighbor_mtu, Some(4096));
    let (of_63, _) = cap("===== cap63", "===== cap32");
    let last = Entry {
        vl: Vl(2),
        weight: 0x3e,
    };
    assert_eq!(of_63.low.get(62), Some(&last));
    let (of_32, _) = cap("===== cap32", "===== opvl1");
    assert_eq!(of_32.high.len(), 32);
}

#[test]
fn every_answer_of_smpquery_is_read() {
    let ft8 = subnet("ft8/ibnetdiscover.txt");
    let read = programmed(&ft8, &["ft8/smpquery_portinfo_etc.txt"]);
    assert_eq!(read.lanes.len(), 3);
    let port = |node, port| PortName {
        node: Guid(node),
        port,
    };
    let lanes = read.lanes[&port(0xb859_9f03_0020_0040, 1)];
    assert_eq!((lanes.cap, lanes.operational), (Some(8), Some(8)));
    assert_eq!(
        (lanes.high_limit, lanes.neighbor_mtu),
        (Some(0), Some(2048))
    );
    for (name, arbitration, lanes, rows) in [
        ("smpquery/nccl_dualpath_alias_readback.txt", 1, 1, 1),
        ("smpquery/opensm_quirks_readback.txt", 2, 0, 10),
        ("smpquery/own_sma_cap64_cap63_cap32_opvl1.txt", 1, 1, 10),
    ] {
        let read = programmed(&ft8, &[name]);
        let found = (
            read.arbitration.len(),
            read.lanes.len(),
            read.sl_to_vl.len(),
        );
        assert_eq!(found, (arbitration, lanes, rows), "{name}");
    }
}

#[test]
fn base_port_0_has_no_tables() {
    let ft8 = subnet("ft8/ibnetdiscover.txt");
    let text = "# No VLArbitration tables (BSP0): Lid 2 port 0\n";
    let (mut read, mut notes) = (Programmed::default(), Notes::new());
    let asked = Asked {
        subnet: &ft8,
        from: None,
    };
    assert_eq!(recognise(text), Some(Format::Smpquery));
    read_smpquery(text, 0, asked, &mut read, &mut notes);
    assert!(notes.is_empty(), "{notes:#?}");
    assert_eq!(read, Programmed::default());
}

#[test]
fn directed_routes_lead_from_the_host_that_asked() {
    let ft8 = subnet("ft8/ibnetdiscover.txt");
    let asked = Asked {
        subnet: &ft8,
        from: initiated_from(&text("ft8/ibnetdiscover.txt")),
    };
    // From node000 to its leaf, up to a spine, down to the other leaf, and to node005.
    let answer = "# SL2VL table: DR path slid 65535; dlid 65535; 0,1,5,3,2\n\
                  ports: in  0, out  0: | 0| 0| 0| 0| 0| 0| 0| 0| 0| 0| 0| 0| 0| 0| 0|15|\n\
                  # Port info: DR path slid 65535; dlid 65535; 0,1,5 port 4\nVLCap:...VL0-14\n";
    let (mut read, mut notes) = (Programmed::default(), Notes::new());
    read_smpquery(answer, 0, asked, &mut read, &mut notes);
    assert!(notes.is_empty(), "{notes:#?}");
    let host = PortName {
        node: Guid(0x9803_9b03_0010_0050),
        port: 1,
    };
    assert!(read.sl_to_vl.contains_key(&(host, 0)), "{read:?}");
    let spine = PortName {
        node: Guid(0xb859_9f03_0020_0080),
        port: 4,
    };
    assert_eq!(read.lanes[&spine].cap, Some(15));
    let mut notes = Notes::new();
    let nowhere = answer.replace("0,1,5,3,2", "0,1,5,8");
    read_smpquery(&nowhere, 0, asked, &mut read, &mut notes);
    assert_eq!(
        shown(&nowhere, notes),
        ["E1132 line 1: no cable at port 8 of \"MF0;spine0:MQM8700/U1\""]
    );
}

#[test]
fn both_ports_of_a_host_have_tables_of_their_own() {
    let listing = "Switch\t2 \"S-0000000000000200\"\t\t# \"s\" base port 0 lid 1 lmc 0\n\
                   [1]\t\"H-0000000000000100\"[1](101) \t\t# \"h\" lid 2 4xHDR\n\
                   [2]\t\"H-0000000000000100\"[2](102) \t\t# \"h\" lid 3 4xHDR\n\n\
                   Ca\t2 \"H-0000000000000100\"\t\t# \"h\"\n\
                   [1](101) \t\"S-0000000000000200\"[1]\t\t# lid 2 lmc 0 \"s\" lid 1 4xHDR\n\
                   [2](102) \t\"S-0000000000000200\"[2]\t\t# lid 3 lmc 0 \"s\" lid 1 4xHDR\n";
    let mut notes = Notes::new();
    let subnet = read_ibnetdiscover(listing, 0, &mut notes);
    let second = PortName {
        node: Guid(0x100),
        port: 2,
    };
    let row = " 0| 1| 2| 3| 4| 5| 6| 7| 8| 9|10|11|12|13|14|15|";
    let cells = row.replace('|', " ");
    for answer in [
        format!("# SL2VL table: Lid 3\nports: in  0, out  0: |{row}\n"),
        // From the first port to the switch, and back to the second.
        format!("# SL2VL table: DR path slid 0; dlid 0; 0,1,2\nports: in  0, out  0: |{row}\n"),
        format!("Channel Adapter 0x0000000000000102, base LID 3, \"h\"\n0   0   : {cells}\n"),
    ] {
        let asked = Asked {
            subnet: &subnet,
            from: Some(Guid(0x100)),
        };
        let mut read = Programmed::default();
        read_programmed(&answer, 0, asked, &mut read, &mut notes);
        assert!(notes.is_empty(), "{notes:#?}");
        let ports: Vec<_> = read.sl_to_vl.keys().collect();
        assert_eq!(ports, [&(second, 0)], "{answer}");
    }
}

#[test]
fn files_of_ibdmchk_are_read_and_written_as_they_were() {
    let fabric = subnet("t55h1/opensm-subnet.lst");
    for lanes in ["t55h1/equal.slvl", "t55h1/torus-2QoS.slvl"] {
        let read = programmed(&fabric, &[lanes]);
        assert_eq!(read.sl_to_vl.len(), 1000);
        assert_eq!(writing::slvl(&read), text(lanes));
    }
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    for engine in ["dfsssp", "lash", "nue", "torus-2QoS"] {
        let name = format!("t55h1/{engine}.psl");
        let read = programmed(&fabric, &[&name]);
        assert_eq!(read.path_levels.iter().count(), 600, "{name}");
        let written = writing::path_levels(&read);
        assert_eq!(sorted(&written), sorted(&text(&name)), "{name}");
    }
    // OpenSM's own dump holds the same lanes, and those of hosts.
    let dumped = programmed(&fabric, &["t55h1/torus-2QoS.sl2vl.dump"]).sl_to_vl;
    let lanes = programmed(&fabric, &["t55h1/torus-2QoS.slvl"]).sl_to_vl;
    assert_eq!(dumped.len(), 1025);
    assert!(
        lanes
            .iter()
            .all(|(port, lanes)| dumped.get(port) == Some(lanes))
    );
}

#[test]
fn every_format_is_recognised_and_no_other() {
    for (name, format) in [
        ("ft8/ibnetdiscover.txt", Some(Format::Ibnetdiscover)),
        ("ft8/ibnetdiscover_group.txt", Some(Format::Ibnetdiscover)),
        ("ft8/ibsim_plain.net", Some(Format::Ibnetdiscover)),
        ("ft8/ibsim_input.net", Some(Format::Ibnetdiscover)),
        ("ft8/opensm-subnet.lst", Some(Format::SubnetList)),
        ("ft8/opensm-lfts.dump", Some(Format::Forwarding)),
        ("ft8/dump_fts.txt", Some(Format::Forwarding)),
        ("ft8/dump_fts_mcast.txt", Some(Format::Forwarding)),
        ("ft8/opensm.fdbs", Some(Format::Fdbs)),
        ("ft8/opensm-sl2vl.dump", Some(Format::SlToVlDump)),
        ("ft8/smpquery_vlarb_all.txt", Some(Format::Smpquery)),
        ("ft8/smpquery_sl2vl_all.txt", Some(Format::Smpquery)),
        ("ft8/smpquery_portinfo_etc.txt", Some(Format::Smpquery)),
        ("t55h1/lash.psl", Some(Format::PathLevels)),
        ("t55h1/equal.slvl", Some(Format::Slvl)),
        ("ft8/ibnetdiscover_list.txt", None),
        ("ft8/ibnetdiscover_ports.txt", None),
        ("ft8/iblinkinfo.txt", None),
        ("ft8/guid2lid", None),
        ("ft8/neighbors", None),
        ("ft8/opensm-lid-matrix.dump", None),
    ] {
        assert_eq!(recognise(&text(name)), format, "{name}");
    }
    let ft8 = subnet("ft8/ibnetdiscover.txt");
    let list = text("ft8/iblinkinfo.txt");
    let mut notes = Notes::new();
    let asked = Asked {
        subnet: &ft8,
        from: None,
    };
    read_programmed(&list, 0, asked, &mut Programmed::default(), &mut notes);
    assert_eq!(
        shown(&list, notes),
        ["E1100 line 1: expected tables of a subnet, found an unknown format"]
    );
}
