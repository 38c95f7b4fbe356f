//! `netloom site verify`: the tables in the ports, compared with a plan.

use std::path::PathBuf;

use clap::Args;
use netloom_experiment::Kinds;
use netloom_infiniband::opensm::verify::{Rules, Verified, verify};

use super::files::{read_all, understood};
use crate::load::{Values, tell};
use crate::output::Output;
use crate::{Exit, Format, planned_tables};

/// Number of differences that are printed; JSON has all.
const MOST_SHOWN: usize = 20;

#[derive(Args)]
#[command(after_help = "Examples:
  netloom site verify plan.toml nd.txt vlarb.txt sl2vl.txt portinfo.txt
  netloom site verify plan.toml after/*

The files are the output of ibnetdiscover and of smpquery vlarb, sl2vl and portinfo (or \
opensm-sl2vl.dump), in any order. Forwarding tables are ignored. \
Entries of weight 0 at the end of a table are ignored; the order of entries is compared. \
Exit codes: 0 as planned, 6 differences found or nothing compared.")]
pub(crate) struct Verify {
    /// Experiment with [plan], or with tables in [qos].
    plan: PathBuf,
    /// Output of the tools that read the ports.
    #[arg(required = true, value_name = "FILE")]
    readback: Vec<PathBuf>,
    /// Ignore limits of high priority, which ibsim always reports as 0.
    #[arg(long)]
    limits_read_as_zero: bool,
    /// Format of stdout.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    values: Values,
    /// Plan even if the routing can deadlock.
    #[arg(long)]
    force: bool,
}

impl Verify {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        let planned = planned_tables::of_file(
            kinds,
            &self.plan,
            &self.values.overrides(self.force),
            output,
        )?;
        let Some((tables, _)) = planned else {
            return Ok(Exit::Invalid);
        };
        let (document, notes, site) = understood(read_all(&self.readback)?);
        tell(&document, &notes, output);
        if notes.has_errors() {
            return Ok(Exit::Invalid);
        }
        let rules = Rules {
            limits_read_as_zero: self.limits_read_as_zero,
        };
        let verified = verify(&tables, &site.subnet, &site.programmed, rules);
        match self.format {
            Format::Human => output.data(&human(&verified))?,
            Format::Json => output.data(&json(&verified)?)?,
        }
        Ok(
            match verified.differences.is_empty() && verified.ports_compared > 0 {
                true => Exit::Done,
                false => Exit::BeyondLimit,
            },
        )
    }
}

fn human(verified: &Verified) -> String {
    let mut text = String::new();
    for difference in verified.differences.iter().take(MOST_SHOWN) {
        text.push_str(&format!("{difference}\n"));
    }
    if let Some(more @ 1..) = verified.differences.len().checked_sub(MOST_SHOWN) {
        text.push_str(&format!("and {more} more differences\n"));
    }
    text.push_str(&format!(
        "{} of {} ports are as planned ({} tables, limits and SL2VL rows compared)\n",
        verified.ports_identical, verified.ports_compared, verified.tables_compared
    ));
    let rest = [
        (verified.ports_without_tables, "ports have no tables"),
        (verified.ports_without_cable, "ports have no cable"),
        (verified.ports_unread, "ports were not read"),
        (verified.limits_unread, "limits were not read"),
    ];
    let rest = rest.iter().filter(|(n, _)| *n > 0);
    let rest: Vec<String> = rest.map(|(n, what)| format!("{n} {what}")).collect();
    if !rest.is_empty() {
        text.push_str(&format!("{}\n", rest.join(", ")));
    }
    text
}

fn json(verified: &Verified) -> anyhow::Result<String> {
    let differences: Vec<_> = verified
        .differences
        .iter()
        .map(|difference| {
            serde_json::json!({
                "node": difference.port.node.to_string(),
                "port": difference.port.port,
                "description": difference.description,
                "part": difference.part.to_string(),
                "planned": difference.planned,
                "found": difference.found,
            })
        })
        .collect();
    Ok(serde_json::to_string_pretty(&serde_json::json!({
        "differences": differences,
        "ports_compared": verified.ports_compared,
        "ports_identical": verified.ports_identical,
        "tables_compared": verified.tables_compared,
        "ports_without_tables": verified.ports_without_tables,
        "ports_without_cable": verified.ports_without_cable,
        "ports_unread": verified.ports_unread,
        "limits_unread": verified.limits_unread,
    }))?)
}
