//! Measured waits against the bounds of the planner: no class waits longer at an output than the
//! bound for its table.

use netloom::arbitration::{DeficitTable, N_SLS, VlArbitrationTable};
use netloom::design::qos::wait::{IbTables, PacketSizes, Wait, dtable_wait, ib_wait};
use netloom::results::{PlaceWaits, Waits};
use netloom::units::{Bytes, Sl, Vl};
use netloom::{Control, Request, RunOptions, load, render, run};
use proptest::prelude::*;

/// The packet of each of four classes, one service level and one lane each.
const BYTES: [u64; 4] = [64, 320, 1024, 2048];

/// Hosts send at full load to few others through a crossbar twice as fast as the links, so that
/// arbiters in NICs and at switch outputs have choices.
fn measured(arbiter: &str, seed: u64) -> Waits {
    let class = |(sl, bytes): (usize, u64)| {
        format!(
            "[[traffic]]\nname = \"c{sl}\"\nsl = {sl}\nload = 0.3\n\
             pattern = {{ kind = \"pairs\", pairs = [[0, 3], [1, 3], [2, 0], [3, 0]] }}\n\
             size = {{ kind = \"fixed\", bytes = \"{bytes} B\" }}\n"
        )
    };
    let classes: String = BYTES.into_iter().enumerate().map(class).collect();
    let text = format!(
        "netloom = 1\nname = \"waits\"\n[topology]\nkind = \"single-switch\"\nports = 4\n\
         [switch]\nspeedup = 2\n[link]\nheader = \"0 B\"\n[qos]\nvls = 4\n[qos.arbiter]\n\
         {arbiter}\n\
         {classes}[measure]\nlength = \"20 us\"\nwarmup = \"0 ns\"\nwaits = true\nseed = {seed}\n"
    );
    let loaded = load(&Request::new("waits.toml", &text));
    let experiment = loaded
        .experiment
        .unwrap_or_else(|| panic!("{}", render(&loaded.document, &loaded.notes, false)));
    let result = run(&experiment, &RunOptions::default(), &mut |_| {
        Control::Continue
    });
    result.document.run.waits.expect("waits are measured")
}

fn sizes() -> PacketSizes {
    let mut largest = [Bytes(0); N_SLS];
    for (slot, bytes) in largest.iter_mut().zip(BYTES) {
        *slot = Bytes(bytes);
    }
    PacketSizes {
        largest,
        smallest: [Bytes(0); N_SLS],
        management: Bytes(0),
    }
}

/// Compares every class of a place with its bound.
fn within(waits: &PlaceWaits, bound: impl Fn(u8) -> Wait) -> Result<(), TestCaseError> {
    prop_assert_eq!(waits.classes.len(), BYTES.len());
    prop_assert!(waits.total.contested_choices > 20);
    for class in &waits.classes {
        let (least, most) = (
            class.summary.wait_at_least_bytes,
            class.summary.wait_at_most_bytes,
        );
        prop_assert!(least <= most && most <= least + 2048);
        if let Wait::AtMost(bound) = bound(class.number) {
            let bound = bound.total().0;
            prop_assert!(
                most <= bound,
                "class {} waited {} of {}",
                class.number,
                most,
                bound
            );
        }
    }
    Ok(())
}

/// A table that serves all four classes.
fn entries(largest: u16) -> impl Strategy<Value = Vec<(u8, u16)>> {
    let all = (0u8..4).map(move |class| (Just(class), 1..=largest));
    let all: Vec<_> = all.collect();
    let more = prop::collection::vec((0u8..4, 1..=largest), 0..5);
    (all, more).prop_flat_map(|(mut all, more)| {
        all.extend(more);
        Just(all).prop_shuffle()
    })
}

fn written<W: std::fmt::Display>(entries: &[(u8, W)]) -> String {
    let pairs: Vec<String> = entries.iter().map(|(c, w)| format!("[{c}, {w}]")).collect();
    format!("[{}]", pairs.join(", "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_level_waits_longer_than_a_dtable_promises(entries in entries(40), seed in 0u64..1000) {
        let table = DeficitTable::from_pairs(&entries).unwrap();
        let waits = measured(&format!("kind = \"dtable\"\ntable = {}", written(&entries)), seed);
        for (_, place) in waits.places() {
            within(place, |sl| dtable_wait(&table, &sizes(), Sl(sl)))?;
        }
    }

    #[test]
    fn no_lane_waits_longer_than_two_tables_promise(
        low in entries(40), high in prop::collection::vec((0u8..4, 1u8..20), 0..3),
        limit in prop::sample::select(vec![0u8, 1, 2, 255]), seed in 0u64..1000,
    ) {
        let low: Vec<(u8, u8)> = low.into_iter().map(|(vl, weight)| (vl, weight as u8)).collect();
        let [tables_high, tables_low] =
            [&high, &low].map(|pairs| VlArbitrationTable::from_pairs(pairs).unwrap());
        let arbiter = format!(
            "kind = \"ib-two-table\"\nhigh = {}\nlow = {}\nlimit = {limit}",
            written(&high), written(&low)
        );
        let waits = measured(&arbiter, seed);
        let tables = IbTables { high: &tables_high, low: &tables_low, limit };
        for (_, place) in waits.places() {
            within(place, |vl| ib_wait(tables, &sizes(), Vl(vl)))?;
        }
    }
}
