//! `netloom compare`: finds differences between two folders of results, and whether they may be due
//! to chance.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use netloom_results::Collection;
use netloom_results::compare::{CompareError, Comparison, Limit, Metric, compare, compare_by};

use super::Exit;
use super::advice::advised;
use super::output::Output;
use super::table::width;

#[derive(Args)]
#[command(
    after_help = "Runs are paired by seed, so run both with the same seeds, and with several:
  netloom run fat-tree.toml --set measure.repeat=5 -o before
  netloom run changed.toml --set measure.repeat=5 -o after
  netloom compare before after
  netloom compare before after --metric latency_p999_ns --metric fairness_jain
  netloom compare before after --fail-if \"latency_p99_ns > +5%\"
  netloom compare before after --fail-if \"bulk:delivered_load < -0.01\"
  netloom compare before after --format markdown
  netloom compare study.out --by qos.arbiter.kind    # or: --by kind

Folders of studies are compared point by point. Two points match if they agree on all common axes. \
The summary above the table covers all points. Of many differences, some are significant only by \
chance; Holm's correction shows which remain if the error rate of all together is at most 5 %. The \
summary also shows how the saturation moved along the load.

A limit applies to B minus A, in the unit of the metric or, with %, as a part of A. It is broken \
(exit code 6) if the whole 95 % interval lies beyond it at any point, for any class or the total. \
CLASS:METRIC or total:METRIC restricts it. With a single common seed, the difference itself must \
be within the limit.

With --by, JSON output is a list with one comparison for each value after the first.

With 95 % intervals, about one of twenty lines without a real difference shows one by chance."
)]
pub(crate) struct Compare {
    /// Folder of results to compare with, written by `netloom run -o A`.
    a: PathBuf,
    /// Folder of results to compare.
    #[arg(required_unless_present = "by")]
    b: Option<PathBuf>,
    /// Compare the points of one study: each other value of this axis, or each other variant, with
    /// the first.
    #[arg(long, value_name = "KEY", conflicts_with = "b")]
    by: Option<String>,
    /// Also show lines without a difference, which are otherwise only counted.
    #[arg(long)]
    all: bool,
    /// Column of results.csv to compare; may be repeated [default: delivered_load, latency_mean_ns,
    /// latency_p99_ns, and completion_time_ns, bus_bandwidth and slowdown of jobs].
    #[arg(long = "metric", value_name = "NAME")]
    metrics: Vec<String>,
    /// Exit with code 6 if B is beyond this limit, such as "latency_p99_ns > +5%"; may be repeated.
    #[arg(long = "fail-if", value_name = "LIMIT")]
    limits: Vec<String>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = CompareFormat::Human)]
    format: CompareFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CompareFormat {
    /// A table for people.
    Human,
    /// A table for a pull request.
    Markdown,
    /// JSON for machines.
    Json,
}

impl Compare {
    pub(super) fn run(&self, output: &Output) -> anyhow::Result<Exit> {
        match self.comparisons() {
            Ok(comparisons) => self.show(&comparisons, output),
            Err((errors, exit)) => {
                errors.iter().for_each(|error| output.error(error));
                Ok(exit)
            }
        }
    }

    /// Compares another folder, or the other values of an axis, with the first.
    fn comparisons(&self) -> Result<Vec<Comparison>, (Vec<String>, Exit)> {
        let (metrics, limits) = self.asked().map_err(|errors| (errors, Exit::Usage))?;
        let (good, bad): (Vec<_>, Vec<_>) = std::iter::once(&self.a)
            .chain(&self.b)
            .map(|path| read(path))
            .partition(Result::is_ok);
        let errors: Vec<String> = bad.into_iter().filter_map(Result::err).collect();
        if !errors.is_empty() {
            return Err((errors, Exit::Failed));
        }
        let good: Vec<Collection> = good.into_iter().flatten().collect();
        match (&self.by, good.as_slice()) {
            (Some(axis), [study, ..]) => compare_by(study, axis, &metrics, &limits),
            (_, [a, b]) => compare(a, b, &metrics, &limits).map(|one| vec![one]),
            _ => unreachable!("clap requires B or --by"),
        }
        .map_err(errors_of)
    }

    /// Prints the comparisons, and reports broken limits.
    fn show(&self, comparisons: &[Comparison], output: &Output) -> anyhow::Result<Exit> {
        let texts = |text: &dyn Fn(&Comparison) -> String| {
            let texts: Vec<String> = comparisons.iter().map(text).collect();
            texts.join("\n")
        };
        match (self.format, comparisons) {
            (CompareFormat::Human, _) => output.data(&texts(&|own| own.text(self.all, width())))?,
            (CompareFormat::Markdown, _) => output.data(&texts(&|own| own.markdown(self.all)))?,
            (CompareFormat::Json, [one]) if self.by.is_none() => {
                output.data(&serde_json::to_string_pretty(one)?)?;
            }
            (CompareFormat::Json, all) => output.data(&serde_json::to_string_pretty(all)?)?,
        }
        let mut exit = Exit::Done;
        for comparison in comparisons {
            for warning in &comparison.warnings {
                output.insist(&format!("warning: {warning}"));
            }
            for judged in &comparison.limits {
                if judged.judged == 0 {
                    let text = &judged.limit;
                    output.error(&format!(
                        "cannot judge --fail-if \"{text}\": no seed has a value in both"
                    ));
                    exit = exit.max(Exit::Failed);
                }
                for broken in &judged.sentences {
                    output.error(broken);
                    exit = exit.max(Exit::BeyondLimit);
                }
            }
        }
        Ok(exit)
    }

    /// Returns the metrics to show and the limits, or all errors.
    fn asked(&self) -> Result<(Vec<Metric>, Vec<Limit>), Vec<String>> {
        let (metrics, mut errors) = parsed::<Metric>(&self.metrics);
        let (limits, of_limits) = parsed::<Limit>(&self.limits);
        errors.extend(of_limits);
        match (errors.is_empty(), metrics.is_empty()) {
            (false, _) => Err(errors),
            (true, false) => Ok((metrics, limits)),
            (true, true) => Ok((Metric::usual(), limits)),
        }
    }
}

/// Parses all texts, and returns the errors of those that cannot be parsed.
fn parsed<T: FromStr<Err = CompareError>>(texts: &[String]) -> (Vec<T>, Vec<String>) {
    let (mut values, mut errors) = (vec![], vec![]);
    for text in texts {
        match text.parse() {
            Ok(value) => values.push(value),
            Err(error) => errors.extend(errors_of(error).0),
        }
    }
    (values, errors)
}

/// Returns what to print, and the exit code.
fn errors_of(error: CompareError) -> (Vec<String>, Exit) {
    let all = |texts: Vec<String>, form: &dyn Fn(String) -> String| {
        texts.into_iter().map(form).collect::<Vec<String>>()
    };
    match error {
        CompareError::Unknown(text) => (vec![text], Exit::Usage),
        CompareError::Limits(texts) => {
            (all(texts, &|text| format!("--fail-if {text}")), Exit::Usage)
        }
        CompareError::Empty(folders) => {
            let advice = "has no results to compare; run `netloom study merge` on it again";
            (
                all(folders, &|folder| format!("{folder} {advice}")),
                Exit::Failed,
            )
        }
        CompareError::Unlike(texts) => (texts, Exit::Failed),
    }
}

/// Reads a folder of a study or of a single run.
fn read(path: &Path) -> Result<Collection, String> {
    let collection = netloom_results::store::read(path);
    collection.map_err(|error| advised(&error, error.to_string()))
}
