//! Writes a plan as the `[qos]` section of an experiment.

use netloom_arbitration::N_SLS;
use netloom_catalog::FromToml;

use super::{Plan, PlannedClass, factor, rounded};

impl Plan {
    /// Returns the section, to be appended to an experiment without one.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        for class in &self.classes {
            let wait = match class.worst_wait {
                Some(wait) => format!("waits at most {} at an output", rounded(wait)),
                None => "no bound on its wait".to_owned(),
            };
            let if_all_send = match self.trusts() {
                true => format!(" ({:.2} % if all send)", class.share_if_all_send * 100.0),
                false => String::new(),
            };
            let slowdown = match (&class.slowdown, class.slowdown_wanted) {
                (Some(Ok(bound)), Some(wanted)) => {
                    format!(", slowdown at most {} of {wanted}", factor(bound.factor))
                }
                _ => String::new(),
            };
            text.push_str(&format!(
                "# {} (SL{} on VL{}): {:.2} %{if_all_send} of {:.2} % wanted, {wait}{slowdown}\n",
                class.name,
                class.sl.0,
                class.vl.0,
                class.share_given * 100.0,
                class.share_wanted * 100.0
            ));
        }
        text.push_str(&format!(
            "[qos]\nvls = {}\nsl2vl = {}\narbiter = {}\n",
            self.lanes.groups.len(),
            self.sl2vl().write(),
            self.tables.to_toml(self.request.ports.flit)
        ));
        if *self.host_tables() != self.tables {
            let tables = self.host_tables().to_toml(self.request.ports.flit);
            text.push_str(&format!("nic-arbiter = {tables}\n"));
        }
        text
    }

    /// Returns the lane of every service level. Unused levels get the lane of [`Plan::harmless`].
    pub fn sl2vl(&self) -> Vec<u8> {
        let harmless = self.harmless().map_or(0, |class| class.vl.0);
        let mut row = vec![harmless; N_SLS];
        for class in &self.classes {
            row[class.sl.index()] = class.vl.0;
        }
        row
    }

    /// Returns the class whose lane unplanned traffic harms least: the largest class of the lane
    /// with the largest share, among the lanes without a deadline or a slowdown. If every lane has
    /// one, among all of them. Classes of the high-priority table have one.
    pub fn harmless(&self) -> Option<&PlannedClass> {
        let key = |class: &PlannedClass| {
            let in_lane = || self.classes.iter().filter(|other| other.vl == class.vl);
            let is_free = in_lane().all(|other| !other.is_urgent());
            let share: f64 = in_lane().map(|other| other.share_wanted).sum();
            (is_free, share, class.share_wanted)
        };
        // Of equal classes, the first.
        self.classes.iter().rev().max_by(|a, b| {
            let ((a_free, a_lane, a_own), (b_free, b_lane, b_own)) = (key(a), key(b));
            let by_lane = a_free.cmp(&b_free).then(a_lane.total_cmp(&b_lane));
            by_lane.then(a_own.total_cmp(&b_own))
        })
    }
}
