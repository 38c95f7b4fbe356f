//! The toy model gives the same result for any number of partitions and threads, for either
//! queue, and for any order within a tick.

mod toy;

use netloom_engine::{Heap, Wheel};
use toy::{Event, LOOKAHEAD, Outcome, Shape, outcome};

/// Runs all combinations and compares them with one partition on the reference heap.
fn check(shape: Shape) -> Outcome {
    let reference = outcome::<Heap<Event>>(
        Shape {
            n_partitions: 1,
            ..shape
        },
        1,
        u64::MAX,
    );
    for n_partitions in [1, 2, 7] {
        let shape = Shape {
            n_partitions,
            ..shape
        };
        for threads in [1, 2, 3] {
            for step in [1 << 40, 777, LOOKAHEAD / 3] {
                let place =
                    format!("{n_partitions} partitions, {threads} threads, steps of {step}");
                assert_eq!(
                    outcome::<Wheel<Event>>(shape, threads, step),
                    reference,
                    "{place}"
                );
            }
            let scrambled = Shape {
                is_scrambled: true,
                ..shape
            };
            assert_eq!(
                outcome::<Heap<Event>>(scrambled, threads, u64::MAX),
                reference
            );
            assert_eq!(outcome::<Wheel<Event>>(scrambled, threads, 777), reference);
        }
    }
    reference
}

const SHAPE: Shape = Shape {
    n_components: 100,
    n_partitions: 1,
    periods: &[1],
    life: 200,
    far: 0,
    is_scrambled: false,
};

#[test]
fn one_clock() {
    let (_, events) = check(SHAPE);
    assert_eq!(
        events,
        100 * 201,
        "every token is answered until its life ends"
    );
}

#[test]
fn clocks_of_13_to_10() {
    check(Shape {
        periods: &[13, 10],
        ..SHAPE
    });
}

#[test]
fn a_different_clock_gives_a_different_result() {
    let one = outcome::<Wheel<Event>>(SHAPE, 1, u64::MAX);
    let two = outcome::<Wheel<Event>>(
        Shape {
            periods: &[13, 10],
            ..SHAPE
        },
        1,
        u64::MAX,
    );
    assert_ne!(one.0, two.0);
}

/// Long idle times, which windows must skip, and ticks on every level of the wheel.
#[test]
fn far_timers() {
    let (_, events) = check(Shape {
        n_components: 40,
        life: 100,
        far: 4,
        ..SHAPE
    });
    assert_eq!(events, 40 * 101);
}

#[test]
fn far_timers_on_clocks_of_13_to_10() {
    check(Shape {
        n_components: 40,
        life: 60,
        far: 4,
        periods: &[13, 10],
        ..SHAPE
    });
}
