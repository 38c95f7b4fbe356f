//! Outputs onto links.

use std::fmt;

use netloom_catalog::nearest;
use netloom_units::{NicId, Port, SwitchId};

use crate::{Peer, Topology};

/// An output onto a link, with an arbiter and its tables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Egress {
    /// The output of a NIC.
    Nic(NicId),
    /// An output port of a switch, to another switch or to a NIC.
    Switch(SwitchId, Port),
}

impl Egress {
    /// Returns the name in this fabric: `n3`, or `s1:4` for a port of a switch.
    pub fn name(&self, topology: &Topology) -> String {
        match *self {
            Egress::Nic(nic) => topology.nic_name(nic),
            Egress::Switch(switch, port) => format!("{}:{}", topology.switch_name(switch), port.0),
        }
    }

    /// Finds an output by its name: `s3:2`, `s3 P2`, or `n0` for the output of a NIC.
    ///
    /// # Errors
    /// If there is no such output; the text tells what exists.
    pub fn named(topology: &Topology, name: &str) -> Result<Egress, String> {
        let is_called = |own: String| own.eq_ignore_ascii_case(name.trim());
        if let Some(nic) = topology
            .nics()
            .find(|&nic| is_called(topology.nic_name(nic)))
        {
            return Ok(Egress::Nic(nic));
        }
        let Some((switch, number)) = name.trim().rsplit_once([':', ' ']) else {
            let names = topology.nics().map(|nic| topology.nic_name(nic));
            let names: Vec<String> = names.collect();
            let near = nearest(name, names.iter().map(String::as_str));
            let help = near.map_or(
                "use s3:2 for a port of a switch, or n0 for the output of a NIC".into(),
                |near| format!("did you mean {near}?"),
            );
            return Err(format!("there is no such NIC; {help}"));
        };
        let found = topology
            .switches()
            .find(|&id| topology.switch_name(id).eq_ignore_ascii_case(switch.trim()))
            .ok_or_else(|| format!("there is no switch {switch}; see `netloom show switches`"))?;
        let number = number.trim_start_matches(['p', 'P']);
        let n = topology.n_ports(found);
        match number.parse() {
            Ok(port) if port < n && topology.peer(found, Port(port)) == Peer::Unused => {
                Err("that port has no cable".into())
            }
            Ok(port) if port < n => Ok(Egress::Switch(found, Port(port))),
            _ => Err(format!(
                "there is no port {number}; {switch} has ports 0 to {}",
                n.saturating_sub(1)
            )),
        }
    }
}

impl fmt::Display for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Egress::Nic(nic) => write!(f, "{nic}"),
            Egress::Switch(switch, port) => write!(f, "{switch} {port}"),
        }
    }
}
