//! Computes the memory of an input port by queue scheme (paper 001).

use std::fmt;

use netloom_units::Bytes;

/// The division of an input port's memory into queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheme {
    /// One queue.
    OneQueue,
    /// This number of queues, by destination modulo the number.
    Dbbm(u32),
    /// This number of queues, by output port modulo the number.
    Obqa(u32),
    /// A queue per output port of a switch with this number of ports.
    VoqSw(u32),
    /// A queue per destination of a network with this number of destinations.
    VoqNet(u32),
}

impl Scheme {
    /// Returns the number of queues per input port.
    pub fn queues(self) -> u32 {
        match self {
            Scheme::OneQueue => 1,
            Scheme::Dbbm(q) | Scheme::Obqa(q) | Scheme::VoqSw(q) | Scheme::VoqNet(q) => q,
        }
    }

    /// Returns the bytes per port.
    pub fn memory(self, per_queue: Bytes) -> Bytes {
        Bytes(u64::from(self.queues()) * per_queue.0)
    }

    /// Returns the smallest memory per port: two packets per queue, one that arrives while one
    /// leaves.
    pub fn minimum_memory(self, packet: Bytes) -> Bytes {
        self.memory(Bytes(PACKETS_PER_QUEUE * packet.0))
    }

    /// Returns the printed area of the smallest memory with 64-byte packets, if paper 001 prints
    /// one.
    pub fn printed_area(self) -> Option<SramArea> {
        let bytes = self.minimum_memory(Bytes(64));
        SRAM_AREAS.iter().copied().find(|area| area.bytes == bytes)
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scheme::OneQueue => write!(f, "1Q"),
            Scheme::Dbbm(q) => write!(f, "DBBM-{q}"),
            Scheme::Obqa(q) => write!(f, "OBQA-{q}"),
            Scheme::VoqSw(q) => write!(f, "VOQsw-{q}"),
            Scheme::VoqNet(q) => write!(f, "VOQnet-{q}"),
        }
    }
}

/// Packets in the smallest queue.
const PACKETS_PER_QUEUE: u64 = 2;

/// The area of a memory, in units of 10^-5 mm², so it is exact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SramArea {
    /// The size of the memory.
    pub bytes: Bytes,
    /// The area in 10^-5 mm².
    pub area: u32,
}

impl SramArea {
    /// Returns the area in mm², for printing.
    pub fn mm2(self) -> f64 {
        f64::from(self.area) / 1e5
    }
}

/// Table 3 of paper 001: CACTI 5.3, SRAM, one read and one write port, 45 nm, 1-byte readout. These
/// are printed numbers; areas are not computed.
pub const SRAM_AREAS: [SramArea; 6] = [
    sram(256, 359),
    sram(512, 647),
    sram(1024, 1412),
    sram(4096, 3569),
    sram(8192, 7877),
    sram(32768, 33291),
];

const fn sram(bytes: u64, area: u32) -> SramArea {
    SramArea {
        bytes: Bytes(bytes),
        area,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Scheme::{Dbbm, Obqa, OneQueue, VoqNet, VoqSw};

    #[test]
    fn v001_12_minimum_memory() {
        let expected = [
            (VoqNet(256), 32768, 0.33291),
            (VoqNet(64), 8192, 0.07877),
            (VoqSw(32), 4096, 0.03569),
            (VoqSw(8), 1024, 0.01412),
            (Dbbm(8), 1024, 0.01412),
            (Obqa(8), 1024, 0.01412),
            (Dbbm(4), 512, 0.00647),
            (Obqa(4), 512, 0.00647),
            (Obqa(2), 256, 0.00359),
        ];
        for (scheme, bytes, mm2) in expected {
            assert_eq!(scheme.minimum_memory(Bytes(64)), Bytes(bytes), "{scheme}");
            assert_eq!(bytes, 128 * u64::from(scheme.queues()));
            assert_eq!(scheme.printed_area().map(SramArea::mm2), Some(mm2));
        }
        assert_eq!(OneQueue.printed_area(), None);
    }

    #[test]
    fn v001_13_simulated_memory_of_voqnet() {
        let memory = |nodes| VoqNet(nodes).memory(Bytes(512));
        assert_eq!((memory(64), memory(256)), (Bytes(32768), Bytes(131_072)));
    }

    #[test]
    fn c001_14_obqa_needs_a_part_of_voqsw() {
        let bytes = |scheme: Scheme| scheme.minimum_memory(Bytes(64)).0;
        assert_eq!(2 * bytes(Obqa(4)), bytes(VoqSw(8)));
        assert_eq!(4 * bytes(Obqa(8)), bytes(VoqSw(32)));
        let area = |scheme: Scheme| scheme.printed_area().unwrap().mm2();
        let part = area(Obqa(4)) / area(VoqSw(8));
        assert_eq!(format!("{:.1}", part * 100.0), "45.8");
    }
}
