//! Valiant routing on a full mesh: some packets go straight, the others through a random switch.
//!
//! ```text
//!   straight:  source ──lane 0──► target
//!   detour:    source ──lane 0──► drawn ──lane 1──► target
//! ```
//!
//! A packet on lane 1 goes directly to its target, so waiting packets cannot form a cycle: `check`
//! proves it from [`Route::choices`].

use std::sync::Arc;

use netloom::catalog::{Described, params};
use netloom::random::{Purpose, Stream};
use netloom::routing::{Facts, Forwarding, Hop, Lookup, QueueView, Route, Routing};
use netloom::topology::{Peer, Topology};
use netloom::units::{Port, SwitchId};

params! {
    /// The share of straight packets.
    #[derive(Clone, Debug)]
    pub struct Detour {
        /// The share of packets that go straight to the switch of their destination.
        pub straight: f64 = 0.5,
        /// Number of lanes. With 1 lane, `check` shows a cycle of packets that wait for each other.
        pub lanes: u8 = 2,
    }
    check |it, section| {
        if !(0.0..=1.0).contains(&it.straight) {
            let place = section.place_of("straight");
            section.notes.error("E0102", place, format!("expected a share, found {}", it.straight)).help("use 0 to 1");
        }
        if !(1..=2).contains(&it.lanes) {
            let place = section.place_of("lanes");
            section.notes.error("E0102", place, format!("expected 1 or 2 lanes, found {}", it.lanes)).help("use 2");
        }
    }
}

impl Described for Detour {
    const NAME: &'static str = "detour";
    const SUMMARY: &'static str =
        "On full meshes: straight, or through a switch that is drawn for each packet.";
    const PAPER: Option<&'static str> = Some(
        "L. G. Valiant, \"A scheme for fast parallel communication\", SIAM J. Comput. 11, 1982",
    );
    const EXAMPLE: &'static str = "straight = 0.5";
}

impl Routing for Detour {
    fn compile(&self, topology: &Arc<Topology>, seed: u64) -> Result<Forwarding, String> {
        let n = topology.n_switches() as usize;
        // The port from each switch to each other.
        let mut ports = vec![None; n * n];
        for at in topology.switches() {
            for (port, other, _) in topology.neighbours(at) {
                ports[at.index() * n + other.index()] = Some(port);
            }
        }
        let missing = (0..n * n).find(|&pair| ports[pair].is_none() && pair / n != pair % n);
        if let Some(pair) = missing {
            let name = |s: usize| topology.switch_name(SwitchId(s as u32));
            return Err(format!(
                "expected a full mesh, found no cable from {} to {}",
                name(pair / n),
                name(pair % n)
            ));
        }
        let mesh = Mesh {
            topology: topology.clone(),
            ports,
            straight: (self.straight * f64::from(u32::MAX)) as u32,
            second: self.lanes - 1,
            stream: Stream::new(seed, Purpose::Routing),
        };
        let facts = Facts {
            keeps_order: self.straight == 1.0,
            needs_occasion: true,
            ..Facts::new(self.lanes)
        };
        Ok(Forwarding::own(Arc::new(mesh), facts))
    }
}

/// The compiled form. Its results depend only on the arguments.
#[derive(Debug)]
struct Mesh {
    topology: Arc<Topology>,
    /// The port from switch `a` to switch `b` at `a * n + b`.
    ports: Vec<Option<Port>>,
    /// A packet whose draw is at most this goes straight.
    straight: u32,
    /// The lane of the second half of a detour.
    second: u8,
    stream: Stream,
}

impl Mesh {
    fn to(&self, at: SwitchId, other: SwitchId, lane: u8) -> Hop {
        let n = self.topology.n_switches() as usize;
        let port = self.ports[at.index() * n + other.index()].expect("a full mesh");
        Hop { port, lane }
    }

    fn is_injected(&self, lookup: &Lookup) -> bool {
        matches!(self.topology.peer(lookup.at, lookup.from), Peer::Nic(_))
    }
}

impl Route for Mesh {
    fn route(&self, lookup: &Lookup, _word: &mut u8, _view: &dyn QueueView) -> Hop {
        let (at, occasion) = (lookup.at, lookup.occasion);
        let (target, port) = self.topology.attachment(lookup.destination);
        if at == target {
            return Hop { port, lane: 0 };
        }
        if !self.is_injected(lookup) {
            return self.to(at, target, self.second);
        }
        // Keyed by the packet, so that the division into partitions does not affect results.
        let draw = self
            .stream
            .draw([occasion.source.0, occasion.sequence, 0, 0]);
        if draw.0[0] <= self.straight {
            return self.to(at, target, 0);
        }
        // Any other switch. A packet that draws its target also goes straight.
        let other = draw.below(1, self.topology.n_switches() - 1);
        let other = SwitchId(if other < at.0 { other } else { other + 1 });
        self.to(at, other, 0)
    }

    fn choices(&self, lookup: &Lookup, hops: &mut Vec<Hop>) {
        let at = lookup.at;
        let (target, port) = self.topology.attachment(lookup.destination);
        if at == target {
            hops.push(Hop { port, lane: 0 });
        } else if self.is_injected(lookup) {
            let others = self.topology.switches().filter(|other| *other != at);
            hops.extend(others.map(|other| self.to(at, other, 0)));
        } else {
            hops.push(self.to(at, target, self.second));
        }
    }
}
