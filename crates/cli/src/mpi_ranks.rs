//! Ranks over MPI.

use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::datatype::PartitionMut;
use mpi::point_to_point::Status;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use netloom_fabric::Ranks;

pub(crate) use mpi::environment::Universe;

/// Tag of messages of a window.
const WINDOW: mpi::Tag = 1;
/// Tag of results for the first rank.
const RESULTS: mpi::Tag = 2;

/// The processes of the job. Each call gets the communicator again, because its handle cannot move
/// between threads.
pub(crate) struct MpiRanks {
    rank: usize,
    size: usize,
}

/// Starts MPI in a mode where any thread may call it, one at a time.
pub(crate) fn join() -> Option<(Universe, MpiRanks)> {
    let (universe, threading) = mpi::initialize_with_threading(Threading::Serialized)?;
    let world = universe.world();
    let ranks = MpiRanks {
        rank: world.rank() as usize,
        size: world.size() as usize,
    };
    (threading >= Threading::Serialized).then_some((universe, ranks))
}

/// Returns the size of a probed message in bytes.
fn length(status: Status) -> usize {
    status.count(u8::equivalent_datatype()) as usize
}

impl Ranks for MpiRanks {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn exchange(&mut self, with: &[usize], to: &mut [Vec<u8>], from: &mut [Vec<u8>]) {
        let world = SimpleCommunicator::world();
        mpi::request::multiple_scope(with.len(), |scope, requests| {
            for &other in with {
                let process = world.process_at_rank(other as i32);
                requests.add(process.immediate_send_with_tag(scope, &to[other][..], WINDOW));
            }
            for &other in with {
                let process = world.process_at_rank(other as i32);
                let (message, status) = process.matched_probe_with_tag(WINDOW);
                from[other].resize(length(status), 0);
                message.matched_receive_into(&mut from[other][..]);
            }
            requests.wait_all(&mut Vec::new());
        });
        to.iter_mut().for_each(Vec::clear);
    }

    fn least(&mut self, number: u64) -> u64 {
        let mut least = 0;
        let world = SimpleCommunicator::world();
        world.all_reduce_into(&number, &mut least, SystemOperation::min());
        least
    }

    fn collect(&mut self, bytes: &[u8], take: &mut dyn FnMut(&[u8])) {
        let world = SimpleCommunicator::world();
        if self.rank > 0 {
            return world.process_at_rank(0).send_with_tag(bytes, RESULTS);
        }
        take(bytes);
        for other in 1..self.size {
            let process = world.process_at_rank(other as i32);
            let (message, status) = process.matched_probe_with_tag(RESULTS);
            let mut part = vec![0u8; length(status)];
            message.matched_receive_into(&mut part[..]);
            take(&part);
        }
    }

    fn gather(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let world = SimpleCommunicator::world();
        let mut counts = vec![0i32; self.size];
        let own = i32::try_from(bytes.len()).expect("less than 2 GiB per rank");
        world.all_gather_into(&own, &mut counts[..]);
        let starts: Vec<i32> = counts
            .iter()
            .scan(0, |next, count| {
                let start = *next;
                *next += count;
                Some(start)
            })
            .collect();
        let mut all = vec![0u8; counts.iter().map(|&count| count as usize).sum()];
        let mut parts = PartitionMut::new(&mut all[..], &counts[..], &starts[..]);
        world.all_gather_varcount_into(bytes, &mut parts);
        let mut rest = &all[..];
        counts
            .iter()
            .map(|&count| {
                let (own, others) = rest.split_at(count as usize);
                rest = others;
                own.to_vec()
            })
            .collect()
    }
}
