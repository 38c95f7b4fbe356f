//! The signs of verdicts.

use netloom_results::Verdict;

/// All verdicts of a point, each with its sign, CSS class and description.
pub(crate) const SIGNS: [(Verdict, &str, &str, &str); 7] = [
    (Verdict::Idle, "○", "ok", "nothing sent"),
    (
        Verdict::Ok,
        "●",
        "ok",
        "steady and as exact as requested, or completed",
    ),
    (
        Verdict::NotConverged,
        "◐",
        "unconverged",
        "less exact than requested",
    ),
    (Verdict::NotStationary, "◑", "unconverged", "not stationary"),
    (Verdict::TooShort, "◔", "unconverged", "too short to tell"),
    (Verdict::Saturated, "▲", "saturated", "saturated"),
    (Verdict::Unfinished, "◇", "unconverged", "unfinished"),
];

/// Returns the sign, CSS class and description of a verdict.
pub(crate) fn sign(verdict: Verdict) -> (&'static str, &'static str, &'static str) {
    let found = SIGNS.iter().find(|(own, ..)| *own == verdict);
    let (_, sign, style, words) = found.expect("every verdict has a sign");
    (sign, style, words)
}
