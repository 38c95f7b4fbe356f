//! `netloom emit parallel`: shards by GNU parallel, on this machine or over ssh.

use clap::Args;

use super::{Filling, What, preamble};

#[derive(Args)]
pub(crate) struct Parallel {
    #[command(flatten)]
    pub(super) what: What,
}

/// The script for so many shards.
pub(super) fn script(filling: &Filling, shards: usize) -> String {
    let Filling {
        script, options, ..
    } = filling;
    let preamble = preamble(filling);
    format!(
        r#"#!/bin/bash
# A study in shards by GNU parallel, and its tables merged at the end. Options are handed on to parallel:
#   bash {script}                                   one shard after the other; each uses all cores
#   bash {script} --sshloginfile machines.txt       on machines that share this folder
#   bash {script} --jobs 4                          four shards at a time on each machine
# A run that is done is never done again: after any failure, start it once more.
set -euo pipefail
shards={shards}
{preamble}command -v parallel >/dev/null || {{
    echo "no GNU parallel here: install the package parallel" >&2
    exit 1
}}

# Each shard is a line that parallel runs: in a command it would replace {{}} and run what is in {{= =}}.
run=("$netloom" run "$file" -o "$folder" --progress plain{options})
code=0
for shard in $(seq "$shards"); do
    printf '%s ' "${{run[@]@Q}}" --shard "$shard/$shards"
    echo
done | parallel --jobs 1 --workdir . --line-buffer --tagstring "{{#}}/$shards" "$@" || code=$?
[ "$code" = 0 ] || echo "parallel ended with $code: so many shards did not end well" >&2
# In any case: a merge says what is missing.
"$netloom" merge "$folder" || exit
exit "$code"
"#
    )
}
