//! How the paper is read, and what else was tried.

use crate::{Reading, Variation};

/// Which scenarios another reading is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scope {
    All,
    /// S003-1 to S003-3.
    Synthetic,
    /// S003-4 and S003-5.
    Search,
}

/// Which scenarios another reading is run on.
pub(super) fn scope(variation: &'static Variation) -> Scope {
    match variation.name {
        // Without deficits a packet of the MTU needs a quantum of 144 flits, which fair tuned has from k = 576.
        "k-256" | "k-512" => Scope::Synthetic,
        "burst-per-source" | "scale-1" | "scale-32" | "load-40" | "load-70" => Scope::Search,
        _ => Scope::All,
    }
}

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "X003-1",
        words: "the weight of a service level is divided among its entries",
    },
    Reading {
        id: "X003-3",
        words: "a deficit is added on every activation and cleared once used",
    },
    Reading {
        id: "X003-4",
        words: "one probe more than there are entries",
    },
    Reading {
        id: "X003-6",
        words: "registers persist while nothing can be sent; a stopped lane counts as inactive",
    },
    Reading {
        id: "X003-12",
        words: "k = 1024, which Table 2 implies",
    },
    Reading {
        id: "X003-13",
        words: "packet latency is injection latency and network latency together",
    },
    Reading {
        id: "X003-14",
        words: "a burst is 8 MiB in total: 32 KiB from each of 256 nodes",
    },
    Reading {
        id: "G003-1",
        words: "flits of 64 bytes, MTU of 9216 bytes",
    },
    Reading {
        id: "G003-2",
        words: "XOFF above 440 flits, XON at 296: headroom of two link delays and two MTUs",
    },
    Reading {
        id: "G003-3",
        words: "the crossbar has twice the speed of a link",
    },
    Reading {
        id: "G003-4",
        words: "iSLIP with one iteration, one queue per input and lane",
    },
    Reading {
        id: "G003-5",
        words: "99.84 ns to route and 99.84 ns over the crossbar (78 flit times each)",
    },
    Reading {
        id: "G003-6",
        words: "a NIC has an unbounded queue per service level",
    },
    Reading {
        id: "G003-8",
        words: "a box plot has one sample per source host: what it injected in the measured time",
    },
    Reading {
        id: "G003-9",
        words: "messages of the workload's size distribution times 8, to all alike, in an open loop at 60 % for 4 ms",
    },
    Reading {
        id: "G003-10",
        words: "messages above the MTU are split; a flow completes with its last packet",
    },
    Reading {
        id: "G003-11",
        words: "bursts and background come in packets of the MTU",
    },
    Reading {
        id: "G003-12",
        words: "NICs have the same table as switches, tuned too",
    },
    Reading {
        id: "4.5",
        words: "100 us of warm-up and 1 ms measured; messages evenly spaced with random phase",
    },
];

pub(super) const VARIATIONS: &[Variation] = &[
    Variation {
        name: "speedup-1",
        reading: "G003-3",
        words: "the crossbar has the speed of a link",
        sets: &["switch.speedup=1"],
        is_fitted: false,
    },
    Variation {
        name: "k-256",
        reading: "X003-12",
        words: "k = 256 (S003-1 to S003-3)",
        sets: &["qos.arbiter.k=16"],
        is_fitted: false,
    },
    Variation {
        name: "k-512",
        reading: "X003-12",
        words: "k = 512 (S003-1 to S003-3)",
        sets: &["qos.arbiter.k=32"],
        is_fitted: false,
    },
    Variation {
        name: "k-2048",
        reading: "X003-12",
        words: "k = 2048",
        sets: &["qos.arbiter.k=128"],
        is_fitted: false,
    },
    Variation {
        name: "literal",
        reading: "X003-3",
        words: "deficits as printed: ignored after a depleted entry, never cleared",
        sets: &["qos.arbiter.literal=true"],
        is_fitted: false,
    },
    Variation {
        name: "credits",
        reading: "G003-2",
        words: "credits for each lane instead of PAUSE",
        sets: &["link.flow-control=\"credits\""],
        is_fitted: false,
    },
    Variation {
        name: "early-pause",
        reading: "G003-2",
        words: "XOFF above 296 flits, XON at 152",
        sets: &["link.flow-control={ kind = \"pfc\", xoff = \"18944 B\", xon = \"9728 B\" }"],
        is_fitted: false,
    },
    Variation {
        name: "late-pause",
        reading: "G003-2",
        words: "headroom of two link delays and two of the largest packets that occur in the lane",
        sets: &["link.flow-control=\"pfc\""],
        is_fitted: false,
    },
    Variation {
        name: "no-hysteresis",
        reading: "G003-2",
        words: "XON where XOFF is, at 440 flits",
        sets: &["link.flow-control={ kind = \"pfc\", xoff = \"28160 B\", xon = \"28160 B\" }"],
        is_fitted: false,
    },
    Variation {
        name: "islip-4",
        reading: "G003-4",
        words: "four iterations of iSLIP",
        sets: &["switch.allocator={ kind = \"islip\", iterations = 4 }"],
        is_fitted: false,
    },
    Variation {
        name: "voq",
        reading: "G003-4",
        words: "one queue per lane and output at an input: no head-of-line blocking inside a switch",
        sets: &["switch.queues=\"voq\""],
        is_fitted: false,
    },
    Variation {
        name: "flit-128",
        reading: "G003-1",
        words: "flits of 128 bytes: 768 of them hold twice as much",
        sets: &[
            "link.flit=\"128 B\"",
            "qos.arbiter.flit=\"128 B\"",
            "switch.input-buffer=\"98304 B\"",
            "switch.output-buffer=\"98304 B\"",
            "link.flow-control={ kind = \"pfc\", xoff = \"77312 B\", xon = \"68096 B\" }",
            "switch.pipeline={ input = 0, routing = 39, allocation = 0, crossbar = 39, output = 0, credit = 1 }",
        ],
        is_fitted: false,
    },
    Variation {
        name: "nic-rr",
        reading: "G003-12",
        words: "NICs go round robin",
        sets: &["qos.nic-arbiter=\"round-robin\""],
        is_fitted: false,
    },
    Variation {
        name: "burst-per-source",
        reading: "X003-14",
        words: "8 MiB from each of the sources (S003-4)",
        sets: &[
            "traffic.1.arrival.per=\"source\"",
            "traffic.1.arrival.messages=256",
        ],
        is_fitted: false,
    },
    Variation {
        name: "scale-1",
        reading: "G003-9",
        words: "sizes of the workload as they are (S003-4)",
        sets: &["traffic.0.size.scale=1"],
        is_fitted: false,
    },
    Variation {
        name: "scale-32",
        reading: "G003-9",
        words: "sizes of the workload times 32 (S003-4)",
        sets: &["traffic.0.size.scale=32"],
        is_fitted: false,
    },
    Variation {
        name: "load-40",
        reading: "G003-9",
        words: "the application at 40 % of a link (S003-4)",
        sets: &["traffic.0.load=0.4"],
        is_fitted: false,
    },
    Variation {
        name: "load-70",
        reading: "G003-9",
        words: "the application at 70 % of a link (S003-4)",
        sets: &["traffic.0.load=0.7"],
        is_fitted: false,
    },
];
