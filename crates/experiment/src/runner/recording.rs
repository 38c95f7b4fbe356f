//! Records a run by epoch in little memory.
//!
//! Rules about warm-up and convergence need a few sums of every epoch. Percentiles need histograms,
//! which are large. So every epoch has its sums, and blocks of epochs have complete rows:
//!
//! ```text
//! epochs   . . . . . . . . . . . . . . . .      40 bytes per row each
//! blocks  |       |       |       |       |     at most 40; beyond that, pairs are merged
//! ```
//!
//! A warm-up found after the run ends at a block boundary. A given one has its own boundary.

use netloom_encoding::{Encoded, Invalid, State, Validity, ensure, ensure_below, ensure_equal};
use netloom_fabric::Row;
use netloom_units::Tick;

use super::gathered::MOST;

/// Limit on the blocks with their own rows.
const MOST_BLOCKS: usize = 40;

/// The sums of one row in one epoch.
#[derive(Clone, Copy, Default, Debug, Encoded)]
pub(super) struct Sums {
    pub(super) offered_flits: u64,
    pub(super) injected_flits: u64,
    pub(super) delivered_flits: u64,
    pub(super) messages: u64,
    /// Ticks of latency of those messages.
    pub(super) latency: u64,
    pub(super) packets: u64,
    /// Ticks of network latency of those packets.
    pub(super) network_latency: u64,
}

impl Sums {
    fn of(row: &Row) -> Sums {
        Sums {
            offered_flits: row.offered_flits,
            injected_flits: row.injected_flits,
            delivered_flits: row.delivered_flits,
            messages: row.delivered_messages,
            latency: u64::try_from(row.message_latency.sum()).unwrap_or(u64::MAX),
            packets: row.network_latency.count(),
            network_latency: u64::try_from(row.network_latency.sum()).unwrap_or(u64::MAX),
        }
    }

    pub(super) fn add(&mut self, other: &Sums) {
        self.offered_flits += other.offered_flits;
        self.injected_flits += other.injected_flits;
        self.delivered_flits += other.delivered_flits;
        self.messages += other.messages;
        self.latency = self.latency.saturating_add(other.latency);
        self.packets += other.packets;
        self.network_latency = self.network_latency.saturating_add(other.network_latency);
    }
}

#[derive(Encoded)]
struct Block {
    first_epoch: usize,
    rows: Vec<Row>,
}

/// The recording of a run.
#[derive(State)]
pub(super) struct Recording {
    #[state(constant)]
    n_rows: usize,
    #[state(constant)]
    epoch: u64,
    #[state(constant)]
    length: Tick,
    /// Epochs of a given warm-up.
    given: Option<usize>,
    n_epochs: usize,
    /// `n_rows` values per epoch, one epoch after the other.
    sums: Vec<Sums>,
    blocks: Vec<Block>,
    /// Epochs per block, if the warm-up is not given.
    span: usize,
    #[state(constant)]
    scratch: Vec<Row>,
}

impl Recording {
    pub(super) fn new(n_rows: usize, epoch: u64, length: Tick, given: Option<usize>) -> Self {
        Recording {
            n_rows,
            epoch,
            length,
            given,
            n_epochs: 0,
            sums: Vec::new(),
            blocks: Vec::new(),
            span: 1,
            scratch: vec![Row::default(); n_rows],
        }
    }

    /// Checks that each epoch has sums, and that the blocks follow one another from the first
    /// epoch.
    pub(super) fn validate(&self) -> Validity {
        ensure(
            self.n_epochs == 0 || self.start_of(self.n_epochs - 1) < self.length,
            || {
                let most = self.length.0.div_ceil(self.epoch);
                Invalid::new("epochs", format_args!("at most {most}"), self.n_epochs)
            },
        )?;
        let n_sums = self.n_epochs.saturating_mul(self.n_rows);
        ensure_equal("sums of epochs", n_sums, self.sums.len())?;
        let sums = self.sums.iter().flat_map(|sums| {
            [
                sums.offered_flits,
                sums.injected_flits,
                sums.delivered_flits,
                sums.messages,
            ]
        });
        let rows = || self.blocks.iter().flat_map(|block| &block.rows);
        for count in sums.chain(rows().flat_map(Row::counts)) {
            ensure_below("sum of an epoch", count, MOST)?;
        }
        let starts = self.blocks.iter().map(|block| block.first_epoch);
        let is_first = starts.clone().next().unwrap_or(0) == 0;
        let is_rising = starts.clone().is_sorted_by(|one, other| one < other);
        let is_within = starts.clone().all(|start| start < self.n_epochs);
        let has_rows = self
            .blocks
            .iter()
            .all(|block| block.rows.len() == self.n_rows);
        let is_empty = self.blocks.is_empty() == (self.n_epochs == 0);
        let has_span = self.span.is_power_of_two() && self.blocks.len() <= MOST_BLOCKS;
        let all = is_first && is_rising && is_within && has_rows && is_empty && has_span;
        ensure(all, || {
            let found: Vec<usize> = starts.collect();
            Invalid::new(
                "blocks of epochs",
                "increasing first epochs from 0 on",
                format_args!("{found:?}"),
            )
        })
    }

    /// Returns the first tick of an epoch, or the end of the run if that is earlier.
    pub(super) fn start_of(&self, epoch: usize) -> Tick {
        Tick((epoch as u64).saturating_mul(self.epoch).min(self.length.0))
    }

    /// Returns the end of the last epoch.
    pub(super) fn now(&self) -> Tick {
        self.start_of(self.n_epochs)
    }

    /// Returns the end of the next epoch.
    pub(super) fn end_of_next(&self) -> Tick {
        self.start_of(self.n_epochs + 1)
    }

