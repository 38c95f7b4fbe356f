//! A plan, and a refused one with its conflict, as JSON.

use std::collections::BTreeMap;

use netloom_units::Rate;
use serde::{Serialize, Serializer};

use super::{Fitted, PATH_ASSUMPTION, Plan, PlanError, PlannedClass};
use crate::qos::slowdown;
use crate::qos::wait::{ASSUMPTION, Wait};

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        PlanDocument::of(self, None).serialize(serializer)
    }
}

impl PlanError {
    /// Returns a document of the nearest plan, if there is one, and of the conflict.
    pub fn explained<'a>(&'a self, conflict: &'a super::Conflict) -> impl Serialize + 'a {
        let conflict = Conflict::of(self, conflict);
        match &self.nearest {
            Some(nearest) => {
                Explained::Nearest(Box::new(PlanDocument::of(nearest, Some(conflict))))
            }
            None => Explained::Unmet {
                unmet: &self.reasons,
                conflict,
            },
        }
    }
}

/// A refused request.
#[derive(Serialize)]
#[serde(untagged)]
enum Explained<'a> {
    Nearest(Box<PlanDocument<'a>>),
    /// There are no tables at all.
    Unmet {
        unmet: &'a [String],
        conflict: Conflict<'a>,
    },
}

/// A plan as JSON. Keys with a unit end with it.
#[derive(Serialize)]
struct PlanDocument<'a> {
    arbiter: String,
    rate_bits_per_second: u64,
    entries: usize,
    /// Outputs of switches on the longest path, over which `path_wait_ns` adds up.
    hops: u32,
    classes: Vec<Class<'a>>,
    tables: Tables,
    /// What each kind of port holds and gives, in a fabric of several devices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    devices: Vec<AtDevice<'a>>,
    sl2vl: Vec<u8>,
    /// The section for an experiment file.
    qos: String,
    unmet: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conflict: Option<Conflict<'a>>,
    notes: &'a [String],
    facts: BTreeMap<&'a str, &'a str>,
    assumptions: Vec<&'static str>,
}

#[derive(Serialize)]
struct Class<'a> {
    name: &'a str,
    sl: u8,
    vl: u8,
    table: &'static str,
    share_wanted: f64,
    share_given: f64,
    share_if_all_send: f64,
    /// Range of the share that its entries can have if its distance is given.
    share_least: Option<f64>,
    share_most: Option<f64>,
    entries: usize,
    distance: usize,
    bytes_per_turn: u64,
    /// At one output; null if there is no bound.
    worst_wait_ns: Option<f64>,
    /// The bytes that the link sends in that time.
    worst_wait_bytes: Option<u64>,
    unbounded_because: Option<&'a str>,
    /// Over all outputs of the longest path.
    path_wait_ns: Option<f64>,
    deadline_ns: Option<f64>,
    slack_ns: Option<f64>,
    #[serde(flatten)]
    slowdown: Option<ClassSlowdown<'a>>,
}

/// The slowdown of a class, in a plan with slowdowns.
#[derive(Serialize)]
struct ClassSlowdown<'a> {
    /// While all classes send packets of the planned sizes; null if the others leave nothing.
    slowdown_if_all_send: Option<f64>,
    /// The bound for any packets; null if there is none.
    slowdown_at_most: Option<f64>,
    /// The constant that the bound adds to the time of a backlog.
    slowdown_startup_ns: Option<f64>,
    slowdown_unbounded_because: Option<&'a str>,
    slowdown_wanted: Option<f64>,
    slowdown_slack: Option<f64>,
    /// Whether the shares of others assume that the class sends at most its own.
    is_trusted: bool,
}

impl<'a> ClassSlowdown<'a> {
    fn of(class: &'a PlannedClass, rate: Rate) -> Option<ClassSlowdown<'a>> {
        let bound = class.slowdown.as_ref()?;
        let reached = bound.as_ref().ok();
        Some(ClassSlowdown {
            slowdown_if_all_send: class.slowdown_if_all_send(),
            slowdown_at_most: reached.map(|bound| bound.factor),
            slowdown_startup_ns: reached.map(|bound| bound.startup_time(rate).as_nanos()),
            slowdown_unbounded_because: bound.as_ref().err().map(String::as_str),
            slowdown_wanted: class.slowdown_wanted,
            slowdown_slack: class.slowdown_slack(),
            is_trusted: class.is_trusted,
        })
    }
}

/// What the ports of some devices hold and give.
#[derive(Serialize)]
struct AtDevice<'a> {
    ports: String,
    devices: Vec<&'a str>,
    low_entries: u8,
    high_entries: u8,
    vls: u8,
    tables: Tables,
    classes: Vec<Reached<'a>>,
}

