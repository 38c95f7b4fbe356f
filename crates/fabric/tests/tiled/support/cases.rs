//! Named configurations. Each drains by itself and is compared between model and reference.

use std::sync::Arc;

use netloom_fabric::{Cuts, LinkTiming, Priority, Retransmission, RowSpace, TileStages, Window};
use netloom_routing::{
    Intermediate, Knowledge, Minimal, Par, ParUgal, Policy, Routing, Ugal, Valiant,
};
use netloom_topology::{Arrangement, Dragonfly, Placement};

use super::{Case, STAGES};

const fn link(flit: u64, delay: u64) -> LinkTiming {
    LinkTiming { flit, delay }
}

/// The window of paper 002, small enough to be effective here.
pub(crate) const WINDOW: Window = Window {
    most: 96,
    least: 24,
    cut: (4, 5),
    cuts: Cuts::EveryMark,
    step: 300,
};

impl Case {
    /// A 72-endpoint dragonfly with delays and buffers of paper 002, in ticks of 1/13 ns and flits
    /// of 1 ns.
    pub(crate) fn dragonfly72(routing: Arc<dyn Routing + Send + Sync>) -> Case {
        Case {
            links: vec![link(13, 65), link(13, 520), link(13, 6500)],
            input: vec![101, 106, 952],
            output: vec![101, 106, 952],
            row_buffer: 4,
            column_buffer: 4,
            ..Case::dragonfly((2, 4, 2), routing)
        }
    }

    /// A dragonfly with these hosts and global cables per switch, and switches per group.
    pub(crate) fn dragonfly(
        (hosts, switches, globals): (u16, u16, u16),
        routing: Arc<dyn Routing + Send + Sync>,
    ) -> Case {
        let ports = (hosts + switches - 1 + globals).next_multiple_of(4);
        let tiles = (2, 2, ports / 2, ports / 2);
        Case {
            topology: Arc::new(Dragonfly {
                hosts,
                switches,
                globals,
                groups: None,
                arrangement: Arrangement::PalmTree,
                ports: Some(ports),
                placement: Placement::Random,
            }),
            routing,
            tiles,
            links: vec![link(13, 65), link(13, 130), link(13, 650)],
            input: vec![60, 60, 120],
            output: vec![60, 60, 120],
            flits: vec![vec![4, 12, 24]],
            until: 12_000,
            ..Case::single(2)
        }
    }

    fn small_dragonfly(routing: Arc<dyn Routing + Send + Sync>) -> Case {
        Case {
            until: 40_000,
            ..Case::dragonfly((1, 2, 1), routing)
        }
    }

    fn clocks(self, period: u64, flit: u64) -> Case {
        let links = self.links.iter();
        Case {
            period,
            links: links.map(|l| link(flit, l.delay)).collect(),
            ..self
        }
    }

    fn tiles(self, rows: u16, columns: u16, inputs: u16, outputs: u16) -> Case {
        Case {
            tiles: (rows, columns, inputs, outputs),
            ..self
        }
    }

    fn keeping(self, retransmission: Retransmission) -> Case {
        Case {
            retransmission,
            ..self
        }
    }

    fn at(self, load: f64) -> Case {
        Case { load, ..self }
    }

    fn sized(self, flits: &[u64]) -> Case {
        Case {
            flits: vec![flits.to_vec()],
            ..self
        }
    }

    fn buffers(self, row: u32, column: u32, input: u32, output: u32) -> Case {
        Case {
            row_buffer: row,
            column_buffer: column,
            input: vec![input],
            output: vec![output],
            ..self
        }
    }
}

const MIXED: [u64; 4] = [1, 7, 24, 60];

