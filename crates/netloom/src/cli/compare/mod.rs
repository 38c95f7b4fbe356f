//! `netloom compare`: what differs between two result folders, and whether chance explains it.

mod limit;
mod pairs;
mod report;
mod verdict;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use netloom_results::{Document, Status};

use super::Exit;
use super::output::Output;
use limit::Limit;
use pairs::{Line, Metric};
use report::{Compared, Comparison, Judged, Side};
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

A limit is on B minus A: with % as part of A, without in the unit of the metric. It is broken
(exit code 6) if the whole 95 % interval lies beyond it, for any class or the total unless one
is named (CLASS:METRIC, total:METRIC). With a single common seed the difference itself is judged.

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
        let unknown = unknown_classes(&limits, &a, &b);
        if !unknown.is_empty() {
            return tell(&unknown, Exit::Usage);
        }
        let seeds = pairs::common_seeds(&a, &b);
        let errors = self.incomparable(&a, &b, &seeds);
        if !errors.is_empty() {
            return tell(&errors, Exit::Failed);
        }

        let lines = pairs::lines(&a, &b, &seeds, &metrics);
        let differences: Vec<Option<Difference>> = lines
            .iter()
            .map(|line| Difference::over(&line.pairs))
            .collect();
        let compared = lines.iter().zip(&differences);
        let comparison = Comparison {
            warnings: self.warnings(&a, &b, &seeds),
            a: side(&self.a, &a, &b),
            b: side(&self.b, &b, &a),
            lines: compared
                .map(|(line, difference)| Compared::new(line, difference.as_ref()))
                .collect(),
            limits: limits
                .iter()
                .map(|limit| judge(limit, &lines, &differences))
                .collect(),
            seeds,
        };
        output.data(&match self.format {
            CompareFormat::Human => comparison.human(),
            CompareFormat::Markdown => comparison.markdown(),
            CompareFormat::Json => serde_json::to_string_pretty(&comparison)?,
        })?;
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
                    line.scope(),
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
    fn incomparable(&self, a: &Document, b: &Document, seeds: &[u64]) -> Vec<String> {
        let mut errors = vec![];
        let [name_a, name_b] = [&self.a, &self.b].map(|path| path.display());
        if a.results_version != b.results_version {
            errors.push(format!(
                "{name_a} has results of version {}, {name_b} of version {}: the same experiment has other \
                 numbers there (CHANGELOG, Changed results); run the older one again",
                a.results_version, b.results_version
            ));
        }
        if seeds.is_empty() {
            let listed = |document: &Document| words(document.runs().map(|run| run.seed));
            errors.push(format!(
                "no common seed: {name_a} has {}, {name_b} has {}; run both with the same measure.seed and \
                 measure.repeat",
                listed(a),
                listed(b)
            ));
        }
        errors
    }

    /// What a reader of the comparison should know.
    fn warnings(&self, a: &Document, b: &Document, seeds: &[u64]) -> Vec<String> {
        let mut warnings = vec![];
        let sides = [("A", &self.a, a, b), ("B", &self.b, b, a)];
        for (side, path, own, other) in sides {
            let name = format!("{side} ({})", path.display());
            let only = pairs::classes_only_in(own, other);
            if !only.is_empty() {
                let only = named("class", "classes", &only);
                warnings.push(format!("only {name} has the {only}: not compared"));
            }
            let unpaired = own.runs().map(|run| run.seed);
            let unpaired: Vec<u64> = unpaired.filter(|seed| !seeds.contains(seed)).collect();
            if !unpaired.is_empty() {
                let unpaired = named("seed", "seeds", &unpaired);
                warnings.push(format!("only {name} has the {unpaired}: left out"));
            }
            for (status, meaning) in DOUBTFUL {
                let runs = own.runs().filter(|run| run.status == status);
                let marked: Vec<u64> = runs
                    .map(|run| run.seed)
                    .filter(|seed| seeds.contains(seed))
                    .collect();
                if !marked.is_empty() {
                    let (word, marked) = (status.word(), named("seed", "seeds", &marked));
                    warnings.push(format!("{name} is {word} with {marked}: {meaning}"));
                }
            }
        }
        warnings
    }
}

/// How runs end whose numbers need care, and why.
const DOUBTFUL: [(Status, &str); 4] = [
    (
        Status::Saturated,
        "latencies grow with the length of the run",
    ),
    (
        Status::NotConverged,
        "no steady state, or less exact than asked; run longer",
    ),
    (Status::Interrupted, "the numbers are those up to then"),
    (Status::Deadlock, "the numbers are those up to then"),
];

/// Reads a folder of results.
fn read(folder: &Path) -> Result<Document, String> {
    let file = folder.join("results.json");
    let text = std::fs::read_to_string(&file).map_err(|error| {
        format!(
            "cannot read {}: {error}; compare takes folders that `netloom run -o DIR` wrote",
            file.display()
        )
    })?;
    Document::from_json(&text).map_err(|error| format!("{}: {error}", file.display()))
}

fn side(folder: &Path, own: &Document, other: &Document) -> Side {
    Side {
        folder: folder.display().to_string(),
        name: own.name.clone(),
        run_id: own.run_id.clone(),
        own_classes: pairs::classes_only_in(own, other),
    }
}

/// Limits on classes that not both have.
fn unknown_classes(limits: &[Limit], a: &Document, b: &Document) -> Vec<String> {
    let known = pairs::classes(b);
    let common: Vec<&str> = pairs::classes(a)
        .into_iter()
        .filter(|class| known.contains(class))
        .collect();
    limits
        .iter()
        .filter_map(|limit| limit.unknown_class(&common))
        .collect()
}

fn judge(limit: &Limit, lines: &[Line], differences: &[Option<Difference>]) -> Judged {
    let covered = || {
        let all = lines.iter().zip(differences);
        all.filter(|(line, _)| limit.covers(line))
    };
    let scopes = |is_meant: &dyn Fn(&Option<Difference>) -> bool| {
        covered()
            .filter(|(_, difference)| is_meant(difference))
            .map(|(line, _)| line.scope().to_owned())
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
