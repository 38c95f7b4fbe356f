//! Allocation in a switch of MPorts around a buffered central crossbar.

use netloom_fabric::{Architecture, CentralStart, CrossbarStart, Hierarchy, Pace};

use super::Twin;
use super::state::{Occurrence, assert_holds, room, turn};

/// An input of one of the crossbars: a port, or a central link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum From {
    Port(usize),
    Link(usize),
}

/// An output of one of the crossbars, in the order in which they are served.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum To {
    /// The writer of an output buffer from its own MPort.
    Local(usize),
    /// A central link, by MPort and number.
    Link(usize),
    /// The writer of an output buffer from the centre.
    Central(usize),
}

impl Twin<'_> {
    fn hierarchy(&self) -> &Hierarchy {
        match &self.plan.switch.crossbar().architecture {
            Architecture::Hierarchical(h) => h,
            _ => unreachable!("another architecture"),
        }
    }

    pub(super) fn pace(&self, (num, den): (u32, u32)) -> Pace {
        Pace {
            period: self.plan.switch.period(),
            num,
            den,
        }
    }

    /// Whether two ports belong to one MPort.
    pub(super) fn is_local(&self, p: usize, output: usize) -> bool {
        let ports = usize::from(self.hierarchy().centre.ports_per_mport);
        p / ports == output / ports
    }

    /// Returns the crossbar output that a packet at a port needs.
    fn crossbar_output(&self, p: usize, output: usize) -> To {
        let h = self.hierarchy();
        let (ports, links) = (
            usize::from(h.centre.ports_per_mport),
            usize::from(h.centre.links_per_mport),
        );
        if self.is_local(p, output) {
            To::Local(output)
        } else {
            To::Link(p / ports * links + output % links)
        }
    }

    /// Whether a packet may cross to a crossbar output now.
    fn has_room(&self, s: usize, from: From, to: To, id: usize) -> bool {
        let packet = &self.packets[id];
        let guarded = self.is_slotted(s, packet.output, true);
        match (from, to) {
            (From::Port(p), To::Local(_)) => self.fits_output(s, p, id),
            (From::Port(p), To::Link(link)) => {
                let sizes = &self.hierarchy().central_buffer;
                let used = &self.links[s][link].space_used;
                let free = room(sizes, used, usize::from(packet.next_vl));
                u64::from(free) >= packet.flits && (!guarded || self.fits_output(s, p, id))
            }
            // Its slot was taken before it came to the centre; its origin matters to rings only.
            (From::Link(_), To::Central(output)) => guarded || self.fits_output(s, output, id),
            _ => unreachable!("an existing path"),
        }
    }

    fn until(&self, s: usize, to: To) -> u64 {
        match to {
            To::Local(o) => self.ports[s][o].output_until,
            To::Link(link) => self.links[s][link].until,
            To::Central(o) => self.ports[s][o].central_until,
        }
    }

    /// Returns the request of the first packet of a queue, if it could cross now.
    fn request(&self, s: usize, from: From, queue: usize) -> Option<(To, usize)> {
        let (id, to) = match from {
            From::Port(p) => {
                let id = self.joined(s, p, queue)?;
                (id, self.crossbar_output(p, self.packets[id].output))
            }
            From::Link(link) => {
                let id = *self.links[s][link].queues[queue].front()?;
                if self.packets[id].central > self.now {
                    return None;
                }
                (id, To::Central(self.packets[id].output))
            }
        };
        let may = self.until(s, to) <= self.now && self.has_room(s, from, to, id);
        may.then_some((to, id))
    }

    /// Returns the request of an input connection: its first queue that could cross.
    fn asks(&self, s: usize, from: From, crossbar_input: usize) -> Option<(To, usize, usize)> {
        let (crossbar_inputs, n) = match from {
            From::Port(p) => (
                &self.ports[s][p].crossbar_inputs,
                self.ports[s][p].queues.len(),
            ),
            From::Link(link) => (
                &self.links[s][link].crossbar_inputs,
                self.links[s][link].queues.len(),
            ),
        };
        if crossbar_inputs[crossbar_input].until > self.now {
            return None;
        }
        (0..n)
            .map(|k| (crossbar_inputs[crossbar_input].next_queue + k) % n)
            .filter(|&queue| self.crossbar_input_of(queue) == crossbar_input)
            .find_map(|queue| self.request(s, from, queue).map(|(to, id)| (to, queue, id)))
    }

    pub(super) fn allocate_hierarchical(&mut self, s: usize) {
        let ports = (0..self.ports[s].len()).map(From::Port);
        let links = (0..self.links[s].len()).map(From::Link);
        let mut requests = vec![];
        let n_crossbar_inputs = self.n_crossbar_inputs();
        for from in ports.chain(links) {
            for crossbar_input in 0..n_crossbar_inputs {
                if let Some((to, queue, id)) = self.asks(s, from, crossbar_input) {
                    requests.push((to, (from, crossbar_input), queue, id));
                }
            }
        }
        let mut outputs: Vec<To> = requests.iter().map(|r| r.0).collect();
        outputs.sort();
        outputs.dedup();
        for to in outputs {
            let first = match to {
                To::Local(o) => self.ports[s][o].next_input,
                To::Link(link) => self.links[s][link].next_input,
                To::Central(o) => self.ports[s][o].next_link,
            };
            let number = |(from, crossbar_input): (From, usize)| match from {
                From::Port(p) => p * n_crossbar_inputs + crossbar_input,
                From::Link(link) => link * n_crossbar_inputs + crossbar_input,
            };
            let own = requests.iter().filter(|r| r.0 == to);
            let winner = own.min_by_key(|r| turn(number(r.1), first));
            let &(_, by, queue, id) = winner.expect("a request");
            let (from, _) = by;
            if !self.has_room(s, from, to, id) {
                continue;
            }
            match to {
                To::Local(o) => self.ports[s][o].next_input = number(by) + 1,
                To::Link(link) => self.links[s][link].next_input = number(by) + 1,
                To::Central(o) => self.ports[s][o].next_link = number(by) + 1,
            }
            match (from, to) {
                (From::Port(p), To::Local(o)) => self.cross_locally(s, p, queue, o),
                (From::Port(p), To::Link(link)) => self.cross_to_centre(s, p, queue, link),
                (From::Link(link), To::Central(o)) => self.cross_from_centre(s, link, queue, o),
                _ => unreachable!("an existing path"),
            }
        }
    }

    fn first(&self, s: usize, p: usize, queue: usize) -> usize {
        *self.ports[s][p].queues[queue].front().expect("a packet")
    }

    fn cross_locally(&mut self, s: usize, p: usize, queue: usize, output: usize) {
        let pace = self.plan.switch.crossbar().crossbar_pace();
        let id = self.first(s, p, queue);
        let passes = self.passes(pace, id, self.at_input(s, p, id));
        let until = self.held_until(pace, &passes);
        self.dequeue(s, p, queue, until);
        self.ports[s][output].output_until = until;
        self.packet_hops += 1;
        self.take_output(s, id);
        self.leave_input(s, p, id, &passes);
        self.enter_output(s, id, passes, false);
    }

    fn cross_to_centre(&mut self, s: usize, p: usize, queue: usize, link: usize) {
        let h = self.hierarchy();
        let (to, onwards) = (self.pace(h.mport_speedup), self.pace(h.central_speedup));
        let switch = self.plan.switch.crossbar();
        let (period, cycles) = (switch.period, switch.pipeline);
        let id = self.first(s, p, queue);
        let flits = self.packets[id].flits;
        let mut passes = self.passes(to, id, self.at_input(s, p, id));
        let until = self.held_until(to, &passes);
        self.dequeue(s, p, queue, until);
        self.links[s][link].until = until;
        self.packet_hops += 1;
        let (output, vl) = (self.packets[id].output, self.packets[id].next_vl);
        self.links[s][link].space_used[usize::from(vl)] += flits as u32;
        if self.is_slotted(s, output, true) {
            self.take_output(s, id);
        }
        self.leave_input(s, p, id, &passes);
        let there = self.now + (cycles.allocation + cycles.crossbar) * period;
        for (k, passes) in (0..).zip(&mut passes) {
            *passes += cycles.crossbar * period;
            self.at(*passes, Occurrence::InCentre(s, link, vl, id, k));
        }
        // The first edge from which the central crossbar would find every flit in time.
        let mut joined = there + cycles.input * period;
        let is_stored = self.plan.switch.crossbar().start == CrossbarStart::Stored;
        while is_stored
            && (0..flits).any(|k| {
                passes[k as usize] > joined + cycles.allocation * period + onwards.time_of(k)
            })
        {
            joined += period;
        }
        if self.hierarchy().start == CentralStart::Packet {
            let tail = *passes.last().expect("a packet has flits");
            joined = tail.next_multiple_of(period) + cycles.input * period;
        }
        self.passed.insert(id, passes);
        self.packets[id].central = joined;
        self.packets[id].buffered = there;
    }

    pub(super) fn in_centre(&mut self, s: usize, link: usize, vl: u8, id: usize, k: u64) {
        let Architecture::Hierarchical(h) = &self.plan.switch.crossbar().architecture else {
            unreachable!("another architecture");
        };
        let state = &mut self.links[s][link];
        state.in_buffer[usize::from(vl)] += 1;
        assert_holds(&h.central_buffer, &state.in_buffer, "a central buffer");
        if k == 0 {
            state.queues[usize::from(vl)].push_back(id);
        }
    }

    fn cross_from_centre(&mut self, s: usize, link: usize, queue: usize, output: usize) {
        let h = self.hierarchy();
        let pace = self.pace(h.central_speedup);
        let switch = self.plan.switch.crossbar();
        let (period, cycles) = (switch.period, switch.pipeline);
        let id = *self.links[s][link].queues[queue].front().expect("a packet");
        let packet = self.packets[id];
        let passes = self.passes(pace, id, self.passed[&id].clone());
        let until = self.held_until(pace, &passes);
        let crossbar_input = self.crossbar_input_of(queue);
        let state = &mut self.links[s][link];
        state.queues[queue].pop_front();
        state.crossbar_inputs[crossbar_input].until = until;
        state.crossbar_inputs[crossbar_input].next_queue = (queue + 1) % state.queues.len();
        self.ports[s][output].central_until = until;
        if !self.is_slotted(s, output, true) {
            self.take_output(s, id);
        }
        for (read, &there) in passes.iter().zip(&self.passed[&id].clone()) {
            assert!(there <= *read, "a flit is in the centre when it is read");
            let left = read + period;
            self.at(left, Occurrence::LeftCentre(s, link, packet.next_vl));
            // Later than the flit itself, or at the same tick but after it.
            let free = left + cycles.credit * period;
            self.at(free, Occurrence::CentreSpace(s, link, packet.next_vl));
        }
        self.enter_output(s, id, passes, true);
    }
}
