//! Adaptive routings, marks, acknowledgements, windows and programs with crossbar switches: the
//! model delivers every packet at the same tick as its flit-by-flit reference implementation.

mod compare;
mod support;
mod twin;

use std::sync::Arc;

use netloom_fabric::{Cuts, LinkTiming, QueueScheme, Window};
use netloom_routing::Policy::{CurrentRouter, Mixed};
use netloom_routing::{Choice, DModK, Deadlock, Routing};
use netloom_traffic::Bursts;
use netloom_traffic::programs::{ComputeLaw, Computing};
use proptest::prelude::*;
use support::architectures::Centre;
use support::endpoints::{WINDOW, ecmp, par, par_ugal, ugal, ugal_global};
use support::tables::{bxi_table, deficit_table, scfq, several_lanes_per_level};
use support::{Case, drains, ending, pipeline, two_tables};
use twin::{Counts, Twin};

use QueueScheme::{OneQueue, VoqNet, VoqSwitch};

type SharedRouting = Arc<dyn Routing + Send + Sync>;

fn fly(routing: SharedRouting) -> Case {
    Case::dragonfly((2, 2, 1), routing)
}

fn large_fly(routing: SharedRouting) -> Case {
    Case {
        until: 1_200,
        ..Case::dragonfly((2, 4, 2), routing)
    }
}

/// A tree with a choice among equivalent paths.
fn choosing(choice: Choice) -> Case {
    Case {
        routing: ecmp(choice),
        ..tree()
    }
}

fn tree() -> Case {
    Case {
        flits: vec![1, 4, 8],
        load: 0.9,
        vls: 2,
        until: 3_000,
        ..Case::tree(4, 2)
    }
}

/// Messages of several packets.
fn cut(case: Case) -> Case {
    Case {
        flits: vec![1, 5, 30],
        mtu: Some(8),
        ..case
    }
}

fn links(case: Case, timings: &[(u64, u64)]) -> Case {
    let timing = |&(flit, delay): &(u64, u64)| LinkTiming { flit, delay };
    Case {
        links: timings.iter().map(timing).collect(),
        ..case
    }
}

/// Clocks of 10 and 13 ticks.
fn odd_clocks(case: Case) -> Case {
    let until = case.until * 10;
    let links = case.links.iter().map(|link| LinkTiming {
        flit: 13,
        delay: link.delay * 13,
    });
    Case {
        links: links.collect(),
        period: 10,
        pipeline: pipeline(1, 2, 1, 1, 2, 1),
        until,
        ..case
    }
}

fn once() -> Window {
    Window {
        cuts: Cuts::OncePerWindow,
        ..WINDOW
    }
}

/// Just enough for the largest packet, growing at odd ticks.
fn narrow() -> Window {
    Window {
        most: 12,
        least: 8,
        step: 37,
        ..WINDOW
    }
}

fn exchange(case: Case) -> Case {
    let n = if case.vls > 1 { 8 } else { 6 };
    case.exchanging(n, 1, 8, 40)
}

/// The same, and ranks compute.
fn compute(case: Case, computing: Computing) -> Case {
    let n = if case.vls > 1 { 8 } else { 6 };
    case.exchanging_and(n, 1, 8, 40, Some(computing))
}

fn computing(mean: u64, law: ComputeLaw) -> Computing {
    Computing::new(mean, law, 5, 0)
}

/// Bursts to a busy receiver. With PAUSE a sender learns the queue there when nothing waits any
/// more at its own outputs, so the time of its announcements matters.
fn bursts(messages: u32, every: u32, delay: u64) -> Case {
    let case = Case {
        arrival: Arc::new(Bursts { messages }),
        flits: vec![8],
        load: 0.15,
        until: 5_000,
        ..fly(ugal_global(0, every)).hot(3, 0.5)
    };
    links(case, &[(1, 5), (1, delay), (1, delay)]).pfc(200, 190)
}

