//! A real InfiniBand subnet, read from the output of its tools.
//!
//! Ports keep the numbers of the site. Port 0 of a switch is its management port and has no cable,
//! so a switch of 36 ports has 37 here. Every port of a channel adapter with a cable is a NIC.
//! Cables have the rates that were found, with a class per rate.

use std::sync::{Arc, OnceLock};

use netloom_catalog::{Described, Disk, Files, FromToml, Notes, Shape, Value, params};
use netloom_topology::{Blueprint, Builder, Peer, Structure, Topology};
use netloom_units::{NicId, Port, Rate, SwitchId};

use crate::{Cable, Guid, Node, NodeId, NodeKind, Site, Speed, Subnet, SubnetPort, Width};

params! {
    /// A real InfiniBand subnet, with the names, rates and tables in its files.
    #[derive(Clone, Debug)]
    pub struct InfiniBand {
        /// The files, relative to the experiment. The format of each is recognised: output of
        /// `ibnetdiscover` or opensm-subnet.lst; forwarding tables (opensm-lfts.dump, `dump_fts`);
        /// SL2VL maps and arbitration tables (opensm-sl2vl.dump, `smpquery`); service levels of
        /// paths (psl).
        pub files: SiteFiles = SiteFiles::new(vec![]),
        /// Output of `ibnetdiscover`, instead of files.
        pub text: Option<String> = None,
        /// With `text`: forwarding tables, SL2VL maps and the contents of any other file, each in
        /// the format of its tool.
        pub tables: Vec<String> = vec![],
    }
    check |it, section| {
        if it.files.names.is_empty() == it.text.is_none() {
            let place = section.place_of("files");
            section.notes.error("E0200", place, "expected either `files` or `text`").help("set \
                files = [\"ibnetdiscover.txt\", \"opensm-lfts.dump\"]");
        }
        if it.text.is_none() && !it.tables.is_empty() {
            let place = section.place_of("tables");
            section.notes.error("E0200", place, "`tables` requires `text`").help("set `files` to \
                the names of all files");
        }
    }
}

impl InfiniBand {
    /// Returns the site described by the files or the text.
    ///
    /// # Errors
    /// All mistakes in them, one per line.
    pub fn site(&self) -> Result<Arc<Site>, String> {
        self.files.site(|names, files| match &self.text {
            None => Site::read(names, files),
            Some(text) => Site::of_texts(text, &self.tables),
        })
    }
}

/// Names of files, and the site once it has been read.
#[derive(Clone, Debug)]
pub struct SiteFiles {
    names: Vec<String>,
    files: Arc<dyn Files>,
    read: Arc<OnceLock<Result<Arc<Site>, String>>>,
}

impl SiteFiles {
    /// Files of the current directory that have not been read yet.
    pub fn new(names: Vec<String>) -> Self {
        SiteFiles {
            names,
            files: Arc::new(Disk::HERE.clone()),
            read: Arc::default(),
        }
    }

    /// Returns the site, which is read once.
    fn site(
        &self,
        read: impl FnOnce(&[String], &dyn Files) -> Result<Site, String>,
    ) -> Result<Arc<Site>, String> {
        let read = || read(&self.names, &*self.files).map(Arc::new);
        self.read.get_or_init(read).clone()
    }
}

impl FromToml for SiteFiles {
    fn shape() -> Shape {
        Vec::<String>::shape()
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        Vec::<String>::read(value, notes).map(SiteFiles::new)
    }

    fn write(&self) -> String {
        self.names.write()
    }
}

impl Blueprint for InfiniBand {
    fn read_from(&mut self, files: &Arc<dyn Files>) {
        self.files.files = files.clone();
        self.files.read = Arc::default();
    }

    fn build(&self, _seed: u64) -> Result<Topology, String> {
        topology(&self.site()?)
    }

    fn n_nics(&self) -> Option<u64> {
        let site = self.site().ok()?;
        Some(site.nics.len() as u64)
    }

    fn n_ports(&self) -> Option<u64> {
        let site = self.site().ok()?;
        let n_ports = |node: &Node| node.ports.len() as u64;
        let switches = site.switches.iter();
        Some(
            switches
                .map(|id| n_ports(&site.subnet.nodes[id.index()]))
                .sum(),
        )
    }
}

