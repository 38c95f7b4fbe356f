//! Time: the tick and its error.

use netloom_fabric::LinkTiming;
use netloom_topology::Topology;
use netloom_units::Timebase;

use crate::spec::Desk;

/// States the tick, and warns where it is no exact divisor of every period and delay.
pub(crate) fn tick(timebase: Timebase, worst: f64, desk: &mut Desk<'_>) {
    let error = match worst {
        0.0 => "every period and delay is a whole number of ticks".to_owned(),
        _ => format!("largest error of a period or delay {worst:.1e}"),
    };
    let length = timebase.tick();
    let words = match length.picos().den() {
        1 => length.to_string(),
        _ => format!("{:.6} ns", length.as_nanos()),
    };
    desk.fact("time", format!("tick {words}, {error}"));
    if worst >= 1e-4 {
        desk.notes
            .warning(
                "W0703",
                desk.places.of("link"),
                format!("times are rounded by up to {worst:.1e}"),
            )
            .help("choose rates, delays and clocks with a common divisor that is not too small");
    }
}

/// Times of workloads are counted in cycles of one NIC's link; NICs with other rates see them scaled.
pub(crate) fn nic_cycles(
    topology: &Topology,
    links: &[LinkTiming],
    cycle: u64,
    desk: &mut Desk<'_>,
) {
    let differs = topology.nics().any(|nic| {
        let (switch, port) = topology.attachment(nic);
        links[usize::from(topology.link_class(switch, port))].flit != cycle
    });
    if differs {
        desk.notes
            .warning("W0302", desk.places.of("link.class"), "NICs have links of different rates")
            .help(
                "times of workloads (`from`, `until`, lists of messages) are counted in flits of the first \
                 NIC's link and pass slower or faster at the others",
            );
    }
}
