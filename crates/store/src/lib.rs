//! Results on disk: Parquet tables, run files, and folders read back as one collection.
//!
//! ```text
//!  Frame ─► parquet.rs ─► links.parquet …     RunFile ─► run_file.rs ─► runs/ID.json.zst
//!  folder ─► folder.rs ─► Collection, with the points over seeds (points.rs)
//! ```
//!
//! This crate knows tables and no simulator. Equal tables give equal bytes, whoever writes them.

mod folder;
mod parquet;
mod points;
mod run_file;
mod write;

pub use folder::{ReadError, read};
pub use parquet::{TableWriter, from_parquet, to_parquet};
pub use points::points;
pub use run_file::{Invalid, RunFile, RunSummary};
pub use write::{temporary, write_atomically};
