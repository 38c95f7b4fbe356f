//! One random destination per source.

use netloom_catalog::{Described, params};
use netloom_random::{Purpose, Stream};

use super::{Destinations, Pattern, Table, Uniform};
use crate::Context;

params! {
    /// Each source draws one other NIC (or one other of the class's destinations) and keeps it for
    /// the whole run. Several sources may draw the same one.
    #[derive(Clone, Debug)]
    pub struct RandomPartner {}
}

impl Described for RandomPartner {
    const NAME: &'static str = "random-partner";
    const SUMMARY: &'static str =
        "Each source draws one destination and keeps it; several may draw the same one.";
    const EXAMPLE: &'static str = "";
}

impl Pattern for RandomPartner {
    fn prepare(&self, context: &Context<'_>) -> Result<Box<dyn Destinations>, String> {
        let uniform = Uniform {}.prepare(context)?;
        let stream = Stream::new(context.seed, Purpose::Placement);
        let mut to = vec![None; context.n_nics as usize];
        for &source in context.sources {
            // A 1 in the last word: permutations, which are placements too, have a 0 there.
            let draw = stream.draw([u32::from(context.class), source.0, 0, 1]);
            to[source.index()] = uniform.destination(source, 0, 0, draw);
        }
        Ok(Box::new(Table { to }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::map;
    use super::*;

    #[test]
    fn partners_are_others_and_may_be_shared() {
        let map = map(&RandomPartner {}, 1000);
        assert!((0..1000).all(|nic| map[nic as usize] != nic));
        let mut partners = map.clone();
        partners.sort_unstable();
        partners.dedup();
        // Of n destinations drawn n times, n(1 - 1/e) are drawn at least once.
        assert!((580..690).contains(&partners.len()), "{}", partners.len());
    }
}
