//! Connections with a constant rate: each has its own destination, gap and phase.
//!
//! ```text
//!  flow 0   │····│····│····│····│····       all flows of one NIC and class are merged into one sequence:
//!  flow 1   ··│·········│·········│··       by cycle, and within a cycle by flow
//! ```
//!
//! Message `k` of a flow is created in cycle `floor(phase + k * gap)`, with phase and gap as exact
//! fractions of a cycle, so it never drifts. No state is kept between two messages. The next
//! message follows from the cycle and flow of the last one, by a few multiplications for every flow
//! of the NIC.

use netloom_packet::{Arrival, Cursor, Source};
use netloom_random::{Purpose, Stream};
use netloom_units::{Bytes, NicId, Rate, Ratio, Sl};

/// Maximum of flows per NIC and class: a packet carries their number in 8 bits.
pub const MOST_FLOWS: usize = 256;

/// Distinguishes these phases from those of other periodic sources.
const CONNECTIONS: u32 = 4;

/// A connection from the view of its source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    pub source: NicId,
    pub destination: NicId,
    /// Payload per second.
    pub bandwidth: Rate,
}

/// The common values of a set of connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowSetting {
    /// Payload of every message.
    pub payload: Bytes,
    /// Rate of the NICs' links.
    pub link: Rate,
    /// Bytes that such a link moves per cycle.
    pub flit: Bytes,
    /// Number of NICs of the fabric.
    pub n_nics: u32,
    /// Seed of the phases.
    pub seed: u64,
    /// Service level, which distinguishes the phases of several sets.
    pub sl: Sl,
}

impl FlowSetting {
    /// Returns the exact number of cycles between two messages of a flow with this bandwidth.
    ///
    /// # Panics
    /// If the bandwidth is zero.
    pub fn gap(&self, bandwidth: Rate) -> Ratio {
        let bits = |bytes: Bytes, rate: Rate| u128::from(bytes.0) * u128::from(rate.0);
        Ratio::new(bits(self.payload, self.link), bits(self.flit, bandwidth))
    }
}

/// A flow ready for the run: message `k` is created `(phase + k * gap) / den` cycles after the
/// start.
#[derive(Clone, Copy, Debug)]
struct Periodic {
    /// Smaller than the gap.
    phase: u64,
    /// At most [`LARGEST`], like `den`.
    gap: u64,
    den: u64,
    /// `2^(64 + shift) / gap`, rounded down to 64 bits: gives a quotient by multiplication, at most
    /// one too small.
    per_gap: u64,
    /// Bits of the gap, less one.
    shift: u32,
    destination: NicId,
}

/// Gaps and denominators can be doubled without overflow.
const LARGEST: u128 = 1 << 62;

impl Periodic {
    fn new(phase: u128, gap: Ratio, destination: NicId) -> Periodic {
        assert!(
            phase < gap.num() && gap.num() <= LARGEST && gap.den() <= LARGEST,
            "a gap of 62 bits"
        );
        let shift = gap.num().ilog2();
        let per_gap = (1u128 << (64 + shift)) / gap.num();
        Periodic {
            phase: phase as u64,
            gap: gap.num() as u64,
            den: gap.den() as u64,
            per_gap: u64::try_from(per_gap).unwrap_or(u64::MAX),
            shift,
            destination,
        }
    }

    /// Returns the time from the start of a cycle to the first message in or after it, in units of
    /// `1 / den` of a cycle.
    #[inline]
    fn wait(&self, cycle: u64) -> u64 {
        let reached = u128::from(cycle) * u128::from(self.den);
        let Some(since) = reached.checked_sub(u128::from(self.phase)) else {
            return self.phase - reached as u64;
        };
        // The position of the cycle within a gap; nearly always without a division.
        let into = match u64::try_from(since) {
            Ok(since) => {
                let product = u128::from(since) * u128::from(self.per_gap);
                let number = (product >> 64) as u64 >> self.shift;
                let into = since - number * self.gap;
                if into >= self.gap {
                    into - self.gap
                } else {
                    into
                }
            }
            Err(_) => (since % u128::from(self.gap)) as u64,
        };
        if into == 0 { 0 } else { self.gap - into }
    }
}

/// Connections of one class, ready for the run.
pub struct Connections {
    /// The flows of NIC `i` are at `starts[i]` to `starts[i + 1]`.
    starts: Vec<u32>,
    flows: Vec<Periodic>,
    payload: u32,
}

