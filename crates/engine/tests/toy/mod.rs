//! A toy model after PHOLD, the usual benchmark of parallel simulation: a component answers every
//! token with a new one to another component. Its state depends only on the set of tokens in each
//! tick.

// Each test file uses its own part of the toy.
#![allow(dead_code, unreachable_pub)]

use std::marker::PhantomData;

use netloom_encoding::Encoded;
use netloom_engine::{Engine, EventQueue, Model, Outbox, Transport, Wheel};
use netloom_random::{Purpose, Stream};
use netloom_units::{Clock, Tick};

/// The minimum delay between two components, so also the lookahead of any partitioning.
pub const LOOKAHEAD: u64 = 20;

/// Parameters of a toy.
#[derive(Clone, Copy)]
pub struct Shape {
    pub n_components: u32,
    pub n_partitions: u32,
    /// Clock periods of the components, in turn.
    pub periods: &'static [u64],
    /// Number of times that a token is answered.
    pub life: u32,
    /// One answer in `far` waits up to 2^44 ticks.
    pub far: u32,
    /// Whether each tick runs in scrambled order.
    pub is_scrambled: bool,
}

impl Shape {
    /// Not in blocks, so that most tokens cross.
    fn partition_of(self, component: u32) -> u32 {
        component % self.n_partitions
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encoded)]
pub enum Event {
    /// A token, whose record is in this slot of the partition's store.
    Token { component: u32, slot: u32 },
    /// The component's clock has an edge for which it waited.
    Edge { component: u32 },
}

/// Data carried by a token; crosses partitions by value.
#[derive(Clone, Copy, Default, Encoded)]
pub struct Token {
    value: u64,
    life: u32,
}

#[derive(Clone)]
struct Component {
    state: u64,
    clock: Clock,
    /// A sum over the tokens since the last decision, so it does not depend on their order.
    heard: u64,
    n_heard: u32,
    /// Tokens still to be answered, by life; sorted before use for the same reason.
    lives: Vec<u32>,
    is_awaiting: bool,
}

/// One partition of the toy. It has a place for every component and uses those of its own.
pub struct Toy<Q = Wheel<Event>> {
    shape: Shape,
    stream: Stream,
    components: Vec<Component>,
    store: Vec<Token>,
    free: Vec<u32>,
    queue: PhantomData<Q>,
}

fn mix(a: u64, b: u64) -> u64 {
    let x = (a ^ b.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (x >> 32)
}

impl<Q> Toy<Q> {
    pub fn new(shape: Shape) -> Self {
        let component = |i: u32| Component {
            state: u64::from(i),
            clock: Clock::new(shape.periods[i as usize % shape.periods.len()]),
            heard: 0,
            n_heard: 0,
            lives: Vec::new(),
            is_awaiting: false,
        };
        Toy {
            shape,
            stream: Stream::new(1, Purpose::Routing),
            components: (0..shape.n_components).map(component).collect(),
            store: Vec::new(),
            free: Vec::new(),
            queue: PhantomData,
        }
    }

    fn keep(&mut self, token: Token) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.store[slot as usize] = token;
            return slot;
        }
        self.store.push(token);
        self.store.len() as u32 - 1
    }

    /// Returns the states of this partition's components as a sum, so that the number of partitions
    /// has no effect.
    pub fn digest(&self) -> u64 {
        let all = self.components.iter().enumerate();
        let touched = all.filter(|(i, c)| c.state != *i as u64);
        touched.fold(0, |sum, (i, c)| sum.wrapping_add(mix(c.state, i as u64)))
    }
}

impl<Q: EventQueue<Event>> Model for Toy<Q> {
    type Event = Event;
    type Parcel = Token;
    type Queue = Q;

    fn is_scrambled(&self) -> bool {
        self.shape.is_scrambled
    }

