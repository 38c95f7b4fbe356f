//! The engine: partitions and how they are run.

use std::sync::Mutex;

use netloom_encoding::{State, Validity};
use netloom_units::Tick;

use crate::mailbox::Mailboxes;
use crate::partition::Partition;
use crate::threads::Threads;
use crate::transport::Transport;
use crate::windows::{Exchange, Run, Window};
use crate::{EventQueue, Local, Model, Placement};

/// Runs the partitions of a model. The result does not depend on the number of partitions and
/// threads.
pub struct Engine<M: Model, T = Local> {
    run: Run<M, T>,
    placement: Placement,
    /// `None` if the calling thread runs all partitions.
    threads: Option<Threads>,
    now: Tick,
}

impl<M: Model> Engine<M> {
    /// Creates an engine for all partitions of a run, one model each.
    ///
    /// `lookahead` is the minimum number of ticks between the sending and the effect of a message
    /// to another partition (`u64::MAX` with one partition).
    ///
    /// # Panics
    /// If there is no model, or more than 65536, or if the lookahead or the number of threads is
    /// zero.
    pub fn new(models: Vec<M>, lookahead: u64, threads: usize) -> Self {
        let transport = Local {
            n_partitions: models.len(),
        };
        Engine::with_transport(models, lookahead, threads, transport)
    }
}

impl<M: Model, T: Transport> Engine<M, T> {
    /// Creates an engine for the partitions of this process, one model each.
    ///
    /// # Panics
    /// Those of [`new`](Engine::new), or if the number of models differs from the transport's
    /// placement.
    pub fn with_transport(models: Vec<M>, lookahead: u64, threads: usize, transport: T) -> Self {
        let placement = transport.placement();
        assert!(!models.is_empty(), "an engine without a model");
        assert_eq!(
            models.len(),
            placement.here.len(),
            "one model for each partition of this process"
        );
        assert!(placement.total <= 1 << 16, "partition numbers have 16 bits");
        assert!(
            lookahead > 0,
            "a lookahead of zero ticks leaves no window to run"
        );
        assert!(threads > 0, "an engine without a thread");
        let partitions = models
            .into_iter()
            .map(|m| Mutex::new(Partition::new(m, &placement)))
            .collect();
        let mailboxes = Mailboxes::new(placement.clone(), transport.ranks());
        let exchange = Exchange::new(transport);
        let run = Run {
            partitions,
            mailboxes,
            lookahead,
            exchange,
            open: None,
        };
        let threads = Threads::start(threads.min(placement.here.len()));
        Engine {
            run,
            placement,
            threads,
            now: Tick::ZERO,
        }
    }

    /// Adds an external event, before the run or between two calls of
    /// [`run_until`](Self::run_until). Partitions are counted over all processes.
    ///
    /// # Panics
    /// If the tick has already been run, or if the partition belongs to another process.
    pub fn schedule(&mut self, partition: usize, when: Tick, event: M::Event) {
        assert!(
            when >= self.now,
            "{when} has already been run: it is now {}",
            self.now
        );
        let local = self
            .placement
            .local(partition)
            .expect("a partition of this process");
        self.partition(local).outbox.queue.push(when, event);
    }

    /// Runs every tick before `end` (exclusive). May be called again with a later end.
    pub fn run_until(&mut self, end: Tick) {
        if end <= self.now {
            return;
        }
        if self.placement.total == 1 {
            // With one partition there is one window, and no other partition to send messages to.
            let window = Window {
                last: Tick(end.0 - 1),
                horizon: Tick::NEVER,
            };
            self.partition(0).run(window);
        } else {
            match &self.threads {
                None => self.run.alone(end),
                Some(threads) => self.run.together(end, threads),
            }
        }
        self.now = end;
    }

    /// Returns the first tick that has not been run.
    pub fn now(&self) -> Tick {
        self.now
    }

    /// Returns the number of events applied so far in this process.
    ///
    /// # Panics
    /// If a model panicked before.
    pub fn events(&self) -> u64 {
        let partitions = self.run.partitions.iter();
        partitions
            .map(|p| p.lock().expect("no partition outlives a panic").events)
            .sum()
    }

    /// Returns the earliest pending event of this process, including messages in transit.
    pub fn next_event(&mut self) -> Option<Tick> {
        Some(self.run.earliest()).filter(|&next| next != Tick::NEVER)
    }

    /// Returns the models of this process, in the order of their partitions.
    pub fn models(&mut self) -> impl Iterator<Item = &mut M> {
        self.run.partitions().map(|partition| &mut partition.model)
    }

    /// Returns the model of the `i`-th partition of this process.
    ///
    /// # Panics
    /// If `i` is out of range.
    pub fn model(&mut self, i: usize) -> &mut M {
        &mut self.partition(i).model
    }

    /// Ends the run and returns the models.
    pub fn into_models(self) -> Vec<M> {
        let partitions = self.run.partitions.into_iter();
        partitions
            .map(|partition| {
                partition
                    .into_inner()
                    .expect("no partition outlives a panic")
                    .model
            })
            .collect()
    }

    fn partition(&mut self, local: usize) -> &mut Partition<M> {
        self.run.partitions[local]
            .get_mut()
            .expect("no partition outlives a panic")
    }
}

impl<M, T> Engine<M, T>
where
    M: Model<Event: std::fmt::Debug> + State,
    T: Transport,
{
    /// Returns the partitions of this process, counted over all processes.
    pub fn here(&self) -> std::ops::Range<usize> {
        self.placement.here.clone()
    }

    /// Appends the state of the `i`-th partition of this process: its model and all pending events.
    /// To be called between two calls of [`run_until`](Self::run_until), by all processes.
    ///
    /// # Panics
    /// If `i` is out of range.
    pub fn save(&mut self, i: usize, out: &mut Vec<u8>) {
        self.run.close_window();
        let now = self.now;
        self.partition(i).save(now, out);
    }

    /// Restores a partition that was saved when all ticks before `now` had been run. `check`
    /// validates the model and all pending events. When all partitions are restored, the engine
    /// resumes as the saved one would have. After an error it must be discarded.
    ///
    /// # Errors
    /// If no such partition can have saved this state.
    ///
    /// # Panics
    /// If `i` is out of range.
    pub fn restore(
        &mut self,
        i: usize,
        now: Tick,
        saved: &[u8],
        check: impl FnOnce(&M, &[(Tick, M::Event)]) -> Validity,
    ) -> Validity {
        self.partition(i).restore(now, saved, check)?;
        self.now = now;
        Ok(())
    }
}
