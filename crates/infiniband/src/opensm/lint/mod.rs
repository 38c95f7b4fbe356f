//! Finds errors in OpenSM files, and reports the line, what OpenSM will do, and the fix.
//!
//! ```text
//! keys          QoS off, keys without effect, lines too long       the file alone
//! lists         values that OpenSM reads differently               the file alone
//! lanes         lanes that fold, starve, drop, or are not used     the file; better with the fabric
//! weights       weights and limits that give other shares          the file alone
//! sets          hosts and switches that do not fit together        the file alone
//! capabilities  tables that do not fit the ports                   the fabric
//! torus         rules of torus-2QoS                                the file alone
//! policy        rules that never match                             the policy; better with the fabric
//! log           what OpenSM did instead                            its log
//! ```
//!
//! A *finding* is an error in the file: a good file has none. A *remark* is worth knowing but not
//! an error, such as the lanes of OpenSM's first sweep, which apply to every file. A finding is an
//! error if OpenSM will not program what the file says. It is a warning if OpenSM will, but the
//! result is most likely not intended.

mod capabilities;
mod keys;
mod lanes;
mod lists;
mod log;
mod policy;
mod sets;
mod situations;
mod torus;
mod weights;
mod words;

use std::collections::BTreeMap;

use netloom_catalog::Notes;

use crate::{PortLanes, PortName, Subnet};

use super::conf::Conf;
use super::policy::Policy;

/// The default of the largest packet.
const DEFAULT_LARGEST_PACKET: u32 = 4096;

/// The fabric that the files are for.
#[derive(Clone, Copy, Debug)]
pub struct Fabric<'a> {
    /// Nodes and cables.
    pub subnet: &'a Subnet,
    /// The known PortInfo fields of its ports.
    pub lanes: &'a BTreeMap<PortName, PortLanes>,
}

/// The files to check.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// opensm.conf.
    pub conf: &'a Conf,
    /// qos-policy.conf.
    pub policy: Option<&'a Policy>,
    /// The fabric that the files are for.
    pub fabric: Option<Fabric<'a>>,
    /// OpenSM's log, and its index in the report.
    pub log: Option<(&'a str, u16)>,
    /// The largest packet, in bytes.
    pub largest_packet: u32,
}

impl<'a> Subject<'a> {
    /// Returns a subject with opensm.conf only, and packets of 4096 bytes.
    pub fn of(conf: &'a Conf) -> Subject<'a> {
        Subject {
            conf,
            policy: None,
            fabric: None,
            log: None,
            largest_packet: DEFAULT_LARGEST_PACKET,
        }
    }
}

/// The findings and remarks.
#[derive(Clone, Default, Debug)]
pub struct Report {
    /// Errors in the files. A good file has none.
    pub findings: Notes,
    /// Facts that are worth knowing but are not errors.
    pub remarks: Notes,
}

/// The checks, each for one group of errors.
const CHECKS: [fn(&Subject<'_>, &mut Report); 9] = [
    keys::check,
    lists::check,
    lanes::check,
    weights::check,
    sets::check,
    capabilities::check,
    torus::check,
    policy::check,
    log::check,
];

/// Runs all checks and returns the findings and remarks.
pub fn lint(subject: &Subject<'_>) -> Report {
    let mut report = Report::default();
    for check in CHECKS {
        check(subject, &mut report);
    }
    report
}
