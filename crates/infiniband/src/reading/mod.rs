//! Reads the output of InfiniBand tools. There is one module per format. Each reports all errors of
//! its text with their places, and returns what could be read.
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
//! [`recognise`] returns the format of a text. [`read_subnet`] and [`read_programmed`] read any.

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
            let is = other.map_or("an unknown format", Format::name);
            notes
                .error(
                    "E1100",
                    beginning(source, text),
                    format!("expected a subnet listing, found {is}"),
                )
                .help("use the output of `ibnetdiscover`, or opensm-subnet.lst");
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
            let is = other.map_or("an unknown format", Format::name);
            let message = format!("expected tables of a subnet, found {is}");
            notes
                .error("E1100", beginning(source, text), message)
                .help("use the dumps of `opensm -D 0x43`, or the output of dump_fts and smpquery");
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
