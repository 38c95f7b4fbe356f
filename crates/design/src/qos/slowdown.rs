//! Bounds how much longer a backlog of a class takes at one output when all other classes send as
//! well.
//!
//! ```text
//! time of a backlog of B bytes  <=  factor * B / rate  +  startup
//! ```
//!
//! The time begins when the backlog is queued, with all credits held, and ends with its last byte.
//! Alone it takes B / rate. Other classes may send at any time, in packets of any size up to their
//! largest (or of the listed sizes). At most one management packet is sent meanwhile. The bound
//! holds for every B, so the startup does not grow with the backlog.
//!
//! The class has a packet at every decision, so its own entries are served in turn. A visit of an
//! own entry sends at least `own[i]` bytes, and the others send at most `gap[i]` after it. Let k
//! visits end before the one that sends the last byte. Then
//!
//! ```text
//! B >= own[i+1] + … + own[i+k]        others <= gap[i] + … + gap[i+k]
//! others - r * B <= the largest of these differences,  r = sum of gaps / sum of own
//! ```
//!
//! A lap changes the difference by 0 with this r, so it has a maximum: the startup. The factor is
//! `1 + r`. In one table no smaller factor holds for long backlogs, since the extremes of all
//! visits can occur together.
//!
//! **Two tables.** The low table sends one packet whenever the limit is spent. Between two of its
//! packets the high table sends at least the limit, in whole packets: `spent` bytes. So a class of
//! the high table has the factor `(1 + r) * (1 + low packet / spent)`. In the low table, a burst of
//! the high one may precede every packet.
//!
//! **Deficits.** A class with deficits sends its weights over many visits, and errs by less than a
//! packet at the ends. So only the startup depends on the sizes of packets.

use netloom_arbitration::{
    DeficitTable, LIMIT_UNIT, N_SLS, NO_LIMIT, QuantumTable, SlEntry, VlArbitrationTable,
    WEIGHT_UNIT,
};
use netloom_units::{Bytes, Rate, Sl, Time, Vl};

use super::wait::{IbTables, PacketSizes};

/// What a table guarantees to a backlog of a class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slowdown {
    /// The time of a long backlog over its time alone, at most; 1 or more.
    pub factor: f64,
    /// Bytes that the link may send in addition, once per backlog.
    pub startup: Bytes,
}

impl Slowdown {
    /// Returns the startup as a time.
    pub fn startup_time(&self, rate: Rate) -> Time {
        rate.time_for(self.startup)
    }
}

/// The assumption of a slowdown, printed with it.
pub const ASSUMPTION: &str = "at one output: a backlog that takes a time t alone takes at most \
    slowdown x t + startup, whatever the other classes send. Its packets are queued there and hold \
    credits, and at most one management packet is sent meanwhile";

/// Bytes of a unit of weight in InfiniBand and in a DTable.
const UNIT: u64 = WEIGHT_UNIT as u64;

/// Weights of an InfiniBand entry: 0 to 255.
const N_WEIGHTS: usize = 256;

/// Units of the largest packets that are examined one by one: 4 MiB.
const MOST_UNITS: u64 = 1 << 16;

/// The packets of all classes on a link of whole flits.
#[derive(Clone, Debug)]
pub struct Packets {
    flit: u64,
    /// The smallest and the largest packet of each class; `None` sends nothing.
    sizes: [Option<(u64, u64)>; N_SLS],
    management: u64,
    /// By class and weight, for InfiniBand.
    visits: Vec<Option<Visits>>,
    /// The least and the most bytes of the link per unit of weight, by class.
    per_unit: [(f64, f64); N_SLS],
}

/// What a visit of an InfiniBand entry sends, in bytes of the link, by weight.
#[derive(Clone, Debug)]
struct Visits {
    least: Vec<u64>,
    most: Vec<u64>,
}

/// Own visits of a lap, and what others send after each of them.
struct Lap {
    own: Vec<f64>,
    gaps: Vec<f64>,
}

