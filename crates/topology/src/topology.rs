//! A fabric as flat arrays: eight bytes per port, eight per NIC.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use netloom_units::{NicId, Port, Rate, SwitchId};

use crate::Structure;

/// What the cable of a port leads to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Peer {
    /// A port of another switch.
    Switch(SwitchId, Port),
    Nic(NicId),
    /// The port has no cable.
    Unused,
}

/// A port, in eight bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct End {
    /// The switch or NIC at the other end.
    id: u32,
    /// The port at the other end, if it is a switch's.
    port: Port,
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
/// Cables are symmetric (the peer of the peer of a port is that port), and every NIC has exactly
/// one.
#[derive(Clone, PartialEq, Debug)]
pub struct Topology {
    /// First port of each switch in `ends`, and one past the last.
    offsets: Vec<u32>,
    ends: Vec<End>,
    attachments: Vec<(SwitchId, Port)>,
    classes: Vec<String>,
    /// Names from a file; empty if there are none.
    switch_names: Vec<String>,
    nic_names: Vec<String>,
    /// Rate of each class of cables, if the fabric determines it; otherwise empty.
    class_rates: Vec<Option<Rate>>,
    origin: Option<Origin>,
    radix: u16,
    n_cables: u32,
    structure: Structure,
}

/// What a fabric was read from. Only the crate that read it knows the type.
#[derive(Clone)]
struct Origin(Arc<dyn Any + Send + Sync>);

impl PartialEq for Origin {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Origin")
    }
}

impl Topology {
    #[inline]
    pub fn n_nics(&self) -> u32 {
        self.attachments.len() as u32
    }

