#!/bin/bash
# Runs a study as a Slurm array job@over_ranks@.
# Usage, in the folder where this file was generated:
#   bash @script@                   submit the array, and a merge that runs after it
#   sbatch @script@                 submit only the array; then: @program@ study merge @folder@
#   sbatch --array=3,7 @script@     submit two of the shards again
# Finished runs are not repeated: after a failure, submit again.
# Edit these lines as needed; for another number of shards, generate a new script.
#SBATCH --job-name=@name@
#SBATCH --array=1-@shards@
@resources@#SBATCH --output=@name@-%A_%a.log
#SBATCH --open-mode=append
#SBATCH --requeue
set -euo pipefail
export NETLOOM_SHARDS=@shards@
@start@
if [ "${1:-}" = merge ]; then
    exec "$netloom" study merge "$folder"
elif [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
    array=$(sbatch --parsable "$0")
    array=${array%%;*}
    # Merge even after a failure: the merge reports missing runs.
    merge=$(sbatch --parsable --dependency="afterany:$array" --array=1@alone@ \
        --job-name=@name@-merge --output=@name@-merge-%A.log "$0" merge)
    echo "submitted array $array and merge ${merge%%;*}; see: $netloom study status $folder"
    exit
fi
exec @srun@"$netloom" run "$file" -o "$folder"@mpi@ --shard auto \
    --threads "${SLURM_CPUS_PER_TASK:-1}" --progress plain@options@
