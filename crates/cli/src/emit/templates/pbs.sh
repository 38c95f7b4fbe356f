#!/bin/bash
# Runs a study as a PBS array job.
# Usage, in the folder where this file was generated:
#   bash @script@               submit the array, and a merge that runs after it
#   qsub @array@@script@        submit only the array; then: @program@ study merge @folder@
#   qsub -J 3-7:4 @script@      submit shards 3 and 7 again
# Finished runs are not repeated: after a failure, submit again.
# Edit these lines as needed; for another number of shards, generate a new script.
#PBS -N @name@
#PBS -l walltime=@time@
#PBS -l select=1:ncpus=@cpus@:mem=@mem@
@queue@#PBS -j oe
#PBS -r y
set -euo pipefail
cd "${PBS_O_WORKDIR:-.}"
export NETLOOM_SHARDS=@shards@
@start@
if [ -n "${NETLOOM_MERGE:-}" ]; then
    exec "$netloom" study merge "$folder"
elif [ -z "${PBS_JOBID:-}" ]; then
    array=$(qsub @array@"$0")
    # Merge even after a failure: the merge reports missing runs.
    merge=$(qsub -W "depend=afterany:$array" -N @name@-merge -v NETLOOM_MERGE=1 "$0")
    echo "submitted array $array and merge $merge; see: $netloom study status $folder"
    exit
fi
# A job that is not an array has the only shard.
export PBS_ARRAY_INDEX="${PBS_ARRAY_INDEX:-1}"
exec "$netloom" run "$file" -o "$folder" --shard auto \
    --threads @cpus@ --progress plain@options@
