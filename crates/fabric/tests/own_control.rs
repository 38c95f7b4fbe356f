//! External congestion controls, with reasonable and other behaviour.

mod support;

use std::sync::Arc;

use netloom_fabric::{Control, Echo, FlowState, Options, build};
use netloom_units::Tick;
use support::Case;

/// Allows one packet in flight; earlier queries return a time in the past.
#[derive(Debug)]
struct Impatient;

impl Control for Impatient {
    fn start(&self, _: Tick) -> FlowState {
        FlowState::default()
    }

    fn admits(&self, _: &FlowState, in_flight: u32, _: u16, now: Tick) -> Result<(), Tick> {
        match in_flight {
            0 => Ok(()),
            _ => Err(Tick(now.0 / 2)),
        }
    }

    fn acknowledged(&self, flow: &mut FlowState, echo: Echo, _: Tick) -> bool {
        flow.0[0] = flow.0[0].max(echo.round_trip);
        false
    }

    fn is_fresh(&self, _: &FlowState, _: Tick) -> bool {
        true
    }
}

/// The run continues, and every flow has one packet or its answer in flight: no more than there are
/// pairs of NICs on each lane.
#[test]
fn a_time_that_is_over_is_asked_for_again() {
    let case = Case {
        flits: vec![8],
        load: 0.5,
        acknowledgement: Some(1),
        ..Case::tree(2, 2)
    };
    let mut digests = vec![];
    for partitions in [1, 2, 4] {
        let mut plan = Case {
            partitions,
            ..case.clone()
        }
        .plan();
        plan.endpoints.control = Some(Arc::new(Impatient));
        let mut run = build(&plan, Options::default());
        let n_nics = u64::from(plan.topology.n_nics());
        for end in (1..=20).map(|part| Tick(part * 500)) {
            run.run_until(end);
            run.check_laws();
            let n_flows = u64::from(plan.n_vls) * n_nics * (n_nics - 1);
            let in_flight = run.in_flight();
            assert!(in_flight <= n_flows, "{in_flight} at {end}");
        }
        let counters = run.counters();
        assert!(counters.delivered > 500, "{counters:?}");
        digests.push(counters.digest.value());
    }
    assert_eq!(digests[0], digests[1]);
    assert_eq!(digests[0], digests[2]);
}
