//! What all workloads of one collective operation have in common.
//!
//! Only messages are modelled: adding takes no time, and a rank sends a chunk as one message after
//! it has received what the chunk depends on.

use netloom_catalog::Section;
use netloom_packet::Volume;
use netloom_units::Bytes;

use super::programs::{Builder, Rank};
use super::{Generated, MOST_MESSAGES};
use crate::{NicSet, Setting};

/// The source of the algorithms with a power of two of partners.
pub(super) const THAKUR: &str = "R. Thakur, R. Rabenseifner, W. Gropp, \"Optimization of \
    collective communication operations in MPICH\", IJHPCA 19, 2005";

/// A workload that repeats one collective operation of all its ranks.
pub(super) trait Collective {
    /// Its name with an article, for messages.
    const WORDS: &'static str;

    /// Returns the NICs; each has a rank.
    fn nics(&self) -> &NicSet;

    /// Returns the data of a rank, as nccl-tests counts it: the larger of its two buffers.
    fn bytes(&self) -> Bytes;

    /// Returns the number of operations, one after another.
    fn rounds(&self) -> u32;

    /// Returns the outline of an operation of `n` ranks, at least two.
    fn outline(&self, n: u64) -> Outline;

    /// Returns what else is wrong for `n` ranks.
    fn problem(&self, _n: u64) -> Option<String> {
        None
    }

    /// Adds the steps of an operation. The chunks have the number that the outline gives.
    fn add(&self, builder: &mut Builder, ranks: &[Rank], chunks: &[u32]);
}

/// The outline of a collective operation.
pub(super) struct Outline {
    /// Its algorithm with an article, for messages.
    pub(super) words: &'static str,
    /// Messages of all ranks together.
    pub(super) n_messages: u64,
    /// Parts into which the data of a rank is divided.
    pub(super) n_chunks: u64,
    /// Chunks in the largest message.
    pub(super) largest: u64,
    /// Whether the number of ranks must be a power of two.
    pub(super) needs_power_of_two: bool,
    /// Bus bandwidth divided by algorithm bandwidth, as numerator and denominator.
    pub(super) bus_factor: [u64; 2],
}

/// Divides bytes into `n` chunks that differ by at most one byte, the longer ones first.
///
/// # Panics
/// If a chunk has 4 GiB or more.
pub(super) fn chunks(bytes: Bytes, n: u64) -> Vec<u32> {
    let chunk = |place| {
        let is_longer = place < bytes.0 % n;
        let bytes = bytes.0 / n + u64::from(is_longer);
        u32::try_from(bytes).expect("a message has less than 4 GiB")
    };
    (0..n).map(chunk).collect()
}

/// Returns the bytes of the largest message of an operation of `n` ranks, or why there is none.
pub(super) fn largest<C: Collective>(own: &C, n: u64) -> Result<u32, String> {
    if n < 2 {
        return Err(format!("{} needs at least two ranks; add `nics`", C::WORDS));
    }
    if let Some(problem) = own.problem(n) {
        return Err(problem);
    }
    let (bytes, outline) = (own.bytes(), own.outline(n));
    let Outline {
        words,
        n_messages,
        n_chunks,
        ..
    } = outline;
    if outline.needs_power_of_two && !n.is_power_of_two() {
        return Err(format!(
            "{words} needs a power of two of ranks, found {n}; use another `algorithm`"
        ));
    }
    if n_messages > MOST_MESSAGES as u64 {
        return Err(format!(
            "{words} of {n} ranks has {n_messages} messages, more than {MOST_MESSAGES}; use fewer \
             `nics`"
        ));
    }
    if bytes.0 < n_chunks {
        return Err(format!(
            "{bytes} in {n_chunks} chunks is less than a byte per chunk; use more `bytes` or fewer \
             `nics`"
        ));
    }
    // The longer chunks come first, and so does the largest message.
    let longer = (bytes.0 % n_chunks).min(outline.largest);
    let largest = u128::from(bytes.0 / n_chunks) * u128::from(outline.largest) + u128::from(longer);
    u32::try_from(largest).map_err(|_| {
        format!(
            "{bytes} in {words} of {n} ranks makes messages of 4 GiB or more; use fewer `bytes`"
        )
    })
}

/// Returns the bytes of the largest message; 1 if there is none, which generating reports.
pub(super) fn largest_of<C: Collective>(own: &C, setting: &Setting<'_>) -> u32 {
    let nics = own.nics().members(setting.n_nics, setting.groups);
    let largest = nics
        .ok()
        .and_then(|nics| largest(own, nics.len() as u64).ok());
    largest.unwrap_or(1)
}

/// Returns the programs of all ranks, or why there are none.
pub(super) fn generate<C: Collective>(own: &C, setting: &Setting<'_>) -> Result<Generated, String> {
    let nics = own
        .nics()
        .members(setting.n_nics, setting.groups)
        .map_err(|problem| format!("`nics`: {problem}"))?;
    let n = nics.len() as u64;
    largest(own, n)?;
    let outline = own.outline(n);
    let chunks = chunks(own.bytes(), outline.n_chunks);
    let ranks: Vec<Rank> = (0..nics.len() as u32).map(Rank).collect();
    let mut builder = Builder::new(nics.len() as u32);
    own.add(&mut builder, &ranks, &chunks);
    let programs = builder
        .repeat(own.rounds())
        .map_err(|misfit| misfit.to_string())?;
    let volume = Volume {
        bytes: own.bytes().0,
        operations: own.rounds(),
        bus_factor: outline.bus_factor,
    };
    let placed = programs.place(&nics, setting.n_nics).counted(volume);
    Ok(Generated::Programs(placed))
}

/// Notes the errors in the values that all collectives have.
pub(super) fn check<C: Collective>(own: &C, section: &mut Section<'_>) {
    if own.bytes().0 == 0 {
        let message = format!("{} needs at least one byte per rank", C::WORDS);
        wrong(section, "bytes", message, "use at least 1 byte per rank");
    }
    if own.rounds() == 0 {
        let message = "the number of rounds is 0".to_owned();
        wrong(section, "rounds", message, "use 1 or more");
    }
}

/// Notes an error of a value.
pub(super) fn wrong(section: &mut Section<'_>, key: &str, message: String, help: &str) {
    let place = section.place_of(key);
    section.notes.error("E0603", place, message).help(help);
}

/// Makes a kind of [`Collective`] a workload.
macro_rules! collective {
    ($kind:ty) => {
        impl $crate::Generator for $kind {
            fn largest(&self, setting: &$crate::Setting<'_>) -> u32 {
                super::collective::largest_of(self, setting)
            }

            fn generate(&self, setting: &$crate::Setting<'_>) -> Result<$crate::Generated, String> {
                super::collective::generate(self, setting)
            }

            fn sets(&self) -> Vec<$crate::NicSet> {
                vec![self.nics.clone()]
            }

            fn is_program(&self) -> bool {
                true
            }
        }
    };
}

pub(super) use collective;
