//! The readings of the paper. Alternative readings are in its file `paper.toml`.

use crate::claim::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "5.1",
        words: "the crossbar has twice the speed of a link; buffers of four packets per lane",
    },
    Reading {
        id: "5.3",
        words: "deadlines and intervals of jitter are parts of the time between packets of each \
            connection (IAT)",
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
        // tidy: allow the text of a reading, as in claims.md
        words: "80 % of the slots limit admission; tables grow past 64 entries (strict-entries \
            beside it)",
    },
    Reading {
        id: "X004-4",
        // tidy: allow the text of a reading, as in claims.md
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
        words: "a run ends when the slowest connection of SL2 and SL3 has 100 packets, 10 below \
            the maximum",
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