impl Connections {
    /// Creates connections from flows in the order of their numbers at their source. Phases are
    /// uniform in [0, gap), and the same for the same seed, service level, source and number.
    ///
    /// # Panics
    /// If a NIC has more than [`MOST_FLOWS`], a source or destination is not in the fabric, a
    /// bandwidth is zero, the payload exceeds 32 bits, or payload times rate 62 bits.
    pub fn new(flows: &[Flow], setting: &FlowSetting) -> Connections {
        let stream = Stream::new(setting.seed, Purpose::Phase);
        let mut sorted: Vec<&Flow> = flows.iter().collect();
        // A stable sort: flows of one source keep their order.
        sorted.sort_by_key(|flow| flow.source);
        let starts: Vec<u32> = (0..=setting.n_nics)
            .map(|nic| sorted.partition_point(|flow| flow.source.0 < nic) as u32)
            .collect();
        let ready = |(at, flow): (usize, &&Flow)| {
            let Flow {
                source,
                destination,
                bandwidth,
            } = **flow;
            let n_nics = setting.n_nics;
            assert!(source.0.max(destination.0) < n_nics, "{n_nics} NICs");
            let number = at as u32 - starts[source.index()];
            assert!(
                (number as usize) < MOST_FLOWS,
                "flows of {source} have 8 bits"
            );
            let gap = setting.gap(bandwidth);
            let draw = stream.draw([source.0, u32::from(setting.sl.0), number, CONNECTIONS]);
            let bits = u64::from(draw.0[0]) << 32 | u64::from(draw.0[1]);
            Periodic::new(scaled(gap.num(), bits), gap, destination)
        };
        Connections {
            flows: sorted.iter().enumerate().map(ready).collect(),
            starts,
            payload: u32::try_from(setting.payload.0).expect("a payload of 32 bits"),
        }
    }
}

/// Returns a uniform number below `n` from 64 random bits.
fn scaled(n: u128, bits: u64) -> u128 {
    let (high, low) = (n >> 64, n & u128::from(u64::MAX));
    let bits = u128::from(bits);
    high * bits + ((low * bits) >> 64)
}

/// Returns the next message: its cycle and flow. Flows before `next_flow` are past in this cycle.
#[inline]
fn earliest(flows: &[Periodic], cycle: u64, next_flow: usize) -> Option<(u64, usize)> {
    let mut best: Option<(u64, usize)> = None;
    for (flow, periodic) in flows.iter().enumerate() {
        let from = cycle + u64::from(flow < next_flow);
        let wait = periodic.wait(from);
        // Only one that is earlier than the best so far needs a division.
        let is_later = best.is_some_and(|(best, _)| {
            let ahead = u128::from(best.saturating_sub(from));
            u128::from(wait) >= ahead * u128::from(periodic.den)
        });
        if !is_later {
            best = Some((from + wait / periodic.den, flow));
        }
    }
    best
}

/// Bits of a cursor's time that hold the flow of the last message.
const FLOW_BITS: u32 = 8;

