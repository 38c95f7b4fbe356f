//! A destination at a fixed distance.

use netloom_catalog::{Described, params};

use super::{Destinations, Pattern, Table, n_sources};
use crate::Context;

params! {
    /// Destination = source + offset, modulo the number of sources.
    #[derive(Clone, Debug)]
    pub struct Neighbour {
        /// Distance to the destination; negative for backwards.
        pub offset: i64 = 1,
    }
}

impl Described for Neighbour {
    const NAME: &'static str = "neighbour";
    const SUMMARY: &'static str = "Destination = source + offset, modulo the number of sources.";
    const PAPER: Option<&'static str> = Some(
        "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, table 3.1",
    );
    const EXAMPLE: &'static str = "offset = 1";
}

impl Pattern for Neighbour {
    fn prepare(&self, context: &Context<'_>) -> Result<Box<dyn Destinations>, String> {
        context.refuse_destinations(Self::NAME)?;
        let n = n_sources(context);
        let offset = self.offset.rem_euclid(i64::from(n)) as u64;
        if offset == 0 {
            return Err(format!(
                "with offset {} and {n} sources, each sends to itself; use an offset that is not a \
                 multiple of {n}",
                self.offset
            ));
        }
        Ok(Table::among_sources(context, |place| {
            ((u64::from(place) + offset) % u64::from(n)) as u32
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{map, prepare};
    use super::*;

    #[test]
    fn neighbours_wrap_around() {
        assert_eq!(map(&Neighbour { offset: 1 }, 4), [1, 2, 3, 0]);
        assert_eq!(map(&Neighbour { offset: -1 }, 4), [3, 0, 1, 2]);
        assert!(prepare(&Neighbour { offset: 8 }, 4).is_err());
        assert!(prepare(&Neighbour { offset: 1 }, 1).is_err());
    }
}