// Adaptive routings.
twins! {
    ugal_local: fly(ugal(0));
    ugal_threshold: Case { load: 0.6, ..fly(ugal(12)) };
    ugal_hot: fly(ugal(4)).hot(3, 0.5);
    ugal_large: large_fly(ugal(4));
    ugal_two_levels: Case { vls: 2, ..fly(ugal(2)) };
    ugal_no_delay: links(fly(ugal(0)), &[(1, 0)]);
    ugal_odd_clocks: odd_clocks(fly(ugal(4)));
    ugal_stages: Case { pipeline: pipeline(2, 3, 4, 5, 6, 7), ..fly(ugal(0)) };
    ugal_no_stages: Case { pipeline: pipeline(0, 0, 0, 1, 0, 0), ..fly(ugal(0)) };
    ugal_tight: Case { input: 8, output: 8, load: 1.0, ..fly(ugal(0)) };
    ugal_pooled: Case { input: 10, output: 9, pooled: true, load: 1.0, ..fly(ugal(0)) };
    ugal_speedup: Case { speedup: (2, 1), ..fly(ugal(0)) };
    ugal_voq_islip: fly(ugal(0)).queues(VoqSwitch).islip(2);
    ugal_input_queued: fly(ugal(0)).input_queued().queues(VoqSwitch).islip(2);
    ugal_input_queued_separable: fly(ugal(0)).input_queued();
    ugal_pfc: fly(ugal(0)).pfc(16, 8);
    ugal_pfc_long: links(fly(ugal(0)), &[(1, 5), (1, 20), (1, 70)]).pfc(12, 4);
    ugal_input_queued_pfc: fly(ugal(0)).input_queued().queues(VoqSwitch).pfc(16, 8);
    ugal_queue_credits: Case { vls: 1, ..fly(ugal(0)) }.queues(VoqNet).queue_credits(16);
    ugal_input_queued_queue_credits: fly(ugal(0)).input_queued().queues(VoqNet).queue_credits(16);
    ugal_hierarchical: large_fly(ugal(0)).hierarchical(Centre::default());
    par_ugal_local: fly(par_ugal(0));
    par_ugal_large: large_fly(par_ugal(4));
    par_ugal_hot: large_fly(par_ugal(2)).hot(9, 0.5);
    par_ugal_pfc: large_fly(par_ugal(2)).pfc(16, 8);
    par_ugal_hierarchical: large_fly(par_ugal(2)).hierarchical(Centre { ports: 3, links: 1, to: (1, 1), from: (2, 1), ..Centre::default() });
    par_any: fly(par(0, 100, Mixed));
    par_odd_clocks: odd_clocks(fly(par(0, 100, CurrentRouter)));
    par_large: large_fly(par(0, 100, Mixed));
    par_current_router: large_fly(par(0, 100, CurrentRouter));
    par_relative: Case { load: 1.0, ..large_fly(par(20, 80, Mixed)) };
    par_hot: large_fly(par(0, 60, Mixed)).hot(9, 0.5);
    par_pooled: Case { input: 30, output: 20, pooled: true, load: 1.0, ..large_fly(par(10, 90, Mixed)) };
    par_pfc: large_fly(par(5, 90, Mixed)).pfc(16, 8);
    par_queue_credits: Case { vls: 1, ..large_fly(par(0, 100, Mixed)) }.queues(VoqNet).queue_credits(16);
    par_input_queued: large_fly(par(0, 100, Mixed)).input_queued().queues(VoqSwitch).islip(2);
    par_input_queued_pfc: large_fly(par(0, 100, Mixed)).input_queued().queues(VoqSwitch).pfc(16, 8);
    par_two_levels: Case { vls: 2, ..large_fly(par(0, 100, Mixed)) };
    global_always: fly(ugal_global(0, 1));
    global_sometimes: fly(ugal_global(4, 7));
    global_rarely: large_fly(ugal_global(0, 60)).hot(9, 0.3);
    global_large: large_fly(ugal_global(2, 3));
    global_odd_clocks: odd_clocks(fly(ugal_global(0, 3)));
    global_pfc: links(fly(ugal_global(0, 2)), &[(1, 5), (1, 20), (1, 70)]).pfc(12, 4);
    global_bursts: bursts(4, 1, 8);
    global_bursts_rarely: bursts(4, 7, 40);
    global_long_bursts: bursts(30, 1, 8);
    global_light: Case { load: 0.1, until: 5_000, ..fly(ugal_global(0, 5)) };
    global_input_queued: fly(ugal_global(0, 4)).input_queued().queues(VoqSwitch);
    global_hierarchical: large_fly(ugal_global(0, 4)).hierarchical(Centre::default());
    least: choosing(Choice::Least);
    least_of_two: choosing(Choice::LeastOf2);
    least_three_levels: Case { load: 0.8, routing: ecmp(Choice::Least), ..Case::tree(2, 3) };
    least_hot: choosing(Choice::Least).hot(6, 0.5);
    least_pfc: choosing(Choice::Least).pfc(16, 8);
    least_pause: choosing(Choice::Least).pause(16, 8);
    least_of_two_pfc: choosing(Choice::LeastOf2).hot(6, 0.5).pfc(2, 0);
    least_input_queued: choosing(Choice::Least).input_queued().queues(VoqSwitch).islip(2);
    least_hierarchical: choosing(Choice::Least).hierarchical(Centre::default());
    least_slow_centre: choosing(Choice::Least).hierarchical(Centre { ports: 3, links: 2, to: (1, 2), from: (1, 1), flits: 16, pooled: true, ..Centre::default() });
    least_slow_mports: links(Case { speedup: (2, 3), ..choosing(Choice::LeastOf2) }, &[(2, 5), (1, 9)]).hierarchical(Centre::default());
    least_mixed_links: links(choosing(Choice::Least), &[(2, 9), (1, 21)]);
    least_slow_switch_clock: links(Case { period: 7, speedup: (3, 1), until: 9_000, ..choosing(Choice::Least) }, &[(3, 7)]);
    least_scfq: Case { policy: scfq(), vls: 4, ..choosing(Choice::Least) };
    spray: choosing(Choice::Spray);
    hash: choosing(Choice::Hash);
}

