//! Randomly damaged files: readers do not panic, notes point into the text, and results are
//! consistent.
//!
//! `NETLOOM_DRAWS=1000000 cargo test -p netloom-infiniband --test fuzz` runs more cases than CI
//! does. `NETLOOM_INPUT=123` repeats one case, by its number.

mod drawn;
mod sample_files;

use std::collections::BTreeMap;

use drawn::{Draw, draws};
use netloom_catalog::Notes;
use netloom_infiniband::codes;
use netloom_infiniband::reading::{
    Asked, Format, MOST_MISTAKES, read_fdbs, read_forwarding, read_ibnetdiscover, read_path_levels,
    read_sl_to_vl_dump, read_slvl, read_smpquery, read_subnet_list, recognise,
};
use netloom_infiniband::routes::check_routes;
use netloom_infiniband::{Programmed, Subnet, writing};
use sample_files::{subnet, text};

/// Samples to damage, and their readers.
const SAMPLES: [(&str, Format); 20] = [
    ("ft8/ibnetdiscover.txt", Format::Ibnetdiscover),
    ("ft8/ibnetdiscover_full.txt", Format::Ibnetdiscover),
    ("ft8/ibnetdiscover_group.txt", Format::Ibnetdiscover),
    ("ft8/ibsim_plain.net", Format::Ibnetdiscover),
    ("ft8_lmc1/ibnetdiscover.txt", Format::Ibnetdiscover),
    ("ft8/opensm-subnet.lst", Format::SubnetList),
    ("ft8/opensm-lfts.dump", Format::Forwarding),
    ("ft8/dump_fts.txt", Format::Forwarding),
    ("ft8/dump_fts_nodests.txt", Format::Forwarding),
    ("ft8/dump_fts_mcast.txt", Format::Forwarding),
    ("ft8_lmc1/dump_fts.txt", Format::Forwarding),
    ("ft8/opensm.fdbs", Format::Fdbs),
    ("ft8/opensm-sl2vl.dump", Format::SlToVlDump),
    ("ft8/smpquery_sl2vl_all.txt", Format::Smpquery),
    ("ft8/smpquery_vlarb_all.txt", Format::Smpquery),
    ("ft8/smpquery_portinfo_etc.txt", Format::Smpquery),
    (
        "smpquery/own_sma_cap64_cap63_cap32_opvl1.txt",
        Format::Smpquery,
    ),
    ("smpquery/opensm_quirks_readback.txt", Format::Smpquery),
    ("t55h1/dfsssp.psl", Format::PathLevels),
    ("t55h1/equal.slvl", Format::Slvl),
];

/// Words that tend to cause errors.
const WORDS: [&str; 40] = [
    "0",
    "1",
    "-1",
    "255",
    "256",
    "65535",
    "65536",
    "49152",
    "4294967296",
    "18446744073709551616",
    "0x",
    "0xffffffffffffffff",
    "0x1ffffffffffffffff",
    "[",
    "]",
    "(",
    ")",
    "\"",
    "\"\"",
    "#",
    "{",
    "}",
    "|",
    ":",
    ";",
    "\n",
    "\r\n",
    "\t",
    " ",
    "\0",
    "ü",
    "💥",
    "lid 49151 lmc 7",
    "Switch 254 \"",
    "[ext ",
    "DR path slid 0; dlid 0; 0,",
    "Unicast lids [0x0-0x40] of switch Lid 2 guid ",
    "LowCap 64 HighCap 64",
    "VL    : |",
    "# SL2VL table: ",
];

/// The subnets that all inputs are read for.
struct Fuzz {
    ft8: Subnet,
    torus: Subnet,
    samples: Vec<(Vec<u8>, Format)>,
}

impl Fuzz {
    fn new() -> Fuzz {
        let samples = SAMPLES.map(|(name, format)| (text(name).into_bytes(), format));
        Fuzz {
            ft8: subnet("ft8/ibnetdiscover.txt"),
            torus: subnet("t55h1/opensm-subnet.lst"),
            samples: samples.into_iter().chain([directed()]).collect(),
        }
    }

    /// Returns a damaged sample.
    fn input(&self, draw: &mut Draw) -> (String, Format) {
        let (sample, format) = draw.one_of(&self.samples);
        let mut bytes = match draw.below(3) {
            // Takes only some lines, so that all of them are reached soon.
            0 | 1 => {
                let start = draw.below(sample.len());
                let start = sample[start..]
                    .iter()
                    .position(|b| *b == b'\n')
                    .map_or(0, |at| start + at + 1);
                let end = (start + 200 + draw.below(2000)).min(sample.len());
                let mut piece = sample[..sample.len().min(draw.below(400))].to_vec();
                piece.extend_from_slice(&sample[start..end]);
                piece
            }
            _ => sample.clone(),
        };
        for _ in 0..1 + draw.below(6) {
            self.damage(&mut bytes, draw);
        }
        (String::from_utf8_lossy(&bytes).into_owned(), *format)
    }

