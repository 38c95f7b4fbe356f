//! Plans the arbitration table of BXI: strides by rank, weights by share (paper 003).
//!
//! With latency tuning, the class of rank r (0 is the most urgent) has every 2^(r+1)-th entry. n
//! classes make 2^n - 1 entries, such as 0 1 0 2 0 1 0 for three. A weight belongs to a class, not
//! to its entries: the amount that the class may send per turn of the table, `weight * k` flits, is
//! divided among its entries. So tuning changes waits, not shares. Without tuning, every class has
//! one entry.
//!
//! A basic arbiter never sends a packet that is longer than a full quantum, so a quantum smaller
//! than the largest packet of its class is refused. (With deficits the packet would only wait for
//! more turns. The rule is the same because the same table serves both.)

use std::fmt;

use netloom_arbitration::{MAX_QUANTUM, QuantumTable, SlEntry};
use netloom_units::{Ratio, Sl};

use super::weights::entry_weights;

/// One class; its rank is its position in the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Class {
    /// The name, for messages and reports.
    pub name: String,
    pub sl: Sl,
    /// The weight relative to the other classes, at least 1.
    pub weight: u16,
    /// The largest packet, in flits.
    pub largest_packet: u32,
}

/// The requirements of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Needs {
    /// The classes, the most urgent first.
    pub classes: Vec<Class>,
    /// Flits per unit of weight.
    pub k: u32,
    /// Whether urgent classes have more entries (latency tuning).
    pub is_tuned: bool,
}

/// A planned table.
#[derive(Clone, PartialEq, Debug)]
pub struct BxiPlan {
    /// The table. Its k is that of the needs if all quanta are multiples of it, otherwise their
    /// greatest common divisor: the device multiplies, and has no fractions of a weight.
    pub table: QuantumTable,
    /// The classes, in the order of the needs.
    pub classes: Vec<PlannedClass>,
}

/// The result of one class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedClass {
    pub name: String,
    pub sl: Sl,
    /// The number of entries from one of its own to the next; the length of the table for a class
    /// with one entry.
    pub stride: usize,
    /// The quanta of its entries in the order of the table, in flits.
    pub quanta: Vec<u64>,
    /// Their sum: flits per turn of the table.
    pub total: u64,
    /// The part of all entries that belongs to the class.
    pub entries_share: Ratio,
    /// The share of the bandwidth when all classes are backlogged.
    pub share: Ratio,
}

