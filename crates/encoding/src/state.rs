//! State that changes during a run.

use std::collections::VecDeque;

use crate::Encoded;

/// An object of which only some fields change after it is built.
///
/// A saved state is restored into an object built from the same plan. That object then behaves like
/// the
/// saved one. Whatever follows from the plan is not stored.
pub trait State {
    /// Appends everything that may have changed since the object was built.
    fn save(&self, out: &mut Vec<u8>);

    /// Restores what [`save`](Self::save) appended, into an object built from the same plan.
    /// Returns `None`
    /// if the bytes do not fit this object, which must then be discarded.
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

/// Implements [`State`](crate::State) for an object with named fields. `changes` lists plain
/// records
/// and lists of fixed length, `parts` lists fields with a state of their own, and `stays` lists
/// fields
/// that do not change. A field may also be saved by the functions of a module.
///
/// The compiler rejects a list that omits a field.
///
/// ```
/// use netloom_encoding::{State, state};
///
/// struct Counter { id: u32, count: u64 }
/// state!(Counter { changes: [count], stays: [id] });
///
/// struct Pair<T> { counters: Vec<Counter>, last: T }
/// state!([T: netloom_encoding::Encoded] Pair<T> as Pair { changes: [last], parts: [counters] });
///
/// let pair = |count| Pair { counters: vec![Counter { id: 7, count }], last: count as u8 };
/// let mut saved = Vec::new();
/// pair(5).save(&mut saved);
/// let mut other = pair(0);
/// assert_eq!(other.restore(&mut saved.as_slice()), Some(()));
/// assert_eq!((other.counters[0].count, other.last), (5, 5));
/// assert_eq!(other.restore(&mut &saved[1..]), None);
/// ```
#[macro_export]
macro_rules! state {
    ($object:ident { $($fields:tt)* }) => {
        $crate::state!([] $object as $object { $($fields)* });
    };
    ([$($generics:tt)*] $object:ty as $name:ident {
        $(changes: [$($changed:ident),* $(,)?] $(,)?)?
        $(records: [$($record:ident),* $(,)?] $(,)?)?
        $(parts: [$($part:ident),* $(,)?] $(,)?)?
        $(with $module:ident: [$($given:ident),* $(,)?] $(,)?)?
        $(stays: [$($same:ident),* $(,)?] $(,)?)?
    }) => {
        impl<$($generics)*> $crate::State for $object {
            fn save(&self, out: &mut Vec<u8>) {
                let $name {
                    $($($changed,)*)? $($($record,)*)? $($($part,)*)? $($($given,)*)? $($($same: _,)*)?
                } = self;
                $($($crate::Encoded::put($changed, out);)*)?
                $($($crate::save_records(AsRef::<[_]>::as_ref($record), out);)*)?
                $($($crate::State::save($part, out);)*)?
                $($($module::save($given, out);)*)?
                let _ = out;
            }

            fn restore(&mut self, from: &mut &[u8]) -> Option<()> {
                let $name {
                    $($($changed,)*)? $($($record,)*)? $($($part,)*)? $($($given,)*)? $($($same: _,)*)?
                } = self;
                $($(*$changed = $crate::Encoded::take(from)?;)*)?
                $($($crate::restore_records(AsMut::<[_]>::as_mut($record), from)?;)*)?
                $($($crate::State::restore($part, from)?;)*)?
                $($($module::restore($given, from)?;)*)?
                let _ = from;
                Some(())
            }
        }
    };
}
