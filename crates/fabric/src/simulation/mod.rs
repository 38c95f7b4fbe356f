//! A fabric that runs: the one interface behind which kinds of switch, arbiters, queue schemes, radixes and event
//! queues are chosen once.

mod atlas;
mod instances;
mod running;
mod waiting;

use netloom_encoding::Validity;
use netloom_metrics::Punctuality;
use netloom_units::{NicId, Port, Sl, SwitchId, Tick};

use crate::plan::FabricPlan;
use crate::recorder::{Counters, PortUse, Protocol, Row};
use crate::trace::{Step, Watch};

pub(crate) use atlas::Atlas;
pub use instances::{LARGEST_RADIX, MOST_QUEUES, MOST_RECORDS, build, build_over};
pub use waiting::Waiting;

/// The rows of the recorder: (class, service level) for every level a class may use.
pub fn rows(plan: &FabricPlan) -> Vec<(usize, Sl)> {
    let classes = plan.classes.iter().enumerate();
    classes
        .flat_map(|(at, class)| class.sls.iter().map(move |&sl| (at, sl)))
        .collect()
}

/// How to run a plan; no choice here changes a result.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads that share the partitions.
    pub threads: usize,
    /// Take the slow twin of every fast path of the kernel: a heap that scrambles the order of each tick, boxed
    /// arbiters, sets wide enough for any switch.
    pub reference: bool,
    /// Follow packets.
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
/// Where several processes are one run, each of them calls the same functions in the same order, and each is told of
/// the whole fabric; but for its ports and NICs, of which there are many: the first process alone is told of these.
pub trait Simulation {
    /// Runs every tick before `end`.
    fn run_until(&mut self, end: Tick);
    /// Events processed so far.
    fn events(&mut self) -> u64;
    /// The earliest event to come.
    fn next_event(&mut self) -> Option<Tick>;
    /// Totals since the start.
    fn counters(&mut self) -> Counters;
    /// Adds what was recorded since the last call to `into` (one row per class and service level) and
    /// forgets it.
    fn take_rows(&mut self, into: &mut [Row]);
    /// Adds the punctuality of every connection of the plan since the last call, in the order of the plan,
    /// and forgets it.
    fn take_punctuality(&mut self, into: &mut [Punctuality]);
    /// Whether this process is told of ports and NICs: the only one, or the first.
    fn leads(&self) -> bool;
    /// What every port has done since the start, in order of switch and port.
    fn port_uses(&mut self) -> Vec<(SwitchId, Port, PortUse)>;
    /// Flits injected since the start by each NIC, one number per row, in order of NIC.
    fn nic_flits(&mut self) -> Vec<Vec<u64>>;
    /// Packets between injection and delivery.
    fn in_flight(&mut self) -> u64;
    /// Messages that have not wholly left their NIC.
    fn waiting_messages(&mut self) -> u64;
    /// The ranks of programs that wait for a message, in order of class and NIC: their class and NIC, and the NIC of the
    /// rank that they wait for.
    fn waiting_ranks(&mut self) -> Vec<(u8, NicId, NicId)>;
    /// The steps of the packets that are followed, in order of time.
    fn steps(&mut self) -> Vec<Step>;
    /// If some packet has waited at an input for more than `patience` ticks: a cycle of waits, if there
    /// is one.
    fn deadlock(&mut self, now: Tick, patience: u64) -> Option<Vec<Waiting>>;
    /// Checks the laws that hold between ticks; panics with the name of a broken one.
    fn check_laws(&mut self);
    /// Whether as many packets are under way as were sent and have not arrived.
    ///
    /// # Errors
    /// If there are more or fewer.
    fn check_balance(&mut self) -> Validity;
    /// Whether all room is free again, as it must be in a drained fabric.
    fn is_idle(&mut self) -> bool;
    /// What endpoints and switches did beyond carrying packets; `None` where they do nothing of the kind.
    fn protocol(&mut self) -> Option<Protocol> {
        None
    }
    /// The least of the numbers that all processes of the run bring; alone, its own. So they agree on what depends on
    /// their clocks.
    fn agree(&mut self, number: u64) -> u64;
    /// What each process of the run brings; alone, its own.
    fn everyone(&mut self, mine: Vec<u64>) -> Vec<Vec<u64>>;
    /// The partitions that this process runs.
    fn partitions(&self) -> std::ops::Range<usize>;
    /// The state of one of them, between two calls of `run_until`.
    fn save(&mut self, partition: usize) -> Vec<u8>;
    /// Puts a partition into the state in which one of the same plan was saved when every tick before `now` had been run.
    /// Once all partitions of all processes are restored, the fabric resumes as the saved one would have. Before that, and
    /// after an error, it is not to be run.
    ///
    /// # Errors
    /// If no run of the plan can have saved this.
    fn restore(&mut self, plan: &FabricPlan, partition: usize, now: Tick, saved: &[u8])
    -> Validity;
    /// Flits that the stashes of each switch hold now, in order of switch; empty without stashes.
    fn stash_flits(&mut self) -> Vec<u32> {
        Vec::new()
    }
}
