//! The two machines: the paper's dragonfly, and a small one for orders.

/// A dragonfly with its switches.
pub(super) struct Machine {
    /// Name of the network.
    pub(super) network: &'static str,
    /// Number of endpoints.
    pub(super) n_nics: u32,
    /// Number of endpoints per switch.
    pub(super) hosts: u32,
    /// Number of ports per switch to others of its group.
    pub(super) locals: u32,
}

/// 56 groups of 11 switches.
pub(super) const DRAGONFLY: Machine = Machine {
    network: "3080 endpoints",
    n_nics: 3080,
    hosts: 5,
    locals: 10,
};

/// Nine groups of four switches.
pub(super) const SMALL: Machine = Machine {
    network: "72 endpoints",
    n_nics: 72,
    hosts: 2,
    locals: 3,
};

/// Bytes of the buffers of a port: 10 KB each for input and output.
pub(super) const PORT_BYTES: f64 = 20_000.0;

/// Bytes per nanosecond on a link.
const BYTES_PER_NS: f64 = 10.0;

impl Machine {
    /// Returns the bytes of the stashes of a switch: 7/8 of the buffers of end ports, 3/4 of those
    /// of local ports.
    pub(super) fn stash_bytes(&self) -> f64 {
        PORT_BYTES * (0.875 * f64::from(self.hosts) + 0.75 * f64::from(self.locals))
    }

    /// Returns the fraction of its link that an endpoint can use if a fraction of the stash stores
    /// all packets under way for a round trip (Little's law).
    pub(super) fn little(&self, capacity: f64, round_trip_ns: f64) -> f64 {
        let bytes = capacity * self.stash_bytes() / f64::from(self.hosts);
        bytes / round_trip_ns / BYTES_PER_NS
    }

    /// Converts a load of all links to that of `n` endpoints.
    pub(super) fn of(&self, n: u32, load: f64) -> f64 {
        load * f64::from(self.n_nics) / f64::from(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9 * other
    }

    #[test]
    fn v002_5_stash_of_a_switch() {
        assert_eq!(20.0 * PORT_BYTES, 400_000.0);
        assert_eq!(DRAGONFLY.stash_bytes(), 237_500.0);
        assert_eq!(
            [0.5, 0.25].map(|part| part * DRAGONFLY.stash_bytes()),
            [118_750.0, 59_375.0]
        );
        assert_eq!(SMALL.stash_bytes(), 80_000.0);
    }

    #[test]
    fn v002_6_stash_of_an_endpoint() {
        let own = |part: f64| part * DRAGONFLY.stash_bytes() / f64::from(DRAGONFLY.hosts);
        assert_eq!([1.0, 0.5, 0.25].map(own), [47_500.0, 23_750.0, 11_875.0]);
    }

    #[test]
    fn v002_7_littles_law() {
        // The paper rounds 11.875 KB to 12 KB and gets 75 %.
        let rounded = 12_000.0 / 1600.0 / BYTES_PER_NS;
        assert_eq!(rounded, 0.75);
        let percent = |part: f64| (1000.0 * DRAGONFLY.little(part, 1600.0)).round() / 10.0;
        assert_eq!([0.25, 0.5, 1.0].map(percent), [74.2, 148.4, 296.9]);
        assert!(is_near(SMALL.little(0.25, 1600.0), 0.625));
    }

    #[test]
    fn v002_8_the_round_trip_behind_78_percent() {
        let round_trip = DRAGONFLY.little(0.25, 1.0) / 0.78;
        assert_eq!(round_trip.round(), 1522.0);
    }

    #[test]
    fn loads_of_a_part_of_the_machine() {
        assert!(is_near(DRAGONFLY.of(1540, 0.2), 0.4));
    }
}
