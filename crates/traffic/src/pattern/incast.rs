//! Several to one, several times.

use netloom_catalog::{Described, choice, params};

use super::{Destinations, Pattern, Table, Uniform};
use crate::Context;

choice! {
    /// How often a source draws its destination.
    pub enum Drawn {
        /// Never: sources are assigned to the destinations in turn, and each keeps its own.
        Once = "once",
        /// For every message, any of the destinations.
        Message = "message",
    }
}

params! {
    /// Sources are assigned to the destinations of the class in turn: the first source sends to the
    /// first destination, the second to the second, and so on around the list. Each source keeps
    /// its destination for the whole run, so 48 sources and 12 destinations are 12 hot spots of
    /// four each. A source that would send to itself uses the next destination.
    ///
    /// With `draw = "message"` every message goes to any of the destinations instead. If messages
    /// are single packets, this is the hot-spot pattern of BookSim, which draws for every packet:
    /// each destination then receives from every source.
    #[derive(Clone, Debug)]
    pub struct Incast {
        /// How often a source draws its destination.
        pub draw: Drawn = Drawn::Once,
    }
}

impl Described for Incast {
    const NAME: &'static str = "incast";
    const SUMMARY: &'static str =
        "Sources are assigned evenly to destinations, or draw one per message: n to one, m times.";
    const EXAMPLE: &'static str = "draw = \"message\"";
}

impl Pattern for Incast {
    fn prepare(&self, context: &Context<'_>) -> Result<Box<dyn Destinations>, String> {
        if self.draw == Drawn::Message {
            return Uniform {}.prepare(context);
        }
        let all: Vec<_>;
        let destinations = match context.destinations {
            Some(destinations) => destinations,
            None => {
                all = (0..context.n_nics).map(netloom_units::NicId).collect();
                &all
            }
        };
        let mut to = vec![None; context.n_nics as usize];
        for (i, &source) in context.sources.iter().enumerate() {
            // Consecutive ones differ, unless there is only one.
            let candidates = [i, i + 1].map(|at| destinations[at % destinations.len()]);
            let Some(destination) = candidates.into_iter().find(|to| *to != source) else {
                return Err(format!("the only destination, {source}, is also a source"));
            };
            to[source.index()] = Some(destination);
        }
        Ok(Box::new(Table { to }))
    }
}

#[cfg(test)]
mod tests {
    use netloom_random::Draw;
    use netloom_units::NicId;

    use super::super::testing::{map, nics};
    use super::*;
    use crate::NO_GROUPS;

    const INCAST: Incast = Incast { draw: Drawn::Once };

    /// With a draw for every message, each destination receives from every source.
    #[test]
    fn sources_may_draw_for_every_message() {
        let (sources, destinations) = (&nics(64)[10..58], &nics(64)[..12]);
        let context = Context {
            n_nics: 64,
            groups: &NO_GROUPS,
            seed: 1,
            class: 0,
            sources,
            destinations: Some(destinations),
            mean_flits: 1.0,
            cycles: &|_| 0,
        };
        let draw = Drawn::Message;
        let drawn = Incast { draw }.prepare(&context).unwrap();
        assert!(!drawn.is_fixed());
        let stream = netloom_random::Stream::new(1, netloom_random::Purpose::Arrival);
        let mut heard = [0; 12];
        for number in 0..1200 {
            let draw = stream.draw([20, number, 0, 0]);
            let to = drawn.destination(NicId(20), number, 0, draw).unwrap();
            heard[to.index()] += 1;
        }
        assert!(heard.iter().all(|n| (60..140).contains(n)), "{heard:?}");
    }

    fn dealt(sources: &[NicId], destinations: &[NicId]) -> Result<Vec<Option<u32>>, String> {
        let context = Context {
            n_nics: 64,
            groups: &NO_GROUPS,
            seed: 1,
            class: 0,
            sources,
            destinations: Some(destinations),
            mean_flits: 1.0,
            cycles: &|_| 0,
        };
        let table = INCAST.prepare(&context)?;
        assert!(table.is_fixed());
        let to = |nic| table.destination(NicId(nic), 0, 0, Draw([0; 4]));
        Ok((0..64).map(|nic| to(nic).map(|to| to.0)).collect())
    }

    #[test]
    fn g002_12_every_destination_has_four_sources_of_its_own() {
        let (sources, destinations) = (&nics(64)[10..58], &nics(64)[..10]);
        let destinations = [destinations, &[NicId(60), NicId(61)]].concat();
        let to = dealt(sources, &destinations).unwrap();
        for hot in &destinations {
            assert_eq!(to.iter().filter(|to| **to == Some(hot.0)).count(), 4);
        }
        assert_eq!(to.iter().flatten().count(), 48);
        assert_eq!(
            (to[10], to[20], to[21], to[22]),
            (Some(0), Some(60), Some(61), Some(0))
        );
    }

    #[test]
    fn nobody_sends_to_itself() {
        assert_eq!(map(&INCAST, 4), [1, 2, 3, 0]);
        let one = [NicId(3)];
        assert_eq!(
            dealt(&nics(3), &one).unwrap()[..4],
            [Some(3), Some(3), Some(3), None]
        );
        assert_eq!(
            dealt(&nics(4), &one).unwrap_err(),
            "the only destination, nic 3, is also a source"
        );
    }
}
