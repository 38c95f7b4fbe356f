//! How the paper is read, and what else was tried.

use crate::{Reading, Variation};

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "5.1",
        words: "the crossbar has twice the speed of a link; buffers of four packets per lane",
    },
    Reading {
        id: "X004-1",
        words: "SL2 is drawn from 1.55 to 64 Mb/s",
    },
    Reading {
        id: "X004-2",
        words: "cells of the last row of Table 4 are shifted: 35,000 is what was tried",
    },
    Reading {
        id: "X004-3",
        words: "80 % of the slots limit admission; tables grow past 64 entries (strict-entries beside it)",
    },
    Reading {
        id: "X004-4",
        words: "8 bytes of header beside the payload; bandwidth and slots count payload",
    },
    Reading {
        id: "X004-5",
        words: "by 3/4 IAT as section 5.3 has it, and 90 % by IAT/2 as the conclusions have it",
    },
    Reading {
        id: "X004-12",
        words: "a number of tried connections is a target that is reached by drawing again",
    },
    Reading {
        id: "G004-1",
        words: "e-cube, XY, and up*/down* with root 0",
    },
    Reading {
        id: "G004-2",
        words: "10,000 draws for each connection, ends and bandwidth anew",
    },
    Reading {
        id: "G004-3",
        words: "the phases of connections are random",
    },
    Reading {
        id: "G004-4",
        words: "jitter is the gap between two arrivals less the inter-arrival time",
    },
    Reading {
        id: "G004-5",
        words: "a run ends when the slowest connection of SL2 and SL3 has 100 packets, 10 below the maximum",
    },
    Reading {
        id: "G004-6",
        words: "inputs take their lanes round robin, outputs their inputs",
    },
    Reading {
        id: "G004-7",
        words: "10 ns of link, 99.2 ns of routing, 22.4 ns of arbitration",
    },
    Reading {
        id: "G004-9",
        words: "a random regular graph of degree 4, another one for each seed",
    },
    Reading {
        id: "G004-10",
        words: "hosts have tables as switches have",
    },
    Reading {
        id: "G004-11",
        words: "delay counts from the creation of a packet, so with the wait in its host",
    },
    Reading {
        id: "G004-12",
        words: "entries of best effort and challenged traffic, but none of that traffic",
    },
    Reading {
        id: "G004-13",
        words: "a new entry is at the first free index",
    },
];

pub(super) const VARIATIONS: &[Variation] = &[
    Variation {
        name: "no-header",
        reading: "X004-4",
        words: "headers are within the 256 and 4096 bytes",
        sets: &["link.header=\"0 B\""],
        is_fitted: false,
    },
    Variation {
        name: "strict-entries",
        reading: "X004-3",
        words: "the 64 entries of a real table limit admission too",
        sets: &["connections.mode=\"strict-entries\""],
        is_fitted: false,
    },
    Variation {
        name: "strict-entries-no-header",
        reading: "X004-3",
        words: "the 64 entries limit admission too, and headers are within the packets (X004-4)",
        sets: &["connections.mode=\"strict-entries\"", "link.header=\"0 B\""],
        is_fitted: false,
    },
    Variation {
        name: "few-draws",
        reading: "G004-2",
        words: "100 draws for each connection",
        sets: &["connections.retries=100"],
        is_fitted: false,
    },
    Variation {
        name: "many-draws",
        reading: "G004-2",
        words: "1,000,000 draws for each connection",
        sets: &["connections.retries=1000000"],
        is_fitted: false,
    },
    Variation {
        name: "from-injection",
        reading: "G004-11",
        words: "delay counts from the first flit that leaves the host",
        sets: &["connections.delay-from=\"injection\""],
        is_fitted: false,
    },
    Variation {
        name: "from-injection-least-load",
        reading: "G004-11",
        words: "the same with the least load: 64 entries limit admission (X004-3), headers within packets (X004-4)",
        sets: &[
            "connections.delay-from=\"injection\"",
            "connections.mode=\"strict-entries\"",
            "link.header=\"0 B\"",
        ],
        is_fitted: false,
    },
    Variation {
        name: "spread",
        reading: "G004-13",
        words: "new entries are far from other entries of their lane",
        sets: &["connections.placement=\"spread\""],
        is_fitted: false,
    },
    Variation {
        name: "no-delays",
        reading: "G004-7",
        words: "links, routing and arbitration take no time",
        sets: &[
            "link.delay=\"0 ns\"",
            "switch.pipeline={ input = 0, routing = 0, allocation = 0, crossbar = 1, output = 0, credit = 0 }",
        ],
        is_fitted: false,
    },
    Variation {
        name: "fast-crossbar",
        reading: "5.1",
        words: "the crossbar has four times the speed of a link",
        sets: &["switch.speedup=0.5"],
        is_fitted: false,
    },
    Variation {
        name: "voq",
        reading: "G004-6",
        words: "one queue per lane and output at an input: no head-of-line blocking",
        sets: &["switch.queues=\"voq\""],
        is_fitted: false,
    },
    Variation {
        name: "best-effort",
        reading: "G004-12",
        words: "hosts offer 15 % of a link of best effort in packets of 256 bytes, to all alike",
        sets: &["traffic=[{ load = 0.15, sl = 8, message = \"256 B\" }]"],
        is_fitted: false,
    },
    Variation {
        name: "best-effort-no-header",
        reading: "G004-12",
        words: "the same best effort, and headers are within the packets (X004-4)",
        sets: &[
            "traffic=[{ load = 0.15, sl = 8, message = \"256 B\" }]",
            "link.header=\"0 B\"",
        ],
        is_fitted: false,
    },
];
