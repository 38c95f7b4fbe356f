//! `netloom topo draw`: a picture of the fabric.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use netloom_drawing::{Hosts, Layout, SWITCHES_DRAWN, Style, layout_with, svg};
use netloom_experiment::Kinds;

use super::super::Exit;
use super::super::load::{self, Overrides};
use super::super::output::Output;
use super::super::picture::PictureFormat;

#[derive(Args)]
#[command(after_help = "Examples:
  netloom topo draw fat-tree.toml -o fat-tree.svg
  netloom topo draw fat-tree.toml -o fat-tree.pdf
  netloom topo draw torus.toml --no-hosts > torus.svg
  netloom topo draw torus.toml --format json -o layout.json

A fabric of more than 400 switches is drawn as groups of switches and bundles of cables.")]
pub(crate) struct Draw {
    /// A file with the section [topology]; it needs no traffic.
    file: PathBuf,
    /// Write the picture to this file (.svg, .png, .pdf) instead of to the standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Leave the NICs out.
    #[arg(long)]
    no_hosts: bool,
    /// The picture, or the places of everything in it; without it, as the name of the file says.
    #[arg(long, value_enum)]
    format: Option<Kind>,
    #[command(flatten)]
    overrides: Overrides,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A picture of vectors.
    Svg,
    /// A picture of points.
    Png,
    /// A picture for papers.
    Pdf,
    /// The layout: places of switches and NICs, lines of cables.
    Json,
}

impl Draw {
    /// What is written; nothing for the layout.
    fn picture(&self) -> Result<Option<PictureFormat>, String> {
        match (self.format, &self.output) {
            (Some(Kind::Json), _) => Ok(None),
            (Some(Kind::Svg), _) => Ok(Some(PictureFormat::Svg)),
            (Some(Kind::Png), _) => Ok(Some(PictureFormat::Png)),
            (Some(Kind::Pdf), _) => Ok(Some(PictureFormat::Pdf)),
            (None, Some(file)) if file.extension().is_some_and(|e| e == "json") => Ok(None),
            (None, Some(file)) => PictureFormat::of(file).map(Some),
            (None, None) => Ok(Some(PictureFormat::Svg)),
        }
    }

    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        let picture = match self.picture() {
            Ok(picture) => picture,
            Err(error) => {
                output.error(&error);
                return Ok(Exit::Usage);
            }
        };
        let loaded = load::load_wiring(kinds, &self.file, &self.overrides, output)?;
        let exit = load::exit_with(&loaded.notes, loaded.wiring.is_some());
        let Some(wiring) = loaded.wiring else {
            return Ok(exit);
        };
        let hosts = match self.no_hosts {
            true => Hosts::LeftOut,
            false => Hosts::Drawn,
        };
        let layout = layout_with(&wiring.topology, hosts);
        let bytes = match picture {
            Some(format) => {
                let style = Style {
                    title: wiring.name,
                    ..Style::default()
                };
                format.bytes(&svg(&layout, &style))?
            }
            None => format!("{}\n", serde_json::to_string(&layout)?).into_bytes(),
        };
        match &self.output {
            None => output.bytes(&bytes)?,
            Some(file) => write(file, &bytes, &layout, output)?,
        }
        Ok(Exit::Done)
    }
}

fn write(file: &Path, bytes: &[u8], layout: &Layout, output: &Output) -> anyhow::Result<()> {
    std::fs::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
    output.say(&format!("wrote {}", file.display()));
    if layout.is_overview {
        output.say(&format!(
            "an overview: of more than {SWITCHES_DRAWN} switches, groups are drawn"
        ));
    }
    Ok(())
}
