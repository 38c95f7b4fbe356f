//! Ranks that are threads of one process: the reference for MPI, and a way to test runs over ranks
//! without it.

use std::sync::mpsc::{Receiver, Sender, channel};

use crate::Ranks;

/// Channels to and from another rank.
type Channels = (Sender<Vec<u8>>, Receiver<Vec<u8>>);

/// One of several threads that act as processes.
pub struct ThreadRank {
    rank: usize,
    /// Channels to and from each rank; those to itself are not used.
    channels: Vec<Channels>,
}

impl ThreadRank {
    /// Creates `size` ranks, each for a separate thread.
    pub fn several(size: usize) -> Vec<ThreadRank> {
        let mut senders: Vec<Vec<_>> = Vec::new();
        let mut receivers: Vec<Vec<_>> = (0..size).map(|_| Vec::new()).collect();
        for _ in 0..size {
            let (to, from): (Vec<_>, Vec<_>) = (0..size).map(|_| channel()).unzip();
            senders.push(to);
            // Channel r of the sender ends at rank r.
            for (receiver, channel) in receivers.iter_mut().zip(from) {
                receiver.push(channel);
            }
        }
        let channels = senders.into_iter().zip(receivers);
        let ranks = channels.enumerate().map(|(rank, (to, from))| ThreadRank {
            rank,
            channels: to.into_iter().zip(from).collect(),
        });
        ranks.collect()
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let rank = self.rank;
        (0..self.channels.len()).filter(move |&other| other != rank)
    }
}

const GONE: &str = "a rank is gone";

impl Ranks for ThreadRank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.channels.len()
    }

    fn exchange(&mut self, with: &[usize], to: &mut [Vec<u8>], from: &mut [Vec<u8>]) {
        for &other in with {
            // The bytes of the last exchange are not needed, but their capacity is.
            let mut free = std::mem::take(&mut from[other]);
            free.clear();
            let bytes = std::mem::replace(&mut to[other], free);
            self.channels[other].0.send(bytes).expect(GONE);
        }
        for &other in with {
            from[other] = self.channels[other].1.recv().expect(GONE);
        }
    }

    fn least(&mut self, number: u64) -> u64 {
        let all = self.gather(&number.to_le_bytes());
        let number = |bytes: &Vec<u8>| {
            let bytes = bytes
                .as_slice()
                .try_into()
                .expect("a number of eight bytes");
            u64::from_le_bytes(bytes)
        };
        all.iter().map(number).min().expect("a rank at least")
    }

    fn collect(&mut self, bytes: &[u8], take: &mut dyn FnMut(&[u8])) {
        if self.rank > 0 {
            return self.channels[0].0.send(bytes.to_vec()).expect(GONE);
        }
        take(bytes);
        for other in self.others() {
            take(&self.channels[other].1.recv().expect(GONE));
        }
    }

    fn gather(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut to: Vec<_> = self.channels.iter().map(|_| bytes.to_vec()).collect();
        let mut from = vec![Vec::new(); self.channels.len()];
        let others: Vec<usize> = self.others().collect();
        self.exchange(&others, &mut to, &mut from);
        from[self.rank] = bytes.to_vec();
        from
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SharedRanks;

    #[test]
    fn every_rank_gets_the_merged_record() {
        for size in 1..=9 {
            let all = std::thread::scope(|scope| {
                let one = |rank: ThreadRank| {
                    let mine = 1u64 << rank.rank();
                    let ranks = SharedRanks::new(rank);
                    let twice = ranks.reduce(mine, |sum, other| *sum += other);
                    (
                        twice,
                        ranks.reduce(mine, |most, other| *most = (*most).max(*other)),
                    )
                };
                let start = |rank| scope.spawn(move || one(rank));
                let started: Vec<_> = ThreadRank::several(size).into_iter().map(start).collect();
                let ended = started.into_iter().map(|rank| rank.join().expect("a rank"));
                ended.collect::<Vec<_>>()
            });
            assert_eq!(all, vec![((1 << size) - 1, 1 << (size - 1)); size]);
        }
    }
}
