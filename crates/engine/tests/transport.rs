//! Several processes give the result of one. The processes are threads that communicate through
//! channels.

mod toy;

use netloom_engine::{Engine, OverRanks, SharedRanks, ThreadRank, Transport, Wheel};
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
