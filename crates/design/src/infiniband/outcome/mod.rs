//! The result of an admission: the connections that a fabric can guarantee.

mod document;
mod text;

use super::csv::Listed;
use super::{Class, ConnectionClass, Establishment, Network, Refusal, establish_of};

/// The fabric with its accepted connections, and the refused ones with the reasons.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub network: Network,
    pub accepted: Vec<Listed>,
    pub refused: Vec<(Listed, Refusal)>,
}

impl Outcome {
    /// Admits a list in its order.
    pub fn of_list(mut network: Network, list: &[Listed]) -> Outcome {
        let (mut accepted, mut refused) = (vec![], vec![]);
        for &listed in list {
            match network.admit(listed.connection) {
                Ok(_) => accepted.push(listed),
                Err(refusal) => refused.push((listed, refusal)),
            }
        }
        Outcome {
            network,
            accepted,
            refused,
        }
    }

    /// Draws connections of these classes in turn, until no more fit. They are numbered from 1.
    pub fn drawn(
        mut network: Network,
        wanted: &Establishment,
        classes: &[ConnectionClass],
    ) -> Outcome {
        let made = establish_of(&mut network, wanted, classes);
        let numbered = (1..).zip(made.accepted);
        let accepted = numbered.map(|(line, (_, connection))| Listed { line, connection });
        Outcome {
            accepted: accepted.collect(),
            network,
            refused: vec![],
        }
    }

    /// Returns all connections that were asked for.
    fn asked(&self) -> impl Iterator<Item = &Listed> {
        let refused = self.refused.iter().map(|(listed, _)| listed);
        self.accepted.iter().chain(refused)
    }

    /// Returns the classes of all connections that were asked for.
    fn classes(&self) -> Vec<Class> {
        self.asked()
            .map(|listed| listed.connection.class())
            .collect()
    }

    /// Returns the lane of each service level.
    pub fn sl2vl(&self) -> Vec<u8> {
        let lanes = self.network.settings().lanes;
        lanes.sl2vl(&self.classes()).map(|vl| vl.0).to_vec()
    }
}
