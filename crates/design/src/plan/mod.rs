//! Computes the tables of a port from the needs of classes, and what the tables guarantee.
//!
//! ```text
//! [plan] ─ request ─► lanes ─► attempt ─► Tables ─► Plan: shares, waits, slack, cost
//!                    which     compose:            │
//!                    classes   entries, weights,   └─ a need that is not met ─► conflict: the fewest
//!                    share     order                                           classes that exclude
//!                                                                              each other
//! ```
//!
//! Nothing is simulated. Shares are what the tables give when every class always has something to
//! send, in closed form ([`crate::qos::predict`]). Waits are bounds that hold for any traffic of
//! the other classes ([`crate::qos::wait`]). A plan includes its assumptions, since its guarantees
//! depend on them.

mod attempt;
mod compose;
mod conflict;
mod cost;
pub mod devices;
mod document;
mod fitted;
mod judgement;
pub mod lanes;
mod nearby;
pub mod request;
mod small;
mod tables;
mod text;
mod writing;

use std::fmt;

use netloom_units::{Sl, Time, Vl, short_time};

pub use conflict::Conflict;
pub use devices::{Cautions, Device, HighLimit, LimitIssue, PortsOf, Room, Surroundings};
pub use fitted::Fitted;
pub use lanes::Grouping;
pub use request::{Class, HighTable, Kind, Ports, Request};
pub use tables::Tables;

use crate::qos::slowdown::Slowdown;
use crate::qos::wait::Wait;

/// The assumption of bounds along a path, in addition to [`crate::qos::wait::ASSUMPTION`].
pub const PATH_ASSUMPTION: &str = "along a path, at each output: no other packet of the class is \
    queued before this one, and its lane holds credits for a whole packet. This holds if the class \
    sends less than its share, without bursts, and every buffer downstream drains. Otherwise the \
    wait is unbounded, since tables do not guarantee credits";

/// The assumption about classes in the high-priority table.
pub const HIGH_ASSUMPTION: &str = "classes in the high-priority table are assumed to send at most \
    their share; if they send more, only the limit protects the others";

/// The assumption about classes that have more than their share of the low table, or of the only
/// one.
pub const RAISED_ASSUMPTION: &str = "classes whose entries exceed their share, to keep a slowdown, \
    are assumed to send at most their share; if they send more, others keep only the rest of the \
    table";

/// Planned tables and their guarantees.
#[derive(Clone, Debug)]
pub struct Plan {
    pub request: Request,
    /// The tables of the port.
    pub tables: Tables,
    /// The classes of each lane.
    pub lanes: Grouping,
    /// The result of each class, in the order of the request.
    pub classes: Vec<PlannedClass>,
    /// The needs that the plan does not meet.
    pub unmet: Vec<Unmet>,
    /// Losses, assumptions and hints.
    pub notes: Vec<String>,
    /// Sizes of the plan and its cost: a word and a sentence each.
    pub facts: Vec<(String, String)>,
    /// In a fabric of several devices, the tables of each kind of port. The tables above are those
    /// of the switches.
    pub fitted: Vec<Fitted>,
    /// Whether it is proved that no tables with this number of entries meet more needs; otherwise
    /// the search found none.
    pub is_proved: bool,
}

impl Plan {
    /// Returns whether the plan assumes that some classes send at most their share: those in a
    /// high-priority table, and those with more than their share of another.
    pub fn trusts(&self) -> bool {
        self.classes.iter().any(|class| class.is_trusted)
    }

    /// Returns whether a class has a slowdown.
    pub fn has_slowdowns(&self) -> bool {
        let mut classes = self.classes.iter();
        classes.any(|class| class.slowdown_wanted.is_some())
    }

    /// Returns the unmet needs by class; in a fabric of several devices, with the ports concerned.
    pub fn shortfalls(&self) -> Vec<(usize, String)> {
        let described = |plan: &Plan, at: &str| -> Vec<(usize, String)> {
            let words = |unmet: &Unmet| {
                let words = unmet.words(&plan.request.classes);
                (unmet.class(), format!("{at}{words}"))
            };
            plan.unmet.iter().map(words).collect()
        };
        match self.fitted.is_empty() {
            true => described(self, ""),
            false => {
                let fitted = self.fitted.iter();
                fitted
                    .flat_map(|fitted| described(&fitted.plan, &format!("at {}: ", fitted.words())))
                    .collect()
            }
        }
    }

