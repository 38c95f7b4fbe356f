//! Shares of InfiniBand: an entry sends while its counter is above zero, and each packet is charged
//! rounded up.
//!
//! **One table.** A visit of weight `w` sends packets until their units reach `w`: a renewal
//! process, whose expected number of packets is `m(r) = 1 + sum p(s) m(r - units(s))`. The decision
//! to stop does not depend on the next packet, so the bytes are `m` times the mean size (Wald).
//!
//! **Two tables.** A low packet follows every burst of the high table, which sends until the limit
//! is reached. Sizes are drawn independently of the sending table, so each table sends as if it
//! were alone. Only the bytes per burst remain to be found:
//!
//! ```text
//! bytes per burst = bytes of some laps of the high table / bursts that end in them
//! ```
//!
//! Each burst begins where the last one ended. So bursts are counted over the Markov chain of the
//! remaining limit at the beginning of each entry's visit.

use netloom_arbitration::{Entry, LIMIT_UNIT, N_SLS, NO_LIMIT, VlArbitrationTable, weight_units};

use super::gcd;
use super::{Laws, SizeLaw, parts};
use crate::qos::wait::IbTables;

/// The amounts that visits of one class send, for all weights.
#[derive(Clone, Debug)]
pub struct IbVisits {
    mean_bytes: f64,
    packets: [f64; 256],
}

impl IbVisits {
    /// Computes all weights in one pass.
    pub fn new(law: &SizeLaw) -> IbVisits {
        let mut packets = [0.0; 256];
        let sizes: Vec<(usize, f64)> = law
            .sizes()
            .iter()
            .map(|&(bytes, p)| (weight_units(bytes) as usize, p))
            .collect();
        for weight in 1..packets.len() {
            let fits = sizes.iter().take_while(|&&(units, _)| units < weight);
            let more: f64 = fits.map(|&(units, p)| p * packets[weight - units]).sum();
            packets[weight] = 1.0 + more;
        }
        IbVisits {
            mean_bytes: law.mean(),
            packets,
        }
    }

    /// Returns the expected bytes per visit of an entry with this weight; 0 for a weight of 0.
    pub fn bytes(&self, weight: u8) -> f64 {
        self.packets(weight) * self.mean_bytes
    }

    /// Returns the expected packets per visit.
    pub fn packets(&self, weight: u8) -> f64 {
        self.packets[usize::from(weight)]
    }
}

/// Returns the expected bytes per visit of an InfiniBand entry: units are charged rounded up, and
/// the last packet may overshoot. For many weights of one class, use [`IbVisits`].
pub fn ib_visit_bytes(weight: u8, law: &SizeLaw) -> f64 {
    IbVisits::new(law).bytes(weight)
}

/// The amounts that one lap of a table sends.
struct Lap {
    bytes: [f64; N_SLS],
    packets: [f64; N_SLS],
}

impl Lap {
    fn new(table: &VlArbitrationTable, visits: &[Option<IbVisits>]) -> Lap {
        let mut lap = Lap {
            bytes: [0.0; N_SLS],
            packets: [0.0; N_SLS],
        };
        for entry in table.entries() {
            let lane = entry.vl.index();
            if let Some(visits) = &visits[lane] {
                lap.bytes[lane] += visits.bytes(entry.weight);
                lap.packets[lane] += visits.packets(entry.weight);
            }
        }
        lap
    }

    fn total_bytes(&self) -> f64 {
        self.bytes.iter().sum()
    }

    fn mean_packet(&self) -> f64 {
        self.total_bytes() / self.packets.iter().sum::<f64>()
    }
}

/// Returns the share of each lane under the two tables of InfiniBand.
pub fn ib_shares(tables: IbTables<'_>, laws: &Laws) -> [f64; N_SLS] {
    let visits: Vec<Option<IbVisits>> = laws
        .iter()
        .map(|law| law.as_ref().map(IbVisits::new))
        .collect();
    let [high, low] = [tables.high, tables.low].map(|table| Lap::new(table, &visits));
    if low.total_bytes() == 0.0 || high.total_bytes() > 0.0 && tables.limit == NO_LIMIT {
        return parts(high.bytes);
    }
    if high.total_bytes() == 0.0 {
        return parts(low.bytes);
    }
    let burst = bytes_per_burst(tables, laws, &high);
    let packet = low.mean_packet();
    let (of_high, of_low) = (parts(high.bytes), parts(low.bytes));
    parts(std::array::from_fn(|lane| {
        burst * of_high[lane] + packet * of_low[lane]
    }))
}

/// A limit of at least this number of largest packets is long: the beginning of its last packet is
/// then assumed to be evenly distributed.
const LONG: u64 = 128;

/// If the exact lattice of the sizes would take too long, the limit is divided into one of these
/// numbers of parts, the largest that is fast enough. Sizes are then rounded up or down at random,
/// which preserves their means.
const PARTS: [u64; 3] = [4096, 1024, 256];

