//! Reads what the tools of InfiniBand write. One file per format; each notes all mistakes of its text, with their
//! places, and gives what could be read.
//!
//! ```text
//! ibnetdiscover, ibsim net files   read_ibnetdiscover ─► Subnet
//! opensm-subnet.lst                read_subnet_list   ─► Subnet
//! opensm-lfts.dump, dump_fts, …    read_forwarding    ─► Programmed.forwarding
//! opensm.fdbs                      read_fdbs          ─► Programmed.forwarding
//! opensm-sl2vl.dump                read_sl_to_vl_dump ─► Programmed.sl_to_vl
//! smpquery sl2vl, vlarb, portinfo  read_smpquery      ─► Programmed.sl_to_vl, arbitration, lanes
//! psl of ibdmchk                   read_path_levels   ─► Programmed.path_levels
//! slvl of ibdmchk                  read_slvl          ─► Programmed.sl_to_vl
//! ```
//!
//! [`recognise`] tells which of them a text is; [`read_subnet`] and [`read_programmed`] read any.

mod assembly;
mod fdbs;
mod format;
mod forwarding;
mod ibnetdiscover;
mod lanes;
mod mistakes;
mod path_levels;
mod scanner;
mod sl_to_vl_dump;
mod slvl;
mod smpquery;
mod subnet_list;
mod tables;

use netloom_catalog::{Notes, Place};

pub use self::assembly::{MOST_PORTS, MOST_PORTS_OF_SUBNET};
pub use self::fdbs::read_fdbs;
pub use self::format::{Format, recognise};
pub use self::forwarding::read_forwarding;
pub use self::ibnetdiscover::{initiated_from, read_ibnetdiscover};
pub use self::mistakes::MOST_MISTAKES;
pub use self::path_levels::read_path_levels;
pub use self::sl_to_vl_dump::read_sl_to_vl_dump;
pub use self::slvl::read_slvl;
pub use self::smpquery::{Asked, read_smpquery};
pub use self::subnet_list::read_subnet_list;

use crate::{Programmed, Subnet};

/// Reads a subnet in either of its formats.
pub fn read_subnet(text: &str, source: u16, notes: &mut Notes) -> Subnet {
    match recognise(text) {
        Some(Format::Ibnetdiscover) => read_ibnetdiscover(text, source, notes),
        Some(Format::SubnetList) => read_subnet_list(text, source, notes),
        other => {
            let is = other.map_or("no format that is known", Format::name);
            notes
                .error(
                    "E1100",
                    beginning(source, text),
                    format!("this is {is}, and no subnet"),
                )
                .help("give what `ibnetdiscover` prints, or opensm-subnet.lst");
            Subnet::default()
        }
    }
}

/// Reads what is programmed in a subnet, in any of its formats.
pub fn read_programmed(
    text: &str,
    source: u16,
    asked: Asked<'_>,
    programmed: &mut Programmed,
    notes: &mut Notes,
) {
    let subnet = asked.subnet;
    match recognise(text) {
        Some(Format::Forwarding) => read_forwarding(text, source, subnet, programmed, notes),
        Some(Format::Fdbs) => read_fdbs(text, source, subnet, programmed, notes),
        Some(Format::SlToVlDump) => read_sl_to_vl_dump(text, source, subnet, programmed, notes),
        Some(Format::Smpquery) => read_smpquery(text, source, asked, programmed, notes),
        Some(Format::PathLevels) => read_path_levels(text, source, subnet, programmed, notes),
        Some(Format::Slvl) => read_slvl(text, source, subnet, programmed, notes),
        other => {
            let is = other.map_or("no format that is known", Format::name);
            let message = format!("this is {is}, and no table of a subnet");
            notes
                .error("E1100", beginning(source, text), message)
                .help("give what OpenSM dumps with -D 0x43, or what dump_fts and smpquery print");
        }
    }
}

fn beginning(source: u16, text: &str) -> Place {
    let line = text.lines().next().unwrap_or("");
    Place {
        source,
        start: 0,
        end: u32::try_from(line.len()).unwrap_or(u32::MAX),
    }
}
