//! `netloom compare`: what differs between two result folders, and whether chance explains it.
//!
//! ```text
//!  folders ─► points.rs: points and seeds that both have ─► pairs.rs: lines ─► verdict.rs: differences
//!                                     report.rs ◄─ overall.rs: all of them together ◄─┘
//! ```

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
use netloom_results::{Collection, Status};

use super::Exit;
use super::output::Output;
use limit::Limit;
use pairs::{Line, Metric};
use points::{Pairing, Runs};
use report::{Compared, Comparison, Judged, Side, about};
use verdict::Difference;

/// What is compared unless metrics are named.
const USUAL: [&str; 3] = ["delivered_load", "latency_mean_ns", "latency_p99_ns"];

#[derive(Args)]
#[command(
    after_help = "Runs are paired by seed, so run both with the same seeds and some of them:
  netloom run fat-tree.toml --set measure.repeat=5 -o before
  netloom run changed.toml --set measure.repeat=5 -o after
  netloom compare before after
  netloom compare before after --metric latency_p999_ns --metric fairness_jain
  netloom compare before after --fail-if \"latency_p99_ns > +5%\"
  netloom compare before after --fail-if \"bulk:delivered_load < -0.01\"
  netloom compare before after --format markdown

Folders of studies are compared point by point: points are the same if all axes that both have are.
Above the table stands what all points say together: of many differences some are beyond their
intervals by chance, so Holm's correction says which remain if all together may be wrong in 5 % of
cases; and how the saturation moved along the load.

A limit is on B minus A: with % as part of A, without in the unit of the metric. It is broken
(exit code 6) if the whole 95 % interval lies beyond it, for any class or the total unless one
is named (CLASS:METRIC, total:METRIC), at any point. With a single common seed the difference
itself is judged.

Of twenty lines where nothing differs, one shows a difference by chance: such is a 95 % interval."
)]
pub(crate) struct Compare {
    /// The folder of results to compare with, written by `netloom run -o A`.
    a: PathBuf,
    /// The folder that is compared.
    b: PathBuf,
    /// A column of results.csv; may be repeated. Without it delivered_load, latency_mean_ns and
    /// latency_p99_ns.
    #[arg(long = "metric", value_name = "NAME")]
    metrics: Vec<String>,
    /// Exit with 6 if B is beyond this limit: "latency_p99_ns > +5%"; may be repeated.
    #[arg(long = "fail-if", value_name = "LIMIT")]
    limits: Vec<String>,
    /// What is printed on stdout.
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
        let tell = |errors: &[String], exit: Exit| {
            errors.iter().for_each(|error| output.error(error));
            Ok(exit)
        };
        let (metrics, limits) = match self.asked() {
            Ok(asked) => asked,
            Err(errors) => return tell(&errors, Exit::Usage),
        };
        let (a, b) = match (read(&self.a), read(&self.b)) {
            (Ok(a), Ok(b)) => (a, b),
            (a, b) => {
                let errors: Vec<String> = [a.err(), b.err()].into_iter().flatten().collect();
                return tell(&errors, Exit::Failed);
            }
        };
        let (Some(runs_a), Some(runs_b)) = (Runs::of(&a.collection), Runs::of(&b.collection))
        else {
            let what = "has no results to compare; run `netloom merge` on it again";
            let is_empty = |own: &&Folder| Runs::of(&own.collection).is_none();
            let empty = [&a, &b].into_iter().filter(is_empty);
            let errors: Vec<String> = empty
                .map(|own| format!("{} {what}", own.collection.folder))
                .collect();
            return tell(&errors, Exit::Failed);
        };
        let unknown = unknown_classes(&limits, &runs_a, &runs_b);
        if !unknown.is_empty() {
            return tell(&unknown, Exit::Usage);
        }
        let pairing = points::pair(&runs_a, &runs_b);
        let mut errors = vec![];
        errors.extend(self.other_version(a.version, b.version));
        let pairing = match pairing {
            Ok(pairing) if errors.is_empty() => pairing,
            Ok(_) => return tell(&errors, Exit::Failed),
            Err(error) => {
                errors.push(error);
                return tell(&errors, Exit::Failed);
            }
        };

        let lines = pairs::lines(&runs_a, &runs_b, &pairing, &metrics);
        let differences: Vec<Option<Difference>> = lines
            .iter()
            .map(|line| Difference::over(&line.pairs))
            .collect();
        let settings = |line: &Line| pairing.pairs[line.point].settings.as_slice();
        let compared = lines.iter().zip(&differences);
        let seeds = pairing.pairs.iter().flat_map(|pair| pair.seeds.iter());
        let seeds: BTreeSet<u64> = seeds.copied().collect();
        let is_study = !(a.collection.axes.is_empty() && b.collection.axes.is_empty());
        let comparison = Comparison {
            warnings: warnings(&runs_a, &runs_b, &pairing),
            a: side(&runs_a, &runs_b),
            b: side(&runs_b, &runs_a),
            overall: is_study
                .then(|| overall::overall(&runs_a, &runs_b, &pairing, &lines, &differences)),
            lines: compared
                .map(|(line, difference)| Compared::new(settings(line), line, difference.as_ref()))
                .collect(),
            limits: limits
                .iter()
                .map(|limit| judge(limit, &pairing, &lines, &differences))
                .collect(),
            axes: pairing.axes.clone(),
            seeds: seeds.into_iter().collect(),
        };
        match self.format {
            CompareFormat::Human => output.text(&comparison.human())?,
            CompareFormat::Markdown => output.data(&comparison.markdown())?,
            CompareFormat::Json => output.data(&serde_json::to_string_pretty(&comparison)?)?,
        }
        for warning in &comparison.warnings {
            output.insist(&format!("warning: {warning}"));
        }

