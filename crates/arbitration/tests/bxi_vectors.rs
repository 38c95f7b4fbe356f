//! The BXI tables packet by packet (paper 003, figures 5 and 6).

use std::collections::{BTreeMap, VecDeque};

use netloom_arbitration::{Arbiter, BxiDeficit, BxiTable, Head, Policy, SlEntry, View};
use netloom_units::{Bytes, Sl};

fn entries(pairs: &[(u8, u16)]) -> Vec<SlEntry> {
    let entry = |&(sl, weight): &(u8, u16)| SlEntry { sl: Sl(sl), weight };
    pairs.iter().map(entry).collect()
}

fn basic(pairs: &[(u8, u16)]) -> Box<dyn Arbiter> {
    let table = entries(pairs);
    let flit = Bytes(64);
    BxiTable { table, k: 1, flit }.build()
}

fn deficits(pairs: &[(u8, u16)]) -> Box<dyn Arbiter> {
    let (table, flit) = (entries(pairs), Bytes(64));
    BxiDeficit { table, k: 1, flit }.build()
}

/// Returns what is sent at t0, t1, …: queue and flits. `later` joins a queue at an instant.
fn sequence(
    mut arbiter: Box<dyn Arbiter>,
    queues: &[&[u32]],
    later: BTreeMap<usize, (usize, u32)>,
) -> Vec<(u8, u32)> {
    let mut queues: Vec<VecDeque<u32>> =
        queues.iter().map(|q| q.iter().copied().collect()).collect();
    let mut sent = vec![];
    for t in 0.. {
        if let Some(&(queue, flits)) = later.get(&t) {
            queues[queue].push_back(flits);
        }
        let mut heads = [Head::default(); 32];
        let mut eligible = 0;
        for (at, queue) in queues.iter().enumerate() {
            heads[at].sl = Sl(at as u8);
            if let Some(flits) = queue.front() {
                heads[at].bytes = flits * 64;
                eligible |= 1 << at;
            }
        }
        let view = View {
            eligible,
            heads: &heads,
        };
        let Some(grant) = arbiter.choose(&view) else {
            break;
        };
        arbiter.commit(grant);
        let flits = queues[usize::from(grant.queue)].pop_front().unwrap();
        sent.push((grant.queue, flits));
    }
    sent
}

/// Quanta 2 and 2; q0 = [1, 2] and one flit more at t1; q1 = [2, 1, 1].
fn figure(arbiter: Box<dyn Arbiter>) -> Vec<(u8, u32)> {
    sequence(
        arbiter,
        &[&[1, 2], &[2, 1, 1]],
        BTreeMap::from([(1, (0, 1))]),
    )
}

const FIGURE_5: [(u8, u32); 6] = [(0, 1), (1, 2), (0, 2), (1, 1), (1, 1), (0, 1)];

#[test]
fn v003_9_figure_5() {
    assert_eq!(figure(basic(&[(0, 2), (1, 2)])), FIGURE_5);
}

#[test]
fn v003_10_figure_6() {
    let sent = figure(deficits(&[(0, 2), (1, 2)]));
    assert_eq!(sent, [(0, 1), (1, 2), (0, 2), (0, 1), (1, 1), (1, 1)]);
}

#[test]
fn v003_12_a_third_of_the_quantum() {
    // Quanta of 15, q0 has packets of 10; q1 one of 15 per turn, to mark the turns.
    let queues: [&[u32]; 2] = [&[10; 6], &[15; 4]];
    let turns = |arbiter| {
        let sent = sequence(arbiter, &queues, BTreeMap::new());
        let turns: Vec<usize> = sent
            .split(|&(queue, _)| queue == 1)
            .map(<[(u8, u32)]>::len)
            .collect();
        turns[..4].to_vec()
    };
    // One packet per turn: 5 of 15 flits are lost each time.
    assert_eq!(turns(basic(&[(0, 15), (1, 15)])), [1, 1, 1, 1]);
    // One and two packets alternately: 30 flits per two turns.
    assert_eq!(turns(deficits(&[(0, 15), (1, 15)])), [1, 2, 1, 2]);
}

#[test]
fn v003_17_one_probe_more_than_entries() {
    let sent = sequence(basic(&[(0, 2), (1, 2)]), &[&[1, 2], &[]], BTreeMap::new());
    assert_eq!(sent, [(0, 1), (0, 2)]);
}

#[test]
fn x003_6_registers_persist_while_nothing_can_be_sent() {
    let mut arbiter = deficits(&[(0, 3), (1, 3)]);
    let mut heads = [Head::default(); 32];
    for (sl, head) in (0..2).zip(&mut heads) {
        head.sl = Sl(sl);
        head.bytes = 64;
    }
    let mut sent = vec![];
    for eligible in [0b11, 0, 0b11, 0, 0b11, 0b11] {
        let view = View {
            eligible,
            heads: &heads,
        };
        if let Some(grant) = arbiter.choose(&view) {
            arbiter.commit(grant);
            sent.push(grant.queue);
        }
    }
    assert_eq!(sent, [0, 0, 0, 1]);
}