    pub(super) fn n_epochs(&self) -> usize {
        self.n_epochs
    }

    /// Returns the number of epochs with full length: all except possibly the last.
    pub(super) fn n_whole_epochs(&self) -> usize {
        let is_whole = self.n_epochs as u64 * self.epoch <= self.length.0;
        if is_whole {
            self.n_epochs
        } else {
            self.n_epochs - 1
        }
    }

    /// Ends a warm-up whose end is found during the run, and starts a block.
    pub(super) fn warm_up_ends(&mut self) {
        self.given = Some(self.n_epochs);
    }

    /// Ends the run here, within the next epoch.
    pub(super) fn end_at(&mut self, now: Tick) {
        self.length = now;
    }

    /// Adds the next epoch; `take` adds its results to cleared rows.
    pub(super) fn add_epoch(&mut self, take: impl FnOnce(&mut [Row])) {
        take(&mut self.scratch);
        self.sums.extend(self.scratch.iter().map(Sums::of));
        let opens_block = match self.given {
            Some(given) => self.n_epochs == 0 || self.n_epochs == given,
            None => self.n_epochs.is_multiple_of(self.span),
        };
        if opens_block {
            if self.given.is_none() && self.blocks.len() == MOST_BLOCKS {
                self.join_pairs();
            }
            let rows = vec![Row::default(); self.n_rows];
            self.blocks.push(Block {
                first_epoch: self.n_epochs,
                rows,
            });
        }
        let block = self
            .blocks
            .last_mut()
            .expect("the first epoch opens a block");
        for (sum, row) in block.rows.iter_mut().zip(&mut self.scratch) {
            sum.merge(row);
            row.clear();
        }
        self.n_epochs += 1;
    }

    fn join_pairs(&mut self) {
        // An even number of full blocks: the next block begins a pair.
        let mut old = std::mem::take(&mut self.blocks).into_iter();
        while let Some(mut first) = old.next() {
            if let Some(second) = old.next() {
                first
                    .rows
                    .iter_mut()
                    .zip(&second.rows)
                    .for_each(|(a, b)| a.merge(b));
            }
            self.blocks.push(first);
        }
        self.span *= 2;
    }

    /// Returns the sums of every row in an epoch.
    pub(super) fn sums(&self, epoch: usize) -> &[Sums] {
        &self.sums[epoch * self.n_rows..][..self.n_rows]
    }

    /// Returns the sums of all rows of an epoch together.
    pub(super) fn sum(&self, epoch: usize) -> Sums {
        let mut all = Sums::default();
        self.sums(epoch).iter().for_each(|sums| all.add(sums));
        all
    }

    /// Returns the first block boundary at or after an epoch, or the end.
    pub(super) fn boundary(&self, epoch: usize) -> usize {
        let starts = self.blocks.iter().map(|block| block.first_epoch);
        starts
            .filter(|&start| start >= epoch)
            .min()
            .unwrap_or(self.n_epochs)
    }

    /// Returns when the last message of each row was received, over the whole run.
    pub(super) fn last_deliveries(&self) -> Vec<Option<Tick>> {
        let last = |row: usize| {
            let blocks = self.blocks.iter();
            blocks
                .filter_map(|block| block.rows[row].last_delivery)
                .max()
        };
        (0..self.n_rows).map(last).collect()
    }

    /// Returns complete rows from a block boundary to the end.
    pub(super) fn rows_from(&self, boundary: usize) -> Vec<Row> {
        let mut rows = vec![Row::default(); self.n_rows];
        for block in self
            .blocks
            .iter()
            .filter(|block| block.first_epoch >= boundary)
        {
            rows.iter_mut()
                .zip(&block.rows)
                .for_each(|(sum, row)| sum.merge(row));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Epoch `e` delivers one message with latency `e`.
    fn recorded(n_epochs: usize, given: Option<usize>) -> Recording {
        let mut recording = Recording::new(1, 10, Tick(n_epochs as u64 * 10), given);
        for epoch in 0..n_epochs {
            recording.add_epoch(|rows| {
                rows[0].delivered_messages = 1;
                rows[0].message_latency.record(epoch as u64);
            });
        }
        recording
    }

    #[test]
    fn blocks_stay_few_and_lose_nothing() {
        for n in [1, 39, 40, 41, 80, 81, 1000, 1001] {
            let recording = recorded(n, None);
            assert!(recording.blocks.len() <= MOST_BLOCKS, "{n} epochs");
            let all = &recording.rows_from(0)[0].message_latency;
            assert_eq!((all.count(), all.max()), (n as u64, Some(n as u64 - 1)));
            for wanted in 0..n {
                let cut = recording.boundary(wanted);
                assert!(cut >= wanted && cut < wanted + recording.span.max(2));
                let rest = &recording.rows_from(cut)[0].message_latency;
                assert_eq!(rest.count(), (n - cut) as u64);
                assert_eq!(rest.min(), (cut < n).then_some(cut as u64));
            }
        }
    }

    #[test]
    fn a_given_warmup_is_cut_exactly() {
        let recording = recorded(1000, Some(123));
        assert_eq!(recording.blocks.len(), 2);
        assert_eq!(recording.boundary(123), 123);
        assert_eq!(recording.rows_from(123)[0].message_latency.min(), Some(123));
    }

    #[test]
    fn a_last_epoch_may_be_shorter() {
        let mut recording = Recording::new(1, 10, Tick(25), None);
        for end in [10, 20, 25] {
            assert_eq!(recording.end_of_next(), Tick(end));
            recording.add_epoch(|_| {});
        }
        assert_eq!((recording.n_epochs(), recording.n_whole_epochs()), (3, 2));
        assert_eq!(recording.now(), Tick(25));
    }
}