/// Switches of other shapes, sizes and clocks, without endpoints that acknowledge.
fn switches() -> Vec<(&'static str, Case)> {
    let shortest = TileStages {
        before_bus: 0,
        row_bus: 1,
        tile: 1,
        multiplexer: 1,
        output: 0,
        side_band: 1,
    };
    let longest = TileStages {
        before_bus: 5,
        row_bus: 4,
        tile: 6,
        multiplexer: 3,
        output: 7,
        side_band: 9,
    };
    let single = || Case::single(8).sized(&MIXED);
    vec![
        ("baseline", Case::single(8)),
        ("full load", single().at(1.0)),
        ("light load", single().at(0.2)),
        (
            "two rows of three tiles",
            Case::single(12).tiles(2, 3, 6, 4).sized(&MIXED).at(0.9),
        ),
        (
            "three rows of two tiles",
            Case::single(12).tiles(3, 2, 4, 6).sized(&MIXED).at(0.9),
        ),
        ("one column", single().tiles(4, 1, 2, 8).at(0.9)),
        ("one row", single().tiles(1, 4, 8, 2).at(0.9)),
        ("a tile for each pair", single().tiles(8, 8, 1, 1).at(0.9)),
        ("unused ports", Case::single(5).sized(&MIXED).at(0.9)),
        (
            "buffers of one packet",
            single().buffers(1, 1, 0, 0).at(1.0),
        ),
        ("a short row buffer", single().buffers(1, 4, 60, 60).at(1.0)),
        (
            "a short row buffer for each output",
            Case {
                row_space: RowSpace::PerOutput,
                ..single().buffers(1, 4, 60, 60).at(1.0)
            },
        ),
        (
            "a short column buffer",
            single().buffers(4, 1, 60, 60).at(1.0),
        ),
        ("clocks of 1 and 1", single().clocks(1, 1).at(0.9)),
        ("clocks of 7 and 11", single().clocks(7, 11).at(0.9)),
        ("clocks of 3 and 10", single().clocks(3, 10).at(0.9)),
        (
            "single flits",
            Case {
                until: 8_000,
                ..Case::single(8).sized(&[1]).at(1.0)
            },
        ),
        (
            "short stages",
            Case {
                stages: shortest,
                ..single().at(0.9)
            },
        ),
        (
            "long stages",
            Case {
                stages: longest,
                ..single().at(0.9)
            },
        ),
        (
            "links without delay",
            Case {
                links: vec![link(13, 0)],
                ..single().at(0.9)
            },
        ),
        ("a hot spot", single().hot(3).at(0.9)),
        (
            "outputs that keep flits",
            single()
                .buffers(4, 4, 60, 20)
                .keeping(Retransmission::PerFlit)
                .at(1.0),
        ),
        (
            "outputs that keep nothing",
            single()
                .buffers(1, 1, 0, 0)
                .keeping(Retransmission::Nothing)
                .at(1.0),
        ),
    ]
}

/// Several switches.
fn fabrics() -> Vec<(&'static str, Case)> {
    vec![
        ("a tree", Case::tree(4, 2).at(0.3)),
        ("a loaded tree", Case::tree(4, 2).sized(&MIXED).at(1.0)),
        ("three levels", Case::tree(2, 3).sized(&MIXED).at(0.8)),
        (
            "a tree of tight buffers",
            Case::tree(4, 2).sized(&MIXED).buffers(1, 1, 0, 0).at(1.0),
        ),
        ("two lanes", Case::torus(&[4, 3], 2).sized(&MIXED).at(0.9)),
        (
            "two lanes and tight buffers",
            Case::torus(&[4, 3], 2)
                .sized(&MIXED)
                .buffers(1, 1, 8, 8)
                .at(1.0),
        ),
        (
            "minimal on a small dragonfly",
            Case::small_dragonfly(Arc::new(Minimal {})).at(0.8),
        ),
        (
            "minimal on a dragonfly",
            Case::dragonfly((2, 4, 2), Arc::new(Minimal {})).at(0.6),
        ),
        (
            "Valiant on a dragonfly",
            Case::dragonfly(
                (2, 4, 2),
                Arc::new(Valiant {
                    intermediate: Intermediate::Group,
                }),
            )
            .at(0.4),
        ),
        (
            "UGAL on a small dragonfly",
            Case::small_dragonfly(ugal()).at(1.0),
        ),
        (
            "UGAL on a dragonfly",
            Case::dragonfly((2, 4, 2), ugal()).at(0.7),
        ),
        (
            "announced queues on a small dragonfly",
            Case::small_dragonfly(ugal_g(1)).at(1.0),
        ),
        (
            "announced queues on a dragonfly",
            Case::dragonfly((2, 4, 2), ugal_g(7)).at(0.7),
        ),
        (
            "queues announced rarely, and a hot spot",
            Case::dragonfly((2, 4, 2), ugal_g(200)).hot(17).at(0.5),
        ),
        (
            "announced queues, copies and faults",
            Case::small_dragonfly(ugal_g(1))
                .reliable(&[200], Some(20_000))
                .faulty(0.03, 0.03, 0.03)
                .at(0.7),
        ),
        (
            "announced queues that only a packet sent again makes",
            Case::dragonfly((2, 4, 2), ugal_g(3))
                .reliable(&[200], Some(3_000))
                .faulty(0.2, 0.2, 0.0)
                .at(0.15),
        ),
        (
            "outputs that keep flits on a dragonfly",
            Case::dragonfly((2, 4, 2), par_ugal())
                .keeping(Retransmission::PerFlit)
                .at(1.0),
        ),
        (
            "outputs that keep nothing on a dragonfly",
            Case::dragonfly((2, 4, 2), ugal())
                .keeping(Retransmission::Nothing)
                .at(1.0),
        ),
        (
            "transit first on a dragonfly",
            Case {
                priority: Priority::TransitFirst,
                ..Case::dragonfly((2, 4, 2), par_ugal()).at(1.0)
            },
        ),
        (
            "channels that may take little",
            Case {
                most: Some(12),
                ..Case::dragonfly((2, 4, 2), ugal()).at(1.0)
            },
        ),
        (
            "PAR on a small dragonfly",
            Case::small_dragonfly(par(Policy::Mixed)).at(1.0),
        ),
        (
            "PAR on a dragonfly",
            Case::dragonfly((2, 4, 2), par(Policy::Mixed)).at(0.9),
        ),
        (
            "PAR by links of the current switch, and a hot spot",
            Case::dragonfly((2, 4, 2), par(Policy::CurrentRouter))
                .hot(17)
                .at(0.7),
        ),
        (
            "PAR and outputs that keep flits",
            Case::dragonfly((2, 4, 2), par(Policy::Mixed))
                .keeping(Retransmission::PerFlit)
                .at(1.0),
        ),
        (
            "PAR by the test of UGAL on a dragonfly",
            Case::dragonfly((2, 4, 2), par_ugal()).at(0.7),
        ),
        (
            "PAR by the test of UGAL and a hot spot",
            Case::dragonfly((2, 4, 2), par_ugal()).hot(17).at(0.5),
        ),
    ]
}

