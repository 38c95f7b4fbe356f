//! Pairs listed in the file.

use netloom_catalog::{Described, params};
use netloom_random::Draw;
use netloom_units::NicId;

use super::{Destinations, Pattern};
use crate::{Context, NicSet};

params! {
    /// The listed sources send to the listed destinations. A source with several destinations draws
    /// one of them for each message; NICs that are not sources here send nothing.
    #[derive(Clone, Debug)]
    pub struct Pairs {
        /// Pairs of a source and a destination, as [source, destination].
        pub pairs: Vec<(u32, u32)>,
    }
    check |it, section| {
        let place = section.place_of("pairs");
        if it.pairs.is_empty() {
            let help = "use pairs = [[0, 4], [1, 5]]";
            section.notes.error("E0603", place, "the list of pairs is empty").help(help);
        }
        for (source, _) in it.pairs.iter().filter(|(source, destination)| source == destination) {
            section.notes.error("E0603", place, format!("NIC {source} is paired with itself"));
        }
    }
}

impl Described for Pairs {
    const NAME: &'static str = "pairs";
    const SUMMARY: &'static str = "Listed pairs of a source and a destination.";
    const EXAMPLE: &'static str = "pairs = [[0, 4], [1, 5], [1, 6]]";
}

impl Pattern for Pairs {
    fn prepare(&self, context: &Context<'_>) -> Result<Box<dyn Destinations>, String> {
        context.refuse_destinations(Self::NAME)?;
        let strangers: Vec<String> = self
            .pairs
            .iter()
            .filter(|&&(source, destination)| source.max(destination) >= context.n_nics)
            .map(|(source, destination)| format!("[{source}, {destination}]"))
            .collect();
        if !strangers.is_empty() {
            return Err(format!(
                "pairs {} do not fit in a fabric of {} NICs",
                strangers.join(", "),
                context.n_nics
            ));
        }
        if let Some((source, _)) = self
            .pairs
            .iter()
            .find(|(source, _)| context.sources.binary_search(&NicId(*source)).is_err())
        {
            return Err(format!("NIC {source} of the pairs is not in `sources`"));
        }
        let mut sorted = self.pairs.clone();
        sorted.sort_by_key(|&(source, _)| source);
        let starts = (0..=context.n_nics)
            .map(|nic| sorted.partition_point(|&(source, _)| source < nic) as u32)
            .collect();
        Ok(Box::new(Listed {
            starts,
            destinations: sorted.into_iter().map(|(_, to)| NicId(to)).collect(),
        }))
    }

    fn sets(&self) -> Vec<NicSet> {
        let both = self.pairs.iter().flat_map(|&(from, to)| [from, to]);
        vec![NicSet::List(both.map(NicId).collect())]
    }
}

/// The destinations of NIC `i` are at `starts[i]` to `starts[i + 1]`.
struct Listed {
    starts: Vec<u32>,
    destinations: Vec<NicId>,
}

impl Destinations for Listed {
    fn destination(&self, nic: NicId, _number: u32, _cycle: u64, draw: Draw) -> Option<NicId> {
        let (start, end) = (self.starts[nic.index()], self.starts[nic.index() + 1]);
        let at = start + draw.below(2, end - start);
        (start < end).then(|| self.destinations[at as usize])
    }

    fn is_fixed(&self) -> bool {
        self.starts.windows(2).all(|ends| ends[1] - ends[0] <= 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{map, prepare};
    use super::*;

    #[test]
    fn pairs_are_kept_and_the_rest_is_silent() {
        let two = Pairs {
            pairs: vec![(2, 0), (1, 3)],
        };
        assert_eq!(map(&two, 4), [0, 3, 0, 3]);
        let fan_out = Pairs {
            pairs: vec![(1, 0), (1, 3)],
        };
        let prepared = prepare(&fan_out, 4).unwrap();
        assert!(!prepared.is_fixed());
        let to = |word| prepared.destination(NicId(1), 0, 0, Draw([0, 0, word, 0]));
        assert_eq!((to(0), to(u32::MAX)), (Some(NicId(0)), Some(NicId(3))));
        let to = |nic| prepared.destination(NicId(nic), 0, 0, Draw([0; 4]));
        assert_eq!((to(0), to(3)), (None, None));
        assert_eq!(
            prepare(&fan_out, 3).err().unwrap(),
            "pairs [1, 3] do not fit in a fabric of 3 NICs"
        );
    }
}
