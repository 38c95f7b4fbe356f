//! Tables of entries: each row and column has one port, a set of equivalent ports, or a mark.
//!
//! An entry is a byte, or two if bytes do not suffice. Numbers below the radix are ports. Numbers
//! above it are the sets of the row; a switch of a regular fabric has few different sets, so they
//! take little memory.

use std::collections::HashMap;

use netloom_units::{Port, SwitchId};

/// The content of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found<'a> {
    Port(Port),
    Set(Set<'a>),
    /// The packet is at its destination switch.
    Deliver,
    /// No packet comes here: the value of an entry that has not been set.
    Never,
}

/// Equivalent ports, and the rule by which a destination takes one of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Set<'a> {
    pub(crate) ports: &'a [Port],
    spread: Spread,
}

/// The rule by which a destination takes one of several ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Spread {
    /// The number of the destination divided by this (not 0), modulo the ports.
    Digit(u32),
    /// A hash of the destination and the switch, modulo the ports.
    Hash,
}

impl Set<'_> {
    /// Returns the port for the destination with this number.
    #[inline]
    pub(crate) fn port(&self, at: SwitchId, number: u32) -> Port {
        let n = self.ports.len();
        let nth = match self.spread {
            Spread::Digit(divisor) => (number / divisor) as usize % n,
            Spread::Hash => (mixed(number, at) % n as u64) as usize,
        };
        self.ports[nth]
    }
}

/// A set of a row: the range of its ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Listed {
    first: u32,
    n: u32,
    spread: Spread,
}

/// Marks, above every port and every number of a set.
const DELIVER: u16 = u16::MAX;
const NEVER: u16 = u16::MAX - 1;

/// Maximum number of ports of a switch.
pub(crate) const MAX_PORTS: u16 = NEVER - 1;

/// The entries, in bytes if these suffice.
#[derive(Clone, Debug)]
enum Numbers {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
}

#[derive(Clone, Debug)]
pub(crate) struct EntryRows {
    numbers: Numbers,
    n_columns: usize,
    /// Numbers below this are ports.
    radix: u16,
    sets: Vec<Vec<Listed>>,
    /// The ports of all sets; each list is stored once.
    ports: Vec<Port>,
    /// The start of each list of ports; emptied by [`EntryRows::finish`].
    known: HashMap<Box<[Port]>, u32>,
}

impl EntryRows {
    /// Creates rows of [`Found::Never`], for switches with at most [`MAX_PORTS`] ports.
    pub(crate) fn new(n_rows: usize, n_columns: usize, radix: u16) -> Self {
        assert!(radix <= MAX_PORTS, "{radix} ports");
        let size = n_rows * n_columns;
        EntryRows {
            numbers: match radix < u16::from(NEVER as u8) {
                true => Numbers::Bytes(vec![NEVER as u8; size]),
                false => Numbers::Words(vec![NEVER; size]),
            },
            n_columns,
            radix,
            sets: vec![vec![]; n_rows],
            ports: vec![],
            known: HashMap::new(),
        }
    }

    pub(crate) fn add_row(&mut self) -> usize {
        self.sets.push(vec![]);
        let size = self.sets.len() * self.n_columns;
        match &mut self.numbers {
            Numbers::Bytes(bytes) => bytes.resize(size, NEVER as u8),
            Numbers::Words(words) => words.resize(size, NEVER),
        }
        self.sets.len() - 1
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.sets.len()
    }

    pub(crate) fn n_columns(&self) -> usize {
        self.n_columns
    }

    pub(crate) fn set_port(&mut self, row: usize, column: usize, port: Port) {
        assert!(port.0 < self.radix, "{port} of {} ports", self.radix);
        self.put(row, column, port.0);
    }

    /// Sets an entry to [`Found::Deliver`].
    pub(crate) fn set_deliver(&mut self, row: usize, column: usize) {
        self.put(row, column, DELIVER);
    }

    /// Sets an entry to [`Found::Never`].
    pub(crate) fn set_never(&mut self, row: usize, column: usize) {
        self.put(row, column, NEVER);
    }

    /// Sets an entry to one or more equivalent ports.
    pub(crate) fn set_ports(&mut self, row: usize, column: usize, ports: &[Port], spread: Spread) {
        if let [port] = ports {
            return self.set_port(row, column, *port);
        }
        assert!(ports.iter().all(|port| port.0 < self.radix) && !ports.is_empty());
        let first = match self.known.get(ports) {
            Some(&first) => first,
            None => {
                let first = self.ports.len() as u32;
                self.ports.extend_from_slice(ports);
                self.known.insert(ports.into(), first);
                first
            }
        };
        let listed = Listed {
            first,
            n: ports.len() as u32,
            spread,
        };
        let sets = &mut self.sets[row];
        let nth = sets.iter().rposition(|set| *set == listed);
        let nth = nth.unwrap_or_else(|| {
            sets.push(listed);
            sets.len() - 1
        });
        let number = usize::from(self.radix) + nth;
        assert!(number < usize::from(NEVER), "{nth} sets in a row");
        self.put(row, column, number as u16);
    }

