//! Checks of the tick and its error.

use netloom_fabric::LinkTiming;
use netloom_topology::Topology;
use netloom_units::Timebase;

use crate::spec::Diagnostics;

/// States the tick, and warns if it does not divide every period and delay exactly.
pub(crate) fn tick(timebase: Timebase, worst: f64, diagnostics: &mut Diagnostics<'_>) {
    let error = match worst {
        0.0 => "every period and delay is a whole number of ticks".to_owned(),
        _ => format!("largest error of a period or delay {worst:.1e}"),
    };
    let length = timebase.tick();
    let words = match length.picos().den() {
        1 => length.to_string(),
        _ => format!("{:.6} ns", length.as_nanos()),
    };
    diagnostics.fact("time", format!("tick {words}, {error}"));
    if worst >= 1e-4 {
        diagnostics
            .notes
            .warning(
                "W0703",
                diagnostics.places.of("link"),
                format!("times are rounded by up to {worst:.1e}"),
            )
            .help("use rates, delays and clocks with a larger common divisor");
    }
}

/// Warns if NICs have different rates. Times of workloads are counted in cycles of one NIC's link
/// and scaled at the others.
pub(crate) fn nic_cycles(
    topology: &Topology,
    links: &[LinkTiming],
    cycle: u64,
    diagnostics: &mut Diagnostics<'_>,
) {
    let differs = topology.nics().any(|nic| {
        let (switch, port) = topology.attachment(nic);
        links[usize::from(topology.link_class(switch, port))].flit != cycle
    });
    if differs {
        diagnostics
            .notes
            .warning(
                "W0302",
                diagnostics.places.of("link.class"),
                "NICs have links of different rates",
            )
            .help(
                "use one rate for all NICs, or expect scaled times of workloads (`from`, `until`, \
                 lists of messages): they are counted in flits of the first NIC's link",
            );
    }
}
