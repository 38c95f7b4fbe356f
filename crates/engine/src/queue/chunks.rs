//! Bags of items in pooled chunks. An empty slot of the wheel costs four bytes, and nothing is
//! allocated after warming up.

/// Items per chunk. With 16-byte events a chunk is 512 bytes, so that its address is a shift.
const CHUNK: usize = GROUP * GROUPS;
/// Chunks are copied in whole groups. A constant length needs no branch, and the number of groups
/// of a tick is easier to predict than the number of events. This saves 2 to 4 % of the time of
/// `clock_cost`, compared with copying exactly the events.
const GROUP: usize = 10;
const GROUPS: usize = 3;

/// A bag of items in a [`Pool`]: the number of its first chunk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Bag(u32);

impl Bag {
    /// The bag without items. No chunk has its number, so a look-up fails by itself.
    pub(super) const EMPTY: Bag = Bag(u32::MAX);

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self == Bag::EMPTY
    }
}

#[repr(C, align(64))]
struct Chunk<T> {
    /// The next chunk of the same bag, or of the free list.
    rest: Bag,
    n_items: u32,
    items: [T; CHUNK],
}

/// All chunks of many bags. Free chunks are reused last in, first out, while they are in the cache.
pub(super) struct Pool<T> {
    chunks: Vec<Chunk<T>>,
    free: Bag,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool {
            chunks: Vec::new(),
            free: Bag::EMPTY,
        }
    }
}

impl<T: Copy> Pool<T> {
    /// Adds an item if the first chunk of the bag has space; otherwise [`open`](Self::open) does.
    #[inline(always)]
    #[must_use]
    pub(super) fn try_push(&mut self, bag: Bag, item: T) -> bool {
        if let Some(chunk) = self.chunks.get_mut(bag.0 as usize)
            && let Some(place) = chunk.items.get_mut(chunk.n_items as usize)
        {
            *place = item;
            chunk.n_items += 1;
            return true;
        }
        false
    }

    /// Puts a chunk with this item in front of the bag and returns the longer bag.
    #[inline]
    pub(super) fn open(&mut self, bag: Bag, item: T) -> Bag {
        let new = self.free;
        if let Some(chunk) = self.chunks.get_mut(new.0 as usize) {
            self.free = chunk.rest;
            chunk.rest = bag;
            chunk.n_items = 1;
            chunk.items[0] = item;
            return new;
        }
        self.grow(bag, item)
    }

    /// The item fills the new chunk, since no other value of `T` is available.
    #[cold]
    fn grow(&mut self, bag: Bag, item: T) -> Bag {
        let new = Bag(u32::try_from(self.chunks.len()).expect("fewer than 2^32 chunks of events"));
        assert!(!new.is_empty(), "fewer than 2^32 chunks of events");
        self.chunks.push(Chunk {
            rest: bag,
            n_items: 1,
            items: [item; CHUNK],
        });
        new
    }

    /// Moves the items of the bag to the end of `batch`.
    #[inline]
    pub(super) fn drain(&mut self, mut bag: Bag, batch: &mut Vec<T>) {
        while let Some(chunk) = self.chunks.get_mut(bag.0 as usize) {
            let end = batch.len() + chunk.n_items as usize;
            for group in chunk.items.as_chunks::<GROUP>().0 {
                batch.extend_from_slice(group);
                if batch.len() >= end {
                    break;
                }
            }
            batch.truncate(end);
            let rest = std::mem::replace(&mut chunk.rest, self.free);
            self.free = bag;
            bag = rest;
        }
    }
}
