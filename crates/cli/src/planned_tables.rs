//! The tables of InfiniBand that a file has or plans, as ports of a fabric are to hold them.

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

/// What a file plans, and its fabric. Mistakes of the file are told, and nothing is given.
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
            "{} has no tables of InfiniBand: write [plan], or qos.arbiter = {{ kind = \"ib-two-table\", … }}",
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
    // A plan has a lane for every level. A level that a map of the file leaves out takes VL n modulo the lanes, as in
    // a run.
    let lane = |sl: usize| sl2vl.get(sl).copied().unwrap_or(sl as u8 % vls);
    let sl_to_vl = SlToVl(std::array::from_fn(|sl| Vl(lane(sl))));
    let of = |own: &IbTwoTable| PortTables {
        low: entries(&own.low),
        high: entries(&own.high),
        high_limit: own.limit,
        sl_to_vl,
    };
    // What a plan has for ports that no run has.
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
    // The sets of hosts and switches are written out: OpenSM's own defaults would fill what is missing.
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
