//! Computes the bits of tables and registers (tables 3 and 4 of paper 003, and the storage of paper
//! 000).
//!
//! A device has one table, which every port reads, and each port has the registers of its arbiter.
//! So the basic arbiter costs a sum, `table + registers * ports`. Only deficits grow with entries
//! times ports.

/// Widths of the stored values of a BXI arbiter, in bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Widths {
    /// The service level of an entry.
    pub sl: u64,
    /// The weight of an entry.
    pub weight: u64,
    /// The remaining flits of the current quantum, per port.
    pub remaining: u64,
    /// The current entry, per port.
    pub current: u64,
    /// A deficit counter, per port and entry.
    pub deficit: u64,
}

impl Default for Widths {
    /// Returns the widths of paper 003.
    fn default() -> Self {
        Widths {
            sl: 4,
            weight: 16,
            remaining: 16,
            current: 8,
            deficit: 16,
        }
    }
}

/// A device with one table: a NIC (one port) or a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Device {
    /// Ports that arbitrate by the table.
    pub n_ports: u64,
    /// Entries of the table.
    pub n_entries: u64,
    /// Whether every entry of every port has a deficit counter.
    pub has_deficits: bool,
    pub widths: Widths,
}

impl Device {
    /// Returns a device with the widths of paper 003.
    pub fn new(n_ports: u64, n_entries: u64, has_deficits: bool) -> Device {
        Device {
            n_ports,
            n_entries,
            has_deficits,
            widths: Widths::default(),
        }
    }

    /// Returns the bits of the table.
    pub fn table_bits(&self) -> u64 {
        (self.widths.sl + self.widths.weight) * self.n_entries
    }

    /// Returns the bits of the registers of one port.
    pub fn port_bits(&self) -> u64 {
        let deficits = u64::from(self.has_deficits) * self.widths.deficit * self.n_entries;
        self.widths.remaining + self.widths.current + deficits
    }

    /// Returns the bits of the device: its table and the registers of its ports.
    pub fn bits(&self) -> u64 {
        self.table_bits() + self.port_bits() * self.n_ports
    }
}

/// Formats bits, and Kibit of 1024 bits, since paper 003 mixes the two.
pub fn words(bits: u64) -> String {
    format!("{bits} bits ({} Kibit)", bits as f64 / 1024.0)
}

/// Counters of DTable in a device: one table, but counters at every output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DTableCounters {
    /// Deficit counters: one per service level and output.
    pub deficits: u64,
    /// Accumulators: one per output.
    pub accumulators: u64,
}

/// Returns the counters that DTable needs.
pub fn dtable_counters(n_sls: u64, n_ports: u64) -> DTableCounters {
    DTableCounters {
        deficits: n_sls * n_ports,
        accumulators: n_ports,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(n_ports: u64, n_entries: u64) -> (u64, u64) {
        let of = |deficits| Device::new(n_ports, n_entries, deficits).bits();
        (of(false), of(true))
    }

    #[test]
    fn v003_3_table_space() {
        assert_eq!(Device::new(1, 32, false).table_bits(), (4 + 16) * 32);
        assert_eq!(Device::new(48, 32, true).table_bits(), 640);
    }

    #[test]
    fn v003_4_port_registers() {
        assert_eq!(Device::new(1, 32, false).port_bits(), 24);
        assert_eq!(Device::new(1, 32, true).port_bits(), 536);
    }

    #[test]
    fn v003_5_nic_of_32_entries() {
        assert_eq!(bits(1, 32), (664, 1176));
        assert_eq!(format!("{:.2}", 1176.0 / 664.0), "1.77");
    }

    #[test]
    fn v003_6_switch_of_48_ports() {
        assert_eq!(bits(48, 32), (1792, 26_368));
        assert_eq!(words(24_576), "24576 bits (24 Kibit)");
    }

    #[test]
    fn v003_7_switch_of_64_ports() {
        assert_eq!(bits(64, 32), (2176, 34_944));
    }

    #[test]
    fn v003_8_nics_by_entries() {
        let expected = [
            (8, 184, 312),
            (16, 344, 600),
            (64, 1304, 2328),
            (128, 2584, 4632),
            (256, 5144, 9240),
        ];
        for (n_entries, basic, deficits) in expected {
            assert_eq!(bits(1, n_entries), (basic, deficits), "{n_entries} entries");
        }
    }

    /// Claim C003-16 says that the vectors above hold; this test adds how space grows.
    #[test]
    fn c003_16_only_deficits_grow_with_the_product() {
        let basic = |ports, entries| bits(ports, entries).0;
        assert_eq!(basic(64, 64) - basic(64, 32), basic(48, 64) - basic(48, 32));
        let deficits = |ports, entries| bits(ports, entries).1 - bits(ports, entries).0;
        assert_eq!(deficits(64, 64), 4 * deficits(32, 32));
    }

    #[test]
    fn v000_12_counters() {
        let opa = dtable_counters(32, 48);
        assert_eq!((opa.deficits, opa.accumulators), (1536, 48));
    }
}
