//! C004-9 to C004-13: delay and jitter against the inter-arrival time (IAT).
//!
//! Claims about all packets of a service level are judged over the packets of all seeds; claims
//! about single connections, by the worst seed.

use netloom_results::PunctualityLine;

use super::fabrics::{Part, on_all};
use super::scenarios::{LinkRate, Packet, Sent, Setting};
use crate::{Finding, Results, Verdict};

/// Bins of jitter from -IAT to IAT.
const BINS: usize = 16;

/// Returns the lines of a service level with the maximum number of connections, one for each seed.
fn lines<'a>(
    results: &'a Results,
    setting: &Setting,
    sent: Sent,
    sl: u8,
    scope: &str,
) -> Option<Vec<&'a PunctualityLine>> {
    let of = |run: &&'a netloom_results::Run| {
        let lines = &run.connections.as_ref()?.punctuality;
        lines
            .iter()
            .find(|line| line.sl == sl && line.scope == scope)
    };
    let point = setting.at_maximum(results, sent.rate)?;
    point.runs.iter().map(of).collect()
}

/// Returns a share over all packets of all seeds; `None` if a seed has no packets.
fn pooled(lines: &[&PunctualityLine], of: impl Fn(&PunctualityLine) -> Option<f64>) -> Option<f64> {
    let packets: u64 = lines.iter().map(|line| line.packets).sum();
    let weighted = |line: &&PunctualityLine| Some(of(line)? * line.packets as f64);
    let sum = lines.iter().map(weighted).sum::<Option<f64>>()?;
    (packets > 0).then(|| sum / packets as f64)
}

/// Formats a share in per cent: 100 only if it is complete.
fn per_cent(share: f64) -> String {
    let words = format!("{:.2}", 100.0 * share);
    match words.as_str() {
        "100.00" if share < 1.0 => "<100.00".to_owned(),
        _ => words,
    }
}

/// C004-9: nearly every packet of a service level within IAT/32.
pub(super) fn early(results: &Results, sent: impl Into<Sent>, sl: u8) -> Finding {
    let sent = sent.into();
    on_all(sent.packet, |setting| {
        let lines = lines(results, setting, sent, sl, "all")?;
        let share = pooled(&lines, |line| line.in_time_1_32)?;
        let (holds, words) = (share >= 0.999, per_cent(share));
        Some(Part::of(holds, words, "in_time_1_32", share))
    })
}

/// C004-10: 99 % within 3 IAT/4, and no packet later than IAT.
pub(super) fn in_time(results: &Results, sent: impl Into<Sent>, sl: u8) -> Finding {
    let sent = sent.into();
    on_all(sent.packet, |setting| {
        let lines = lines(results, setting, sent, sl, "all")?;
        let most = pooled(&lines, |line| line.in_time_3_4)?;
        let late = pooled(&lines, |line| line.late)?;
        let delay_max = lines.iter().filter_map(|line| line.delay_max);
        let longest = delay_max.fold(0.0, f64::max);
        let numbers = [
            ("in_time_3_4", most),
            ("in_time_1", 1.0 - late),
            ("longest_iat", longest),
        ];
        Some(Part {
            holds: (most >= 0.99 && late == 0.0).into(),
            words: format!("{} and {}", per_cent(most), per_cent(1.0 - late)),
            numbers: numbers.map(|(name, n)| (name.to_owned(), n)).to_vec(),
        })
    })
}

/// C004-10: 90 % within IAT/2, according to the conclusions of the paper.
pub(super) fn by_half(results: &Results, sent: impl Into<Sent>, sl: u8) -> Finding {
    let sent = sent.into();
    on_all(sent.packet, |setting| {
        let lines = lines(results, setting, sent, sl, "all")?;
        let share = pooled(&lines, |line| line.in_time_1_2)?;
        let (holds, words) = (share >= 0.90, per_cent(share));
        Some(Part::of(holds, words, "in_time_1_2", share))
    })
}

/// C004-11: nearly all jitter within IAT/8.
pub(super) fn steady(results: &Results, sent: impl Into<Sent>, sl: u8) -> Finding {
    let sent = sent.into();
    on_all(sent.packet, |setting| {
        let lines = lines(results, setting, sent, sl, "all")?;
        let share = pooled(&lines, |line| Some(line.jitter_m1? + line.jitter_p0?))?;
        let (holds, words) = (share >= 0.99, per_cent(share));
        Some(Part::of(holds, words, "within_1_8", share))
    })
}

/// Whether the bins rise to one peak and then fall.
fn is_unimodal(bins: &[f64]) -> bool {
    let falls = bins.windows(2).position(|pair| pair[1] < pair[0]);
    let after = falls.unwrap_or(bins.len());
    let rest = bins.get(after..).unwrap_or(&[]);
    rest.windows(2).all(|pair| pair[1] <= pair[0])
}

