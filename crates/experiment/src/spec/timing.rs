//! The stage that converts times to ticks.

use netloom_catalog::{FromToml, Resolved, nearest};
use netloom_fabric::LinkTiming;
use netloom_topology::Topology;
use netloom_units::{NicId, Ratio, Time, Timebase};

use super::diagnostics::Diagnostics;
use super::link::LinkSpec;
use super::measure::{MeasureSpec, Warmup};
use super::reading::resolve_default;
use super::switch::{ArchitectureSpec, SwitchSpec};
use crate::check;
use crate::experiment::{Measure, WarmupRule};

/// Times as ticks.
pub(crate) struct Timing {
    pub(crate) timebase: Timebase,
    /// By class of links.
    pub(crate) links: Vec<LinkTiming>,
    /// Names of these classes.
    pub(crate) names: Vec<String>,
    /// Whether links of these classes connect switches, and not only NICs to switches.
    pub(crate) joins_switches: Vec<bool>,
    /// Ticks of a switch cycle.
    pub(crate) period: u64,
    /// Ticks of a NIC cycle.
    pub(crate) cycle: u64,
}

/// Returns whether the fabric has all classes of links that the file names.
pub(super) fn knows_link_classes(
    link: &LinkSpec,
    topology: &Topology,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let names = topology.link_classes();
    let known = || names.iter().map(String::as_str);
    let mut is_good = true;
    for (name, _) in &link.classes {
        if !known().any(|class| class == name) {
            let place = diagnostics.places.of(&format!("link.class.{name}"));
            let message = format!("this fabric has no links of class `{name}`");
            let note = diagnostics.notes.error("E0301", place, message);
            match nearest(name, known()) {
                Some(near) => note.help(format!("did you mean `{near}`?")),
                None => note.help(format!("use one of: {}", names.join(", "))),
            };
            is_good = false;
        }
    }
    is_good
}

/// Converts links and clocks to ticks.
pub(super) fn timing(
    link: &LinkSpec,
    switch: &SwitchSpec,
    topology: &Topology,
    resolved: &mut Resolved,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<Timing> {
    let names = topology.link_classes();
    let is_good = knows_link_classes(link, topology, diagnostics);
    let flit = link.segmentation.flit;
    let classes = link.of_classes(topology);
    // The default clock keeps up with the fastest link, if links have their own rates.
    let fastest = classes.iter().map(|(rate, _)| *rate).max();
    let has_own = (0..)
        .take(classes.len())
        .any(|class| topology.class_rate(class).is_some());
    let usual = fastest
        .filter(|_| has_own)
        .unwrap_or(link.rate)
        .time_for(flit);
    let usual = match switch.architecture {
        ArchitectureSpec::Tiled(_) => super::tiled::core_clock(usual),
        _ => usual,
    };
    let clock = switch.clock.unwrap_or(usual);
    resolve_default(resolved, &["switch"], 1, "clock", clock.write());
    if !is_good {
        return None;
    }
    let raw: Vec<(Time, Time)> = classes
        .into_iter()
        .map(|(rate, delay)| (rate.time_for(flit), delay))
        .collect();
    let mut durations: Vec<Time> = raw
        .iter()
        .flat_map(|&(flit, delay)| [flit, delay])
        .collect();
    durations.push(clock);
    let is_easy = are_easy(&durations);
    let exact = |time: Time| if is_easy { time } else { to_femtos(time) };
    let durations: Vec<Time> = durations.into_iter().map(exact).collect();
    let timebase = Timebase::for_durations(&durations);
    let links: Vec<LinkTiming> = raw
        .iter()
        .map(|&(flit, delay)| LinkTiming {
            flit: timebase.ticks(exact(flit)),
            delay: timebase.ticks(exact(delay)),
        })
        .collect();
    let worst = durations
        .iter()
        .map(|&time| timebase.error(time))
        .fold(0.0, f64::max);
    check::time::tick(timebase, worst, diagnostics);
    let (first, port) = topology.attachment(NicId(0));
    let cycle = links[usize::from(topology.link_class(first, port))].flit;
    check::time::nic_cycles(topology, &links, cycle, diagnostics);
    let mut joins_switches = vec![false; names.len()];
    for switch in topology.switches() {
        for (port, _, _) in topology.neighbours(switch) {
            joins_switches[usize::from(topology.link_class(switch, port))] = true;
        }
    }
    Some(Timing {
        timebase,
        links,
        names: names.to_vec(),
        joins_switches,
        period: timebase.ticks(exact(clock)),
        cycle,
    })
}

/// Returns whether the greatest common divisor of durations fits into 128 bits.
fn are_easy(durations: &[Time]) -> bool {
    let mut product: u128 = 1;
    for time in durations.iter().filter(|time| !time.is_zero()) {
        let den = time.picos().den();
        // Equal denominators do not multiply.
        if product.is_multiple_of(den) {
            continue;
        }
        match product.checked_mul(den) {
            Some(next) => product = next,
            None => return false,
        }
    }
    let most = durations
        .iter()
        .map(|time| time.picos().num())
        .max()
        .unwrap_or(0);
    product
        .checked_mul(product)
        .and_then(|square| square.checked_mul(most))
        .is_some()
}

/// Rounds to a whole number of femtoseconds.
fn to_femtos(time: Time) -> Time {
    let (num, den) = (time.picos().num(), time.picos().den());
    let femtos = num / den * 1000 + (num % den * 1000 + den / 2) / den;
    Time::from_picos(Ratio::new(femtos, 1000))
}

/// Rounds a time if its fraction is too long to be divided by any tick.
pub(crate) fn tame(time: Time) -> Time {
    match time.picos().den() <= 1_000_000 {
        true => time,
        false => to_femtos(time),
    }
}

/// Converts the times of the measurement to ticks.
pub(super) fn ticks(spec: &MeasureSpec, timing: &Timing, is_planned: bool) -> Measure {
    let at = |time: Time| timing.timebase.tick_at(tame(time));
    let length = at(spec.length);
    Measure {
        seed: spec.seed,
        repeat: spec.repeat,
        warmup: match spec.warmup {
            Warmup::Auto => WarmupRule::Auto,
            Warmup::Until(time) => WarmupRule::Until(at(time)),
            Warmup::Packets(n) => WarmupRule::Packets(n),
        },
        length,
        epoch: length.0.div_ceil(u64::from(spec.epochs)).max(1),
        wait_limit: at(spec.patience).0.max(1),
        interval: spec.interval,
        waits: spec.waits.unwrap_or(is_planned),
    }
}
