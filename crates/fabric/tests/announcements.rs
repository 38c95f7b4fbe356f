//! The arbiter of a switch output sees every packet exactly once, in the order of its queue and
//! before the packet can be chosen; the arbiter of a NIC sees no announcement.

mod support;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use netloom_arbitration::{
    Arbiter, Fault, Grant, Head, N_QUEUES, Policy, PortContext, Speaks, View,
};
use netloom_fabric::{Options, build};
use netloom_routing::Deadlock;
use netloom_units::Tick;
use support::{Case, ending, pipeline};

/// What all arbiters of one side of a fabric saw and sent.
#[derive(Default)]
struct Ledger {
    arrived: AtomicU64,
    sent: AtomicU64,
    refused: AtomicU64,
}

/// Takes the lowest eligible queue and compares its view with the announcements.
struct Clerk {
    ledger: Arc<Ledger>,
    is_announced: bool,
    /// Rejects a packet that is alone, once: a grant of crossbar and link together is then
    /// impossible.
    refuses: bool,
    has_refused: std::cell::Cell<bool>,
    announced: [VecDeque<Head>; N_QUEUES],
}

fn is_same(one: &Head, other: &Head) -> bool {
    (one.born, one.bytes, one.sl, one.vl) == (other.born, other.bytes, other.sl, other.vl)
}

impl Arbiter for Clerk {
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        for (queue, announced) in self
            .announced
            .iter()
            .enumerate()
            .filter(|_| self.is_announced)
        {
            if view.eligible >> queue & 1 == 1 {
                let first = announced
                    .front()
                    .expect("announced before it can be chosen");
                assert!(is_same(first, &view.heads[queue]), "in the order of queues");
            }
        }
        let is_alone = self.announced.iter().map(VecDeque::len).sum::<usize>() == 1;
        if self.refuses && is_alone && !self.has_refused.replace(true) {
            self.ledger.refused.fetch_add(1, Relaxed);
            return None;
        }
        Some(Grant {
            queue: view.eligible.trailing_zeros() as u8,
            registers: [0; 6],
        })
    }

    fn commit(&mut self, grant: Grant) {
        self.announced[usize::from(grant.queue)].pop_front();
        self.has_refused.set(false);
        self.ledger.sent.fetch_add(1, Relaxed);
    }

    fn arrived(&mut self, queue: u8, head: &Head) {
        assert_eq!(head.vl.0, queue, "a queue of a switch output is a lane");
        self.announced[usize::from(queue)].push_back(*head);
        self.ledger.arrived.fetch_add(1, Relaxed);
    }

    fn save(&self, _out: &mut Vec<u64>) {
        unreachable!("these fabrics are not saved");
    }

    fn restore(&mut self, _from: &mut &[u64]) -> Option<()> {
        None
    }
}

struct Clerks {
    ledger: Arc<Ledger>,
    is_announced: bool,
    refuses: bool,
}

impl Policy for Clerks {
    fn build(&self) -> Box<dyn Arbiter> {
        Box::new(Clerk {
            ledger: self.ledger.clone(),
            is_announced: self.is_announced,
            refuses: self.refuses,
            has_refused: std::cell::Cell::new(false),
            announced: std::array::from_fn(|_| VecDeque::new()),
        })
    }
    fn faults(&self, _context: &PortContext) -> Vec<Fault> {
        vec![]
    }
    fn speaks(&self) -> Speaks {
        Speaks::Queues
    }
    fn serves_everyone(&self) -> bool {
        false
    }
}

/// Runs until nothing happens any more, and counts.
fn count(case: &Case, refuses: bool) -> (Arc<Ledger>, netloom_fabric::Counters, u64) {
    let (at_switches, at_nics) = (Arc::new(Ledger::default()), Arc::new(Ledger::default()));
    let mut plan = case.plan();
    plan.switch_policy = Arc::new(Clerks {
        ledger: at_switches.clone(),
        is_announced: true,
        refuses,
    });
    plan.nic_policy = Arc::new(Clerks {
        ledger: at_nics.clone(),
        is_announced: false,
        refuses: false,
    });
    ending(&mut plan, 20);
    let threads = case.partitions;
    let mut run = build(
        &plan,
        Options {
            threads,
            ..Options::default()
        },
    );
    let mut end = 0;
    while run.next_event().is_some() {
        end += 10_000;
        assert!(end < 50_000_000, "the fabric comes to rest");
        run.run_until(Tick(end));
    }
    let counters = run.counters();
    assert_eq!(at_nics.arrived.load(Relaxed), 0, "a NIC announces nothing");
    assert_eq!(at_nics.sent.load(Relaxed), counters.injected);
    assert_eq!(
        at_switches.arrived.load(Relaxed),
        counters.packet_hops,
        "one announcement for every packet and output"
    );
    (at_switches, counters, run.in_flight())
}

/// Everything is sent, on both paths to the link: together with the crossbar, and from the buffer.
/// (A crossbar at the pace of the links leaves nothing in output buffers, so these cases have a
/// speed-up.)
fn every_packet_once(case: &Case) {
    let (ledger, counters, in_flight) = count(case, false);
    assert_eq!(in_flight, 0);
    assert_eq!(ledger.sent.load(Relaxed), counters.packet_hops);
    let buffered = counters.packet_hops - counters.fused;
    assert!(
        counters.fused > 100 && buffered > 100,
        "{} and {buffered} are too few to tell",
        counters.fused
    );
}

#[test]
fn at_a_light_load() {
    every_packet_once(&Case {
        load: 0.3,
        flits: vec![1, 8],
        speedup: (2, 1),
        ..Case::tree(4, 2)
    });
}

#[test]
fn at_full_load() {
    every_packet_once(&Case {
        load: 1.0,
        flits: vec![1, 8, 32],
        speedup: (2, 1),
        ..Case::tree(2, 3)
    });
}

#[test]
fn with_stages_and_tight_buffers() {
    every_packet_once(&Case {
        load: 0.8,
        flits: vec![1, 8, 16],
        input: 16,
        output: 16,
        speedup: (3, 2),
        pipeline: pipeline(1, 2, 1, 2, 3, 1),
        ..Case::tree(4, 2)
    });
}

#[test]
fn across_partitions() {
    every_packet_once(&Case {
        load: 0.7,
        speedup: (2, 1),
        partitions: 3,
        ..Case::tree(4, 2)
    });
}

#[test]
fn on_rings() {
    every_packet_once(&Case {
        load: 0.4,
        flits: vec![4],
        input: 16,
        output: 12,
        speedup: (2, 1),
        ..Case::torus(&[4, 4], 1, 1, Deadlock::Bubble)
    });
}

/// An arbiter may idle. A packet that was announced at its grant then reaches the output buffer
/// after all, and is not announced again.
#[test]
fn a_packet_that_was_refused_is_not_announced_again() {
    let case = Case {
        load: 0.2,
        flits: vec![1, 8],
        ..Case::tree(4, 2)
    };
    let (ledger, counters, _) = count(&case, true);
    assert!(ledger.refused.load(Relaxed) > 100);
    // The rest waits at its output for an event that never comes: at most one packet each.
    let left = counters.packet_hops - ledger.sent.load(Relaxed);
    assert!(left * 2 < counters.packet_hops, "{left} left");
}
