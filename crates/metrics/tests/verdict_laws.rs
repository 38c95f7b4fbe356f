//! Verdicts of classes, runs and points never contradict each other.

use netloom_metrics::{Epoch, Measured, Verdict};
use proptest::prelude::*;

/// Epochs of a class: often empty, sometimes with growing queues and drifting latencies.
fn epochs() -> impl Strategy<Value = Vec<Epoch>> {
    let amount = || prop_oneof![2 => Just(0.0), 3 => 0.0..1e4f64];
    let epoch = (
        1.0..1e4f64,
        amount(),
        amount(),
        amount(),
        0u32..50,
        0.0..1e3f64,
    );
    let epoch = epoch.prop_map(|(ticks, offered, injected, delivered, messages, latency)| {
        let messages = f64::from(messages);
        Epoch {
            ticks,
            offered,
            injected,
            delivered,
            messages,
            latency: messages * latency,
        }
    });
    prop_oneof![
        1 => prop::collection::vec(Just(Epoch { ticks: 1.0, ..Epoch::default() }), 0..30),
        5 => prop::collection::vec(epoch, 0..60),
    ]
}

/// Measurements of a class, whether it is finite work, and its verdict.
fn class() -> impl Strategy<Value = (Vec<Epoch>, Option<bool>, Verdict)> {
    let ended = prop_oneof![4 => Just(None), 2 => Just(Some(true)), 1 => Just(Some(false))];
    let all = (epochs(), ended, any::<bool>(), 0.01..0.5f64, 0.0..1e3f64);
    all.prop_map(|(epochs, has_ended, is_warm, asked, sending)| {
        let measured = Measured {
            epochs: &epochs,
            sending,
            is_warm,
            asked,
            has_ended,
        };
        let verdict = measured.verdict();
        (epochs, has_ended, verdict)
    })
}

proptest! {
    #[test]
    fn a_class_is_what_its_messages_say((epochs, has_ended, verdict) in class()) {
        let is_silent = epochs.iter().all(|e| e.offered == 0.0 && e.delivered == 0.0);
        prop_assert_eq!(verdict == Verdict::Unfinished, has_ended == Some(false));
        prop_assert_eq!(verdict == Verdict::Idle, is_silent && has_ended != Some(false));
        if has_ended == Some(true) {
            prop_assert!(matches!(verdict, Verdict::Idle | Verdict::Ok), "{}", verdict);
        }
    }

    #[test]
    fn runs_and_points_agree_with_their_classes(
        seeds in (1usize..4).prop_flat_map(|n| {
            prop::collection::vec(prop::collection::vec(class(), n), 1..6)
        }),
    ) {
        let seeds: Vec<Vec<Verdict>> = seeds
            .into_iter()
            .map(|classes| classes.into_iter().map(|(_, _, verdict)| verdict).collect())
            .collect();
        for classes in &seeds {
            let run = Verdict::of_run(classes.iter().copied());
            let decide: Vec<&Verdict> = classes.iter().filter(|v| **v != Verdict::Idle).collect();
            prop_assert!(classes.iter().all(|class| *class <= run));
            match decide.is_empty() {
                true => prop_assert_eq!(run, Verdict::TooShort),
                false => prop_assert!(decide.contains(&&run), "{} of {:?}", run, classes),
            }
            // The numbers are good enough only if every class allows it.
            if run.is_result() {
                prop_assert!(!classes.contains(&Verdict::Unfinished));
                prop_assert!(run == Verdict::Saturated || classes.iter().all(|class| class.is_result()));
            }
        }
        let of = |seeds: Vec<Verdict>| Verdict::of_seeds(seeds);
        let point = of(seeds.iter().map(|run| Verdict::of_run(run.iter().copied())).collect());
        for class in 0..seeds[0].len() {
            let class = of(seeds.iter().map(|run| run[class]).collect());
            prop_assert!(class <= point, "{} of a class, {} of the point", class, point);
        }
        let is_unfinished = seeds.iter().flatten().any(|class| *class == Verdict::Unfinished);
        prop_assert_eq!(point == Verdict::Unfinished, is_unfinished);
        let mut turned = seeds.clone();
        turned.reverse();
        let again = of(turned.iter().map(|run| Verdict::of_run(run.iter().copied())).collect());
        prop_assert_eq!(point, again);
    }
}
