//! Almost half-way around the ring, all in the same direction.

use netloom_catalog::{Described, params};

use super::{Destinations, Pattern, Table, n_sources};
use crate::Context;

params! {
    /// In every dimension of size k the destination is ceil(k/2) - 1 switches ahead. Minimal
    /// routing then loads one direction of each ring and leaves the other idle.
    ///
    /// Without `dimensions` all switches form one ring. The first dimension varies fastest.
    #[derive(Clone, Debug)]
    pub struct Tornado {
        /// Sizes of the dimensions, in switches; empty for one ring of all switches.
        pub dimensions: Vec<u32> = vec![],
        /// NICs per switch: a NIC sends to the NIC at the same position of the other switch.
        pub hosts: u32 = 1,
    }
    check |it, section| {
        if it.hosts == 0 {
            let place = section.place_of("hosts");
            section.notes.error("E0603", place, "a switch needs at least one NIC");
        }
        if it.dimensions.contains(&0) {
            let place = section.place_of("dimensions");
            section.notes.error("E0603", place, "a dimension cannot have size 0");
        }
    }
}

impl Described for Tornado {
    const NAME: &'static str = "tornado";
    const SUMMARY: &'static str =
        "Almost half-way around the ring, all in one direction: ceil(k/2) - 1 switches ahead.";
    const PAPER: Option<&'static str> = Some(
        "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, table 3.1",
    );
    const EXAMPLE: &'static str = "";
}

impl Pattern for Tornado {
    fn prepare(&self, context: &Context<'_>) -> Result<Box<dyn Destinations>, String> {
        context.refuse_destinations(Self::NAME)?;
        let n = n_sources(context);
        if !n.is_multiple_of(self.hosts) {
            return Err(format!(
                "pattern \"tornado\" has {} NICs per switch, but {n} sources are not a multiple of \
                 that",
                self.hosts
            ));
        }
        let n_switches = n / self.hosts;
        let dimensions = match &self.dimensions[..] {
            [] => vec![n_switches],
            given => given.to_vec(),
        };
        let product: u64 = dimensions.iter().map(|&k| u64::from(k)).product();
        if product != u64::from(n_switches) {
            return Err(format!(
                "the dimensions of pattern \"tornado\" have {product} switches, but the class has \
                 {n_switches} ({n} sources, {} per switch)",
                self.hosts
            ));
        }
        if dimensions.iter().all(|&k| k < 3) {
            return Err("pattern \"tornado\" needs a ring of at least 3 switches".to_owned());
        }
        Ok(Table::among_sources(context, |place| {
            let (mut switch, host) = (place / self.hosts, place % self.hosts);
            let (mut to, mut stride) = (0, 1);
            for &k in &dimensions {
                to += (switch % k + k.div_ceil(2) - 1) % k * stride;
                switch /= k;
                stride *= k;
            }
            to * self.hosts + host
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{is_bijection, map, prepare};
    use super::*;

    fn tornado(dimensions: &[u32], hosts: u32) -> Tornado {
        Tornado {
            dimensions: dimensions.to_vec(),
            hosts,
        }
    }

    #[test]
    fn rings_by_hand() {
        assert_eq!(map(&tornado(&[], 1), 8), [3, 4, 5, 6, 7, 0, 1, 2]);
        assert_eq!(map(&tornado(&[], 1), 5), [2, 3, 4, 0, 1]);
        // Two NICs per switch: switch 0 sends to switch 1 of 4.
        assert_eq!(map(&tornado(&[], 2), 8), [2, 3, 4, 5, 6, 7, 0, 1]);
        // An 8x4 torus: (0, 0) to (3, 1).
        let torus = map(&tornado(&[8, 4], 1), 32);
        assert_eq!(torus[0], 3 + 8);
        assert!(is_bijection(&torus));
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        assert!(prepare(&tornado(&[], 1), 2).is_err());
        assert!(prepare(&tornado(&[8, 8], 1), 32).is_err());
        assert!(prepare(&tornado(&[], 3), 32).is_err());
    }
}
