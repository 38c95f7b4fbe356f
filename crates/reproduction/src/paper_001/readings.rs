//! How the paper is read, and what else was tried.

use crate::{Reading, Variation};

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "X001-1",
        words: "no output buffers: the output queue is the input queue of the next switch",
    },
    Reading {
        id: "X001-2",
        words: "a quarter of the sources is hot, not a quarter of the packets",
    },
    Reading {
        id: "X001-3",
        words: "512 B per queue of VOQnet in simulations, 128 B in the table of areas",
    },
    Reading {
        id: "X001-4",
        words: "OBQA-8 on 32 ports only; on 8 ports it is VOQsw",
    },
    Reading {
        id: "X001-5",
        words: "what hot sources could not send stays in their queues after 300 us and is sent later",
    },
    Reading {
        id: "0.4",
        words: "saturation is the largest load, in steps of 0.01, of which 98 % are delivered",
    },
    Reading {
        id: "G001-1",
        words: "iSLIP with one iteration",
    },
    Reading {
        id: "G001-2",
        words: "10 ns of routing and 10 ns of arbitration",
    },
    Reading {
        id: "G001-3",
        words: "a credit takes the 4 ns of the link and no more",
    },
    Reading {
        id: "G001-4",
        words: "a message is one packet of 64 B; one trial for each packet slot",
    },
    Reading {
        id: "G001-5",
        words: "hot are the nodes 3 modulo 4, with 122 for 123; they send nothing outside the 50 us",
    },
    Reading {
        id: "G001-6",
        words: "destinations are any of the other nodes",
    },
    Reading {
        id: "G001-7",
        words: "round robin over admittance queues and over injection queues with credits",
    },
    Reading {
        id: "G001-9",
        words: "storage traffic is made up; areas are means over the run, windows a twentieth of it",
    },
];

pub(super) const VARIATIONS: &[Variation] = &[
    Variation {
        name: "islip-2",
        reading: "G001-1",
        words: "iSLIP with two iterations",
        sets: &["switch.allocator={ kind = \"islip\", iterations = 2 }"],
        is_fitted: false,
    },
    Variation {
        name: "islip-3",
        reading: "G001-1",
        words: "iSLIP with three iterations",
        sets: &["switch.allocator={ kind = \"islip\", iterations = 3 }"],
        is_fitted: false,
    },
    Variation {
        name: "separable",
        reading: "G001-1",
        words: "each input asks with one queue, each output takes one input",
        sets: &["switch.allocator=\"separable\""],
        is_fitted: false,
    },
    Variation {
        name: "slow-switch",
        reading: "G001-2",
        words: "20 ns of routing and 20 ns of arbitration",
        sets: &[
            "switch.pipeline={ input = 0, routing = 10, allocation = 10, crossbar = 0, output = 0, credit = 0 }",
        ],
        is_fitted: false,
    },
    Variation {
        name: "slow-credits",
        reading: "G001-3",
        words: "credits take 20 ns more than the link",
        sets: &["switch.pipeline.credit=10"],
        is_fitted: false,
    },
    Variation {
        name: "long-messages",
        reading: "G001-4",
        words: "messages of eight packets",
        sets: &["traffic.0.message=\"512 B\""],
        is_fitted: false,
    },
    Variation {
        name: "poisson",
        reading: "G001-4",
        words: "exponential gaps between messages instead of trials in slots",
        sets: &["traffic.0.arrival=\"poisson\""],
        is_fitted: false,
    },
    Variation {
        name: "neighbours-hot",
        reading: "G001-5",
        words: "the first quarter of the nodes is hot: whole leaves",
        sets: &["traffic.0.pattern.sources=\"QUARTER\""],
        is_fitted: false,
    },
    Variation {
        name: "hot-always-send",
        reading: "G001-5",
        words: "hot sources send to anyone before and after",
        sets: &["traffic.0.pattern.outside=\"uniform\""],
        is_fitted: false,
    },
    Variation {
        name: "plain-nic",
        reading: "G001-7",
        words: "one queue in a node for all destinations",
        sets: &["nic.queues=\"per-sl\""],
        is_fitted: false,
    },
];
