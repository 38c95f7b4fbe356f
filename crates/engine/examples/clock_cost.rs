//! Cost of sparse ticks and distant timers: the same load on one clock, on a 13:10 pair, and with
//! timers.
//!
//! ```text
//! cargo run --release -p netloom-engine --example clock_cost            # half a minute
//! cargo run --release -p netloom-engine --example clock_cost -- --short # seconds, for CI
//! ... -- --case pair --events 2000000 --rounds 1                        # one case, for callgrind
//! ```
//!
//! With the pair of clocks, a tick has half as many events as with one clock, so fewer events share
//! the fixed cost of a tick. The last case shows that effect alone: one clock with half the tokens.
//!
//! The load consists of tokens among components. A component answers every token at its next
//! decision with one to another component, 1 to 60 cycles later; there are about 15 per cycle. The
//! model does as little as possible, so the figures are those of the kernel.

use std::marker::PhantomData;
use std::time::Instant;

use netloom_encoding::Encoded;
use netloom_engine::{Engine, EventQueue, Heap, Model, Outbox, Wheel};
use netloom_random::{Purpose, Stream};
use netloom_units::Tick;

const N_COMPONENTS: u32 = 1024;
/// 15 per cycle with a mean delay of 30.5 cycles.
const N_TOKENS: u32 = 457;
const LONGEST: u32 = 60;
/// 256 ms in ticks of 1/13 ns.
const TIMER: u64 = 256_000_000 * 13;

/// Division of time into ticks.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    what: &'static str,
    /// Cycle length in ticks, of even and of odd components.
    periods: [u64; 2],
    has_timers: bool,
    n_tokens: u32,
}

const CASES: [Case; 6] = [
    Case {
        name: "single",
        what: "(a) one clock, every tick",
        periods: [1, 1],
        has_timers: false,
        n_tokens: N_TOKENS,
    },
    Case {
        name: "pair",
        what: "(b) clocks of 13:10",
        periods: [13, 10],
        has_timers: false,
        n_tokens: N_TOKENS,
    },
    Case {
        name: "timers",
        what: "(c) as (a), 256 ms timers",
        periods: [1, 1],
        has_timers: true,
        n_tokens: N_TOKENS,
    },
    Case {
        name: "sparse",
        what: "    one clock, every 13th tick",
        periods: [13, 13],
        has_timers: false,
        n_tokens: N_TOKENS,
    },
    Case {
        name: "both",
        what: "    as (b), 256 ms timers",
        periods: [13, 10],
        has_timers: true,
        n_tokens: N_TOKENS,
    },
    Case {
        name: "half",
        what: "    one clock, half the tokens",
        periods: [1, 1],
        has_timers: false,
        n_tokens: N_TOKENS / 2,
    },
];

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encoded)]
struct Event {
    component: u32,
    is_timer: bool,
    value: u64,
}

#[derive(Clone, Copy)]
struct Component {
    heard: u64,
    n_heard: u32,
    random: u32,
}

/// Clocks as the benchmark needs them: the next edge without a division and without a branch, so
/// that all cases have the same model and only the ticks differ.
#[derive(Clone, Copy)]
struct Cycle {
    period: u64,
    /// 2^63 / period, rounded up.
    reciprocal: u64,
}

impl Cycle {
    fn new(period: u64) -> Self {
        Cycle {
            period,
            reciprocal: (1 << 63) / period + 1,
        }
    }

    /// Returns the first edge at least `cycles` cycles later.
    #[inline]
    fn edge(self, now: Tick, cycles: u32) -> Tick {
        let end = now.0 + (u64::from(cycles) + 1) * self.period - 1;
        let edges = (u128::from(end) * u128::from(self.reciprocal)) >> 63;
        Tick(edges as u64 * self.period)
    }
}

struct Load<Q> {
    cycles: [Cycle; 2],
    components: Vec<Component>,
    queue: PhantomData<Q>,
}

impl<Q> Load<Q> {
    #[inline]
    fn edge(&self, component: u32, now: Tick, cycles: u32) -> Tick {
        self.cycles[component as usize & 1].edge(now, cycles)
    }
}

impl<Q: EventQueue<Event>> Model for Load<Q> {
    type Event = Event;
    type Parcel = u8;
    type Queue = Q;

    #[inline]
    fn apply(&mut self, now: Tick, event: Event, out: &mut Outbox<Self>) {
        let component = &mut self.components[event.component as usize];
        component.heard = component.heard.wrapping_add(event.value);
        if event.is_timer {
            out.at(now + TIMER, event);
            return;
        }
        if component.n_heard == 0 {
            out.mark(event.component);
        }
        component.n_heard += 1;
    }

