//! The readings of the paper. Alternative readings are in its file `paper.toml`.

use crate::claim::Reading;

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
        words: "what hot sources could not send stays in their queues after 300 us and is sent \
            later",
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
        words: "hot are the nodes 3 modulo 4, with 122 for 123; they send nothing outside the 50 \
            us",
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
        words: "storage traffic is made up; areas are means over the run, windows a twentieth of \
            it",
    },
];