    /// Frees the memory that is only needed for setting entries.
    pub(crate) fn finish(&mut self) {
        self.known = HashMap::new();
        self.ports.shrink_to_fit();
    }

    fn put(&mut self, row: usize, column: usize, number: u16) {
        assert!(column < self.n_columns);
        let index = row * self.n_columns + column;
        if let Numbers::Bytes(bytes) = &mut self.numbers {
            // The marks keep their meaning when truncated to a byte.
            if number < u16::from(NEVER as u8) || number >= NEVER {
                bytes[index] = number as u8;
                return;
            }
            self.numbers = Numbers::Words(bytes.iter().map(|&byte| widened(byte)).collect());
        }
        if let Numbers::Words(words) = &mut self.numbers {
            words[index] = number;
        }
    }

    /// Returns the number of an entry. Entries of one row with the same number are equal.
    #[inline]
    pub(crate) fn number(&self, row: usize, column: usize) -> u16 {
        let index = row * self.n_columns + column;
        match &self.numbers {
            Numbers::Bytes(bytes) => widened(bytes[index]),
            Numbers::Words(words) => words[index],
        }
    }

    #[inline]
    pub(crate) fn read(&self, row: usize, column: usize) -> Found<'_> {
        match self.number(row, column) {
            DELIVER => Found::Deliver,
            NEVER => Found::Never,
            port if port < self.radix => Found::Port(Port(port)),
            number => {
                let Listed { first, n, spread } = self.sets[row][usize::from(number - self.radix)];
                Found::Set(Set {
                    ports: &self.ports[first as usize..][..n as usize],
                    spread,
                })
            }
        }
    }

    /// Returns the ports of all entries of a row, in order.
    pub(crate) fn ports_of_row(&self, row: usize) -> Vec<Port> {
        let mut is_used = vec![false; usize::from(self.radix)];
        for column in 0..self.n_columns {
            match self.number(row, column) {
                port if port < self.radix => is_used[usize::from(port)] = true,
                _ => {}
            }
        }
        for set in &self.sets[row] {
            let ports = &self.ports[set.first as usize..][..set.n as usize];
            ports.iter().for_each(|port| is_used[port.index()] = true);
        }
        let ports = (0..self.radix).map(Port);
        ports.filter(|port| is_used[port.index()]).collect()
    }

    pub(crate) fn has_sets(&self) -> bool {
        !self.ports.is_empty()
    }
}

/// The two highest bytes stand for the two highest words.
#[inline]
fn widened(byte: u8) -> u16 {
    match byte >= NEVER as u8 {
        true => 0xFF00 | u16::from(byte),
        false => u16::from(byte),
    }
}

/// Returns a hash of a destination and a switch, the same in every run.
#[inline]
pub(crate) fn mixed(destination: u32, at: SwitchId) -> u64 {
    // The finaliser of splitmix64.
    let mut x =
        (u64::from(destination) << 32 | u64::from(at.0)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Few columns stay bytes and many different sets become words; both return what was set.
        #[test]
        fn entries_say_what_was_set(
            radix in 2u16..400,
            entries in proptest::collection::vec((0usize..3, 0usize..500, any::<u64>(), any::<bool>()), 1..600),
        ) {
            let mut rows = EntryRows::new(2, 500, radix);
            prop_assert_eq!(rows.add_row(), 2);
            let mut expected: HashMap<(usize, usize), (Vec<Port>, bool)> = HashMap::new();
            for (row, column, bits, is_hash) in entries {
                let ports = (0..radix.min(64)).filter(|port| bits >> port & 1 == 1);
                let ports: Vec<Port> = ports.map(Port).collect();
                if ports.is_empty() {
                    rows.set_never(row, column);
                    expected.remove(&(row, column));
                    continue;
                }
                let spread = if is_hash { Spread::Hash } else { Spread::Digit(3) };
                rows.set_ports(row, column, &ports, spread);
                expected.insert((row, column), (ports, is_hash));
            }
            rows.set_deliver(1, 7);
            expected.remove(&(1, 7));
            rows.finish();
            for row in 0..3 {
                for column in 0..500 {
                    match (rows.read(row, column), expected.get(&(row, column))) {
                        (Found::Deliver, None) => prop_assert_eq!((row, column), (1, 7)),
                        (Found::Never, None) => {}
                        (Found::Port(port), Some((ports, _))) => prop_assert_eq!(&[port][..], &ports[..]),
                        (Found::Set(set), Some((ports, is_hash))) => {
                            prop_assert_eq!(set.ports, &ports[..]);
                            let port = set.port(SwitchId(4), 17);
                            prop_assert!(ports.contains(&port));
                            if !is_hash {
                                prop_assert_eq!(port, ports[5 % ports.len()]);
                            }
                        }
                        (found, expected) => prop_assert!(false, "{found:?} {expected:?}"),
                    }
                }
            }
        }
    }
}
