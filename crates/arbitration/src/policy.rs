//! Arbitration as a file describes it, before there are any ports.

use crate::head::vl_bit;
use crate::{Arbiter, MANAGEMENT_VL, TwoTable};

/// A described arbiter: the parameters of a file. It builds one arbiter per output.
#[warn(missing_docs)]
pub trait Policy: Send + Sync {
    /// Builds a new arbiter.
    fn build(&self) -> Box<dyn Arbiter>;

    /// Returns the concrete two-table arbiter, on which the simulator specialises: `Some` exactly
    /// for `ib-two-table`. Clones share their tables.
    fn two_table(&self) -> Option<TwoTable> {
        None
    }

    /// Returns errors and warnings about this policy on such a port.
    fn faults(&self, context: &PortContext) -> Vec<Fault>;

    /// Returns what the arbiter distinguishes.
    fn speaks(&self) -> Speaks;

    /// Returns the lanes that it can send at all, one bit each. A packet of any other lane waits
    /// forever.
    fn sendable_vls(&self) -> u32 {
        u32::MAX
    }

    /// Returns the service levels that it can send at all, one bit each. A packet of any other
    /// waits forever, unless it is management.
    fn sendable_sls(&self) -> u32 {
        u32::MAX
    }

    /// Returns whether its arbiters need announcements of arrivals ([`Arbiter::arrived`]). This
    /// requires a buffer at the output, where a packet gets its tag.
    fn tags_arrivals(&self) -> bool {
        false
    }

    /// Returns whether every eligible packet is eventually sent, however much the others send (if
    /// its lane and service level can be sent at all).
    fn serves_everyone(&self) -> bool;
}

/// What an arbiter distinguishes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Speaks {
    /// The queues, by number or by age; their lanes do not matter (except management).
    Queues,
    /// The virtual lanes; queues of one lane are one FIFO.
    Vls,
    /// The service levels; several lanes of one level take turns, or are ordered by their tags.
    Sls,
}

/// The known properties of the port of an arbiter before a run.
#[derive(Clone, Debug, Default)]
pub struct PortContext {
    /// Number of data lanes of the port: VL0 up to this number less one.
    pub data_vls: u8,
    /// The largest packet of each lane, in bytes on the wire, if known.
    pub largest_packet: [Option<u32>; 16],
    /// The same for each service level; a level with traffic has one.
    pub largest_of_sl: [Option<u32>; 16],
    /// The lanes that traffic will use, one bit each.
    pub used_vls: u32,
}

/// A problem of a policy on a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The parameter concerned.
    pub key: &'static str,
    /// The problem, in one sentence without a full stop.
    pub message: String,
    /// What to change.
    pub help: String,
    /// Whether a run is impossible; otherwise it is a warning.
    pub is_error: bool,
}

impl Fault {
    /// Returns a problem that prevents a run.
    pub(crate) fn error(key: &'static str, message: String, help: String) -> Fault {
        Fault {
            key,
            message,
            help,
            is_error: true,
        }
    }

    /// Returns a problem that does not prevent a run, but probably has unwanted effects.
    pub(crate) fn warning(key: &'static str, message: String, help: String) -> Fault {
        Fault {
            key,
            message,
            help,
            is_error: false,
        }
    }
}

/// Returns the fault of a table that can send nothing.
pub(crate) fn no_entries(sls: u32) -> Option<Fault> {
    (sls == 0).then(|| {
        Fault::error(
            "table",
            "the table is empty, so nothing would ever be sent".into(),
            "add entries of [service level, weight], as in table = [[0, 64], [1, 32]]".into(),
        )
    })
}

/// Returns the faults of used lanes that are not listed, and of listed lanes that the port lacks.
pub(crate) fn lane_faults(key: &'static str, named: u32, context: &PortContext) -> Vec<Fault> {
    let data_lanes = context.used_vls & !vl_bit(MANAGEMENT_VL);
    let lacking = LaneWords::of(data_lanes & !named).map(|lanes| {
        let LaneWords { names, several } = &lanes;
        let (carry, are, they) = match several {
            true => ("carry", "are", "they"),
            false => ("carries", "is", "it"),
        };
        Fault::error(
            key,
            format!("{names} {carry} traffic but {are} not in `{key}`: {they} would never send"),
            format!("add {names} to `{key}`"),
        )
    });
    lacking
        .into_iter()
        .chain(lanes_outside(key, named, context))
        .collect()
}

/// Returns the fault of listed lanes that the port lacks.
pub(crate) fn lanes_outside(key: &'static str, named: u32, context: &PortContext) -> Option<Fault> {
    let n = context.data_vls;
    let outside = LaneWords::of((u64::from(named) >> n << n) as u32)?;
    let LaneWords { names, several } = &outside;
    let (does, lanes) = (
        if *several { "do" } else { "does" },
        if n == 1 { "lane" } else { "lanes" },
    );
    Some(Fault::error(
        key,
        format!("{names} {does} not exist: the port has {n} data {lanes}"),
        format!("remove {names} from `{key}`, or add lanes to the port"),
    ))
}

/// The names of lanes: `VL1, VL2 and VL3`.
pub(crate) struct LaneWords {
    pub(crate) names: String,
    pub(crate) several: bool,
}

impl LaneWords {
    /// Returns the words of some lanes, one bit each; `None` if there are none.
    pub(crate) fn of(lanes: u32) -> Option<LaneWords> {
        let names = (0..32).filter(|vl| lanes >> vl & 1 == 1);
        let names: Vec<String> = names.map(|vl| format!("VL{vl}")).collect();
        Some(LaneWords {
            names: listed(&names)?,
            several: names.len() > 1,
        })
    }
}

/// Joins words: `a, b and c`.
pub(crate) fn listed(words: &[String]) -> Option<String> {
    let (last, others) = words.split_last()?;
    Some(match others {
        [] => last.clone(),
        _ => format!("{} and {last}", others.join(", ")),
    })
}
