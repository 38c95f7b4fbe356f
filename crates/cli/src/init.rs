//! `netloom init`: writes an experiment to start from.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;

use super::output::Output;
use super::table::{Table, width};
use super::{Exit, program};

/// A commented experiment.
struct Template {
    name: &'static str,
    about: &'static str,
    text: &'static str,
}

const TEMPLATES: &[Template] = &[
    Template {
        name: "fat-tree",
        about: "64 hosts on a 4-ary 3-tree, uniform traffic at half load.",
        text: include_str!("../templates/fat-tree.toml"),
    },
    Template {
        name: "torus",
        about: "A 4x4 torus with two hosts per switch, kept free of deadlock by the bubble rule.",
        text: include_str!("../templates/torus.toml"),
    },
    Template {
        name: "qos",
        about: "Three classes of traffic arbitrated by InfiniBand's two tables.",
        text: include_str!("../templates/qos.toml"),
    },
    Template {
        name: "omni-path",
        about: "Three classes on hierarchical switches with deficit tables and service channels.",
        text: include_str!("../templates/omni-path.toml"),
    },
    Template {
        name: "bxi",
        about: "Three classes arbitrated by BXI tables, with PFC instead of credits.",
        text: include_str!("../templates/bxi.toml"),
    },
    Template {
        name: "plan",
        about: "Four classes with shares and deadlines, planned for a port with eight entries and \
            simulated.",
        text: include_str!("../templates/plan.toml"),
    },
    Template {
        name: "study",
        about: "A study: latency against load for three classes and three arbiters, 33 points of 3 \
            seeds.",
        text: include_str!("../templates/study.toml"),
    },
    Template {
        name: "moe",
        about: "Expert parallelism next to KV transfers: one lane, equal lanes and a plan, with \
            the settings of each library.",
        text: include_str!("../templates/moe.toml"),
    },
    Template {
        name: "single-switch",
        about: "Eight hosts and one switch: the smallest experiment that shows queueing.",
        text: include_str!("../templates/single-switch.toml"),
    },
];

#[derive(Args)]
pub(crate) struct Init {
    /// Template to copy.
    #[arg(long, default_value = "fat-tree", value_name = "NAME")]
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(TEMPLATES.iter().map(|t| t.name)))]
    template: String,
    /// List the templates.
    #[arg(long)]
    list: bool,
    /// Folder to write to [default: the current one].
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

impl Init {
    pub(super) fn run(&self, output: &Output) -> anyhow::Result<Exit> {
        if self.list {
            let mut table = Table::words();
            TEMPLATES
                .iter()
                .for_each(|template| table.line([template.name, template.about]));
            output.data(&table.text(width()))?;
            return Ok(Exit::Done);
        }
        let known = TEMPLATES
            .iter()
            .find(|template| template.name == self.template);
        let template = known.context("clap knows the templates")?;
        let file = PathBuf::from(format!("{}.toml", template.name));
        let file = self
            .directory
            .as_ref()
            .map_or(file.clone(), |directory| directory.join(file));
        if file.exists() {
            bail!("{} already exists; use another directory", file.display());
        }
        let made = self
            .directory
            .as_ref()
            .map_or(Ok(()), std::fs::create_dir_all);
        made.and_then(|()| std::fs::write(&file, template.text))
            .with_context(|| format!("cannot write {}", file.display()))?;
        let (file, lines) = (file.display(), template.text.lines().count());
        output.say(&format!(
            "wrote {file} ({lines} lines, commented). Next: {} check {file}",
            program()
        ));
        Ok(Exit::Done)
    }
}
