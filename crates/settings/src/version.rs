//! Which versions of a library have a setting.

use std::cmp::Ordering;

use crate::table::{Library, Setting};

/// Whether a version has a setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Yes,
    No,
    NotKnown,
}

/// Returns the numbers of a version such as `2.30.7` or `v1.8`.
fn numbers(version: &str) -> Option<Vec<u32>> {
    let version = version.strip_prefix('v').unwrap_or(version);
    let parts = version.split('.').map(|part| part.parse().ok());
    parts
        .collect::<Option<Vec<u32>>>()
        .filter(|parts| parts.len() <= 8)
}

fn compared(a: &str, b: &str) -> Option<Ordering> {
    let (mut a, mut b) = (numbers(a)?, numbers(b)?);
    let most = a.len().max(b.len());
    a.resize(most, 0);
    b.resize(most, 0);
    Some(a.cmp(&b))
}

impl Setting {
    /// Returns whether a version of the library has the setting. Versions after the newest one that
    /// was read are not known, and neither are versions that are not numbers.
    pub fn is_in(&self, library: &Library, version: &str) -> Answer {
        let newest = compared(version, &library.version);
        if newest.is_none_or(|order| order == Ordering::Greater) || !self.is_verified() {
            return Answer::NotKnown;
        }
        let Some(since) = &self.since else {
            return Answer::NotKnown;
        };
        let (first, before) = match since.strip_prefix("<=") {
            Some(first) => (first, Answer::NotKnown),
            None => (since.as_str(), Answer::No),
        };
        match compared(version, first) {
            None => Answer::NotKnown,
            Some(Ordering::Less) => before,
            Some(_) => Answer::Yes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::table;

    fn answer(key: &str, version: &str) -> Answer {
        let setting = table().setting(key).unwrap();
        setting.is_in(table().library(&setting.library).unwrap(), version)
    }

    #[test]
    fn an_unknown_version_is_not_known() {
        assert_eq!(answer("NCCL_IB_FIFO_TC", "2.22.3"), Answer::Yes);
        assert_eq!(answer("NCCL_IB_FIFO_TC", "2.21.5"), Answer::No);
        assert_eq!(answer("NCCL_GIN_IB_TC", "2.30.4"), Answer::No);
        for version in ["2.31", "99", "", "main", "2.x", "1.2.3.4.5.6.7.8.9"] {
            assert_eq!(
                answer("NCCL_IB_FIFO_TC", version),
                Answer::NotKnown,
                "{version}"
            );
        }
        assert_eq!(
            answer("UCX_IB_SL", "1.7"),
            Answer::NotKnown,
            "older ones were not read"
        );
        assert_eq!(answer("UCX_IB_SL", "1.8"), Answer::Yes);
        assert_eq!(answer("MC_IB_SL", "0.3.11"), Answer::No);
        assert_eq!(answer("EP_OVERRIDE_RDMA_SL", "2.0"), Answer::NotKnown);
        assert_eq!(answer("verbsRdmaQpRtrSl", "5.1"), Answer::NotKnown);
    }
}
