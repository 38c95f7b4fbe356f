//! Many to one, possibly for a limited time.

use netloom_catalog::{Described, FromToml, Notes, Shape, Value, ValueShape, choice, params};
use netloom_random::Draw;
use netloom_units::{NicId, Time};

use super::{Destinations, Pattern, Uniform};
use crate::{Context, NicSet, Window};

choice! {
    /// The traffic of a source of [`HotSpot`] that does not send to the hot destination.
    pub enum Idle {
        /// It sends nothing.
        Idle = "idle",
        /// It sends to any other NIC.
        Uniform = "uniform",
    }
}

/// The hot sources.
#[derive(Clone, PartialEq, Debug)]
pub enum HotSources {
    /// This share of the sources, spread evenly.
    Share(f64),
    /// This set.
    These(NicSet),
}

impl FromToml for HotSources {
    fn shape() -> Shape {
        Shape::Either(vec![Shape::Number, NicSet::shape()])
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        match value.shape {
            ValueShape::Integer(_) | ValueShape::Float(_) => {
                let share = f64::read(value, notes)?;
                if !(0.0..=1.0).contains(&share) {
                    notes
                        .error("E0603", value.place, format!("{share} is not a share"))
                        .help("use a share of the sources between 0 and 1, or a list of NICs");
                    return None;
                }
                Some(HotSources::Share(share))
            }
            _ => NicSet::read(value, notes).map(HotSources::These),
        }
    }

    fn write(&self) -> String {
        match self {
            HotSources::Share(share) => share.write(),
            HotSources::These(set) => set.write(),
        }
    }
}

params! {
    /// Hot sources send to one destination from `from` until `until`; the others send to any other
    /// NIC.
    ///
    /// A share of the sources is spread evenly: of 256 sources, a quarter are those with a number
    /// of 3 modulo 4. The destination itself is never hot; the source before it replaces it.
    #[derive(Clone, Debug)]
    pub struct HotSpot {
        /// The NIC that the hot sources send to.
        pub destination: u32,
        /// The hot sources: a share of the sources, or a set of NICs.
        pub sources: HotSources = HotSources::Share(0.25),
        /// When the hot sources begin to send to the destination. Default: at once.
        pub from: Option<Time> = None,
        /// When they stop. Default: never.
        pub until: Option<Time> = None,
        /// What hot sources do outside that time.
        pub outside: Idle = Idle::Idle,
        /// What the other sources do.
        pub others: Idle = Idle::Uniform,
    }
    check |it, section| {
        if it.until.is_some_and(|until| until <= it.from.unwrap_or(Time::ZERO)) {
            let place = section.place_of("until");
            section.notes.error("E0603", place, "`until` is not after `from`");
        }
    }
}

impl Described for HotSpot {
    const NAME: &'static str = "hot-spot";
    const SUMMARY: &'static str =
        "Some sources send to one destination, for a while or always; the others to any NIC.";
    const PAPER: Option<&'static str> = Some(
        "Pfister and Norton, Hot spot contention and combining in multistage interconnection \
         networks, \
         IEEE Transactions on Computers, 1985",
    );
    const EXAMPLE: &'static str = "destination = 3\nsources = 0.25";
}

impl HotSpot {
    /// Returns whether each NIC is hot.
    fn hot(&self, context: &Context<'_>) -> Result<Vec<bool>, String> {
        let mut is_hot = vec![false; context.n_nics as usize];
        let destination = NicId(self.destination);
        match &self.sources {
            HotSources::These(NicSet::All) => {
                for source in context.sources.iter().filter(|&&s| s != destination) {
                    is_hot[source.index()] = true;
                }
            }
            HotSources::These(set) => {
                for member in set.members(context.n_nics, context.groups)? {
                    if member == destination {
                        return Err(format!("the hot source {member} is the hot destination"));
                    }
                    if context.sources.binary_search(&member).is_err() {
                        return Err(format!(
                            "the hot source {member} is not a source of the class"
                        ));
                    }
                    is_hot[member.index()] = true;
                }
            }
            HotSources::Share(share) => {
                let n = context.sources.len();
                let own = context.sources.binary_search(&destination).ok();
                let most = n - usize::from(own.is_some());
                let count = ((share * n as f64).round() as usize).min(most);
                let mut replaced = false;
                for k in 0..count {
                    let at = (k + 1) * n / count - 1;
                    replaced |= Some(at) == own;
                    is_hot[context.sources[at].index()] = true;
                }
                if replaced {
                    is_hot[destination.index()] = false;
                    // The nearest one before, around the end if necessary.
                    let own = own.expect("the destination was taken for a source");
                    let free = (1..n)
                        .map(|back| context.sources[(own + n - back) % n])
                        .find(|source| !is_hot[source.index()]);
                    let free = free.expect("fewer hot sources than sources");
                    is_hot[free.index()] = true;
                }
            }
        }
        Ok(is_hot)
    }
}

