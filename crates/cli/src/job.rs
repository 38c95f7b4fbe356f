//! One run over the processes of an MPI job (`--mpi`).
//!
//! Every rank loads the same experiment and simulates its partitions; all are told of the whole fabric, and the first
//! one speaks and writes. A netloom that was built without the feature `mpi` has no ranks, and says so.

use netloom_experiment::Experiment;
use netloom_fabric::SharedRanks;

use super::Exit;
#[cfg(feature = "mpi")]
use super::machine;
use super::output::Output;

/// The processes that share a run, and which of them this one is; alone without MPI.
pub(crate) struct Job {
    ranks: Option<SharedRanks>,
    rank: usize,
    size: usize,
    /// Processes on this machine.
    size_here: usize,
    /// MPI ends when this goes.
    #[cfg(feature = "mpi")]
    _universe: Option<super::mpi_ranks::Universe>,
}

impl Job {
    /// Joins the job that this process was started in, if that was asked for.
    pub(crate) fn join(is_asked: bool, output: &Output) -> Result<Job, Exit> {
        match is_asked {
            true => Job::over_mpi(output),
            false => Ok(Job::alone()),
        }
    }

    /// One process that shares its run with nobody.
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
            "this netloom was built without MPI; with it: cargo build --release -p netloom-cli --features mpi",
        );
        Err(Exit::Usage)
    }

    #[cfg(feature = "mpi")]
    fn over_mpi(output: &Output) -> Result<Job, Exit> {
        let Some((universe, ranks)) = super::mpi_ranks::join() else {
            output.error("MPI does not start, or allows no threads");
            return Err(Exit::Failed);
        };
        let ranks = SharedRanks::new(ranks);
        let (rank, size) = {
            let ranks = ranks.lock();
            (ranks.rank(), ranks.size())
        };
        // Records have no names on their way: all must be of one version.
        let versions = ranks.gather(&env!("NETLOOM_VERSION").as_bytes().to_vec());
        if let Some(other) = versions.iter().position(|other| *other != versions[0]) {
            if rank == 0 {
                output.error(&format!(
                    "rank {other} runs netloom {}, rank 0 runs {}",
                    String::from_utf8_lossy(&versions[other]),
                    env!("NETLOOM_VERSION")
                ));
            }
            return Err(Exit::Failed);
        }
        let hosts = ranks.gather(&machine::host().unwrap_or_default().into_bytes());
        let size_here = hosts.iter().filter(|host| **host == hosts[rank]).count();
        Ok(Job {
            ranks: Some(ranks),
            rank,
            size,
            size_here,
            _universe: Some(universe),
        })
    }

    /// The others, if there are any.
    pub(crate) fn ranks(&self) -> Option<&SharedRanks> {
        self.ranks.as_ref()
    }

    /// How many processes there are.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// How many of them are on this machine, and share its memory.
    pub(crate) fn size_here(&self) -> usize {
        self.size_here
    }

    /// Whether this process speaks and writes for all.
    pub(crate) fn leads(&self) -> bool {
        self.rank == 0
    }

    /// Whether something is true of all processes. Where it is not, all of them end: who went on would wait for ever.
    pub(crate) fn all(&self, mine: bool) -> bool {
        let least = |ranks: &SharedRanks| ranks.lock().least(u64::from(mine));
        self.ranks.as_ref().map_or(mine, |ranks| least(ranks) == 1)
    }

    /// Whether each process has a partition to run.
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

    /// Sums of numbers that each process has.
    pub(crate) fn sums<const N: usize>(&self, mine: [u64; N]) -> [u64; N] {
        let Some(ranks) = &self.ranks else {
            return mine;
        };
        let all = ranks.gather(&mine);
        std::array::from_fn(|at| all.iter().map(|numbers| numbers[at]).sum())
    }
}
