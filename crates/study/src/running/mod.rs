//! Running studies: any number of processes on one folder, none of which can spoil it.
//!
//! ```text
//!  NAME.out/
//!    study.json, study.toml, inputs/   what is run (folder.rs)
//!    runs/ID.json.zst                  one file per run: written beside and renamed, valid or absent
//!    locks/UNIT                        who works on a unit; the system drops the lock of who dies (lock.rs)
//!    journal/*.jsonl                   one per process: what began and ended (journal.rs)
//!    results.csv, *.parquet            all runs together, in the order of the study (merge.rs)
//! ```
//!
//! What is left to do follows from the run files alone (recorded.rs, walk.rs): a process that was killed has
//! lost the run it was at and nothing else. Locks only keep two processes from doing the same run; where the
//! file system has none, both write the same bytes.

mod execute;
mod folder;
mod journal;
mod kept;
mod leader;
mod lock;
mod merge;
mod recorded;
mod walk;

pub use execute::{Failure, Finished, Options, Progress, Worst, execute};
pub use folder::{StudyFolder, StudyFolderError, named_files};
pub use journal::{Entry, Journal, at_work, entries};
pub use leader::{Leader, follow};
pub use merge::{MergeError, MergeOptions, Merged, merge};
pub use recorded::{Recorded, RunRecord};
pub use walk::{Missing, Planned, PlannedRun, planned};
