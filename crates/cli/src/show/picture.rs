//! `netloom show picture`: a picture of the fabric.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use netloom_drawing::{Hosts, Layout, SWITCHES_DRAWN, Style, layout_with, svg};
use netloom_experiment::Kinds;

use crate::Exit;
use crate::load::{self, Values};
use crate::output::Output;
use crate::picture::PictureFormat;

#[derive(Args)]
#[command(after_help = "Examples:
  netloom show picture fat-tree.toml -o fat-tree.svg
  netloom show picture fat-tree.toml -o fat-tree.pdf
  netloom show picture torus.toml --no-hosts > torus.svg
  netloom show picture torus.toml --format json -o layout.json

Above 400 switches, the picture shows groups of switches and bundles of cables.")]
pub(crate) struct Picture {
    /// An experiment; needs no traffic.
    file: PathBuf,
    /// Write the picture to FILE (.svg, .png, .pdf) instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Omit the NICs.
    #[arg(long)]
    no_hosts: bool,
    /// Format of the output [default: from the name of FILE].
    #[arg(long, value_enum)]
    format: Option<Kind>,
    #[command(flatten)]
    values: Values,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Vector graphics.
    Svg,
    /// Pixels.
    Png,
    /// PDF, for papers.
    Pdf,
    /// Positions of switches, NICs and cables.
    Json,
}

impl Picture {
    /// Returns the picture format; `None` for the layout as JSON.
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
        let loaded = load::load_wiring(kinds, &self.file, &self.values.overrides(true), output)?;
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
            "more than {SWITCHES_DRAWN} switches: the picture shows groups of them"
        ));
    }
    Ok(())
}
