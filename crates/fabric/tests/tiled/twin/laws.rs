//! Invariants between ticks, recomputed from the actual flits.

use netloom_fabric::{RowSpace, StashUse};
use netloom_topology::Peer;

use super::Twin;
use super::packet::{Flit, Reading};
use super::switch::{Output, Switch};

impl Twin<'_> {
    fn flits_of(&self, id: usize) -> u32 {
        self.packets[id].flits
    }

    /// Checks all invariants; panics with the name of a violated one.
    pub(crate) fn check_laws(&self) {
        for (s, switch) in self.switches.iter().enumerate() {
            for p in 0..self.shape.ports() {
                self.check_credits(s, p);
                self.check_occupancy(switch, p);
                self.check_output(&switch.outputs[p]);
                self.check_stash(switch, p);
            }
            self.check_rows(switch);
            self.check_columns(switch);
        }
        self.check_packets();
    }

    /// Credits in use are those of packets that have not left the input at the other end, and those
    /// on their way back.
    fn check_credits(&self, s: usize, p: usize) {
        let switch = &self.switches[s];
        let sum =
            |ids: &mut dyn Iterator<Item = usize>| ids.map(|id| self.flits_of(id)).sum::<u32>();
        let input = &switch.inputs[p];
        for vc in 0..self.shape.n_vls {
            let on_wire = input
                .wire
                .iter()
                .filter(|(_, f, v)| f.is_header() && *v == vc);
            let received = input.headers.iter().filter(|(_, _, v)| *v == vc);
            let here = sum(&mut on_wire.map(|(_, f, _)| f.packet))
                + sum(&mut received.map(|(_, id, _)| *id))
                + sum(&mut input.heads[vc].iter().copied());
            let not_begun = |sending: Option<&super::switch::Sending>| match sending {
                Some(s) if s.reading.k == 0 && s.vc == vc => s.reading.flits,
                _ => 0,
            };
            let (used, there, back) = match switch.peers[p] {
                Peer::Switch(up, port) => {
                    let sender = &self.switches[up.index()].outputs[port.index()];
                    let pool = sender.peer_buffer.as_ref().expect("a switch behind");
                    let back = sender.credits.iter().filter(|(_, v, _)| *v == vc);
                    let there = sender.sending.iter().map(|s| not_begun(Some(s))).sum();
                    pool.check();
                    (pool.used(vc), there, back.map(|(_, _, n)| n).sum::<u32>())
                }
                Peer::Nic(nic) => {
                    let sender = &self.nics[nic.index()];
                    let back = sender.credits.iter().filter(|(_, v, _)| *v == vc);
                    let back: u32 = back.map(|(_, _, n)| n).sum();
                    sender.peer_buffer.check();
                    let there = not_begun(sender.sending.as_ref());
                    (sender.peer_buffer.used(vc), there, back)
                }
                Peer::Unused => (0, 0, 0),
            };
            assert_eq!(used, here + there + back, "credits are conserved");
        }
    }

    fn check_occupancy(&self, switch: &Switch, p: usize) {
        let input = &switch.inputs[p];
        let waiting: u32 = input
            .heads
            .iter()
            .flatten()
            .map(|&id| self.flits_of(id))
            .sum();
        assert_eq!(input.occupancy, waiting, "occupancy is what waits");
    }

    fn check_output(&self, output: &Output) {
        output.pool.check();
        for vc in 0..self.shape.n_vls {
            assert!(output.present[vc] <= output.pool.used(vc));
            assert!(output.flits[vc].len() as u32 <= output.present[vc]);
        }
    }

    fn headers<'a>(&self, flits: impl Iterator<Item = &'a Flit>) -> u32 {
        let headers = flits.filter(|f| f.is_header());
        headers.map(|f| self.flits_of(f.packet)).sum()
    }

    /// The space in use is that of packets whose header is there or on its way there.
    fn check_rows(&self, switch: &Switch) {
        let shape = self.shape;
        for p in 0..shape.ports() {
            for c in 0..shape.columns {
                let row = &switch.rows[shape.at_row(p, c)];
                for vc in 0..shape.vcs() {
                    let coming = switch.to_rows.iter().filter(|(_, (to, column, place, _))| {
                        (*to, *column) == (p, c)
                            && place.map_or(shape.store(), |(_, channel)| channel) == vc
                    });
                    let coming = self.headers(coming.map(|(_, (_, _, _, flit))| flit));
                    let here = if vc == shape.store() {
                        self.headers(row.store.iter())
                    } else {
                        self.headers(row.voqs.iter().flat_map(|voqs| &voqs[vc]))
                    };
                    let used: u32 = row.used.iter().map(|used| used[vc]).sum();
                    assert_eq!(used, coming + here, "space in rows is conserved");
                    let limit = self.tiled.row_buffer;
                    match self.tiled.row_space {
                        RowSpace::Shared => assert!(used <= limit),
                        RowSpace::PerOutput => {
                            assert!(row.used.iter().all(|used| used[vc] <= limit));
                        }
                    }
                }
            }
        }
    }

    fn check_columns(&self, switch: &Switch) {
        let shape = self.shape;
        for q in 0..shape.ports() {
            for r in 0..shape.rows {
                let column = &switch.columns[shape.at_column(q, r)];
                for vc in 0..shape.vcs() {
                    let place = (q, r, vc);
                    let coming = switch.to_columns.iter();
                    let coming = coming.filter(|(_, (q, r, vc, _))| (*q, *r, *vc) == place);
                    let coming = self.headers(coming.map(|(_, (_, _, _, flit))| flit));
                    let here = self.headers(column.fifos[vc].iter());
                    assert_eq!(
                        column.used[vc],
                        coming + here,
                        "space in columns is conserved"
                    );
                    assert!(column.used[vc] <= self.tiled.column_buffer);
                }
            }
        }
    }

    fn check_stash(&self, switch: &Switch, j: usize) {
        let stash = &switch.stashes[j];
        assert!(stash.used <= stash.capacity, "a stash does not overflow");
        let even = |id: usize| self.flits_of(id).next_multiple_of(2);
        let stashed: u32 = match self.tiled.stash {
            Some(StashUse::Congestion) => {
                let coming = switch.to_stashes.iter().filter(|(_, (to, _))| *to == j);
                let coming = coming.map(|(_, (_, flit))| flit);
                let all = coming.chain(&stash.flits).filter(|f| f.is_header());
                all.map(|f| even(f.packet)).sum::<u32>() + stash.freed
            }
            _ => stash.copies.values().map(|copy| even(copy.packet)).sum(),
        };
        assert_eq!(stash.used, stashed, "space in stashes is conserved");
    }

    /// Every data packet that was injected is delivered, in transit or in a stash.
    fn check_packets(&self) {
        let counts = &self.counts;
        let ended = counts.delivered;
        assert!(ended <= counts.injected_data, "no packet from nowhere");
        if self.tiled.stash.is_none() && self.tiled.faults.are_off() {
            let acks = counts.acknowledgements;
            let in_flight = counts.injected() - ended - acks;
            assert_eq!(in_flight, self.headers_in_flight(), "packets are conserved");
        }
    }

    /// Returns the packets by the position of their tail, which leaves any position last.
    fn headers_in_flight(&self) -> u64 {
        let is_tail = |f: &&Flit| f.k + 1 == self.flits_of(f.packet);
        let tails = |flits: &mut dyn Iterator<Item = &Flit>| flits.filter(is_tail).count() as u64;
        let unread = |r: &Reading| u64::from(r.k < r.flits);
        let mut n = 0;
        for switch in &self.switches {
            for input in &switch.inputs {
                n += tails(&mut input.wire.iter().map(|(_, f, _)| f));
                n += tails(&mut input.flits.iter().flatten());
            }
            n += tails(&mut switch.to_rows.iter().map(|(_, (_, _, _, f))| f));
            n += tails(&mut switch.to_columns.iter().map(|(_, (_, _, _, f))| f));
            n += tails(&mut switch.to_outputs.iter().map(|(_, (_, _, f))| f));
            for row in &switch.rows {
                n += tails(&mut row.voqs.iter().flatten().flatten());
            }
            for column in &switch.columns {
                n += tails(&mut column.fifos.iter().flatten());
            }
            for output in &switch.outputs {
                n += tails(&mut output.flits.iter().flatten());
            }
        }
        for nic in &self.nics {
            n += tails(&mut nic.wire.iter().map(|(_, f)| f));
            n += nic.sending.as_ref().map_or(0, |s| unread(&s.reading));
        }
        n
    }

    /// Whether nothing waits or is in transit, and all buffers are empty.
    pub(crate) fn is_idle(&self) -> bool {
        let output = |o: &Output| {
            o.pool.in_use() == 0
                && o.present.iter().all(|&n| n == 0)
                && o.sending.is_empty()
                && o.credits.is_empty()
                && o.acknowledged.is_empty()
                && o.committed == 0
                && o.peer_buffer.as_ref().is_none_or(|pool| pool.in_use() == 0)
        };
        let switch = |s: &Switch| {
            let inputs = s.inputs.iter().all(|i| {
                i.wire.is_empty()
                    && i.headers.is_empty()
                    && i.flits.iter().all(|f| f.is_empty())
                    && i.heads.iter().all(|f| f.is_empty())
                    && i.dropping.is_empty()
                    && i.bus.is_none()
                    && i.tracked.is_empty()
            });
            let stashes = s.stashes.iter().all(|s| {
                s.used == 0 && s.copies.is_empty() && s.retrieval.is_empty() && s.freed == 0
            });
            inputs
                && stashes
                && s.rows
                    .iter()
                    .all(|r| r.used.iter().flatten().all(|&n| n == 0))
                && s.columns.iter().all(|c| c.used.iter().all(|&n| n == 0))
                && s.outputs.iter().all(output)
                && s.to_rows.is_empty()
                && s.to_columns.is_empty()
                && s.to_outputs.is_empty()
                && s.to_stashes.is_empty()
                && s.side_band.is_empty()
        };
        self.switches.iter().all(switch) && self.nics.iter().all(|nic| nic.is_idle())
    }
}
