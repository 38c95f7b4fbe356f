//! The part of `check --ranks` about a run over several processes.

use netloom_experiment::TooManyRanks;
use netloom_experiment::shared_run::SharedRun;
use netloom_experiment::spec::{Loaded, bytes_in_words};
use serde::Serialize;

use super::table::prefixed;

/// Returns how `ranks` processes of `threads` threads share the run of a file, if `ranks` is given
/// and the file is valid.
pub(super) fn of(
    loaded: &Loaded,
    ranks: Option<usize>,
    threads: usize,
) -> Result<Option<SharedRun>, TooManyRanks> {
    let (Some(ranks), Some(experiment), Some(cost)) = (ranks, &loaded.experiment, &loaded.cost)
    else {
        return Ok(None);
    };
    experiment.has_work_for(ranks)?;
    Ok(Some(SharedRun::new(experiment, cost, ranks, threads)))
}

/// Returns the facts about the run, each with a keyword.
pub(super) fn facts(run: &SharedRun) -> Vec<(String, String)> {
    let ranks = run.sharing.shares.len();
    let (switches, nics) = (
        run.span(|share| share.switches),
        run.span(|share| share.nics),
    );
    let mut facts = vec![
        (
            "ranks",
            format!(
                "{ranks}, with {} partitions in total; {} switches and {} NICs each",
                run.partitions,
                from_to(switches),
                from_to(nics)
            ),
        ),
        (
            "cut",
            format!(
                "{} of {} cables between switches connect different ranks",
                run.sharing.cut, run.sharing.cables
            ),
        ),
    ];
    if let Some(lookahead) = run.lookahead_ns {
        let windows = prefixed(run.windows);
        facts.push((
            "look-ahead",
            format!("{lookahead:.1} ns, so at most {windows} windows"),
        ));
    }
    let part = run.memory_bytes - run.whole_bytes;
    facts.push((
        "memory",
        format!(
            "about {} for the largest rank: {} common to all ranks, {} for its part",
            bytes_in_words(run.memory_bytes),
            bytes_in_words(run.whole_bytes),
            bytes_in_words(part)
        ),
    ));
    let efficiency = run.efficiency.map_or_else(
        || "unknown: the file does not define the offered load".to_owned(),
        |efficiency| {
            format!(
                "about {efficiency:.2} on one machine (computed, not measured): per window, the \
                 largest rank computes for {:.1} us ({:.2} of the mean) and exchanges data for \
                 {:.1} us",
                run.work_seconds * 1e6,
                run.imbalance(),
                run.window_seconds * 1e6
            )
        },
    );
    facts.push(("efficiency", efficiency));
    let owned = |(word, fact): (&str, String)| (word.to_owned(), fact);
    facts.into_iter().map(owned).collect()
}

/// Formats a range: `4`, or `4 to 5`.
fn from_to((least, most): (u64, u64)) -> String {
    match least == most {
        true => least.to_string(),
        false => format!("{least} to {most}"),
    }
}

/// The same facts as JSON.
#[derive(Serialize)]
pub(super) struct SharedRunLine {
    ranks: usize,
    partitions: usize,
    switches_of_a_rank: (u64, u64),
    nics_of_a_rank: (u64, u64),
    cables: u64,
    cut_cables: u64,
    lookahead_ns: Option<f64>,
    windows_at_most: f64,
    memory_bytes_of_the_largest_rank: u64,
    memory_bytes_of_every_rank: u64,
    /// Not measured.
    computed: Computed,
}

#[derive(Serialize)]
struct Computed {
    largest_rank_over_mean: f64,
    work_us_of_a_window: f64,
    exchange_us_of_a_window: f64,
    efficiency: Option<f64>,
}

impl SharedRunLine {
    pub(super) fn of(run: &SharedRun) -> SharedRunLine {
        SharedRunLine {
            ranks: run.sharing.shares.len(),
            partitions: run.partitions,
            switches_of_a_rank: run.span(|share| share.switches),
            nics_of_a_rank: run.span(|share| share.nics),
            cables: run.sharing.cables,
            cut_cables: run.sharing.cut,
            lookahead_ns: run.lookahead_ns,
            windows_at_most: run.windows,
            memory_bytes_of_the_largest_rank: run.memory_bytes,
            memory_bytes_of_every_rank: run.whole_bytes,
            computed: Computed {
                largest_rank_over_mean: run.imbalance(),
                work_us_of_a_window: run.work_seconds * 1e6,
                exchange_us_of_a_window: run.window_seconds * 1e6,
                efficiency: run.efficiency,
            },
        }
    }
}
