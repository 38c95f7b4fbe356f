//! Lists of GUIDs, as OpenSM reads them: roots of a tree, nodes of a group.

use crate::Guid;

/// One GUID in each line: the form of `root_guid_file`, `cn_guid_file` and the like.
pub fn guid_list(guids: impl IntoIterator<Item = Guid>) -> String {
    guids.into_iter().map(|guid| format!("{guid}\n")).collect()
}
