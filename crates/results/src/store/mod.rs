//! Results on disk: Parquet tables, run files, and folders read back as one collection.
//!
//! ```text
//!  Frame ─► parquet.rs (pages.rs) ─► links.parquet …     RunFile ─► run_file.rs ─► runs/ID.json.zst
//!  slowdown.rs fills what needs all runs of a study
//!  folder ─► folder.rs ─► Collection, with the points over seeds (points.rs)
//!  writing/ creates every file and folder of results
//! ```
//!
//! Equal tables have equal bytes, no matter which process writes them.

mod folder;
mod pages;
mod parquet;
mod points;
mod run_file;
mod slowdown;
mod writing;

pub use folder::{ReadError, read, read_with_control};
pub use parquet::{TableWriter, from_parquet, is_guarded, to_parquet};
pub use points::points;
pub use run_file::{Invalid, RunFile, RunSummary};
pub use slowdown::fill_slowdowns;
pub use writing::{
    CheckpointFolder, CheckpointOf, FolderError, FolderLock, INCOMING, Incoming, RunFolder, SUMS,
    Sibling, create_new, finish_incoming, foreign, is_table, is_unit, make_folder, open_to_lock,
    remove_files, table_file, write_file,
};
