//! The traffic of paper 003: messages of 1 to 5 KiB at equal distances, five service levels per
//! host.

use std::sync::Arc;

use netloom_catalog::{Disk, Notes};
use netloom_packet::{Cursor, Segmentation};
use netloom_traffic::{Class, Constant, Fixed, Law, NicSet, Phase, Setting, Uniform, Workload};
use netloom_units::{Bytes, NicId, Sl, Time};

/// One flit of 64 bytes at 50 bytes per nanosecond.
const CYCLE_NS: f64 = 1.28;

/// Returns the mean gap between messages of a class, in nanoseconds, over the first thousand.
fn gap(bytes: u64, load: f64) -> f64 {
    let law = Law {
        load,
        pattern: Arc::new(Uniform {}),
        arrival: Arc::new(Constant { phase: Phase::Zero }),
        size: Arc::new(Fixed {
            bytes: Bytes(bytes),
        }),
        sources: NicSet::All,
        destinations: NicSet::All,
        from: None,
        until: None,
    };
    let setting = Setting {
        segmentation: Segmentation {
            flit: Bytes(64),
            mtu: Some(Bytes(9216)),
            header: Bytes(0),
        }
        .into(),
        n_nics: 8,
        groups: &netloom_traffic::NO_GROUPS,
        seed: 1,
        class: 0,
        cycles: &|time: Time| time.as_nanos() as u64,
        files: Disk::HERE,
    };
    let class = Class::new("sl", Sl(0), Workload::Drawn(law));
    let source = class.build(&setting, &mut Notes::new()).unwrap();
    let mut cursor = Cursor::default();
    let mut next = || source.next(NicId(0), &mut cursor).unwrap().cycle;
    let first = next();
    let last = (0..1000).map(|_| next()).last().unwrap();
    (last - first) as f64 / 1000.0 * CYCLE_NS
}

#[test]
fn v003_22_message_spacing() {
    let rows = [
        ([20, 20, 20, 20, 20], [102.4, 204.8, 307.2, 409.6, 512.0]),
        ([35, 28, 21, 15, 8], [58.51, 146.29, 292.57, 546.13, 1280.0]),
        ([64, 32, 16, 8, 4], [32.0, 128.0, 384.0, 1024.0, 2560.0]),
    ];
    for (generation, spacing) in rows {
        for (sl, (percent, expected)) in generation.into_iter().zip(spacing).enumerate() {
            let gap = gap(1024 * (sl as u64 + 1), f64::from(percent) / 100.0);
            assert!((gap - expected).abs() < 0.006, "SL{sl} {percent} %: {gap}");
        }
    }
}
