//! Priority flow control: receivers stop lanes, senders react between packets.

use netloom_fabric::{FlowControl, Thresholds};
use netloom_topology::Peer;
use netloom_units::NicId;

use super::Twin;
use super::state::{Class, Occurrence, Sender, assert_holds};

impl Twin<'_> {
    /// Reports a change of a receiver's count, made at tick `when`, to the sender on an edge of its
    /// clock.
    pub(super) fn learn(&mut self, sender: Sender, when: u64, delay: u64, vl: u8, change: i64) {
        let switch = self.plan.switch.crossbar();
        let clock = match sender {
            Sender::Switch(..) => switch.period,
            Sender::Nic(nic) => self.plan.nic_link(NicId(nic as u32)).flit,
        };
        let known = (when + switch.pipeline.credit * switch.period + delay).div_ceil(clock) * clock;
        self.at(known, Occurrence::Counted(sender, vl, change));
    }

    fn thresholds(&self, sender: Sender, vl: usize) -> Thresholds {
        let Peer::Switch(switch, port) = self.receiver(sender) else {
            unreachable!("NICs stop no lanes");
        };
        let class = self.plan.topology.link_class(switch, port);
        match &self.plan.flow_control {
            FlowControl::Pfc(by_class) => by_class[usize::from(class)][vl],
            FlowControl::Pause(by_class) => by_class[usize::from(class)],
            _ => unreachable!("without it nothing is counted"),
        }
    }

    /// Evaluates which lanes are stopped, after all changes of a tick.
    pub(super) fn pause(&mut self) {
        for sender in std::mem::take(&mut self.changed) {
            for vl in 0..usize::from(self.plan.n_vls) {
                let limits = self.thresholds(sender, vl);
                let sizes = &self.plan.switch.crossbar().input_buffer;
                let is_link = matches!(self.plan.flow_control, FlowControl::Pause(_));
                let most = if is_link {
                    sizes.total()
                } else {
                    sizes.most(vl)
                };
                let far = self.far_mut(sender);
                let counted = match is_link {
                    true => far.counted.iter().sum(),
                    false => far.counted[vl],
                };
                assert!(
                    (0..=i64::from(most)).contains(&counted),
                    "{counted} flits are counted in {most}"
                );
                if counted > i64::from(limits.xoff) {
                    far.is_stopped[vl] = true;
                } else if counted <= i64::from(limits.xon) {
                    far.is_stopped[vl] = false;
                }
            }
        }
    }

    /// Checks that input buffers do not overflow, after all changes of a tick.
    pub(super) fn check_inputs(&mut self) {
        let sizes = &self.plan.switch.crossbar().input_buffer;
        for (s, p) in std::mem::take(&mut self.written) {
            let state = &self.ports[s][p];
            let lanes = 0..self.plan.n_vls;
            let of_lane = |vl| state.in_buffer.get(&Class::Lane(vl)).copied().unwrap_or(0);
            let present: Vec<u32> = lanes.map(of_lane).collect();
            let is_link = matches!(self.plan.flow_control, FlowControl::Pause(_));
            let holds = |flits: &[u32], place: &str| match is_link {
                true => assert!(
                    flits.iter().sum::<u32>() <= sizes.total(),
                    "no overflow of {place}"
                ),
                false => assert_holds(sizes, flits, place),
            };
            holds(&present, "an input");
            for (&class, &flits) in &state.in_buffer {
                if let Class::Queue(queue) = class {
                    assert!(flits <= self.queue_limit(queue), "no overflow of a queue");
                }
            }
            if self.plan.flow_control.stops_senders() {
                holds(&state.whole, "an input, in whole packets");
                for (vl, &whole) in state.whole.iter().enumerate() {
                    assert!(present[vl] <= whole, "the count covers all flits");
                }
            }
        }
    }
}
