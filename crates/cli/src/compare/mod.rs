//! `netloom compare`: finds differences between two folders of results, and whether they may be due
//! to chance.
//!
//! ```text
//!  folders ─► points.rs: common points and seeds ─► pairs.rs: lines ─► verdict.rs: differences
//!                                     report.rs ◄─ overall.rs: the summary ◄─┘
//! ```

mod by;
mod limit;
mod overall;
mod pairs;
mod points;
mod report;
mod verdict;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use netloom_catalog::file::{MOST_LIST, read_text};
use netloom_results::{Collection, Verdict};

use super::Exit;
use super::output::Output;
use limit::Limit;
use pairs::{Line, Metric};
use points::{Pairing, Runs};
use report::{Compared, Comparison, Judged, Side, about};
use verdict::Difference;

/// The default metrics.
const USUAL: [&str; 6] = [
    "delivered_load",
    "latency_mean_ns",
    "latency_p99_ns",
    OF_JOBS[0],
    OF_JOBS[1],
    OF_JOBS[2],
];

/// Compared only for classes that have them: those that complete, collective operations, and
/// classes of studies with a variant `alone`.
const OF_JOBS: [&str; 3] = ["completion_time_ns", "bus_bandwidth", "slowdown"];

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
        let folders = match (&self.by, &self.b) {
            (Some(key), _) => {
                let folder = read(&self.a).map_err(|error| (vec![error], Exit::Failed))?;
                let parts = by::parts(&folder.collection, key);
                let parts = parts.map_err(|error| (vec![error], Exit::Usage))?;
                let version = folder.version;
                let part = |collection| Folder {
                    collection,
                    version,
                };
                parts.into_iter().map(part).collect()
            }
            (None, b) => {
                let (good, bad): (Vec<_>, Vec<_>) = [Some(&self.a), b.as_ref()]
                    .into_iter()
                    .flatten()
                    .map(|path| read(path))
                    .partition(Result::is_ok);
                let errors: Vec<String> = bad.into_iter().filter_map(Result::err).collect();
                if !errors.is_empty() {
                    return Err((errors, Exit::Failed));
                }
                good.into_iter().flatten().collect::<Vec<Folder>>()
            }
        };
        let (first, others) = folders.split_first().expect("at least one folder");
        others
            .iter()
            .map(|other| compared(first, other, &metrics, &limits))
            .collect()
    }

    /// Prints the comparisons, and reports broken limits.
    fn show(&self, comparisons: &[Comparison], output: &Output) -> anyhow::Result<Exit> {
        let texts = |text: &dyn Fn(&Comparison) -> String| {
            let texts: Vec<String> = comparisons.iter().map(text).collect();
            texts.join("\n")
        };
        match (self.format, comparisons) {
            (CompareFormat::Human, _) => output.text(&texts(&|own| own.human(self.all)))?,
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

    /// Returns the metrics to show, including those of limits, and the limits; or all errors.
    fn asked(&self) -> Result<(Vec<Metric>, Vec<Limit>), Vec<String>> {
        let mut errors = vec![];
        let mut sound = |error: String| errors.push(error);
        let named: Vec<&str> = match self.metrics.is_empty() {
            true => USUAL.to_vec(),
            false => self.metrics.iter().map(String::as_str).collect(),
        };
        let named: Vec<Metric> = named
            .into_iter()
            .filter_map(|name| limit::metric(name).map_err(&mut sound).ok())
            .collect();
        let limits: Vec<Limit> = self
            .limits
            .iter()
            .filter_map(|text| Limit::parse(text).map_err(&mut sound).ok())
            .collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut metrics = vec![];
        for metric in named.into_iter().chain(limits.iter().map(|l| l.metric)) {
            if !metrics.contains(&metric) {
                metrics.push(metric);
            }
        }
        Ok((metrics, limits))
    }
}

/// Returns an error if the versions of the results differ.
fn other_version(a: &Folder, b: &Folder) -> Option<String> {
    (a.version != b.version).then(|| {
        format!(
            "{} has results of version {}, {} of version {}: the same experiment has different \
             numbers in each (see \"Changed results\" in the changelog); run the older one again",
            a.collection.folder, a.version, b.collection.folder, b.version
        )
    })
}

/// Compares one folder with another.
///
/// # Errors
/// All errors, and the exit code of the command.
fn compared(
    a: &Folder,
    b: &Folder,
    metrics: &[Metric],
    limits: &[Limit],
) -> Result<Comparison, (Vec<String>, Exit)> {
    let (Some(runs_a), Some(runs_b)) = (Runs::of(&a.collection), Runs::of(&b.collection)) else {
        let what = "has no results to compare; run `netloom study merge` on it again";
        let is_empty = |own: &&Folder| Runs::of(&own.collection).is_none();
        let empty = [a, b].into_iter().filter(is_empty);
        let errors = empty.map(|own| format!("{} {what}", own.collection.folder));
        return Err((errors.collect(), Exit::Failed));
    };
    let unknown = unknown_classes(limits, &runs_a, &runs_b);
    if !unknown.is_empty() {
        return Err((unknown, Exit::Usage));
    }
    let version = other_version(a, b);
    let pairing = match (points::pair(&runs_a, &runs_b), version) {
        (Ok(pairing), None) => pairing,
        (pairing, version) => {
            let errors = version.into_iter().chain(pairing.err());
            return Err((errors.collect(), Exit::Failed));
        }
    };
    let lines = pairs::lines(&runs_a, &runs_b, &pairing, metrics);
    let differences: Vec<Option<Difference>> = lines
        .iter()
        .map(|line| Difference::over(line.metric, &line.pairs))
        .collect();
    let settings = |line: &Line| pairing.pairs[line.point].settings.as_slice();
    let told: Vec<Compared> = lines
        .iter()
        .zip(&differences)
        .map(|(line, difference)| Compared::new(settings(line), line, difference.as_ref()))
        .collect();
    let seeds = pairing.pairs.iter().flat_map(|pair| pair.seeds.iter());
    let seeds: BTreeSet<u64> = seeds.copied().collect();
    let is_study = !(a.collection.axes.is_empty() && b.collection.axes.is_empty());
    Ok(Comparison {
        warnings: warnings(&runs_a, &runs_b, &pairing),
        a: side(&runs_a, &runs_b),
        b: side(&runs_b, &runs_a),
        overall: is_study
            .then(|| overall::overall(&runs_a, &runs_b, &pairing, &lines, &differences)),
        limits: limits
            .iter()
            .map(|limit| judge(limit, &pairing, &lines, &differences, &told))
            .collect(),
        lines: told,
        axes: pairing.axes.clone(),
        seeds: seeds.into_iter().collect(),
    })
}

/// Returns warnings about the comparison.
fn warnings(a: &Runs<'_>, b: &Runs<'_>, pairing: &Pairing) -> Vec<String> {
    let mut warnings = pairing.remarks.clone();
    let of_a: Vec<usize> = pairing.pairs.iter().map(|pair| pair.a).collect();
    let of_b: Vec<usize> = pairing.pairs.iter().map(|pair| pair.b).collect();
    for (side, own, other, points) in [("A", a, b, of_a), ("B", b, a, of_b)] {
        let name = format!("{side} ({})", own.collection.folder);
        let only = own.own_classes(other);
        if !only.is_empty() {
            let only = named("class", "classes", &only);
            warnings.push(format!("only {name} has the {only}: not compared"));
        }
        let common: BTreeSet<u64> = pairing.pairs.iter().flat_map(|p| p.seeds.clone()).collect();
        let unpaired: Vec<u64> = own.seeds().difference(&common).copied().collect();
        if !unpaired.is_empty() {
            let unpaired = named("seed", "seeds", &unpaired);
            warnings.push(format!("only {name} has the {unpaired}: skipped"));
        }
        let n = pairing.pairs.len();
        // The worst verdict first.
        for verdict in Verdict::warnings() {
            let is_it = |point: &&usize| own.verdict(**point) == verdict;
            let marked: Vec<usize> = points.iter().filter(is_it).copied().collect();
            let (words, meaning) = (verdict.words(), verdict.meaning());
            match marked.as_slice() {
                [] => {}
                [point] if n == 1 => {
                    let seeds = own.seeds_of(*point);
                    let seeds = seeds.filter(|seed| own.verdict_of_run(*point, *seed) == verdict);
                    let seeds = named("seed", "seeds", &seeds.collect::<Vec<u64>>());
                    warnings.push(format!("{name} is {words} with {seeds}: {meaning}"));
                }
                marked => warnings.push(format!(
                    "{name} is {words} at {} of {n} points: {meaning}",
                    marked.len()
                )),
            }
        }
        let own = own.collection.warnings.iter();
        warnings.extend(own.map(|warning| format!("{name}: {warning}")));
    }
    warnings
}

/// A folder of results.
struct Folder {
    collection: Collection,
    /// Version of its results.
    version: u64,
}

/// Reads a folder of a study or of a single run.
fn read(path: &Path) -> Result<Folder, String> {
    let collection = netloom_results::store::read(path).map_err(|error| error.to_string())?;
    // A folder has one of these files.
    let version = ["study.json", "results.json"].iter().find_map(|name| {
        let text = read_text(&path.join(name), MOST_LIST).ok()?;
        let document: serde_json::Value = serde_json::from_str(&text).ok()?;
        document["results_version"].as_u64()
    });
    Ok(Folder {
        collection,
        version: version
            .ok_or_else(|| format!("{} has no version of its results", path.display()))?,
    })
}

fn side(own: &Runs<'_>, other: &Runs<'_>) -> Side {
    Side {
        folder: own.collection.folder.clone(),
        name: own.collection.name.clone(),
        run_id: own.run_id(),
        own_classes: own.own_classes(other),
    }
}

/// Returns errors for limits on classes that are not in both.
fn unknown_classes(limits: &[Limit], a: &Runs<'_>, b: &Runs<'_>) -> Vec<String> {
    let common = pairs::common_classes(a, b);
    limits
        .iter()
        .filter_map(|limit| limit.unknown_class(&common))
        .collect()
}

fn judge(
    limit: &Limit,
    pairing: &Pairing,
    lines: &[Line],
    differences: &[Option<Difference>],
    told: &[Compared],
) -> Judged {
    let mut judged = Judged {
        limit: limit.text.clone(),
        broken_by: vec![],
        without_values: vec![],
        judged: 0,
        sentences: vec![],
    };
    for ((line, difference), told) in lines.iter().zip(differences).zip(told) {
        if !limit.covers(line) {
            continue;
        }
        let scope = about(line, &pairing.pairs[line.point].settings);
        let Some(difference) = difference else {
            judged.without_values.push(scope);
            continue;
        };
        judged.judged += 1;
        if limit.is_broken_by(difference) {
            judged.sentences.push(format!(
                "{} of {scope} is beyond \"{}\": B - A is {}",
                line.metric.column.name,
                limit.text,
                told.change(difference)
            ));
            judged.broken_by.push(scope);
        }
    }
    judged
}

/// Formats a list with its noun: `seed 1`, or `seeds 1, 2`.
fn named<T: ToString>(one: &str, many: &str, things: &[T]) -> String {
    let noun = if things.len() == 1 { one } else { many };
    format!("{noun} {}", words(things.iter().map(T::to_string)))
}

fn words<T: ToString>(words: impl IntoIterator<Item = T>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string()).collect();
    words.join(", ")
}