// Acknowledgements, marks, windows.
twins! {
    answers: tree().acknowledging(1);
    answers_of_three: cut(tree()).acknowledging(3);
    answers_odd_clocks: odd_clocks(tree().acknowledging(2));
    answers_slow_switch_clock: links(Case { period: 7, speedup: (3, 1), until: 9_000, ..tree() }, &[(3, 7)]).acknowledging(1);
    answers_mixed_links: links(tree(), &[(3, 9), (2, 21)]).acknowledging(2);
    answers_tight: Case { input: 8, output: 8, load: 1.0, ..tree() }.acknowledging(8);
    answers_pfc: tree().acknowledging(1).pfc(4, 2);
    answers_pfc_hot: tree().hot(6, 0.5).acknowledging(2).pfc(0, 0);
    answers_queue_credits: tree().queues(VoqSwitch).acknowledging(1).queue_credits(10);
    answers_per_destination: tree().queues(VoqSwitch).acknowledging(1).per_destination(16);
    answers_per_destination_pfc: tree().hot(6, 0.5).acknowledging(1).per_destination(16).pfc(16, 8);
    answers_input_queued: tree().input_queued().queues(VoqSwitch).islip(2).acknowledging(1);
    answers_hierarchical: tree().acknowledging(1).hierarchical(Centre::default());
    answers_changing_channels: Case { channels: several_lanes_per_level(), changes: true, vls: 5, ..tree() }.acknowledging(1);
    windows_changing_channels: Case { channels: several_lanes_per_level(), changes: true, vls: 5, ..tree() }.hot(6, 0.5).controlled(&[8], WINDOW);
    answers_several_lanes: Case { channels: several_lanes_per_level(), vls: 5, ..tree() }.acknowledging(1);
    answers_two_classes_a_level: Case { classes_per_level: 2, ..tree() }.acknowledging(1);
    answers_bxi: Case { policy: bxi_table(), vls: 4, ..tree() }.acknowledging(2);
    answers_torus: Case { flits: vec![1, 8], vls: 1, load: 0.5, ..Case::torus(&[4, 4], 1, 1, Deadlock::Dateline) }.acknowledging(1);
    answers_bubble: Case { flits: vec![4], input: 16, output: 12, load: 0.4, ..Case::torus(&[4, 4], 1, 1, Deadlock::Bubble) }.acknowledging(2);
    marks_only: Case { marks_above: vec![6], ..tree().acknowledging(1) };
    windows: tree().hot(6, 0.5).controlled(&[10], WINDOW);
    windows_without_marks: tree().hot(6, 0.5).controlled(&[], WINDOW);
    windows_narrow: tree().controlled(&[4], narrow());
    windows_once: tree().hot(6, 0.75).controlled(&[6], once());
    windows_of_packets: cut(tree()).hot(6, 0.5).controlled(&[10], WINDOW);
    windows_odd_clocks: odd_clocks(tree().hot(6, 0.5).controlled(&[10], Window { step: 77, ..narrow() }));
    windows_growing_each_tick: links(tree().hot(6, 0.5).controlled(&[0], Window { step: 1, ..narrow() }), &[(3, 11)]);
    windows_mixed_links: links(tree(), &[(3, 9), (2, 21)]).hot(6, 0.5).controlled(&[6, 12], once());
    windows_tight: Case { input: 8, output: 8, load: 1.0, ..tree() }.hot(6, 0.5).controlled(&[0], WINDOW);
    windows_four_levels: Case { vls: 4, policy: deficit_table(), ..tree() }.hot(6, 0.5).controlled(&[8], WINDOW);
    windows_two_classes_a_level: Case { classes_per_level: 2, ..tree() }.controlled(&[8], narrow());
    windows_several_lanes: Case { channels: several_lanes_per_level(), vls: 5, ..tree() }.hot(6, 0.5).controlled(&[8], WINDOW);
    windows_bursts: Case { arrival: Arc::new(Bursts { messages: 8 }), ..tree() }.controlled(&[8], narrow());
    windows_pfc: tree().hot(6, 0.5).controlled(&[8], WINDOW).pfc(16, 8);
    windows_queue_credits: tree().queues(VoqNet).controlled(&[8], WINDOW).queue_credits(16);
    windows_one_queue: tree().hot(6, 0.5).queues(OneQueue).controlled(&[8], WINDOW);
    windows_input_queued: tree().hot(6, 0.5).input_queued().queues(VoqSwitch).islip(3).controlled(&[8], WINDOW);
    windows_input_queued_pfc: tree().hot(6, 0.5).input_queued().controlled(&[8], WINDOW).pfc(4, 2);
    windows_hierarchical: tree().hot(6, 0.5).controlled(&[8], WINDOW).hierarchical(Centre::default());
    windows_slow_centre: tree().hot(6, 0.5).controlled(&[8], WINDOW).hierarchical(Centre { ports: 3, links: 2, to: (1, 2), from: (1, 1), ..Centre::default() });
    windows_two_tables: Case { policy: two_tables(2, 1), ..tree() }.hot(6, 0.5).controlled(&[8], WINDOW);
    windows_one_switch: Case { flits: vec![1, 4, 8], load: 1.0, until: 3_000, ..Case::single(8) }.hot(3, 0.5).controlled(&[6], WINDOW);
    windows_seeing: choosing(Choice::Least).hot(6, 0.5).controlled(&[8], WINDOW);
    windows_par_ugal: large_fly(par_ugal(2)).hot(9, 0.5).controlled(&[8, 12, 20], WINDOW);
    windows_par: large_fly(par(0, 100, Mixed)).hot(9, 0.5).controlled(&[8, 12, 20], WINDOW);
    windows_global: fly(ugal_global(0, 3)).hot(3, 0.5).controlled(&[8], once());
    windows_par_ugal_pfc: large_fly(par_ugal(2)).hot(9, 0.5).controlled(&[8], WINDOW).pfc(16, 8);
    send_queues: Case { vls: 1, ..tree() }.send_queues();
    send_queues_packets: cut(Case { vls: 1, ..tree() }).send_queues();
    send_queues_of_levels: tree().send_queues();
    send_queues_several_lanes: Case { channels: several_lanes_per_level(), vls: 5, ..tree() }.send_queues();
    send_queues_windows: Case { vls: 1, ..tree() }.hot(6, 0.5).send_queues().controlled(&[8], WINDOW);
    send_queues_windows_of_levels: tree().hot(6, 0.5).send_queues().controlled(&[8], once());
    send_queues_pfc: Case { vls: 1, ..tree() }.hot(6, 0.5).send_queues().pfc(4, 2);
}

