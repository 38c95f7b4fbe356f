//! The readings of the paper. Alternative readings are in its file `paper.toml`.

use crate::claim::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "1.1.2",
        words: "IB: one flit per cycle over each crossbar port, whole messages, one queue per lane \
            at an input",
    },
    Reading {
        id: "1.1.3",
        words: "OPA: MPorts of four ports, two links each to the centre, 229,376 bytes there for \
            each MPort",
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
        words: "three flits per cycle from input to centre and from there to the output buffer, \
            one within an MPort",
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
        words: "a message enters a link of three flits per cycle with its header and passes as it \
            comes",
    },
];