/// Why there is no table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The list of classes is empty.
    NoClasses,
    /// k is 0.
    NoK,
    /// There are more tuned classes than ranks in a table.
    TooManyClasses(usize),
    /// A class has weight 0 and would never send.
    NoWeight(String),
    /// Two classes have the same service level.
    SlTwice(String, String, Sl),
    /// A quantum is smaller than the largest packet: class, quantum, packet, and the smallest
    /// sufficient k.
    QuantumBelowPacket(String, u64, u32, u64),
    /// A quantum exceeds what an arbiter counts: class, and the quantum.
    QuantumTooLarge(String, u64),
    /// A weight does not fit in 16 bits: class, and the weight.
    WeightTooLarge(String, u64),
    /// The table type rejects the entries.
    Table(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoClasses => write!(f, "a table needs at least one class"),
            Refusal::NoK => write!(f, "k is 0; use at least one flit per unit of weight"),
            Refusal::TooManyClasses(n) => write!(
                f,
                "{n} tuned classes need 2^{n} - 1 entries; tune at most {MAX_TUNED} classes"
            ),
            Refusal::NoWeight(name) => {
                write!(f, "{name}: a class of weight 0 never sends; use 1 or more")
            }
            Refusal::SlTwice(a, b, sl) => {
                write!(f, "{a} and {b} both use {sl}; use a different one for each")
            }
            Refusal::QuantumBelowPacket(name, quantum, packet, k) => write!(
                f,
                "{name}: a quantum of {quantum} flits is smaller than its largest packet of \
                 {packet}, which would never be sent; use k of at least {k}, or a larger weight"
            ),
            Refusal::QuantumTooLarge(name, quantum) => write!(
                f,
                "{name}: expected a quantum of at most {MAX_QUANTUM} flits, found {quantum}; use a \
                 smaller k or weight"
            ),
            Refusal::WeightTooLarge(name, weight) => write!(
                f,
                "{name}: an entry would need weight {weight}, but holds at most 65535; use a k \
                 that is a multiple of the numbers of entries"
            ),
            Refusal::Table(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Maximum of tuned classes: an 8-bit current entry can name 2^8 - 1 entries.
pub const MAX_TUNED: usize = 8;

/// Returns the entries of a tuned table of `n` classes: the rank at each of the `2^n - 1`
/// positions.
pub fn tuned_ranks(n: usize) -> Vec<usize> {
    // Position p is 2^(r+1) apart from the next with the same r trailing ones in p.
    (0..(1usize << n) - 1)
        .map(|position| position.trailing_ones() as usize)
        .collect()
}

/// Computes the table for these needs, or returns every reason why there is none.
pub fn plan(needs: &Needs) -> Result<BxiPlan, Vec<Refusal>> {
    let mut refusals = mistakes(needs);
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let n = needs.classes.len();
    let ranks = if needs.is_tuned {
        tuned_ranks(n)
    } else {
        (0..n).collect()
    };
    let classes = planned(needs, &ranks);
    refusals.extend(short_quanta(needs, &classes));
    for class in &classes {
        if class.quanta[0] > u64::from(MAX_QUANTUM) {
            let name = class.name.clone();
            refusals.push(Refusal::QuantumTooLarge(name, class.quanta[0]));
        }
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let table = table(needs, &ranks, &classes)?;
    Ok(BxiPlan { table, classes })
}

fn mistakes(needs: &Needs) -> Vec<Refusal> {
    let mut refusals = vec![];
    if needs.classes.is_empty() {
        refusals.push(Refusal::NoClasses);
    }
    if needs.k == 0 {
        refusals.push(Refusal::NoK);
    }
    if needs.is_tuned && needs.classes.len() > MAX_TUNED {
        refusals.push(Refusal::TooManyClasses(needs.classes.len()));
    }
    for (i, class) in needs.classes.iter().enumerate() {
        let name = || class.name.clone();
        if let Some(other) = needs.classes[..i].iter().find(|c| c.sl == class.sl) {
            refusals.push(Refusal::SlTwice(other.name.clone(), name(), class.sl));
        }
        if class.weight == 0 {
            refusals.push(Refusal::NoWeight(name()));
        }
    }
    refusals
}

fn planned(needs: &Needs, ranks: &[usize]) -> Vec<PlannedClass> {
    let flits = |class: &Class| u64::from(class.weight) * u64::from(needs.k);
    let all: u64 = needs.classes.iter().map(flits).sum();
    let one = |(rank, class): (usize, &Class)| {
        let n_entries = ranks.iter().filter(|&&r| r == rank).count();
        let total = flits(class);
        PlannedClass {
            name: class.name.clone(),
            sl: class.sl,
            stride: if n_entries == 1 {
                ranks.len()
            } else {
                2 << rank
            },
            quanta: entry_weights(total, n_entries as u32),
            total,
            entries_share: Ratio::new(n_entries as u128, ranks.len() as u128),
            share: Ratio::new(total.into(), all.into()),
        }
    };
    needs.classes.iter().enumerate().map(one).collect()
}

/// Returns the quanta that cannot send the largest packet; the last ones are the smallest.
fn short_quanta(needs: &Needs, classes: &[PlannedClass]) -> Vec<Refusal> {
    let mut refusals = vec![];
    for (class, planned) in needs.classes.iter().zip(classes) {
        let least = planned.quanta.last().copied().unwrap_or(0);
        if least < u64::from(class.largest_packet) {
            let wanted = u64::from(class.largest_packet) * planned.quanta.len() as u64;
            let k = wanted.div_ceil(class.weight.into());
            let name = class.name.clone();
            refusals.push(Refusal::QuantumBelowPacket(
                name,
                least,
                class.largest_packet,
                k,
            ));
        }
    }
    refusals
}

/// Returns the quanta as the device stores them: weights of 16 bits and one k.
fn table(
    needs: &Needs,
    ranks: &[usize],
    classes: &[PlannedClass],
) -> Result<QuantumTable, Vec<Refusal>> {
    let quanta = || classes.iter().flat_map(|c| &c.quanta).copied();
    let k = if quanta().all(|q| q.is_multiple_of(needs.k.into())) {
        u64::from(needs.k)
    } else {
        quanta().fold(0, gcd)
    };
    let mut refusals = vec![];
    for class in classes {
        let weight = class.quanta[0] / k;
        if weight > u64::from(u16::MAX) {
            refusals.push(Refusal::WeightTooLarge(class.name.clone(), weight));
        }
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let mut used = vec![0; classes.len()];
    let entry = |&rank: &usize| {
        let quantum = classes[rank].quanta[used[rank]];
        used[rank] += 1;
        SlEntry {
            sl: classes[rank].sl,
            weight: (quantum / k) as u16,
        }
    };
    let entries = ranks.iter().map(entry).collect();
    let k = u32::try_from(k).expect("k is at most a quantum, which is at most MAX_QUANTUM");
    QuantumTable::new(entries, k).map_err(|error| vec![Refusal::Table(error.to_string())])
}

pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(weights: &[u16], k: u32, is_tuned: bool) -> Needs {
        let class = |(rank, &weight): (usize, &u16)| Class {
            name: format!("SL{rank}"),
            sl: Sl(rank as u8),
            weight,
            largest_packet: 16 * (rank as u32 + 1),
        };
        Needs {
            classes: weights.iter().enumerate().map(class).collect(),
            k,
            is_tuned,
        }
    }

    fn percent(ratio: Ratio) -> String {
        format!("{:.2}", ratio.as_f64() * 100.0)
    }

    #[test]
    fn v003_1_quanta_are_weights_times_k() {
        let plan = plan(&needs(&[5, 3, 2], 100, false)).unwrap();
        let totals: Vec<u64> = plan.classes.iter().map(|c| c.total).collect();
        assert_eq!(totals, [500, 300, 200]);
        let shares: Vec<String> = plan.classes.iter().map(|c| percent(c.share)).collect();
        assert_eq!(shares, ["50.00", "30.00", "20.00"]);
        let pairs = [(0, 5), (1, 3), (2, 2)];
        assert_eq!(plan.table, QuantumTable::from_pairs(&pairs, 100).unwrap());
    }

    #[test]
    fn v003_2_table_2() {
        let plan = plan(&needs(&[5, 4, 3, 2, 1], 1024, true)).unwrap();
        let column =
            |f: &dyn Fn(&PlannedClass) -> u64| plan.classes.iter().map(f).collect::<Vec<_>>();
        assert_eq!(column(&|c| c.total), [5120, 4096, 3072, 2048, 1024]);
        assert_eq!(column(&|c| c.quanta.len() as u64), [16, 8, 4, 2, 1]);
        assert_eq!(column(&|c| c.quanta[0]), [320, 512, 768, 1024, 1024]);
        assert!(
            plan.classes
                .iter()
                .all(|c| c.quanta.iter().all(|&q| q == c.quanta[0]))
        );
        let entries: Vec<String> = plan
            .classes
            .iter()
            .map(|c| percent(c.entries_share))
            .collect();
        assert_eq!(entries, ["51.61", "25.81", "12.90", "6.45", "3.23"]);
        let shares: Vec<String> = plan.classes.iter().map(|c| percent(c.share)).collect();
        assert_eq!(shares, ["33.33", "26.67", "20.00", "13.33", "6.67"]);
        // The device stores the same quanta with weights of 64 flits.
        assert_eq!(plan.table.k, 64);
        let stored: Vec<u32> = plan
            .table
            .entries()
            .iter()
            .map(|e| plan.table.quantum(e))
            .collect();
        assert_eq!(stored[..8], [320, 512, 320, 768, 320, 512, 320, 1024]);
        assert_eq!(stored.len(), 31);
    }

    #[test]
    fn v003_23_generation_against_bandwidth() {
        let rows = [
            ([1u16; 5], [20u32; 5], 100u32, ["100.0"; 5]),
            (
                [5, 4, 3, 2, 1],
                [35, 28, 21, 15, 8],
                107,
                ["105.0", "105.0", "105.0", "112.5", "120.0"],
            ),
            ([16, 8, 4, 2, 1], [64, 32, 16, 8, 4], 124, ["124.0"; 5]),
        ];
        for (weights, generation, sum, over_bandwidth) in rows {
            assert_eq!(generation.iter().sum::<u32>(), sum);
            let plan = plan(&needs(&weights, 1024, true)).unwrap();
            let ratios = plan.classes.iter().zip(generation).map(|(class, percent)| {
                let ratio = Ratio::new(percent.into(), 100) / class.share;
                format!("{:.1}", ratio.as_f64() * 100.0)
            });
            assert_eq!(ratios.collect::<Vec<_>>(), over_bandwidth);
        }
    }

    #[test]
    fn ranks_are_strides() {
        assert_eq!(tuned_ranks(3), [0, 1, 0, 2, 0, 1, 0]);
        for (position, rank) in tuned_ranks(5).into_iter().enumerate() {
            let expected = match position {
                p if p % 2 == 0 => 0,
                p if p % 4 == 1 => 1,
                p if p % 8 == 3 => 2,
                p if p % 16 == 7 => 3,
                _ => 4,
            };
            assert_eq!(rank, expected);
        }
    }

    /// Tuned fair needs k >= 256 with 64 B flits.
    #[test]
    fn x003_12_a_quantum_holds_the_largest_packet() {
        assert!(plan(&needs(&[1; 5], 256, true)).is_ok());
        let refusals = plan(&needs(&[1; 5], 255, true)).unwrap_err();
        let too_short = |name: &str, quantum, packet| {
            Refusal::QuantumBelowPacket(name.into(), quantum, packet, 256)
        };
        assert_eq!(
            refusals,
            [too_short("SL0", 15, 16), too_short("SL1", 31, 32)]
        );
        // One entry per class needs less.
        assert!(plan(&needs(&[1; 5], 80, false)).is_ok());
        assert!(plan(&needs(&[1; 5], 79, false)).is_err());
    }

    #[test]
    fn quanta_that_do_not_divide_keep_the_share() {
        let plan = plan(&needs(&[1, 1, 1], 1001, true)).unwrap();
        assert_eq!(plan.classes[0].quanta, [251, 250, 250, 250]);
        assert_eq!(plan.classes[0].share, plan.classes[2].share);
        assert_eq!(plan.table.k, 1);
    }

    #[test]
    fn all_mistakes_come_at_once() {
        let mut bad = needs(&[1; 9], 0, true);
        bad.classes[1].sl = Sl(0);
        bad.classes[2].weight = 0;
        let refusals = plan(&bad).unwrap_err();
        assert_eq!(refusals.len(), 4, "{refusals:?}");
        assert!(
            refusals
                .iter()
                .all(|refusal| !refusal.to_string().is_empty())
        );
        assert!(plan(&needs(&[], 1, false)).is_err());
        let large = plan(&needs(&[3, 3], u32::MAX - 1, true)).unwrap_err();
        assert!(matches!(
            large[0],
            Refusal::QuantumTooLarge(_, 6_442_450_941)
        ));
        // 65535 * 1001 does not fit in the 16 bits of a weight when k becomes 1.
        let wide = plan(&needs(&[65535, 1, 1], 1001, true)).unwrap_err();
        assert!(matches!(&wide[..], [Refusal::WeightTooLarge(name, _)] if name == "SL0"));
    }
}
