//! Shorthands for other switches, queues and flow control than the defaults of a case.

use netloom_fabric::{
    Allocation, Architecture, CentralStart, FlowControl, Hierarchy, NicQueues, QueueScheme, Sizes,
    Thresholds,
};

use super::Case;

/// Parameters of a hierarchical switch.
#[derive(Clone, Copy)]
pub(crate) struct Centre {
    pub(crate) ports: u16,
    pub(crate) links: u16,
    pub(crate) to: (u32, u32),
    pub(crate) from: (u32, u32),
    /// Flits per lane of one central link.
    pub(crate) flits: u32,
    pub(crate) pooled: bool,
    pub(crate) start: CentralStart,
}

impl Default for Centre {
    fn default() -> Self {
        Centre {
            ports: 4,
            links: 2,
            to: (3, 1),
            from: (3, 1),
            flits: 64,
            pooled: false,
            start: CentralStart::Header,
        }
    }
}

impl Case {
    /// Uses buffers at inputs only, with a crossbar at the pace of the links.
    pub(crate) fn input_queued(self) -> Case {
        let flit = self.links[0].flit;
        assert!(self.links.iter().all(|link| link.flit == flit), "one rate");
        Case {
            speedup: (
                u32::try_from(self.period).unwrap(),
                u32::try_from(flit).unwrap(),
            ),
            architecture: Architecture::InputQueued,
            ..self
        }
    }

    pub(crate) fn islip(self, iterations: u8) -> Case {
        Case {
            allocation: Allocation::Islip { iterations },
            ..self
        }
    }

    pub(crate) fn queues(self, queues: QueueScheme) -> Case {
        Case { queues, ..self }
    }

    /// Uses credits for each queue of `queue_flits` flits.
    pub(crate) fn queue_credits(self, queue_flits: u32) -> Case {
        Case {
            queue_flits,
            flow_control: FlowControl::QueueCredits,
            ..self
        }
    }

    /// Uses VOQs per destination, and injection queues of `queue_flits` flits.
    pub(crate) fn per_destination(self, queue_flits: u32) -> Case {
        Case {
            queue_flits,
            nic_queues: NicQueues::PerDestination,
            ..self
        }
    }

    /// Uses MPorts around a central crossbar. Lanes and packet sizes must be set before.
    pub(crate) fn hierarchical(self, centre: Centre) -> Case {
        let largest = self.plan().largest;
        let central_buffer = if centre.pooled {
            let min: Box<[u32]> = largest.iter().map(|&flits| u32::from(flits)).collect();
            let sum: u32 = min.iter().sum();
            let capacity = (centre.flits * largest.len() as u32).max(sum);
            let max = min.iter().map(|own| capacity - (sum - own)).collect();
            Sizes::Pool { capacity, min, max }
        } else {
            Sizes::Static(vec![centre.flits; largest.len()].into())
        };
        Case {
            architecture: Architecture::Hierarchical(Hierarchy {
                centre: netloom_routing::deadlock::Centre::of_mports(centre.ports, centre.links),
                mport_speedup: centre.to,
                central_speedup: centre.from,
                central_buffer,
                start: centre.start,
            }),
            ..self
        }
    }

    /// Uses PAUSE of whole links with the thresholds of [`Case::pfc`], and the same buffer shared
    /// by all lanes.
    pub(crate) fn pause(self, xoff: u32, xon: u32) -> Case {
        let lanes = u32::try_from(self.plan().largest.len()).unwrap();
        let of_lanes = self.pfc(xoff, xon);
        let FlowControl::Pfc(thresholds) = &of_lanes.flow_control else {
            unreachable!("it was just made");
        };
        let together = |of_class: &Vec<Thresholds>| {
            let tightest = of_class.iter().min_by_key(|lane| lane.xoff).unwrap();
            let input = of_lanes.input.div_ceil(lanes) * lanes;
            let more = input - of_lanes.input;
            Thresholds {
                xoff: tightest.xoff + more,
                xon: tightest.xon + more,
            }
        };
        Case {
            input: of_lanes.input.div_ceil(lanes),
            flow_control: FlowControl::Pause(thresholds.iter().map(together).collect()),
            ..of_lanes
        }
    }

    /// Uses priority flow control: lanes stop above `xoff` flits and restart at `xon`, at the input
    /// of the longest link. Buffers are just large enough. Links, lanes and packet sizes must be
    /// set before.
    pub(crate) fn pfc(self, xoff: u32, xon: u32) -> Case {
        let plan = self.plan();
        let (period, cycles) = (self.period, self.pipeline);
        // Maximum time from the decision to send to the first flit on the link.
        let ahead = match self.architecture {
            Architecture::InputQueued => cycles.allocation + cycles.crossbar + cycles.output,
            _ => cycles.output + 1,
        } * period;
        let headroom = |class: usize, vl: usize| {
            let link = plan.links[class];
            let largest = u64::from(plan.largest[vl]);
            let usual = (2 * link.delay).div_ceil(link.flit) + 2 * largest;
            // With every stage and every rounding to a clock edge.
            let stages = ahead + cycles.credit * period + 2 * period.max(link.flit) + link.flit;
            let needed = (2 * link.delay + stages).div_ceil(link.flit) + largest;
            u32::try_from(usual.max(needed)).unwrap()
        };
        let lanes = 0..plan.largest.len();
        let classes = 0..plan.links.len();
        let most = lanes
            .clone()
            .flat_map(|vl| classes.clone().map(move |class| (class, vl)))
            .map(|(class, vl)| headroom(class, vl))
            .max()
            .unwrap();
        let input = xoff + most;
        let thresholds = |class: usize, vl: usize| {
            let xoff_here = input - headroom(class, vl);
            Thresholds {
                xoff: xoff_here,
                xon: xoff_here - (xoff - xon),
            }
        };
        let of_class = |class| lanes.clone().map(|vl| thresholds(class, vl)).collect();
        Case {
            input,
            pooled: false,
            flow_control: FlowControl::Pfc(classes.map(of_class).collect()),
            ..self
        }
    }
}
