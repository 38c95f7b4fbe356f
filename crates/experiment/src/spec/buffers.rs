//! Converts buffer sizes to flits.

use netloom_fabric::Sizes;

use super::diagnostics::Diagnostics;
use super::lanes::LaneMap;
use super::switch::Buffer;
use crate::check;

/// A buffer of a file with its path.
pub(crate) struct BufferAt<'a> {
    pub(crate) buffer: &'a Buffer,
    pub(crate) path: &'a str,
    /// Number of equal parts; the result is the size of one.
    pub(crate) parts: u64,
    /// Queues per lane; `None` if the buffer cannot have a size per queue.
    pub(crate) per_lane: Option<u32>,
    /// Whether free space is counted per lane, in 16 bits, and not per queue.
    pub(crate) counts_lanes: bool,
}

/// Returns the size of a buffer in flits, by lane.
pub(crate) fn sizes(
    at: &BufferAt<'_>,
    flit: u64,
    lanes: &LaneMap,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<Sizes> {
    let path = at.path;
    let in_flits = |bytes: u64| u32::try_from(bytes / flit).ok().filter(|n| *n <= 1 << 24);
    let too_large = |diagnostics: &mut Diagnostics<'_>| {
        let place = diagnostics.places.of(path);
        diagnostics
            .notes
            .error("E0315", place, "the buffer is larger than 16777216 flits")
            .help("use a smaller buffer: no real switch has one of this size");
    };
    let per_lane = |flits: Option<u32>, diagnostics: &mut Diagnostics<'_>| {
        let Some(flits) = flits else {
            too_large(diagnostics);
            return None;
        };
        Some(Sizes::Static(lanes.of_each(|_| flits)))
    };
    let sizes = match at.buffer {
        Buffer::PerVl(bytes) => per_lane(in_flits(bytes.0 / at.parts), diagnostics)?,
        Buffer::PerQueue(bytes) => {
            let queues = check::queues::may_be_by_queue(at, diagnostics)?;
            let flits = in_flits(bytes.0).and_then(|flits| flits.checked_mul(queues));
            per_lane(flits.filter(|flits| *flits <= 1 << 24), diagnostics)?
        }
        Buffer::Pool(pool) => {
            let amounts = (
                in_flits(pool.pool.0 / at.parts),
                in_flits(pool.min.map_or(0, |min| min.0)),
                in_flits(pool.max.map_or(pool.pool.0 / at.parts, |max| max.0)),
            );
            let (Some(capacity), Some(min), Some(max)) = amounts else {
                too_large(diagnostics);
                return None;
            };
            let min = lanes.of_each(|vl| match pool.min {
                Some(_) => min,
                None => u32::from(lanes.largest[vl]),
            });
            if !check::buffers::pool(pool, path, capacity, &min, flit, diagnostics) {
                return None;
            }
            Sizes::Pool {
                capacity,
                min,
                max: lanes.of_each(|_| max),
            }
        }
    };
    let holds = check::buffers::one_packet(&sizes, path, lanes, flit, diagnostics);
    let counts = !at.counts_lanes
        || check::buffers::countable(&sizes, path, lanes.largest.len(), flit, diagnostics);
    (holds && counts).then_some(sizes)
}
