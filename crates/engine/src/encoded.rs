//! Messages to other processes, as bytes.
//!
//! Threads encode and decode messages. The exchange between processes only sends bytes.
//!
//! ```text
//! bytes of a rank in a window   block, block, ...
//! block                         partition (u16), length of the rest (u32), message, message, ...
//! message                       ticks after the horizon (LEB128), event, parcel if it has one
//! ```

use netloom_encoding::Encoded;
use netloom_units::Tick;

use crate::Model;
use crate::transport::{Message, MessageOf};

/// Bytes of the header of a block.
const HEADER: usize = 6;

/// Appends the messages of a window to one partition; leaves the list empty. `horizon` is that of
/// the window.
pub(crate) fn put_block<M: Model>(
    partition: u16,
    messages: &mut Vec<MessageOf<M>>,
    horizon: Tick,
    out: &mut Vec<u8>,
) {
    partition.put(out);
    let at = out.len();
    0u32.put(out);
    for message in messages.drain(..) {
        // Wrapping: every time is read back, even one before the horizon.
        put_number(message.when.0.wrapping_sub(horizon.0), out);
        message.event.put(out);
        if M::has_parcel(message.event) {
            message.parcel.put(out);
        }
    }
    let length = u32::try_from(out.len() - at - 4).expect("a block below 4 GiB");
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
}

/// Decodes a message from the front of a block.
pub(crate) fn take<M: Model>(from: &mut &[u8], horizon: Tick) -> Option<MessageOf<M>> {
    let when = Tick(take_number(from)?.wrapping_add(horizon.0));
    let event = M::Event::take(from)?;
    let parcel = match M::has_parcel(event) {
        true => M::Parcel::take(from)?,
        false => M::Parcel::default(),
    };
    Some(Message {
        when,
        event,
        parcel,
    })
}

/// Calls `with` for each block: its partition, and the range of its messages in `bytes`.
pub(crate) fn blocks(
    bytes: &[u8],
    mut with: impl FnMut(u16, std::ops::Range<usize>),
) -> Option<()> {
    let mut at = 0;
    while at < bytes.len() {
        let mut header = &bytes[at..];
        let partition = u16::take(&mut header)?;
        let length = u32::take(&mut header)? as usize;
        let start = at + HEADER;
        at = start + length;
        (at <= bytes.len()).then_some(())?;
        with(partition, start..at);
    }
    Some(())
}

/// Appends seven bits per byte, the lowest first. Most times are less than 2^14 ticks apart.
#[inline]
fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[inline]
fn take_number(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = u8::take(from)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outbox, Wheel};

    /// Events from 100 on have a parcel.
    struct Sparse;

    impl Model for Sparse {
        type Event = u16;
        type Parcel = u64;
        type Queue = Wheel<u16>;

        fn apply(&mut self, _: Tick, _: u16, _: &mut Outbox<Self>) {}

        fn decide(&mut self, _: u32, _: Tick, _: &mut Outbox<Self>) {}

        fn has_parcel(event: u16) -> bool {
            event >= 100
        }

        fn receive(&mut self, event: u16, _: u64) -> u16 {
            event
        }
    }

    fn message(when: u64, event: u16, parcel: u64) -> MessageOf<Sparse> {
        Message {
            when: Tick(when),
            event,
            parcel,
        }
    }

    #[test]
    fn blocks_are_read_back() {
        let horizon = Tick(1000);
        let near = [message(1000, 7, 0), message(1127, 100, 5)];
        let far = [
            message(1128, 101, u64::MAX),
            message(u64::MAX, 8, 0),
            message(999, 9, 0),
        ];
        let mut bytes = Vec::new();
        put_block::<Sparse>(3, &mut near.to_vec(), horizon, &mut bytes);
        assert_eq!(bytes.len(), HEADER + 3 + 11);
        put_block::<Sparse>(65_535, &mut far.to_vec(), horizon, &mut bytes);
        let mut read = Vec::new();
        blocks(&bytes, |partition, range| read.push((partition, range))).expect("two blocks");
        assert_eq!(read.len(), 2);
        for ((partition, range), (number, sent)) in
            read.into_iter().zip([(3, &near[..]), (65_535, &far[..])])
        {
            assert_eq!(partition, number);
            let mut block = &bytes[range];
            for message in sent {
                assert_eq!(take::<Sparse>(&mut block, horizon), Some(*message));
            }
            assert!(block.is_empty());
        }
    }

    #[test]
    fn a_block_beyond_the_end_is_refused() {
        let mut bytes = Vec::new();
        let mut messages = vec![message(1, 100, 2)];
        put_block::<Sparse>(0, &mut messages, Tick::ZERO, &mut bytes);
        assert!(messages.is_empty());
        for end in 1..bytes.len() {
            assert_eq!(blocks(&bytes[..end], |_, _| ()), None);
        }
        assert_eq!(take_number(&mut &[0x80; 11][..]), None);
    }
}
