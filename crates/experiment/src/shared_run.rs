//! Estimates a run over several processes before it starts.
//!
//! Counts (partitions, cables, look-ahead) are exact. Memory and efficiency are computed, not
//! measured: from the time of a packet-hop, the memory of a process, and the cost of a window
//! between two ranks of one machine. They show whether several ranks are useful, and what limits
//! them.

use netloom_fabric::{Share, Sharing};

use crate::Experiment;
use crate::spec::Cost;

/// Time in which two ranks of one machine exchange the packets of a window: 4 KB in each direction
/// over shared memory, measured with OpenMPI 4.1.4. A rank exchanges with every other one in turn.
/// Between machines the time is several times longer.
const EXCHANGE_SECONDS: f64 = 2.0e-6;
/// Time in which they agree on the next window, measured in the same way. It grows with the
/// logarithm of their number.
const AGREEMENT_SECONDS: f64 = 0.8e-6;
/// Processor time of a message to another rank at both ends, on average over packets and credits:
/// encoding, decoding and copies. Measured with two ranks of two threads on one machine.
const MESSAGE_SECONDS: f64 = 55e-9;

/// A run over several processes.
#[derive(Clone, PartialEq, Debug)]
pub struct SharedRun {
    /// The part of each process, and the cut cables.
    pub sharing: Sharing,
    /// Partitions of all processes.
    pub partitions: usize,
    /// Simulated time between exchanges of partitions; `None` for one partition.
    pub lookahead_ns: Option<f64>,
    /// Maximum number of exchanges; idle time is skipped.
    pub windows: f64,
    /// Memory of the process with the largest part of the fabric.
    pub memory_bytes: u64,
    /// The part of `memory_bytes` that every process has undivided.
    pub whole_bytes: u64,
    /// Time per window in which the process with the largest part of the fabric computes.
    pub work_seconds: f64,
    /// Time of messages, exchange and agreement at the end of a window.
    pub window_seconds: f64,
    /// Time of a single thread divided by the total time of all threads, from 0 to 1; `None` if the
    /// amount of work is unknown.
    pub efficiency: Option<f64>,
}

impl SharedRun {
    /// Estimates an experiment over `ranks` processes with `threads` threads each.
    pub fn new(experiment: &Experiment, cost: &Cost, ranks: usize, threads: usize) -> SharedRun {
        let sharing = Sharing::new(&experiment.fabric, ranks);
        let length = experiment.measure.length.0 as f64;
        let windows = sharing
            .lookahead
            .map_or(1.0, |ticks| (length / ticks.max(1) as f64).ceil().max(1.0));
        let largest = sharing.largest_part();
        let whole_bytes = cost.whole_bytes(ranks);
        let threads = threads as f64;
        let work_seconds = cost.cpu_seconds() * largest / windows / threads;
        // As if all cables, those of NICs included, carried the same; a packet returns a credit.
        let cables = sharing.cables + u64::from(experiment.fabric.topology.n_nics());
        let messages = 2.0 * cost.packet_hops * sharing.cut as f64 / cables as f64;
        let of_messages = MESSAGE_SECONDS * messages * largest / windows / threads;
        let window_seconds = window_seconds(ranks) + of_messages;
        // All processes wait for the one with the most work.
        let together = (work_seconds + window_seconds) * windows * ranks as f64 * threads;
        let is_known = cost.packet_hops > 0.0;
        SharedRun {
            partitions: experiment.fabric.n_partitions(),
            lookahead_ns: sharing
                .lookahead
                .map(|ticks| experiment.timebase.nanos(ticks as f64)),
            windows,
            memory_bytes: whole_bytes + (cost.divided_bytes as f64 * largest) as u64,
            whole_bytes,
            work_seconds,
            window_seconds,
            efficiency: is_known.then(|| cost.cpu_seconds() / together),
            sharing,
        }
    }

    /// Returns the work of the most loaded process relative to the mean.
    pub fn imbalance(&self) -> f64 {
        self.sharing.largest_part() * self.sharing.shares.len() as f64
    }

    /// Returns the minimum and the maximum of a quantity over all processes.
    pub fn span(&self, of: impl Fn(&Share) -> u64) -> (u64, u64) {
        let all = || self.sharing.shares.iter().map(&of);
        (all().min().unwrap_or(0), all().max().unwrap_or(0))
    }
}

