//! `netloom plan FILE --judge`: computes the shares and waits of existing tables.
//!
//! The tables are those of an experiment, or those that OpenSM programs into a switch port for an
//! opensm.conf.

use std::path::Path;

use anyhow::{Context, anyhow, bail};
use netloom_arbitration::{Entry, VlArbitrationTable};
use netloom_catalog::file::{MOST_EXPERIMENT, read_text};
use netloom_design::qos::judged::judge;
use netloom_design::qos::wait::IbTables;
use netloom_experiment::Kinds;
use netloom_infiniband::opensm::{Conf, PortCapabilities, PortKind, PortTables, Sweep, program};
use netloom_units::{Bytes, Rate};

use super::super::load::Overrides;
use super::super::output::Output;
use super::super::table::width;
use super::super::{Exit, planned_tables};
use super::PlanFormat;

/// The properties of the port other than its tables.
pub(super) struct Port {
    pub(super) rate: Rate,
    pub(super) packet: Bytes,
    pub(super) entries: u8,
}

pub(super) fn run(
    kinds: &Kinds,
    file: &Path,
    overrides: &Overrides,
    port: &Port,
    format: PlanFormat,
    output: &Output,
) -> anyhow::Result<Exit> {
    let own = match file.extension().is_some_and(|ending| ending == "toml") {
        true => {
            let found = planned_tables::of_file(kinds, file, overrides, output)?;
            let Some((tables, _)) = found else {
                return Ok(Exit::Invalid);
            };
            tables.switch_external.unwrap_or(tables.common)
        }
        false => of_conf(file, port)?,
    };
    let table = |entries: &[Entry]| {
        let sending = entries.iter().filter(|entry| entry.weight > 0).copied();
        VlArbitrationTable::new(sending.collect()).context("the table fits no port")
    };
    let tables = IbTables {
        high: &table(&own.high)?,
        low: &table(&own.low)?,
        limit: own.high_limit,
    };
    let judged = judge(tables, &own.sl_to_vl.0, port.rate, port.packet);
    let judged = judged.map_err(|why| anyhow!(why))?;
    match format {
        PlanFormat::Json => output.data(&serde_json::to_string_pretty(&judged)?)?,
        PlanFormat::Human | PlanFormat::Toml => output.text(&judged.text(width()))?,
    }
    Ok(Exit::Done)
}

/// Returns what OpenSM programs into a switch port for a file, after the number of lanes is set.
fn of_conf(file: &Path, port: &Port) -> anyhow::Result<PortTables> {
    let text = read_text(file, MOST_EXPERIMENT)
        .with_context(|| format!("cannot read {}", file.display()))?;
    let conf = Conf::read(&text, 0);
    let capabilities = PortCapabilities {
        lanes: 15,
        neighbor_lanes: Some(15),
        operational_before: 15,
        low_cap: port.entries,
        high_cap: port.entries,
    };
    let written = program(&conf, PortKind::SwitchExternal, &capabilities, Sweep::Later);
    let Some(written) = written else {
        bail!(
            "{} has no `qos TRUE`: OpenSM does not change the tables of ports",
            file.display()
        );
    };
    Ok(PortTables {
        low: written.arbitration.low,
        high: written.arbitration.high,
        high_limit: written.high_limit,
        sl_to_vl: written.sl_to_vl,
    })
}
