//! Results on disk: Parquet tables, run files, and folders read back as one collection.
//!
//! ```text
//!  Frame ─► parquet.rs ─► links.parquet …     RunFile ─► run_file.rs ─► runs/ID.json.zst
//!  folder ─► folder.rs ─► Collection, with the points over seeds (points.rs)
//!  every file and folder of results is made by writing/
//! ```
//!
//! Equal tables give equal bytes, whoever writes them.

mod folder;
mod parquet;
mod points;
mod run_file;
mod writing;

pub use folder::{ReadError, read};
pub use parquet::{TableWriter, from_parquet, is_guarded, to_parquet};
pub use points::points;
pub use run_file::{Invalid, RunFile, RunSummary};
pub use writing::{
    CheckpointFolder, CheckpointOf, FolderError, FolderLock, INCOMING, Incoming, RunFolder,
    Sibling, create_new, finish_incoming, is_ours, is_table, make_folder, open_to_lock, table_file,
    write_file,
};
