//! The twin by itself: it must be right before anything is compared with it.

mod support;
mod twin;

use support::cases::cases;
use twin::Twin;

#[test]
fn every_case_drains() {
    for (name, case) in cases() {
        let case = support::Case {
            messages: Some(8),
            ..case
        };
        let plan = case.plan();
        let mut twin = Twin::new(&plan);
        while twin.now() == 0 || !twin.is_idle() {
            assert!(twin.now() < 2_000_000, "{name} drains: {:?}", twin.counts);
            twin.run_until(twin.now() + 10_000);
        }
        println!("{name} {} {:?}", twin.now(), twin.counts);
    }
}
