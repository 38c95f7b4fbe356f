//! Meshes and tori of switches, with trunks of parallel cables.

use std::fmt;

use netloom_catalog::{Described, params};
use netloom_units::{Port, SwitchId};

use crate::blueprint::{Problems, note, refuse, too_large};
use crate::{Blueprint, Builder, Structure, Topology};

/// A grid of switches.
///
/// Numbering: switch = x + sides\[0\] * (y + sides\[1\] * (z + …)); NIC = switch * hosts + host.
///
/// Ports: the hosts come first. Each dimension then has a slot of `trunk` ports in positive
/// direction and one in negative direction. A dimension of side 2 has a single slot, also in a
/// torus, because its two switches share one trunk; one of side 1 has none. At the border of a mesh
/// the outward ports are unused.
/// torus), one of side 1 has none. At the border of a mesh the outward ports are unused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    /// Switches along each dimension.
    pub sides: Vec<u16>,
    /// Whether each dimension of side 3 or more wraps around to a ring.
    pub wraps: bool,
    pub trunk: u16,
    pub hosts: u16,
}

impl Grid {
    pub fn n_switches(&self) -> u64 {
        self.sides.iter().map(|&s| u64::from(s)).product()
    }

    /// Returns the number of ports of a switch in one dimension.
    fn n_ports_along(&self, dimension: usize) -> u16 {
        self.trunk * self.sides[dimension].saturating_sub(1).min(2)
    }

    /// Returns the first port of a dimension: member 0 in positive direction.
    pub fn first_port(&self, dimension: usize) -> u16 {
        let before: u16 = (0..dimension).map(|d| self.n_ports_along(d)).sum();
        self.hosts + before
    }

    /// Returns the port of a trunk member in a direction (`true` = positive).
    pub fn port(&self, dimension: usize, positive: bool, member: u16) -> Port {
        let slot = u16::from(!positive && self.sides[dimension] > 2);
        Port(self.first_port(dimension) + slot * self.trunk + member)
    }

    /// Whether a dimension is a ring.
    pub fn is_ring(&self, dimension: usize) -> bool {
        self.wraps && self.sides[dimension] > 2
    }

    /// Returns the number of ports of every switch.
    pub fn n_ports(&self) -> u16 {
        self.first_port(self.sides.len())
    }

    /// Returns the coordinates of a switch.
    pub fn coordinates(&self, switch: SwitchId) -> Vec<u16> {
        let mut rest = switch.0;
        let along = self.sides.iter().map(|&side| {
            let digit = rest % u32::from(side);
            rest /= u32::from(side);
            digit as u16
        });
        along.collect()
    }

    pub(crate) fn build(self, one_class: bool) -> Topology {
        let mut builder = Builder::new(classes(self.sides.len(), one_class));
        let n_switches = self.n_switches() as u32;
        builder.switches(n_switches, self.n_ports());
        for switch in (0..n_switches).map(SwitchId) {
            for host in 0..self.hosts {
                builder.nic((switch, Port(host)), 0);
            }
        }
        for switch in (0..n_switches).map(SwitchId) {
            let place = self.coordinates(switch);
            let mut stride = 1u32;
            for (dimension, &side) in self.sides.iter().enumerate() {
                let is_last = place[dimension] == side - 1;
                // Each switch connects the trunk to its positive neighbour.
                let neighbour = match is_last {
                    false => Some(switch.0 + stride),
                    true if self.is_ring(dimension) => {
                        Some(switch.0 - stride * (u32::from(side) - 1))
                    }
                    true => None,
                };
                if let Some(neighbour) = neighbour {
                    let class = if one_class { 1 } else { dimension as u8 + 1 };
                    for member in 0..self.trunk {
                        builder.connect(
                            (switch, self.port(dimension, true, member)),
                            (SwitchId(neighbour), self.port(dimension, false, member)),
                            class,
                        );
                    }
                }
                stride *= u32::from(side);
            }
        }
        builder.finish(Structure::Grid(self))
    }
}

