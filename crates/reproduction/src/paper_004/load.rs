//! C004-6 to C004-8: delivered load and use of ports.

use netloom_results::LinksSummary;

use super::admission::established;
use super::fabrics::{Part, mean, on_all};
use super::scenarios::{ONE, Packet, Setting};
use crate::{Finding, Measured, Point, Results};

/// Returns the bytes per cycle and host on the wire, including headers, by seed.
pub(super) fn delivered(point: &Point<'_>) -> Vec<f64> {
    let of = |run: &&netloom_results::Run| run.total.delivered_load;
    point.runs.iter().map(of).collect()
}

/// C004-6: the largest delivered load.
pub(super) fn largest_load(results: &Results, packet: Packet) -> Finding {
    on_all(packet, |setting| {
        let load = Measured::over(&delivered(&setting.at_maximum(results, &ONE)?))?;
        let holds = (0.73..=0.80).contains(&load.mean);
        Some(Part::of(holds, load.words(3, ""), "delivered", load.mean))
    })
}

/// C004-6: small packets deliver at least as much as large ones. Equal seeds have the same
/// connections, so values are compared seed by seed.
pub(super) fn small_carry_more(results: &Results) -> Finding {
    on_all(Packet::Small, |small| {
        let large = Setting::of(Packet::Large).find(|large| large.fabric == small.fabric)?;
        let small = delivered(&small.at_maximum(results, &ONE)?);
        let large = delivered(&large.at_maximum(results, &ONE)?);
        let more: Vec<f64> = small.iter().zip(&large).map(|(s, l)| s - l).collect();
        let more = Measured::over(&more)?;
        // An order needs at least two seeds.
        more.half_width?;
        let (holds, words) = (more.reaches(0.0), format!("{:+.3}", more.mean));
        Some(Part::of(holds, words, "more", more.mean))
    })
}

/// Returns the fraction of the variance of `y` that a straight line over `x` explains; `None` below
/// three points.
fn r_squared(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    if points.len() < 3 {
        return None;
    }
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
    let xx = sum(&|p| (p.0 - x) * (p.0 - x));
    let yy = sum(&|p| (p.1 - y) * (p.1 - y));
    let xy = sum(&|p| (p.0 - x) * (p.1 - y));
    (xx > 0.0 && yy > 0.0).then(|| xy * xy / (xx * yy))
}

/// C004-7: delivered load over established connections is a straight line.
pub(super) fn grows_linearly(results: &Results, packet: Packet) -> Finding {
    on_all(packet, |setting| {
        let point = |point: &Point<'_>| Some((established(point)?.mean, mean(&delivered(point))?));
        let series = results.series(setting.simulated);
        let points: Option<Vec<(f64, f64)>> = series.all().iter().map(point).collect();
        let r2 = r_squared(&points?)?;
        Some(Part::of(r2 >= 0.99, format!("{r2:.4}"), "r2", r2))
    })
}

/// Use of the ports of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Busy {
    /// Mean over host interfaces.
    pub(super) hosts: f64,
    /// Mean over the outputs of switches, to hosts and to switches.
    pub(super) ports: f64,
    /// The busiest of both.
    pub(super) most: f64,
}

impl Busy {
    pub(super) fn of(links: &LinksSummary) -> Busy {
        let outputs = [&links.fabric, &links.delivery];
        let n: f64 = outputs.iter().map(|group| group.links as f64).sum();
        let sum = |group: &&netloom_results::LinkGroup| group.links as f64 * group.utilisation_mean;
        let most = [&links.injection, &links.fabric, &links.delivery];
        Busy {
            hosts: links.injection.utilisation_mean,
            ports: outputs.iter().map(sum).sum::<f64>() / n.max(1.0),
            most: most.iter().map(|g| g.utilisation_max).fold(0.0, f64::max),
        }
    }
}

/// C004-8: use of host interfaces and switch ports. The maximum is checked with small packets only.
pub(super) fn port_use(results: &Results, packet: Packet) -> Finding {
    on_all(packet, |setting| {
        let point = setting.at_maximum(results, &ONE)?;
        let busy: Vec<Busy> = point.runs.iter().map(|run| Busy::of(&run.links)).collect();
        let hosts = mean(&busy.iter().map(|busy| busy.hosts).collect::<Vec<_>>())?;
        let ports = mean(&busy.iter().map(|busy| busy.ports).collect::<Vec<_>>())?;
        let most = busy.iter().map(|busy| busy.most).fold(0.0, f64::max);
        let is_near = |mean: f64| (0.74..=0.80).contains(&mean);
        let is_low = packet == Packet::Large || most <= 0.85;
        let named = [("hosts", hosts), ("switch_ports", ports), ("most", most)];
        Some(Part {
            holds: (is_near(hosts) && is_near(ports) && is_low).into(),
            words: format!("{hosts:.3}, {ports:.3}, max {most:.3}"),
            numbers: named.map(|(name, n)| (name.to_owned(), n)).to_vec(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bend_is_no_line() {
        let line: Vec<(f64, f64)> = (1..8).map(|n| (f64::from(n), f64::from(3 * n))).collect();
        assert_eq!(r_squared(&line), Some(1.0));
        // By hand: 0, 1, 1 over 0, 1, 2 has deviations of x -1, 0, 1 and of y -2/3, 1/3, 1/3.
        let bend = [(0.0, 0.0), (1.0, 1.0), (2.0, 1.0)];
        assert!((r_squared(&bend).unwrap() - 0.75).abs() < 1e-12);
        assert_eq!(r_squared(&line[..2]), None);
        assert_eq!(r_squared(&[(1.0, 2.0); 4]), None);
    }
}
