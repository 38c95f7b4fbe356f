//! `netloom report`: one HTML file about folders of results.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use super::Exit;
use super::output::Output;
use super::results_lock::lock_results;

#[derive(Args)]
pub(crate) struct Report {
    /// Folders of studies or of single runs; several are laid over each other and compared.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Where to write the report [default: report.html in the first folder].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Report {
    pub(super) fn run(&self, output: &Output) -> anyhow::Result<Exit> {
        // Beside the results it was made from, or nowhere: nobody exchanges them meanwhile.
        let _lock = match &self.output {
            Some(_) => None,
            None => lock_results(&self.folders[0])?,
        };
        let mut collections = vec![];
        for folder in &self.folders {
            let collection = netloom_store::read(folder)?;
            for warning in &collection.warnings {
                output.say(&format!("warning: {}: {warning}", folder.display()));
            }
            collections.push(collection);
        }
        let made_by = concat!("netloom ", env!("NETLOOM_VERSION"));
        let html = netloom_report::html(&collections, made_by);
        let file = match &self.output {
            Some(file) => file.clone(),
            None => self.folders[0].join("report.html"),
        };
        netloom_store::write_file(&file, html.as_bytes())
            .with_context(|| format!("cannot write {}", file.display()))?;
        output.say(&format!(
            "report: {} ({:.1} MB, needs no network)",
            file.display(),
            html.len() as f64 / 1e6
        ));
        Ok(Exit::Done)
    }
}
