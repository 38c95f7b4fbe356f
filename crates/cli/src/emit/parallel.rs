//! `netloom study emit parallel`: writes a script for GNU parallel, on this machine or over ssh.

use clap::Args;

use super::{Filling, What};

#[derive(Args)]
pub(crate) struct Parallel {
    #[command(flatten)]
    pub(super) what: What,
}

/// Returns the script for a study.
pub(super) fn script(filling: &Filling) -> String {
    filling.fill(include_str!("templates/parallel.sh"), &[])
}
