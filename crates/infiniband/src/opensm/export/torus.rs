//! Writes torus-2QoS.conf: the shape of a torus or a mesh, and a few links that define its
//! directions.

use std::fmt::Write as _;

use crate::Guid;

/// One of three dimensions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TorusDimension {
    /// Number of switches along the dimension; 1 if the fabric has fewer dimensions.
    pub radix: u16,
    /// Whether the ends of the dimension are connected.
    pub is_ring: bool,
}

/// The neighbours of one switch, which define the directions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TorusSeed {
    pub switch: Guid,
    /// Neighbours in the positive directions of x, y and z.
    pub next: [Option<Guid>; 3],
    /// Neighbours in the negative directions, required for rings of radix 4.
    pub previous: [Option<Guid>; 3],
}

/// Writes the configuration of torus-2QoS, with one or more seeds.
pub fn torus_2qos_conf(dimensions: [TorusDimension; 3], seeds: &[TorusSeed]) -> String {
    let mut text = String::from("torus");
    for dimension in dimensions {
        let shape = if dimension.is_ring { "t" } else { "m" };
        let _ = write!(text, " {}{shape}", dimension.radix);
    }
    text.push('\n');
    for (n, seed) in seeds.iter().enumerate() {
        if n > 0 {
            text.push_str("next_seed\n");
        }
        for (sign, neighbors) in [("p", seed.next), ("m", seed.previous)] {
            for (axis, neighbor) in ["x", "y", "z"].into_iter().zip(neighbors) {
                if let Some(neighbor) = neighbor {
                    let _ = writeln!(text, "{axis}{sign}_link {} {neighbor}", seed.switch);
                }
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torus_of_two_dimensions() {
        let ring = |radix| TorusDimension {
            radix,
            is_ring: radix > 1,
        };
        let seed = TorusSeed {
            switch: Guid(1),
            next: [Some(Guid(2)), Some(Guid(3)), None],
            previous: [Some(Guid(4)), None, None],
        };
        let text = torus_2qos_conf([ring(4), ring(5), ring(1)], &[seed]);
        let expected = "torus 4t 5t 1m\n\
            xp_link 0x0000000000000001 0x0000000000000002\n\
            yp_link 0x0000000000000001 0x0000000000000003\n\
            xm_link 0x0000000000000001 0x0000000000000004\n";
        assert_eq!(text, expected);
    }
}