fn classes(dimensions: usize, one_class: bool) -> Vec<String> {
    if one_class {
        return vec!["host".into(), "switch".into()];
    }
    let names = (0..dimensions).map(|d| match d {
        0..3 => ["x", "y", "z"][d].to_owned(),
        _ => format!("dimension-{}", d + 1),
    });
    std::iter::once("host".to_owned()).chain(names).collect()
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sides: Vec<String> = self.sides.iter().map(u16::to_string).collect();
        let word = if self.wraps { "torus" } else { "mesh" };
        write!(f, "{} {word}", sides.join("x"))
    }
}

/// Returns the mistakes in the numbers of a grid.
fn problems(sides: &[u16], hosts: u16, trunk: u16) -> Problems {
    let mut problems = Problems::new();
    if !(1..=32).contains(&sides.len()) {
        problems.push((
            "sides",
            "expected 1 to 32 dimensions, one number each".into(),
        ));
    }
    if sides.contains(&0) {
        problems.push(("sides", "expected sides of at least 1".into()));
    }
    if hosts == 0 {
        problems.push(("hosts", "expected at least one NIC per switch".into()));
    }
    if trunk == 0 {
        problems.push(("trunk", "expected at least one cable per trunk".into()));
    }
    if !problems.is_empty() {
        return problems;
    }
    too_large("sides", n_switches(sides), radix(sides, hosts, trunk))
}

/// Returns the number of ports of a switch in the middle of the grid.
fn radix(sides: &[u16], hosts: u16, trunk: u16) -> u64 {
    let slots = sides.iter().map(|&side| u64::from(side.max(1) - 1).min(2));
    u64::from(hosts) + slots.sum::<u64>() * u64::from(trunk)
}

fn n_switches(sides: &[u16]) -> Option<u64> {
    sides
        .iter()
        .try_fold(1u64, |product, &s| product.checked_mul(u64::from(s)))
}

macro_rules! grid_kind {
    ($name:ident, $wraps:literal) => {
        impl $name {
            fn problems(&self) -> Problems {
                problems(&self.sides, self.hosts, self.trunk)
            }
        }

        impl Blueprint for $name {
            fn build(&self, _seed: u64) -> Result<Topology, String> {
                refuse(self.problems())?;
                let grid = Grid {
                    sides: self.sides.clone(),
                    wraps: $wraps,
                    trunk: self.trunk,
                    hosts: self.hosts,
                };
                Ok(grid.build(false))
            }

            fn n_nics(&self) -> Option<u64> {
                n_switches(&self.sides)?.checked_mul(u64::from(self.hosts))
            }

            fn n_ports(&self) -> Option<u64> {
                n_switches(&self.sides)?.checked_mul(radix(&self.sides, self.hosts, self.trunk))
            }
        }
    };
}

params! {
    /// A mesh: a grid of switches, each cabled to its neighbours along every dimension.
    #[derive(Clone, Debug)]
    pub struct Mesh {
        /// Switches along each dimension.
        pub sides: Vec<u16>,
        /// NICs of each switch.
        pub hosts: u16 = 1,
        /// Parallel cables between neighbours.
        pub trunk: u16 = 1,
    }
    check |it, section| { note(it.problems(), section); }
}
grid_kind!(Mesh, false);

impl Described for Mesh {
    const NAME: &'static str = "mesh";
    const SUMMARY: &'static str = "A grid of switches with any number of dimensions.";
    const EXAMPLE: &'static str = "sides = [4, 4]\nhosts = 4";
}

params! {
    /// A torus: a mesh whose dimensions wrap around into rings.
    #[derive(Clone, Debug)]
    pub struct Torus {
        /// Switches along each dimension. A side of 2 has one trunk between its two switches, not
        /// two.
        pub sides: Vec<u16>,
        /// NICs of each switch.
        pub hosts: u16 = 1,
        /// Parallel cables between neighbours.
        pub trunk: u16 = 1,
    }
    check |it, section| { note(it.problems(), section); }
}
grid_kind!(Torus, true);

impl Described for Torus {
    const NAME: &'static str = "torus";
    const SUMMARY: &'static str = "A grid of switches whose dimensions wrap around into rings.";
    const EXAMPLE: &'static str = "sides = [4, 4]\nhosts = 2\ntrunk = 2";
}
