//! Binary hypercubes: grids of side 2 in every dimension.

use netloom_catalog::{Described, params};

use crate::blueprint::{Problems, note, refuse, too_large};
use crate::{Blueprint, Grid, Topology};

params! {
    /// A hypercube: 2^d switches, with a cable between two whose numbers differ in one bit.
    #[derive(Clone, Debug)]
    pub struct Hypercube {
        /// Dimensions, that is, cables of each switch to other switches.
        pub dimensions: u32,
        /// NICs of each switch.
        pub hosts: u16 = 1,
    }
    check |it, section| { note(it.problems(), section); }
}

impl Hypercube {
    fn problems(&self) -> Problems {
        let mut problems = Problems::new();
        if !(1..=24).contains(&self.dimensions) {
            problems.push((
                "dimensions",
                format!("expected 1 to 24 dimensions, found {}", self.dimensions),
            ));
        }
        if self.hosts == 0 {
            problems.push(("hosts", "expected at least one NIC per switch".into()));
        }
        if problems.is_empty() {
            let n_ports = u64::from(self.hosts) + u64::from(self.dimensions);
            problems = too_large("dimensions", Some(1 << self.dimensions), n_ports);
        }
        problems
    }
}

impl Blueprint for Hypercube {
    fn build(&self, _seed: u64) -> Result<Topology, String> {
        refuse(self.problems())?;
        let grid = Grid {
            sides: vec![2; self.dimensions as usize],
            wraps: false,
            trunk: 1,
            hosts: self.hosts,
        };
        Ok(grid.build(true))
    }

    fn n_nics(&self) -> Option<u64> {
        2u64.checked_pow(self.dimensions)?
            .checked_mul(u64::from(self.hosts))
    }

    fn n_ports(&self) -> Option<u64> {
        let radix = u64::from(self.hosts) + u64::from(self.dimensions);
        2u64.checked_pow(self.dimensions)?.checked_mul(radix)
    }
}

impl Described for Hypercube {
    const NAME: &'static str = "hypercube";
    const SUMMARY: &'static str =
        "2^d switches, with a cable between two whose numbers differ in one bit.";
    const EXAMPLE: &'static str = "dimensions = 4\nhosts = 4";
}