    /// Returns the tables of the hosts; those of the switches if all ports of the fabric are the
    /// same.
    pub fn host_tables(&self) -> &Tables {
        let hosts = self
            .fitted
            .iter()
            .find(|fitted| fitted.ports == PortsOf::Hosts);
        hosts.map_or(&self.tables, |hosts| &hosts.plan.tables)
    }

    /// Returns whether a deadline or a slowdown is missed.
    pub fn is_late(&self) -> bool {
        self.unmet.iter().any(Unmet::is_refused)
    }
}

/// The result of one class.
#[derive(Clone, Debug)]
pub struct PlannedClass {
    pub name: String,
    pub sl: Sl,
    pub vl: Vl,
    /// The table that serves it: `high`, `low`, or `table` if there is only one.
    pub table: &'static str,
    /// The share that the class needs.
    pub share_wanted: f64,
    /// The share when all classes of the low table, or of the only table, have something to send.
    /// Classes of the high table then send what they are assumed to send.
    pub share_given: f64,
    /// The share when all classes have something to send. In the high table it may exceed the given
    /// share, which others then lack.
    pub share_if_all_send: f64,
    /// Whether the shares of others assume that the class sends at most its own.
    pub is_trusted: bool,
    /// The smallest share that its entries allow, one packet each; only with a distance.
    pub share_least: Option<f64>,
    /// The largest share that its entries allow, at their largest weight; only with a distance.
    pub share_most: Option<f64>,
    /// The number of its entries (those of its lane, if the class shares one).
    pub entries: usize,
    /// The largest number of entries from one of its own to the next.
    pub distance: usize,
    /// Bytes that its entries may send per turn of the table.
    pub bytes_per_turn: u64,
    /// The longest wait at an output.
    pub wait: Wait,
    /// The same as a time, if there is a bound.
    pub worst_wait: Option<Time>,
    /// The longest wait at all outputs of a path together, under [`PATH_ASSUMPTION`].
    pub path_wait: Option<Time>,
    /// The longest wait allowed along its path.
    pub deadline: Option<Time>,
    /// The slowdown of a backlog at one output, or why it has no bound; `None` if no class of the
    /// plan has a slowdown.
    pub slowdown: Option<Result<Slowdown, String>>,
    /// The slowdown allowed; 1 or more.
    pub slowdown_wanted: Option<f64>,
}

impl PlannedClass {
    /// Returns whether the class has a deadline or a slowdown.
    pub fn is_urgent(&self) -> bool {
        self.deadline.is_some() || self.slowdown_wanted.is_some()
    }

    /// Returns what is left of the slowdown allowed; `None` if there is none or it is exceeded.
    pub fn slowdown_slack(&self) -> Option<f64> {
        let bound = self.slowdown.as_ref()?.as_ref().ok()?;
        let left = self.slowdown_wanted? - bound.factor;
        (left > -1e-9).then(|| left.max(0.0))
    }

    /// Returns the time of a long backlog over its time alone if all classes send packets of the
    /// planned sizes; `None` if the others leave nothing.
    pub fn slowdown_if_all_send(&self) -> Option<f64> {
        (self.share_if_all_send > 0.0).then(|| 1.0 / self.share_if_all_send)
    }

    /// Returns what is left of the deadline; `None` if there is no deadline or it is missed.
    pub fn slack(&self) -> Option<Time> {
        let (deadline, wait) = (self.deadline?, self.path_wait?);
        let left = deadline.picos().checked_sub(wait.picos())?;
        Some(Time::from_picos(left))
    }
}

