//! Capacity of a fabric between its parts: oversubscription per level, and bisection.
//!
//! ```text
//!   level 2      ████████           oversubscription of level 1 = what the hosts below can send
//!                ││││││││ up                                     over what the cables up can carry
//!   level 1      ████████
//!                ││││││││││││││││ hosts
//! ```
//!
//! Only cables are counted, regardless of routing and traffic. So the numbers are upper bounds for
//! every routing.

use std::ops::Range;

use netloom_units::{Rate, SwitchId};

use crate::{Peer, Structure, Topology};

/// Capacity at one level of a fabric.
#[derive(Clone, PartialEq, Debug)]
pub struct Stage {
    /// The parts between which the cables run.
    pub name: String,
    /// Cables that leave the parts, counted at each part.
    pub cables: u64,
    /// What all hosts can send, as a multiple of the capacity of these cables; at most 1 if there
    /// is no oversubscription.
    pub oversubscription: f64,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Capacity {
    /// From the hosts outwards.
    pub stages: Vec<Stage>,
    /// What one half of the hosts can send to the other half, in each direction.
    pub bisection: Rate,
    /// Bisection as a fraction of what half of the hosts can send, at most 1.
    pub bisection_of_hosts: f64,
}

/// Returns the capacity of a fabric with links of these rates, in the order of
/// [`Topology::link_classes`]. `None` for a single switch and for fabrics without known structure,
/// for which the narrowest cut is hard to find.
pub fn capacity(topology: &Topology, rates: &[Rate]) -> Option<Capacity> {
    let rate = |switch, port| rates[usize::from(topology.link_class(switch, port))].0 as f64;
    let hosts: f64 = topology
        .nics()
        .map(|nic| topology.attachment(nic))
        .map(|(switch, port)| rate(switch, port))
        .sum();
    // Returns the number and total rate of the cables of these switches for which `crosses` holds.
    let sum_of = |switches: Range<u32>, crosses: &dyn Fn(SwitchId, SwitchId) -> bool| {
        let ports = switches
            .map(SwitchId)
            .flat_map(|s| topology.ports(s).map(move |p| (s, p)));
        let leaving = ports.filter(|&(switch, port)| match topology.peer(switch, port) {
            Peer::Switch(other, _) => crosses(switch, other),
            Peer::Nic(_) | Peer::Unused => false,
        });
        leaving.fold((0u64, 0.0), |(n, carried), (switch, port)| {
            (n + 1, carried + rate(switch, port))
        })
    };
    let sum =
        |crosses: &dyn Fn(SwitchId, SwitchId) -> bool| sum_of(0..topology.n_switches(), crosses);
    let stage_of = |name: String, (cables, carried): (u64, f64)| Stage {
        name,
        cables,
        oversubscription: hosts / carried,
    };
    let stage = |name, crosses: &dyn Fn(SwitchId, SwitchId) -> bool| stage_of(name, sum(crosses));
    let between_groups = |group: &dyn Fn(SwitchId) -> u32, n_groups: u32| {
        let stage = stage("between groups".into(), &|a, b| group(a) != group(b));
        let is_first = |switch| group(switch) < n_groups / 2;
        (stage, sum(&|a, b| is_first(a) && !is_first(b)).1)
    };
    if topology.n_switches() < 2 {
        return None;
    }
    let (stages, across) = match topology.structure() {
        Structure::Tree(tree) => {
            let first = tree.first_switches();
            let up = |below: usize| {
                let name = format!("between levels {below} and {}", below + 1);
                let above = first[below]..first[below + 1];
                let leads_up = |_, other: SwitchId| above.contains(&other.0);
                stage_of(name, sum_of(first[below - 1]..first[below], &leads_up))
            };
            let stages: Vec<Stage> = (1..tree.levels()).map(up).collect();
            let worst = stages
                .iter()
                .map(|s| s.oversubscription)
                .fold(1.0, f64::max);
            (stages, hosts / 2.0 / worst)
        }
        Structure::Grid(grid) => {
            let across = |dimension: usize| {
                let side = grid.sides[dimension];
                let before = grid.sides[..dimension].iter().map(|&side| u32::from(side));
                let stride: u32 = before.product();
                let is_first = |at: SwitchId| at.0 / stride % u32::from(side) < u32::from(side / 2);
                sum(&|a, b| is_first(a) && !is_first(b)).1
            };
            let sides = (0..grid.sides.len()).filter(|&d| grid.sides[d] > 1);
            (vec![], sides.map(across).fold(f64::INFINITY, f64::min))
        }
        Structure::Dragonfly(shape) => {
            let (stage, across) = between_groups(&|switch| shape.group(switch), shape.groups);
            (vec![stage], across)
        }
        Structure::Megafly(shape) => {
            let is_leaf = |switch| shape.index(switch) < shape.leaves;
            let up = stage("between leaves and spines".into(), &|a, b| {
                is_leaf(a) && !is_leaf(b)
            });
            let (stage, across) = between_groups(&|switch| shape.group(switch), shape.groups);
            (vec![up, stage], across)
        }
        Structure::Plain => return None,
    };
    if !across.is_finite() || across <= 0.0 {
        return None;
    }
    let half = hosts / 2.0;
    Some(Capacity {
        stages,
        bisection: Rate(across as u64),
        bisection_of_hosts: (across / half).min(1.0),
    })
}

impl Capacity {
    /// Returns pairs of a word and a phrase, for `check` and `show stats`.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![];
        if !self.stages.is_empty() {
            let stage = |stage: &Stage| {
                let times = format!("{:.2}", stage.oversubscription);
                let times = times.trim_end_matches('0').trim_end_matches('.');
                format!("{times}:1 {} ({} cables)", stage.name, stage.cables)
            };
            let stages: Vec<String> = self.stages.iter().map(stage).collect();
            let is_full = |stage: &Stage| stage.oversubscription < 1.000_001;
            let word = match self.stages.iter().all(is_full) {
                true => "not oversubscribed:",
                false => "oversubscribed:",
            };
            facts.push(("levels", format!("{word} {}", stages.join(", "))));
        }
        let sentence = match self.bisection_of_hosts {
            whole if whole > 0.999_999 => {
                format!(
                    "{} in each direction, all that half of the hosts can send",
                    self.bisection
                )
            }
            part => format!(
                "{} in each direction, {:.1} % of what half of the hosts can send",
                self.bisection,
                part * 100.0
            ),
        };
        facts.push(("bisection", sentence));
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Blueprint, Dragonfly, FatTree, ParallelFatTree, RandomRegular, Torus};
    use netloom_catalog::{Document, Notes, Params, Section};

