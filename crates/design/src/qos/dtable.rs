//! Plans a DTable: from the needs of classes to slots and weights (paper 000).
//!
//! ```text
//! distance ─► slots ─► k ─► pool = N·GMTU·k ─► total weight T ─► weight per entry ─► checks
//!                      └──► w ─► M = GMTU·w, the largest weight of one entry ────────┘
//! ```
//!
//! A class of share φ with n entries and messages of up to m credits needs `n·m ≤ φ·pool` (every
//! entry can send a message) and `φ·pool ≤ n·M`. k is the smallest multiple of 0.1 that meets the
//! left condition for all classes. w is the smallest multiple of 0.1, from k upwards, that meets
//! the right one. The weights are whole numbers, so the total is searched from the pool upwards
//! until no share errs by more than the tolerance.
//!
//! The paper corrects deviations in a step that it does not describe. A total of 1072 gives its
//! weights exactly. The search stops at 1052, which is as good, so the total can be pinned. The w
//! of the search (2.8) is smaller than the paper's own weights need (94 credits are 2.9375 GMTU).
//! So the w of a plan is raised to the next multiple of 0.1 that holds the final weights, unless it
//! is pinned.

use std::fmt;

use netloom_arbitration::{DeficitTable, SlEntry};
use netloom_units::{Ratio, Sl};

use super::placement::{Misfit, Placement, PlacementError, Spacing, place};
use super::weights::{self, Bounds, Split};

/// The needs of one class of traffic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Class {
    /// The name, for messages and reports.
    pub name: String,
    pub sl: Sl,
    /// The positions of its entries: short distances give short waits.
    pub spacing: Spacing,
    /// The largest message (the unit of scheduling), in credits.
    pub mtu: u32,
    /// The wanted share of the link, above 0.
    pub share: Ratio,
}

/// The requirements of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Needs {
    /// Slots of the table.
    pub n_slots: usize,
    /// The largest message of the network, in credits.
    pub gmtu: u32,
    /// Bits of a weight, a deficit counter and the accumulator (8 in InfiniBand storage).
    pub register_bits: u32,
    /// The classes. Shares that sum to less than 1 are scaled up, because a table has no idle rest.
    pub classes: Vec<Class>,
    /// The largest relative error of a share stays below this.
    pub tolerance: Ratio,
    /// The treatment of a class whose slots are taken.
    pub misfit: Misfit,
    /// k, if it is pinned.
    pub k: Option<Ratio>,
    /// w, if it is pinned.
    pub w: Option<Ratio>,
    /// The total weight, if it is pinned. The tolerance does not apply to it.
    pub total: Option<u64>,
}

impl Needs {
    /// Returns needs with the sizes of paper 000: 64 slots, messages of up to 32 credits, 8-bit
    /// registers, errors below 1 %.
    pub fn new(classes: Vec<Class>) -> Needs {
        Needs {
            n_slots: 64,
            gmtu: 32,
            register_bits: 8,
            classes,
            tolerance: Ratio::new(1, 100),
            misfit: Misfit::Refuse,
            k: None,
            w: None,
            total: None,
        }
    }

    /// Returns the needs of Table 4 of paper 000: NC, VO, VI, CL, EE, BE and BK on service levels 0
    /// to 6.
    pub fn table_4() -> Needs {
        let class = |sl: u8, name: &str, distance, mtu, thousandths| Class {
            name: name.to_owned(),
            sl: Sl(sl),
            spacing: Spacing::Distance(distance),
            mtu,
            share: Ratio::new(thousandths, 1000),
        };
        Needs::new(vec![
            class(0, "NC", 2, 3, 94),
            class(1, "VO", 4, 2, 164),
            class(2, "VI", 8, 32, 300),
            class(3, "CL", 16, 32, 350),
            class(4, "EE", 32, 16, 40),
            class(5, "BE", 64, 16, 36),
            class(6, "BK", 64, 16, 16),
        ])
    }

    /// Returns the same with the total that gives the printed weights.
    pub fn table_4_as_printed() -> Needs {
        Needs {
            total: Some(1072),
            ..Needs::table_4()
        }
    }

    /// Returns the largest value of a register.
    fn register_max(&self) -> u32 {
        (1 << self.register_bits) - 1
    }

    /// Returns `N·GMTU`, the pool of a table with k = 1.
    fn unit_pool(&self) -> Ratio {
        Ratio::whole(self.n_slots as u64) * Ratio::whole(self.gmtu.into())
    }
}

