//! Paths of packets through a fabric.

use netloom_random::{Purpose, Stream};
use netloom_topology::{Peer, Topology};
use netloom_units::{NicId, Port, SwitchId};

use crate::{Forwarding, Lookup, Occasion, Occupancy, QueueView};

/// A packet's path through one switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    pub switch: SwitchId,
    pub input: Port,
    pub output: Port,
    /// The lane on which it leaves.
    pub lane: u8,
}

/// Returns the path of one packet, or an error if it does not arrive.
pub fn path(
    topology: &Topology,
    forwarding: &Forwarding,
    from: NicId,
    to: NicId,
    sequence: u32,
) -> Result<Vec<Step>, String> {
    path_seeing(topology, forwarding, from, to, sequence, |_, _| 0)
}

/// Flits that wait at an output from which on an adaptive routing sees it as blocked and full.
const BLOCKED: u32 = 50;
const FULL: u32 = 100;

/// Returns the path of one packet. `queued` gives the flits that wait at each output; neighbours
/// know them.
pub fn path_seeing(
    topology: &Topology,
    forwarding: &Forwarding,
    from: NicId,
    to: NicId,
    sequence: u32,
    queued: impl Fn(SwitchId, Port) -> u32,
) -> Result<Vec<Step>, String> {
    let mut steps = vec![];
    let visit = |step| steps.push(step);
    follow(topology, forwarding, from, to, sequence, queued, visit)?;
    Ok(steps)
}

/// What waits in one switch and around it.
struct At<'a, F> {
    topology: &'a Topology,
    switch: SwitchId,
    queued: &'a F,
}

impl<F: Fn(SwitchId, Port) -> u32> QueueView for At<'_, F> {
    fn queued(&self, output: Port) -> u32 {
        (self.queued)(self.switch, output)
    }

    fn announced(&self, cable: Port, output: Port) -> u32 {
        match self.topology.peer(self.switch, cable) {
            Peer::Switch(other, _) => (self.queued)(other, output),
            _ => 0,
        }
    }

    fn is_blocked(&self, output: Port, _: u8) -> bool {
        self.queued(output) >= BLOCKED
    }

    fn occupancy(&self, output: Port, _: u8) -> Occupancy {
        Occupancy {
            used: self.queued(output).min(FULL),
            most: FULL,
        }
    }
}

fn follow(
    topology: &Topology,
    forwarding: &Forwarding,
    from: NicId,
    to: NicId,
    sequence: u32,
    queued: impl Fn(SwitchId, Port) -> u32,
    mut visit: impl FnMut(Step),
) -> Result<u32, String> {
    // Twice through every switch is more than any sound path takes.
    let limit = 2 * topology.n_switches() + 2;
    let (mut switch, mut input) = topology.attachment(from);
    let (mut lane, mut word) = (0, 0);
    for hop in 0..limit {
        let occasion = Occasion {
            source: from,
            sequence,
            hop: hop as u8,
        };
        let lookup = Lookup::any(switch, input, lane, to).with(occasion);
        let view = At {
            topology,
            switch,
            queued: &queued,
        };
        let next = forwarding.route_seeing(&lookup, &mut word, &view);
        if next.port.0 >= topology.n_ports(switch) {
            let port = next.port;
            return Err(format!("{from} to {to}: {switch} has no {port}"));
        }
        visit(Step {
            switch,
            input,
            output: next.port,
            lane: next.lane,
        });
        match topology.peer(switch, next.port) {
            Peer::Nic(nic) if nic == to => return Ok(hop + 1),
            Peer::Nic(nic) => return Err(format!("{from} to {to}: {switch} delivers to {nic}")),
            Peer::Unused => {
                let port = next.port;
                return Err(format!("{from} to {to}: {switch} {port} has no cable"));
            }
            Peer::Switch(other, port) => (switch, input, lane) = (other, port, next.lane),
        }
    }
    Err(format!(
        "{from} to {to}: not delivered after {limit} switches"
    ))
}

/// A mean over pairs of NICs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mean {
    /// Switches per path.
    pub switches: f64,
    /// Number of pairs.
    pub pairs: u64,
    /// Whether the pairs are a random sample.
    pub is_sample: bool,
}

/// Maximum number of pairs before sampling.
const PAIRS: u64 = 4_000_000;

/// Returns the mean number of switches on the path between two different NICs, over all ordered
/// pairs or, in large fabrics, a random million of them.
pub fn mean_switches(topology: &Topology, forwarding: &Forwarding) -> Result<Mean, String> {
    let n = topology.n_nics();
    let all = u64::from(n) * u64::from(n.saturating_sub(1));
    if all == 0 {
        return Err("expected at least two NICs".into());
    }
    let count = |from, to| {
        let (from, to) = (NicId(from), NicId(to));
        follow(topology, forwarding, from, to, 0, |_, _| 0, |_| {})
    };
    let mut sum = 0u64;
    if all <= PAIRS {
        for from in 0..n {
            for to in (0..n).filter(|&to| to != from) {
                sum += u64::from(count(from, to)?);
            }
        }
    } else {
        let stream = Stream::new(0, Purpose::Placement);
        for i in 0..PAIRS as u32 / 4 {
            let draw = stream.draw([i, 0, 0, 0]);
            let (from, other) = (draw.below(0, n), draw.below(1, n - 1));
            sum += u64::from(count(from, other + u32::from(other >= from))?);
        }
    }
    let pairs = if all <= PAIRS { all } else { PAIRS / 4 };
    Ok(Mean {
        switches: sum as f64 / pairs as f64,
        pairs,
        is_sample: all > PAIRS,
    })
}