    #[inline]
    pub fn n_switches(&self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    /// Returns the number of ports of a switch, unused ones included.
    #[inline]
    pub fn n_ports(&self, switch: SwitchId) -> u16 {
        (self.offsets[switch.index() + 1] - self.offsets[switch.index()]) as u16
    }

    /// Returns the number of ports of all switches.
    pub fn n_ports_in_all(&self) -> usize {
        self.ends.len()
    }

    /// Returns the index of a port among those of all switches.
    #[inline]
    pub fn port_index(&self, switch: SwitchId, port: Port) -> usize {
        self.offsets[switch.index()] as usize + port.index()
    }

    /// Returns the number of ports of the largest switch.
    pub fn radix(&self) -> u16 {
        self.radix
    }

    /// Returns the number of cables, including those of NICs.
    pub fn n_cables(&self) -> u32 {
        self.n_cables
    }

    #[inline]
    fn end(&self, switch: SwitchId, port: Port) -> &End {
        debug_assert!(port.0 < self.n_ports(switch), "{switch} has no {port}");
        &self.ends[self.port_index(switch, port)]
    }

    /// Returns what the cable of a port leads to.
    #[inline]
    pub fn peer(&self, switch: SwitchId, port: Port) -> Peer {
        let end = self.end(switch, port);
        match end.kind {
            EndKind::Switch => Peer::Switch(SwitchId(end.id), end.port),
            EndKind::Nic => Peer::Nic(NicId(end.id)),
            EndKind::Unused => Peer::Unused,
        }
    }

    /// Returns the switch and port that a NIC is cabled to.
    #[inline]
    pub fn attachment(&self, nic: NicId) -> (SwitchId, Port) {
        self.attachments[nic.index()]
    }

    /// Returns the class of the cable at a port, an index into [`Topology::link_classes`].
    #[inline]
    pub fn link_class(&self, switch: SwitchId, port: Port) -> u8 {
        self.end(switch, port).class
    }

    /// Returns the classes of cables, by which an experiment sets rates and delays. The first is
    /// `host`.
    pub fn link_classes(&self) -> &[String] {
        &self.classes
    }

    /// Returns the rate of a class of cables, if the fabric determines it, as a real site does.
    pub fn class_rate(&self, class: u8) -> Option<Rate> {
        self.class_rates.get(usize::from(class)).copied().flatten()
    }

    /// Returns what the fabric was read from, if that is of this type: see [`Builder::origin`].
    pub fn origin<T: Any>(&self) -> Option<&T> {
        self.origin.as_ref()?.0.downcast_ref()
    }

    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    pub fn switches(&self) -> impl DoubleEndedIterator<Item = SwitchId> + use<> {
        (0..self.n_switches()).map(SwitchId)
    }

    pub fn nics(&self) -> impl DoubleEndedIterator<Item = NicId> + use<> {
        (0..self.n_nics()).map(NicId)
    }

    pub fn ports(&self, switch: SwitchId) -> impl DoubleEndedIterator<Item = Port> + use<> {
        (0..self.n_ports(switch)).map(Port)
    }

    /// Returns the ports of a switch that lead to other switches, as (port, switch, port there).
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

    /// Returns the name of a switch: the one from its file, or `s` and its number.
    pub fn switch_name(&self, switch: SwitchId) -> String {
        name(&self.switch_names, 's', switch.0)
    }

    /// Returns the name of a NIC: the one from its file, or `n` and its number.
    pub fn nic_name(&self, nic: NicId) -> String {
        name(&self.nic_names, 'n', nic.0)
    }

    /// Returns the partition of each switch for a run in `n` parts, balanced by ports and with few
    /// cables cut.
    ///
    /// Trees are split by top-level subtree with the roots spread evenly, grids by slabs,
    /// dragonflies and megaflies by whole groups, and other fabrics by blocks of breadth-first
    /// order. With at least `n` switches, no part is empty.
    pub fn partitions(&self, n: usize) -> Vec<u16> {
        crate::partitions::partitions(self, n)
    }

    /// Returns the hop counts (cables between switches) from a switch to every switch; `None` if
    /// out of reach.
    pub fn distances(&self, from: SwitchId) -> Vec<Option<u32>> {
        let mut distances = vec![None; self.n_switches() as usize];
        for (order, &(switch, distance)) in self.breadth_first(from).iter().enumerate() {
            debug_assert!(order < distances.len());
            distances[switch.index()] = Some(distance);
        }
        distances
    }

    /// Returns the switches within reach of a switch with their distances, nearest first.
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

    /// Returns the fabric without the cables at these ports.
    ///
    /// A tree keeps its structure, and thus its routings; any other fabric becomes one without
    /// structure.
    ///
    /// # Panics
    ///
    /// If a port has no cable, or the cable of a NIC.
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

    /// Whether two fabrics have the same switches, ports, NICs, cables and classes. Structure and
    /// names are ignored.
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

/// Builds a [`Topology`] switch by switch and cable by cable.
pub struct Builder {
    made: Topology,
}

impl Builder {
    /// Creates a fabric without switches. The first class of cables is that of host cables.
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
                origin: None,
                radix: 0,
                n_cables: 0,
                structure: Structure::Plain,
            },
        }
    }

    /// Adds a switch whose ports are all unused.
    pub fn switch(&mut self, n_ports: u16) -> SwitchId {
        let ends = &mut self.made.ends;
        ends.resize(ends.len() + usize::from(n_ports), UNUSED);
        let end = u32::try_from(ends.len()).expect("fewer than 2^32 ports");
        self.made.offsets.push(end);
        self.made.radix = self.made.radix.max(n_ports);
        SwitchId(self.made.n_switches() - 1)
    }

    /// Adds `count` equal switches.
    pub fn switches(&mut self, count: u32, n_ports: u16) {
        self.made
            .ends
            .reserve(count as usize * usize::from(n_ports));
        for _ in 0..count {
            self.switch(n_ports);
        }
    }

    /// Connects the ports of two switches.
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

    /// Adds the next NIC and connects it to a port.
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

    /// Sets the names of switches and NICs. Names that equal the default ones are dropped.
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

    /// Sets the rates of the classes of cables, in their order.
    pub fn class_rates(&mut self, rates: Vec<Option<Rate>>) {
        assert_eq!(
            rates.len(),
            self.made.classes.len(),
            "a rate for each class"
        );
        self.made.class_rates = rates;
    }

    /// Sets what the fabric was read from, for a routing that needs more of it than the cables.
    /// Fabrics are equal only if they share this value.
    pub fn origin(&mut self, origin: Arc<dyn Any + Send + Sync>) {
        self.made.origin = Some(Origin(origin));
    }

    /// Returns the fabric, with its structure.
    pub fn finish(mut self, structure: Structure) -> Topology {
        self.made.structure = structure;
        self.made
    }
}
