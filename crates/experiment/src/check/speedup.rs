//! Checks that a faster crossbar transfers packets faster.

use netloom_units::{Ratio, Time};

use crate::spec::{Diagnostics, LaneMap, Timing};

/// Warns if no packet crosses faster than without the speed-up, because a transfer takes whole
/// cycles.
pub(crate) fn effect(
    (num, den): (u32, u32),
    lanes: &LaneMap,
    timing: &Timing,
    diagnostics: &mut Diagnostics<'_>,
) {
    let cycles = |flits: u16| (u64::from(flits) * u64::from(den)).div_ceil(u64::from(num));
    let mut packets = lanes.largest.iter().copied().filter(|&flits| flits > 0);
    if num <= den || packets.any(|flits| cycles(flits) < u64::from(flits)) {
        return;
    }
    let largest = lanes.largest.iter().copied().max().unwrap_or(1);
    let period = timing.timebase.time(timing.period);
    let faster = Time::from_picos(period.picos() * Ratio::new(u128::from(den), u128::from(num)));
    diagnostics
        .notes
        .warning(
            "W0333",
            diagnostics.places.of("switch.speedup"),
            "this speedup does not move any packet faster",
        )
        .label(match largest {
            0 | 1 => "packets have one flit, which crosses in one cycle at any speedup".to_owned(),
            n => format!("packets have at most {n} flits, and cross in whole cycles"),
        })
        .help(format!(
            "remove `speedup`, and set clock = \"{faster}\" for a crossbar that is faster; the \
             stages of [switch.pipeline] count these cycles too"
        ));
}
