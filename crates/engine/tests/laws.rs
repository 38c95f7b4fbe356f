//! Violations of the rules for models are detected where they happen, also on another thread.
#![cfg(debug_assertions)]

use netloom_encoding::Encoded;
use netloom_engine::{Engine, Model, Outbox, Wheel};
use netloom_units::Tick;

const LOOKAHEAD: u64 = 10;

/// What the model does when the event is applied.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encoded)]
enum Act {
    Nothing,
    /// Nothing that is forbidden.
    Behave,
    AffectThisTick,
    MarkWhileDeciding,
    SendIntoThisWindow,
}

struct Breaker;

impl Model for Breaker {
    type Event = Act;
    type Parcel = u8;
    type Queue = Wheel<Act>;

    fn apply(&mut self, now: Tick, act: Act, out: &mut Outbox<Self>) {
        match act {
            Act::Nothing => {}
            Act::Behave => {
                out.mark(0);
                out.at(now + 1, Act::Nothing);
                out.send(1, now + LOOKAHEAD, Act::Nothing, 0);
            }
            Act::AffectThisTick => out.at(now, Act::Nothing),
            Act::MarkWhileDeciding => out.mark(1),
            Act::SendIntoThisWindow => out.send(1, now + (LOOKAHEAD - 1), Act::Nothing, 0),
        }
    }

    fn decide(&mut self, component: u32, _: Tick, out: &mut Outbox<Self>) {
        if component == 1 {
            out.mark(2);
        }
    }

    fn receive(&mut self, act: Act, _: u8) -> Act {
        act
    }
}

fn run(act: Act, threads: usize) -> u64 {
    let mut engine = Engine::<Breaker>::new(vec![Breaker, Breaker, Breaker], LOOKAHEAD, threads);
    engine.schedule(0, Tick(3), act);
    engine.run_until(Tick(100));
    engine.events()
}

#[test]
fn what_is_allowed_runs() {
    assert_eq!(run(Act::Behave, 1), 3);
    assert_eq!(run(Act::Behave, 2), 3);
}

#[test]
#[should_panic(expected = "is not later than its cause")]
fn an_effect_comes_later() {
    run(Act::AffectThisTick, 1);
}

#[test]
#[should_panic(expected = "marked one while deciding")]
fn decisions_mark_nobody() {
    run(Act::MarkWhileDeciding, 1);
}

#[test]
#[should_panic(expected = "inside its window")]
fn messages_keep_the_lookahead() {
    run(Act::SendIntoThisWindow, 1);
}

/// On any thread: no other thread waits for it forever.
#[test]
#[should_panic]
fn a_panic_on_one_of_three_threads_ends_the_run() {
    run(Act::SendIntoThisWindow, 3);
}

#[test]
#[should_panic(expected = "has already been run")]
fn the_past_cannot_be_scheduled() {
    let mut engine = Engine::<Breaker>::new(vec![Breaker], u64::MAX, 1);
    engine.run_until(Tick(5));
    engine.schedule(0, Tick(4), Act::Nothing);
}

#[test]
#[should_panic]
fn a_lone_partition_has_nobody_to_send_to() {
    let mut engine = Engine::<Breaker>::new(vec![Breaker], u64::MAX, 1);
    engine.schedule(0, Tick(0), Act::Behave);
    engine.run_until(Tick(5));
}

#[test]
fn the_end_is_not_run_and_time_goes_on() {
    let mut engine = Engine::<Breaker>::new(vec![Breaker], u64::MAX, 1);
    engine.schedule(0, Tick(0), Act::Nothing);
    engine.schedule(0, Tick(5), Act::Nothing);
    engine.run_until(Tick(0));
    assert_eq!((engine.events(), engine.now()), (0, Tick(0)));
    engine.run_until(Tick(5));
    assert_eq!((engine.events(), engine.now()), (1, Tick(5)));
    assert_eq!(engine.next_event(), Some(Tick(5)));
    engine.schedule(0, Tick(5), Act::Nothing);
    engine.run_until(Tick(6));
    assert_eq!((engine.events(), engine.next_event()), (3, None));
}