    fn apply(&mut self, now: Tick, event: Event, out: &mut Outbox<Self>) {
        let component = match event {
            Event::Edge { component } => {
                out.mark(component);
                return;
            }
            Event::Token { component, slot } => {
                let token = self.store[slot as usize];
                self.free.push(slot);
                let c = &mut self.components[component as usize];
                c.heard = c.heard.wrapping_add(mix(token.value, now.0));
                c.n_heard += 1;
                c.lives.push(token.life);
                component
            }
        };
        let c = &mut self.components[component as usize];
        if !c.is_awaiting {
            c.is_awaiting = true;
            let edge = c.clock.edge_at_or_after(now);
            if edge == now {
                out.mark(component);
            } else {
                out.at(edge, Event::Edge { component });
            }
        }
    }

    fn decide(&mut self, component: u32, now: Tick, out: &mut Outbox<Self>) {
        let shape = self.shape;
        let c = &mut self.components[component as usize];
        assert_eq!(c.clock.edge_at_or_after(now), now, "decisions are on edges");
        c.is_awaiting = false;
        c.state = mix(c.state, mix(c.heard, u64::from(c.n_heard)) ^ now.0);
        (c.heard, c.n_heard) = (0, 0);
        let state = c.state;
        let mut lives = std::mem::take(&mut c.lives);
        lives.sort_unstable();
        for (i, life) in (0..).zip(lives.drain(..)) {
            if life == 0 {
                continue;
            }
            let draw = self.stream.draw([component, now.0 as u32, state as u32, i]);
            let to = draw.below(0, shape.n_components);
            let token = Token {
                value: mix(state, i.into()),
                life: life - 1,
            };
            let mut delay = u64::from(draw.below(1, 60));
            if shape.far > 0 && draw.below(2, shape.far) == 0 {
                delay =
                    ((u64::from(draw.0[2]) << 32) | u64::from(draw.0[3])) >> (20 + draw.0[0] % 34);
            }
            if to == component {
                let slot = self.keep(token);
                out.at(now + 1 + delay, Event::Token { component, slot });
            } else if shape.partition_of(to) == shape.partition_of(component) {
                let slot = self.keep(token);
                out.at(
                    now + LOOKAHEAD + delay,
                    Event::Token {
                        component: to,
                        slot,
                    },
                );
            } else {
                let event = Event::Token {
                    component: to,
                    slot: 0,
                };
                out.send(
                    shape.partition_of(to) as u16,
                    now + LOOKAHEAD + delay,
                    event,
                    token,
                );
            }
        }
        self.components[component as usize].lives = lives;
    }

    fn receive(&mut self, event: Event, token: Token) -> Event {
        match event {
            Event::Token { component, .. } => Event::Token {
                component,
                slot: self.keep(token),
            },
            Event::Edge { .. } => unreachable!("edges stay in their partition"),
        }
    }
}

/// Schedules one token for each component of this engine.
pub fn seed<Q: EventQueue<Event>, T: Transport>(
    engine: &mut Engine<Toy<Q>, T>,
    shape: Shape,
    here: std::ops::Range<u32>,
) {
    for component in 0..shape.n_components {
        let partition = shape.partition_of(component);
        if here.contains(&partition) {
            let token = Token {
                value: component.into(),
                life: shape.life,
            };
            let slot = engine.model((partition - here.start) as usize).keep(token);
            let when = Tick(u64::from(component % 5));
            engine.schedule(partition as usize, when, Event::Token { component, slot });
        }
    }
}

/// Result of a run, for comparison: digest and tokens applied, edges included.
pub type Outcome = (u64, u64);

/// Returns the outcome of a run to its very end, in steps of any length.
pub fn outcome<Q: EventQueue<Event>>(shape: Shape, threads: usize, step: u64) -> Outcome {
    let models = (0..shape.n_partitions).map(|_| Toy::new(shape)).collect();
    let mut engine = Engine::<Toy<Q>>::new(models, LOOKAHEAD, threads);
    seed(&mut engine, shape, 0..shape.n_partitions);
    while let Some(next) = engine.next_event() {
        assert!(next >= engine.now());
        engine.run_until(Tick(next.0.saturating_add(step)));
    }
    let events = engine.events();
    let digest = engine
        .into_models()
        .iter()
        .fold(0u64, |sum, m| sum.wrapping_add(m.digest()));
    (digest, events)
}
