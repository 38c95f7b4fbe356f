//! Fabrics with missing cables.

use netloom_random::{Purpose, Stream};
use netloom_units::{Port, SwitchId};

use crate::Pgft;

impl Pgft {
    /// Returns the cables up from the switches of a level, each by its lower end.
    pub fn cables_up(&self, level: usize) -> impl Iterator<Item = (SwitchId, Port)> + use<> {
        let first = self.first_switches();
        let up = self.n_down(level)..self.n_down(level) + self.n_up(level);
        (first[level - 1]..first[level]).flat_map(move |at| {
            up.clone()
                .map(move |port| (SwitchId(at), Port(port as u16)))
        })
    }

    /// Draws a fraction of the cables up from the switches of a level, rounded to a whole number.
    ///
    /// `nth` distinguishes several draws of one run. For a given seed, the cables of a smaller
    /// fraction are among those of a larger one.
    pub fn draw_cables_up(
        &self,
        level: usize,
        share: f64,
        nth: u32,
        seed: u64,
    ) -> Vec<(SwitchId, Port)> {
        let stream = Stream::new(seed, Purpose::Failure);
        let mut cables: Vec<_> = self.cables_up(level).zip(0u32..).collect();
        let n = (share * cables.len() as f64).round() as usize;
        cables.sort_by_cached_key(|&(_, cable)| {
            let draw = stream.draw([nth, cable, 0, 0]).0;
            (draw[0], draw[1], cable)
        });
        cables.truncate(n);
        cables.into_iter().map(|(cable, _)| cable).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Blueprint, ParallelFatTree, Peer, Structure, Topology};

    fn tree() -> Topology {
        let tree = ParallelFatTree {
            children: vec![4, 4, 3],
            parents: vec![1, 3, 2],
            links: vec![1, 2, 1],
        };
        tree.build(1).unwrap()
    }

    #[test]
    fn a_smaller_share_is_part_of_a_larger_one() {
        let whole = tree();
        let Structure::Tree(shape) = whole.structure() else {
            panic!("a tree");
        };
        // 12 leaves with 6 cables up.
        assert_eq!(shape.cables_up(1).count(), 72);
        let draw = |share, nth, seed| shape.draw_cables_up(1, share, nth, seed);
        assert_eq!(draw(0.0, 0, 1), []);
        assert_eq!(draw(1.0, 0, 1).len(), 72);
        let (small, large) = (draw(0.05, 0, 1), draw(0.2, 0, 1));
        assert_eq!((small.len(), large.len()), (4, 14));
        assert!(small.iter().all(|cable| large.contains(cable)));
        assert_ne!(small, draw(0.05, 1, 1));
        assert_ne!(small, draw(0.05, 0, 2));
    }

    #[test]
    fn both_ends_lose_a_cable_once() {
        let whole = tree();
        let (leaf, up) = (SwitchId(0), Port(5));
        let Peer::Switch(above, down) = whole.peer(leaf, up) else {
            panic!("a cable up");
        };
        let left = whole.without(&[(leaf, up), (above, down)]);
        assert_eq!(left.n_cables(), whole.n_cables() - 1);
        assert_eq!(left.peer(leaf, up), Peer::Unused);
        assert_eq!(left.peer(above, down), Peer::Unused);
        assert_eq!(left.structure(), whole.structure());
        let differing = whole.switches().flat_map(|at| {
            let changed = |port: &Port| whole.peer(at, *port) != left.peer(at, *port);
            whole
                .ports(at)
                .filter(changed)
                .map(move |port| (at, port))
                .collect::<Vec<_>>()
        });
        assert_eq!(differing.collect::<Vec<_>>(), [(leaf, up), (above, down)]);
    }
}