impl Source for Connections {
    fn next(&self, nic: NicId, cursor: &mut Cursor) -> Option<Arrival> {
        let (start, end) = (self.starts[nic.index()], self.starts[nic.index() + 1]);
        let flows = &self.flows[start as usize..end as usize];
        // After the last message: later flows of its cycle, then the next cycle.
        let (cycle, next_flow) = match cursor.number {
            0 => (0, 0),
            _ => (
                cursor.time >> FLOW_BITS,
                (cursor.time & ((1 << FLOW_BITS) - 1)) as usize + 1,
            ),
        };
        let (cycle, flow) = earliest(flows, cycle, next_flow)?;
        if cycle >= 1 << (u64::BITS - FLOW_BITS) {
            return None;
        }
        cursor.number = cursor.number.saturating_add(1);
        cursor.time = cycle << FLOW_BITS | flow as u64;
        Some(Arrival {
            cycle,
            destination: flows[flow].destination,
            bytes: self.payload,
            sl: None,
            flow: flow as u8,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const X1: Rate = Rate(2_500_000_000);

    fn setting() -> FlowSetting {
        FlowSetting {
            payload: Bytes(256),
            link: X1,
            flit: Bytes(8),
            n_nics: 3,
            seed: 1,
            sl: Sl(3),
        }
    }

    fn flow(source: u32, destination: u32, bandwidth: u64) -> Flow {
        Flow {
            source: NicId(source),
            destination: NicId(destination),
            bandwidth: Rate(bandwidth),
        }
    }

    fn until(source: &Connections, nic: u32, end: u64) -> Vec<Arrival> {
        let mut cursor = Cursor::default();
        let next = || source.next(NicId(nic), &mut cursor);
        std::iter::from_fn(next)
            .take_while(|arrival| arrival.cycle < end)
            .collect()
    }

    #[test]
    fn a_connection_is_exact_and_does_not_drift() {
        // 256 B at 300 Mb/s every 6.826666… us: 266.666… cycles of 25.6 ns.
        let setting = setting();
        assert_eq!(setting.gap(Rate(300_000_000)), Ratio::new(800, 3));
        let source = Connections::new(&[flow(1, 2, 300_000_000)], &setting);
        assert!(until(&source, 0, 1 << 40).is_empty());
        let arrivals = until(&source, 1, 80_000_000);
        assert_eq!(arrivals.len(), 300_000);
        let first = arrivals[0].cycle;
        assert!(first < 267);
        for (number, arrival) in arrivals.iter().enumerate() {
            assert_eq!((arrival.destination, arrival.bytes), (NicId(2), 256));
            // 800/3 cycles each, rounded down from a phase in thirds of a cycle.
            let from_first = (arrival.cycle - first) * 3;
            let exact = number as u64 * 800;
            assert!(from_first.abs_diff(exact) <= 2, "message {number}");
        }
        // After 3 messages it is back at the same fraction of a cycle, forever.
        assert!(
            arrivals
                .windows(4)
                .all(|four| four[3].cycle - four[0].cycle == 800)
        );
    }

    #[test]
    fn phases_are_spread_over_the_gap_and_differ() {
        let flows: Vec<Flow> = (0..200).map(|_| flow(0, 1, 64_000_000)).collect();
        let source = Connections::new(&flows, &setting());
        // 1250 cycles between two messages: in as many cycles each flow sends once.
        let mut seen: Vec<u64> = until(&source, 0, 1250).iter().map(|a| a.cycle).collect();
        assert_eq!(seen.len(), 200);
        let mean = seen.iter().sum::<u64>() as f64 / 200.0;
        assert!((mean - 625.0).abs() < 80.0, "{mean}");
        seen.dedup();
        assert!(seen.len() > 150);
    }

    #[test]
    fn the_largest_number_of_flows_fits_the_cursor() {
        let flows: Vec<Flow> = (0..MOST_FLOWS).map(|_| flow(0, 1, 2_500_000_000)).collect();
        let source = Connections::new(&flows, &setting());
        let arrivals = until(&source, 0, 3200);
        assert_eq!(arrivals.len(), 100 * MOST_FLOWS);
        let mut counts = [0; MOST_FLOWS];
        arrivals
            .iter()
            .for_each(|a| counts[usize::from(a.flow)] += 1);
        assert_eq!(counts, [100; MOST_FLOWS]);
    }

    proptest! {
        /// Each flow sends the number of messages given by its rate, within one; in order, without
        /// duplicates.
        #[test]
        fn messages_are_conserved(
            bandwidths in prop::collection::vec((8_000u64..2_500_000_000, 0u32..2), 1..40),
            payload in prop::sample::select(vec![256u64, 4096]),
            link in prop::sample::select(vec![X1, Rate(30_000_000_000)]),
            seed: u64,
        ) {
            let setting = FlowSetting { payload: Bytes(payload), link, seed, ..setting() };
            let flows: Vec<Flow> = bandwidths.iter().map(|&(b, nic)| flow(nic, 2, b)).collect();
            let source = Connections::new(&flows, &setting);
            let end = 20_000u64;
            for nic in 0..2 {
                let arrivals = until(&source, nic, end);
                let keys: Vec<_> = arrivals.iter().map(|a| (a.cycle, a.flow)).collect();
                prop_assert!(keys.is_sorted_by(|a, b| a < b));
                let own = flows.iter().filter(|f| f.source.0 == nic);
                for (number, flow) in own.enumerate() {
                    let sent = arrivals.iter().filter(|a| usize::from(a.flow) == number).count();
                    let expected = end as f64 / setting.gap(flow.bandwidth).as_f64();
                    prop_assert!((sent as f64 - expected).abs() <= 1.0 + 1e-6, "{sent} for \
                        {expected}");
                }
            }
        }

        /// The next message is the first one not before the cycle, in exact arithmetic.
        #[test]
        fn waits_are_exact(
            gap in prop_oneof![1u64..=1 << 62, (0u32..=62).prop_map(|bit| 1 << bit)], den in 1u64..=1 << 62, small: bool, phase: u64, cycle in 0u64..1 << 50,
        ) {
            // Realistic gaps: with a few bits less, so everything fits in 64 bits.
            let (gap, den) = if small { (gap % 1_000_000 + 1, den % 10_000 + 1) } else { (gap, den) };
            let phase = phase % gap;
            // Not as a fraction, which would be reduced.
            let periodic = Periodic {
                den,
                ..Periodic::new(u128::from(phase), Ratio::whole(gap), NicId(0))
            };
            let reached = u128::from(cycle) * u128::from(den);
            let (phase, gap) = (u128::from(phase), u128::from(gap));
            let number = reached.saturating_sub(phase).div_ceil(gap);
            prop_assert_eq!(u128::from(periodic.wait(cycle)), phase + number * gap - reached);
        }
    }
}
