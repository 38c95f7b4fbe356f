//! What is wrong with the files of OpenSM, each with its line, what OpenSM will really do, and the cure.
//!
//! ```text
//! keys          QoS off, keys that do nothing, lines too long      the file alone
//! lists         values that OpenSM reads differently               the file alone
//! lanes         lanes that fold, starve, drop, or are not used     the file; better with the fabric
//! weights       weights and limits that give other shares          the file alone
//! sets          hosts and switches that do not fit together        the file alone
//! capabilities  what ports have no room for                        the fabric
//! torus         rules of torus-2QoS                                the file alone
//! policy        rules that never match                             the policy; better with the fabric
//! log           what OpenSM did instead                            its log
//! ```
//!
//! A *finding* is a mistake: a good file has none. A *remark* is worth knowing and no mistake of the file; what always
//! holds for OpenSM, such as the lanes of its first sweep, is one. Findings are errors if OpenSM will program something
//! else than the file says, or nothing at all; and warnings if it will do as told, to the disappointment of the writer.

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

/// The largest packet if nothing else is known.
const DEFAULT_LARGEST_PACKET: u32 = 4096;

/// What is known of the fabric.
#[derive(Clone, Copy, Debug)]
pub struct Fabric<'a> {
    /// Its nodes and cables.
    pub subnet: &'a Subnet,
    /// What PortInfo says of its ports, as far as it was read.
    pub lanes: &'a BTreeMap<PortName, PortLanes>,
}

/// What there is to look at.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// opensm.conf.
    pub conf: &'a Conf,
    /// qos-policy.conf.
    pub policy: Option<&'a Policy>,
    /// The fabric that it is for.
    pub fabric: Option<Fabric<'a>>,
    /// OpenSM's log, and which text of a report it is.
    pub log: Option<(&'a str, u16)>,
    /// The largest packet, in bytes.
    pub largest_packet: u32,
}

impl<'a> Subject<'a> {
    /// A file alone, for packets of 4096 bytes.
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

/// What was found.
#[derive(Clone, Default, Debug)]
pub struct Report {
    /// Mistakes. A good file has none.
    pub findings: Notes,
    /// What is worth knowing and no mistake.
    pub remarks: Notes,
}

/// The checks, each of which looks at one group of mistakes.
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

/// Everything that is wrong with the files, and worth knowing about them.
pub fn lint(subject: &Subject<'_>) -> Report {
    let mut report = Report::default();
    for check in CHECKS {
        check(subject, &mut report);
    }
    report
}
