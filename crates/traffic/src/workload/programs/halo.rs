//! The exchange of boundaries between neighbours on a grid.

use super::{Builder, Rank};

/// Neighbours in a three-dimensional box exchange their common faces, edges and corners.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Halo {
    /// Ranks along each dimension; rank `x + grid[0] * (y + grid[1] * z)` is at (x, y, z).
    pub grid: [u32; 3],
    /// Whether the grid wraps around.
    pub is_periodic: bool,
    /// Bytes to a neighbour with a common face, with a common edge, with a common corner; `None`
    /// for no message.
    pub bytes: [Option<u32>; 3],
}

impl Halo {
    /// Makes every rank send all messages to its neighbours, then receive theirs, both in the same
    /// order of neighbours. Around a short ring two ranks can be neighbours in several ways, with a
    /// message for each. No rank is its own neighbour.
    pub fn exchange(&self, builder: &mut Builder) {
        let [x, y, z] = self.grid;
        for rank in 0..x * y * z {
            let rank = Rank(rank);
            for (neighbour, bytes) in self.neighbours(rank) {
                builder.send(rank, neighbour, bytes);
            }
            for (neighbour, _) in self.neighbours(rank) {
                builder.receive(rank, neighbour);
            }
        }
    }

    /// Returns the neighbours of a rank and the bytes for each.
    fn neighbours(&self, rank: Rank) -> impl Iterator<Item = (Rank, u32)> {
        let [nx, ny, _] = self.grid;
        let at = [rank.0 % nx, rank.0 / nx % ny, rank.0 / nx / ny];
        OFFSETS.iter().filter_map(move |offset| {
            let n_differing = offset.iter().filter(|step| **step != 0).count();
            let bytes = self.bytes[n_differing - 1]?;
            let mut to = [0; 3];
            for dimension in 0..3 {
                let (own, n) = (i64::from(at[dimension]), i64::from(self.grid[dimension]));
                let moved = own + i64::from(offset[dimension]);
                if !self.is_periodic && !(0..n).contains(&moved) {
                    return None;
                }
                to[dimension] = moved.rem_euclid(n) as u32;
            }
            let to = Rank(to[0] + nx * (to[1] + ny * to[2]));
            (to != rank).then_some((to, bytes))
        })
    }
}

/// The offsets of all 26 neighbours, in the order of (z, y, x).
const OFFSETS: [[i8; 3]; 26] = {
    let mut offsets = [[0; 3]; 26];
    let (mut at, mut number) = (0, 0);
    while number < 27 {
        // The 14th is the rank itself.
        if number != 13 {
            offsets[at] = [
                (number % 3) as i8 - 1,
                (number / 3 % 3) as i8 - 1,
                (number / 9) as i8 - 1,
            ];
            at += 1;
        }
        number += 1;
    }
    offsets
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Programs, Step, play};
    use super::*;

    fn halo(grid: [u32; 3], is_periodic: bool, bytes: [u32; 3]) -> (Halo, Programs) {
        let halo = Halo {
            grid,
            is_periodic,
            bytes: bytes.map(|bytes| Some(bytes).filter(|bytes| *bytes > 0)),
        };
        let mut builder = Builder::new(grid.iter().product());
        halo.exchange(&mut builder);
        (halo, builder.repeat(1).unwrap())
    }

    fn sends(programs: &Programs, rank: u32) -> Vec<(u32, u32)> {
        let send = |step| match step {
            Step::Send { to, bytes } => Some((to.0, bytes)),
            Step::Receive { .. } => None,
        };
        programs.steps(Rank(rank)).filter_map(send).collect()
    }

    #[test]
    fn the_middle_of_27_has_six_faces_twelve_edges_and_eight_corners() {
        let (_, programs) = halo([3, 3, 3], false, [100, 10, 1]);
        let middle = sends(&programs, 13);
        for (bytes, n) in [(100, 6), (10, 12), (1, 8)] {
            assert_eq!(middle.iter().filter(|send| send.1 == bytes).count(), n);
        }
        // A corner has 3 faces, 3 edges and 1 corner; in the order of (z, y, x).
        let corner = [(1, 100), (3, 100), (4, 10), (9, 100), (10, 10), (12, 10)];
        assert_eq!(sends(&programs, 0)[..6], corner);
        assert_eq!(sends(&programs, 0)[6..], [(13, 1)]);
    }

    #[test]
    fn a_line_of_three_is_open_or_closed() {
        let (_, open) = halo([3, 1, 1], false, [8, 0, 0]);
        assert_eq!(sends(&open, 0), [(1, 8)]);
        assert_eq!(sends(&open, 1), [(0, 8), (2, 8)]);
        let (_, closed) = halo([3, 1, 1], true, [8, 0, 0]);
        assert_eq!(sends(&closed, 0), [(2, 8), (1, 8)]);
        // In a ring of two there are two connections to the other one.
        let (_, two) = halo([2, 1, 1], true, [8, 0, 0]);
        assert_eq!(sends(&two, 0), [(1, 8), (1, 8)]);
        let steps: Vec<Step> = two.steps(Rank(1)).collect();
        assert_eq!(
            steps[2..],
            [0, 1].map(|message| Step::Receive {
                from: Rank(0),
                message
            })
        );
    }

    proptest! {
        #[test]
        fn neighbours_agree_and_nobody_waits_long(
            x in 1u32..6, y in 1u32..6, z in 1u32..6,
            is_periodic: bool,
            faces_only: bool,
        ) {
            let small = if faces_only { 0 } else { 1 };
            let (halo, programs) = halo([x, y, z], is_periodic, [4, small, small]);
            // Neighbours are mutual, with the same number and bytes of messages.
            let n = x * y * z;
            let mut pairs: Vec<(u32, u32, u32)> = vec![];
            for rank in 0..n {
                pairs.extend(halo.neighbours(Rank(rank)).map(|(to, bytes)| (rank, to.0, bytes)));
            }
            let mut turned: Vec<_> = pairs.iter().map(|&(a, b, bytes)| (b, a, bytes)).collect();
            pairs.sort_unstable();
            turned.sort_unstable();
            prop_assert_eq!(&pairs, &turned);
            let end = play(&programs, |_| 1).unwrap().end;
            prop_assert_eq!(end, u64::from(!pairs.is_empty()));
            if is_periodic && x.min(y).min(z) >= 3 {
                let expected = if faces_only { 6 } else { 26 };
                prop_assert_eq!(pairs.len() as u32, n * expected);
            }
        }
    }
}
