//! C002-5 to C002-7: execution times of applications (Figure 6).

use super::machines::Machine;
use super::scenarios::{Case, PROGRAMS, S002_3, Scenario, four};
use super::series::{told, whole};
use super::switches::Switch::{self, Baseline, Full, Half, Quarter};
use crate::order::{difference, mean, ordered};
use crate::{Finding, Outcome, Results, Shown};

/// The communication skeleton of an application.
pub(super) struct Application {
    /// Name in the paper.
    pub(super) name: &'static str,
    /// Whether bandwidth determines its execution time.
    pub(super) is_bandwidth_bound: bool,
    /// On the paper's machine, and on the small one.
    cases: [[Case; 4]; 2],
}

impl Application {
    /// Returns its runs on a machine.
    pub(super) fn cases(&self, machine: &Machine) -> &[Case; 4] {
        &self.cases[usize::from(machine.n_nics != S002_3.machine.n_nics)]
    }
}

macro_rules! application {
    ($name:literal, $is_bound:literal) => {
        Application {
            name: $name,
            is_bandwidth_bound: $is_bound,
            cases: [four!("S002-3 ", $name), four!("S002-3 72 nodes ", $name)],
        }
    };
}

/// Table II.
pub(super) const APPLICATIONS: [Application; 6] = [
    application!("BIGFFT", true),
    application!("AMG", false),
    application!("MultiGrid", false),
    application!("FillBoundary", true),
    application!("AMR", false),
    application!("MiniFE", false),
];

/// The class of the application.
pub(super) const CLASS: &str = "application";

/// Returns the time at which an application received its last message, if it finished.
pub(super) fn execution_ns(outcome: &Outcome) -> Option<f64> {
    let left = &outcome.result.counters;
    // Ranks do not compute: an unfinished rank has messages under way, or another rank waits for
    // it.
    if left.waiting_messages > 0 || left.in_flight_packets > 0 {
        return None;
    }
    let mut classes = outcome.result.classes.iter();
    let own = classes.find(|class| class.class == CLASS)?;
    own.summary.last_delivery_ns
}

/// Returns the execution times of an application by seed.
fn times(
    results: &Results,
    scenario: &Scenario,
    application: &Application,
    switch: Switch,
) -> Result<Vec<f64>, String> {
    let mut cases = application.cases(scenario.machine).iter();
    let case = cases.find(|case| case.switch == switch);
    let series = case.map_or("that switch", |case| case.series);
    let all = whole(results, series)?;
    let times: Option<Vec<f64>> = all.into_iter().map(execution_ns).collect();
    times.ok_or_else(|| format!("{series}: not done at the end of a run"))
}

/// Returns the slowdown of an application relative to the baseline, by seed.
fn slowdowns(
    results: &Results,
    scenario: &Scenario,
    application: &Application,
    switch: Switch,
) -> Result<Vec<f64>, String> {
    let own = times(results, scenario, application, switch)?;
    let baseline = times(results, scenario, application, Baseline)?;
    let both = own.iter().zip(&baseline);
    Ok(both.map(|(own, baseline)| own / baseline - 1.0).collect())
}

/// Minimum slowdown that counts (C002-5, C002-6).
const SLOWER: f64 = 0.03;

fn percent(part: f64) -> String {
    format!("{:+.1} %", 100.0 * part)
}

/// C002-5: every application at most 3 % slower with that capacity.
pub(super) fn hardly_slower(results: &Results, switch: Switch) -> Finding {
    let judge = || {
        let mut finding = Finding::checked(true, "");
        let mut words = vec![];
        let mut worst = f64::NEG_INFINITY;
        for application in &APPLICATIONS {
            let slowdown = mean(&slowdowns(results, &S002_3, application, switch)?);
            worst = worst.max(slowdown);
            words.push(format!("{} {}", application.name, percent(slowdown)));
            finding = finding.number(application.name.to_lowercase(), slowdown);
        }
        let numbers = finding.numbers;
        Ok(Finding {
            numbers,
            ..Finding::checked(worst <= SLOWER, words.join(", "))
        })
    };
    told(judge())
}

/// C002-6: the applications that a quarter of the stash slows down. The interval over seeds must
/// not include a bound.
pub(super) fn slower_if_bound(results: &Results, is_bound: bool) -> Finding {
    let scenario = Scenario::either(results, PROGRAMS);
    let judge = || {
        let mut words = vec![];
        let mut numbers = vec![];
        let mut holds = Shown::Yes;
        let mut n_seeds = usize::MAX;
        let own = APPLICATIONS
            .iter()
            .filter(|own| own.is_bandwidth_bound == is_bound);
        for application in own {
            let slowdowns = slowdowns(results, scenario, application, Quarter)?;
            n_seeds = n_seeds.min(slowdowns.len());
            let zero = vec![0.0; slowdowns.len()];
            let slowdown = difference(&slowdowns, 0.0, &zero).ok_or("no seeds")?;
            holds = holds
                & if is_bound {
                    slowdown.exceeds(SLOWER)
                } else {
                    Shown::from(slowdown.mean.abs() <= SLOWER)
                };
            words.push(format!("{} {}", application.name, percent(slowdown.mean)));
            numbers.push((application.name.to_lowercase(), slowdown.mean));
        }
        let words = format!("{} on {}", words.join(", "), scenario.machine.network);
        Ok(Finding {
            numbers,
            ..ordered(n_seeds, holds, words)
        })
    };
    told(judge())
}

/// C002-7: some application is faster with a stash.
pub(super) fn some_are_faster(results: &Results) -> Finding {
    let scenario = Scenario::either(results, PROGRAMS);
    let judge = || {
        let mut best = ("", Full, f64::INFINITY);
        let mut n_seeds = usize::MAX;
        for application in &APPLICATIONS {
            for switch in [Full, Half, Quarter] {
                let slowdowns = slowdowns(results, scenario, application, switch)?;
                n_seeds = n_seeds.min(slowdowns.len());
                let slowdown = mean(&slowdowns);
                if slowdown < best.2 {
                    best = (application.name, switch, slowdown);
                }
            }
        }
        let (name, switch, slowdown) = best;
        let words = format!(
            "{name} with {} {} on {}",
            switch.word(),
            percent(slowdown),
            scenario.machine.network
        );
        let is_faster = slowdown < 0.0;
        let finding = ordered(n_seeds, is_faster, words);
        Ok(finding.number("fastest", slowdown))
    };
    told(judge())
}
