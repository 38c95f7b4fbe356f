//! `netloom plot`: the figures of a folder of results, for papers.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use netloom_catalog::nearest;
use netloom_figures::{Figure, SvgStyle, csv, figures, pgfplots, svg};

use super::Exit;
use super::output::Output;
use super::results_lock::lock_results;
use super::table::Columns;

#[derive(Args)]
#[command(after_help = "Examples:
  netloom plot study.out                            every figure as SVG into study.out/figures
  netloom plot study.out --list                     which figures there are
  netloom plot study.out latency --width 7.16in     one figure, two columns wide
  netloom plot study.out --format pgfplots -o paper/figures

Files of the same name in the folder are replaced, others stay. SVG becomes PDF with
rsvg-convert -f pdf or inkscape; a PGFPlots figure is read with \\input and says what it needs.")]
pub(crate) struct Plot {
    /// The folder of results, of a study or a single run.
    dir: PathBuf,
    /// The figures to draw; without any, all of them.
    #[arg(value_name = "FIGURE")]
    figures: Vec<String>,
    /// How figures are written.
    #[arg(long, value_enum, default_value_t = PlotFormat::Svg)]
    format: PlotFormat,
    /// Width of a figure in in, cm, mm or pt; `column` is 3.5in, `page` is 7.16in.
    #[arg(long, default_value = "3.5in", value_parser = inches)]
    width: f64,
    /// Where figures are written; without it, into `figures` in the folder of results.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Only name the figures.
    #[arg(long, conflicts_with = "output")]
    list: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PlotFormat {
    /// Pictures for print.
    Svg,
    /// A .tex file for LaTeX with its .dat files.
    Pgfplots,
    /// The numbers behind a figure.
    Csv,
    /// All of these.
    All,
}

impl Plot {
    pub(super) fn run(&self, output: &Output) -> anyhow::Result<Exit> {
        let _lock = match self.output.is_none() && !self.list {
            true => lock_results(&self.dir)?,
            false => None,
        };
        let collection = netloom_store::read(&self.dir)?;
        for warning in &collection.warnings {
            output.say(&format!("warning: {warning}"));
        }
        let all = figures(&collection);
        let unknown = self.unknown(&all);
        if !unknown.is_empty() {
            unknown.iter().for_each(|error| output.error(error));
            return Ok(Exit::Usage);
        }
        let is_asked =
            |figure: &&Figure| self.figures.is_empty() || self.figures.contains(&figure.id);
        let asked: Vec<&Figure> = all.iter().filter(is_asked).collect();
        if asked.is_empty() {
            anyhow::bail!(
                "{}: nothing was measured that could be drawn",
                self.dir.display()
            );
        }
        if self.list {
            let mut table = Columns::words();
            for figure in asked {
                table.line([figure.id.as_str(), figure.title.as_str()]);
            }
            output.data(&table.print())?;
            return Ok(Exit::Done);
        }
        let folder = self
            .output
            .clone()
            .unwrap_or_else(|| self.dir.join("figures"));
        make(&folder, self.output.is_some())
            .with_context(|| format!("cannot write {}", folder.display()))?;
        let mut n_files = 0;
        for figure in &asked {
            for (name, text) in self.files(figure) {
                write(&folder.join(&name), &text)?;
                output.detail(&format!("{name}: {}", figure.title));
                n_files += 1;
            }
        }
        let (n, are) = (
            asked.len(),
            if asked.len() == 1 {
                "figure"
            } else {
                "figures"
            },
        );
        let files = if n_files == 1 {
            "1 file".to_owned()
        } else {
            format!("{n_files} files")
        };
        output.say(&format!("{n} {are}, {files} in {}", folder.display()));
        Ok(Exit::Done)
    }

    /// What is wrong with the names given.
    fn unknown(&self, all: &[Figure]) -> Vec<String> {
        let ids = || all.iter().map(|figure| figure.id.as_str());
        let unknown = self
            .figures
            .iter()
            .filter(|name| !ids().any(|id| id == name.as_str()));
        unknown
            .map(|name| {
                let near = nearest(name, ids()).map(|near| format!("; did you mean \"{near}\"?"));
                let near = near.unwrap_or_else(|| {
                    format!(
                        "; `netloom plot {} --list` names them all",
                        self.dir.display()
                    )
                });
                format!("{} has no figure \"{name}\"{near}", self.dir.display())
            })
            .collect()
    }

    /// The files of a figure.
    fn files(&self, figure: &Figure) -> Vec<(String, String)> {
        let is = |format: PlotFormat| self.format == format || self.format == PlotFormat::All;
        let mut files = vec![];
        if is(PlotFormat::Svg) {
            let style = SvgStyle {
                width_in: self.width,
                ..SvgStyle::default()
            };
            files.push((format!("{}.svg", figure.id), svg(figure, &style)));
        }
        if is(PlotFormat::Pgfplots) {
            let latex = pgfplots(figure, self.width);
            files.push((format!("{}.tex", figure.id), latex.tex));
            files.extend(latex.data);
        }
        if is(PlotFormat::Csv) {
            files.push((format!("{}.csv", figure.id), csv(figure)));
        }
        files
    }
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    netloom_store::write_file(path, text.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Makes the folder of figures. A user may name one behind a link; one among results is no link of ours.
fn make(folder: &Path, is_named: bool) -> std::io::Result<()> {
    match is_named && folder.is_dir() {
        true => Ok(()),
        false => netloom_store::make_folder(folder),
    }
}

/// A width with its unit, in inches.
fn inches(text: &str) -> Result<f64, String> {
    const UNITS: [(&str, f64); 4] = [("in", 1.0), ("cm", 2.54), ("mm", 25.4), ("pt", 72.0)];
    const LIMITS: (f64, f64) = (1.5, 40.0);
    let width = match text.trim() {
        "column" => Some(3.5),
        "page" => Some(7.16),
        text => UNITS.iter().find_map(|(unit, in_an_inch)| {
            let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
            Some(number / in_an_inch)
        }),
    };
    match width {
        Some(width) if width >= LIMITS.0 && width <= LIMITS.1 => Ok(width),
        Some(_) => Err(format!("a figure is {} to {} in wide", LIMITS.0, LIMITS.1)),
        None => Err(
            "write a number and a unit, such as 3.5in, 89mm, 9cm or 252pt; or column, or page"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_have_units() {
        let close = |text: &str, width: f64| (inches(text).unwrap() - width).abs() < 1e-9;
        assert!(close("3.5in", 3.5) && close("254 mm", 10.0) && close("252pt", 3.5));
        assert!(close("column", 3.5) && close("page", 7.16) && close("5.08cm", 2.0));
        assert!(inches("3.5").unwrap_err().contains("a unit"));
        assert!(inches("1mm").unwrap_err().contains("1.5 to 40 in"));
        assert!(inches("NaNin").is_err());
    }
}
