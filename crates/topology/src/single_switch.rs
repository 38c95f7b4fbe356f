//! One switch with a NIC on every port.

use netloom_catalog::{Described, params};

use crate::blueprint::{Problems, note, refuse};
use crate::{Blueprint, Pgft, Topology};

params! {
    /// One switch with a NIC on every port.
    #[derive(Clone, Debug)]
    pub struct SingleSwitch {
        /// Ports of the switch, and number of NICs.
        pub ports: u32,
    }
    check |it, section| { note(it.problems(), section); }
}

impl SingleSwitch {
    fn problems(&self) -> Problems {
        match self.ports {
            1..=65535 => vec![],
            n => vec![("ports", format!("expected 1 to 65535 ports, found {n}"))],
        }
    }
}

impl Blueprint for SingleSwitch {
    fn build(&self, _seed: u64) -> Result<Topology, String> {
        refuse(self.problems())?;
        // The smallest tree, so that tree routings accept it.
        let shape = Pgft {
            m: vec![self.ports],
            w: vec![1],
            p: vec![1],
        };
        Ok(shape.build())
    }

    fn n_nics(&self) -> Option<u64> {
        Some(u64::from(self.ports))
    }

    fn n_ports(&self) -> Option<u64> {
        self.n_nics()
    }
}

impl Described for SingleSwitch {
    const NAME: &'static str = "single-switch";
    const SUMMARY: &'static str = "One switch with a NIC on every port.";
    const EXAMPLE: &'static str = "ports = 8";
}
