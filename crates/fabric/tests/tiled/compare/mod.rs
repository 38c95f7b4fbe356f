//! Compares the model with its reference implementation.
#![allow(dead_code)] // Each test file uses its part.

use netloom_fabric::build;
use netloom_fabric::{FabricPlan, Options, Simulation};
use netloom_units::Tick;

use crate::support::Case;
use crate::twin::Twin;

/// Values that both must have at the end of any tick.
type Account = Vec<(&'static str, u64)>;

fn of_twin(slow: &Twin<'_>) -> Account {
    let counts = &slow.counts;
    let mut account = vec![
        ("injected", counts.injected()),
        ("hops", counts.hops),
        ("delivered", counts.delivered + counts.acknowledgements),
        ("digest", slow.digest.value()),
        ("marks", counts.marks),
        ("cuts", counts.cuts),
        ("stashed", counts.stashed),
        ("retrieved", counts.retrieved),
        ("deleted", counts.deletions),
        ("early", counts.early_verdicts),
        ("retransmitted", counts.retransmissions),
        ("lost", counts.lost),
        ("duplicates", counts.duplicates),
    ];
    let stashes = slow.stashed().into_iter();
    account.extend(stashes.map(|ports| ("in a stash", ports.into_iter().map(u64::from).sum())));
    account
}

fn of_model(fast: &mut dyn Simulation) -> Account {
    let counters = fast.counters();
    let protocol = fast.protocol().unwrap_or_default();
    let mut account = vec![
        ("injected", counters.injected),
        ("hops", counters.packet_hops),
        ("delivered", counters.delivered),
        ("digest", counters.digest.value()),
        ("marks", protocol.marked),
        ("cuts", protocol.cuts),
        ("stashed", protocol.stashed),
        ("retrieved", protocol.retrieved),
        ("deleted", protocol.deleted),
        ("early", protocol.early_acknowledgements),
        ("retransmitted", protocol.retransmitted),
        ("lost", protocol.lost),
        ("duplicates", protocol.duplicates),
    ];
    let stashes = fast.stash_flits().into_iter();
    account.extend(stashes.map(|flits| ("in a stash", u64::from(flits))));
    account
}

/// Returns the numbers in which two accounts differ: name, model, reference.
fn unequal(model: &Account, twin: &Account) -> Vec<(&'static str, u64, u64)> {
    assert_eq!(model.len(), twin.len(), "as many stashes");
    let pairs = model.iter().zip(twin).filter(|(m, t)| m != t);
    pairs.map(|(m, t)| (m.0, m.1, t.1)).collect()
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
        let unequal = unequal(&model, &twin);
        if !unequal.is_empty() {
            let last = slow.deliveries.iter().filter(|(d, _)| d.tail + 1 == end);
            let last: Vec<_> = last.collect();
            let tick = end - 1;
            return format!(
                "at tick {tick} (name, model, reference): {unequal:?}; delivered by the reference \
                 then: {last:?}"
            );
        }
    }
    "nowhere, tick by tick".to_owned()
}

/// Checks the same account in one, two and seven partitions, with two threads and with the
/// reference.
pub(crate) fn any_partitions(name: &str, case: &Case) {
    let account = |partitions: usize, threads: usize, reference: bool| {
        let options = Options {
            threads,
            reference,
            ..Options::default()
        };
        let case = Case {
            partitions,
            ..case.clone()
        };
        let mut fast = build(&case.plan(), options);
        fast.run_until(Tick(case.until));
        of_model(fast.as_mut())
    };
    let one = account(1, 1, false);
    for (partitions, threads, heap) in [(1, 1, true), (2, 1, false), (7, 2, false), (7, 1, true)] {
        assert_eq!(
            account(partitions, threads, heap),
            one,
            "{name} in {partitions} partitions, {threads} threads"
        );
    }
}

/// Returns the differences at the end, without a search for the first tick: name, model, reference.
pub(crate) fn unequal_at_end(case: &Case) -> Vec<(&'static str, u64, u64)> {
    let plan = case.plan();
    let mut slow = Twin::new(&plan);
    slow.run_until(case.until);
    let mut fast = build(&plan, Options::default());
    fast.run_until(Tick(case.until));
    fast.check_laws();
    unequal(&of_model(fast.as_mut()), &of_twin(&slow))
}

/// Returns the divergence of model and reference, or else how many packets were delivered.
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
