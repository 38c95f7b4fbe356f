//! What a NIC asks of a workload.

use netloom_units::NicId;

/// One message to come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When, in cycles of the NIC's own clock (one flit of its link each) since the start of the run.
    pub cycle: u64,
    /// To whom.
    pub destination: NicId,
    /// How many bytes of payload.
    pub bytes: u32,
    /// Service level, where the workload names one for each message; otherwise that of the class.
    pub sl: Option<u8>,
    /// Number of the flow among those of this NIC and class, where the workload tells flows apart;
    /// otherwise 0.
    pub flow: u8,
}

/// How far one NIC has come in one traffic class. Plain data, owned by the NIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cursor {
    /// Messages created so far.
    pub number: u32,
    /// A time of the workload's own, for example the last arrival in fractions of a cycle.
    pub time: u64,
}

netloom_encoding::encoded!(Cursor { number, time });

/// A workload of one traffic class. It knows no switch and keeps no state: what it answers depends only
/// on the NIC and its cursor, so it can be shared by all partitions and threads.
pub trait Source: Send + Sync {
    /// The next message of a NIC in this class, or `None` if there will be no more. Cycles never decrease.
    fn next(&self, nic: NicId, cursor: &mut Cursor) -> Option<Arrival>;

    /// The programs behind this workload, if its messages depend on each other: then
    /// [`next`](Source::next) is not asked.
    fn program(&self) -> Option<&dyn Program> {
        None
    }

    /// How many messages there are in all, where they end whatever the length of the run: those of programs and of
    /// lists.
    fn messages(&self) -> Option<u64> {
        None
    }
}

/// One step of a rank: what an MPI program does between computing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// A message is handed to the NIC; the program goes on.
    Send {
        /// To whom.
        to: NicId,
        /// Bytes of payload.
        bytes: u32,
    },
    /// The program is stopped until a message has wholly arrived.
    Receive {
        /// From whom.
        from: NicId,
        /// Its number among the messages that `from` sends, from 0.
        message: u32,
    },
}

/// The programs of the ranks of a job, one rank on a NIC. Like a [`Source`] it keeps no state: how far a rank
/// has come and what has arrived is kept by its NIC.
pub trait Program: Send + Sync {
    /// A step of the rank on a NIC, or `None` after its last (and on NICs without a rank).
    fn op(&self, nic: NicId, step: u32) -> Option<Op>;

    /// The rank that runs on a NIC.
    fn rank(&self, nic: NicId) -> Option<u32>;

    /// How long the rank on a NIC computes before this step, which is a send: in cycles of the NIC, from when the step
    /// before is done.
    fn computes_before(&self, _nic: NicId, _step: u32) -> u64 {
        0
    }

    /// Whether a NIC may have a rank for some seed. Which NICs have one for this seed, their steps tell.
    fn may_run_on(&self, nic: NicId) -> bool {
        self.op(nic, 0).is_some()
    }
}