/// A planned table and its deviations from the needs.
#[derive(Clone, PartialEq, Debug)]
pub struct DTablePlan {
    /// The table. Unused slots are omitted, as an arbiter would skip them.
    pub table: DeficitTable,
    /// The class of each slot, and the classes that were not placed as requested.
    pub placement: Placement,
    /// GMTU per slot of the pool.
    pub k: Ratio,
    /// w as the search finds it from the shares alone (or as pinned).
    pub searched_w: Ratio,
    /// w that also holds the final weights.
    pub w: Ratio,
    /// The nominal total weight, `N·GMTU·k`.
    pub pool: Ratio,
    /// The total T that was split.
    pub total: u64,
    /// The sum of the weights of all entries: the denominator of the shares given.
    pub sum: u64,
    /// The largest relative error of a share.
    pub error: Ratio,
    /// The largest possible value of the accumulator.
    pub largest_accumulator: u64,
    /// The classes, in the order of the needs.
    pub classes: Vec<PlannedClass>,
}

/// The result of one class.
#[derive(Clone, PartialEq, Debug)]
pub struct PlannedClass {
    pub name: String,
    pub sl: Sl,
    /// The wanted share.
    pub wanted: Ratio,
    /// The share when all classes are backlogged.
    pub given: Ratio,
    /// The relative error of the share, compared with the scaled share if shares sum to less than
    /// 1.
    pub error: Ratio,
    /// The smallest share that its entries allow: one message each, of the pool.
    pub min_share: Ratio,
    /// The largest share that its entries allow: w GMTU each, of the pool.
    pub max_share: Ratio,
    /// The largest number of slots from one entry to the next.
    pub distance: usize,
    /// The weights of its entries in the order of the slots, in credits.
    pub weights: Vec<u64>,
    /// Their sum.
    pub total: u64,
    /// The largest accumulator: its largest weight and a deficit of one credit less than a message.
    pub largest_accumulator: u64,
}

