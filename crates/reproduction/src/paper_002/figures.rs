//! The figures of the paper, drawn from our tables.

use netloom_figures::{Drawing, Quantity};

const LATENCY: Quantity = Quantity::new("latency_mean_ns", "mean latency", "us").times(1e-3);
const TIME: Quantity = Quantity::new("time_us", "time", "us");

pub(super) const FIGURES: &[Drawing] = &[
    Drawing {
        id: "figure-5a",
        title: "Figure 5a: uniform traffic, latency",
        caption: "Mean latency of packets over what is accepted. Copies in stashes cost nothing until the stashes are full.",
        table: "uniform",
        without: "",
        x: Quantity::new("accepted_load", "accepted load", ""),
        y: LATENCY,
        is_distribution: false,
    },
    Drawing {
        id: "figure-5b",
        title: "Figure 5b: uniform traffic, throughput",
        caption: "What is accepted over what is offered, as fractions of an endpoint's link.",
        table: "uniform",
        without: "",
        x: Quantity::new("offered_load", "offered load", ""),
        y: Quantity::new("accepted_load", "accepted load", ""),
        is_distribution: false,
    },
    Drawing {
        id: "figure-7a",
        title: "Figure 7a: victims when aggressors begin",
        caption: "Mean latency of victim packets received in each microsecond; aggressors begin at 20 us.",
        table: "onset",
        without: "without ECN",
        x: TIME,
        y: Quantity::new("victim_latency_ns", "victim latency", "us").times(1e-3),
        is_distribution: false,
    },
    Drawing {
        id: "figure-7b",
        title: "Figure 7b: latency distribution of victims",
        caption: "Share of victim packets that take longer, both axes logarithmic: the tail is what stashes cut.",
        table: "distribution",
        without: "",
        x: Quantity::new("latency_ns", "latency", "us")
            .times(1e-3)
            .log(),
        y: Quantity::new("share", "share of packets above", "")
            .complement()
            .log(),
        is_distribution: true,
    },
    Drawing {
        id: "figure-8a",
        title: "Figure 8: load of the aggressors of one hot spot",
        caption: "Flits per cycle that the four aggressors of one hot spot inject.",
        table: "onset",
        without: "",
        x: TIME,
        y: Quantity::new("watched_flits_per_cycle", "aggressor load", "flits/cycle"),
        is_distribution: false,
    },
    Drawing {
        id: "figure-8b",
        title: "Figure 8: stashes of the switch of that hot spot",
        caption: "Share of the stashes of the hot spot's switch in use.",
        table: "onset",
        without: "",
        x: TIME,
        y: Quantity::new("watched_stash_share", "stash in use", ""),
        is_distribution: false,
    },
    Drawing {
        id: "figure-9",
        title: "Figure 9: victims beside bursts",
        caption: "Ninetieth percentile of victim latency over the length of the aggressors' messages.",
        table: "bursts",
        without: "",
        x: Quantity::new("packets", "packets per message", "").log(),
        y: Quantity::new("victim_p90_ns", "victim latency, 90 %", "us").times(1e-3),
        is_distribution: false,
    },
];