impl Lap {
    /// Returns the bytes of others per own byte; `None` if own visits need not send anything.
    fn rate(&self) -> Option<f64> {
        let own: f64 = self.own.iter().sum();
        (own > 0.0).then(|| self.gaps.iter().sum::<f64>() / own)
    }

    /// Returns the maximum that others send beyond this rate: the largest `gap[i] + … + gap[i+k] -
    /// rate * (own[i+1] + … + own[i+k])`, from sums since the first visit.
    fn ahead(&self, rate: f64) -> f64 {
        let (mut sum, mut before, mut after) = (0.0f64, f64::NEG_INFINITY, f64::NEG_INFINITY);
        for (own, gap) in self.own.iter().zip(&self.gaps) {
            before = before.max(rate * own - sum);
            sum += gap - rate * own;
            after = after.max(sum);
        }
        (before + after).max(0.0)
    }
}

/// Returns the slowdown of a number of bytes, rounded up.
fn slowdown(factor: f64, startup: f64) -> Slowdown {
    Slowdown {
        factor,
        startup: Bytes((startup - 1e-6).ceil().max(0.0) as u64),
    }
}

impl Packets {
    /// Prepares the packets of a link. The table of InfiniBand visits takes a moment, so one value
    /// serves many tables.
    ///
    /// # Panics
    ///
    /// If a flit has no bytes.
    pub fn new(sizes: &PacketSizes, flit: Bytes) -> Packets {
        assert!(flit.0 > 0, "a flit has bytes");
        let range = |class: usize| {
            let (least, most) = (sizes.smallest[class].0, sizes.largest[class].0);
            (most > 0).then(|| (least.clamp(1, most), most))
        };
        let mut packets = Packets {
            flit: flit.0,
            sizes: std::array::from_fn(range),
            management: sizes.management.0,
            visits: vec![None; N_SLS],
            per_unit: [(0.0, 0.0); N_SLS],
        };
        for class in 0..N_SLS {
            packets.per_unit[class] = packets.sizes[class]
                .map_or((0.0, 0.0), |(smallest, largest)| {
                    packets.per_unit_of(smallest, largest)
                });
            packets.visits[class] = packets.sizes[class].map(|range| packets.visits_of(range));
        }
        packets
    }