    fn damage(&self, bytes: &mut Vec<u8>, draw: &mut Draw) {
        let at = draw.below(bytes.len());
        let end = (at + draw.below(60)).min(bytes.len());
        match draw.below(8) {
            0 => drop(bytes.drain(at..end)),
            1 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            2 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = draw.number() as u8;
                }
            }
            3 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = *draw.one_of(b"0123456789abcdefx[]()\"# \t\n|:{}");
                }
            }
            4 => bytes.truncate(at),
            5 => {
                let word = draw.one_of(&WORDS).as_bytes().to_vec();
                bytes.splice(at..at, word);
            }
            6 => {
                // Replaces a number in the text by a word.
                let digits = bytes[at..].iter().position(u8::is_ascii_digit);
                if let Some(start) = digits.map(|digits| at + digits) {
                    let n = bytes[start..]
                        .iter()
                        .take_while(|b| b.is_ascii_digit())
                        .count();
                    let word = draw.one_of(&WORDS).as_bytes().to_vec();
                    bytes.splice(start..start + n, word);
                }
            }
            _ => {
                // Inserts a line of any sample at the beginning of a line.
                let (other, _) = draw.one_of(&self.samples);
                let from = draw.below(other.len());
                let start = other[from..]
                    .iter()
                    .position(|b| *b == b'\n')
                    .map_or(0, |n| from + n + 1);
                let n = other[start..]
                    .iter()
                    .position(|b| *b == b'\n')
                    .map_or(0, |n| n + 1);
                let line = other[start..start + n].to_vec();
                let at = bytes[..at]
                    .iter()
                    .rposition(|b| *b == b'\n')
                    .map_or(0, |n| n + 1);
                bytes.splice(at..at, line);
            }
        }
    }

    /// Reads an input and checks the invariants of any result.
    fn check(&self, number: u64, n_by_code: &mut BTreeMap<&'static str, u64>) {
        let mut draw = Draw(number.wrapping_mul(0x1234_5678_9abc_def1));
        let (text, format) = self.input(&mut draw);
        // One in eight is read as another format.
        let formats: Vec<Format> = Format::all().collect();
        let format = match draw.below(8) {
            0 => *draw.one_of(&formats),
            _ => format,
        };
        recognise(&text);
        let mut notes = Notes::new();
        let mut programmed = Programmed::default();
        let mut read = None;
        let about = match format {
            Format::PathLevels | Format::Slvl => &self.torus,
            _ => &self.ft8,
        };
        match format {
            Format::Ibnetdiscover => read = Some(read_ibnetdiscover(&text, 3, &mut notes)),
            Format::SubnetList => read = Some(read_subnet_list(&text, 3, &mut notes)),
            Format::Forwarding => read_forwarding(&text, 3, about, &mut programmed, &mut notes),
            Format::Fdbs => read_fdbs(&text, 3, about, &mut programmed, &mut notes),
            Format::SlToVlDump => read_sl_to_vl_dump(&text, 3, about, &mut programmed, &mut notes),
            Format::Smpquery => {
                let asked = Asked {
                    subnet: about,
                    from: Some(about.nodes[draw.below(about.nodes.len())].guid),
                };
                read_smpquery(&text, 3, asked, &mut programmed, &mut notes);
            }
            Format::PathLevels => read_path_levels(&text, 3, about, &mut programmed, &mut notes),
            Format::Slvl => read_slvl(&text, 3, about, &mut programmed, &mut notes),
        }
        assert!(notes.iter().count() <= MOST_MISTAKES + 1);
        for note in notes.iter() {
            *n_by_code.entry(note.code).or_default() += 1;
            assert!(
                codes().iter().any(|code| code.name == note.code),
                "{note:?}"
            );
            assert!(note.help.is_some(), "a note without help: {note:?}");
            for (place, _) in &note.places {
                let (start, end) = (place.start as usize, place.end as usize);
                assert_eq!(place.source, 3);
                assert!(
                    text.get(start..end).is_some(),
                    "{start}..{end} is outside: {note:?}"
                );
            }
        }
        if let Some(read) = &read {
            assert_symmetric(read);
            let again = read_ibnetdiscover(&writing::ibnetdiscover(read), 0, &mut Notes::new());
            assert!(again.nodes.len() <= read.nodes.len());
            check_routes(read, &programmed);
        } else if draw.below(8) == 0 {
            let check = check_routes(about, &programmed);
            assert_eq!(check.arriving + check.failures.routes, check.routes);
        }
    }
}

/// Reads answers with directed routes.
fn directed() -> (Vec<u8>, Format) {
    let answers = text("ft8/smpquery_vlarb_all.txt");
    let directed = answers
        .replace("Lid 2 ", "DR path slid 65535; dlid 65535; 0,1 ")
        .replace("Lid 6 ", "DR path slid 65535; dlid 65535; 0,1,5,3 ");
    (directed.into_bytes(), Format::Smpquery)
}

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
fn damaged_files_are_reported_and_never_fatal() {
    let fuzz = Fuzz::new();
    let mut n_by_code = BTreeMap::new();
    if let Some(number) = std::env::var("NETLOOM_INPUT")
        .ok()
        .and_then(|n| n.parse().ok())
    {
        let mut draw = Draw(u64::wrapping_mul(number, 0x1234_5678_9abc_def1));
        println!("{}", fuzz.input(&mut draw).0);
        return fuzz.check(number, &mut n_by_code);
    }
    for number in 0..draws(4000) {
        let checked = std::panic::AssertUnwindSafe(|| fuzz.check(number, &mut n_by_code));
        if std::panic::catch_unwind(checked).is_err() {
            panic!("input {number} fails; set NETLOOM_INPUT={number} to repeat it");
        }
    }
    println!("notes by code: {n_by_code:?}");
    // The test is only useful if the damage reaches every check.
    for code in [
        "E1101", "E1102", "E1103", "E1104", "E1105", "E1106", "E1107", "E1108", "E1109", "E1110",
        "E1111", "E1112", "E1120", "E1121", "E1122", "E1123", "E1124", "E1130", "E1131", "E1132",
        "E1133", "E1134", "E1136",
    ] {
        assert!(n_by_code.contains_key(code), "no input leads to {code}");
    }
}
