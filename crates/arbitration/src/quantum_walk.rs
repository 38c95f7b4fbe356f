//! A walk over entries that may each send a quantum per turn: the core of BXI and of deficit round
//! robin.
//!
//! The paper's loop steps from entry to entry until a head fits. No loop is needed. When an entry
//! is examined for the `i`-th time since the walk began, and its head did not fit before, it may
//! send `first + i * quantum`. Here `first` is what it may send at the first visit. So one division
//! per entry gives the visit at which its head fits, and the nearest entry wins.

use crate::take_word;

/// The treatment of the part of a quantum that a turn does not use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leftover {
    /// It is lost.
    Lost,
    /// The entry keeps it for its next turn, if its packet was too long.
    Retained,
}

/// One entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// A lane or a service level, below 32.
    pub class: u8,
    /// What it may send per turn; not 0.
    pub quantum: u32,
}

/// The entries of one output, and the position of the walk.
#[derive(Clone, Debug)]
pub(crate) struct QuantumWalk {
    turns: Vec<Turn>,
    leftover: Leftover,
    deficits: Vec<u32>,
    current: usize,
    remaining: u32,
}

/// The result of a walk, `[active, steps, size]` for the grant: the classes with something to send,
/// one bit each; the number of entries stepped; the size of the packet.
pub(crate) type Found = [u32; 3];

impl QuantumWalk {
    /// Creates a walk without the entries of quantum 0. The first entry is the current one.
    pub(crate) fn new(turns: impl Iterator<Item = Turn>, leftover: Leftover) -> QuantumWalk {
        let turns: Vec<Turn> = turns.filter(|turn| turn.quantum > 0).collect();
        QuantumWalk {
            deficits: vec![0; turns.len()],
            current: 0,
            remaining: turns.first().map_or(0, |turn| turn.quantum),
            turns,
            leftover,
        }
    }

    /// Returns the class that sends next, from the classes with something to send and the sizes of
    /// their heads. With [`Leftover::Lost`] it is `None` if every head is longer than the quantum
    /// of its entries.
    pub(crate) fn choose(&self, active: u32, size: impl Fn(u8) -> u32) -> Option<(u8, Found)> {
        let mut nearest: Option<(u64, u8)> = None;
        let (before, after) = self.turns.split_at(self.current);
        let from_current = after.iter().chain(before);
        for (offset, turn) in from_current.enumerate() {
            let class = turn.class;
            if active >> class & 1 == 0 {
                continue;
            }
            let Some(laps) = self.laps(offset, u64::from(size(class))) else {
                continue;
            };
            let steps = laps * self.turns.len() as u64 + offset as u64;
            if nearest.is_none_or(|(least, _)| steps < least) {
                nearest = Some((steps, class));
            }
            if laps == 0 {
                break;
            }
        }
        let (steps, class) = nearest?;
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        Some((class, [active, steps, size(class)]))
    }

    /// Records that the class sends, as found by [`choose`](Self::choose). Returns the class.
    pub(crate) fn commit(&mut self, [active, steps, size]: Found) -> u8 {
        let n = self.turns.len();
        let steps = steps as usize;
        if self.leftover != Leftover::Lost {
            for offset in 0..n.min(steps) {
                let at = self.entry(offset);
                // How often the walk passed this entry.
                let looks = (steps - offset).div_ceil(n) as u64;
                let has_packet = active >> self.turns[at].class & 1 == 1;
                let deficit =
                    self.first_look(offset) + (looks - 1) * u64::from(self.turns[at].quantum);
                self.deficits[at] = if has_packet { deficit as u32 } else { 0 };
            }
        }
        if steps > 0 {
            self.current = self.entry(steps % n);
            self.activate();
        }
        self.remaining -= size;
        let class = self.turns[self.current].class;
        if self.remaining == 0 {
            self.current = self.entry(usize::from(n > 1));
            self.activate();
        }
        class
    }

    pub(crate) fn save(&self, out: &mut Vec<u64>) {
        out.extend([self.current as u64, self.remaining.into()]);
        out.extend(self.deficits.iter().copied().map(u64::from));
    }

    pub(crate) fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        let n = self.turns.len().max(1);
        self.current = take_word(from).filter(|at| *at < n)?;
        self.remaining = take_word(from)?;
        for deficit in &mut self.deficits {
            *deficit = take_word(from)?;
        }
        Some(())
    }

    /// Returns the entry at a distance below their number.
    #[inline]
    fn entry(&self, offset: usize) -> usize {
        let (at, n) = (self.current + offset, self.turns.len());
        if at < n { at } else { at - n }
    }

    /// Returns what the entry at this distance may send at its first visit.
    fn first_look(&self, offset: usize) -> u64 {
        if offset == 0 {
            return u64::from(self.remaining);
        }
        let at = self.entry(offset);
        u64::from(self.turns[at].quantum) + u64::from(self.deficits[at])
    }

    /// Returns the number of laps until a packet of this size fits.
    #[inline]
    fn laps(&self, offset: usize, size: u64) -> Option<u64> {
        let first = self.first_look(offset);
        if size <= first {
            return Some(0);
        }
        let quantum = u64::from(self.turns[self.entry(offset)].quantum);
        match self.leftover {
            // The current entry has its full quantum again after a lap: the extra probe.
            Leftover::Lost => (offset == 0 && size <= quantum).then_some(1),
            _ => Some((size - first).div_ceil(quantum)),
        }
    }

    /// Loads what the current entry may send.
    fn activate(&mut self) {
        let deficit = std::mem::take(&mut self.deficits[self.current]);
        self.remaining = self.turns[self.current].quantum + deficit;
    }
}