    #[inline]
    fn decide(&mut self, i: u32, now: Tick, out: &mut Outbox<Self>) {
        let mut component = self.components[i as usize];
        for _ in 0..std::mem::take(&mut component.n_heard) {
            // A linear congruence: good enough to spread a load, and cheap compared with the
            // kernel.
            let random = component
                .random
                .wrapping_mul(1_664_525)
                .wrapping_add(1_013_904_223);
            component.random = random;
            let to = random >> 22;
            let cycles = 1 + ((((random >> 6) & 0xffff) * LONGEST) >> 16);
            let when = self.edge(to, now, cycles);
            out.at(
                when,
                Event {
                    component: to,
                    is_timer: false,
                    value: component.heard,
                },
            );
        }
        self.components[i as usize] = component;
    }

    fn receive(&mut self, event: Event, _: u8) -> Event {
        event
    }
}

/// Returns the CPU time of this process, in steps of some milliseconds, or wall time if the system
/// does not provide it.
fn cpu_seconds(start: Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanos = stat.and_then(|s| s.split(' ').next()?.parse::<u64>().ok());
    nanos.map_or_else(|| start.elapsed().as_secs_f64(), |n| n as f64 / 1e9)
}

/// Returns nanoseconds per event, and the number of events, which is about that requested.
fn measure<Q: EventQueue<Event>>(case: Case, n_events: u64) -> (f64, f64) {
    let stream = Stream::new(1, Purpose::Routing);
    let component = |i| Component {
        heard: 1,
        n_heard: 0,
        random: stream.draw([i, 0, 0, 0]).0[0],
    };
    let components = (0..N_COMPONENTS).map(component).collect();
    let load = Load {
        cycles: case.periods.map(Cycle::new),
        components,
        queue: PhantomData,
    };
    let mut engine = Engine::<Load<Q>>::new(vec![load], u64::MAX, 1);
    for token in 0..case.n_tokens {
        let draw = stream.draw([token, 1, 0, 0]);
        let component = draw.below(0, N_COMPONENTS);
        let when = engine
            .model(0)
            .edge(component, Tick(0), draw.below(1, LONGEST));
        engine.schedule(
            0,
            when,
            Event {
                component,
                is_timer: false,
                value: u64::from(token),
            },
        );
    }
    let cycles = n_events * 61 / (2 * u64::from(case.n_tokens));
    let end = Tick(cycles * case.periods[0].max(case.periods[1]));
    if case.has_timers {
        // Each fires once in the run and sets itself again, far ahead.
        for component in 0..N_COMPONENTS {
            let when = Tick((stream.draw([component, 2, 0, 0]).unit(0) * end.0 as f64) as u64);
            engine.schedule(
                0,
                when,
                Event {
                    component,
                    is_timer: true,
                    value: 1,
                },
            );
        }
    }
    let start = Instant::now();
    let before = cpu_seconds(start);
    engine.run_until(end);
    let nanos = (cpu_seconds(start) - before) * 1e9;
    let events = engine.events() as f64;
    assert!(engine.model(0).components.iter().all(|c| c.heard != 0));
    (nanos / events, events)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|a| a == name)?;
        arguments.get(at + 1).cloned()
    };
    let number = |name: &str, otherwise: u64| {
        value(name).map_or(otherwise, |v| v.parse().expect("a number"))
    };
    let is_short = arguments.iter().any(|a| a == "--short");
    let n_events = number("--events", if is_short { 5_000_000 } else { 10_000_000 });
    let rounds = number("--rounds", if is_short { 3 } else { 15 });
    let heap = arguments.iter().any(|a| a == "--heap");
    let wanted = value("--case");
    let cases: Vec<Case> = CASES
        .into_iter()
        .filter(|c| wanted.as_ref().is_none_or(|w| w == c.name))
        .collect();

    // Interleaved, so that a busy moment of the machine affects all cases equally; the least time
    // is reported.
    let mut least = vec![f64::INFINITY; cases.len()];
    let mut events = vec![0.0; cases.len()];
    for _ in 0..rounds {
        for (i, &case) in cases.iter().enumerate() {
            let measured = if heap {
                measure::<Heap<Event>>(case, n_events)
            } else {
                measure::<Wheel<Event>>(case, n_events)
            };
            least[i] = least[i].min(measured.0);
            events[i] = measured.1;
        }
    }
    println!(
        "{:<32} {:>12} {:>9} {:>9}",
        "case", "events", "ns/event", "of first"
    );
    for (i, case) in cases.iter().enumerate() {
        let ratio = least[i] / least[0];
        println!(
            "{:<32} {:>12} {:>9.2} {:>9.3}",
            case.what, events[i], least[i], ratio
        );
    }
}
