//! The interface through which a NIC gets traffic from a workload.

use netloom_encoding::Encoded;
use netloom_units::NicId;

/// The next message of a NIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When, in cycles of the NIC's clock since the start of the run. A cycle is one flit of the
    /// NIC's link.
    pub cycle: u64,
    pub destination: NicId,
    /// Bytes of payload.
    pub bytes: u32,
    /// Service level, if the workload sets one per message; otherwise the class sets it.
    pub sl: Option<u8>,
    /// Number of the flow among those of this NIC and class, if the workload distinguishes flows;
    /// otherwise 0.
    pub flow: u8,
}

/// Progress of one NIC in one traffic class. Plain data, owned by the NIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Encoded)]
pub struct Cursor {
    /// Messages created so far.
    pub number: u32,
    /// A time kept by the workload, for example the last arrival in fractions of a cycle.
    pub time: u64,
}

/// A workload of one traffic class. It knows no switch and keeps no state: its answers depend only
/// on the NIC and its cursor, so all partitions and threads can share it.
pub trait Source: Send + Sync {
    /// Returns the next message of a NIC in this class, or `None` after the last one. Cycles never
    /// decrease.
    fn next(&self, nic: NicId, cursor: &mut Cursor) -> Option<Arrival>;

    /// Returns the programs behind this workload, if its messages depend on each other.
    /// [`next`](Source::next) is then not called.
    fn program(&self) -> Option<&dyn Program> {
        None
    }

    /// Returns the number of messages, if it is independent of the length of the run, as for
    /// programs and lists.
    fn messages(&self) -> Option<u64> {
        None
    }
}

/// One step of a rank: an operation of an MPI program between its computations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Hands a message to the NIC and continues at once.
    Send {
        to: NicId,
        /// Bytes of payload.
        bytes: u32,
    },
    /// Blocks the program until a message has arrived completely.
    Receive {
        from: NicId,
        /// Number of the message among those that `from` sends, counted from 0.
        message: u32,
    },
}

/// The data of collective operations, as nccl-tests counts it. Algorithm bandwidth is `bytes`
/// divided by the time of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Volume {
    /// The larger buffer of a rank.
    pub bytes: u64,
    /// Operations, one after another.
    pub operations: u32,
    /// Bus bandwidth divided by algorithm bandwidth, as numerator and denominator.
    pub bus_factor: [u64; 2],
}

/// The programs of a job's ranks, with one rank per NIC. Like a [`Source`] it keeps no state: the
/// NIC keeps the rank's progress and what has arrived.
pub trait Program: Send + Sync {
    /// Returns a step of the rank on a NIC, or `None` after the last step and on NICs without a
    /// rank.
    fn op(&self, nic: NicId, step: u32) -> Option<Op>;

    /// Returns the rank that runs on a NIC.
    fn rank(&self, nic: NicId) -> Option<u32>;

    /// Returns how long the rank computes before this step, which is a send, in cycles of the NIC
    /// since the previous step was done.
    fn computes_before(&self, _nic: NicId, _step: u32) -> u64 {
        0
    }

    /// Returns the sum over all messages of all ranks of a function of their bytes.
    fn sum(&self, of_bytes: &dyn Fn(u32) -> u64) -> u64;

    /// Returns the data that benchmarks count, if these programs are collective operations.
    fn volume(&self) -> Option<Volume> {
        None
    }

    /// Whether its NICs may run other programs too.
    fn shares_nics(&self) -> bool {
        false
    }

    /// Whether a NIC may have a rank for some seed. Its steps tell whether it has one for this
    /// seed.
    fn may_run_on(&self, nic: NicId) -> bool {
        self.op(nic, 0).is_some()
    }
}
