//! A workload that ends.

use std::sync::Arc;

use netloom_packet::{Arrival, Cursor, Source};
use netloom_units::NicId;

/// The first messages of each NIC, up to a limit.
pub(crate) struct Until {
    pub(crate) inner: Arc<dyn Source>,
    pub(crate) messages: u32,
}

impl Source for Until {
    fn next(&self, nic: NicId, cursor: &mut Cursor) -> Option<Arrival> {
        if cursor.number >= self.messages {
            None
        } else {
            self.inner.next(nic, cursor)
        }
    }
}
