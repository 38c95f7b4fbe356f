//! One run over the processes of an MPI job (`--mpi`).
//!
//! Every rank loads the same experiment and simulates its own partitions. All ranks know the whole
//! fabric; the first one prints and writes. Without the feature `mpi`, `--mpi` is an error.

use netloom_experiment::Experiment;
use netloom_fabric::SharedRanks;

use super::Exit;
use super::output::Output;

/// The processes that share a run, and the rank of this one; a single process without MPI.
pub(crate) struct Job {
    ranks: Option<SharedRanks>,
    rank: usize,
    size: usize,
    /// Processes on this machine.
    size_here: usize,
    /// Dropping it finalizes MPI.
    #[cfg(feature = "mpi")]
    _universe: Option<super::mpi_ranks::Universe>,
}

impl Job {
    /// Joins the MPI job of this process if `is_asked`.
    pub(crate) fn join(is_asked: bool, output: &Output) -> Result<Job, Exit> {
        match is_asked {
            true => Job::over_mpi(output),
            false => Ok(Job::alone()),
        }
    }

    /// Returns the job of a single process.
    pub(crate) fn alone() -> Job {
        Job {
            ranks: None,
            rank: 0,
            size: 1,
            size_here: 1,
            #[cfg(feature = "mpi")]
            _universe: None,
        }
    }

    #[cfg(not(feature = "mpi"))]
    fn over_mpi(output: &Output) -> Result<Job, Exit> {
        output.error(
            "this netloom was built without MPI; build it with: cargo build --release -p \
             netloom-cli --features mpi",
        );
        Err(Exit::Usage)
    }

    #[cfg(feature = "mpi")]
    fn over_mpi(output: &Output) -> Result<Job, Exit> {
        let Some((universe, ranks)) = super::mpi_ranks::join() else {
            output.error("cannot start MPI with support for threads");
            return Err(Exit::Failed);
        };
        let ranks = SharedRanks::new(ranks);
        let (rank, size) = {
            let ranks = ranks.lock();
            (ranks.rank(), ranks.size())
        };
        // Ranks exchange records without field names, so all must have the same version.
        let versions = ranks.gather(&env!("NETLOOM_VERSION").as_bytes().to_vec());
        if let Some(other) = versions.iter().position(|other| *other != versions[0]) {
            if rank == 0 {
                output.error(&format!(
                    "all ranks must run the same netloom: rank {other} runs {}, rank 0 runs {}",
                    String::from_utf8_lossy(&versions[other]),
                    env!("NETLOOM_VERSION")
                ));
            }
            return Err(Exit::Failed);
        }
        let hosts = ranks.gather(&netloom_results::host().unwrap_or_default().into_bytes());
        let size_here = hosts.iter().filter(|host| **host == hosts[rank]).count();
        Ok(Job {
            ranks: Some(ranks),
            rank,
            size,
            size_here,
            _universe: Some(universe),
        })
    }

    /// Returns the ranks of an MPI job.
    pub(crate) fn ranks(&self) -> Option<&SharedRanks> {
        self.ranks.as_ref()
    }

    /// Returns the number of processes.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Returns the number of processes on this machine, which share its memory.
    pub(crate) fn size_here(&self) -> usize {
        self.size_here
    }

    /// Returns whether this process prints and writes for all.
    pub(crate) fn leads(&self) -> bool {
        self.rank == 0
    }

    /// Returns whether `mine` is true in all processes. Otherwise all must end: one that continues
    /// would wait forever.
    pub(crate) fn all(&self, mine: bool) -> bool {
        let least = |ranks: &SharedRanks| ranks.lock().least(u64::from(mine));
        self.ranks.as_ref().map_or(mine, |ranks| least(ranks) == 1)
    }

    /// Checks that each process has a partition to run.
    pub(crate) fn has_work_for_all(
        &self,
        experiment: &Experiment,
        output: &Output,
    ) -> Result<(), Exit> {
        experiment.has_work_for(self.size).map_err(|why| {
            output.error(&why.to_string());
            Exit::Usage
        })
    }

    /// Returns the sums of `mine` over all processes.
    pub(crate) fn sums<const N: usize>(&self, mine: [u64; N]) -> [u64; N] {
        let Some(ranks) = &self.ranks else {
            return mine;
        };
        let all = ranks.gather(&mine);
        std::array::from_fn(|at| all.iter().map(|numbers| numbers[at]).sum())
    }
}