// Programs.
twins! {
    program: exchange(Case { vls: 1, ..tree() });
    program_beside_traffic: exchange(tree());
    program_of_packets: exchange(cut(tree()));
    program_beside_its_level: exchange(Case { vls: 1, classes_per_level: 2, ..tree() });
    program_odd_clocks: odd_clocks(exchange(Case { load: 0.5, ..tree() }));
    program_answered: exchange(tree().acknowledging(1));
    program_windows: exchange(cut(tree()).controlled(&[8], narrow()));
    program_windows_beside_its_level: exchange(Case { classes_per_level: 2, ..tree() }.controlled(&[8], narrow()));
    program_send_queues: exchange(cut(Case { vls: 1, classes_per_level: 2, ..tree() }).send_queues());
    program_sprayed: exchange(cut(choosing(Choice::Spray)));
    program_seeing: exchange(cut(choosing(Choice::Least)).acknowledging(1));
    program_par_ugal: exchange(cut(large_fly(par_ugal(0))));
    program_pfc: exchange(cut(tree()).acknowledging(2)).pfc(8, 4);
    program_pause: exchange(cut(tree()).acknowledging(2)).pause(8, 4);
    program_input_queued: exchange(cut(tree()).input_queued().queues(VoqSwitch));
    program_hierarchical: exchange(tree().hierarchical(Centre::default()));
    program_computing: compute(Case { vls: 1, ..tree() }, computing(40, ComputeLaw::Constant));
    program_computing_drawn: compute(cut(tree()).acknowledging(1), computing(25, ComputeLaw::Exponential));
    program_computing_odd_clocks: odd_clocks(compute(Case { load: 0.5, ..tree() }, computing(7, ComputeLaw::Uniform)));
    program_per_destination: exchange(Case { routing: Arc::new(DModK {}), ..cut(tree()) }.per_destination(16));
}

