//! Writes the input of InfiniBand tools, byte for byte as the tools print it where all is known.
//!
//! ```text
//! Subnet                   ibnetdiscover   a listing, for ibsim
//! Programmed.forwarding    forwarding      opensm-lfts.dump, for OpenSM's `-R file -U`
//! Programmed.sl_to_vl      sl_to_vl, slvl  output of smpquery; lanes for ibdmchk
//! Programmed.arbitration   vl_arbitration  output of smpquery
//! Programmed.lanes         port_info       output of smpquery
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

/// Returns the name that OpenSM and `ibroute` give to a kind of node.
fn kind_name(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Switch { .. } => "Switch",
        NodeKind::ChannelAdapter => "Channel Adapter",
        NodeKind::Router => "Router",
    }
}

/// The message of `expect` for writes to a `String`.
const TO_TEXT: &str = "writing to a string cannot fail";
