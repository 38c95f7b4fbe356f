//! From service level to virtual lane.

use std::collections::BTreeMap;

use netloom_units::{Port, Sl, SwitchId};

/// SL2VL: which lane a packet takes on the next link, by (input, output, service level).
///
/// A fabric usually has one row for all; single (switch, input, output) triples may differ, as in the
/// tables that InfiniBand switches hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sl2Vl {
    /// The row that holds where nothing else is said.
    pub row: [u8; 16],
    /// Rows of single (switch, input, output) triples.
    pub exceptions: BTreeMap<(SwitchId, Port, Port), [u8; 16]>,
}

impl Sl2Vl {
    /// SL n travels on VL n, modulo the number of lanes.
    pub fn identity(n_vls: u8) -> Self {
        let row = std::array::from_fn(|sl| sl as u8 % n_vls);
        Sl2Vl {
            row,
            exceptions: BTreeMap::new(),
        }
    }

    /// The lane at a NIC's egress.
    #[inline]
    pub fn at_nic(&self, sl: Sl) -> u8 {
        self.row[usize::from(sl.0 & 15)]
    }

    /// The lane of a switch's output.
    #[inline]
    pub fn at_switch(&self, switch: SwitchId, input: Port, output: Port, sl: Sl) -> u8 {
        let at = usize::from(sl.0 & 15);
        if self.exceptions.is_empty() {
            return self.row[at];
        }
        self.exceptions
            .get(&(switch, input, output))
            .unwrap_or(&self.row)[at]
    }
}
