//! `netloom plan FILE --judge`: computes the shares and waits of existing tables.
//!
//! The tables are those of an experiment, or those that OpenSM programs into a switch port for an
//! opensm.conf. Every service level is assumed to send all the time. The levels of one lane share
//! the bandwidth of the lane.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail};
use netloom_arbitration::{Entry, VlArbitrationTable};
use netloom_catalog::file::{MOST_EXPERIMENT, read_text};
use netloom_design::plan::factor;
use netloom_design::qos::predict::{Laws, SizeLaw, ib_shares};
use netloom_design::qos::slowdown::Packets;
use netloom_design::qos::wait::{IbTables, PacketSizes, Wait, ib_wait};
use netloom_experiment::Kinds;
use netloom_infiniband::SlToVl;
use netloom_infiniband::opensm::{Conf, PortCapabilities, PortKind, Sweep, program};
use netloom_units::{Bytes, Rate, Vl, short_time};

use super::super::load::Overrides;
use super::super::output::Output;
use super::super::table::Columns;
use super::super::{Exit, planned_tables};

/// The tables and lanes of a port.
struct Judged {
    high: Vec<Entry>,
    low: Vec<Entry>,
    limit: u8,
    lanes: SlToVl,
}

/// The properties of the port other than its tables.
pub(super) struct Port {
    pub(super) rate: Rate,
    pub(super) packet: Bytes,
    pub(super) entries: u8,
}

/// The largest management packet, which may precede any other packet.
const MANAGEMENT: Bytes = Bytes(256);

/// The flit of the link, of which packets take whole ones.
const FLIT: Bytes = Bytes(64);

pub(super) fn run(
    kinds: &Kinds,
    file: &Path,
    overrides: &Overrides,
    port: &Port,
    output: &Output,
) -> anyhow::Result<Exit> {
    let judged = match file.extension().is_some_and(|ending| ending == "toml") {
        true => {
            let found = planned_tables::of_file(kinds, file, overrides, output)?;
            let Some((tables, _)) = found else {
                return Ok(Exit::Invalid);
            };
            let own = tables.switch_external.unwrap_or(tables.common);
            Judged {
                high: own.high,
                low: own.low,
                limit: own.high_limit,
                lanes: own.sl_to_vl,
            }
        }
        false => of_conf(file, port)?,
    };
    output.text(&told(&judged, port)?)?;
    Ok(Exit::Done)
}

/// Returns what OpenSM programs into a switch port for a file, after the number of lanes is set.
fn of_conf(file: &Path, port: &Port) -> anyhow::Result<Judged> {
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
    Ok(Judged {
        high: written.arbitration.high,
        low: written.arbitration.low,
        limit: written.high_limit,
        lanes: written.sl_to_vl,
    })
}

fn told(judged: &Judged, port: &Port) -> anyhow::Result<String> {
    let table = |entries: &[Entry]| {
        let sending = entries.iter().filter(|entry| entry.weight > 0).copied();
        VlArbitrationTable::new(sending.collect()).context("the table fits no port")
    };
    let (high, low) = (table(&judged.high)?, table(&judged.low)?);
    let tables = IbTables {
        high: &high,
        low: &low,
        limit: judged.limit,
    };
    let mut levels: BTreeMap<Vl, Vec<String>> = BTreeMap::new();
    for (sl, vl) in judged.lanes.0.iter().enumerate() {
        levels.entry(*vl).or_default().push(sl.to_string());
    }
    let dropped = levels.remove(&netloom_infiniband::DROPPED);
    let law = SizeLaw::fixed(port.packet);
    let law = law.map_err(|_| anyhow::anyhow!("expected a packet size, found {}", port.packet))?;
    let mut laws: Laws = Default::default();
    let mut largest = [Bytes(0); 16];
    for vl in levels.keys() {
        laws[vl.index()] = Some(law.clone());
        largest[vl.index()] = port.packet;
    }
    let sizes = PacketSizes {
        largest,
        smallest: [Bytes(0); 16],
        management: MANAGEMENT,
    };
    let shares = ib_shares(tables, &laws);
    let mut columns = Columns::words();
    columns.line([
        "VL",
        "service levels",
        "high",
        "low",
        "share if all send",
        "longest wait",
        "slowdown",
        "at most",
    ]);
    let packets = Packets::new(&sizes, FLIT);
    let mut notes = vec![];
    for (vl, own) in &levels {
        let weight = |table: &VlArbitrationTable| {
            let own = table.entries().iter().filter(|entry| entry.vl == *vl);
            own.map(|entry| u32::from(entry.weight))
                .sum::<u32>()
                .to_string()
        };
        let wait = match ib_wait(tables, &sizes, *vl) {
            Wait::AtMost(bound) => short_time(bound.time(port.rate).as_nanos()),
            Wait::Unbounded(why) => {
                notes.push(format!("{vl}: {why}"));
                "unbounded".to_owned()
            }
        };
        columns.line([
            vl.to_string(),
            own.join(" "),
            weight(&high),
            weight(&low),
            format!("{:.3} %", 100.0 * shares[vl.index()]),
            wait,
            match shares[vl.index()] {
                share if share > 0.0 => format!("{:.2}", 1.0 / share),
                _ => "unlimited".to_owned(),
            },
            match packets.ib(tables, *vl) {
                Ok(slowdown) => factor(slowdown.factor),
                Err(_) => "unlimited".to_owned(),
            },
        ]);
    }
    let mut text = format!(
        "a port of {}, packets of {}, limit {}\n{}\n",
        port.rate,
        port.packet,
        match judged.limit {
            255 => "none".to_owned(),
            limit => limit.to_string(),
        },
        columns.print().trim_end()
    );
    if let Some(dropped) = dropped {
        text.push_str(&format!("dropped: service levels {}\n", dropped.join(" ")));
    }
    for note in notes {
        text.push_str(&format!("{note}\n"));
    }
    Ok(text)
}
