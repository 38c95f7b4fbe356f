//! Measures the cost of one message in instructions: the difference between `valgrind
//! --tool=callgrind` of this example with arguments 100000 and 0, built with `--release`. For the
//! cost in time, it prints the result.

use std::sync::Arc;
use std::time::Instant;

use netloom_catalog::{Disk, Notes};
use netloom_packet::{Cursor, Segmentation};
use netloom_traffic::{Bernoulli, Class, Fixed, Law, NicSet, Setting, Slot, Uniform, Workload};
use netloom_units::{Bytes, NicId, Sl};

fn main() {
    let n_messages: u32 = std::env::args()
        .nth(1)
        .map_or(10_000_000, |n| n.parse().expect("a number of messages"));
    let law = Law {
        load: 0.5,
        pattern: Arc::new(Uniform {}),
        arrival: Arc::new(Bernoulli { slot: Slot::Cycle }),
        size: Arc::new(Fixed { bytes: Bytes(2048) }),
        sources: NicSet::All,
        destinations: NicSet::All,
        from: None,
        until: None,
    };
    let setting = Setting {
        segmentation: Segmentation {
            flit: Bytes(64),
            mtu: None,
            header: Bytes(0),
        }
        .into(),
        n_nics: 64,
        groups: &netloom_traffic::NO_GROUPS,
        seed: 1,
        class: 0,
        cycles: &|_| 0,
        files: Disk::HERE,
    };
    let source = Class::new("cost", Sl(0), Workload::Drawn(law))
        .build(&setting, &mut Notes::new())
        .expect("a class that builds");
    let mut cursors = [Cursor::default(); 64];
    let start = Instant::now();
    let mut sum = 0;
    for n in 0..n_messages {
        let nic = n % 64;
        if let Some(arrival) = source.next(NicId(nic), &mut cursors[nic as usize]) {
            sum ^= arrival.cycle ^ u64::from(arrival.destination.0);
        }
    }
    let nanos = start.elapsed().as_nanos() as f64 / f64::from(n_messages.max(1));
    println!("{nanos:.1} ns per message (check {sum})");
}
