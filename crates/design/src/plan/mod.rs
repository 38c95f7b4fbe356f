//! From what classes need to the tables of a port, with what they promise.
//!
//! ```text
//! [plan] ─ request ─► lanes ─► attempt ─► Tables ─► Plan: shares, waits, slack, cost
//!                    which     compose:            │
//!                    classes   entries, weights,   └─ a need that is not met ─► conflict: the fewest
//!                    share     order                                           classes that exclude
//!                                                                              each other
//! ```
//!
//! Nothing is simulated. Shares are what the tables give when every class always has something to send, in
//! closed form ([`crate::qos::predict`]); waits are bounds that hold for any traffic of the others
//! ([`crate::qos::wait`]). A plan is only as good as its assumptions, so they are part of it.

mod attempt;
mod compose;
mod conflict;
mod cost;
pub mod devices;
mod fitted;
mod judgement;
pub mod lanes;
mod nearby;
pub mod request;
mod small;
mod tables;
mod writing;

use std::fmt;

use netloom_units::{Bytes, Sl, Time, Vl, short_time};

pub use conflict::Conflict;
pub use devices::{Cautions, Device, PortsOf, Room, Surroundings};
pub use fitted::Fitted;
pub use lanes::Grouping;
pub use request::{Class, HighTable, Kind, Ports, Request};
pub use tables::Tables;

use crate::qos::predict::{Laws, SizeLaw};

use crate::qos::wait::Wait;

/// What a bound along a path takes for granted besides [`crate::qos::wait::ASSUMPTION`].
pub const PATH_ASSUMPTION: &str = "along a path: at each of its outputs the packet finds no other packet of \
    its class before it, and its lane's credits for a whole packet are there (the class sends less than its \
    share, without bursts, and every buffer downstream drains); otherwise unbounded, for tables guarantee \
    no credits";

/// What classes in the high-priority table are trusted with.
pub const HIGH_ASSUMPTION: &str = "classes in the high-priority table send no more than their share; if \
    they do, the limit alone protects the others";

/// Planned tables and what they promise.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What was asked.
    pub request: Request,
    /// What the port is programmed with.
    pub tables: Tables,
    /// Which classes share a lane.
    pub lanes: Grouping,
    /// What each class gets, in the order of the request.
    pub classes: Vec<PlannedClass>,
    /// What was asked and is not given.
    pub unmet: Vec<Unmet>,
    /// What is lost, assumed or worth knowing.
    pub notes: Vec<String>,
    /// Sizes of the plan and its cost: a word and a sentence each.
    pub facts: Vec<(String, String)>,
    /// In a fabric of several devices, what each kind of port is programmed with and what it gives. The tables above are
    /// those of the switches.
    pub fitted: Vec<Fitted>,
    /// Whether no tables with as many entries keep more of what was asked; otherwise none were found.
    pub is_proved: bool,
}

impl Plan {
    /// Whether classes are trusted to send no more than their share: those of a high-priority table.
    pub fn trusts(&self) -> bool {
        self.classes.iter().any(|class| class.table == "high")
    }

    /// What was asked and is not given, by class; in a fabric of several devices, with the ports that fall short.
    pub fn shortfalls(&self) -> Vec<(usize, String)> {
        let told = |plan: &Plan, at: &str| -> Vec<(usize, String)> {
            let words = |unmet: &Unmet| {
                let words = unmet.words(&plan.request.classes);
                (unmet.class(), format!("{at}{words}"))
            };
            plan.unmet.iter().map(words).collect()
        };
        match self.fitted.is_empty() {
            true => told(self, ""),
            false => {
                let fitted = self.fitted.iter();
                fitted
                    .flat_map(|fitted| told(&fitted.plan, &format!("at {}: ", fitted.words())))
                    .collect()
            }
        }
    }

    /// What hosts are programmed with; the same as switches where the ports of a fabric are alike.
    pub fn host_tables(&self) -> &Tables {
        let hosts = self
            .fitted
            .iter()
            .find(|fitted| fitted.ports == PortsOf::Hosts);
        hosts.map_or(&self.tables, |hosts| &hosts.plan.tables)
    }

    /// Whether a deadline is not kept.
    pub fn is_late(&self) -> bool {
        self.unmet.iter().any(Unmet::is_deadline)
    }
}

/// What one class gets.
#[derive(Clone, Debug)]
pub struct PlannedClass {
    /// Its name.
    pub name: String,
    /// Its service level.
    pub sl: Sl,
    /// Its lane.
    pub vl: Vl,
    /// The table that serves it: `high`, `low`, or `table` where there is one.
    pub table: &'static str,
    /// The share it wants.
    pub share_wanted: f64,
    /// The share it has when all classes of the low table, or of the only one, have something to send, and those
    /// of the high table send what they are trusted with.
    pub share_given: f64,
    /// The share it has when all classes have something to send: in the high table that may be more than it was
    /// given, which is then missing elsewhere.
    pub share_if_all_send: f64,
    /// The smallest share that its entries can have, one packet each; where its distance is given.
    pub share_least: Option<f64>,
    /// The largest share that its entries can have, at their largest weight; where its distance is given.
    pub share_most: Option<f64>,
    /// Its entries (those of its lane, where it shares one).
    pub entries: usize,
    /// The largest number of entries from one of its own to the next.
    pub distance: usize,
    /// What its entries may send in one turn of the table, in bytes.
    pub bytes_per_turn: u64,
    /// The longest wait at an output.
    pub wait: Wait,
    /// The same as a time, if there is one.
    pub worst_wait: Option<Time>,
    /// The longest wait at all outputs of a path together, under the assumption for paths.
    pub path_wait: Option<Time>,
    /// What it may wait along its way.
    pub deadline: Option<Time>,
}

