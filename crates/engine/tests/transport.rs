//! The transport between processes, with two "processes" on two threads that communicate through a
//! channel.

mod toy;

use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};

use netloom_engine::{Engine, Message, Placement, Transport, Wheel};
use netloom_units::Tick;
use toy::{Event, LOOKAHEAD, Outcome, Shape, Token, Toy, outcome, seed};

type Mail = Vec<Message<Event, Token>>;

/// One end of a pair of processes.
struct Peer {
    placement: Placement,
    mail: (Sender<Mail>, Receiver<Mail>),
    ticks: (Sender<Tick>, Receiver<Tick>),
}

impl Transport<Toy> for Peer {
    fn placement(&self) -> Placement {
        self.placement.clone()
    }

    fn earliest(&mut self, next: Tick) -> Tick {
        self.ticks.0.send(next).expect("a peer");
        next.min(self.ticks.1.recv().expect("a peer"))
    }

    fn exchange(&mut self, sent: &mut Mail, arrived: &mut Mail, next: Tick) -> Tick {
        self.mail.0.send(std::mem::take(sent)).expect("a peer");
        arrived.append(&mut self.mail.1.recv().expect("a peer"));
        Transport::<Toy>::earliest(self, next)
    }
}

fn pair(total: usize, cut: usize) -> [Peer; 2] {
    let (mail_a, mail_b) = (channel(), channel());
    let (ticks_a, ticks_b) = (channel(), channel());
    let placement = |here: Range<usize>| Placement { here, total };
    [
        Peer {
            placement: placement(0..cut),
            mail: (mail_a.0, mail_b.1),
            ticks: (ticks_a.0, ticks_b.1),
        },
        Peer {
            placement: placement(cut..total),
            mail: (mail_b.0, mail_a.1),
            ticks: (ticks_b.0, ticks_a.1),
        },
    ]
}

fn process(peer: Peer, shape: Shape, threads: usize) -> Outcome {
    let here = peer.placement.here.clone();
    let models = here.clone().map(|_| Toy::new(shape)).collect();
    let mut engine = Engine::<Toy, Peer>::with_transport(models, LOOKAHEAD, threads, peer);
    seed(&mut engine, shape, here.start as u32..here.end as u32);
    // The same ends on both sides; the last one is after everything.
    for end in [Tick(500), Tick(501), Tick(3000), Tick::NEVER] {
        engine.run_until(end);
    }
    let events = engine.events();
    (
        engine
            .into_models()
            .iter()
            .fold(0u64, |sum, m| sum.wrapping_add(m.digest())),
        events,
    )
}

#[test]
fn two_processes_give_the_result_of_one() {
    let shape = Shape {
        n_components: 60,
        n_partitions: 1,
        periods: &[13, 10],
        life: 100,
        far: 8,
        is_scrambled: false,
    };
    let reference = outcome::<Wheel<Event>>(shape, 1, u64::MAX);
    for (total, cut) in [(2, 1), (5, 1), (5, 3)] {
        for threads in [1, 2] {
            let shape = Shape {
                n_partitions: total as u32,
                ..shape
            };
            let [a, b] = pair(total, cut);
            let (a, b) = std::thread::scope(|scope| {
                let a = scope.spawn(move || process(a, shape, threads));
                let b = process(b, shape, threads);
                (a.join().expect("a process"), b)
            });
            assert_eq!((a.0.wrapping_add(b.0), a.1 + b.1), reference);
        }
    }
}
