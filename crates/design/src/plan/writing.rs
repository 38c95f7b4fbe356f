//! A plan as the `[qos]` section of an experiment.

use netloom_arbitration::N_SLS;
use netloom_catalog::FromToml;

use super::{Plan, rounded};

impl Plan {
    /// The section: append it to an experiment that has none.
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
            text.push_str(&format!(
                "# {} (SL{} on VL{}): {:.2} %{if_all_send} of {:.2} % wanted, {wait}\n",
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

    /// The lane of every service level up to the last that is used. Levels that no class uses go where they
    /// do least harm: to the class with the largest share among those without a deadline.
    pub fn sl2vl(&self) -> Vec<u8> {
        let harmless = self
            .classes
            .iter()
            .max_by(|a, b| {
                let key = |c: &super::PlannedClass| (c.deadline.is_none(), c.share_wanted);
                key(a)
                    .partial_cmp(&key(b))
                    .unwrap_or(std::cmp::Ordering::Equal)
            })
            .map_or(0, |class| class.vl.0);
        let last = self.classes.iter().map(|class| class.sl.index()).max();
        let mut row = vec![harmless; last.map_or(0, |last| (last + 1).min(N_SLS))];
        for class in &self.classes {
            row[class.sl.index()] = class.vl.0;
        }
        row
    }
}