impl PlannedClass {
    /// What is left of the deadline; `None` without one, or if it is not kept.
    pub fn slack(&self) -> Option<Time> {
        let (deadline, wait) = (self.deadline?, self.path_wait?);
        let left = deadline.picos().checked_sub(wait.picos())?;
        Some(Time::from_picos(left))
    }
}

/// A need that a plan does not meet.
#[derive(Clone, PartialEq, Debug)]
pub enum Unmet {
    /// A class may wait longer than its deadline: class, the bound along its way (or why there is none),
    /// the deadline.
    Deadline(usize, Result<Time, String>, Time),
    /// A share errs by more than the tolerance.
    Share {
        /// The class.
        class: usize,
        /// What it wants.
        wanted: f64,
        /// What it is given.
        given: f64,
        /// The entries of a table, if no table with as many keeps all shares and deadlines.
        entries: Option<usize>,
    },
}

impl Unmet {
    /// Whether it is a deadline: that is refused, where a share is only told.
    pub fn is_deadline(&self) -> bool {
        matches!(self, Unmet::Deadline(..))
    }

    /// The class.
    pub fn class(&self) -> usize {
        match self {
            Unmet::Deadline(class, ..) | Unmet::Share { class, .. } => *class,
        }
    }

    /// The sentence, with the name of the class.
    pub fn words(&self, classes: &[Class]) -> String {
        let name = &classes[self.class()].name;
        match self {
            Unmet::Deadline(_, Ok(wait), deadline) => {
                format!(
                    "{name} may wait {}; its deadline is {deadline}",
                    rounded(*wait)
                )
            }
            Unmet::Deadline(_, Err(why), deadline) => {
                format!("{name} has no bound, because {why}; its deadline is {deadline}")
            }
            Unmet::Share {
                wanted,
                given,
                entries,
                ..
            } => {
                let why = match entries {
                    Some(entries) => {
                        format!("no table of {entries} entries keeps all shares and deadlines")
                    }
                    None => "the nearest table that was found".to_owned(),
                };
                format!(
                    "{name} gets {:.2} % instead of {:.2} %: {why}",
                    given * 100.0,
                    wanted * 100.0
                )
            }
        }
    }
}

/// A time with three digits, for people.
pub fn rounded(time: Time) -> String {
    short_time(time.as_nanos())
}

/// Why there is no plan.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Everything that could not be met.
    pub reasons: Vec<String>,
    /// The nearest plan, if there are any tables at all.
    pub nearest: Option<Box<Plan>>,
    /// Whether no tables keep what was asked; otherwise none were found.
    pub is_proved: bool,
    /// What was refused, of ports that are alike.
    asked: Box<Request>,
    /// Whose ports, in a fabric of several devices.
    device: Option<String>,
}

impl Refusal {
    /// The fewest classes that cannot be met together. This takes longer than the refusal itself, up to a limit.
    pub fn conflict(&self) -> Conflict {
        let mut conflict = conflict::smallest(&self.asked, &self.reasons);
        if let Some(device) = &self.device
            && conflict.reasons != self.reasons
        {
            let reasons = conflict.reasons.iter_mut();
            reasons.for_each(|reason| *reason = format!("at {device}: {reason}"));
        }
        conflict
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reasons.join("; "))
    }
}

impl std::error::Error for Refusal {}

/// The tables for a request. Deadlines and the sum of shares are met or refused; a share that comes not near
/// enough is told in the plan ([`Plan::unmet`]).
pub fn plan(request: &Request) -> Result<Plan, Refusal> {
    match request.devices.is_empty() {
        true => alone(request),
        false => fitted::plan(request),
    }
}

/// The tables for a request whose ports are alike.
fn alone(request: &Request) -> Result<Plan, Refusal> {
    let effort = compose::Effort::new(u64::MAX);
    attempt::attempt(request, &effort).map_err(|failure| Refusal {
        reasons: failure.reasons,
        nearest: failure.nearest,
        is_proved: failure.is_proved,
        asked: Box::new(request.clone()),
        device: None,
    })
}

/// Packs the entries of a table into a port that holds fewer: the same shares as well as they go, no entry
/// of weight 0, all in the low table. The laws say what the packets of each lane are like.
pub fn compress(
    table: &netloom_arbitration::VlArbitrationTable,
    laws: &Laws,
    capacity: u16,
) -> Result<Plan, Refusal> {
    let empty = netloom_arbitration::VlArbitrationTable::default();
    let tables = Tables::InfiniBand {
        high: empty,
        low: table.clone(),
        limit: netloom_arbitration::NO_LIMIT,
    };
    let shares = tables.shares(laws, Bytes(64));
    let class = |(vl, law): (usize, &Option<_>)| {
        let sizes: Option<SizeLaw> = law.clone();
        let share = request::exact(shares[vl]);
        sizes.filter(|_| !share.is_zero()).map(|sizes| Class {
            name: Vl(vl as u8).to_string(),
            sl: Sl(vl as u8),
            share,
            sizes,
            has_only_these: false,
            deadline: None,
            distance: None,
            dscps: vec![],
        })
    };
    let request = Request {
        ports: Ports {
            entries: Some(capacity),
            high_table: HighTable::Never,
            ..Ports::default()
        },
        classes: laws.iter().enumerate().filter_map(class).collect(),
        devices: vec![],
        cautions: Cautions::default(),
    };
    plan(&request)
}

#[cfg(test)]
mod tests;
