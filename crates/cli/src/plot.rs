//! `netloom plot`: draws figures of folders of results, for papers.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use netloom_catalog::nearest;
use netloom_figures::{
    Choice, Figure, NoSuch, SvgStyle, chosen, combine, csv, figures, pgfplots, svg,
};

use super::Exit;
use super::output::Output;
use super::picture::PictureFormat;
use super::results_lock::lock_results;
use super::table::{Table, width};

#[derive(Args)]
#[command(after_help = "Examples:
  netloom plot study.out                         # all, into study.out/figures
  netloom plot study.out --list                  # list the figures
  netloom plot study.out latency --width 7.16in  # one, two columns wide
  netloom plot study.out latency -o latency.pdf  # or .svg, .png
  netloom plot a.out b.out                       # both in the same figures
  netloom plot study.out --y p99 --class bulk --by variant
  netloom plot study.out --y p99 --x delivered_load --label variant=Arbiter
  netloom plot study.out --y mean --x offered_load --by class
  netloom plot study.out --format pgfplots -o paper/figures

Existing files of the same name are replaced, other files are kept. PNG has about 300 pixels per \
inch. Include a PGFPlots figure with \\input; its first lines list the packages that it needs.")]
pub(crate) struct Plot {
    /// Folder of results of a study or a single run.
    dir: PathBuf,
    /// More folders to draw in the same figures, and names of figures to draw [default: all
    /// figures].
    #[arg(value_name = "DIR|FIGURE")]
    more: Vec<String>,
    /// Format of the figures [default: the extension of the file, or svg].
    #[arg(long, value_enum)]
    format: Option<PlotFormat>,
    /// Width of a figure with its unit (in, cm, mm, pt); `column` is 3.5in, `page` is 7.16in.
    #[arg(long, default_value = "3.5in", value_parser = inches)]
    width: f64,
    /// Folder of the figures, or file of a single figure [default: `figures` in the folder of
    /// results].
    #[arg(short, long, value_name = "DIR|FILE")]
    output: Option<PathBuf>,
    /// List the figures without drawing them.
    #[arg(long, conflicts_with = "output")]
    list: bool,
    /// Draw this column of points.csv; `p99` is short for latency_p99_ns.
    #[arg(long, value_name = "COLUMN")]
    y: Option<String>,
    /// Axis or column to draw along [default: the load, or else the axis with the most values]. A
    /// measured load such as `offered_load` is that of all traffic, even for a class;
    /// `own.offered_load` is that of the class.
    #[arg(long, value_name = "KEY", requires = "y")]
    x: Option<String>,
    /// Draw one line per value of this axis, or per `class`; other axes become panels.
    #[arg(long, value_name = "KEY", requires = "y")]
    by: Option<String>,
    /// Draw only this class [default: all traffic].
    #[arg(long, value_name = "NAME", requires = "y")]
    class: Option<String>,
    /// Rename an axis, a series or a panel, such as `traffic.load=Load`; may be repeated.
    #[arg(long, value_name = "OLD=NEW", value_parser = renaming)]
    label: Vec<(String, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PlotFormat {
    /// Vector graphics for browsers.
    Svg,
    /// Vector graphics for papers.
    Pdf,
    /// Pixels, for slides.
    Png,
    /// A .tex file for LaTeX, with .dat files.
    Pgfplots,
    /// The data of a figure.
    Csv,
    /// All formats.
    All,
}

impl Plot {
    pub(super) fn run(&self, output: &Output) -> anyhow::Result<Exit> {
        let _lock = match self.output.is_none() && !self.list {
            true => lock_results(&self.dir)?,
            false => None,
        };
        let (further, names): (Vec<&String>, Vec<&String>) =
            self.more.iter().partition(|name| Path::new(name).is_dir());
        let further = further.into_iter().map(Path::new);
        let mut collections = vec![];
        for folder in std::iter::once(self.dir.as_path()).chain(further) {
            let collection = netloom_results::store::read(folder)?;
            for warning in &collection.warnings {
                output.say(&format!("warning: {warning}"));
            }
            collections.push(collection);
        }
        let whole = combine(&collections);
        let mut all = match self.choice() {
            None => figures(&whole),
            Some(choice) => match chosen(&whole, &choice) {
                Ok(figure) => vec![figure],
                Err(error) => {
                    output.error(&format!("{}: {}", self.dir.display(), words(&error)));
                    return Ok(Exit::Usage);
                }
            },
        };
        let unknown = self.unknown(&names, &all);
        if !unknown.is_empty() {
            unknown.iter().for_each(|error| output.error(error));
            return Ok(Exit::Usage);
        }
        all.retain(|figure| names.is_empty() || names.contains(&&figure.id));
        if all.is_empty() {
            anyhow::bail!("{}: no measured values to draw", self.dir.display());
        }
        for figure in &mut all {
            self.label
                .iter()
                .for_each(|(old, new)| figure.rename(old, new));
        }
        if self.list {
            let mut table = Table::words();
            for figure in &all {
                table.line([figure.id.as_str(), figure.title.as_str()]);
            }
            output.data(&table.text(width()))?;
            return Ok(Exit::Done);
        }
        match self.file() {
            Some(file) => self.one(file, &all, output),
            None => self.many(&all, output),
        }
    }

    /// Returns the figure that the options define, if any.
    fn choice(&self) -> Option<Choice> {
        Some(Choice {
            y: self.y.clone()?,
            x: self.x.clone(),
            by: self.by.clone(),
            class: self.class.clone(),
        })
    }

    /// Returns the output path if it is a file.
    fn file(&self) -> Option<&Path> {
        let path = self.output.as_deref()?;
        (path.extension().is_some() && !path.is_dir()).then_some(path)
    }

    fn one(&self, file: &Path, all: &[Figure], output: &Output) -> anyhow::Result<Exit> {
        let [figure] = all else {
            output.error(&format!(
                "{} is one file, but {} figures are selected; name one of them, or use a folder \
                 with -o",
                file.display(),
                all.len()
            ));
            return Ok(Exit::Usage);
        };
        let format = match (self.format, PictureFormat::of(file)) {
            (Some(PlotFormat::Csv), _) => None,
            (None, _) if file.extension().is_some_and(|e| e == "csv") => None,
            (None | Some(PlotFormat::Svg | PlotFormat::Pdf | PlotFormat::Png), Ok(format)) => {
                Some(format)
            }
            (Some(_), Ok(_)) => {
                output.error("--format pgfplots and all write several files; use a folder with -o");
                return Ok(Exit::Usage);
            }
            (_, Err(error)) => {
                output.error(&error);
                return Ok(Exit::Usage);
            }
        };
        match format {
            Some(format) => write(file, &format.bytes(&self.svg(figure))?)?,
            None => write(file, csv(figure).as_bytes())?,
        }
        output.say(&format!("{} in {}", figure.id, file.display()));
        Ok(Exit::Done)
    }

    fn many(&self, all: &[Figure], output: &Output) -> anyhow::Result<Exit> {
        let folder = self
            .output
            .clone()
            .unwrap_or_else(|| self.dir.join("figures"));
        make(&folder, self.output.is_some())
            .with_context(|| format!("cannot write {}", folder.display()))?;
        let mut n_files = 0;
        for figure in all {
            for (name, bytes) in self.files(figure)? {
                write(&folder.join(&name), &bytes)?;
                output.detail(&format!("{name}: {}", figure.title));
                n_files += 1;
            }
        }
        let (n, are) = (all.len(), if all.len() == 1 { "figure" } else { "figures" });
        let files = if n_files == 1 {
            "1 file".to_owned()
        } else {
            format!("{n_files} files")
        };
        output.say(&format!("{n} {are}, {files} in {}", folder.display()));
        Ok(Exit::Done)
    }

    /// Returns an error for each unknown name.
    fn unknown(&self, names: &[&String], all: &[Figure]) -> Vec<String> {
        let ids = || all.iter().map(|figure| figure.id.as_str());
        let unknown = names
            .iter()
            .filter(|name| !ids().any(|id| id == name.as_str()));
        unknown
            .map(|name| {
                let near = nearest(name, ids()).map(|near| format!("; did you mean \"{near}\"?"));
                let near = near.unwrap_or_else(|| {
                    format!(
                        "; `netloom plot {} --list` lists the figures",
                        self.dir.display()
                    )
                });
                format!("{} has no figure \"{name}\"{near}", self.dir.display())
            })
            .collect()
    }

    fn svg(&self, figure: &Figure) -> String {
        let style = SvgStyle {
            width_in: self.width,
            ..SvgStyle::default()
        };
        svg(figure, &style)
    }

    /// Returns the names and contents of the files of a figure.
    fn files(&self, figure: &Figure) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
        let asked = self.format.unwrap_or(PlotFormat::Svg);
        let is = |format: PlotFormat| asked == format || asked == PlotFormat::All;
        let mut files = vec![];
        for (wanted, format) in [
            (PlotFormat::Svg, PictureFormat::Svg),
            (PlotFormat::Pdf, PictureFormat::Pdf),
            (PlotFormat::Png, PictureFormat::Png),
        ] {
            if is(wanted) {
                let name = format!("{}.{}", figure.id, format.ending());
                files.push((name, format.bytes(&self.svg(figure))?));
            }
        }
        if is(PlotFormat::Pgfplots) {
            let latex = pgfplots(figure, self.width);
            files.push((format!("{}.tex", figure.id), latex.tex.into_bytes()));
            let data = latex.data.into_iter();
            files.extend(data.map(|(name, text)| (name, text.into_bytes())));
        }
        if is(PlotFormat::Csv) {
            files.push((format!("{}.csv", figure.id), csv(figure).into_bytes()));
        }
        Ok(files)
    }
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    netloom_results::store::write_file(path, bytes)
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Creates the folder of figures. A folder named by the user may be a symbolic link; the default
/// one must not be.
fn make(folder: &Path, is_named: bool) -> std::io::Result<()> {
    match is_named && folder.is_dir() {
        true => Ok(()),
        false => netloom_results::store::make_folder(folder),
    }
}

/// Returns the error for an unknown name in a choice.
fn words(error: &NoSuch) -> String {
    let (what, name) = (error.what, &error.name);
    let known = || error.known.iter().map(String::as_str);
    match nearest(name, known()) {
        Some(near) => format!("there is no {what} \"{name}\"; did you mean \"{near}\"?"),
        None => {
            let known: Vec<&str> = known().collect();
            format!(
                "there is no {what} \"{name}\"; expected one of {}",
                known.join(", ")
            )
        }
    }
}

fn renaming(text: &str) -> Result<(String, String), String> {
    let (old, new) = text
        .split_once('=')
        .ok_or("expected OLD=NEW, such as wfq=Fair")?;
    Ok((old.to_owned(), new.to_owned()))
}

/// Parses a width with its unit, and returns inches.
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
        Some(_) => Err(format!(
            "expected a width of {} to {} in",
            LIMITS.0, LIMITS.1
        )),
        None => Err(
            "expected a number with a unit, such as 3.5in, 89mm, 9cm or 252pt, or `column` or \
             `page`"
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