    fn of<T: Blueprint + Params>(text: &str, rates: &[u64]) -> Option<Capacity> {
        let mut notes = Notes::new();
        let document = Document::parse("test", text, &mut notes);
        let mut section = Section::open(&document.root, &mut notes).unwrap();
        let topology = T::read(&mut section).unwrap().build(1).unwrap();
        let mut rates: Vec<Rate> = rates
            .iter()
            .map(|&gbps| Rate(gbps * 1_000_000_000))
            .collect();
        let last = rates[rates.len() - 1];
        rates.resize(topology.link_classes().len(), last);
        capacity(&topology, &rates)
    }

    #[test]
    fn a_full_tree_is_not_oversubscribed() {
        let tree = of::<FatTree>("arity = 4\nlevels = 3", &[100]).unwrap();
        let stages: Vec<(u64, f64)> = tree
            .stages
            .iter()
            .map(|s| (s.cables, s.oversubscription))
            .collect();
        assert_eq!(stages, [(64, 1.0), (64, 1.0)]);
        assert_eq!(
            (tree.bisection, tree.bisection_of_hosts),
            (Rate(3_200_000_000_000), 1.0)
        );
        let facts = tree.facts();
        let levels = "not oversubscribed: 1:1 between levels 1 and 2 (64 cables), 1:1 between \
            levels 2 and \
             3 (64 cables)";
        assert_eq!(facts[0].1, levels);
    }

    #[test]
    fn half_the_cables_up_are_two_to_one() {
        // 8 hosts on each of 4 leaves, 4 roots.
        let text = "children = [8, 4]\nparents = [1, 4]";
        let tree = of::<ParallelFatTree>(text, &[100]).unwrap();
        assert_eq!(
            (tree.stages[0].cables, tree.stages[0].oversubscription),
            (16, 2.0)
        );
        assert_eq!(
            (tree.bisection, tree.bisection_of_hosts),
            (Rate(800_000_000_000), 0.5)
        );
        let facts = tree.facts();
        assert_eq!(
            facts[0].1,
            "oversubscribed: 2:1 between levels 1 and 2 (16 cables)"
        );
        assert_eq!(
            facts[1].1,
            "800 Gbps in each direction, 50.0 % of what half of the hosts can send"
        );
        // Cables of twice the rate compensate.
        let tree = of::<ParallelFatTree>(text, &[100, 200]).unwrap();
        assert_eq!(
            (tree.stages[0].oversubscription, tree.bisection_of_hosts),
            (1.0, 1.0)
        );
    }

    #[test]
    fn rings_are_cut_twice_and_groups_between_halves() {
        // Four rings of 4 switches along each dimension, each cut at two places.
        let torus = of::<Torus>("sides = [4, 4]\nhosts = 2", &[100]).unwrap();
        assert_eq!(torus.bisection, Rate(800_000_000_000));
        assert_eq!(torus.bisection_of_hosts, 0.5);
        // 9 groups with 8 global ports and 8 hosts each; 4 x 5 pairs of groups, one cable each.
        let dragonfly = of::<Dragonfly>("hosts = 2\nswitches = 4\nglobals = 2", &[100]).unwrap();
        assert_eq!(
            (
                dragonfly.stages[0].cables,
                dragonfly.stages[0].oversubscription
            ),
            (72, 1.0)
        );
        assert_eq!(dragonfly.bisection, Rate(2_000_000_000_000));
        assert!(of::<RandomRegular>("switches = 8\ndegree = 3\nhosts = 1", &[100]).is_none());
    }
}
