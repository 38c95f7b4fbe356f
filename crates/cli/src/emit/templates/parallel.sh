#!/bin/bash
# Runs a study in shards with GNU parallel, then merges its tables. Options are passed to parallel:
#   bash @script@                                   one shard after the other; each uses all cores
#   bash @script@ --sshloginfile machines.txt       on machines that share this folder
#   bash @script@ --jobs 4                          four shards at a time on each machine
# Finished runs are not repeated: after a failure, run this script again.
set -euo pipefail
shards=@shards@
@start@command -v parallel >/dev/null || {
    echo "cannot find GNU parallel: install the package parallel" >&2
    exit 1
}

# Each shard is a line of input: in a command, parallel would replace {} and evaluate {= =}.
run=("$netloom" run "$file" -o "$folder" --progress plain@options@)
code=0
for shard in $(seq "$shards"); do
    printf '%s ' "${run[@]@Q}" --shard "$shard/$shards"
    echo
done | parallel --jobs 1 --workdir . --line-buffer --tagstring "{#}/$shards" "$@" || code=$?
[ "$code" = 0 ] || echo "parallel exited with code $code, the number of failed shards" >&2
# Merge even after a failure: the merge reports missing runs.
"$netloom" study merge "$folder" || exit
exit "$code"