/// Maximum of steps of a lattice; a visit has at most 256 times as many states.
const MOST_PARTS: u64 = 1 << 14;

/// Maximum of work for a lap, or for a burst if that is longer.
const LONG_LAP: usize = 8_000_000;

/// The average is not used before this number of bursts.
const FEW_BURSTS: f64 = 16.0;

/// Total work after which the current average is used.
const LONG_RUN: usize = 16_000_000;

/// Less probable states are dropped to save time.
const NEGLIGIBLE: f64 = 1e-15;

/// Returns the expected bytes that the high table sends per burst.
fn bytes_per_burst(tables: IbTables<'_>, laws: &Laws, high: &Lap) -> f64 {
    // A limit of 0 is spent by any packet.
    let limit = (u64::from(tables.limit) * u64::from(LIMIT_UNIT)).max(1);
    let live = tables.high.entries().iter();
    let live: Vec<(Entry, &SizeLaw)> = live
        .filter(|e| e.weight > 0)
        .filter_map(|&e| laws[e.vl.index()].as_ref().map(|law| (e, law)))
        .collect();
    let sizes = || live.iter().flat_map(|(_, law)| law.sizes());
    let step = sizes().fold(0, |step, &(s, _)| gcd(step, s.into()));
    let largest = sizes().map(|&(s, _)| u64::from(s)).max().unwrap_or(1);
    if limit >= LONG * largest {
        return limit as f64 + even_overshoot(high, laws, step);
    }
    let steps = lattices(limit, step);
    let found = steps.iter().enumerate().find_map(|(at, &step)| {
        let is_last = at + 1 == steps.len();
        // Short laps are parts of a burst, and whole bursts are counted.
        let part = (high.total_bytes() / limit as f64).min(1.0);
        let longest_lap = match is_last {
            true => usize::MAX,
            false => (LONG_LAP as f64 * part) as usize,
        };
        Bursts::new(&live, limit, step, longest_lap).bytes(high.total_bytes())
    });
    found.expect("the last lattice has no time limit")
}

/// Returns the mean overshoot of the last packet of a burst over a long limit: the packet is chosen
/// in proportion to its size, and the limit is at any step of it.
fn even_overshoot(high: &Lap, laws: &Laws, step: u64) -> f64 {
    let squares = laws.iter().zip(high.packets).map(|(law, packets)| {
        let square = law.as_ref().map_or(0.0, |law| law.mean_of(|s| s * s));
        packets * square
    });
    (squares.sum::<f64>() / high.total_bytes() - step as f64) / 2.0
}

/// Returns the step sizes to try, the finest first; at least one. The first is exact unless it has
/// too many parts.
fn lattices(limit: u64, exact: u64) -> Vec<u64> {
    let coarser = PARTS.iter().map(|parts| limit.div_ceil(*parts));
    let mut steps: Vec<u64> = coarser.filter(|&coarser| coarser > exact).collect();
    if limit.div_ceil(exact) <= MOST_PARTS {
        steps.insert(0, exact);
    }
    steps
}

/// One outcome of a packet: its charge to the counter and to the limit, and its probability.
struct Charge {
    units: usize,
    steps: usize,
    p: f64,
}

/// The progress of a lap of the high table through the limit.
struct Bursts {
    /// The weight of each entry and the charges of its packets.
    visits: Vec<(usize, Vec<Charge>)>,
    /// The probability of each remaining limit at the beginning of a visit, in steps from 1.
    left: Vec<f64>,
    /// The same during a visit, per counter.
    grid: Vec<Vec<f64>>,
    /// Bytes per step.
    step: f64,
    work: usize,
    longest_lap: usize,
}

impl Bursts {
    fn new(live: &[(Entry, &SizeLaw)], limit: u64, step: u64, longest_lap: usize) -> Bursts {
        let full = limit.div_ceil(step) as usize;
        let mut left = vec![0.0; full + 1];
        left[full] = 1.0;
        let visits = live.iter().map(|(entry, law)| {
            let charges = law.sizes().iter().flat_map(|&(size, p)| {
                // Off the lattice, the size is rounded up or down, which preserves its mean.
                let (steps, rest) = (u64::from(size) / step, u64::from(size) % step);
                let up = rest as f64 / step as f64;
                let charge = move |steps: u64, p: f64| Charge {
                    units: weight_units(size) as usize,
                    steps: steps as usize,
                    p,
                };
                [charge(steps, p * (1.0 - up)), charge(steps + 1, p * up)]
            });
            let charges = charges.filter(|charge| charge.p > 0.0).collect();
            (usize::from(entry.weight), charges)
        });
        Bursts {
            visits: visits.collect(),
            grid: vec![vec![0.0; full + 1]; 256],
            left,
            step: step as f64,
            work: 0,
            longest_lap,
        }
    }

