//! The model against its twin.
#![allow(dead_code)] // Each test file uses its part.

use netloom_fabric::{FabricPlan, Options, Simulation};
use netloom_metrics::Digest;
use netloom_tiled::build;
use netloom_units::Tick;

use crate::support::Case;
use crate::twin::Twin;

/// What both must say at the end of any tick.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Account {
    injected: u64,
    hops: u64,
    delivered: u64,
    digest: Digest,
    marks: u64,
    cuts: u64,
    stashed: u64,
    retrieved: u64,
    deleted: u64,
    early: u64,
    retransmitted: u64,
    lost: u64,
    duplicates: u64,
    /// Flits in the stashes of every switch.
    stashes: Vec<u32>,
}

fn of_twin(slow: &Twin<'_>) -> Account {
    let counts = &slow.counts;
    Account {
        injected: counts.injected(),
        hops: counts.hops,
        delivered: counts.delivered + counts.acknowledgements,
        digest: slow.digest,
        marks: counts.marks,
        cuts: counts.cuts,
        stashed: counts.stashed,
        retrieved: counts.retrieved,
        deleted: counts.deletions,
        early: counts.early_verdicts,
        retransmitted: counts.retransmissions,
        lost: counts.lost,
        duplicates: counts.duplicates,
        stashes: slow.stashed().iter().map(|s| s.iter().sum()).collect(),
    }
}

fn of_model(fast: &mut dyn Simulation) -> Account {
    let counters = fast.counters();
    let protocol = fast.protocol().unwrap_or_default();
    Account {
        injected: counters.injected,
        hops: counters.packet_hops,
        delivered: counters.delivered,
        digest: counters.digest,
        marks: protocol.marked,
        cuts: protocol.cuts,
        stashed: protocol.stashed,
        retrieved: protocol.retrieved,
        deleted: protocol.deleted,
        early: protocol.early_acknowledgements,
        retransmitted: protocol.retransmitted,
        lost: protocol.lost,
        duplicates: protocol.duplicates,
        stashes: fast.stash_flits(),
    }
}

/// Where model and twin part: the first tick, and what the twin delivered at it.
fn parting(plan: &FabricPlan, until: u64) -> String {
    let mut slow = Twin::new(plan);
    let mut fast = build(plan, Options::default());
    for end in 1..=until {
        slow.run_until(end);
        fast.run_until(Tick(end));
        let (model, twin) = (of_model(fast.as_mut()), of_twin(&slow));
        if model != twin {
            let last = slow.deliveries.iter().filter(|(d, _)| d.tail + 1 == end);
            let last: Vec<_> = last.collect();
            let tick = end - 1;
            return format!(
                "at tick {tick}:\n  model {model:?}\n  twin  {twin:?}\n  delivered by the twin then: {last:?}"
            );
        }
    }
    "nowhere, tick by tick".to_owned()
}

/// What is wrong, if the model does not do as its twin does; else how many packets were delivered.
pub(crate) fn difference(case: &Case) -> Result<u64, String> {
    let plan = case.plan();
    let mut slow = Twin::new(&plan);
    slow.run_until(case.until);
    let mut fast = build(&plan, Options::default());
    fast.run_until(Tick(case.until));
    fast.check_laws();
    if of_model(fast.as_mut()) == of_twin(&slow) {
        Ok(slow.counts.delivered)
    } else {
        Err(parting(&plan, case.until))
    }
}
