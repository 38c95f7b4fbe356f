#!/bin/bash
# Runs an experiment over @ranks@ ranks of an MPI job under Slurm.
# Usage, in the folder where this file was generated:
#   bash @script@                   submit it
# It writes a checkpoint every ten minutes, and two minutes before its time limit. To resume after
# that, or after a failure, submit it again. The number of ranks does not affect results.
# Edit these lines as needed; --ntasks is the number of ranks, at most that of the switches.
#SBATCH --job-name=@name@
@resources@#SBATCH --output=@name@-%j.log
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=TERM@120
set -euo pipefail
@start@
if [ -z "${SLURM_JOB_ID:-}" ]; then
    exec sbatch "$0"
fi
exec @srun@"$netloom" run "$file" -o "$folder" --mpi@checkpoints@ \
    --threads "${SLURM_CPUS_PER_TASK:-1}" --progress plain@options@