    /// Returns the bytes that a packet takes of the link.
    fn on_link(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.flit) * self.flit
    }

    /// Returns the least and the most that each weight sends, over all sequences of packets.
    ///
    /// - At least: the cheapest sequence whose units reach the weight.
    /// - At most: the largest sequence of fewer units than the weight, then a largest packet.
    fn visits_of(&self, (smallest, largest): (u64, u64)) -> Visits {
        // Of the sizes that reach any weight, the smallest is enough.
        let first = smallest.div_ceil(UNIT);
        let units = first..=largest.div_ceil(UNIT).min(first.max(N_WEIGHTS as u64));
        let items: Vec<(usize, u64, u64)> = units
            .map(|units| {
                let first = (UNIT * (units - 1) + 1).max(smallest);
                let last = (UNIT * units).min(largest);
                (units as usize, self.on_link(first), self.on_link(last))
            })
            .collect();
        let (mut least, mut fits) = (vec![0u64; N_WEIGHTS], vec![0u64; N_WEIGHTS]);
        for weight in 1..N_WEIGHTS {
            let reach = |&(units, first, _): &(usize, u64, u64)| {
                first + least[weight.saturating_sub(units)]
            };
            least[weight] = items.iter().map(reach).min().unwrap_or(0);
            let within = items.iter().filter(|(units, ..)| *units <= weight);
            let more = within.map(|&(units, _, last)| last + fits[weight - units]);
            fits[weight] = more.max().unwrap_or(0).max(fits[weight - 1]);
        }
        let last = self.on_link(largest);
        let most = |weight: usize| match weight {
            0 => 0,
            _ => fits[weight - 1] + last,
        };
        Visits {
            most: (0..N_WEIGHTS).map(most).collect(),
            least,
        }
    }

    /// Returns the largest number of packets that a visit sends.
    fn most_packets(&self, class: usize, weight: u64) -> u64 {
        let smallest = self.sizes[class].map_or(1, |(smallest, _)| smallest);
        (weight - 1) / smallest.div_ceil(UNIT) + 1
    }

    /// Returns the largest packet on the link of the lanes of a table other than `vl`.
    fn largest_of_others(&self, table: &VlArbitrationTable, vl: Vl) -> u64 {
        let largest = self
            .others(table, vl)
            .map(|(_, largest)| self.on_link(largest));
        largest.max().unwrap_or(0)
    }

    /// Returns the sizes of the lanes of a table that send, other than `vl`.
    fn others(&self, table: &VlArbitrationTable, vl: Vl) -> impl Iterator<Item = (u64, u64)> {
        let lanes = table.vls();
        (0..N_SLS)
            .filter(move |lane| lanes >> lane & 1 == 1 && *lane != vl.index())
            .filter_map(|lane| self.sizes[lane])
    }

    /// Returns the slowdown of a lane under the two tables of InfiniBand, or why there is none. Of
    /// a lane in both tables, the smaller one holds.
    pub fn ib(&self, tables: IbTables<'_>, vl: Vl) -> Result<Slowdown, String> {
        let both = [self.ib_high(tables, vl), self.ib_low(tables, vl)];
        let least = both.into_iter().flatten();
        let least = least.min_by(|a, b| a.factor.total_cmp(&b.factor));
        least.ok_or_else(|| match tables.low.vls() >> vl.0 & 1 == 1 {
            true => format!(
                "{vl} is only in the low table, and a limit of 255 lets the high one send forever"
            ),
            false => format!("no entry of {vl} has a weight"),
        })
    }

    /// Returns the own visits of a lane in a table; others send `more` bytes with every packet.
    fn ib_lap(&self, table: &VlArbitrationTable, vl: Vl, more: f64) -> Option<Lap> {
        let own = vl.index();
        let sends = |class: usize| class == own || self.sizes[class].is_some();
        let live = table.entries().iter().filter(|entry| entry.weight > 0);
        let live: Vec<_> = live.filter(|entry| sends(entry.vl.index())).collect();
        let first = live.iter().position(|entry| entry.vl == vl)?;
        let mut lap = Lap {
            own: vec![],
            gaps: vec![],
        };
        for entry in live[first..].iter().chain(&live[..first]) {
            let (class, weight) = (entry.vl.index(), usize::from(entry.weight));
            let visits = self.visits[class].as_ref()?;
            if class == own {
                lap.own.push(visits.least[weight] as f64);
                lap.gaps.push(0.0);
            } else if let Some(gap) = lap.gaps.last_mut() {
                let packets = self.most_packets(class, weight as u64) as f64;
                *gap += visits.most[weight] as f64 + more * packets;
            }
        }
        Some(lap)
    }

    fn ib_high(&self, tables: IbTables<'_>, vl: Vl) -> Option<Slowdown> {
        let lap = self.ib_lap(tables.high, vl, 0.0)?;
        let rate = lap.rate()?;
        let low = self.largest_of_others(tables.low, vl) as f64;
        let own = self.on_link(self.sizes[vl.index()]?.1) as f64;
        let ahead = lap.ahead(rate);
        let management = self.management as f64;
        // Without a limit, a low packet can only be in flight already, instead of an own one.
        if low == 0.0 || tables.limit == NO_LIMIT {
            let startup = ahead + own.max(low) + management;
            return Some(slowdown(1.0 + rate, startup));
        }
        let per_byte = 1.0 + low / self.spent(tables, vl) as f64;
        let startup = ahead * per_byte + own + low + management;
        Some(slowdown((1.0 + rate) * per_byte, startup))
    }

    /// Returns the least that the high table sends between two packets of the low one, in bytes of
    /// the link.
    fn spent(&self, tables: IbTables<'_>, vl: Vl) -> u64 {
        let limit = limit_bytes(tables);
        let own = self.sizes[vl.index()];
        let all = || self.others(tables.high, vl).chain(own);
        let smallest = all().map(|(smallest, _)| smallest).min().unwrap_or(1);
        let largest = all().map(|(_, largest)| largest).max().unwrap_or(1);
        let packets = limit.div_ceil(largest) * self.on_link(smallest);
        self.on_link(limit).max(packets)
    }

    fn ib_low(&self, tables: IbTables<'_>, vl: Vl) -> Option<Slowdown> {
        let burst = match self.others(tables.high, vl).next() {
            None => 0.0,
            Some(_) if tables.limit == NO_LIMIT => return None,
            Some(_) => self.burst(tables, vl) as f64,
        };
        let lap = self.ib_lap(tables.low, vl, burst)?;
        let rate = lap.rate()?;
        let (smallest, largest) = self.sizes[vl.index()]?;
        let factor = 1.0 + rate + burst / self.on_link(smallest) as f64;
        let own = self.on_link(largest) as f64;
        let startup = lap.ahead(rate) + own + burst + self.management as f64;
        Some(slowdown(factor, startup))
    }

    /// Returns the most that the high table sends between two packets of the low one: what the
    /// limit allows to begin, and a last packet.
    fn burst(&self, tables: IbTables<'_>, vl: Vl) -> u64 {
        let before = limit_bytes(tables) - 1;
        let others = || self.others(tables.high, vl);
        let smallest = others().map(|(smallest, _)| smallest).min().unwrap_or(1);
        let last = self.largest_of_others(tables.high, vl);
        // Whole flits per byte are most for a smallest packet, or one byte beyond a flit.
        let rate = |bytes: u64| self.on_link(bytes) as f64 / bytes as f64;
        let beyond = |(smallest, largest): (u64, u64)| {
            let beyond = (smallest.div_ceil(self.flit) * self.flit + 1).min(largest);
            rate(smallest).max(rate(beyond))
        };
        let most = others().map(beyond).fold(1.0, f64::max);
        let by_bytes = (before as f64 * most).ceil() as u64 + last;
        by_bytes.min((before / smallest + 1) * last)
    }

    /// Returns the slowdown of a service level under a DTable, or why there is none.
    pub fn dtable(&self, table: &DeficitTable, sl: Sl) -> Result<Slowdown, String> {
        let own = sl.index();
        let none = || format!("no entry of {sl} has a weight");
        let (_, largest) = self.sizes[own].ok_or_else(none)?;
        let least = self.per_unit[own].0;
        let lap = self.deficit_lap(table.entries(), own, |entry| {
            let (least, most) = self.per_unit[entry.sl.index()];
            f64::from(entry.weight) * if entry.sl == sl { least } else { most }
        });
        let lap = lap.ok_or_else(none)?;
        let rate = lap.rate().ok_or_else(none)?;
        let present = table.totals();
        let saved = |class: usize| {
            let (_, largest) = self.sizes[class]?;
            let deficit = (largest.div_ceil(UNIT) - 1) as f64;
            (class != own && present[class] > 0).then(|| deficit * self.per_unit[class].1)
        };
        let saved: f64 = (0..N_SLS).filter_map(saved).sum();
        let missing = (largest.div_ceil(UNIT) - 1) as f64 * least;
        Ok(self.with_deficits(&lap, rate, saved, missing, largest))
    }

    /// Returns the slowdown of a service level under a table of BXI, or why there is none.
    pub fn bxi(
        &self,
        table: &QuantumTable,
        keeps_deficits: bool,
        sl: Sl,
    ) -> Result<Slowdown, String> {
        let own = sl.index();
        let none = || format!("no entry of {sl} has a weight");
        let (_, largest) = self.sizes[own].ok_or_else(none)?;
        let quantum = |entry: &SlEntry| u64::from(table.quantum(entry));
        let flits = |bytes: u64| bytes.div_ceil(self.flit);
        let lap = self.deficit_lap(table.entries(), own, |entry| {
            let Some((smallest, largest)) = self.sizes[entry.sl.index()] else {
                return 0.0;
            };
            let (a, b) = (flits(smallest), flits(largest));
            let quantum = quantum(entry);
            let sent = match (keeps_deficits, entry.sl == sl) {
                (true, _) => quantum,
                // A head that does not fit waits, so up to a packet less one flit is lost.
                (false, true) => {
                    let least = (quantum + 1).saturating_sub(b);
                    least.max(least.div_ceil(b) * a)
                }
                (false, false) => quantum.min(quantum / a * b),
            };
            (sent * self.flit) as f64
        });
        let lap = lap.ok_or_else(none)?;
        let rate = lap.rate().ok_or_else(|| {
            format!(
                "a packet of {sl} has up to {} flits, more than its entries send without deficits",
                flits(largest)
            )
        })?;
        if !keeps_deficits {
            return Ok(self.with_deficits(&lap, rate, 0.0, 0.0, largest));
        }
        // Deficits belong to entries.
        let deficit = |entry: &SlEntry| {
            let (_, largest) = self.sizes[entry.sl.index()]?;
            (quantum(entry) > 0).then(|| ((flits(largest) - 1) * self.flit) as f64)
        };
        let sum = |is_own: bool| {
            let entries = table.entries().iter();
            let chosen = entries.filter(|entry| (entry.sl == sl) == is_own);
            chosen.filter_map(deficit).sum::<f64>()
        };
        Ok(self.with_deficits(&lap, rate, sum(false), sum(true), largest))
    }

    /// Adds what others have saved, and what own visits may lack, to the startup.
    fn with_deficits(
        &self,
        lap: &Lap,
        rate: f64,
        saved: f64,
        missing: f64,
        largest: u64,
    ) -> Slowdown {
        let own = self.on_link(largest) as f64;
        let startup = lap.ahead(rate) + saved + rate * missing + own + self.management as f64;
        slowdown(1.0 + rate, startup)
    }

    /// Returns the own visits of a service level, and the others in between.
    fn deficit_lap(
        &self,
        entries: &[SlEntry],
        own: usize,
        sent: impl Fn(&SlEntry) -> f64,
    ) -> Option<Lap> {
        let live = entries.iter().filter(|entry| entry.weight > 0);
        let live: Vec<&SlEntry> = live.collect();
        let first = live.iter().position(|entry| entry.sl.index() == own)?;
        let mut lap = Lap {
            own: vec![],
            gaps: vec![],
        };
        for entry in live[first..].iter().chain(&live[..first]) {
            if entry.sl.index() == own {
                lap.own.push(sent(entry));
                lap.gaps.push(0.0);
            } else if let Some(gap) = lap.gaps.last_mut() {
                *gap += sent(entry);
            }
        }
        Some(lap)
    }

    /// Returns the least and the most bytes of the link per unit of weight, over all sizes.
    fn per_unit_of(&self, smallest: u64, largest: u64) -> (f64, f64) {
        let end = largest.div_ceil(UNIT).min(MOST_UNITS);
        let units = smallest.div_ceil(UNIT)..=end;
        let (mut least, mut most) = (f64::INFINITY, 0.0f64);
        if end == MOST_UNITS {
            // Larger packets differ by less than a unit and a flit.
            least = ((end - 1) * UNIT) as f64 / end as f64;
            most = (end * UNIT + self.flit) as f64 / end as f64;
        }
        for units in units {
            let first = (UNIT * (units - 1) + 1).max(smallest);
            let last = (UNIT * units).min(largest);
            least = least.min(self.on_link(first) as f64 / units as f64);
            most = most.max(self.on_link(last) as f64 / units as f64);
        }
        (least, most)
    }
}