/// A need that a plan does not meet.
#[derive(Clone, PartialEq, Debug)]
pub enum Unmet {
    /// A class may wait longer than its deadline: class, the bound along its path (or why there is
    /// none), the deadline.
    Deadline(usize, Result<Time, String>, Time),
    /// A backlog may take longer than allowed: class, the bound of its slowdown (or why there is
    /// none), the slowdown allowed.
    Slowdown(usize, Result<f64, String>, f64),
    /// A share errs by more than the tolerance.
    Share {
        class: usize,
        /// The share that the class needs.
        wanted: f64,
        /// The share that the plan gives.
        given: f64,
        /// The number of entries, if it is proved that no table of this size keeps all shares and
        /// deadlines.
        entries: Option<usize>,
    },
}

impl Unmet {
    /// Returns whether a plan is refused for it: a deadline or a slowdown. Inexact shares are only
    /// reported.
    pub fn is_refused(&self) -> bool {
        matches!(self, Unmet::Deadline(..) | Unmet::Slowdown(..))
    }

    pub fn class(&self) -> usize {
        match self {
            Unmet::Deadline(class, ..)
            | Unmet::Slowdown(class, ..)
            | Unmet::Share { class, .. } => *class,
        }
    }

    /// Returns the sentence, with the name of the class.
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
                format!("{name} has no bound on its wait: {why}; its deadline is {deadline}")
            }
            Unmet::Slowdown(_, Ok(reached), wanted) => format!(
                "a backlog of {name} may take {} times its time alone; its slowdown is {wanted}",
                factor(*reached)
            ),
            Unmet::Slowdown(_, Err(why), wanted) => {
                format!("{name} has no bound on its slowdown: {why}; its slowdown is {wanted}")
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
                    None => "this is the nearest table found".to_owned(),
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

/// Formats a bound of a slowdown, rounded up: `1.093`.
pub fn factor(factor: f64) -> String {
    format!("{:.3}", (factor * 1000.0 - 1e-6).ceil() / 1000.0)
}

/// Formats a time with three digits.
pub fn rounded(time: Time) -> String {
    short_time(time.as_nanos())
}

/// Why there is no plan.
#[derive(Clone, Debug)]
pub struct PlanError {
    /// All needs that cannot be met.
    pub reasons: Vec<String>,
    /// The nearest plan, if there are any tables at all.
    pub nearest: Option<Box<Plan>>,
    /// Whether it is proved that no tables meet the request; otherwise the search found none.
    pub is_proved: bool,
    /// The refused request, with one kind of port.
    asked: Box<Request>,
    /// The kind of port, in a fabric of several devices.
    device: Option<String>,
}

impl PlanError {
    /// Returns the fewest classes that cannot be met together. This search takes longer than the
    /// refusal itself, up to a limit.
    pub fn conflict(&self) -> Conflict {
        let mut conflict = conflict::smallest(&self.asked, &self.reasons);
        let names = conflict.classes.iter();
        conflict.names = names
            .map(|&class| self.asked.classes[class].name.clone())
            .collect();
        if let Some(device) = &self.device
            && conflict.reasons != self.reasons
        {
            let reasons = conflict.reasons.iter_mut();
            reasons.for_each(|reason| *reason = format!("at {device}: {reason}"));
        }
        conflict
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reasons.join("; "))
    }
}

impl std::error::Error for PlanError {}

/// Computes the tables for a request. A missed deadline or slowdown, or shares that sum to more
/// than the link, is refused. A share outside the tolerance is reported in [`Plan::unmet`].
pub fn plan(request: &Request) -> Result<Plan, PlanError> {
    match request.devices.is_empty() && !fitted::avoids_high_table(request) {
        true => alone(request),
        false => fitted::plan(request),
    }
}

/// Computes the tables for a request with one kind of port.
fn alone(request: &Request) -> Result<Plan, PlanError> {
    let effort = compose::Effort::new(u64::MAX);
    attempt::attempt(request, &effort).map_err(|failure| PlanError {
        reasons: failure.reasons,
        nearest: failure.nearest,
        is_proved: failure.is_proved,
        asked: Box::new(request.clone()),
        device: None,
    })
}

#[cfg(test)]
mod tests;
