//! The utilisation of links and buffers.

use netloom_fabric::{FabricPlan, PortUse};
use netloom_results::{Frame, LinkGroup, LinkLine, LinksSummary, Table, Window};
use netloom_topology::Peer;
use netloom_units::{NicId, Port, SwitchId};

use super::gathered::Snapshot;

/// The counts of links and ports in a time interval.
pub(super) struct Usage<'a> {
    plan: &'a FabricPlan,
    start: Option<&'a Snapshot>,
    end: &'a Snapshot,
    /// Length of the interval.
    ticks: u64,
}

/// The sender of a link.
#[derive(Clone, Copy)]
enum Sender {
    Nic(NicId),
    Switch(SwitchId, Port, Peer),
}

impl<'a> Usage<'a> {
    pub(super) fn new(
        plan: &'a FabricPlan,
        start: Option<&'a Snapshot>,
        end: &'a Snapshot,
        ticks: u64,
    ) -> Self {
        Usage {
            plan,
            start,
            end,
            ticks,
        }
    }

    /// Returns all senders, NICs first.
    fn senders(&self) -> impl Iterator<Item = Sender> + '_ {
        let topology = &self.plan.topology;
        let ports = topology.switches().flat_map(move |switch| {
            topology
                .ports(switch)
                .map(move |port| (switch, port, topology.peer(switch, port)))
        });
        let wired = ports.filter(|(_, _, peer)| *peer != Peer::Unused);
        let switches = wired.map(|(switch, port, peer)| Sender::Switch(switch, port, peer));
        let all = topology.nics().map(Sender::Nic).chain(switches);
        // Of several processes, only the first has the counts.
        let is_first_process = !self.end.nic_flits.is_empty();
        all.filter(move |_| is_first_process)
    }

    /// Returns the counts of a port in the interval. The peak is since the start of the run.
    fn port(&self, switch: SwitchId, port: Port) -> PortUse {
        let at = self.plan.topology.port_index(switch, port);
        let end = self.end.ports[at];
        let start = self
            .start
            .map_or(PortUse::default(), |start| start.ports[at]);
        // The delay of flits into an output buffer is subtracted when they are granted, and the
        // rest is added when they leave. An interval that ends between the two may have a negative
        // value.
        let spent = end.output_residence.wrapping_sub(start.output_residence);
        PortUse {
            flits: end.flits - start.flits,
            packets: end.packets - start.packets,
            choices: end.choices - start.choices,
            input_residence: end.input_residence - start.input_residence,
            output_residence: u64::try_from(spent.cast_signed()).unwrap_or(0),
            output_peak: end.output_peak,
        }
    }

    fn nic_flits(&self, nic: NicId) -> u64 {
        let sum = |snapshot: &Snapshot| snapshot.nic_flits[nic.index()].iter().sum::<u64>();
        sum(self.end) - self.start.map_or(0, sum)
    }

    /// Returns the flits sent, and the share of the time that this took.
    fn sent(&self, sender: Sender) -> (u64, f64) {
        let topology = &self.plan.topology;
        let (flits, (switch, port)) = match sender {
            Sender::Nic(nic) => (self.nic_flits(nic), topology.attachment(nic)),
            Sender::Switch(switch, port, _) => (self.port(switch, port).flits, (switch, port)),
        };
        let flit = self.plan.links[usize::from(topology.link_class(switch, port))].flit;
        (flits, self.per_tick(flits * flit))
    }

    fn per_tick(&self, amount: u64) -> f64 {
        if self.ticks > 0 {
            amount as f64 / self.ticks as f64
        } else {
            0.0
        }
    }

    fn kind(sender: Sender) -> &'static str {
        match sender {
            Sender::Nic(_) => "injection",
            Sender::Switch(_, _, Peer::Nic(_)) => "delivery",
            Sender::Switch(..) => "fabric",
        }
    }

    fn name(&self, sender: Sender) -> String {
        let topology = &self.plan.topology;
        match sender {
            Sender::Nic(nic) => topology.nic_name(nic),
            Sender::Switch(switch, port, _) => {
                format!("{}:{}", topology.switch_name(switch), port.0)
            }
        }
    }

    fn group(&self, kind: &str) -> LinkGroup {
        let mut group = LinkGroup::default();
        let mut busiest = None;
        for sender in self.senders().filter(|&sender| Self::kind(sender) == kind) {
            let (_, utilisation) = self.sent(sender);
            group.links += 1;
            group.utilisation_mean += utilisation;
            if utilisation > group.utilisation_max {
                group.utilisation_max = utilisation;
                busiest = Some(sender);
            }
        }
        group.utilisation_mean /= (group.links as f64).max(1.0);
        group.busiest = busiest.map(|sender| self.name(sender));
        group
    }

    pub(super) fn summary(&self, window: Window) -> LinksSummary {
        let (mut ports, mut input, mut fullest, mut output, mut peak) = (0u64, 0.0, 0.0, 0.0, 0);
        let (mut packets, mut choices) = (0, 0);
        for sender in self.senders() {
            let Sender::Switch(switch, port, _) = sender else {
                continue;
            };
            let usage = self.port(switch, port);
            let mean = self.per_tick(usage.input_residence);
            ports += 1;
            input += mean;
            fullest = mean.max(fullest);
            output += self.per_tick(usage.output_residence);
            peak = peak.max(usage.output_peak);
            packets += usage.packets;
            choices += usage.choices;
        }
        let ports = (ports as f64).max(1.0);
        LinksSummary {
            window,
            injection: self.group("injection"),
            fabric: self.group("fabric"),
            delivery: self.group("delivery"),
            input_buffer_mean_flits: input / ports,
            input_buffer_fullest_mean_flits: fullest,
            output_buffer_mean_flits: output / ports,
            output_buffer_peak_flits: u64::from(peak),
            choice_share: (packets > 0).then(|| choices as f64 / packets as f64),
        }
    }

    /// Writes every link as a line of its table.
    pub(super) fn write(&self, seed: u64, links: &mut Frame) {
        let topology = &self.plan.topology;
        for sender in self.senders() {
            let (flits, utilisation) = self.sent(sender);
            let mut line = LinkLine {
                seed,
                kind: Self::kind(sender).to_owned(),
                utilisation,
                flits,
                ..LinkLine::default()
            };
            let at = match sender {
                Sender::Nic(nic) => topology.attachment(nic),
                Sender::Switch(switch, port, _) => (switch, port),
            };
            let class = usize::from(topology.link_class(at.0, at.1));
            line.link_class = topology.link_classes()[class].clone();
            let receiver = match sender {
                Sender::Nic(nic) => {
                    line.from = topology.nic_name(nic);
                    Some(at)
                }
                Sender::Switch(switch, port, peer) => {
                    let usage = self.port(switch, port);
                    line.from = topology.switch_name(switch);
                    line.from_port = Some(port.0);
                    line.packets = Some(usage.packets);
                    line.choices = Some(usage.choices);
                    line.output_buffer_mean_flits = Some(self.per_tick(usage.output_residence));
                    line.output_buffer_peak_flits = Some(u64::from(usage.output_peak));
                    match peer {
                        Peer::Switch(other, there) => Some((other, there)),
                        Peer::Nic(nic) => {
                            line.to = topology.nic_name(nic);
                            None
                        }
                        Peer::Unused => None,
                    }
                }
            };
            if let Some((switch, port)) = receiver {
                let residence = self.port(switch, port).input_residence;
                line.to = topology.switch_name(switch);
                line.to_port = Some(port.0);
                line.input_buffer_mean_flits = Some(self.per_tick(residence));
            }
            links.push(line.data());
        }
    }
}