impl Described for InfiniBand {
    const NAME: &'static str = "infiniband";
    const SUMMARY: &'static str = "A real InfiniBand subnet, read from the output of its tools.";
    const EXAMPLE: &'static str = r#"text = """
Switch 2 "S-0000000000000001" # "leaf" base port 0 lid 1 lmc 0
[1] "H-0000000000000010"[1](11) # "node0" lid 2 4xHDR
[2] "H-0000000000000020"[1](21) # "node1" lid 3 4xHDR

Ca 1 "H-0000000000000010" # "node0"
[1](11) "S-0000000000000001"[1] # lid 2 lmc 0 "leaf" lid 1 4xHDR

Ca 1 "H-0000000000000020" # "node1"
[1](21) "S-0000000000000001"[2] # lid 3 lmc 0 "leaf" lid 1 4xHDR
""" # or files = ["ibnetdiscover.txt", "opensm-lfts.dump"]"#;
}

/// A kind of cable: whether it leads to a NIC, and its rate if known.
type CableClass = (bool, Option<Rate>);

fn class_of(cable: &Cable, is_host: bool) -> CableClass {
    let rate = cable.speed.zip(cable.width);
    (is_host, rate.map(|(speed, width)| speed.rate(width)))
}

/// Returns the name of a class, as in `switch-HDR-x4`.
fn class_name(cable: &Cable, is_host: bool) -> String {
    let whose = if is_host { "host" } else { "switch" };
    match cable.speed.zip(cable.width) {
        Some((speed, width)) => format!("{whose}-{speed}-x{}", width.lanes()),
        None => whose.to_owned(),
    }
}

/// Builds the fabric of a site.
///
/// # Errors
/// If there is nothing to simulate.
fn topology(site: &Arc<Site>) -> Result<Topology, String> {
    if site.nics.is_empty() {
        return Err("expected a host with a cable to a switch, found none".to_owned());
    }
    let node = |at: usize| &site.subnet.nodes[site.switches[at].index()];
    let mut switch_of = vec![None; site.subnet.nodes.len()];
    for (at, id) in site.switches.iter().enumerate() {
        switch_of[id.index()] = Some(SwitchId(at as u32));
    }
    let is_left_out = |cable: &Cable| site.left_out.contains(&(cable.node, cable.port));
    // Host cables come first, as in every fabric, then by rate, so that the order does not depend
    // on the files.
    let mut classes: Vec<(CableClass, String)> = vec![];
    let mut cables = vec![];
    for at in 0..site.switches.len() {
        let here = SwitchId(at as u32);
        for (number, port) in node(at).ports.iter().enumerate() {
            let Some(cable) = port.cable.filter(|cable| !is_left_out(cable)) else {
                continue;
            };
            let there = switch_of[cable.node.index()];
            let class = class_of(&cable, there.is_none());
            if classes.iter().all(|(own, _)| *own != class) {
                classes.push((class, class_name(&cable, there.is_none())));
            }
            cables.push(((here, Port(number as u16)), there, cable, class));
        }
    }
    classes.sort_by_key(|((is_host, rate), _)| (!is_host, *rate));
    // The first class of every fabric is `host`: here that of the slowest hosts, which are usually
    // all of them.
    "host".clone_into(&mut classes[0].1);
    if classes.len() > 256 {
        return Err("expected at most 256 kinds of cables".to_owned());
    }
    let mut builder = Builder::new(classes.iter().map(|(_, name)| name.clone()).collect());
    builder.class_rates(classes.iter().map(|((_, rate), _)| *rate).collect());
    for at in 0..site.switches.len() {
        builder.switch(node(at).ports.len() as u16);
    }
    let mut next_nic = 0;
    for (from, there, cable, class) in cables {
        let class = classes.iter().position(|(own, _)| *own == class);
        let class = class.expect("every class was listed") as u8;
        match there {
            // Each cable is listed at both of its ends.
            Some(to) => {
                let to = (to, Port(u16::from(cable.port)));
                if from < to {
                    builder.connect(from, to, class);
                }
            }
            None => {
                let nic = builder.nic(from, class);
                assert_eq!(nic, NicId(next_nic), "NICs in order of their switches");
                next_nic += 1;
            }
        }
    }
    assert_eq!(site.nics.len(), next_nic as usize, "a cable of each NIC");
    builder.names(site.switch_names(), site.nic_names());
    builder.origin(site.clone());
    Ok(builder.finish(Structure::Plain))
}

/// The first GUIDs of the devices in a generated subnet.
const SWITCH_GUIDS: u64 = 0x0002_c903_0020_0000;
const HOST_GUIDS: u64 = 0x0002_c903_0010_0000;

/// Describes any fabric as a subnet that could be built. Port n of a switch becomes its port n + 1,
/// and all cables have the same speed.
///
/// # Errors
/// If a switch has more ports than InfiniBand can number.
pub fn as_subnet(topology: &Topology, speed: Speed, width: Width) -> Result<Subnet, String> {
    if topology.radix() > 253 {
        return Err(format!(
            "expected switches of at most 253 ports, as in InfiniBand, found some of {}",
            topology.radix()
        ));
    }
    let cable = |node: u32, port: u16| {
        Some(Cable {
            node: NodeId(node),
            port: port as u8 + 1,
            width: Some(width),
            speed: Some(speed),
        })
    };
    let n_switches = topology.n_switches();
    let mut nodes = vec![];
    for switch in topology.switches() {
        let guid = Guid(SWITCH_GUIDS + u64::from(switch.0) * 0x10);
        let mut ports = vec![SubnetPort {
            guid: Some(guid),
            ..SubnetPort::default()
        }];
        for port in topology.ports(switch) {
            let cable = match topology.peer(switch, port) {
                Peer::Switch(other, there) => cable(other.0, there.0),
                Peer::Nic(nic) => cable(n_switches + nic.0, 0),
                Peer::Unused => None,
            };
            ports.push(SubnetPort {
                cable,
                ..SubnetPort::default()
            });
        }
        nodes.push(Node {
            kind: NodeKind::Switch {
                enhanced_port_0: false,
            },
            guid,
            system_guid: Some(guid),
            device: None,
            description: topology.switch_name(switch),
            ports,
        });
    }
    for nic in topology.nics() {
        let guid = Guid(HOST_GUIDS + u64::from(nic.0) * 0x10);
        let (switch, port) = topology.attachment(nic);
        let ports = vec![
            SubnetPort::default(),
            SubnetPort {
                guid: Some(Guid(guid.0 + 1)),
                cable: cable(switch.0, port.0),
                ..SubnetPort::default()
            },
        ];
        nodes.push(Node {
            kind: NodeKind::ChannelAdapter,
            guid,
            system_guid: Some(guid),
            device: None,
            description: topology.nic_name(nic),
            ports,
        });
    }
    Ok(Subnet { nodes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_topology::{FatTree, measures};

    #[test]
    fn the_example_is_a_fabric() {
        let (_, text) = InfiniBand::EXAMPLE.split_once("\"\"\"\n").unwrap();
        let (text, _) = text.split_once("\"\"\"").unwrap();
        let made = InfiniBand {
            files: SiteFiles::new(vec![]),
            text: Some(text.to_owned()),
            tables: vec![],
        };
        let topology = made.build(1).unwrap();
        assert_eq!((topology.n_nics(), topology.n_switches()), (2, 1));
        assert_eq!(topology.nic_name(NicId(1)), "node1");
        assert_eq!(topology.attachment(NicId(1)), (SwitchId(0), Port(2)));
        assert_eq!(topology.class_rate(0), Some(Rate(200_000_000_000)));
    }

    #[test]
    fn any_fabric_is_a_subnet_and_that_is_the_fabric_again() {
        let tree = FatTree {
            arity: 2,
            levels: 3,
        }
        .build(1)
        .unwrap();
        let speed = "HDR".parse().unwrap();
        let subnet = as_subnet(&tree, speed, "4x".parse().unwrap()).unwrap();
        let site = Arc::new(Site::new(subnet, Default::default()));
        let again = topology(&site).unwrap();
        assert_eq!(
            (again.n_nics(), again.n_switches(), again.n_cables()),
            (8, 12, tree.n_cables())
        );
        assert_eq!(measures(&again).diameter, measures(&tree).diameter);
        for nic in tree.nics() {
            let ((switch, port), (at, there)) = (tree.attachment(nic), again.attachment(nic));
            assert_eq!(
                (switch, port.0 + 1),
                (at, there.0),
                "port 0 is the switch's own"
            );
        }
    }
}
