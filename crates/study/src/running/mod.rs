//! Runs studies, in memory or with any number of processes on one folder.
//!
//! ```text
//!  Study::run (execute.rs) ─► Store (store.rs): memory, or a folder:
//!
//!  NAME.out/
//!    study.json, study.toml, inputs/   the study (folder.rs)
//!    runs/ID.json.zst                  one file per run, written atomically: valid or absent
//!    locks/UNIT                        lock of a unit, released when its process dies (lock.rs)
//!    journal/*.jsonl                   one per process: starts and ends of runs (journal.rs)
//!    results.csv, *.parquet            all runs together, in the order of the study (merge.rs)
//!    manifest.json                     the processes and their cost (manifest.rs)
//! ```
//!
//! The remaining work follows from the run files alone (recorded.rs, walk.rs): a killed process
//! loses only its current run. Locks merely keep two processes from running the same unit; without
//! locks, both write the same bytes.

mod cache;
mod execute;
mod folder;
mod journal;
mod leader;
mod lock;
mod manifest;
mod merge;
mod recorded;
mod store;
mod walk;

pub use execute::{Failure, Finished, Options, StudyProgress, Worst};
pub use folder::{StudyFolder, StudyFolderError, named_files};
pub use journal::{Entry, Journal, at_work, entries};
pub use leader::{Leader, follow};
pub use merge::{MergeError, MergeOptions, Merged};
pub use recorded::{Recorded, RunRecord};
pub use store::{MemoryStore, Store};
pub use walk::{Missing, Planned, PlannedRun, planned};
