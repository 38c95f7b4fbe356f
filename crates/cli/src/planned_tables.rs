//! The InfiniBand tables that a file defines or plans for the ports of a fabric.

use std::path::Path;

use anyhow::{Context, bail};
use netloom_arbitration::{IbTwoTable, VlArbitrationTable};
use netloom_design::plan::{self, PortsOf};
use netloom_experiment::Kinds;
use netloom_experiment::spec::Wiring;
use netloom_infiniband::SlToVl;
use netloom_infiniband::opensm::{PortTables, Tables};
use netloom_units::Vl;

use super::load::{self, Overrides};
use super::output::Output;

/// Returns the tables that a file plans, and its fabric. Prints the errors of the file and returns
/// `None` if it has any.
pub(super) fn of_file(
    kinds: &Kinds,
    file: &Path,
    overrides: &Overrides,
    output: &Output,
) -> anyhow::Result<Option<(Tables, Wiring)>> {
    let loaded = load::load_wiring(kinds, file, overrides, output)?;
    let Some(wiring) = loaded.wiring else {
        return Ok(None);
    };
    Ok(Some((tables(&wiring, file)?, wiring)))
}

fn tables(wiring: &Wiring, file: &Path) -> anyhow::Result<Tables> {
    let Some((at_switches, at_nics)) = &wiring.tables else {
        bail!(
            "{} has no InfiniBand tables; add [plan], or set qos.arbiter = {{ kind = \
             \"ib-two-table\", … }}",
            file.display()
        );
    };
    let sl2vl = wiring.sl2vl.clone().unwrap_or_default();
    let named = sl2vl.iter().copied().max().map_or(1, |vl| vl + 1);
    let in_tables = [at_switches, at_nics]
        .map(|both| 16 - ((both.high.vls() | both.low.vls()) as u16).leading_zeros());
    let vls = wiring
        .vls
        .unwrap_or(0)
        .max(named)
        .max(in_tables[0] as u8)
        .max(in_tables[1] as u8);
    // A plan has a lane for every service level. A level that the map of a file omits uses its
    // number modulo the number of lanes, as in a run.
    let lane = |sl: usize| sl2vl.get(sl).copied().unwrap_or(sl as u8 % vls);
    let sl_to_vl = SlToVl(std::array::from_fn(|sl| Vl(lane(sl))));
    let of = |own: &IbTwoTable| PortTables {
        low: entries(&own.low),
        high: entries(&own.high),
        high_limit: own.limit,
        sl_to_vl,
    };
    // The tables of a plan for ports that runs do not simulate.
    let planned = |ports: PortsOf| {
        let mut fitted = wiring.planned.iter().flat_map(|plan| &plan.fitted);
        let own = fitted.find(|fitted| fitted.ports == ports)?;
        match own.plan.tables.clone() {
            plan::Tables::InfiniBand { high, low, limit } => {
                Some(of(&IbTwoTable { high, low, limit }))
            }
            _ => None,
        }
    };
    let code = [1, 2, 4, 8, 15].iter().position(|most| vls <= *most);
    let code = code.context("a link has at most 15 data lanes")? as u8 + 1;
    // The tables of hosts and switches are complete: OpenSM would fill gaps with its own defaults.
    Ok(Tables {
        channel_adapter: Some(of(at_nics)),
        switch_external: Some(of(at_switches)),
        switch_port_0: planned(PortsOf::SwitchPort0),
        router: planned(PortsOf::Routers),
        ..Tables::everywhere(code, of(at_switches))
    })
}

fn entries(table: &VlArbitrationTable) -> Vec<netloom_arbitration::Entry> {
    table.entries().to_vec()
}
