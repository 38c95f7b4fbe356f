//! `netloom topo draw`: a picture of the fabric.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use netloom_drawing::{Hosts, Layout, SWITCHES_DRAWN, Style, layout_with, svg};

use super::super::Exit;
use super::super::load::{self, Overrides};
use super::super::output::Output;

#[derive(Args)]
#[command(after_help = "Examples:
  netloom topo draw fat-tree.toml -o fat-tree.svg
  netloom topo draw torus.toml --no-hosts > torus.svg
  netloom topo draw torus.toml --format json -o layout.json

A fabric of more than 400 switches is drawn as groups of switches and bundles of cables.")]
pub(crate) struct Draw {
    /// A file with the section [topology]; it needs no traffic.
    file: PathBuf,
    /// Write the picture to this file instead of to the standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Leave the NICs out.
    #[arg(long)]
    no_hosts: bool,
    /// The picture, or the places of everything in it.
    #[arg(long, value_enum, default_value_t = Kind::Svg)]
    format: Kind,
    #[command(flatten)]
    overrides: Overrides,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A picture.
    Svg,
    /// The layout: places of switches and NICs, lines of cables.
    Json,
}

impl Draw {
    pub(super) fn run(&self, output: &Output) -> anyhow::Result<Exit> {
        let loaded = load::load_wiring(&self.file, &self.overrides, output)?;
        let exit = load::exit_with(&loaded.notes, loaded.wiring.is_some());
        let Some(wiring) = loaded.wiring else {
            return Ok(exit);
        };
        let hosts = match self.no_hosts {
            true => Hosts::LeftOut,
            false => Hosts::Drawn,
        };
        let layout = layout_with(&wiring.topology, hosts);
        let text = match self.format {
            Kind::Svg => {
                let style = Style {
                    title: wiring.name,
                    ..Style::default()
                };
                svg(&layout, &style)
            }
            Kind::Json => format!("{}\n", serde_json::to_string(&layout)?),
        };
        match &self.output {
            None => output.data(&text)?,
            Some(file) => write(file, &text, &layout, output)?,
        }
        Ok(Exit::Done)
    }
}

fn write(file: &Path, text: &str, layout: &Layout, output: &Output) -> anyhow::Result<()> {
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    output.say(&format!("wrote {}", file.display()));
    if layout.is_overview {
        output.say(&format!(
            "an overview: of more than {SWITCHES_DRAWN} switches, groups are drawn"
        ));
    }
    Ok(())
}
