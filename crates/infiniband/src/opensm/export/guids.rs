//! Writes lists of GUIDs for OpenSM: roots of a tree, or nodes of a group.

use crate::Guid;

/// Writes one GUID per line: the form of `root_guid_file`, `cn_guid_file` and similar files.
pub fn guid_list(guids: impl IntoIterator<Item = Guid>) -> String {
    guids.into_iter().map(|guid| format!("{guid}\n")).collect()
}
