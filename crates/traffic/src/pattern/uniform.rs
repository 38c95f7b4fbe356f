//! Every other NIC with equal probability.

use netloom_catalog::{Described, params};
use netloom_random::Draw;
use netloom_units::NicId;

use super::{Destinations, Pattern};
use crate::Context;

params! {
    /// Each message goes to any other NIC (or any other of the class's destinations) with the same
    /// probability.
    #[derive(Clone, Debug)]
    pub struct Uniform {}
}

impl Described for Uniform {
    const NAME: &'static str = "uniform";
    const SUMMARY: &'static str = "Each message goes to any other NIC with the same probability.";
    const PAPER: Option<&'static str> =
        Some("Dally and Towles, Principles and Practices of Interconnection Networks, 2004, 3.2");
    const EXAMPLE: &'static str = "";
}

impl Pattern for Uniform {
    fn prepare(&self, context: &Context<'_>) -> Result<Box<dyn Destinations>, String> {
        let Some(destinations) = context.destinations else {
            if context.n_nics < 2 {
                return Err(format!(
                    "pattern \"uniform\" needs another NIC to send to, but the fabric has {}",
                    context.n_nics
                ));
            }
            return Ok(Box::new(AnyOther {
                n_nics: context.n_nics,
            }));
        };
        if context
            .sources
            .iter()
            .all(|&source| destinations == [source])
        {
            return Err(format!(
                "the only destination, {}, is the only source",
                destinations[0]
            ));
        }
        Ok(Box::new(AnyOtherOf {
            destinations: destinations.to_vec(),
        }))
    }
}

struct AnyOther {
    n_nics: u32,
}

impl Destinations for AnyOther {
    #[inline]
    fn destination(&self, nic: NicId, _number: u32, _cycle: u64, draw: Draw) -> Option<NicId> {
        let other = draw.below(2, self.n_nics - 1);
        Some(NicId(other + u32::from(other >= nic.0)))
    }

    fn is_fixed(&self) -> bool {
        self.n_nics == 2
    }
}

/// Any other of a few, which are in ascending order.
struct AnyOtherOf {
    destinations: Vec<NicId>,
}

impl Destinations for AnyOtherOf {
    fn destination(&self, nic: NicId, _number: u32, _cycle: u64, draw: Draw) -> Option<NicId> {
        let n = self.destinations.len() as u32;
        let at = match self.destinations.binary_search(&nic) {
            Ok(_) if n == 1 => return None,
            Ok(own) => {
                let other = draw.below(2, n - 1);
                other + u32::from(other as usize >= own)
            }
            Err(_) => draw.below(2, n),
        };
        Some(self.destinations[at as usize])
    }

    fn is_fixed(&self) -> bool {
        self.destinations.len() == 1
    }
}

#[cfg(test)]
mod tests {
    use netloom_random::{Purpose, Stream};

    use super::super::testing::{nics, prepare};
    use super::*;

    /// Returns how often `nic` draws each of `n` NICs in 10,000 messages per other NIC.
    fn counts(destinations: &dyn Destinations, n: u32, nic: u32) -> Vec<u32> {
        let stream = Stream::new(3, Purpose::Arrival);
        let mut counts = vec![0; n as usize];
        for number in 0..10_000 * (n - 1) {
            let draw = stream.draw([nic, 0, number, 0]);
            let to = destinations.destination(NicId(nic), number, 0, draw);
            counts[to.unwrap().index()] += 1;
        }
        counts
    }

    #[test]
    fn every_other_nic_is_as_likely() {
        let uniform = prepare(&Uniform {}, 6).unwrap();
        for nic in [0, 3, 5] {
            let counts = counts(&*uniform, 6, nic);
            assert_eq!(counts[nic as usize], 0);
            let others = counts.iter().filter(|n| (9_500..10_500).contains(*n));
            assert_eq!(others.count(), 5, "{counts:?}");
        }
        assert!(prepare(&Uniform {}, 1).is_err());
    }

    #[test]
    fn destinations_can_be_few() {
        let few = [NicId(1), NicId(4)];
        let context = |sources| Context {
            n_nics: 6,
            groups: &crate::NO_GROUPS,
            seed: 1,
            class: 0,
            sources,
            destinations: Some(&few),
            mean_flits: 1.0,
            cycles: &|_| 0,
        };
        let all = nics(6);
        let uniform = Uniform {}.prepare(&context(&all)).unwrap();
        assert_eq!(counts(&*uniform, 6, 1), [0, 0, 0, 0, 50_000, 0]);
        let from_outside = counts(&*uniform, 6, 0);
        assert!((24_500..25_500).contains(&from_outside[1]));
        assert_eq!(from_outside[1] + from_outside[4], 50_000);
    }
}
