//! The wheel compared with the heap: the same events at the same ticks, for any pushes and takes.

use netloom_engine::{EventQueue, Heap, Wheel};
use netloom_units::Tick;
use proptest::prelude::*;

/// One operation on a queue. Ticks are counted from the last one that can no longer be used.
#[derive(Clone, Copy, Debug)]
enum Step {
    Push { ahead: u64 },
    Take { limit: u64 },
    TakeAll { limit: u64 },
}

/// Delays of all sizes up to 2^45, near the borders of levels, and ties.
fn ahead() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0u64..60,
        2 => 0u64..1500,
        2 => (0u32..45, 0u64..1 << 45).prop_map(|(shift, x)| x >> shift),
        2 => (0u32..46, -2i64..3).prop_map(|(bit, near)| ((1i64 << bit) + near).max(0) as u64),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => ahead().prop_map(|ahead| Step::Push { ahead }),
        3 => ahead().prop_map(|limit| Step::Take { limit }),
        1 => ahead().prop_map(|limit| Step::TakeAll { limit }),
        1 => Just(Step::Take { limit: u64::MAX }),
    ]
}

/// Usual delays: below, between and above the bounds of the near window.
fn delay() -> impl Strategy<Value = u64> {
    prop_oneof![
        0u64..20_000,
        Just(1022),
        Just(1023),
        Just(1024),
        Just(u64::MAX)
    ]
}

struct Pair {
    wheel: Wheel<u32>,
    heap: Heap<u32>,
    /// The earliest tick that may be pushed.
    floor: u64,
    batch: Vec<u32>,
    expected: Vec<u32>,
    pushed: u32,
}

impl Pair {
    /// Creates a wheel for events at most `delay` ticks ahead.
    fn new(delay: u64) -> Self {
        Pair {
            wheel: Wheel::for_delays(delay),
            heap: Heap::default(),
            floor: 0,
            batch: vec![],
            expected: vec![],
            pushed: 0,
        }
    }

    fn push(&mut self, ahead: u64) {
        let when = Tick(self.floor.saturating_add(ahead).min(u64::MAX - 1));
        self.wheel.push(when, self.pushed);
        self.heap.push(when, self.pushed);
        self.pushed += 1;
    }

    fn take(&mut self, limit: Tick) -> Option<Tick> {
        let taken = self.heap.take_next(limit, &mut self.expected);
        assert_eq!(self.wheel.take_next(limit, &mut self.batch), taken);
        self.batch.sort_unstable();
        self.expected.sort_unstable();
        assert_eq!(self.batch, self.expected);
        assert_eq!(self.wheel.len(), self.heap.len());
        assert_eq!(
            EventQueue::next(&mut self.wheel),
            EventQueue::next(&mut self.heap)
        );
        match taken {
            // The tick itself may still be pushed: the first events of a run are at tick zero.
            Some(Tick(when)) => self.floor = when,
            None if limit < Tick::NEVER => self.floor = self.floor.max(limit.0 + 1),
            None => {}
        }
        taken
    }

    fn run(&mut self, steps: &[Step]) {
        for &step in steps {
            match step {
                Step::Push { ahead } => self.push(ahead),
                Step::Take { limit } => {
                    let limit = Tick(self.floor.saturating_add(limit));
                    // A queue that finds nothing without limit has reached the end of time.
                    if limit < Tick::NEVER || self.heap.len() > 0 {
                        self.take(limit);
                    }
                }
                Step::TakeAll { limit } => {
                    let limit = Tick(self.floor.saturating_add(limit).min(u64::MAX - 2));
                    while self.take(limit).is_some() {}
                }
            }
        }
        while self.take(Tick::NEVER).is_some() {}
        assert_eq!(self.wheel.len(), 0);
        assert_eq!(EventQueue::next(&mut self.wheel), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn wheel_and_heap_agree(delay in delay(), steps in prop::collection::vec(step(), 0..200)) {
        Pair::new(delay).run(&steps);
    }

    #[test]
    fn wheel_and_heap_agree_late(delay in delay(), start in 0u64..u64::MAX / 2, steps in prop::collection::vec(step(), 0..60)) {
        let mut pair = Pair::new(delay);
        pair.push(start);
        pair.take(Tick::NEVER);
        pair.run(&steps);
    }
}

/// Every tick of several blocks, with the pushes always at the last tick of the window or one or
/// two ticks later.
#[test]
fn the_border_of_the_near_window() {
    for (delay, last) in [
        (0, 1023),
        (1024, 1024),
        (5000, 5000),
        (1 << 20, (1 << 14) - 1),
    ] {
        let mut pair = Pair::new(delay);
        for ahead in [0, last, last + 1, last + 2] {
            pair.push(ahead);
        }
        for i in 0..5 * last {
            let taken = pair.take(Tick::NEVER).expect("an event");
            pair.push(last + i % 3);
            assert!(taken >= Tick(i / 4));
        }
        while pair.take(Tick::NEVER).is_some() {}
    }
}

/// A limit before the next event, then a push earlier than that event.
#[test]
fn a_push_before_what_is_pending() {
    for far in [5, 1500, 1 << 12, 1 << 22, 1 << 32, 1 << 43] {
        for limit in [0, 3, far / 2, far - 2] {
            let mut pair = Pair::new(0);
            pair.push(far);
            assert_eq!(pair.take(Tick(limit)), None);
            pair.push(0);
            assert_eq!(pair.take(Tick::NEVER), Some(Tick(limit + 1)));
            assert_eq!(pair.take(Tick::NEVER), Some(Tick(far)));
        }
    }
}

/// More than a chunk in one tick, near and far.
#[test]
fn many_events_in_one_tick() {
    for ahead in [3, 5000, 1 << 25, 1 << 35, 1 << 44] {
        let mut pair = Pair::new(0);
        for _ in 0..1000 {
            pair.push(ahead);
        }
        assert_eq!(pair.take(Tick::NEVER), Some(Tick(ahead)));
        assert_eq!(pair.batch.len(), 1000);
    }
}
