//! The fabric as flat arrays: eight bytes per port, eight per NIC.

use std::sync::Arc;

use netloom_units::{NicId, Port, Rate, SwitchId};

use netloom_infiniband::Site;

use crate::Structure;

/// What is at the other end of a port's cable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Peer {
    /// A port of another switch.
    Switch(SwitchId, Port),
    /// A NIC.
    Nic(NicId),
    /// Nothing: the port has no cable.
    Unused,
}

/// One port: eight bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct End {
    /// The switch or NIC at the other end.
    id: u32,
    /// The port there, if it is a switch.
    port: Port,
    /// The class of the cable.
    class: u8,
    kind: EndKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum EndKind {
    Unused,
    Switch,
    Nic,
}

const UNUSED: End = End {
    id: 0,
    port: Port(0),
    class: 0,
    kind: EndKind::Unused,
};

/// A fabric: switches, NICs and the cables between their ports.
///
/// Cables are symmetric (the peer of the peer of a port is that port) and every NIC has exactly one.
#[derive(Clone, PartialEq, Debug)]
pub struct Topology {
    /// First port of each switch in `ends`, and one past the last.
    offsets: Vec<u32>,
    ends: Vec<End>,
    attachments: Vec<(SwitchId, Port)>,
    classes: Vec<String>,
    /// Names given by a file; empty if there are none.
    switch_names: Vec<String>,
    nic_names: Vec<String>,
    /// By class of cables, where the fabric itself tells; empty if it does not.
    class_rates: Vec<Option<Rate>>,
    site: Option<Arc<Site>>,
    radix: u16,
    n_cables: u32,
    structure: Structure,
}

impl Topology {
    /// Number of NICs.
    #[inline]
    pub fn n_nics(&self) -> u32 {
        self.attachments.len() as u32
    }

    /// Number of switches.
    #[inline]
    pub fn n_switches(&self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    /// Number of ports of a switch, unused ones included.
    #[inline]
    pub fn n_ports(&self, switch: SwitchId) -> u16 {
        (self.offsets[switch.index() + 1] - self.offsets[switch.index()]) as u16
    }

    /// Number of ports of all switches together.
    pub fn n_ports_in_all(&self) -> usize {
        self.ends.len()
    }

    /// A port's place when the ports of all switches are counted through, for arrays by port.
    #[inline]
    pub fn port_index(&self, switch: SwitchId, port: Port) -> usize {
        self.offsets[switch.index()] as usize + port.index()
    }

    /// Number of ports of the largest switch.
    pub fn radix(&self) -> u16 {
        self.radix
    }

    /// Number of cables, those to NICs included.
    pub fn n_cables(&self) -> u32 {
        self.n_cables
    }

    #[inline]
    fn end(&self, switch: SwitchId, port: Port) -> &End {
        debug_assert!(port.0 < self.n_ports(switch), "{switch} has no {port}");
        &self.ends[self.port_index(switch, port)]
    }

    /// What is at the other end of a port's cable.
    #[inline]
    pub fn peer(&self, switch: SwitchId, port: Port) -> Peer {
        let end = self.end(switch, port);
        match end.kind {
            EndKind::Switch => Peer::Switch(SwitchId(end.id), end.port),
            EndKind::Nic => Peer::Nic(NicId(end.id)),
            EndKind::Unused => Peer::Unused,
        }
    }

    /// The switch and port a NIC is cabled to.
    #[inline]
    pub fn attachment(&self, nic: NicId) -> (SwitchId, Port) {
        self.attachments[nic.index()]
    }

    /// The class of the cable at a port, an index into [`Topology::link_classes`].
    #[inline]
    pub fn link_class(&self, switch: SwitchId, port: Port) -> u8 {
        self.end(switch, port).class
    }

    /// The classes of cables; an experiment gives rates and delays by class. The first is `host`.
    pub fn link_classes(&self) -> &[String] {
        &self.classes
    }

    /// The rate of a class of cables, where the fabric tells it: cables of a real site have theirs.
    pub fn class_rate(&self, class: u8) -> Option<Rate> {
        self.class_rates.get(usize::from(class)).copied().flatten()
    }

    /// The real subnet that this is, where it was read from one.
    pub fn site(&self) -> Option<&Arc<Site>> {
        self.site.as_ref()
    }

    /// What is regular about this fabric.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// All switches in order.
    pub fn switches(&self) -> impl DoubleEndedIterator<Item = SwitchId> + use<> {
        (0..self.n_switches()).map(SwitchId)
    }

    /// All NICs in order.
    pub fn nics(&self) -> impl DoubleEndedIterator<Item = NicId> + use<> {
        (0..self.n_nics()).map(NicId)
    }

    /// All ports of a switch in order.
    pub fn ports(&self, switch: SwitchId) -> impl DoubleEndedIterator<Item = Port> + use<> {
        (0..self.n_ports(switch)).map(Port)
    }

    /// The ports of a switch that lead to other switches: (port, switch, port there).
    pub fn neighbours(
        &self,
        switch: SwitchId,
    ) -> impl Iterator<Item = (Port, SwitchId, Port)> + '_ {
        self.ports(switch)
            .filter_map(move |port| match self.peer(switch, port) {
                Peer::Switch(other, there) => Some((port, other, there)),
                _ => None,
            })
    }