/// Why there is no table.
#[derive(Clone, PartialEq, Debug)]
pub enum Refusal {
    /// The list of classes is empty.
    NoClasses,
    /// A register width is outside 1 to 16 bits, the size of an entry.
    RegisterBits(u32),
    /// k or w is pinned to 0.
    NoPool,
    /// Two classes have the same service level.
    SlTwice(String, String, Sl),
    /// A class has no share.
    NoShare(String),
    /// The shares sum to more than the link.
    Shares(Ratio),
    /// A message has no credits or more than GMTU: class, its MTU, GMTU.
    Mtu(String, u32, u32),
    /// The slots of a class cannot be placed.
    Slots(String, PlacementError),
    /// Entries are lighter than one message: class, weight, MTU.
    Light(String, u64, u32),
    /// Entries do not fit: class, weight, the total, and the maximum of an entry.
    Heavy(String, u64, u64, u32),
    /// No total is within the tolerance: the nearest, its error, the tolerance.
    Shapeless(u64, Ratio, Ratio),
    /// The table type rejects the entries.
    Table(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoClasses => write!(f, "a table needs at least one class"),
            Refusal::RegisterBits(bits) => {
                write!(f, "registers cannot have {bits} bits; use 1 to 16")
            }
            Refusal::NoPool => write!(f, "k and w must be above 0"),
            Refusal::SlTwice(a, b, sl) => {
                write!(f, "{a} and {b} both use {sl}; use a different one for each")
            }
            Refusal::NoShare(name) => write!(f, "{name}: the share must be above 0"),
            Refusal::Shares(sum) => write!(
                f,
                "the shares sum to {:.4}; reduce them to at most 1",
                sum.as_f64()
            ),
            Refusal::Mtu(name, mtu, gmtu) => write!(
                f,
                "{name}: messages cannot have {mtu} credits; use 1 to {gmtu} (GMTU)"
            ),
            Refusal::Slots(name, error) => write!(f, "{name}: {error}"),
            Refusal::Light(name, weight, mtu) => write!(
                f,
                "{name}: an entry of weight {weight} is smaller than its message of {mtu} credits; \
                 raise k or the total weight, lengthen its distance, or increase its share"
            ),
            Refusal::Heavy(name, weight, total, most) => write!(
                f,
                "{name}: an entry needs weight {weight} at total {total}, but may have at most \
                 {most} (by w, and by the registers, which also hold a deficit); shorten its \
                 distance, or lengthen those of the classes with small shares, which lowers k"
            ),
            Refusal::Shapeless(total, error, tolerance) => write!(
                f,
                "no total weight has all shares within {:.2} %; the nearest is {total}, with an \
                 error of {:.2} %: pin it, or raise the tolerance",
                tolerance.as_f64() * 100.0,
                error.as_f64() * 100.0
            ),
            Refusal::Table(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Computes the table for these needs, or returns every reason why there is none.
pub fn plan(needs: &Needs) -> Result<DTablePlan, Vec<Refusal>> {
    let mut refusals = mistakes(needs);
    let wishes: Vec<Spacing> = needs.classes.iter().map(|c| c.spacing).collect();
    let placement = match place(needs.n_slots, &wishes, needs.misfit) {
        Ok(placement) if refusals.is_empty() => placement,
        Ok(_) => return Err(refusals),
        Err(errors) => {
            let named =
                |(class, e): (usize, _)| Refusal::Slots(needs.classes[class].name.clone(), e);
            refusals.extend(errors.into_iter().map(named));
            return Err(refusals);
        }
    };
    let n_entries: Vec<u32> = (0..wishes.len())
        .map(|class| placement.of(class).len() as u32)
        .collect();
    let shares = scaled_shares(needs);
    let k = needs
        .k
        .unwrap_or_else(|| search_k(needs, &shares, &n_entries));
    let searched_w = needs
        .w
        .unwrap_or_else(|| search_w(needs, &shares, &n_entries, k));
    let pool = needs.unit_pool() * k;
    let split = choose_total(needs, pool, &shares, &bounds(needs, &n_entries))?;
    build(
        needs,
        placement,
        &shares,
        &split,
        Scale {
            k,
            searched_w,
            pool,
        },
    )
}

/// k, w and what follows from k.
struct Scale {
    k: Ratio,
    searched_w: Ratio,
    pool: Ratio,
}

/// Returns the errors of the needs that need no computation.
fn mistakes(needs: &Needs) -> Vec<Refusal> {
    let mut refusals = vec![];
    if needs.classes.is_empty() {
        refusals.push(Refusal::NoClasses);
    }
    if !(1..=16).contains(&needs.register_bits) {
        refusals.push(Refusal::RegisterBits(needs.register_bits));
    }
    if [needs.k, needs.w].contains(&Some(Ratio::ZERO)) {
        refusals.push(Refusal::NoPool);
    }
    for (i, class) in needs.classes.iter().enumerate() {
        let name = || class.name.clone();
        if let Some(other) = needs.classes[..i].iter().find(|c| c.sl == class.sl) {
            refusals.push(Refusal::SlTwice(other.name.clone(), name(), class.sl));
        }
        if class.share.is_zero() {
            refusals.push(Refusal::NoShare(name()));
        }
        if !(1..=needs.gmtu).contains(&class.mtu) {
            refusals.push(Refusal::Mtu(name(), class.mtu, needs.gmtu));
        }
    }
    let sum = sum_of_shares(needs);
    if sum > Ratio::whole(1) {
        refusals.push(Refusal::Shares(sum));
    }
    refusals
}

fn sum_of_shares(needs: &Needs) -> Ratio {
    let shares = needs.classes.iter().map(|c| c.share);
    shares.fold(Ratio::ZERO, |sum, share| sum + share)
}

fn scaled_shares(needs: &Needs) -> Vec<Ratio> {
    let sum = sum_of_shares(needs);
    needs.classes.iter().map(|c| c.share / sum).collect()
}

/// Returns the smallest multiple of 0.1 that is not below any of these. A search in steps of 0.1
/// finds the same, but this has no steps and no floats (2.8 is exact).
fn tenth_above(needed: impl Iterator<Item = Ratio>) -> Ratio {
    let largest = needed.max().unwrap_or(Ratio::ZERO);
    let tenths = (largest * Ratio::whole(10)).ceil().max(1);
    Ratio::new(tenths.into(), 10)
}

/// Returns the k that each class needs: `n·MTU / (N·GMTU·φ)`.
fn needed_k(needs: &Needs, shares: &[Ratio], n_entries: &[u32]) -> Vec<Ratio> {
    let classes = needs.classes.iter().zip(shares).zip(n_entries);
    let least = |((class, &share), &n): ((&Class, &Ratio), &u32)| {
        let messages = Ratio::whole(u64::from(n) * u64::from(class.mtu));
        messages / (needs.unit_pool() * share)
    };
    classes.map(least).collect()
}

fn search_k(needs: &Needs, shares: &[Ratio], n_entries: &[u32]) -> Ratio {
    tenth_above(needed_k(needs, shares, n_entries).into_iter())
}

/// Returns the w that each class needs: `φ·N·k / n`.
fn needed_w(needs: &Needs, shares: &[Ratio], n_entries: &[u32], k: Ratio) -> Vec<Ratio> {
    let slots = Ratio::whole(needs.n_slots as u64);
    let one = |(&share, &n): (&Ratio, &u32)| share * slots * k / Ratio::whole(n.into());
    shares.iter().zip(n_entries).map(one).collect()
}

/// Searches w in steps that begin at k.
fn search_w(needs: &Needs, shares: &[Ratio], n_entries: &[u32], k: Ratio) -> Ratio {
    let needed = needed_w(needs, shares, n_entries, k);
    tenth_above(needed.into_iter().chain([k]))
}

fn bounds(needs: &Needs, n_entries: &[u32]) -> Vec<Bounds> {
    let gmtu = Ratio::whole(needs.gmtu.into());
    let pinned = needs.w.map(|w| (gmtu * w).floor() as u32);
    let bound = |(class, &n): (&Class, &u32)| {
        // A deficit remains when a message did not fit: at most one credit less than the message.
        let register = needs.register_max().saturating_sub(class.mtu - 1);
        Bounds {
            n_entries: n,
            least: class.mtu,
            most: pinned.map_or(register, |m| m.min(register)),
        }
    };
    needs.classes.iter().zip(n_entries).map(bound).collect()
}

fn choose_total(
    needs: &Needs,
    pool: Ratio,
    shares: &[Ratio],
    bounds: &[Bounds],
) -> Result<Split, Vec<Refusal>> {
    let name = |class: usize| needs.classes[class].name.clone();
    let heavy = |split: &Split| {
        let classes = weights::too_heavy(split, bounds).into_iter();
        let refusal = |class: usize| {
            let b: &Bounds = &bounds[class];
            let weight = split.parts[class].div_ceil(u64::from(b.n_entries));
            Refusal::Heavy(name(class), weight, split.total, b.most)
        };
        classes.map(refusal).collect::<Vec<_>>()
    };
    let Some(total) = needs.total else {
        return weights::search(pool.ceil(), shares, bounds, needs.tolerance).map_err(|failed| {
            match failed.nearest {
                Some(near) => vec![Refusal::Shapeless(near.total, near.error, needs.tolerance)],
                None => heavy(&failed.overflow),
            }
        });
    };
    let split = weights::split(total, shares);
    let mut refusals = heavy(&split);
    for class in weights::too_light(&split, bounds) {
        let weight = split.parts[class] / u64::from(bounds[class].n_entries);
        refusals.push(Refusal::Light(name(class), weight, bounds[class].least));
    }
    if refusals.is_empty() {
        Ok(split)
    } else {
        Err(refusals)
    }
}

fn build(
    needs: &Needs,
    placement: Placement,
    shares: &[Ratio],
    split: &Split,
    scale: Scale,
) -> Result<DTablePlan, Vec<Refusal>> {
    let entry_weights =
        |class: usize| weights::entry_weights(split.parts[class], placement.of(class).len() as u32);
    let each: Vec<Vec<u64>> = (0..shares.len()).map(entry_weights).collect();
    let heaviest = each.iter().flatten().copied().max().unwrap_or(0);
    let fitting_w = Ratio::whole(heaviest) / Ratio::whole(needs.gmtu.into());
    let w = match needs.w {
        Some(w) => w,
        None => tenth_above([scale.searched_w, fitting_w].into_iter()),
    };
    let classes: Vec<PlannedClass> = (0..shares.len())
        .map(|i| {
            let (class, weights) = (&needs.classes[i], &each[i]);
            let n = Ratio::whole(weights.len() as u64);
            let given = Ratio::new(split.parts[i].into(), split.sum.into());
            let gmtu = Ratio::whole(needs.gmtu.into());
            PlannedClass {
                name: class.name.clone(),
                sl: class.sl,
                wanted: class.share,
                given,
                error: weights::relative_error(given, shares[i]),
                min_share: n * Ratio::whole(class.mtu.into()) / scale.pool,
                max_share: n * gmtu * w / scale.pool,
                distance: placement.distance(i).expect("every class was placed"),
                total: split.parts[i],
                largest_accumulator: weights[0] + u64::from(class.mtu) - 1,
                weights: weights.clone(),
            }
        })
        .collect();
    let table = DeficitTable::new(entries(&placement, &classes))
        .map_err(|error| vec![Refusal::Table(error.to_string())])?;
    let accumulators = classes.iter().map(|c| c.largest_accumulator);
    Ok(DTablePlan {
        table,
        placement,
        k: scale.k,
        searched_w: scale.searched_w,
        w,
        pool: scale.pool,
        total: split.total,
        sum: split.sum,
        error: split.error,
        largest_accumulator: accumulators.max().unwrap_or(0),
        classes,
    })
}

/// Returns the entries in the order of the slots.
fn entries(placement: &Placement, classes: &[PlannedClass]) -> Vec<SlEntry> {
    let mut used = vec![0; classes.len()];
    let entry = |class: usize| {
        let weight = classes[class].weights[used[class]];
        used[class] += 1;
        SlEntry {
            sl: classes[class].sl,
            weight: u16::try_from(weight).expect("registers have at most 16 bits"),
        }
    };
    placement
        .slots
        .iter()
        .flatten()
        .copied()
        .map(entry)
        .collect()
}

#[cfg(test)]
#[path = "dtable_tests.rs"]
mod tests;
