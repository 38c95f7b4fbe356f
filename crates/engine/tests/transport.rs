//! Several processes give the result of one. The processes are threads that communicate through
//! channels.

mod toy;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use netloom_engine::{
    Engine, Local, OverRanks, Placement, SharedRanks, ThreadRank, Transport, Wheel,
};
use netloom_units::Tick;
use toy::{Event, LOOKAHEAD, Outcome, Shape, Toy, outcome, seed};

fn process(rank: ThreadRank, shape: Shape, threads: usize) -> Outcome {
    let n = shape.n_partitions as u16;
    let pairs = (0..n).flat_map(|one| (0..one).map(move |other| (one, other)));
    let transport = OverRanks::new(SharedRanks::new(rank), n.into(), pairs);
    let here = transport.placement().here;
    let models = here.clone().map(|_| Toy::new(shape)).collect();
    let mut engine = Engine::<Toy, _>::with_transport(models, LOOKAHEAD, threads, transport);
    seed(&mut engine, shape, here.start as u32..here.end as u32);
    // The same ends on all ranks; the last one is after everything.
    for end in [Tick(500), Tick(501), Tick(3000), Tick::NEVER] {
        engine.run_until(end);
    }
    let events = engine.events();
    let models = engine.into_models();
    let digest = models
        .iter()
        .fold(0u64, |sum, m| sum.wrapping_add(m.digest()));
    (digest, events)
}

#[test]
fn several_processes_give_the_result_of_one() {
    let shape = Shape {
        n_components: 60,
        n_partitions: 1,
        periods: &[13, 10],
        life: 30,
        far: 8,
        is_scrambled: false,
    };
    let reference = outcome::<Wheel<Event>>(shape, 1, u64::MAX);
    for (n_partitions, n_ranks) in [(2, 2), (5, 2), (7, 3)] {
        for threads in [1, 2] {
            let shape = Shape {
                n_partitions,
                ..shape
            };
            let all = std::thread::scope(|scope| {
                let start = |rank| scope.spawn(move || process(rank, shape, threads));
                let ranks: Vec<_> = ThreadRank::several(n_ranks)
                    .into_iter()
                    .map(start)
                    .collect();
                let ended = ranks.into_iter().map(|rank| rank.join().expect("a rank"));
                ended.fold((0u64, 0), |(digest, events), one: Outcome| {
                    (digest.wrapping_add(one.0), events + one.1)
                })
            });
            let place = format!("{n_partitions} partitions, {n_ranks} ranks, {threads} threads");
            assert_eq!(all, reference, "{place}");
        }
    }
}

/// A single process that counts exchanges.
struct Counting {
    local: Local,
    exchanges: Arc<AtomicU32>,
}

impl Transport for Counting {
    fn placement(&self) -> Placement {
        self.local.placement()
    }

    fn ranks(&self) -> Vec<usize> {
        self.local.ranks()
    }

    fn earliest(&mut self, next: Tick) -> Tick {
        self.local.earliest(next)
    }

    fn exchange(&mut self, to: &mut [Vec<u8>], from: &mut [Vec<u8>], next: Tick) -> Tick {
        self.exchanges.fetch_add(1, Ordering::Relaxed);
        self.local.exchange(to, from, next)
    }
}

#[test]
fn pauses_do_not_add_exchanges() {
    const SHAPE: Shape = Shape {
        n_components: 20,
        n_partitions: 5,
        periods: &[1],
        life: 100,
        far: 0,
        is_scrambled: false,
    };
    let count = |threads: usize, step: u64| {
        let exchanges = Arc::new(AtomicU32::new(0));
        let transport = Counting {
            local: Local { n_partitions: 5 },
            exchanges: exchanges.clone(),
        };
        let models = (0..5).map(|_| Toy::new(SHAPE)).collect();
        let mut engine = Engine::<Toy, _>::with_transport(models, LOOKAHEAD, threads, transport);
        seed(&mut engine, SHAPE, 0..5);
        while engine.next_event().is_some() {
            engine.run_until(Tick(engine.now().0.saturating_add(step)));
        }
        // Ends the last window.
        engine.run_until(Tick::NEVER);
        exchanges.load(Ordering::Relaxed)
    };
    let expected = count(1, u64::MAX);
    assert!(expected > 100, "{expected} windows");
    for threads in [1, 2] {
        for step in [LOOKAHEAD / 3, LOOKAHEAD - 1, LOOKAHEAD, 5 * LOOKAHEAD + 1] {
            assert_eq!(count(threads, step), expected, "{threads} threads, {step}");
        }
    }
}
