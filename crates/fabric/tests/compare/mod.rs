//! Compares the model with its reference implementation, and with other partitionings.
#![allow(dead_code)] // Each test file uses its part.

use netloom_fabric::{CrossbarStart, FabricPlan, InputPorts, Options, Simulation, build};
use netloom_metrics::Digest;
use netloom_units::Tick;

use crate::support::Case;
use crate::twin::{Counts, Twin};

/// Injected, packet hops, delivered, digest; and if endpoints acknowledge, marks and cuts of
/// windows.
type Account = (u64, u64, u64, Digest, Option<(u64, u64)>);

fn of_twin(slow: &Twin<'_>) -> Account {
    let protocol = slow.acknowledges();
    (
        slow.injected,
        slow.packet_hops,
        slow.delivered,
        slow.digest,
        protocol.then_some((slow.counts.marks, slow.counts.cuts)),
    )
}

fn of_model(fast: &mut dyn Simulation) -> Account {
    let counters = fast.counters();
    (
        counters.injected,
        counters.packet_hops,
        counters.delivered,
        counters.digest,
        fast.protocol().map(|p| (p.marked, p.cuts)),
    )
}

/// Returns where model and reference diverge: the first tick, and what the reference delivered
/// then.
fn parting(plan: &FabricPlan, until: u64) -> String {
    let mut slow = Twin::new(plan);
    let mut fast = build(plan, Options::default());
    for end in 1..=until {
        slow.run_until(end);
        fast.run_until(Tick(end));
        let (model, twin) = (of_model(fast.as_mut()), of_twin(&slow));
        if model != twin {
            let last = slow.deliveries.iter().filter(|d| d.tail + 1 == end);
            let last: Vec<_> = last.collect();
            let tick = end - 1;
            return format!(
                "at tick {tick}: model {model:?}, reference {twin:?}, delivered by the reference \
                 then: {last:?}"
            );
        }
    }
    "nowhere, tick by tick".to_owned()
}

/// Returns the divergence of model and reference, or else how many packets were delivered.
pub(crate) fn difference(case: &Case) -> Result<u64, String> {
    let plan = case.plan();
    let mut slow = Twin::new(&plan);
    slow.run_until(case.until);
    let mut fast = case.simulate(Options::default());
    if of_model(fast.as_mut()) == of_twin(&slow) {
        Ok(slow.delivered)
    } else {
        Err(parting(&plan, case.until))
    }
}

/// Returns the counts of the reference at the end.
pub(crate) fn counted(case: &Case) -> Counts {
    let plan = case.plan();
    let mut slow = Twin::new(&plan);
    slow.run_until(case.until);
    slow.counts
}

/// Checks with crossbars that start at once and with others, and with one connection per input and,
/// if possible, with one per lane.
pub(crate) fn check(name: &str, case: &Case) {
    let mut kinds = vec![
        (CrossbarStart::AtOnce, InputPorts::One),
        (CrossbarStart::Stored, InputPorts::One),
    ];
    if case.may_cross_by_lane() {
        kinds.push((CrossbarStart::AtOnce, InputPorts::PerLane));
    }
    for (start, input_ports) in kinds {
        let case = Case {
            start,
            input_ports,
            ..case.clone()
        };
        match difference(&case) {
            Ok(delivered) => assert!(
                delivered > 50,
                "{name}: {delivered} packets are too few to tell"
            ),
            Err(place) => {
                panic!("{name}, {start:?}, {input_ports:?}: model and reference diverge {place}")
            }
        }
    }
}

/// Checks the same digest in one, two and seven partitions, with the engine and its reference.
pub(crate) fn any_partitions(case: &Case) {
    let digest = |partitions: usize, threads: usize, other: bool| {
        let options = Options {
            threads,
            reference: other,
            ..Options::default()
        };
        let case = Case {
            partitions,
            ..case.clone()
        };
        case.simulate(options).counters().digest
    };
    let one = digest(1, 1, false);
    for partitions in [1, 2, 7] {
        for (threads, other) in [(1, true), (2, false)] {
            assert_eq!(
                digest(partitions, threads, other),
                one,
                "{partitions} partitions, {threads} threads"
            );
        }
    }
}

/// Named cases, each compared with its reference.
#[macro_export]
macro_rules! twins {
    ($($name:ident: $case:expr;)*) => {$(
        #[test]
        fn $name() {
            compare::check(stringify!($name), &$case);
        }
    )*};
}