    /// The name of a switch: the one its file gave, or `s` and its number.
    pub fn switch_name(&self, switch: SwitchId) -> String {
        name(&self.switch_names, 's', switch.0)
    }

    /// The name of a NIC: the one its file gave, or `n` and its number.
    pub fn nic_name(&self, nic: NicId) -> String {
        name(&self.nic_names, 'n', nic.0)
    }

    /// Partition of each switch for a run in `n` parts: balanced by ports, cutting few cables.
    ///
    /// Trees go by top-level subtree with the roots spread evenly, grids by slabs, dragonflies and megaflies by whole groups, everything else by
    /// blocks of breadth-first order. If there are at least `n` switches, no part is empty.
    pub fn partitions(&self, n: usize) -> Vec<u16> {
        crate::partitions::partitions(self, n)
    }

    /// Hop counts (cables between switches) from a switch to every switch; `None` if out of reach.
    pub fn distances(&self, from: SwitchId) -> Vec<Option<u32>> {
        let mut distances = vec![None; self.n_switches() as usize];
        for (order, &(switch, distance)) in self.breadth_first(from).iter().enumerate() {
            debug_assert!(order < distances.len());
            distances[switch.index()] = Some(distance);
        }
        distances
    }

    /// The switches within reach of one, nearest first, each with its distance.
    pub fn breadth_first(&self, from: SwitchId) -> Vec<(SwitchId, u32)> {
        let mut seen = vec![false; self.n_switches() as usize];
        let mut queue = Vec::with_capacity(seen.len());
        seen[from.index()] = true;
        queue.push((from, 0));
        let mut next = 0;
        while let Some(&(switch, distance)) = queue.get(next) {
            next += 1;
            for (_, other, _) in self.neighbours(switch) {
                if !std::mem::replace(&mut seen[other.index()], true) {
                    queue.push((other, distance + 1));
                }
            }
        }
        queue
    }

    /// The same fabric without the cables at these ports.
    ///
    /// A tree keeps its structure, so that it keeps its routings; any other fabric is of no regular structure then.
    ///
    /// # Panics
    ///
    /// If a port has the cable of a NIC, or none.
    pub fn without(&self, cables: &[(SwitchId, Port)]) -> Topology {
        let mut left = self.clone();
        for &(switch, port) in cables {
            let Peer::Switch(other, there) = self.peer(switch, port) else {
                panic!("{switch} {port} has no cable to a switch");
            };
            let ends = [(switch, port), (other, there)].map(|(s, p)| self.port_index(s, p));
            left.n_cables -= u32::from(left.ends[ends[0]] != UNUSED);
            for end in ends {
                left.ends[end] = UNUSED;
            }
        }
        if !matches!(self.structure, Structure::Tree(_)) {
            left.structure = Structure::Plain;
        }
        left
    }

    /// Whether two fabrics have the same switches, ports, NICs, cables and classes, whatever is known
    /// about their structure and names.
    pub fn has_same_wiring(&self, other: &Topology) -> bool {
        self.offsets == other.offsets
            && self.ends == other.ends
            && self.attachments == other.attachments
            && self.classes == other.classes
    }
}

