//! The readings of the paper. Alternative readings are in its file `paper.toml`.

use crate::claim::Reading;

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
        // tidy: allow the text of a reading, as in claims.md
        words: "messages of the workload's size distribution as published, to all alike, in an \
            open loop at 60 % for 4 ms",
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
