//! The claims of the paper, and their bands.

use super::switches::Switch::{Full, Half};
use super::{applications, bursts, onset, uniform};
use crate::{Basis, Claim, Finding, Tier};

/// Readings that affect throughput and latency of uniform traffic.
const UNIFORM: &[&str] = &[
    "0.4", "3.1.1", "3.5", "X002-1", "X002-4", "G002-1", "G002-2", "G002-3", "G002-4", "G002-5",
    "G002-6", "G002-7", "G002-8", "G002-9", "G002-11", "G002-15",
];
/// Readings that affect execution times of applications.
const APPLICATIONS: &[&str] = &["8.2", "X002-8", "G002-2", "G002-4", "G002-5", "G002-16"];
/// Readings that affect the course of congestion.
const ONSET: &[&str] = &[
    "3.1.1", "3.1.3", "3.5", "X002-5", "X002-6", "G002-1", "G002-2", "G002-3", "G002-12",
    "G002-13", "G002-14", "G002-15",
];
/// Readings that affect the impact of bursts.
const BURSTS: &[&str] = &[
    "0.4", "3.1.1", "3.1.3", "3.5", "X002-5", "X002-6", "G002-2", "G002-9", "G002-13", "G002-14",
    "G002-15",
];

const C002_1: Claim = Claim {
    id: "C002-1",
    part: "",
    tier: Tier::Q,
    // tidy: allow the text of a claim
    statement: "uniform traffic: baseline, 100 % and 50 % capacity saturate alike",
    paper: "about 90 %",
    band: "each 85 to 95 % accepted at most",
    basis: Basis::Paper,
    readings: UNIFORM,
    judge: |_| Finding::not_run("divided into parts"),
};
const C002_2: Claim = Claim {
    id: "C002-2",
    statement: "uniform traffic: 25 % capacity saturates early",
    ..C002_1
};
const C002_4: Claim = Claim {
    id: "C002-4",
    tier: Tier::O,
    statement: "uniform traffic: a stash costs no latency",
    paper: "-",
    band: "less than 5 % from the baseline at loads up to 0.85",
    ..C002_1
};
const C002_5: Claim = Claim {
    id: "C002-5",
    statement: "applications: hardly slower than with the baseline",
    paper: "at most 2 %",
    band: "each at most 3 % slower",
    basis: Basis::MadeUp,
    readings: APPLICATIONS,
    ..C002_1
};
const C002_6: Claim = Claim {
    id: "C002-6",
    tier: Tier::O,
    statement: "applications: 25 % capacity slows down BIGFFT and FillBoundary only",
    paper: "-",
    ..C002_5
};
const C002_8: Claim = Claim {
    id: "C002-8",
    tier: Tier::O,
    statement: "aggressors begin: victims suffer most with the baseline, less with 50 %, least \
        with 100 %",
    paper: "-",
    readings: ONSET,
    ..C002_1
};
const C002_10: Claim = Claim {
    id: "C002-10",
    statement: "latency of victims after the onset",
    readings: ONSET,
    ..C002_1
};
const C002_11: Claim = Claim {
    id: "C002-11",
    statement: "a hot spot with 100 %: what its aggressors send, and its stashes",
    readings: ONSET,
    ..C002_1
};
const C002_13: Claim = Claim {
    id: "C002-13",
    tier: Tier::O,
    statement: "bursts: 90 % quantile of the victims' latency",
    paper: "-",
    readings: BURSTS,
    ..C002_1
};

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        part: "level",
        judge: uniform::about_90,
        ..C002_1
    },
    Claim {
        part: "alike", // tidy: allow the name of a part of a claim
        paper: "equal",
        band: "within 2 points of a link of each other",
        judge: uniform::alike, // tidy: allow a function name
        ..C002_1
    },
    Claim {
        part: "level",
        paper: "about 78 %",
        band: "72 to 82 % accepted at most",
        judge: uniform::early,
        ..C002_2
    },
    Claim {
        part: "Little",
        paper: "78 % against 75 %",
        band: "within 8 % of Little's law for the measured round trip",
        judge: uniform::as_little_says,
        ..C002_2
    },
    Claim {
        id: "C002-3",
        statement: "uniform traffic: mean latency just below saturation",
        paper: "about 0.8 us",
        band: "0.65 to 1.0 us",
        judge: uniform::latency_below_saturation,
        ..C002_1
    },
    Claim {
        part: "100 %",
        judge: |results| uniform::costs_nothing(results, Full),
        ..C002_4
    },
    Claim {
        part: "50 %",
        judge: |results| uniform::costs_nothing(results, Half),
        ..C002_4
    },
    Claim {
        part: "100 %",
        judge: |results| applications::hardly_slower(results, Full),
        ..C002_5
    },
    Claim {
        part: "50 %",
        judge: |results| applications::hardly_slower(results, Half),
        ..C002_5
    },
    Claim {
        part: "bandwidth",
        band: "both more than 3 % slower",
        judge: |results| applications::slower_if_bound(results, true),
        ..C002_6
    },
    Claim {
        part: "others",
        band: "all four within 3 % of the baseline",
        judge: |results| applications::slower_if_bound(results, false),
        ..C002_6
    },
    Claim {
        id: "C002-7",
        statement: "applications: some may be faster with a stash",
        band: "one faster than with the baseline (informational)",
        judge: applications::some_are_faster,
        ..C002_6
    },
    Claim {
        part: "peak",
        band: "in that order: the worst microsecond after the onset",
        judge: onset::peaks,
        ..C002_8
    },
    Claim {
        part: "area",
        band: "in that order: the area above the mean from before",
        judge: onset::areas,
        ..C002_8
    },
    Claim {
        id: "C002-9",
        tier: Tier::Q,
        statement: "aggressors begin: ECN makes the baseline normal again",
        paper: "about 60 us",
        band: "within 10 % of the mean from before at 50 to 75 us",
        judge: onset::back_to_normal,
        ..C002_8
    },
    Claim {
        part: "slowest",
        paper: "about 3 times",
        band: "100 %: at most 4 times the slowest without aggressors",
        judge: onset::slowest,
        ..C002_10
    },
    Claim {
        part: "99.9 %",
        tier: Tier::O,
        paper: "-",
        band: "baseline above 50 % above 100 %",
        judge: onset::tails,
        ..C002_10
    },
    Claim {
        part: "first",
        paper: "4 flits/cycle",
        band: "3.8 to 4.0 flits per cycle",
        judge: onset::watched_initially,
        ..C002_11
    },
    Claim {
        part: "drop",
        paper: "after about 12 us",
        band: "below 3 flits per cycle within 8 to 20 us",
        judge: onset::watched_drops,
        ..C002_11
    },
    Claim {
        part: "last",
        paper: "1 flit/cycle",
        band: "0.8 to 1.3 flits per cycle from 60 to 75 us",
        judge: onset::watched_late,
        ..C002_11
    },
    Claim {
        part: "stash",
        paper: "near zero",
        band: "from 60 to 75 us less than 10 % of its peak",
        judge: onset::watched_stash,
        ..C002_11
    },
    Claim {
        id: "C002-12",
        tier: Tier::Q,
        statement: "bursts: victims keep their load",
        paper: "40 %",
        band: "39 to 41 % for every length and switch",
        judge: bursts::victims_keep_their_load,
        ..C002_13
    },
    Claim {
        part: "100 %",
        band: "below the baseline for every length",
        judge: |results| bursts::stash_is_better(results, Full),
        ..C002_13
    },
    Claim {
        part: "50 %",
        band: "below the baseline for every length",
        judge: |results| bursts::stash_is_better(results, Half),
        ..C002_13
    },
    Claim {
        part: "peak",
        paper: "256 packets",
        band: "baseline largest at 128, 256 or 512 packets",
        judge: bursts::baseline_has_a_peak,
        ..C002_13
    },
    Claim {
        part: "range 100 %",
        band: "less than a third of the baseline's",
        judge: |results| bursts::stash_varies_less(results, Full),
        ..C002_13
    },
    Claim {
        part: "range 50 %",
        band: "less than a third of the baseline's",
        judge: |results| bursts::stash_varies_less(results, Half),
        ..C002_13
    },
    Claim {
        id: "C002-14",
        statement: "aggressors begin: without ECN victims degrade severely",
        paper: "severely",
        band: "in the last 20 us below 38 % accepted or more than 5 times the latency from before",
        judge: onset::without_ecn,
        ..C002_8
    },
];