        let mut exit = Exit::Done;
        for (limit, judged) in limits.iter().zip(&comparison.limits) {
            if judged.judged == 0 {
                let text = &limit.text;
                output.error(&format!(
                    "--fail-if \"{text}\" cannot be judged: no seed has a value in both"
                ));
                exit = exit.max(Exit::Failed);
            }
            let all = lines.iter().zip(&differences).zip(&comparison.lines);
            for ((line, difference), compared) in all {
                let Some(difference) =
                    difference.filter(|d| limit.covers(line) && limit.is_broken_by(d))
                else {
                    continue;
                };
                output.error(&format!(
                    "{} of {} is beyond \"{}\": B - A is {}",
                    line.metric.column.name,
                    about(line, settings(line)),
                    limit.text,
                    compared.change(&difference)
                ));
                exit = exit.max(Exit::BeyondLimit);
            }
        }
        Ok(exit)
    }

    /// The metrics to show, those of limits included, and the limits; or everything wrong with them.
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

    /// Why no number of B may be held against one of A.
    fn other_version(&self, a: u64, b: u64) -> Option<String> {
        let [name_a, name_b] = [&self.a, &self.b].map(|path| path.display());
        (a != b).then(|| {
            format!(
                "{name_a} has results of version {a}, {name_b} of version {b}: the same experiment has other \
                 numbers there (CHANGELOG, Changed results); run the older one again"
            )
        })
    }
}

/// What a reader of the comparison should know.
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
            warnings.push(format!("only {name} has the {unpaired}: left out"));
        }
        for (status, meaning) in DOUBTFUL {
            let paired = points.iter().zip(&pairing.pairs);
            let marked = paired.filter_map(|(&point, pair)| {
                let seeds = pair.seeds.iter().copied();
                let marked = seeds.filter(|seed| own.status(point, *seed) == status);
                let marked: Vec<u64> = marked.collect();
                (!marked.is_empty()).then_some(marked)
            });
            let marked: Vec<Vec<u64>> = marked.collect();
            let (word, n) = (status.word(), pairing.pairs.len());
            match marked.as_slice() {
                [] => {}
                [seeds] if n == 1 => {
                    let seeds = named("seed", "seeds", seeds);
                    warnings.push(format!("{name} is {word} with {seeds}: {meaning}"));
                }
                points => {
                    let points = points.len();
                    warnings.push(format!(
                        "{name} is {word} at {points} of {n} points: {meaning}"
                    ));
                }
            }
        }
        let own = own.collection.warnings.iter();
        warnings.extend(own.map(|warning| format!("{name}: {warning}")));
    }
    warnings
}

/// How runs end whose numbers need care, and why.
const DOUBTFUL: [(Status, &str); 2] = [
    (
        Status::Saturated,
        "latencies grow with the length of the run",
    ),
    (
        Status::NotConverged,
        "no steady state, or less exact than asked; run longer",
    ),
];

/// A folder that was read.
struct Folder {
    collection: Collection,
    /// Version of its results.
    version: u64,
}

/// Reads a folder of a study or of a single run.
fn read(path: &Path) -> Result<Folder, String> {
    let collection = netloom_store::read(path).map_err(|error| error.to_string())?;
    // Whichever of both it has says the version.
    let version = ["study.json", "results.json"].iter().find_map(|name| {
        let text = read_text(&path.join(name), MOST_LIST).ok()?;
        let document: serde_json::Value = serde_json::from_str(&text).ok()?;
        document["results_version"].as_u64()
    });
    Ok(Folder {
        collection,
        version: version
            .ok_or_else(|| format!("{} does not say the version of its results", path.display()))?,
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

/// Limits on classes that not both have.
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
) -> Judged {
    let covered = || {
        let all = lines.iter().zip(differences);
        all.filter(|(line, _)| limit.covers(line))
    };
    let scopes = |is_meant: &dyn Fn(&Option<Difference>) -> bool| {
        covered()
            .filter(|(_, difference)| is_meant(difference))
            .map(|(line, _)| about(line, &pairing.pairs[line.point].settings))
            .collect()
    };
    Judged {
        limit: limit.text.clone(),
        broken_by: scopes(&|d| d.as_ref().is_some_and(|d| limit.is_broken_by(d))),
        without_values: scopes(&|d| d.is_none()),
        judged: covered().filter(|(_, d)| d.is_some()).count(),
    }
}

/// `seed 1`, or `seeds 1, 2`.
fn named<T: ToString>(one: &str, many: &str, things: &[T]) -> String {
    let noun = if things.len() == 1 { one } else { many };
    format!("{noun} {}", words(things.iter().map(T::to_string)))
}

fn words<T: ToString>(words: impl IntoIterator<Item = T>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string()).collect();
    words.join(", ")
}