fn par(policy: Policy) -> Arc<dyn Routing + Send + Sync> {
    Arc::new(Par {
        threshold_min: 0,
        threshold_local: 100,
        threshold_global: 100,
        relative: false,
        policy,
    })
}

fn par_ugal() -> Arc<dyn Routing + Send + Sync> {
    Arc::new(ParUgal { threshold: 24 })
}

fn ugal() -> Arc<dyn Routing + Send + Sync> {
    Arc::new(Ugal {
        threshold: 24,
        knowledge: Knowledge::Local,
        every: 32,
    })
}

pub(crate) fn ugal_g(every: u32) -> Arc<dyn Routing + Send + Sync> {
    Arc::new(Ugal {
        threshold: 24,
        knowledge: Knowledge::Global,
        every,
    })
}

/// Acknowledgements, windows, marks and stashed packets.
fn endpoints() -> Vec<(&'static str, Case)> {
    let tree = || Case::tree(4, 2).sized(&MIXED);
    let single = || Case::single(8).sized(&MIXED);
    let narrow = Window {
        most: 30,
        step: 97,
        ..WINDOW
    };
    vec![
        ("acknowledgements", tree().acknowledging().at(0.9)),
        (
            "acknowledgements of two flits",
            Case {
                acknowledgement: Some(2),
                flits: vec![MIXED.to_vec(), vec![3]],
                ..tree().at(0.9)
            },
        ),
        (
            "windows",
            Case {
                marks_above: vec![30],
                ..tree().marking(&[30], WINDOW).hot(3).at(0.9)
            },
        ),
        ("narrow windows", tree().marking(&[24], narrow).at(1.0)),
        (
            "windows on one switch",
            single().marking(&[24], WINDOW).hot(3).at(1.0),
        ),
        (
            "windows cut once",
            single()
                .marking(
                    &[24],
                    Window {
                        cuts: Cuts::OncePerWindow,
                        ..WINDOW
                    },
                )
                .hot(3)
                .at(1.0),
        ),
        // A mark may come to the flow whose turn it is, while it waits for space in the first
        // switch.
        (
            "cut while waiting for room",
            Case {
                links: vec![link(1, 135)],
                period: 1,
                acknowledgement: Some(2),
                flits: vec![vec![2, 3], vec![24]],
                seed: 412,
                until: 1200,
                ..single()
                    .buffers(3, 1, 35, 20)
                    .marking(
                        &[0],
                        Window {
                            most: 48,
                            step: 1,
                            ..WINDOW
                        },
                    )
                    .hot(3)
                    .at(1.0)
            },
        ),
        (
            "windows on a dragonfly",
            Case::dragonfly((2, 4, 2), par_ugal())
                .marking(&[30, 60, 90], WINDOW)
                .hot(9)
                .at(0.7),
        ),
        (
            "set aside on one switch",
            Case {
                row_buffer: 1,
                ..single()
                    .marking(&[24], WINDOW)
                    .setting_aside(&[120])
                    .hot(3)
                    .at(1.0)
            },
        ),
        (
            "set aside, row buffers for each output",
            Case {
                row_buffer: 1,
                row_space: RowSpace::PerOutput,
                ..single()
                    .marking(&[24], WINDOW)
                    .setting_aside(&[120])
                    .hot(3)
                    .at(1.0)
            },
        ),
        (
            "set aside without windows",
            Case {
                window: None,
                row_buffer: 1,
                ..single()
                    .marking(&[24], WINDOW)
                    .setting_aside(&[90])
                    .hot(3)
                    .at(1.0)
            },
        ),
        (
            "set aside in a tree",
            Case {
                row_buffer: 1,
                ..tree()
                    .marking(&[24], WINDOW)
                    .setting_aside(&[100, 0])
                    .hot(3)
                    .at(1.0)
            },
        ),
        (
            "set aside on a dragonfly",
            Case {
                row_buffer: 1,
                ..Case::dragonfly((2, 4, 2), par_ugal())
                    .marking(&[24], WINDOW)
                    .setting_aside(&[100, 60, 0])
                    .hot(9)
                    .at(0.8)
            },
        ),
    ]
}

