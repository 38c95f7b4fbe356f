//! Writes what the tools of InfiniBand read: the same texts as they write, byte for byte where all is known.
//!
//! ```text
//! Subnet                   ibnetdiscover   for ibsim and people
//! Programmed.forwarding    forwarding      opensm-lfts.dump, for OpenSM's `-R file -U`
//! Programmed.sl_to_vl      sl_to_vl, slvl  answers of smpquery; lanes for ibdmchk
//! Programmed.arbitration   vl_arbitration  answers of smpquery
//! Programmed.lanes         port_info       answers of smpquery
//! Programmed.path_levels   path_levels     for ibdmchk
//! ```

mod checksummed;
mod forwarding;
mod ibdmchk;
mod ibnetdiscover;
mod smpquery;

pub use self::checksummed::checksummed;
pub use self::forwarding::forwarding;
pub use self::ibdmchk::{path_levels, slvl};
pub use self::ibnetdiscover::ibnetdiscover;
pub use self::smpquery::{
    port_info, sl_to_vl, sl_to_vl_answer, vl_arbitration, vl_arbitration_answer,
};

use crate::NodeKind;

/// What OpenSM and `ibroute` call a kind of node.
fn kind_name(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Switch { .. } => "Switch",
        NodeKind::ChannelAdapter => "Channel Adapter",
        NodeKind::Router => "Router",
    }
}

/// Writing to a text cannot fail.
const TO_TEXT: &str = "a text takes what is written to it";
