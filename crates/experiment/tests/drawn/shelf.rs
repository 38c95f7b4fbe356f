//! Checkpoints in memory.

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;

use netloom_experiment::runner::Checkpoints;

/// The last checkpoint, and the new one.
#[derive(Default)]
pub(crate) struct Shelf {
    whole: Mutex<Option<(Vec<u8>, Parts)>>,
    coming: Mutex<Parts>,
}

pub(crate) type Parts = BTreeMap<usize, Vec<u8>>;

impl Shelf {
    /// Returns the number of partitions of the last checkpoint.
    pub(crate) fn n_partitions(&self) -> usize {
        let whole = self.whole.lock().unwrap();
        whole.as_ref().map_or(0, |(_, parts)| parts.len())
    }

    /// Returns the shared part of the last checkpoint and its partitions, if there is one.
    pub(crate) fn last(&self) -> Option<(Vec<u8>, Parts)> {
        self.whole.lock().unwrap().clone()
    }

    /// Creates a shelf with this as the last checkpoint.
    pub(crate) fn with(shared: Vec<u8>, parts: Parts) -> Shelf {
        Shelf {
            whole: Mutex::new(Some((shared, parts))),
            coming: Mutex::default(),
        }
    }

    /// Damages a partition of the last checkpoint.
    pub(crate) fn damage(&self, damage: impl FnOnce(&mut Vec<u8>)) {
        let mut whole = self.whole.lock().unwrap();
        let (_, parts) = whole.as_mut().expect("a checkpoint");
        damage(parts.get_mut(&0).expect("a first partition"));
    }
}

/// The shelf of one process.
pub(crate) struct OnShelf<'a> {
    pub(crate) shelf: &'a Shelf,
    pub(crate) leads: bool,
}

impl Checkpoints for OnShelf<'_> {
    fn last(&mut self) -> io::Result<Option<Vec<u8>>> {
        let whole = self.shelf.whole.lock().unwrap();
        Ok(whole.as_ref().map(|(shared, _)| shared.clone()))
    }

    fn partition(&mut self, partition: usize) -> io::Result<Vec<u8>> {
        let whole = self.shelf.whole.lock().unwrap();
        let (_, parts) = whole.as_ref().expect("a checkpoint");
        let part = parts.get(&partition).cloned();
        part.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn place(&self, partition: Option<usize>) -> String {
        partition.map_or("run".to_owned(), |at| format!("partition-{at}"))
    }

    fn is_due(&mut self) -> bool {
        false
    }

    fn keep_partition(&mut self, partition: usize, saved: &[u8]) -> io::Result<()> {
        let mut coming = self.shelf.coming.lock().unwrap();
        assert!(coming.insert(partition, saved.to_vec()).is_none());
        Ok(())
    }

    fn complete(&mut self, shared: &[u8]) -> io::Result<()> {
        if self.leads {
            let parts = std::mem::take(&mut *self.shelf.coming.lock().unwrap());
            *self.shelf.whole.lock().unwrap() = Some((shared.to_vec(), parts));
        }
        Ok(())
    }

    fn failed(&mut self, error: Option<io::Error>) {
        panic!("a shelf takes everything: {error:?}");
    }
}