fn name(names: &[String], letter: char, id: u32) -> String {
    names
        .get(id as usize)
        .cloned()
        .unwrap_or_else(|| format!("{letter}{id}"))
}

/// Makes a [`Topology`] switch by switch and cable by cable.
pub struct Builder {
    made: Topology,
}

impl Builder {
    /// A fabric without switches, with its classes of cables; the first is that of host cables.
    pub fn new(classes: Vec<String>) -> Self {
        assert!(
            !classes.is_empty() && classes.len() <= 256,
            "1 to 256 classes of cables"
        );
        Builder {
            made: Topology {
                offsets: vec![0],
                ends: vec![],
                attachments: vec![],
                classes,
                switch_names: vec![],
                nic_names: vec![],
                class_rates: vec![],
                site: None,
                radix: 0,
                n_cables: 0,
                structure: Structure::Plain,
            },
        }
    }

    /// Adds a switch with a number of ports, all unused for now.
    pub fn switch(&mut self, n_ports: u16) -> SwitchId {
        let ends = &mut self.made.ends;
        ends.resize(ends.len() + usize::from(n_ports), UNUSED);
        let end = u32::try_from(ends.len()).expect("fewer than 2^32 ports");
        self.made.offsets.push(end);
        self.made.radix = self.made.radix.max(n_ports);
        SwitchId(self.made.n_switches() - 1)
    }

    /// Adds that many equal switches.
    pub fn switches(&mut self, count: u32, n_ports: u16) {
        self.made
            .ends
            .reserve(count as usize * usize::from(n_ports));
        for _ in 0..count {
            self.switch(n_ports);
        }
    }

    /// Cables the ports of two switches.
    pub fn connect(&mut self, a: (SwitchId, Port), b: (SwitchId, Port), class: u8) {
        assert!(a != b, "{} {} cabled to itself", a.0, a.1);
        for (here, there) in [(a, b), (b, a)] {
            self.put(
                here,
                End {
                    id: there.0.0,
                    port: there.1,
                    class,
                    kind: EndKind::Switch,
                },
            );
        }
        self.made.n_cables += 1;
    }

    /// Adds the next NIC and cables it to a port.
    pub fn nic(&mut self, at: (SwitchId, Port), class: u8) -> NicId {
        let nic = NicId(self.made.n_nics());
        self.put(
            at,
            End {
                id: nic.0,
                port: Port(0),
                class,
                kind: EndKind::Nic,
            },
        );
        self.made.attachments.push(at);
        self.made.n_cables += 1;
        nic
    }

    fn put(&mut self, at: (SwitchId, Port), end: End) {
        assert!(at.1.0 < self.made.n_ports(at.0), "{} has no {}", at.0, at.1);
        let index = self.made.port_index(at.0, at.1);
        let old = &mut self.made.ends[index];
        assert!(
            old.kind == EndKind::Unused,
            "{} {} has two cables",
            at.0,
            at.1
        );
        *old = end;
    }

    /// Gives the switches and NICs their names. Names that say what the numbers say are dropped.
    pub fn names(&mut self, switches: Vec<String>, nics: Vec<String>) {
        let plain = |names: &[String], letter: char| {
            names
                .iter()
                .enumerate()
                .all(|(i, n)| *n == format!("{letter}{i}"))
        };
        if !plain(&switches, 's') {
            self.made.switch_names = switches;
        }
        if !plain(&nics, 'n') {
            self.made.nic_names = nics;
        }
    }

    /// Gives classes of cables rates of their own, in the order of the classes.
    pub fn class_rates(&mut self, rates: Vec<Option<Rate>>) {
        assert_eq!(
            rates.len(),
            self.made.classes.len(),
            "a rate for each class"
        );
        self.made.class_rates = rates;
    }

    /// Says which real subnet this is.
    pub fn site(&mut self, site: Arc<Site>) {
        assert_eq!(site.switches.len(), self.made.n_switches() as usize);
        assert_eq!(site.nics.len(), self.made.n_nics() as usize);
        self.made.site = Some(site);
    }

    /// The fabric as it is now, with what is regular about it.
    pub fn finish(mut self, structure: Structure) -> Topology {
        self.made.structure = structure;
        self.made
    }
}