/// The cases show the behaviour that they test.
#[test]
fn there_is_something_to_see() {
    let fly = compare::counted(&fly(ugal(0)));
    assert!(fly.seeing > 1_000 && fly.diverted > 100, "{fly:?}");
    let global = compare::counted(&self::fly(ugal_global(4, 7)));
    assert!(global.announced > 100 && global.diverted > 20, "{global:?}");
    let least = compare::counted(&choosing(Choice::Least));
    assert!(least.diverted > 100, "{least:?}");
    let windows = compare::counted(&tree().hot(6, 0.5).controlled(&[10], WINDOW));
    let Counts {
        answers,
        marks,
        cuts,
        parked,
        ..
    } = windows;
    let all = [answers, marks, cuts, parked];
    assert!(all.iter().all(|&n| n > 100), "{windows:?}");
    let once = compare::counted(&tree().hot(6, 0.75).controlled(&[6], once()));
    assert!(once.cuts > 20 && once.cuts * 2 < once.marks, "{once:?}");
    let program = compare::counted(&exchange(tree()));
    assert!(program.program_sends > 100, "{program:?}");
    let computed = compare::counted(&compute(tree(), computing(20, ComputeLaw::Exponential)));
    assert!(computed.computations > 50, "{computed:?}");
}

/// Both come to rest: everything is answered, and no count remains.
fn rests(case: &Case) {
    drains(case, 6);
    let mut plan = case.plan();
    ending(&mut plan, 6);
    let mut slow = Twin::new(&plan);
    slow.run_until(case.until);
    assert!(
        slow.delivered > 100 && slow.is_idle(),
        "the reference comes to rest"
    );
    if slow.acknowledges() {
        assert_eq!(2 * slow.counts.answers, slow.delivered, "one for each");
    }
}