    /// Returns the expected bytes per burst in the long run, from those per lap; `None` if a lap is
    /// too long.
    fn bytes(&mut self, bytes_per_lap: f64) -> Option<f64> {
        let mut laps = vec![];
        let (mut is_steady, mut n_ended) = (false, 0.0);
        while !is_steady && (self.work < LONG_RUN || n_ended < FEW_BURSTS) {
            let (before, begun) = (self.left.clone(), self.begun());
            let ended = self.lap()?;
            n_ended += ended;
            laps.push((ended, begun));
            let moves = self.left.iter().zip(&before).map(|(a, b)| (a - b).abs());
            is_steady = moves.sum::<f64>() < 1e-7;
        }
        // Fixed sizes return to the same state only after several laps, or never in this time. So
        // the average covers the second half, over whole bursts.
        let later = match is_steady {
            true => &laps[laps.len() - 1..],
            false => &laps[laps.len() / 2..],
        };
        let ended: f64 = later.iter().map(|(ended, _)| ended).sum();
        let sent = later.len() as f64 * bytes_per_lap + later[0].1 - self.begun();
        Some(sent / ended)
    }

    /// Returns the expected bytes of the burst that has begun and not ended.
    fn begun(&self) -> f64 {
        let full = self.left.len() - 1;
        let begun = |(left, p): (usize, &f64)| (full - left) as f64 * p;
        self.step * self.left.iter().enumerate().map(begun).sum::<f64>()
    }

    /// Simulates one lap of the table. Returns the expected number of bursts that end.
    fn lap(&mut self) -> Option<f64> {
        let full = self.left.len() - 1;
        let mut ended = 0.0;
        let most = self.work.saturating_add(self.longest_lap);
        for (weight, charges) in &self.visits {
            self.grid[*weight].copy_from_slice(&self.left);
            self.left.fill(0.0);
            for counter in (1..=*weight).rev() {
                let (lower, row) = self.grid.split_at_mut(counter);
                let row = &mut row[0];
                self.work += full;
                if self.work > most {
                    return None;
                }
                let reached = row.iter().enumerate().filter(|(_, p)| **p > NEGLIGIBLE);
                for (left, p) in reached {
                    self.work += charges.len();
                    for charge in charges {
                        let p = *p * charge.p;
                        let left = match left.checked_sub(charge.steps) {
                            Some(left) if left > 0 => left,
                            _ => {
                                ended += p;
                                full
                            }
                        };
                        match counter.checked_sub(charge.units) {
                            Some(counter) if counter > 0 => lower[counter][left] += p,
                            _ => self.left[left] += p,
                        }
                    }
                }
                row.fill(0.0);
            }
        }
        Some(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_units::Bytes;

    /// Packets of 8 to 32 bytes make the smallest limit a long one: the assumption then agrees with
    /// the chain.
    #[test]
    fn long_limits_are_passed_evenly() {
        let high = VlArbitrationTable::from_pairs(&[(0, 3), (1, 200)]).unwrap();
        let mut laws = Laws::default();
        laws[0] = SizeLaw::uniform(Bytes(8), Bytes(32), Bytes(8)).ok();
        laws[1] = SizeLaw::new(vec![(Bytes(16), 2.0), (Bytes(32), 1.0)]).ok();
        let visits: Vec<Option<IbVisits>> = laws
            .iter()
            .map(|law| law.as_ref().map(IbVisits::new))
            .collect();
        let lap = Lap::new(&high, &visits);
        let tables = IbTables {
            high: &high,
            low: &VlArbitrationTable::default(),
            limit: 1,
        };
        let taken = bytes_per_burst(tables, &laws, &lap);
        let entries = high.entries().iter();
        let live: Vec<(Entry, &SizeLaw)> = entries
            .map(|&e| (e, laws[e.vl.index()].as_ref().unwrap()))
            .collect();
        let mut bursts = Bursts::new(&live, 4096, 8, usize::MAX);
        let exact = bursts.bytes(lap.total_bytes()).unwrap();
        assert!((taken - exact).abs() < 1.0, "{taken} {exact}");
        assert!(taken > 4096.0 + 5.0, "{taken}");
    }

    /// A rare long packet, under the longest limit: bursts of many short laps.
    #[test]
    fn rare_long_packets_do_not_leave_bursts_uncounted() {
        let high = VlArbitrationTable::from_pairs(&[(0, 1)]).unwrap();
        let low = VlArbitrationTable::from_pairs(&[(1, 1)]).unwrap();
        let mut laws = Laws::default();
        laws[0] = SizeLaw::new(vec![(Bytes(64), 999.0), (Bytes(16384), 1.0)]).ok();
        laws[1] = SizeLaw::fixed(Bytes(16384)).ok();
        let tables = IbTables {
            high: &high,
            low: &low,
            limit: 254,
        };
        let share = ib_shares(tables, &laws)[1];
        // A burst ends in a long packet in proportion to its bytes, on average half-way: 1638 bytes
        // more.
        let expected = 16384.0 / (254.0 * 4096.0 + 1638.0 + 16384.0);
        assert!((share / expected - 1.0).abs() < 1e-3, "{share} {expected}");
    }
}