/// Returns the time of exchange and agreement at the end of a window without messages.
fn window_seconds(ranks: usize) -> f64 {
    let others = ranks.saturating_sub(1) as f64;
    let rounds = f64::from(ranks.max(1).next_power_of_two().trailing_zeros());
    EXCHANGE_SECONDS * others + AGREEMENT_SECONDS * rounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Request, load};

    /// Four switches in a row with cables of 100 ns between them, and two NICs on each.
    const ROW: &str = r#"netloom = 1
        [topology]
        kind = "mesh"
        sides = [4]
        hosts = 2
        [link]
        delay = "100 ns"
        [[traffic]]
        load = 0.5
        [measure]
        length = "100 us"
    "#;

    fn shared(ranks: usize) -> SharedRun {
        with_threads(ranks, 1)
    }

    fn with_threads(ranks: usize, threads: usize) -> SharedRun {
        let loaded = load(&Request {
            ranks,
            ..Request::new("row.toml", ROW)
        });
        let messages = crate::render(&loaded.document, &loaded.notes, false);
        let experiment = loaded.experiment.unwrap_or_else(|| panic!("{messages}"));
        SharedRun::new(&experiment, &loaded.cost.expect("a cost"), ranks, threads)
    }

    #[test]
    fn a_row_of_four_switches_is_cut_in_the_middle() {
        let two = shared(2);
        assert_eq!(
            (two.partitions, two.sharing.cables, two.sharing.cut),
            (2, 3, 1)
        );
        assert_eq!(two.span(|share| share.switches), (2, 2));
        assert_eq!(two.span(|share| share.nics), (4, 4));
        assert!((two.imbalance() - 1.0).abs() < 1e-12);
        // A cable, and the time of a header or a credit.
        let lookahead = two.lookahead_ns.unwrap();
        assert!((100.0..110.0).contains(&lookahead), "{lookahead}");
        assert_eq!(two.windows, (100_000.0 / lookahead).ceil());
        let four = shared(4);
        assert_eq!((four.partitions, four.sharing.cut), (4, 3));
    }

    #[test]
    fn one_process_has_all_of_it() {
        let one = shared(1);
        assert_eq!(
            (one.sharing.cut, one.lookahead_ns, one.windows),
            (0, None, 1.0)
        );
        assert_eq!(one.efficiency, Some(1.0));
        assert_eq!(one.window_seconds, 0.0);
    }

    #[test]
    fn memory_is_divided_but_for_what_each_has() {
        let (one, two, four) = (shared(1), shared(2), shared(4));
        assert!(one.whole_bytes < two.whole_bytes, "MPI needs some too");
        assert_eq!(two.whole_bytes, four.whole_bytes);
        let divided = |run: &SharedRun| run.memory_bytes - run.whole_bytes;
        assert_eq!(divided(&one) / 2, divided(&two));
    }

    #[test]
    fn what_does_not_fit_one_machine_may_fit_several() {
        // Two classes of which one alone nearly fills the links: messages wait at the NICs by the
        // million.
        let crowded = ROW.replace("load = 0.5", "load = 0.9\n[[traffic]]\nload = 0.9");
        let crowded = crowded.replace("100 us", "20 ms");
        let is_refused = |ranks: usize, memory: Option<u64>| {
            let loaded = load(&Request {
                ranks,
                memory,
                will_run: true,
                ..Request::new("row.toml", &crowded)
            });
            let needs = loaded.cost.map(|cost| cost.memory_bytes);
            (loaded.notes.iter().any(|note| note.code == "E0704"), needs)
        };
        let (_, needs) = is_refused(1, None);
        let less = needs.map(|needs| needs - 1);
        assert!(needs.unwrap() > 40_000_000, "{needs:?}");
        assert!(!is_refused(1, needs).0);
        assert!(is_refused(1, less).0);
        assert!(!is_refused(2, less).0);
        assert!(
            is_refused(4, Some(20_000_000)).0,
            "every rank has some of it"
        );
    }

    #[test]
    fn small_fabrics_are_not_worth_ranks() {
        let (two, four) = (shared(2).efficiency.unwrap(), shared(4).efficiency.unwrap());
        assert!(0.0 < four && four < two && two < 1.0, "{two} {four}");
    }

    #[test]
    fn threads_share_work_and_messages() {
        let (one, four) = (shared(2), with_threads(2, 4));
        assert!((one.work_seconds / four.work_seconds - 4.0).abs() < 1e-9);
        let messages = |run: &SharedRun| run.window_seconds - window_seconds(2);
        assert!(messages(&one) > 0.0);
        assert!((messages(&one) / messages(&four) - 4.0).abs() < 1e-9);
        assert!(four.efficiency < one.efficiency);
    }

    #[test]
    fn a_window_of_two_ranks_is_what_was_measured() {
        assert!((window_seconds(2) - 2.8e-6).abs() < 1e-12);
        assert!((window_seconds(4) - 7.6e-6).abs() < 1e-12);
    }
}