/// Returns the bytes of a limit; a limit of 0 is spent by any packet.
fn limit_bytes(tables: IbTables<'_>) -> u64 {
    (u64::from(tables.limit) * u64::from(LIMIT_UNIT)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of these largest sizes; of only these if `is_listed`.
    fn packets(largest: &[u64], is_listed: bool) -> Packets {
        let mut sizes = PacketSizes {
            largest: [Bytes(0); N_SLS],
            smallest: [Bytes(0); N_SLS],
            management: Bytes(0),
        };
        for (slot, &bytes) in sizes.largest.iter_mut().zip(largest) {
            *slot = Bytes(bytes);
        }
        if is_listed {
            sizes.smallest = sizes.largest;
        }
        Packets::new(&sizes, Bytes(64))
    }

    fn ib(packets: &Packets, high: &[(u8, u8)], low: &[(u8, u8)], limit: u8, vl: u8) -> Slowdown {
        let table = |pairs| VlArbitrationTable::from_pairs(pairs).unwrap();
        let (high, low) = (table(high), table(low));
        let tables = IbTables {
            high: &high,
            low: &low,
            limit,
        };
        packets.ib(tables, Vl(vl)).unwrap()
    }

    #[track_caller]
    fn is(slowdown: Slowdown, factor: f64, startup: u64) {
        assert!((slowdown.factor - factor).abs() < 1e-9, "{slowdown:?}");
        assert_eq!(slowdown.startup, Bytes(startup));
    }

    #[test]
    fn a_class_alone_in_the_high_table_pays_a_low_packet_per_limit() {
        let any = packets(&[4160, 4160], false);
        let high = |limit| ib(&any, &[(0, 255)], &[(1, 65)], limit, 0);
        // An own packet in flight and a low packet are the startup.
        is(high(10), 1.0 + 4160.0 / 40960.0, 8320);
        is(high(30), 1.0 + 4160.0 / 122_880.0, 8320);
        is(high(254), 1.0 + 4160.0 / 1_040_384.0, 8320);
        is(high(255), 1.0, 4160);
        // Any packet spends a limit of 0: one flit of the link.
        is(high(0), 1.0 + 4160.0 / 64.0, 8320);
        // Ten packets spend a limit of 10, which eight bytes of a packet exceed.
        let listed = packets(&[4160, 4160], true);
        let high = |limit| ib(&listed, &[(0, 255)], &[(1, 65)], limit, 0);
        is(high(10), 1.1, 8320);
        is(high(1), 2.0, 8320);
        is(high(0), 2.0, 8320);
        // A packet larger than the limit.
        let large = packets(&[16_384, 4096], true);
        is(ib(&large, &[(0, 255)], &[(1, 64)], 1, 0), 1.25, 20_480);
    }

    #[test]
    fn classes_of_the_high_table_share_it() {
        let listed = packets(&[4096, 4096, 2048], true);
        // Four packets of the first to two of the second, and a low packet per 40960 bytes.
        let high = |limit, vl| ib(&listed, &[(0, 255), (1, 128)], &[(2, 32)], limit, vl);
        is(high(255, 0), 1.5, 8192 + 4096);
        is(high(255, 1), 3.0, 16_384 + 4096);
        is(
            high(10, 0),
            1.5 * 1.05,
            (8192.0 * 1.05) as u64 + 1 + 4096 + 2048,
        );
    }

    #[test]
    fn the_low_table_gives_the_inverse_of_the_share() {
        let listed = packets(&[4096, 4096, 1024], true);
        let low = &[(0, 128), (1, 64), (2, 64)];
        // 8192 to 4096 and 4096.
        is(ib(&listed, &[], low, 255, 0), 2.0, 8192 + 4096);
        is(ib(&listed, &[], low, 255, 1), 4.0, 12_288 + 4096);
        // Of any sizes, a visit of weight 64 may overshoot by 63 units, and own packets by nothing.
        let any = packets(&[4096, 4096, 1024], false);
        let others = 63.0 * 64.0 + 4096.0 + 63.0 * 64.0 + 1024.0;
        is(
            ib(&any, &[], low, 255, 0),
            1.0 + others / 8192.0,
            others as u64 + 4096,
        );
        // With weight 65, the overshoot is a packet that the weight counts.
        is(
            ib(&any, &[], &[(0, 128), (1, 65)], 255, 0),
            2.0,
            8192 + 4096,
        );
        // A high packet before every low one: 2048 bytes for each of the own 4096.
        let both = packets(&[4096, 2048], true);
        is(ib(&both, &[(1, 32)], &[(0, 64)], 0, 0), 1.5, 4096 + 2048);
        // Nothing is promised without a limit.
        let table = |pairs: &[(u8, u8)]| VlArbitrationTable::from_pairs(pairs).unwrap();
        let (high, low) = (table(&[(1, 32)]), table(&[(0, 64)]));
        let tables = IbTables {
            high: &high,
            low: &low,
            limit: NO_LIMIT,
        };
        assert!(
            both.ib(tables, Vl(0))
                .unwrap_err()
                .contains("a limit of 255")
        );
        assert!(
            both.ib(tables, Vl(3))
                .unwrap_err()
                .contains("no entry of VL3")
        );
    }

    #[test]
    fn deficits_keep_the_weights_for_any_packets() {
        let any = packets(&[4096, 2048], false);
        let table = DeficitTable::from_pairs(&[(0, 60), (1, 30), (0, 60), (1, 10)]).unwrap();
        let slowdown = any.dtable(&table, Sl(0)).unwrap();
        // 40 to 120. The longer gap has 30 units, others have saved 31, and own visits may lack 63.
        let startup = (30.0 + 31.0 + 63.0 / 3.0) * 64.0 + 4096.0;
        is(slowdown, 1.0 + 1.0 / 3.0, startup as u64);
        let quanta = QuantumTable::from_pairs(&[(0, 128), (1, 64)], 1).unwrap();
        let slowdown = any.bxi(&quanta, true, Sl(0)).unwrap();
        is(
            slowdown,
            1.5,
            (64.0 + 31.0 + 63.0 / 2.0) as u64 * 64 + 32 + 4096,
        );
        // Without deficits, a head of 64 flits leaves up to 63 flits of the quantum.
        let slowdown = any.bxi(&quanta, false, Sl(0)).unwrap();
        is(slowdown, 1.0 + 64.0 / 65.0, 64 * 64 + 4096);
        let listed = packets(&[4096, 2048], true);
        is(
            listed.bxi(&quanta, false, Sl(0)).unwrap(),
            1.5,
            64 * 64 + 4096,
        );
        let short = QuantumTable::from_pairs(&[(0, 63), (1, 64)], 1).unwrap();
        assert!(
            any.bxi(&short, false, Sl(0))
                .unwrap_err()
                .contains("64 flits")
        );
    }

    /// A byte takes a whole flit, and flits of 256 bytes are more than four units.
    #[test]
    fn packets_take_whole_flits() {
        let sizes = PacketSizes {
            largest: std::array::from_fn(|class| Bytes([256, 65][class.min(1)])),
            smallest: std::array::from_fn(|class| Bytes([256, 65][class.min(1)])),
            management: Bytes(0),
        };
        let packets = Packets::new(&sizes, Bytes(256));
        // 2 units and 256 bytes of the link for a packet of 65 bytes.
        is(ib(&packets, &[], &[(0, 4), (1, 4)], 255, 0), 3.0, 512 + 256);
        let table = DeficitTable::from_pairs(&[(0, 4), (1, 4)]).unwrap();
        assert!((packets.dtable(&table, Sl(0)).unwrap().factor - 3.0).abs() < 1e-9);
    }
}