impl Pattern for HotSpot {
    fn prepare(&self, context: &Context<'_>) -> Result<Box<dyn Destinations>, String> {
        if self.destination >= context.n_nics {
            return Err(format!(
                "the hot destination, NIC {}, does not exist: the fabric has {} NICs",
                self.destination, context.n_nics
            ));
        }
        Ok(Box::new(Hot {
            destination: NicId(self.destination),
            window: context.window(self.from, self.until),
            is_hot: self.hot(context)?,
            outside: self.outside,
            others: self.others,
            uniform: Uniform {}.prepare(context)?,
        }))
    }

    fn sets(&self) -> Vec<NicSet> {
        let mut sets = vec![NicSet::List(vec![NicId(self.destination)])];
        if let HotSources::These(set) = &self.sources {
            sets.push(set.clone());
        }
        sets
    }
}

struct Hot {
    destination: NicId,
    window: Window,
    is_hot: Vec<bool>,
    outside: Idle,
    others: Idle,
    uniform: Box<dyn Destinations>,
}

impl Destinations for Hot {
    fn destination(&self, nic: NicId, number: u32, cycle: u64, draw: Draw) -> Option<NicId> {
        let otherwise = match self.is_hot[nic.index()] {
            true if self.window.contains(cycle) => return Some(self.destination),
            true => self.outside,
            false => self.others,
        };
        match otherwise {
            Idle::Idle => None,
            Idle::Uniform => self.uniform.destination(nic, number, cycle, draw),
        }
    }

    fn is_fixed(&self) -> bool {
        (self.others == Idle::Idle || self.is_hot.iter().all(|&hot| hot))
            && (self.outside == Idle::Idle || self.window == Window::ALWAYS)
    }

    fn window(&self, nic: NicId) -> Window {
        if self.is_hot[nic.index()] && self.outside == Idle::Idle {
            self.window
        } else {
            Window::ALWAYS
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::prepare;
    use super::*;

    fn hot_spot(destination: u32, sources: HotSources) -> HotSpot {
        HotSpot {
            destination,
            sources,
            from: Some(Time::from_nanos(250)),
            until: Some(Time::from_nanos(300)),
            outside: Idle::Idle,
            others: Idle::Uniform,
        }
    }

    /// Returns the NICs that send to the hot spot at cycle 260, whatever they draw.
    fn hot(pattern: &HotSpot, n: u32) -> Vec<u32> {
        let prepared = prepare(pattern, n).unwrap_or_else(|problem| panic!("{problem}"));
        let to = |nic: u32, word| {
            prepared.destination(NicId(nic), 0, 260, Draw([0, 0, word, 0]))
                == Some(NicId(pattern.destination))
        };
        (0..n)
            .filter(|&nic| to(nic, 0) && to(nic, u32::MAX))
            .collect()
    }

    #[test]
    fn a_quarter_of_the_sources_is_chosen_as_in_g001_5() {
        let chosen = hot(&hot_spot(123, HotSources::Share(0.25)), 256);
        let mut expected: Vec<u32> = (0..256).filter(|nic| nic % 4 == 3 && *nic != 123).collect();
        expected.push(122);
        expected.sort_unstable();
        assert_eq!(chosen, expected);
        assert_eq!(chosen.len(), 64);
    }

    #[test]
    fn all_can_be_hot_but_the_destination() {
        assert_eq!(hot(&hot_spot(2, HotSources::Share(1.0)), 4), [0, 1, 3]);
        let all = HotSources::These(NicSet::All);
        assert_eq!(hot(&hot_spot(0, all), 4), [1, 2, 3]);
        let itself = HotSources::These(NicSet::List(vec![NicId(0)]));
        assert!(prepare(&hot_spot(0, itself), 4).is_err());
    }

    #[test]
    fn hot_sources_keep_their_time() {
        let mut pattern = hot_spot(0, HotSources::These(NicSet::List(vec![NicId(1)])));
        let idle = prepare(&pattern, 4).unwrap();
        assert_eq!(
            idle.window(NicId(1)),
            Window {
                from: 250,
                until: 300
            }
        );
        assert_eq!(idle.window(NicId(2)), Window::ALWAYS);
        pattern.outside = Idle::Uniform;
        let uniform = prepare(&pattern, 4).unwrap();
        assert_eq!(uniform.window(NicId(1)), Window::ALWAYS);
        let draw = Draw([0, 0, u32::MAX, 0]);
        let to = |cycle| uniform.destination(NicId(1), 0, cycle, draw);
        assert_eq!(
            [to(249), to(250), to(299), to(300)],
            [3, 0, 0, 3].map(|nic| Some(NicId(nic)))
        );
    }
}
