//! State that changes during a run.

use std::collections::VecDeque;

use crate::Encoded;

/// An object of which only some fields change after it is built.
///
/// A saved state is restored into an object built from the same plan. That object then behaves like
/// the saved one. Whatever follows from the plan is not stored.
///
/// The derive saves each field as a record ([`Encoded`]), in the order of declaration. The
/// attribute `state` marks fields that are saved in another way or not at all; see the
/// [derive](derive@crate::State).
///
/// ```
/// use netloom_encoding::{Encoded, State};
///
/// #[derive(State)]
/// struct Counter {
///     #[state(constant)]
///     id: u32,
///     count: u64,
/// }
///
/// #[derive(State)]
/// struct Pair<T> {
///     #[state(part)]
///     counters: Vec<Counter>,
///     #[state(records)]
///     limits: Box<[u16]>,
///     last: T,
/// }
///
/// let pair = |count| Pair {
///     counters: vec![Counter { id: 7, count }],
///     limits: [3, 4].into(),
///     last: count as u8,
/// };
/// let mut saved = Vec::new();
/// pair(5).save(&mut saved);
/// let mut other = pair(0);
/// assert_eq!(other.restore(&mut saved.as_slice()), Some(()));
/// assert_eq!((other.counters[0].count, other.last), (5, 5));
/// assert_eq!(other.restore(&mut &saved[1..]), None);
/// // Two limits do not fit an object with one.
/// other.limits = [3].into();
/// assert_eq!(other.restore(&mut saved.as_slice()), None);
/// ```
pub trait State {
    /// Appends everything that may have changed since the object was built.
    fn save(&self, out: &mut Vec<u8>);

    /// Restores what [`save`](Self::save) appended, into an object built from the same plan.
    /// Returns `None` if the bytes do not fit this object, which must then be discarded.
    fn restore(&mut self, from: &mut &[u8]) -> Option<()>;
}

impl<T: State + ?Sized> State for Box<T> {
    fn save(&self, out: &mut Vec<u8>) {
        (**self).save(out);
    }

    fn restore(&mut self, from: &mut &[u8]) -> Option<()> {
        (**self).restore(from)
    }
}

/// An option that is `Some` or `None` from construction on.
impl<T: State> State for Option<T> {
    fn save(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(part) = self {
            part.save(out);
        }
    }

    fn restore(&mut self, from: &mut &[u8]) -> Option<()> {
        let is_there = bool::take(from)?;
        match self {
            Some(part) if is_there => part.restore(from),
            None if !is_there => Some(()),
            _ => None,
        }
    }
}

/// A slice whose length does not change after construction.
impl<T: State> State for [T] {
    fn save(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        self.iter().for_each(|part| part.save(out));
    }

    fn restore(&mut self, from: &mut &[u8]) -> Option<()> {
        if u64::take(from)? != self.len() as u64 {
            return None;
        }
        self.iter_mut().try_for_each(|part| part.restore(from))
    }
}

impl<T: State> State for Vec<T> {
    fn save(&self, out: &mut Vec<u8>) {
        self.as_slice().save(out);
    }

    fn restore(&mut self, from: &mut &[u8]) -> Option<()> {
        self.as_mut_slice().restore(from)
    }
}

impl<T: Encoded> Encoded for VecDeque<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        self.iter().for_each(|record| record.put(out));
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Vec::take(from).map(VecDeque::from)
    }
}

/// Saves plain records whose number does not change.
pub fn save_records<T: Encoded>(records: &[T], out: &mut Vec<u8>) {
    (records.len() as u64).put(out);
    records.iter().for_each(|record| record.put(out));
}

/// Restores what [`save_records`] saved.
pub fn restore_records<T: Encoded>(records: &mut [T], from: &mut &[u8]) -> Option<()> {
    if u64::take(from)? != records.len() as u64 {
        return None;
    }
    for record in records {
        *record = T::take(from)?;
    }
    Some(())
}
