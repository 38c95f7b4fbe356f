//! netloom simulates, plans and proves quality of service on lossless HPC and AI fabrics.
//!
//! An experiment is a text. [`load`] reports all its errors, and [`run`] returns results with their
//! uncertainty. Equal texts and seeds give equal bytes on every machine.
//!
//! ```
//! use netloom::{Control, Request, RunOptions, load, render, run};
//!
//! let text = r#"
//!     netloom = 1
//!     name = "two-hosts"
//!
//!     [topology]
//!     kind = "single-switch"
//!     ports = 2
//!
//!     [[traffic]]
//!     load = 0.3
//!
//!     [measure]
//!     length = "50 us"
//! "#;
//! let loaded = load(&Request::new("two-hosts.toml", text));
//! let experiment = loaded.experiment.unwrap_or_else(|| {
//!     panic!("{}", render(&loaded.document, &loaded.notes, false))
//! });
//! let result = run(&experiment, &RunOptions::default(), &mut |_| Control::Continue);
//! let total = &result.document.run.total;
//! println!("mean latency {:.1} ns", total.latency_mean_ns.unwrap());
//! assert!((total.delivered_load - 0.3).abs() < 0.02);
//! ```
//!
//! [`compare()`] finds the differences between two sets of results, and [`plan()`] computes the
//! tables of a port from the needs of classes. Both return data that print as text and serialise as
//! JSON:
//!
//! ```
//! use netloom::experiment::spec::{open, read_plan};
//! use netloom::{Disk, Request, plan};
//!
//! let text = r#"
//!     [plan]
//!     entries = 8
//!     [[plan.class]]
//!     name = "compute"
//!     share = 0.95
//!     [[plan.class]]
//!     name = "control"
//!     share = 0.05
//!     packet = "256 B"
//!     deadline = "5 us"
//! "#;
//! let mut opened = open(&Request::new("port.toml", text));
//! let request = read_plan(&opened.document, &Disk::folder("."), &mut opened.notes);
//! let plan = plan(&request.expect("no mistakes")).expect("tables that meet all needs");
//! assert!(plan.classes[1].slack().is_some());
//! println!("{plan}");
//! ```
//!
//! A [`Study`] runs in a folder or in a [`MemoryStore`]. A [`Collection`] holds the tables of a run
//! or a study, for reports, figures and comparisons. `examples/in_memory.rs` runs a study in
//! memory, compares its variants and plans a port.
//!
//! A program can add its own topologies, routings, arbiters, congestion controls and kinds of
//! traffic: set [`Kinds`] in [`Request`]. `netloom-cli` provides the command line with these kinds.
//!
//! The modules, from the bottom up: [`units`], [`random`], [`catalog`] (reading files),
//! [`metrics`], [`packet`], [`topology`], [`routing`], [`arbitration`], [`infiniband`] (real
//! subnets), [`design`] (planning without simulation), [`traffic`], [`fabric`] (the simulated
//! devices), [`results`] (stored results), [`experiment`] (from a file to results), [`study`] (many
//! runs from one file) and [`reproduction`] (experiments of papers).

#![warn(missing_docs)]

pub use netloom_arbitration as arbitration;
pub use netloom_catalog as catalog;
pub use netloom_design as design;
pub use netloom_experiment as experiment;
pub use netloom_fabric as fabric;
pub use netloom_infiniband as infiniband;
pub use netloom_metrics as metrics;
pub use netloom_packet as packet;
pub use netloom_random as random;
pub use netloom_reproduction as reproduction;
pub use netloom_results as results;
pub use netloom_routing as routing;
pub use netloom_study as study;
pub use netloom_topology as topology;
pub use netloom_traffic as traffic;
pub use netloom_units as units;

pub use netloom_catalog::{Disk, Files, MemoryFiles};
pub use netloom_design::{Plan, PlanError, plan};
pub use netloom_experiment::runner::{Control, Progress, RunOptions, RunResult, run};
pub use netloom_experiment::spec::{Loaded, Request, load, load_with_control};
pub use netloom_experiment::{Experiment, Kinds, TwoOfAName, available_memory, render};
pub use netloom_results::{
    Collection, Comparison, Document, Provenance, RESULTS_VERSION, Status, Stopped, Summary,
    Verdict, compare, compare_by,
};
pub use netloom_study::Study;
pub use netloom_study::running::{MemoryStore, Store};