#[test]
fn everything_is_answered_and_nothing_stays_counted() {
    rests(&large_fly(ugal_global(0, 3)));
    rests(&choosing(Choice::Least).hot(6, 0.5).pfc(4, 2));
    rests(&cut(tree()).controlled(&[6], once()));
    rests(&cut(tree()).send_queues().controlled(&[6], narrow()));
    rests(
        &choosing(Choice::LeastOf2)
            .hierarchical(Centre::default())
            .acknowledging(3),
    );
    rests(
        &fly(ugal(0))
            .input_queued()
            .queues(VoqSwitch)
            .acknowledging(1),
    );
}

#[test]
fn partitions_do_not_matter() {
    compare::any_partitions(&large_fly(ugal_global(0, 3)));
    compare::any_partitions(&choosing(Choice::Least).hot(6, 0.5).pfc(4, 2));
    compare::any_partitions(&cut(tree()).hot(6, 0.5).controlled(&[10], once()));
    compare::any_partitions(&exchange(
        cut(choosing(Choice::LeastOf2)).controlled(&[8], WINDOW),
    ));
    compare::any_partitions(&large_fly(par(0, 100, Mixed)).hot(9, 0.5));
    compare::any_partitions(&large_fly(par_ugal(2)).hot(9, 0.5).controlled(&[8], WINDOW));
}

/// Any topology with a routing, the first half of them adaptive.
fn fabric(shape: usize, threshold: u32, every: u32) -> Case {
    let case = match shape {
        0 => Case::dragonfly((1, 2, 1), ugal(threshold)),
        1 => fly(ugal_global(threshold, every)),
        2 if every.is_multiple_of(2) => fly(par(threshold as u8, 90, Mixed)),
        2 => fly(par_ugal(threshold)),
        3 => Case::dragonfly((1, 3, 1), ugal_global(threshold, every)),
        4 => Case {
            routing: ecmp(Choice::Least),
            ..Case::tree(3, 2)
        },
        5 => Case {
            routing: ecmp(Choice::LeastOf2),
            ..Case::tree(2, 3)
        },
        6 => Case::single(7),
        7 => Case::tree(2, 3),
        8 => Case {
            routing: ecmp(Choice::Spray),
            ..Case::tree(3, 2)
        },
        _ => Case::torus(&[4, 3], 1, 1, Deadlock::Dateline),
    };
    Case {
        topology: case.topology,
        routing: case.routing,
        ..Case::tree(2, 2)
    }
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    acknowledgement: u16,
    above: [u32; 2],
    marks: bool,
    has_window: bool,
    most: u32,
    step: u64,
    once: bool,
    send_queues: bool,
    program: bool,
    computing: Option<(u64, bool)>,
}

fn ends() -> impl Strategy<Value = Ends> {
    let flags = (
        any::<bool>(),
        prop::bool::weighted(0.7),
        any::<bool>(),
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.3),
    );
    let computing = prop::option::of((0u64..60, any::<bool>()));
    let numbers = (0u16..5, [0u32..40, 0u32..40], 0u32..50, 1u64..60);
    (numbers, flags, computing).prop_map(
        |((acknowledgement, above, most, step), flags, computing)| Ends {
            acknowledgement,
            above,
            marks: flags.0,
            has_window: flags.1,
            most,
            step,
            once: flags.2,
            send_queues: flags.3,
            program: flags.4,
            computing,
        },
    )
}

impl Ends {
    /// A case with these endpoints.
    fn on(self, case: Case, largest: u32) -> Case {
        let mut case = case;
        if self.send_queues {
            case = case.send_queues();
        }
        if self.acknowledgement > 0 {
            case = case.acknowledging(self.acknowledgement);
            if self.marks {
                case.marks_above = self.above.to_vec();
            }
            if self.has_window {
                case.window = Some(Window {
                    most: largest + self.most,
                    least: largest,
                    cut: (4, 5),
                    cuts: [Cuts::EveryMark, Cuts::OncePerWindow][usize::from(self.once)],
                    step: self.step,
                });
            }
        }
        if self.program {
            let n_nics = case.plan().topology.n_nics();
            let computing = self.computing.map(|(mean, is_drawn)| match is_drawn {
                true => computing(mean, ComputeLaw::Exponential),
                false => computing(mean, ComputeLaw::Constant),
            });
            case = case.exchanging_and(n_nics.min(5), 1, largest, 30, computing);
        }
        case
    }
}

