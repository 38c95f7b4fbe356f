#!/bin/bash
# Runs a study as an LSF array job.
# Usage, in the folder where this file was generated:
#   bash @script@                             submit the array, and a merge that runs after it
#   bsub < @script@                           submit only the array; then: @program@ study merge @folder@
#   bsub -J "@name@[3,7]" < @script@          submit two of the shards again
# Finished runs are not repeated: after a failure, submit again.
# Edit these lines as needed; for another number of shards, generate a new script.
#BSUB -J "@name@[1-@shards@]"
#BSUB -W @time@
#BSUB -n @cpus@
#BSUB -R "span[hosts=1]"
#BSUB -M @mem@
@queue@#BSUB -o @name@-%J_%I.log
#BSUB -r
set -euo pipefail
export NETLOOM_SHARDS=@shards@
@start@
if [ -n "${NETLOOM_MERGE:-}" ]; then
    exec "$netloom" study merge "$folder"
elif [ -z "${LSB_JOBID:-}" ]; then
    # LSF answers: Job <123> is submitted to queue <normal>.
    array=$(bsub <"$0")
    array=${array#*<}
    array=${array%%>*}
    # Merge even after a failure: the merge reports missing runs.
    merge=$(NETLOOM_MERGE=1 bsub -J @name@-merge -n 1 -w "ended($array)" <"$0")
    merge=${merge#*<}
    echo "submitted array $array and merge ${merge%%>*}; see: $netloom study status $folder"
    exit
fi
exec "$netloom" run "$file" -o "$folder" --shard auto \
    --threads @cpus@ --progress plain@options@
