//! Tiles: small crossbars between row buffers and column buffers.

use netloom_fabric::{Priority, RowSpace};

use super::Twin;
use super::packet::{Flit, Reading};
use super::pool::first_from;
use super::switch::{Crossing, Row, due};

impl Twin<'_> {
    /// Handles flits that come off the row buses now.
    pub(crate) fn fill_rows(&mut self, s: usize) {
        let (shape, now, limit) = (self.shape, self.now, self.tiled.row_buffer);
        let switch = &mut self.switches[s];
        while let Some((p, column, place, flit)) = due(&mut switch.to_rows, now) {
            let row = &mut switch.rows[shape.at_row(p, column)];
            let present = match place {
                Some((output, vc)) => {
                    row.voqs[output][vc].push_back(flit);
                    match self.tiled.row_space {
                        RowSpace::Shared => row.voqs.iter().map(|voqs| voqs[vc].len()).sum(),
                        RowSpace::PerOutput => row.voqs[output][vc].len(),
                    }
                }
                None => {
                    row.store.push_back(flit);
                    row.store.len()
                }
            };
            assert!(present as u32 <= limit, "row buffers do not overflow");
        }
    }

    /// Runs one round of one tile.
    pub(crate) fn tile(&mut self, s: usize, r: usize, c: usize) {
        let shape = self.shape;
        let requests: Vec<Vec<Vec<usize>>> = (0..shape.inputs)
            .map(|i| self.requests(s, r, c, r * shape.inputs + i))
            .collect();
        // Every output picks an input.
        let mut picked_by: Vec<Vec<usize>> = vec![vec![]; shape.inputs];
        for o in 0..shape.outputs {
            let asking: Vec<usize> = (0..shape.inputs)
                .filter(|&i| !requests[i][o].is_empty())
                .collect();
            let asking = self.first_inputs(s, (r, c), o, asking, &requests);
            let column = &self.switches[s].columns[shape.at_column(c * shape.outputs + o, r)];
            if let Some(i) = first_from(column.next_input, &asking) {
                picked_by[i].push(o);
            }
        }
        // Every input accepts an output.
        for i in 0..shape.inputs {
            let row = &self.switches[s].rows[shape.at_row(r * shape.inputs + i, c)];
            if let Some(o) = first_from(row.next_output, &picked_by[i]) {
                let vc = first_from(row.next_vc, &requests[i][o]).expect("a request");
                self.grant_tile(s, (r, c), (i, o), vc);
            }
        }
    }

    /// Returns the inputs with priority among those that request an output.
    fn first_inputs(
        &self,
        s: usize,
        (r, c): (usize, usize),
        o: usize,
        asking: Vec<usize>,
        requests: &[Vec<Vec<usize>>],
    ) -> Vec<usize> {
        if self.tiled.priority == Priority::Equal {
            return asking;
        }
        let shape = self.shape;
        let has_transit = |&&i: &&usize| {
            let row = &self.switches[s].rows[shape.at_row(r * shape.inputs + i, c)];
            requests[i][o].iter().any(|&vc| {
                let fifo = if vc == shape.store() {
                    &row.store
                } else {
                    &row.voqs[o][vc]
                };
                !self.packets[fifo[0].packet].is_injected
            })
        };
        let transit: Vec<usize> = asking.iter().filter(has_transit).copied().collect();
        if transit.is_empty() { asking } else { transit }
    }

    /// Returns the channels with which a tile input requests each output.
    fn requests(&self, s: usize, r: usize, c: usize, p: usize) -> Vec<Vec<usize>> {
        let (shape, switch) = (self.shape, &self.switches[s]);
        let mut asked = vec![vec![]; shape.outputs];
        let row = &switch.rows[shape.at_row(p, c)];
        if row.crossing.is_some() {
            return asked;
        }
        let is_open = |o: usize, vc: usize, n: u32| {
            let column = &switch.columns[shape.at_column(c * shape.outputs + o, r)];
            !column.is_written && column.used[vc] + n <= self.tiled.column_buffer
        };
        for o in 0..shape.outputs {
            for vc in (0..shape.vcs()).filter(|&vc| vc != shape.store()) {
                if let Some(flit) = row.voqs[o][vc].front() {
                    assert!(flit.is_header(), "a free tile input is between packets");
                    if is_open(o, vc, self.packets[flit.packet].flits) {
                        asked[o].push(vc);
                    }
                }
            }
        }
        if let Some(flit) = row.store.front() {
            assert!(flit.is_header(), "a free tile input is between packets");
            let n = self.packets[flit.packet].flits;
            let room = |o: usize| {
                let q = c * shape.outputs + o;
                let used = switch.columns[shape.at_column(q, r)].used[shape.store()];
                let before = self.tiled.column_buffer - used;
                before + switch.stashes[q].free()
            };
            let fitting: Vec<usize> = (0..shape.outputs)
                .filter(|&o| switch.stashes[c * shape.outputs + o].capacity > 0)
                .filter(|&o| is_open(o, shape.store(), n))
                .collect();
            let most = fitting.iter().map(|&o| room(o)).max();
            let best: Vec<usize> = fitting
                .into_iter()
                .filter(|&o| Some(room(o)) == most)
                .collect();
            if let Some(o) = first_from(row.next_stash_port, &best) {
                asked[o].push(shape.store());
            }
        }
        asked
    }

    fn grant_tile(&mut self, s: usize, (r, c): (usize, usize), (i, o): (usize, usize), vc: usize) {
        let shape = self.shape;
        let (p, q) = (r * shape.inputs + i, c * shape.outputs + o);
        let switch = &mut self.switches[s];
        let row = &mut switch.rows[shape.at_row(p, c)];
        let id = fifo_of(row, shape.store(), o, vc)
            .front()
            .expect("a request")
            .packet;
        let n = self.packets[id].flits;
        self.packets[id].tail += self.tiled.stages.tile * self.plan.switch.period();
        row.next_output = (o + 1) % shape.outputs;
        row.next_vc = (vc + 1) % shape.vcs();
        if vc == shape.store() {
            row.next_stash_port = (o + 1) % shape.outputs;
        }
        row.used[if vc == shape.store() { 0 } else { o }][vc] -= n;
        row.crossing = Some(Crossing {
            reading: Reading::new(id, n),
            output: q,
            vc,
        });
        let column = &mut switch.columns[shape.at_column(q, r)];
        column.next_input = (i + 1) % shape.inputs;
        column.is_written = true;
        column.used[vc] += n;
    }

    /// Moves one flit through every busy tile input.
    pub(crate) fn move_through_tiles(&mut self, s: usize) {
        let (shape, period) = (self.shape, self.period());
        let there = self.now + self.tiled.stages.tile * period;
        let switch = &mut self.switches[s];
        for p in 0..shape.ports() {
            for c in 0..shape.columns {
                let row = &mut switch.rows[shape.at_row(p, c)];
                let Some(crossing) = &mut row.crossing else {
                    continue;
                };
                let (q, vc) = (crossing.output, crossing.vc);
                let reading = crossing.reading;
                let fifo = fifo_of(row, shape.store(), q % shape.outputs, vc);
                if reading.waits(fifo.front(), self.tiled.start) {
                    continue;
                }
                let crossing = row.crossing.as_mut().expect("it crosses");
                let (flit, is_last) = crossing.reading.next();
                if is_last {
                    row.crossing = None;
                    switch.columns[shape.at_column(q, shape.row(p))].is_written = false;
                }
                let read = fifo_of(row, shape.store(), q % shape.outputs, vc).pop_front();
                assert_eq!(read, Some(flit), "a tile does not run dry");
                let place = (q, shape.row(p), vc, flit);
                switch.to_columns.push_back((there, place));
            }
        }
    }
}

/// Returns the FIFO of a tile input for an output and a channel; S has one for all outputs.
fn fifo_of(
    row: &mut Row,
    store: usize,
    output: usize,
    vc: usize,
) -> &mut std::collections::VecDeque<Flit> {
    if vc == store {
        &mut row.store
    } else {
        &mut row.voqs[output][vc]
    }
}
