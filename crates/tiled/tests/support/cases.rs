//! Named configurations: each is compared between twin and model, and drains by itself.
use super::Case;
pub(crate) fn cases() -> Vec<(&'static str, Case)> {
    vec![
        ("baseline", Case::single(8)),
        ("tree", Case::tree(4, 2)),
        ("acks", Case::tree(4, 2).acknowledging()),
    ]
}
