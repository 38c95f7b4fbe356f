//! The twin by itself: it must be right before anything is compared with it.

mod support;
mod twin;

use support::Case;
use support::cases::cases;
use twin::Twin;

/// A finite workload arrives whole and leaves nothing behind.
#[test]
fn every_case_drains() {
    for (name, case) in cases() {
        let case = Case {
            messages: Some(12),
            ..case
        };
        let plan = case.plan();
        let mut twin = Twin::new(&plan);
        while twin.now() == 0 || !twin.is_idle() {
            assert!(twin.now() < 400_000, "{name} drains: {:?}", twin.counts);
            twin.run_until(twin.now() + 5_000);
        }
        assert_eq!(twin.counts.injected_data, twin.counts.delivered, "{name}");
    }
}
