//! A running fabric: one interface to the kinds of switch, arbiters, queue schemes, radixes and
//! event queues, which are selected once.

mod atlas;
mod instances;
mod part;
mod running;
mod waiting;

use netloom_encoding::Validity;
use netloom_metrics::Punctuality;
use netloom_units::{NicId, Port, Sl, SwitchId, Tick};

use crate::plan::FabricPlan;
use crate::recorder::{Counters, PortUse, Protocol, Row};
use crate::trace::{Step, Watch};

pub(crate) use atlas::Atlas;
pub use instances::{LARGEST_RADIX, MOST_QUEUES, MOST_RECORDS, build, build_over, instances};
pub use waiting::Waiting;

/// Returns the rows of the recorder: (class, service level) for every level that a class may use.
pub fn rows(plan: &FabricPlan) -> Vec<(usize, Sl)> {
    let classes = plan.classes.iter().enumerate();
    classes
        .flat_map(|(at, class)| class.sls.iter().map(move |&sl| (at, sl)))
        .collect()
}

/// How to run a plan. No option changes a result.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads that share the partitions.
    pub threads: usize,
    /// Use the reference implementation of every fast path: the order of each tick is scrambled,
    /// arbiters are boxed, sets are wide enough for any switch, and no feature is left out.
    pub reference: bool,
    /// Packets to follow.
    pub watch: Option<Watch>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            threads: 1,
            reference: false,
            watch: None,
        }
    }
}

/// A fabric under simulation.
///
/// If several processes form one run, all of them call the same functions in the same order. Each
/// gets results of the whole fabric, except for ports and NICs: of these there are many, and only
/// the first process gets them.
pub trait Simulation {
    /// Returns the name of the instance of the fabric ([`instances`]).
    fn instance(&mut self) -> &'static str;
    /// Runs every tick before `end`.
    fn run_until(&mut self, end: Tick);
    /// Returns the number of events processed so far.
    fn events(&mut self) -> u64;
    /// Returns the earliest pending event.
    fn next_event(&mut self) -> Option<Tick>;
    /// Returns the totals since the start.
    fn counters(&mut self) -> Counters;
    /// Adds the measurements since the last call to `into` (one row per class and service level)
    /// and resets them.
    fn take_rows(&mut self, into: &mut [Row]);
    /// Adds the punctuality of every connection since the last call, in the order of the plan, and
    /// resets it.
    fn take_punctuality(&mut self, into: &mut [Punctuality]);
    /// Whether this process gets results of ports and NICs: the only one, or the first.
    fn leads(&self) -> bool;
    /// Returns the counts of every port since the start, in order of switch and port.
    fn port_uses(&mut self) -> Vec<(SwitchId, Port, PortUse)>;
    /// Returns the flits injected since the start by each NIC, one number per row, in order of NIC.
    fn nic_flits(&mut self) -> Vec<Vec<u64>>;
    /// Returns the number of packets between injection and delivery.
    fn in_flight(&mut self) -> u64;
    /// Returns the number of messages that have not completely left their NIC.
    fn waiting_messages(&mut self) -> u64;
    /// Returns the ranks that wait for a message, in order of class and NIC: class and NIC, and the
    /// NIC of the rank that they wait for.
    fn waiting_ranks(&mut self) -> Vec<(u8, NicId, NicId)>;
    /// Returns the ranks that are done with their programs, in order of class and NIC: class, NIC
    /// and time.
    fn ended_ranks(&mut self) -> Vec<(u8, NicId, Tick)>;
    /// Returns the steps of the followed packets, in order of time.
    fn steps(&mut self) -> Vec<Step>;
    /// Returns a cycle of waits, if there is one and if some packet has waited at an input for more
    /// than `wait_limit` ticks.
    fn deadlock(&mut self, now: Tick, wait_limit: u64) -> Option<Vec<Waiting>>;
    /// Checks the invariants that hold between ticks; panics with the name of a violated one.
    fn check_laws(&mut self);
    /// Checks that the packets in transit are those sent that have not arrived.
    ///
    /// # Errors
    /// If there are more or fewer.
    fn check_balance(&mut self) -> Validity;
    /// Whether all buffers are empty, as they must be in a drained fabric.
    fn is_idle(&mut self) -> bool;
    /// Returns the actions of endpoints and switches other than carrying packets; `None` if they
    /// have no such features.
    fn protocol(&mut self) -> Option<Protocol> {
        None
    }
    /// Returns the minimum of the numbers of all processes of the run. Processes thus agree on
    /// decisions that depend on their clocks.
    fn agree(&mut self, number: u64) -> u64;
    /// Returns the numbers of each process of the run.
    fn everyone(&mut self, mine: Vec<u64>) -> Vec<Vec<u64>>;
    /// Returns the partitions of this process.
    fn partitions(&self) -> std::ops::Range<usize>;
    /// Returns the state of a partition, between two calls of `run_until`.
    fn save(&mut self, partition: usize) -> Vec<u8>;
    /// Restores a partition of the same plan that was saved when every tick before `now` had been
    /// run. Once all partitions of all processes are restored, the fabric resumes as the saved one
    /// would have. Before that, and after an error, it must not be run.
    ///
    /// # Errors
    /// If no run of the plan can have saved this state.
    fn restore(&mut self, plan: &FabricPlan, partition: usize, now: Tick, saved: &[u8])
    -> Validity;
    /// Returns the flits in the stashes of each switch, in order of switch; empty without stashes.
    fn stash_flits(&mut self) -> Vec<u32> {
        Vec::new()
    }
}
