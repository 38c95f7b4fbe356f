//! Subnets to emulate.

use netloom_infiniband::{Cable, Guid, Node, NodeId, NodeKind, Speed, Subnet, SubnetPort, Width};

/// A builder for subnets.
#[derive(Default)]
pub(crate) struct Growing {
    subnet: Subnet,
    speed: Option<Speed>,
}

/// Adds a node with `n_ports` ports in addition to port 0.
fn node(kind: NodeKind, description: String, count: usize, n_ports: usize) -> Node {
    let is_switch = kind.is_switch();
    let first = if is_switch {
        0x0002_c903_0020_0000
    } else {
        0x0002_c903_0010_0000
    };
    let guid = Guid(first + 16 * count as u64);
    let port = |number: usize| SubnetPort {
        guid: (!is_switch && number > 0).then_some(Guid(guid.0 + number as u64)),
        ..SubnetPort::default()
    };
    Node {
        kind,
        guid,
        system_guid: None,
        device: None,
        description,
        ports: (0..=n_ports).map(port).collect(),
    }
}

impl Growing {
    fn add(&mut self, kind: NodeKind, description: String, n_ports: usize) -> NodeId {
        let same = |other: &&Node| other.kind.is_switch() == kind.is_switch();
        let count = self.subnet.nodes.iter().filter(same).count();
        self.subnet
            .nodes
            .push(node(kind, description, count, n_ports));
        NodeId(self.subnet.nodes.len() as u32 - 1)
    }

    fn host(&mut self, index: usize) -> NodeId {
        self.add(NodeKind::ChannelAdapter, format!("h{index} mlx5_0"), 1)
    }

    fn switch(&mut self, description: String, n_ports: usize) -> NodeId {
        let kind = NodeKind::Switch {
            enhanced_port_0: false,
        };
        self.add(kind, description, n_ports)
    }

    fn connect(&mut self, a: (NodeId, usize), b: (NodeId, usize)) {
        for (here, there) in [(a, b), (b, a)] {
            let port = &mut self.subnet.nodes[here.0.index()].ports[here.1];
            assert!(port.cable.is_none(), "one cable per port");
            port.cable = Some(Cable {
                node: there.0,
                port: there.1 as u8,
                width: Some(Width::ALL[2]),
                speed: Some(self.speed.unwrap_or(Speed::Hdr)),
            });
        }
    }
}

/// Builds two levels: each leaf has `hosts_of_leaf` hosts and one cable to each spine.
pub(crate) fn two_level(n_leaves: usize, n_spines: usize, hosts_of_leaf: usize) -> Subnet {
    let mut growing = Growing::default();
    let hosts: Vec<NodeId> = (0..n_leaves * hosts_of_leaf)
        .map(|i| growing.host(i))
        .collect();
    let n_ports = n_leaves.max(hosts_of_leaf + n_spines);
    let leaves: Vec<NodeId> = (0..n_leaves)
        .map(|i| growing.switch(format!("leaf{i}"), n_ports))
        .collect();
    let spines: Vec<NodeId> = (0..n_spines)
        .map(|i| growing.switch(format!("spine{i}"), n_ports))
        .collect();
    for (i, host) in hosts.into_iter().enumerate() {
        let leaf = leaves[i / hosts_of_leaf];
        growing.connect((host, 1), (leaf, i % hosts_of_leaf + 1));
    }
    for (l, leaf) in leaves.iter().enumerate() {
        for (s, spine) in spines.iter().enumerate() {
            growing.connect((*leaf, hosts_of_leaf + s + 1), (*spine, l + 1));
        }
    }
    growing.subnet
}

/// Builds the k-ary n-tree of Petrini and Vanneschi: `k^n` hosts, `n` levels of `k^(n-1)` switches
/// with `2 k` ports.
pub(crate) fn k_ary_n_tree(k: usize, n: u32) -> Subnet {
    let mut growing = Growing::default();
    let hosts: Vec<NodeId> = (0..k.pow(n)).map(|i| growing.host(i)).collect();
    let of_level = k.pow(n - 1);
    let switches: Vec<Vec<NodeId>> = (0..n)
        .map(|level| {
            let name = |word: usize| format!("level{level} switch{word}");
            (0..of_level)
                .map(|w| growing.switch(name(w), 2 * k))
                .collect()
        })
        .collect();
    for (i, host) in hosts.into_iter().enumerate() {
        growing.connect((host, 1), (switches[0][i / k], i % k + 1));
    }
    for level in 0..n as usize - 1 {
        // Switches of neighbouring levels are connected if their words differ at most in this
        // digit.
        let weight = k.pow(level as u32);
        for word in 0..of_level {
            let digit = word / weight % k;
            for up in 0..k {
                let above = word - digit * weight + up * weight;
                let (lower, upper) = (switches[level][word], switches[level + 1][above]);
                growing.connect((lower, k + 1 + up), (upper, digit + 1));
            }
        }
    }
    growing.subnet
}

/// Builds a line of switches, one with two hosts for each speed.
pub(crate) fn one_switch_per_speed() -> Subnet {
    let mut growing = Growing::default();
    let mut before: Option<NodeId> = None;
    for (i, speed) in Speed::all().enumerate() {
        growing.speed = Some(speed);
        let switch = growing.switch(format!("{speed}"), 4);
        for number in [1, 2] {
            let host = growing.host(2 * i + number - 1);
            growing.connect((host, 1), (switch, number));
        }
        if let Some(before) = before {
            growing.connect((before, 4), (switch, 3));
        }
        before = Some(switch);
    }
    growing.subnet
}

/// Enables enhanced ports 0 in a subnet.
pub(crate) fn with_enhanced_port_0(mut subnet: Subnet) -> Subnet {
    for node in &mut subnet.nodes {
        if let NodeKind::Switch { enhanced_port_0 } = &mut node.kind {
            *enhanced_port_0 = true;
        }
    }
    subnet
}
