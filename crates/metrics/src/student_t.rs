//! Quantiles of Student's t, for intervals from few values.

/// The normal quantile of 0.975, the limit of t.
const NORMAL: f64 = 1.959_963_984_540_054;

/// Exact values for 1 to 8 degrees of freedom, for which the expansion is not precise enough.
const FEW: [f64; 8] = [
    12.706_204_736,
    4.302_652_730,
    3.182_446_305,
    2.776_445_105,
    2.570_581_836,
    2.446_911_851,
    2.364_624_252,
    2.306_004_135,
];

/// Returns the factor of a 95 % interval (quantile 0.975) with `dof` degrees of freedom, within
/// 2e-5.
///
/// Without degrees of freedom there is no interval: infinity.
///
/// From 9 on, it is the expansion in powers of `1/dof` (Fisher and Cornish; Abramowitz and Stegun
/// 26.7.5). Hill's algorithm 396 would cover all sizes but uses sines and powers of the C library;
/// this gives the same bits on every machine.
pub fn student_t_975(dof: usize) -> f64 {
    const Z: f64 = NORMAL;
    const Z2: f64 = Z * Z;
    const G1: f64 = Z * (Z2 + 1.0) / 4.0;
    const G2: f64 = Z * ((5.0 * Z2 + 16.0) * Z2 + 3.0) / 96.0;
    const G3: f64 = Z * (((3.0 * Z2 + 19.0) * Z2 + 17.0) * Z2 - 15.0) / 384.0;
    const G4: f64 =
        Z * ((((79.0 * Z2 + 776.0) * Z2 + 1482.0) * Z2 - 1920.0) * Z2 - 945.0) / 92_160.0;
    match dof {
        0 => f64::INFINITY,
        1..=8 => FEW[dof - 1],
        _ => {
            let x = 1.0 / dof as f64;
            Z + x * (G1 + x * (G2 + x * (G3 + x * G4)))
        }
    }
}

/// Returns the probability of a value of Student's t beyond `t` on either side, in closed form
/// (Abramowitz and Stegun 26.7.3 and 26.7.4). Without degrees of freedom it is one.
pub fn student_t_beyond(t: f64, dof: usize) -> f64 {
    if dof == 0 || t.is_nan() {
        return 1.0;
    }
    if t.is_infinite() {
        return 0.0;
    }
    // The angle whose tangent is t / sqrt(dof).
    let tangent = t.abs() / (dof as f64).sqrt();
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    let sine = tangent * cosine;
    let is_odd = dof % 2 == 1;
    let mut term = if is_odd { cosine } else { 1.0 };
    let mut sum = if dof == 1 { 0.0 } else { term };
    for k in (2 + dof % 2..dof.saturating_sub(1)).step_by(2) {
        term *= cosine * cosine * (k - 1) as f64 / k as f64;
        sum += term;
    }
    let between = if is_odd {
        std::f64::consts::FRAC_2_PI * (arc_tangent(tangent) + sine * sum)
    } else {
        sine * sum
    };
    (1.0 - between).clamp(0.0, 1.0)
}

/// Returns the angle by halving it until a few terms of its series suffice. No C library is used,
/// so the bits are the same everywhere.
fn arc_tangent(tangent: f64) -> f64 {
    const HALVINGS: i32 = 6;
    let mut x = tangent;
    for _ in 0..HALVINGS {
        x /= 1.0 + (1.0 + x * x).sqrt();
    }
    // Now at most pi / 128: x^13 / 13 is below 1e-20.
    let squared = x * x;
    let mut sum = 0.0;
    for k in (1..=11).rev().step_by(2) {
        sum = 1.0 / f64::from(k) - squared * sum;
    }
    x * sum * f64::from(1 << HALVINGS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_textbooks() {
        let table = [
            12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179,
            2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
            2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
        ];
        let more = [(40, 2.021), (60, 2.000), (120, 1.980), (usize::MAX, 1.960)];
        for (dof, expected) in (1..).zip(table).chain(more) {
            assert!(
                (student_t_975(dof) - expected).abs() < 1e-3,
                "{dof} degrees of freedom"
            );
        }
        assert_eq!(student_t_975(0), f64::INFINITY);
    }

    #[test]
    fn more_freedom_is_a_narrower_interval() {
        assert!((0..2000).all(|dof| student_t_975(dof) > student_t_975(dof + 1)));
    }

    #[test]
    fn ninety_five_percent_lie_between() {
        for dof in 1..500 {
            let inside = 1.0 - student_t_beyond(student_t_975(dof), dof);
            assert!(
                (inside - 0.95).abs() < 2e-6,
                "{dof} degrees of freedom: {inside}"
            );
        }
    }

    #[test]
    fn tails_of_the_textbooks() {
        // One degree of freedom is the Cauchy distribution: half lies beyond 1; two: 1 - t / sqrt(2
        // + t^2).
        assert!((student_t_beyond(1.0, 1) - 0.5).abs() < 1e-15);
        assert!((student_t_beyond(-2.0, 2) - (1.0 - 2.0 / 6f64.sqrt())).abs() < 1e-15);
        for (t, dof, tail) in [(3.365, 5, 0.02), (4.587, 10, 0.001), (2.750, 30, 0.01)] {
            assert!((student_t_beyond(t, dof) - tail).abs() < 1e-5, "{t} {dof}");
        }
        assert_eq!(student_t_beyond(0.0, 7), 1.0);
        assert_eq!(student_t_beyond(f64::INFINITY, 7), 0.0);
        assert_eq!(student_t_beyond(9.0, 0), 1.0);
    }

    #[test]
    fn the_angle_is_that_of_the_library() {
        for tangent in [0.0, 1e-9, 0.3, 1.0, 7.0, 1e9] {
            assert!((arc_tangent(tangent) - tangent.atan()).abs() < 1e-14);
        }
    }
}
