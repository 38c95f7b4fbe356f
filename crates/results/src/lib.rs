//! The schema of stored results: names, units and meanings of all columns.
//!
//! A run writes a folder:
//!
//! ```text
//! NAME.out/
//!   results.csv    one line per seed and scope (total, class, service level)   [Summary]
//!   series.csv     one line per seed, epoch and row                            [SeriesLine]
//!   links.csv      one line per seed and link                                  [LinkLine]
//!   connections.csv  one line per seed and connection, if there are any        [ConnectionLine]
//!   punctuality.csv  the same by service level, with best and worst            [PunctualityLine]
//!   waits.csv      one line per seed and class, if waits were measured         [WaitSummary]
//!   results.json   the same summaries as one document, with the verdicts       [Document]
//!   resolved.toml  the experiment, with every default
//!   SHA256SUMS     checksums of the files above
//!   manifest.json  machine, time and cost: all that differs between machines   [Manifest]
//! ```
//!
//! Every table is also written as Parquet, and as CSV only up to 100,000 lines unless all are asked
//! for. All files but the last have the same bytes for the same experiment, on any machine and for
//! any number of partitions and threads. Columns are added, never renamed; units are part of names.
//! This crate does not depend on the simulator, so that tools that read results need not link it.
//! [`store`] writes and reads folders; [`compare`](mod@compare) compares them; [`view`] provides the
//! data for figures and reports.

mod collection;
pub mod compare;
mod connections;
mod control;
mod csv;
mod document;
mod frame;
mod identity;
mod jobs;
mod lines;
mod manifest;
mod nullable;
mod protocol;
mod provenance;
mod recorded;
pub mod store;
mod study;
mod table;
pub mod view;
mod waits;

pub use collection::Collection;
pub use compare::{Comparison, compare, compare_by};
pub use connections::{ConnectionLine, ConnectionsSummary, PunctualityLine};
pub use control::{Control, Stopped};
pub use csv::{Csv, quoted};
pub use document::{
    ClassSummary, CountersSummary, Deadlock, Document, Estimate, LinkGroup, LinksSummary,
    OverSeeds, RowSummary, Run, SeedsEstimate, SlSummary, Status, Timing, Wait, Window,
};
pub use frame::{Frame, FrameColumn, Values, Words};
pub use identity::{RunId, sha256};
pub use jobs::{JobSummary, RankWait};
pub use lines::{
    HistogramLine, HostLine, Key, LinkLine, SeriesLine, Summary, TABLES, WaitKey, WaitSummary,
    axis_label, described, differ, empty_table, over_seeds,
};
pub use manifest::Manifest;
pub use netloom_metrics::Verdict;
pub use nullable::Nullable;
pub use protocol::{ProtocolSummary, StashLine};
pub use provenance::{Provenance, Stopwatch, cpu_time, host, peak_memory};
pub use recorded::Recorded;
pub use study::{AxisColumn, Level, Setting, StudyDocument, half_width_of};
pub use table::{Better, Cell, Column, Datum, Kind, Table};
pub use waits::{ClassWait, PlaceWaits, WaitScope, Waits};

/// Incremented only by a change of results, which the changelog lists.
pub const RESULTS_VERSION: u32 = 4;
