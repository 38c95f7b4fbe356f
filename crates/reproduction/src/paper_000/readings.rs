//! How the paper is read, and what else was tried.

use crate::{Reading, Variation};

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "1.1.2",
        words: "IB: one flit per cycle over each crossbar port, whole messages, one queue per lane at an input",
    },
    Reading {
        id: "1.1.3",
        words: "OPA: MPorts of four ports, two links each to the centre, 229,376 bytes there for each MPort",
    },
    Reading {
        id: "X000-1",
        words: "12.5 GB/s, not Gb/s: a cycle is 5.12 ns",
    },
    Reading {
        id: "X000-9",
        words: "CL is fixed connections like VO and VI, not uniform",
    },
    Reading {
        id: "X000-10",
        words: "which point-to-point classes fall short is not asked",
    },
    Reading {
        id: "X000-13",
        words: "the latency printed without unit is in ns",
    },
    Reading {
        id: "G000-1",
        words: "one cycle per stage, link delay two cycles, credits link plus one cycle",
    },
    Reading {
        id: "G000-2",
        words: "round robin at inputs and outputs of every crossbar",
    },
    Reading {
        id: "G000-3",
        words: "buffers are pools; 32 flits are kept for each lane, on tori 256",
    },
    Reading {
        id: "G000-4",
        words: "Valiant on a tree is a random up port at every hop up",
    },
    Reading {
        id: "G000-5",
        words: "rings of a torus are guarded by the bubble rule",
    },
    Reading {
        id: "G000-6",
        words: "the cable of a trunk is drawn for each message and kept for the dimension",
    },
    Reading {
        id: "G000-7",
        words: "four hops either way: a random direction for each message",
    },
    Reading {
        id: "G000-9",
        words: "three flits per cycle from input to centre and from there to the output buffer, one within an MPort",
    },
    Reading {
        id: "G000-10",
        words: "connections are permutations without fixed points, random phase",
    },
    Reading {
        id: "G000-11",
        words: "exponential gaps of NC messages and of bursts",
    },
    Reading {
        id: "G000-12",
        words: "the table also decides in the NIC",
    },
    Reading {
        id: "G000-14",
        words: "100 us warm-up and 400 us measured, 13 loads",
    },
    Reading {
        id: "G000-16",
        words: "a message enters a link of three flits per cycle so late that it does not run dry there",
    },
];

pub(super) const VARIATIONS: &[Variation] = &[
    Variation {
        name: "long-pipeline",
        reading: "G000-1",
        words: "two cycles per stage, link delay four cycles",
        sets: &[
            "link.delay=\"20.48 ns\"",
            "switch.pipeline={ input = 2, routing = 2, allocation = 2, crossbar = 2, output = 2, credit = 2 }",
        ],
        is_fitted: false,
    },
    Variation {
        name: "random-dest",
        reading: "G000-10",
        words: "VO, VI and CL draw their destinations, several may draw the same",
        sets: &[
            "traffic.1.pattern=\"random-partner\"",
            "traffic.2.pattern=\"random-partner\"",
            "traffic.3.pattern=\"random-partner\"",
        ],
        is_fitted: false,
    },
    Variation {
        name: "uniform-cl",
        reading: "X000-9",
        words: "every message of CL draws its destination",
        sets: &["traffic.3.pattern=\"uniform\""],
        is_fitted: false,
    },
    Variation {
        name: "voq",
        reading: "1.1.2",
        words: "one queue per lane and output at an input: no head-of-line blocking",
        sets: &["switch.queues=\"voq\""],
        is_fitted: false,
    },
    Variation {
        name: "fast-crossbar",
        reading: "1.1.2",
        words: "two flits per cycle over each crossbar port (the runs of variant 2x)",
        sets: &["switch.speedup=2"],
        is_fitted: false,
    },
    Variation {
        name: "static-lanes",
        reading: "G000-3",
        words: "256 flits for each lane and nothing shared",
        sets: &[
            "switch.input-buffer={ pool = \"114688 B\", min = \"16384 B\" }",
            "switch.output-buffer={ pool = \"114688 B\", min = \"16384 B\" }",
        ],
        is_fitted: false,
    },
    Variation {
        name: "to-root",
        reading: "G000-4",
        words: "messages climb to a root even if a common ancestor comes earlier",
        sets: &["routing.to-root=true"],
        is_fitted: false,
    },
    Variation {
        name: "fast-local",
        reading: "G000-9",
        words: "three flits per cycle within an MPort too",
        sets: &["switch.speedup=3"],
        is_fitted: false,
    },
    Variation {
        name: "dateline",
        reading: "G000-5",
        words: "two lanes for each class and a dateline instead of the bubble rule; buffers are pools",
        sets: &[
            "routing.deadlock=\"dateline\"",
            "switch.input-buffer={ pool = \"114688 B\", min = \"2048 B\" }",
            "switch.output-buffer={ pool = \"114688 B\", min = \"2048 B\" }",
        ],
        is_fitted: false,
    },
    Variation {
        name: "two-slots",
        reading: "G000-3",
        words: "on a torus two messages of the largest size are kept for each lane, the rest is shared",
        sets: &[
            "switch.input-buffer={ pool = \"114688 B\", min = \"4096 B\" }",
            "switch.output-buffer={ pool = \"114688 B\", min = \"4096 B\" }",
        ],
        is_fitted: false,
    },
    Variation {
        name: "trunk-flow",
        reading: "G000-6",
        words: "all messages between two hosts take the same cable of a trunk",
        sets: &["routing.trunk=\"flow\""],
        is_fitted: false,
    },
];
