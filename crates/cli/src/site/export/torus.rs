//! `netloom site export torus`: the shape of a torus or mesh, for torus-2QoS.

use anyhow::{Context, bail};
use clap::Args;
use netloom_experiment::spec::Wiring;
use netloom_infiniband::opensm::export::{TorusDimension, TorusSeed, torus_2qos_conf};
use netloom_infiniband::{Guid, Site};
use netloom_topology::{Grid, Peer, Structure, Topology};
use netloom_units::SwitchId;

use super::{OneFile, subnet};

#[derive(Args)]
#[command(after_help = "Examples:
  netloom site export torus torus.toml -o torus-2QoS.conf
  netloom site export torus site.toml --sides 5x5 --switch s00 --next s10,s01
  netloom site export torus site.toml --sides 4x4x4m --switch s000 \\
      --next s100,s010,s001 --previous s300,s030 -o torus-2QoS.conf

The shape of a generated torus or mesh is known. For a real site, give the number of switches per \
dimension (with m for a dimension without wrap-around), one switch, and its neighbours along x, y \
and z. Rings of 4 need the neighbours in both directions.")]
pub(crate) struct Torus {
    #[command(flatten)]
    pub(super) file: OneFile,
    /// Number of switches per dimension, such as 5x5 or 4x4x2m.
    #[arg(long, value_name = "AxBxC", requires = "switch", requires = "next")]
    sides: Option<String>,
    /// First switch, by name or GUID.
    #[arg(long, value_name = "SWITCH", requires = "sides")]
    switch: Option<String>,
    /// Its neighbours in the positive direction of each dimension.
    #[arg(
        long,
        value_name = "SWITCH,…",
        value_delimiter = ',',
        requires = "sides"
    )]
    next: Vec<String>,
    /// Its neighbours in the negative direction.
    #[arg(
        long,
        value_name = "SWITCH,…",
        value_delimiter = ',',
        requires = "sides"
    )]
    previous: Vec<String>,
}

impl Torus {
    pub(super) fn text(&self, wiring: &Wiring) -> anyhow::Result<String> {
        let topology = &wiring.topology;
        let site = subnet(topology)?;
        let (sides, seed) = match (&self.sides, topology.structure()) {
            (Some(sides), _) => (dimensions(sides)?, self.seed_of(topology, &site)?),
            (None, Structure::Grid(grid)) => (of_grid(grid)?, seed_in(grid, topology, &site)),
            (None, other) => bail!(
                "the shape of {} is not known; add --sides, --switch and --next",
                other.fabric()
            ),
        };
        Ok(torus_2qos_conf(sides, &[seed]))
    }

    fn seed_of(&self, topology: &Topology, site: &Site) -> anyhow::Result<TorusSeed> {
        let find = |name: &String| {
            let mut switches = topology.switches();
            let is_it = |switch: &SwitchId| {
                topology.switch_name(*switch) == *name || guid(site, *switch).to_string() == *name
            };
            switches
                .find(is_it)
                .with_context(|| format!("no switch is named `{name}`"))
        };
        let seed = find(self.switch.as_ref().context("--sides needs --switch")?)?;
        let along = |names: &[String]| -> anyhow::Result<[Option<Guid>; 3]> {
            if names.len() > 3 {
                bail!("expected at most 3 neighbours, found {}", names.len());
            }
            let mut found = [None; 3];
            for (place, name) in found.iter_mut().zip(names) {
                let there = find(name)?;
                let is_neighbour = |port| matches!(topology.peer(seed, port), Peer::Switch(other, _) if other == there);
                if !topology.ports(seed).any(is_neighbour) {
                    bail!(
                        "there is no cable from {} to {name}",
                        topology.switch_name(seed)
                    );
                }
                *place = Some(guid(site, there));
            }
            Ok(found)
        };
        Ok(TorusSeed {
            switch: guid(site, seed),
            next: along(&self.next)?,
            previous: along(&self.previous)?,
        })
    }
}

fn guid(site: &Site, switch: SwitchId) -> Guid {
    site.subnet.nodes[site.switches[switch.index()].index()].guid
}

/// An unused dimension.
const NONE: TorusDimension = TorusDimension {
    radix: 1,
    is_ring: false,
};

fn dimensions(text: &str) -> anyhow::Result<[TorusDimension; 3]> {
    let mut sides = [NONE; 3];
    let parts: Vec<&str> = text.split('x').collect();
    if parts.len() > 3 {
        bail!(
            "expected at most 3 dimensions, found {} in `{text}`",
            parts.len()
        );
    }
    for (side, part) in sides.iter_mut().zip(parts) {
        let number = part.trim_end_matches(['m', 't']);
        let radix = number.parse::<u16>().ok().filter(|radix| *radix >= 1);
        let radix = radix.with_context(|| {
            format!("expected a number of switches such as 5 or 5m, found `{part}`")
        })?;
        *side = TorusDimension {
            radix,
            is_ring: radix > 2 && !part.ends_with('m'),
        };
    }
    Ok(sides)
}

fn of_grid(grid: &Grid) -> anyhow::Result<[TorusDimension; 3]> {
    if grid.sides.len() > 3 {
        bail!("expected at most 3 dimensions, found {}", grid.sides.len());
    }
    let mut sides = [NONE; 3];
    for (dimension, (side, radix)) in sides.iter_mut().zip(&grid.sides).enumerate() {
        *side = TorusDimension {
            radix: *radix,
            is_ring: grid.is_ring(dimension),
        };
    }
    Ok(sides)
}

/// Returns the first switch and its neighbours.
fn seed_in(grid: &Grid, topology: &Topology, site: &Site) -> TorusSeed {
    let first = SwitchId(0);
    let neighbour = |dimension: usize, is_positive: bool| {
        if grid.sides.get(dimension).is_none_or(|side| *side < 2) {
            return None;
        }
        match topology.peer(first, grid.port(dimension, is_positive, 0)) {
            Peer::Switch(there, _) => Some(guid(site, there)),
            _ => None,
        }
    };
    TorusSeed {
        switch: guid(site, first),
        next: [0, 1, 2].map(|dimension| neighbour(dimension, true)),
        // Only rings of four need the neighbours in both directions.
        previous: [0, 1, 2].map(|dimension| {
            let is_needed = grid.sides.get(dimension) == Some(&4) && grid.is_ring(dimension);
            is_needed.then(|| neighbour(dimension, false)).flatten()
        }),
    }
}