proptest! {
    #![proptest_config(support::cases(96))]

    #[test]
    fn any_endpoints_equal_their_twin(
        (shape, architecture, flow_control) in (0usize..10, 0u8..4, 0u8..4),
        (threshold, every) in (0u32..20, 1u32..40),
        (period, flits) in (1u64..5, [1u64..6, 1u64..6, 1u64..6]),
        delays in [0u64..40, 0u64..40, 0u64..80],
        (num, den) in (1u32..4, 1u32..3),
        stages in (0u64..3, 0u64..4, 0u64..3, 1u64..4, 0u64..4, 0u64..4),
        sizes in proptest::collection::vec(1u64..20, 1..4),
        (input, output, pooled, mtu) in (0u32..40, 0u32..40, any::<bool>(), prop::option::of(4u64..12)),
        (voq, islip, xoff) in (any::<bool>(), 0u8..3, 0u32..40),
        (vls, classes_per_level, arbiter) in (1u8..4, 1u8..3, 0u8..4),
        (load, hot, seed) in (0.2f64..1.0, any::<bool>(), 0u64..1000),
        (is_stored, per_lane, changes, awaits_tail) in (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
        ends in ends(),
    ) {
        // A hierarchical switch has a queue per lane and a stage before its first allocation, an
        // input-queued one no pool.
        let (is_input_queued, is_hierarchical) = (architecture == 2, architecture == 3);
        let base = fabric(shape, threshold, every);
        // There are 15 lanes for data.
        let vls = vls.min(15 / base.plan().forwarding.lanes());
        let link = |class: usize| LinkTiming {
            flit: flits[if is_input_queued { 0 } else { class }],
            delay: delays[class],
        };
        let message = *sizes.iter().max().unwrap();
        let largest = u32::try_from(mtu.map_or(message, |mtu| mtu.min(message))).unwrap();
        let room = largest.max(u32::from(ends.acknowledgement));
        let mut case = Case {
            links: (0..3).map(link).collect(),
            period,
            speedup: (num, den),
            start: support::start(is_stored),
            pipeline: pipeline(stages.0 + u64::from(is_hierarchical), stages.1, stages.2, stages.3, stages.4, stages.5),
            flits: sizes,
            mtu,
            input: room + input,
            output: room + output,
            pooled: pooled && !is_input_queued,
            queues: if voq && !is_hierarchical { VoqSwitch } else { QueueScheme::PerVl },
            vls,
            changes: changes && !base.plan().forwarding.bubble(),
            classes_per_level,
            policy: match arbiter {
                0 | 1 => base.policy.clone(),
                2 => bxi_table(),
                _ => two_tables(vls, 1),
            },
            load,
            seed,
            until: 3_000,
            ..base
        };
        if is_input_queued {
            case = case.input_queued();
        }
        if islip > 0 && !is_hierarchical {
            case = case.islip(islip);
        }
        if hot {
            case = case.hot(1, 0.5);
        }
        case = ends.on(case, largest);
        case = match flow_control {
            1 if !is_hierarchical => case.pfc(xoff, xoff / 2),
            // Lanes that a routing keeps apart are one with PAUSE, and may wait for each other.
            3 if !is_hierarchical && case.plan().forwarding.lanes() == 1 => case.pause(xoff, xoff / 2),
            2 if !is_hierarchical => case.queues(VoqNet).queue_credits(room + input),
            _ => case,
        };
        if is_hierarchical {
            let centre = Centre { ports: 2, links: 1, to: (num, den), from: (den, num), flits: room + input, pooled, start: support::central_start(awaits_tail) };
            case = case.hierarchical(centre);
        }
        if per_lane && case.may_cross_by_lane() {
            case.input_ports = support::input_ports(true);
        }
        let outcome = compare::difference(&case);
        prop_assert!(outcome.is_ok(), "{:?}", outcome);
    }
}