/// C004-12: jitter with one peak, a mean near zero, and none beyond IAT.
pub(super) fn bell(results: &Results, sent: impl Into<Sent>, sl: u8) -> Finding {
    let sent = sent.into();
    on_all(sent.packet, |setting| {
        let lines = lines(results, setting, sent, sl, "all")?;
        let bin = |at: usize| pooled(&lines, |line| *line.clone().jitter_mut()[at]);
        let bins: Vec<f64> = (0..BINS).map(bin).collect::<Option<_>>()?;
        let outside = bin(BINS)?;
        let mean = pooled(&lines, |line| line.jitter_mean)?;
        let is_bell = is_unimodal(&bins);
        let peaks = if is_bell { "one peak" } else { "several peaks" };
        let beyond = match outside {
            0.0 => "none beyond".to_owned(),
            share => format!("{:.4} % beyond", 100.0 * share),
        };
        Some(Part {
            holds: (is_bell && mean.abs() < 1.0 / 16.0 && outside == 0.0).into(),
            words: format!("{peaks}, {beyond}"),
            numbers: vec![
                ("is_unimodal".to_owned(), f64::from(u8::from(is_bell))),
                ("mean_iat".to_owned(), mean),
                ("beyond".to_owned(), outside),
            ],
        })
    })
}

/// C004-13: the worst connection of a service level stays within IAT, and at IAT/2 is near the
/// best.
pub(super) fn alike(results: &Results, sent: impl Into<Sent>, sl: u8) -> Finding {
    let sent = sent.into();
    on_all(sent.packet, |setting| {
        let best = lines(results, setting, sent, sl, "best")?;
        let worst = lines(results, setting, sent, sl, "worst")?;
        let gap = |(best, worst): (&&PunctualityLine, &&PunctualityLine)| {
            Some(best.in_time_1_2? - worst.in_time_1_2?)
        };
        let gaps: Vec<f64> = best.iter().zip(&worst).map(gap).collect::<Option<_>>()?;
        let gap = gaps.into_iter().fold(0.0, f64::max);
        let late: Vec<f64> = worst.iter().map(|line| line.late).collect::<Option<_>>()?;
        let late = late.into_iter().fold(0.0, f64::max);
        Some(Part {
            holds: (late == 0.0 && gap <= 0.20).into(),
            words: format!("{}, gap {:.1}", per_cent(1.0 - late), 100.0 * gap),
            numbers: vec![
                ("worst_in_time_1".to_owned(), 1.0 - late),
                ("gap_points".to_owned(), 100.0 * gap),
            ],
        })
    })
}

/// A check of C004-9 to C004-13, and its service levels.
type Check = (&'static str, fn(&Results, Sent, u8) -> Finding, [u8; 2]);

/// All checks; C004-13 in two halves.
const CHECKS: [Check; 7] = [
    ("C004-9", early, [0, 1]),
    ("C004-10", in_time, [2, 3]),
    ("C004-10 half", by_half, [2, 3]),
    ("C004-11", steady, [0, 1]),
    ("C004-12", bell, [2, 3]),
    ("C004-13", alike, [0, 1]), // tidy: allow a function name
    ("C004-13", alike, [2, 3]), // tidy: allow a function name
];

/// C004-14: every check again on faster links.
pub(super) fn again(results: &Results, packet: Packet, rate: &'static LinkRate) -> Finding {
    let (mut missed, mut n_held) = (vec![], 0);
    for (claim, check, levels) in CHECKS {
        for sl in levels {
            let finding = check(results, Sent { packet, rate }, sl);
            match finding.verdict {
                Verdict::Holds => n_held += 1,
                Verdict::NotRun => return finding,
                _ => missed.push(format!("{claim} SL{sl}")),
            }
        }
    }
    let n_missed = missed.len() as f64;
    let words = match missed.as_slice() {
        [] => format!("all {n_held} checks hold"),
        missed => format!("{n_held} checks hold; not {}", missed.join(", ")),
    };
    Finding {
        numbers: vec![
            ("held".to_owned(), f64::from(n_held)),
            ("missed".to_owned(), n_missed),
        ],
        ..Finding::checked(missed.is_empty(), words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_peak() {
        assert!(is_unimodal(&[0.0, 0.1, 0.4, 0.4, 0.1, 0.0]));
        assert!(is_unimodal(&[0.1, 0.2, 0.3]));
        assert!(is_unimodal(&[0.3, 0.2, 0.1]));
        assert!(!is_unimodal(&[0.1, 0.4, 0.1, 0.2]));
        assert!(!is_unimodal(&[0.4, 0.1, 0.4]));
        assert!(is_unimodal(&[]));
    }

    #[test]
    fn all_is_said_of_all_only() {
        assert_eq!(per_cent(1.0), "100.00");
        assert_eq!(per_cent(0.999_999), "<100.00");
        assert_eq!(per_cent(0.9876), "98.76");
    }

    #[test]
    fn seeds_count_by_their_packets() {
        let line = |packets, share| PunctualityLine {
            packets,
            late: Some(share),
            ..PunctualityLine::default()
        };
        let (a, b) = (line(30, 0.1), line(10, 0.5));
        assert!((pooled(&[&a, &b], |line| line.late).unwrap() - 0.2).abs() < 1e-12);
        assert_eq!(pooled(&[&a, &b], |line| line.in_time_1), None);
        assert_eq!(pooled(&[], |line| line.late), None);
    }
}
