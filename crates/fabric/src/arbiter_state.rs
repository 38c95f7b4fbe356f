//! Encoding of arbiter state, which consists of words that only the arbiter interprets.

use netloom_arbitration::Arbiter;
use netloom_encoding::Encoded;

pub(crate) fn save(arbiter: &impl Arbiter, out: &mut Vec<u8>) {
    let mut words = Vec::new();
    arbiter.save(&mut words);
    words.put(out);
}

pub(crate) fn restore(arbiter: &mut impl Arbiter, from: &mut &[u8]) -> Option<()> {
    let words: Vec<u64> = Encoded::take(from)?;
    let mut rest = words.as_slice();
    arbiter.restore(&mut rest)?;
    rest.is_empty().then_some(())
}
