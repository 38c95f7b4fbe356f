//! Limits of the difference between B and A.

use std::fmt;
use std::str::FromStr;

use netloom_catalog::nearest;

use super::CompareError;
use super::difference::Difference;
use super::lines::{Line, TOTAL};
use super::metric::Metric;

/// A limit such as `latency_p99_ns > +5%`, `delivered_load < -0.01` or
/// `bulk:latency_mean_ns > 200`: optionally a class or `total`, a metric, and a bound of B minus A
/// in its unit or as a part of A.
#[derive(Clone, PartialEq, Debug)]
pub struct Limit {
    /// As it was parsed.
    text: String,
    /// A class or [`TOTAL`]; `None` means every class and the total.
    scope: Option<String>,
    metric: Metric,
    side: Direction,
    bound: Bound,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    Above,
    Below,
}

/// A bound on B minus A.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Bound {
    /// In the unit of the metric.
    Absolute(f64),
    /// As a fraction of A.
    Relative(f64),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Limit {
    type Err = CompareError;

    fn from_str(text: &str) -> Result<Limit, CompareError> {
        let wrong = |what: &str| CompareError::Limits(vec![format!("\"{text}\": {what}")]);
        let form = "use \"METRIC > LIMIT\" or \"CLASS:METRIC < LIMIT\" with a limit such as +5% or \
                    -0.01";
        let at = text
            .rfind(['<', '>'])
            .ok_or_else(|| wrong(&format!("expected < or >; {form}")))?;
        let (left, right) = (text[..at].trim(), text[at + 1..].trim());
        let (scope, name) = match left.rsplit_once(':') {
            Some((scope, name)) => (Some(scope.trim().to_owned()), name.trim()),
            None => (None, left),
        };
        let (number, is_relative) = match right.strip_suffix('%') {
            Some(number) => (number.trim_end(), true),
            None => (right, false),
        };
        let number = number.parse::<f64>().ok().filter(|n| n.is_finite());
        let number = number
            .ok_or_else(|| wrong(&format!("expected a number, found \"{right}\"; {form}")))?;
        let metric = name.parse::<Metric>();
        Ok(Limit {
            text: text.trim().to_owned(),
            scope,
            metric: metric.map_err(|error| wrong(&error.to_string()))?,
            side: match text.as_bytes()[at] {
                b'>' => Direction::Above,
                _ => Direction::Below,
            },
            bound: match is_relative {
                true => Bound::Relative(number / 100.0),
                false => Bound::Absolute(number),
            },
        })
    }
}

impl Limit {
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Returns whether the limit applies to this line.
    pub(super) fn covers(&self, line: &Line) -> bool {
        let is_in_scope = self
            .scope
            .as_deref()
            .is_none_or(|scope| scope == line.scope());
        is_in_scope && self.metric == line.metric
    }

    /// Returns whether the whole interval lies beyond the limit.
    pub(super) fn is_broken_by(&self, difference: &Difference) -> bool {
        let bound = match self.bound {
            Bound::Absolute(bound) => bound,
            Bound::Relative(part) => part * difference.mean_a.abs(),
        };
        match self.side {
            Direction::Above => difference.low() > bound,
            Direction::Below => difference.high() < bound,
        }
    }

    /// Returns an error if its class is not one of `classes`.
    pub(super) fn unknown_class(&self, classes: &[&str]) -> Option<String> {
        let scope = self.scope.as_deref()?;
        let known = || classes.iter().copied().chain([TOTAL]);
        if known().any(|class| class == scope) {
            return None;
        }
        let instead = match nearest(scope, known()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("expected one of {}", known().collect::<Vec<_>>().join(", ")),
        };
        Some(format!(
            "\"{}\": there is no common class \"{scope}\"; {instead}",
            self.text
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_broken(limit: &str, pairs: &[(f64, f64)]) -> bool {
        let limit = limit.parse::<Limit>().unwrap();
        let difference = Difference::over(limit.metric, pairs).unwrap();
        limit.is_broken_by(&difference)
    }

    /// Mean of A 100, differences 12 ± 4.968.
    const HIGHER: [(f64, f64); 3] = [(90.0, 100.0), (100.0, 112.0), (110.0, 124.0)];

    #[test]
    fn the_whole_interval_lies_beyond_a_broken_limit() {
        for (limit, broken) in [
            ("latency_p99_ns > +5%", true),
            ("latency_p99_ns>7.03 %", true),
            ("latency_p99_ns > 7.04%", false),
            ("latency_p99_ns > 12%", false),
            ("latency_p99_ns > 7.03", true),
            ("latency_p99_ns > 7.04", false),
            ("latency_p99_ns < 16.97", true),
            ("latency_p99_ns < 16.96", false),
            ("latency_p99_ns < -5%", false),
        ] {
            assert_eq!(is_broken(limit, &HIGHER), broken, "{limit}");
        }
        let lower = HIGHER.map(|(a, b)| (a, 2.0 * a - b));
        assert!(is_broken("delivered_load < -7.03", &lower));
        assert!(!is_broken("delivered_load < -7.04", &lower));
    }

    #[test]
    fn a_single_seed_is_judged_by_its_difference() {
        assert!(is_broken("latency_p99_ns > +5%", &[(100.0, 106.0)]));
        assert!(!is_broken("latency_p99_ns > +5%", &[(100.0, 105.0)]));
    }

    #[test]
    fn a_bucket_of_a_histogram_breaks_no_limit() {
        let bucket = [(1000.0, 1013.0); 3];
        assert!(!is_broken("latency_p99_ns > +1%", &bucket));
        assert!(is_broken("latency_mean_ns > +1%", &bucket));
    }

    #[test]
    fn whatever_comes_from_nothing_is_beyond_any_part_of_it() {
        assert!(is_broken("reordered_packets > +5%", &[(0.0, 1.0)]));
        assert!(!is_broken("reordered_packets > +5%", &[(0.0, 0.0)]));
    }

    #[test]
    fn a_class_may_have_colons() {
        let limit = "a:b:latency_p99_ns > 1".parse::<Limit>().unwrap();
        assert_eq!(limit.scope.as_deref(), Some("a:b"));
        assert_eq!(limit.metric.name(), "latency_p99_ns");
    }

    #[test]
    fn mistakes_tell_what_to_write() {
        for (text, part) in [
            ("latency_p99_ns", "expected < or >"),
            ("latency_p99_ns > much", "expected a number, found \"much\""),
            ("latency_p99_ns >= 5", "expected a number, found \"= 5\""),
            ("latency_p99_ns > inf", "expected a number, found \"inf\""),
            ("latency_p9_ns > 5", "did you mean \"latency_p90_ns\"?"),
            ("speed > 5", "to find names by a part"),
        ] {
            let error = text.parse::<Limit>().unwrap_err().to_string();
            assert!(error.contains(part) && error.contains(text), "{error}");
        }
    }
}
