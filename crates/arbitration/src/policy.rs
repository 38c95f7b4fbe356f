//! What a file says about arbitration, before there are any ports.

use crate::{Arbiter, MANAGEMENT_VL, TwoTable};

/// A described arbiter: the parameters of a file; builds one arbiter per output.
pub trait Policy: Send + Sync {
    /// A fresh arbiter.
    fn build(&self) -> Box<dyn Arbiter>;

    /// The concrete two-table arbiter, on which the simulator specialises: `Some` exactly for
    /// `ib-two-table`. Clones share their tables.
    fn two_table(&self) -> Option<TwoTable> {
        None
    }

    /// What cannot work, or will disappoint, on such a port.
    fn faults(&self, context: &PortContext) -> Vec<Fault>;

    /// What it tells apart.
    fn speaks(&self) -> Speaks;

    /// The lanes it can send at all, one bit each. A packet of any other lane waits for ever.
    fn sendable_vls(&self) -> u32 {
        u32::MAX
    }

    /// The service levels it can send at all, one bit each. A packet of any other waits for ever, unless
    /// it is management.
    fn sendable_sls(&self) -> u32 {
        u32::MAX
    }

    /// Whether its arbiters must be told of arrivals ([`Arbiter::arrived`]), which takes a buffer at the output:
    /// a tag belongs to a packet from there on.
    fn tags_arrivals(&self) -> bool {
        false
    }

    /// Whether an eligible packet is sent sooner or later, however much the others have to send
    /// (if its lane and service level can be sent at all).
    fn serves_everyone(&self) -> bool;
}

/// What an arbiter tells apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Speaks {
    /// The queues, by number or by age; their lanes do not matter (but for management).
    Queues,
    /// The virtual lanes; queues of one lane are taken as one FIFO.
    Vls,
    /// The service levels; several lanes of one have turns, or go by their tags.
    Sls,
}

/// The port an arbiter will sit at, as far as it can be known before a run.
#[derive(Clone, Debug, Default)]
pub struct PortContext {
    /// Data lanes of the port: VL0 up to this number less one.
    pub data_vls: u8,
    /// The largest packet that each lane will carry, in bytes on the wire, where that is known.
    pub largest_packet: [Option<u32>; 16],
    /// The same for each service level; a level with traffic has one.
    pub largest_of_sl: [Option<u32>; 16],
    /// The lanes that traffic will use, one bit each.
    pub used_vls: u32,
}

/// One thing about a policy that does not suit a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The parameter it concerns.
    pub key: &'static str,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// What to write instead.
    pub help: String,
    /// Whether nothing can be run; otherwise it is a warning.
    pub is_error: bool,
}

impl Fault {
    /// Something that cannot be run.
    pub(crate) fn error(key: &'static str, message: String, help: String) -> Fault {
        Fault {
            key,
            message,
            help,
            is_error: true,
        }
    }

    /// Something that can be run and will probably disappoint.
    pub(crate) fn warning(key: &'static str, message: String, help: String) -> Fault {
        Fault {
            key,
            message,
            help,
            is_error: false,
        }
    }
}

/// The fault of a table that can send nothing.
pub(crate) fn no_entries(sls: u32) -> Option<Fault> {
    (sls == 0).then(|| {
        Fault::error(
            "table",
            "the table is empty: nothing would ever be sent".into(),
            "write entries of [service level, weight], as in table = [[0, 64], [1, 32]]".into(),
        )
    })
}

/// Lanes named that the port lacks, and lanes used that are not named.
pub(crate) fn lane_faults(key: &'static str, named: u32, context: &PortContext) -> Vec<Fault> {
    let mut faults = vec![];
    let data_vls = u32::from(context.data_vls);
    for vl in 0..32 {
        let is_named = named >> vl & 1 == 1;
        let is_used = context.used_vls >> vl & 1 == 1 && vl != u32::from(MANAGEMENT_VL.0);
        if is_named && vl >= data_vls {
            faults.push(Fault::error(
                key,
                format!("VL{vl} does not exist: the port has {data_vls} data lanes"),
                format!("leave VL{vl} out of `{key}`, or give the port more lanes"),
            ));
        }
        if is_used && !is_named {
            faults.push(Fault::error(
                key,
                format!("VL{vl} carries traffic and is not in `{key}`: it would never send"),
                format!("add VL{vl} to `{key}`"),
            ));
        }
    }
    faults
}
