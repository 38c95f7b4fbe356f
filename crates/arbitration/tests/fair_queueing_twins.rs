//! SCFQ and WFQ compared with reference implementations in floating point: SCFQ as its paper
//! defines it. For WFQ, a fluid system with the remaining work of each class instead of finish
//! tags.

use std::collections::VecDeque;

use netloom_arbitration::{Head, N_QUEUES, Policy, Scfq, SlEntry, View, Wfq};
use netloom_units::{Sl, Tick, Vl};
use proptest::prelude::*;

const N_CLASSES: usize = 4;

/// The fluid system: the remaining bytes of each class, and its virtual time.
#[derive(Default)]
struct Fluid {
    work: [f64; N_CLASSES],
    time: f64,
}

impl Fluid {
    fn send(&mut self, bytes: f64, weights: &[u16; N_CLASSES]) {
        let mut left = bytes;
        loop {
            let busy: Vec<usize> = (0..N_CLASSES).filter(|&c| self.work[c] > 1e-7).collect();
            let sum: f64 = busy.iter().map(|&c| f64::from(weights[c])).sum();
            if busy.is_empty() || left < 1e-7 {
                return;
            }
            // Until the first class has no more work, or the packet ends.
            let until = |c: usize| self.work[c] * sum / f64::from(weights[c]);
            let part = busy.iter().map(|&c| until(c)).fold(left, f64::min);
            for &class in &busy {
                self.work[class] -= part * f64::from(weights[class]) / sum;
            }
            self.time += part / sum;
            left -= part;
        }
    }
}

/// A waiting packet: its head and its finish tag.
struct Waiting {
    head: Head,
    finish: f64,
}

#[derive(Clone, Debug)]
enum Step {
    /// A packet of a class joins a queue.
    Join(u8, u8, u32),
    /// These queues may send, if they have a packet.
    Send(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let join = (0u8..6, 0u8..N_CLASSES as u8, 1u32..5000)
        .prop_map(|(queue, class, bytes)| Step::Join(queue, class, bytes));
    let send = prop_oneof![3 => Just(u32::MAX), 1 => any::<u32>()].prop_map(Step::Send);
    prop::collection::vec(prop_oneof![join, send], 1..400)
}

fn check(
    policy: &dyn Policy,
    is_fluid: bool,
    weights: [u16; N_CLASSES],
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let mut arbiter = policy.build();
    let mut queues: Vec<VecDeque<Waiting>> = (0..N_QUEUES).map(|_| VecDeque::new()).collect();
    let mut last = [0.0f64; N_CLASSES];
    let mut fluid = Fluid::default();
    for (now, step) in (0..).zip(steps) {
        match *step {
            Step::Join(queue, class, bytes) => {
                let head = Head {
                    born: Tick(now),
                    bytes,
                    sl: Sl(class),
                    vl: Vl(queue),
                };
                let class = usize::from(class);
                let cost = f64::from(bytes) / f64::from(weights[class]);
                last[class] = last[class].max(fluid.time) + cost;
                fluid.work[class] += f64::from(bytes);
                let finish = last[class];
                queues[usize::from(queue)].push_back(Waiting { head, finish });
                arbiter.arrived(queue, &head);
            }
            Step::Send(mask) => {
                let mut heads = [Head::default(); N_QUEUES];
                let mut eligible = 0;
                let mut least = f64::INFINITY;
                for (at, queue) in queues.iter().enumerate() {
                    if let Some(first) = queue.front().filter(|_| mask >> at & 1 == 1) {
                        heads[at] = first.head;
                        eligible |= 1 << at;
                        least = least.min(first.finish);
                    }
                }
                let grant = arbiter.choose(&View {
                    eligible,
                    heads: &heads,
                });
                prop_assert_eq!(grant.is_some(), eligible != 0);
                let Some(grant) = grant else { continue };
                arbiter.commit(grant);
                let sent = queues[usize::from(grant.queue)].pop_front().unwrap();
                // Either may win when tags are equal except for rounding.
                prop_assert!(
                    sent.finish <= least + 0.01,
                    "sent {} before {least} at step {now}",
                    sent.finish
                );
                match is_fluid {
                    true => fluid.send(f64::from(sent.head.bytes), &weights),
                    false => fluid.time = fluid.time.max(sent.finish),
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_least_finish_tag_goes_first(
        weights in prop::array::uniform4(prop_oneof![1u16..5, 1u16..1000]),
        steps in steps(),
    ) {
        let entries = || {
            let entry = |(sl, &weight): (u8, &u16)| SlEntry { sl: Sl(sl), weight };
            (0..).zip(&weights).map(entry).collect()
        };
        check(&Scfq { weights: entries() }, false, weights, &steps)?;
        check(&Wfq { weights: entries() }, true, weights, &steps)?;
    }

    /// Parekh and Gallager: with a queue per class and nothing blocked, no packet leaves later than
    /// in the fluid system by more than the largest packet. Time is bytes sent.
    #[test]
    fn wfq_is_at_most_one_packet_behind_the_fluid_system(
        weights in prop::array::uniform4(1u16..50),
        steps in prop::collection::vec(prop::option::weighted(0.55, (0..N_CLASSES, 1u32..5000)), 1..400),
    ) {
        let entry = |(sl, &weight): (u8, &u16)| SlEntry { sl: Sl(sl), weight };
        let mut arbiter = Wfq { weights: (0..).zip(&weights).map(entry).collect() }.build();
        let mut queues: [VecDeque<Waiting>; N_CLASSES] = Default::default();
        let mut last = [0.0f64; N_CLASSES];
        let mut fluid = Fluid::default();
        // Bytes sent, and the virtual time of the fluid system at that point.
        let mut history = vec![(0u64, 0.0)];
        for step in steps {
            if let Some((class, bytes)) = step {
                let head = Head { bytes, sl: Sl(class as u8), ..Head::default() };
                last[class] = last[class].max(fluid.time) + f64::from(bytes) / f64::from(weights[class]);
                fluid.work[class] += f64::from(bytes);
                queues[class].push_back(Waiting { head, finish: last[class] });
                arbiter.arrived(class as u8, &head);
                continue;
            }
            let mut heads = [Head::default(); N_QUEUES];
            let mut eligible = 0;
            for (at, queue) in queues.iter().enumerate() {
                if let Some(first) = queue.front() {
                    heads[at] = first.head;
                    eligible |= 1 << at;
                }
            }
            let Some(grant) = arbiter.choose(&View { eligible, heads: &heads }) else { continue };
            arbiter.commit(grant);
            let sent = queues[usize::from(grant.queue)].pop_front().unwrap();
            fluid.send(f64::from(sent.head.bytes), &weights);
            let now = history.last().unwrap().0 + u64::from(sent.head.bytes);
            history.push((now, fluid.time));
            let before = history.iter().rev().find(|(then, _)| then + 5000 <= now);
            if let Some((_, time)) = before {
                prop_assert!(*time <= sent.finish + 0.01, "finished at {time}, tag {}", sent.finish);
            }
        }
    }
}