/// Copies for reliability, and faults.
fn copies() -> Vec<(&'static str, Case)> {
    let tree = || Case::tree(4, 2).sized(&MIXED);
    let single = || Case::single(8).sized(&MIXED);
    let slow = TileStages {
        side_band: 400,
        ..STAGES
    };
    let small = || Case::small_dragonfly(par_ugal());
    let faulty = || tree().reliable(&[600], Some(6_000)).at(0.4);
    vec![
        ("ample stashes", tree().reliable(&[600], None).at(0.8)),
        ("scarce stashes", tree().reliable(&[48], None).at(0.9)),
        (
            "scarce stashes at some ports",
            tree().reliable(&[0, 60], None).at(0.9),
        ),
        (
            "scarce stashes on one switch",
            single().reliable(&[24], None).at(1.0),
        ),
        (
            "odd packets in stashes",
            Case::single(8)
                .sized(&[1, 3, 5])
                .reliable(&[24], None)
                .at(0.8),
        ),
        (
            "acknowledged before located",
            Case {
                stages: slow,
                ..single().reliable(&[600], None).at(0.6)
            },
        ),
        (
            "short rows with copies",
            single().reliable(&[200], None).buffers(1, 1, 0, 0).at(1.0),
        ),
        (
            "copies and windows",
            tree()
                .marking(&[24], WINDOW)
                .reliable(&[300], None)
                .hot(5)
                .at(0.9),
        ),
        (
            "copies on a dragonfly",
            Case::dragonfly((2, 4, 2), par_ugal())
                .reliable(&[200, 120, 0], None)
                .at(0.7),
        ),
        ("corruption", faulty().faulty(0.05, 0.0, 0.0)),
        ("losses", faulty().faulty(0.0, 0.05, 0.0)),
        ("damage on links", faulty().faulty(0.0, 0.0, 0.2)),
        ("all faults", faulty().faulty(0.05, 0.05, 0.1)),
        (
            "damage on links that keep flits",
            faulty()
                .faulty(0.0, 0.0, 0.2)
                .keeping(Retransmission::PerFlit),
        ),
        (
            "timeouts too short",
            tree()
                .reliable(&[600], Some(3_333))
                .faulty(0.02, 0.02, 0.02)
                .at(0.3),
        ),
        (
            "timeouts without faults",
            tree().reliable(&[600], Some(3_333)).at(0.8),
        ),
        (
            "faults and a slow side band",
            Case {
                stages: slow,
                ..single()
                    .reliable(&[600], Some(5_000))
                    .faulty(0.1, 0.05, 0.05)
                    .at(0.3)
            },
        ),
        (
            "faults on a small dragonfly",
            small()
                .reliable(&[400], Some(9_001))
                .faulty(0.05, 0.02, 0.05)
                .at(0.4),
        ),
        (
            "faults, windows and marks",
            tree()
                .marking(&[24], WINDOW)
                .reliable(&[300], Some(9_000))
                .faulty(0.05, 0.0, 0.02)
                .hot(5)
                .at(0.5),
        ),
    ]
}

pub(crate) fn cases() -> Vec<(&'static str, Case)> {
    [switches(), fabrics(), endpoints(), copies()].concat()
}