#[derive(Serialize)]
struct Reached<'a> {
    name: &'a str,
    table: &'static str,
    share_wanted: f64,
    share_given: f64,
    worst_wait_ns: Option<f64>,
}

impl<'a> AtDevice<'a> {
    fn of(fitted: &'a Fitted) -> AtDevice<'a> {
        let reached = |class: &'a PlannedClass| Reached {
            name: &class.name,
            table: class.table,
            share_wanted: class.share_wanted,
            share_given: class.share_given,
            worst_wait_ns: class.worst_wait.map(|time| time.as_nanos()),
        };
        let devices = fitted.devices.iter();
        AtDevice {
            ports: fitted.ports.name(),
            devices: devices.map(|device| device.name.as_str()).collect(),
            low_entries: fitted.room.low,
            high_entries: fitted.room.high,
            vls: fitted.room.vls,
            tables: Tables::of(&fitted.plan.tables),
            classes: fitted.plan.classes.iter().map(reached).collect(),
        }
    }
}

#[derive(Serialize)]
struct Tables {
    #[serde(flatten)]
    lists: BTreeMap<&'static str, Vec<(u8, u16)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u8>,
}

impl Tables {
    fn of(tables: &super::Tables) -> Tables {
        Tables {
            lists: tables.lists().into_iter().collect(),
            limit: tables.limit(),
        }
    }
}

#[derive(Serialize)]
struct Conflict<'a> {
    classes: &'a [String],
    is_smallest: bool,
    /// Whether there is a proof that no tables meet the requirements.
    is_proved: bool,
    reasons: &'a [String],
}

impl<'a> Conflict<'a> {
    fn of(error: &PlanError, conflict: &'a super::Conflict) -> Conflict<'a> {
        Conflict {
            classes: &conflict.names,
            is_smallest: conflict.is_smallest,
            is_proved: error.is_proved,
            reasons: &conflict.reasons,
        }
    }
}

impl<'a> PlanDocument<'a> {
    fn of(plan: &'a Plan, conflict: Option<Conflict<'a>>) -> PlanDocument<'a> {
        let class = |class: &'a PlannedClass| Class {
            name: &class.name,
            sl: class.sl.0,
            vl: class.vl.0,
            table: class.table,
            share_wanted: class.share_wanted,
            share_given: class.share_given,
            share_if_all_send: class.share_if_all_send,
            share_least: class.share_least,
            share_most: class.share_most,
            entries: class.entries,
            distance: class.distance,
            bytes_per_turn: class.bytes_per_turn,
            worst_wait_ns: class.worst_wait.map(|time| time.as_nanos()),
            worst_wait_bytes: class.wait.bytes().map(|bytes| bytes.0),
            unbounded_because: match &class.wait {
                Wait::Unbounded(why) => Some(why),
                Wait::AtMost(_) => None,
            },
            path_wait_ns: class.path_wait.map(|time| time.as_nanos()),
            deadline_ns: class.deadline.map(|time| time.as_nanos()),
            slack_ns: class.slack().map(|time| time.as_nanos()),
            slowdown: ClassSlowdown::of(class, plan.request.ports.rate),
        };
        let facts = plan
            .facts
            .iter()
            .map(|(word, fact)| (word.as_str(), fact.as_str()));
        let mut assumptions = vec![ASSUMPTION];
        if plan.request.ports.hops > 1 {
            assumptions.push(PATH_ASSUMPTION);
        }
        if plan.has_slowdowns() {
            assumptions.push(slowdown::ASSUMPTION);
        }
        PlanDocument {
            arbiter: plan.request.ports.arbiter.name(),
            rate_bits_per_second: plan.request.ports.rate.0,
            entries: plan.request.capacity(),
            hops: plan.request.ports.hops,
            classes: plan.classes.iter().map(class).collect(),
            tables: Tables::of(&plan.tables),
            devices: plan.fitted.iter().map(AtDevice::of).collect(),
            sl2vl: plan.sl2vl(),
            qos: plan.to_toml(),
            unmet: plan
                .shortfalls()
                .into_iter()
                .map(|(_, words)| words)
                .collect(),
            conflict,
            notes: &plan.notes,
            facts: facts.collect(),
            assumptions,
        }
    }
}
