//! `netloom report`: writes an HTML report of folders of results.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use clap::Args;
use netloom_experiment::huge_pages;
use netloom_results::store::read_with_control;

use super::output::Output;
use super::results_lock::lock_results;
use super::{Exit, interrupt};

#[derive(Args)]
pub(crate) struct Report {
    /// Folders of studies or single runs; several folders are compared with each other.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// File of the report [default: report.html in the folder, or comparison.html in the first of
    /// several folders].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Open the report in a browser.
    #[arg(long)]
    open: bool,
}

impl Report {
    pub(super) fn run(&self, output: &Output) -> anyhow::Result<Exit> {
        // No other process may replace the results before the report about them is written into
        // their folder.
        let _lock = match &self.output {
            Some(_) => None,
            None => lock_results(&self.folders[0])?,
        };
        let mut collections = vec![];
        for folder in &self.folders {
            let collection = read_with_control(folder, &mut interrupt::control)?;
            for warning in &collection.warnings {
                output.say(&format!("warning: {}: {warning}", folder.display()));
            }
            collections.push(collection);
        }
        let made_by = concat!("netloom ", env!("NETLOOM_VERSION"));
        let html =
            netloom_report::html_with_control(&collections, made_by, &mut interrupt::control)?;
        let file = match &self.output {
            Some(file) => file.clone(),
            // A comparison must not replace the report about the first folder alone.
            None if self.folders.len() > 1 => self.folders[0].join("comparison.html"),
            None => self.folders[0].join("report.html"),
        };
        netloom_results::store::write_file(&file, html.as_bytes())
            .with_context(|| format!("cannot write {}", file.display()))?;
        output.say(&format!(
            "wrote {} ({:.1} MB, works offline)",
            file.display(),
            html.len() as f64 / 1e6
        ));
        if self.open && !is_opened(&file) {
            output.error(&format!(
                "cannot find a program to open {}; open it in a browser",
                file.display()
            ));
            return Ok(Exit::Failed);
        }
        Ok(Exit::Done)
    }
}

/// Opens a file with the default program, and returns whether that worked.
fn is_opened(file: &Path) -> bool {
    let commands: &[&[&str]] = if cfg!(target_os = "macos") {
        &[&["open"]]
    } else if cfg!(windows) {
        &[&["cmd", "/C", "start", ""]]
    } else {
        &[&["xdg-open"], &["wslview"], &["gio", "open"]]
    };
    huge_pages::switch_on();
    commands.iter().any(|command| {
        let mut opener = Command::new(command[0]);
        opener.args(&command[1..]).arg(file);
        opener.stdout(Stdio::null()).stderr(Stdio::null());
        opener.status().is_ok_and(|status| status.success())
    })
}
