//! `netloom site lint env`: what the settings of communication libraries put on the wire.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use netloom_catalog::file::MOST_EXPERIMENT;
use netloom_catalog::{Document, Notes, Place, nearest};
use netloom_experiment::{Kinds, render};
use netloom_settings::lint::{Report, Row, Subject, lint};
use netloom_settings::wire::Given;
use netloom_settings::{Link, reading, table};

use super::files::{self, read_all};
use super::plan_classes;
use crate::load::Values;
use crate::note_lines::NoteLine;
use crate::output::Output;
use crate::table::{Table, width};
use crate::{Exit, Format};

/// The kind of links, as an argument.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LinkKind {
    #[value(name = "infiniband")]
    InfiniBand,
    Roce,
}

impl LinkKind {
    pub(super) fn link(self) -> Link {
        match self {
            LinkKind::InfiniBand => Link::InfiniBand,
            LinkKind::Roce => Link::Roce,
        }
    }
}

#[derive(Args)]
#[command(after_help = "Examples:
  env | netloom site lint env - --link infiniband
  netloom site lint env pod.yaml --link infiniband --plan moe.toml
  netloom site lint env job.sh --link infiniband --library deepep-v2 --library nccl=2.30.4
  netloom site lint env job.sh --link roce --pfc 3,5

The table has a line for each library: the service level or DSCP of its packets, and with --plan \
the lane, class, share and wait. With an imported site instead of a plan, it shows the lane and \
its weight. Each container of a pod spec is a process; so is each part of a script after a comment \
`# process NAME`. `netloom explain NCCL_IB_SL` describes a setting and its source. Exit codes: 0 \
nothing found, 6 findings. Remarks are not findings.")]
pub(crate) struct Env {
    /// Output of `env`, a shell script, or a pod spec (YAML or JSON); - is stdin.
    file: PathBuf,
    /// Kind of the links.
    #[arg(long, value_enum)]
    link: LinkKind,
    /// Experiment with [plan], or one of an imported site.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Library that variables do not show, or the version of one; may be repeated.
    #[arg(long = "library", value_name = "NAME[=VERSION]")]
    libraries: Vec<String>,
    /// Class of the plan without PFC, by name; may be repeated.
    #[arg(long, value_name = "CLASS", requires = "plan")]
    lossy: Vec<String>,
    /// Priorities with PFC, for code points that no plan has; a priority is DSCP / 8.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pfc: Option<Vec<u8>>,
    #[command(flatten)]
    values: Values,
    /// Format of stdout.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

impl Env {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        let given: Vec<Given> = self
            .libraries
            .iter()
            .map(|text| library(text))
            .collect::<anyhow::Result<_>>()?;
        if let Some(wrong) = self.pfc.iter().flatten().find(|priority| **priority > 7) {
            bail!("expected priorities from 0 to 7, found {wrong}");
        }
        let overrides = self.values.overrides(false);
        let classes = match &self.plan {
            None => None,
            Some(file) => {
                let found =
                    plan_classes::of_plan_or_site(kinds, file, &overrides, &self.lossy, output)?;
                match found {
                    Some(classes) => Some(classes),
                    None => return Ok(Exit::Invalid),
                }
            }
        };
        let sources = match self.file == Path::new("-") {
            true => vec![stdin()?],
            false => read_all(std::slice::from_ref(&self.file))?,
        };
        let environment = reading::read(&sources[0].1, 0, table());
        let report = lint(&Subject {
            environment: &environment,
            file: Place::default(),
            link: self.link.link(),
            given: &given,
            classes: classes.as_ref(),
            lossless: self.pfc.as_deref(),
        });
        let document = files::texts(sources);
        match self.format {
            Format::Json => output.data(&json(&document, &report)?)?,
            Format::Human => {
                if !report.rows.is_empty() {
                    output.text(&rows(&report.rows, self.link, self.plan.is_some()))?;
                }
                for remark in report.remarks.iter() {
                    let words = NoteLine::of(remark, &document).sentence();
                    output.say(&format!("remark[{}]: {words}", remark.code));
                }
                let notes = render(&document, &report.findings, output.is_data_coloured);
                output.rendered(&notes)?;
                if report.findings.is_empty() {
                    output.outcome("nothing found\n")?;
                }
            }
        }
        Ok(match report.findings.is_empty() {
            true => Exit::Done,
            false => Exit::BeyondLimit,
        })
    }
}

/// Parses `NAME` or `NAME=VERSION`.
fn library(text: &str) -> anyhow::Result<Given> {
    let (name, version) = match text.split_once('=') {
        Some((name, version)) => (name, Some(version.to_owned())),
        None => (text, None),
    };
    if table().library(name).is_none() {
        match nearest(name, table().names()) {
            Some(near) => bail!("expected a library, found `{name}`; did you mean `{near}`?"),
            None => {
                let names: Vec<&str> = table().names().collect();
                bail!("expected a library ({}), found `{name}`", names.join(", "))
            }
        }
    }
    Ok(Given {
        library: name.to_owned(),
        version,
    })
}

fn stdin() -> anyhow::Result<(String, String)> {
    let mut bytes = vec![];
    let mut input = std::io::stdin().lock().take(MOST_EXPERIMENT + 1);
    input.read_to_end(&mut bytes).context("cannot read stdin")?;
    if bytes.len() as u64 > MOST_EXPERIMENT {
        bail!("stdin is larger than the limit of {MOST_EXPERIMENT} bytes");
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(("stdin".to_owned(), text))
}

fn rows(rows: &[Row], link: LinkKind, has_classes: bool) -> String {
    let has_processes = rows.iter().any(|row| !row.process.is_empty());
    let lane = match link {
        LinkKind::InfiniBand => "lane",
        LinkKind::Roce => "priority",
    };
    let mut columns = Table::words();
    let of_class = ["class", lane, "share", "wait"];
    let line = |process: &str, own: [&str; 3], class: [&str; 4]| {
        let process = has_processes.then_some(process).into_iter();
        let class = class.into_iter().filter(|_| has_classes);
        process
            .chain(own)
            .chain(class)
            .map(str::to_owned)
            .collect::<Vec<String>>()
    };
    columns.line(line("process", ["library", "on the wire", "by"], of_class));
    for row in rows {
        let lane = match (link, row.lane) {
            (_, None) => "-".to_owned(),
            (LinkKind::InfiniBand, Some(lane)) => format!("VL {lane}"),
            (LinkKind::Roce, Some(priority)) => priority.to_string(),
        };
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let (class, share, wait) = (or_none(&row.class), or_none(&row.share), or_none(&row.wait));
        let own = [row.library, &row.wire, row.by];
        columns.line(line(&row.process, own, [&class, &lane, &share, &wait]));
    }
    columns.text(width())
}

fn json(document: &Document, report: &Report) -> anyhow::Result<String> {
    let lines = |notes: &Notes| -> Vec<NoteLine> {
        let notes = notes.iter();
        notes.map(|note| NoteLine::of(note, document)).collect()
    };
    let rows = report.rows.iter().map(|row| {
        serde_json::json!({
            "process": row.process,
            "library": row.library,
            "by": row.by,
            "wire": row.wire,
            "lane": row.lane,
            "class": row.class,
            "share": row.share,
            "wait": row.wait,
        })
    });
    let whole = serde_json::json!({
        "libraries": rows.collect::<Vec<_>>(),
        "findings": lines(&report.findings),
        "remarks": lines(&report.remarks),
    });
    Ok(serde_json::to_string_pretty(&whole)?)
}
