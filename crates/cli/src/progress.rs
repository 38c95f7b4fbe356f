//! Progress of runs, for terminals, logs and machines.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use netloom_experiment::runner::Progress;
use netloom_results::Status;
use netloom_study::running::StudyProgress;

use super::output::printable;
use super::table::{nanos, prefixed};

/// Time between lines of a log.
const PERIOD: Duration = Duration::from_secs(10);

/// How to show progress on stderr.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Style {
    /// A bar on a terminal, plain lines elsewhere.
    Auto,
    /// A line every 10 s.
    Plain,
    /// One JSON object per line, every second.
    Json,
    /// No progress.
    None,
}

/// An active display of progress.
pub(super) enum ProgressDisplay {
    Bar(ProgressBar),
    Lines { next: Instant },
    Json { next: Instant },
    Nothing,
}

impl ProgressDisplay {
    pub(super) fn new(style: Style, quiet: bool) -> ProgressDisplay {
        let is_terminal = std::io::stderr().is_terminal();
        match style {
            Style::None => ProgressDisplay::Nothing,
            Style::Json => ProgressDisplay::Json {
                next: Instant::now(),
            },
            _ if quiet => ProgressDisplay::Nothing,
            Style::Auto if is_terminal => {
                let bar = ProgressBar::new(1000);
                // A message that is too long is truncated: a wrapped bar would scroll the terminal.
                let template = "  [{bar:24}] {percent:>3}%  {wide_msg}";
                let style = ProgressStyle::with_template(template).expect("a sound template");
                bar.set_style(style.progress_chars("#>-"));
                ProgressDisplay::Bar(bar)
            }
            Style::Auto | Style::Plain => ProgressDisplay::Lines {
                next: Instant::now() + PERIOD,
            },
        }
    }

    /// Shows the state of a run.
    pub(super) fn update(&mut self, progress: &Progress) {
        match self {
            ProgressDisplay::Bar(bar) => {
                bar.set_position((progress.share() * 1000.0) as u64);
                bar.set_message(words(progress));
            }
            ProgressDisplay::Lines { next } => {
                if Instant::now() >= *next {
                    *next += PERIOD;
                    let percent = progress.share() * 100.0;
                    say(&format!("  {percent:>3.0}%  {}", words(progress)));
                }
            }
            ProgressDisplay::Json { next } => {
                if Instant::now() >= *next {
                    *next += Duration::from_secs(1);
                    let line = serde_json::json!({
                        "event": "progress",
                        "seed": progress.seed,
                        "run": progress.run,
                        "runs": progress.of,
                        "time_ns": progress.now_ns,
                        "length_ns": progress.length_ns,
                        "events": progress.events,
                        "packet_hops": progress.packet_hops,
                        "packet_hops_per_second": progress.rate(),
                        "remaining_seconds": progress.remaining().map(|left| left.as_secs_f64()),
                    });
                    say(&line.to_string());
                }
            }
            ProgressDisplay::Nothing => {}
        }
    }

    /// Shows the progress of a study, or of the runs of a paper.
    pub(super) fn update_study(&mut self, study: &StudyProgress) {
        let share = study.done as f64 / study.of.max(1) as f64;
        match self {
            ProgressDisplay::Bar(bar) => {
                bar.set_position((share * 1000.0) as u64);
                bar.set_message(printable(&study_words(study), false).into_owned());
            }
            ProgressDisplay::Lines { next } => {
                if Instant::now() >= *next {
                    *next = Instant::now() + PERIOD;
                    say(&format!(
                        "  {:>3.0}%  {}",
                        share * 100.0,
                        study_words(study)
                    ));
                }
            }
            ProgressDisplay::Json { next } => {
                if Instant::now() >= *next {
                    *next = Instant::now() + Duration::from_secs(1);
                    let worst = study.worst.as_ref().map(|worst| {
                        serde_json::json!({
                            "point": worst.point,
                            "status": worst.status,
                            "latency_p99_ns": worst.latency_p99_ns,
                        })
                    });
                    let line = serde_json::json!({
                        "event": "progress",
                        "runs_done": study.done,
                        "runs": study.of,
                        "runs_found": study.found,
                        "packet_hops": study.packet_hops,
                        "elapsed_seconds": study.elapsed.as_secs_f64(),
                        "remaining_seconds": study.remaining().map(|left| left.as_secs_f64()),
                        "worst": worst,
                    });
                    say(&line.to_string());
                }
            }
            ProgressDisplay::Nothing => {}
        }
    }

    /// Clears the bar.
    pub(super) fn finish(&self) {
        if let ProgressDisplay::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", printable(line, false));
}

fn words(progress: &Progress) -> String {
    let mut words = format!(
        "{} of {}",
        nanos(progress.now_ns),
        nanos(progress.length_ns)
    );
    if progress.of > 1 {
        words.push_str(&format!("  run {}/{}", progress.run + 1, progress.of));
    }
    words.push_str(&format!("  {} packet-hops/s", prefixed(progress.rate())));
    if let Some(left) = progress.remaining() {
        words.push_str(&format!("  {} left", span(left)));
    }
    words
}

/// Formats a wall-clock duration: `12 s`, `3 min 05 s`.
pub(super) fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Formats a rate of runs per second: `2.5 runs/s`, or `one run every 40 s`.
pub(super) fn pace(rate: f64) -> String {
    if rate < 0.1 {
        return format!(
            "one run every {}",
            span(Duration::from_secs_f64(1.0 / rate))
        );
    }
    format!("{rate:.1} runs/s")
}

/// Formats done, total, rate, remaining time and the worst point so far.
fn study_words(study: &StudyProgress) -> String {
    let mut words = format!("{} of {} runs", study.done, study.of);
    if study.rate() > 0.0 {
        words.push_str(&format!("  {}", pace(study.rate())));
    }
    if let Some(left) = study.remaining() {
        words.push_str(&format!("  {} left", span(left)));
    }
    if let Some(worst) = &study.worst {
        let p99 = worst.latency_p99_ns.map_or("-".to_owned(), nanos);
        let status = match worst.status {
            Status::Ok => String::new(),
            status => format!(", {}", status.word()),
        };
        words.push_str(&format!("  worst: {} (p99 {p99}{status})", worst.point));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_runs_in_words() {
        let mut progress = StudyProgress {
            of: 30,
            elapsed: Duration::from_secs(4),
            ..StudyProgress::default()
        };
        assert_eq!(study_words(&progress), "0 of 30 runs");
        progress.saw(|| "S at 0.5".to_owned(), Status::Ok, Some(2500.0));
        progress.saw(|| "S at 0.9".to_owned(), Status::Saturated, Some(1500.0));
        progress.saw(|| "S at 0.1".to_owned(), Status::Ok, None);
        // One run was already stored, so two took four seconds; 27 are left.
        progress.found = 1;
        assert_eq!(
            study_words(&progress),
            "3 of 30 runs  0.5 runs/s  54 s left  worst: S at 0.9 (p99 1.50 us, saturated)"
        );
        progress.elapsed = Duration::from_secs(130);
        let words = study_words(&progress);
        assert!(
            words.contains("  one run every 1 min 05 s  29 min 15 s left  "),
            "{words}"
        );
    }
}
