//! Positions of ports, tiles and buffers: the arithmetic of rows and columns.

use crate::{RowSpace, Tiled};

/// Ports, tile inputs times channels, and tiles are sets of 64 bits; tile inputs and outputs of 16.
pub(crate) const MOST_PORTS: usize = 64;
const MOST_TILES: usize = 64;
pub(crate) const MOST_AT_TILE: usize = 16;

/// The shape of a switch. Input p is input p mod I of the tiles of row p / I; output q is output q
/// mod O of the tiles of column q / O (equations 1a and 1b of the paper: P = R I = C O).
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    /// Rows (R).
    pub(crate) rows: u32,
    /// Columns (C).
    pub(crate) columns: u32,
    /// Inputs of a tile (I).
    pub(crate) inputs: u32,
    /// Outputs of a tile (O).
    pub(crate) outputs: u32,
    /// Ports (P).
    pub(crate) ports: u32,
    /// Virtual channels of links.
    pub(crate) lanes: u32,
    /// Virtual channels inside a switch: those of links, the one to stashes, the one from stashes.
    pub(crate) channels: u32,
    /// Spaces of a channel in front of a tile input: one, or one for each output.
    pub(crate) spaces: u32,
    pub(crate) row_of: [u8; MOST_PORTS],
    pub(crate) column_of: [u8; MOST_PORTS],
    /// Channel and output of a request bit (channel times O plus tile output).
    pub(crate) request: [(u8, u8); 64],
    /// By tile output: the request bits of packets for it, except those on their way to a stash.
    pub(crate) requests_for: [u64; MOST_AT_TILE],
    /// Tiles of a switch: R C.
    pub(crate) tiles: u32,
    /// Column queues of an output: rows times channels.
    pub(crate) column_queues: u32,
    /// Of each input: the first tile of its row, and its number among the inputs of a tile.
    input_place: [(u8, u8); MOST_PORTS],
    /// Of each output: its column, and its number among the outputs of a tile.
    output_place: [(u8, u8); MOST_PORTS],
    /// Queues in front of the tiles of an input, and the first of them that leads to an output.
    row_queues: u32,
    first_queue: [u16; MOST_PORTS],
    /// Spaces in front of the tiles of an input, and the first of them that leads to an output.
    row_spaces: u32,
    first_space: [u16; MOST_PORTS],
    /// Row and column of each tile.
    tile_at: [(u8, u8); MOST_TILES],
    /// Row of each column queue of an output (row times channels plus channel).
    row_of_queue: [u8; 64],
}

impl Geometry {
    pub(crate) fn new(tiled: &Tiled, n_vls: u8) -> Self {
        let (rows, columns) = (u32::from(tiled.rows), u32::from(tiled.columns));
        let (inputs, outputs) = (u32::from(tiled.inputs), u32::from(tiled.outputs));
        let (lanes, channels) = (u32::from(n_vls), u32::from(n_vls) + 2);
        let ports = rows * inputs;
        assert_eq!(ports, columns * outputs, "P = R I = C O");
        assert!(
            ports as usize <= MOST_PORTS
                && (rows * columns) as usize <= MOST_TILES
                && inputs as usize <= MOST_AT_TILE
                && outputs as usize <= MOST_AT_TILE
                && outputs * channels <= 64
                && rows * channels <= 64,
            "sets of ports, tiles and channels fit their words"
        );
        let at = |size: u32| std::array::from_fn(|number| (number as u32 / size) as u8);
        let request: [(u8, u8); 64] =
            std::array::from_fn(|bit| ((bit as u32 / outputs) as u8, (bit as u32 % outputs) as u8));
        let mut requests_for = [0u64; MOST_AT_TILE];
        let is_stored = |channel: u8| u32::from(channel) == lanes;
        for (bit, (channel, output)) in request.into_iter().enumerate() {
            requests_for[usize::from(output)] |= u64::from(!is_stored(channel)) << bit;
        }
        let spaces = match tiled.row_space {
            RowSpace::Shared => 1,
            RowSpace::PerOutput => outputs,
        };
        let places = |each: u32| {
            std::array::from_fn(|output| {
                let (column, at) = (output as u32 / outputs, output as u32 % outputs);
                let own = if each == 1 { 0 } else { at };
                ((column * each + own) * channels) as u16
            })
        };
        Geometry {
            rows,
            columns,
            inputs,
            outputs,
            ports,
            lanes,
            channels,
            spaces,
            row_of: at(inputs),
            column_of: at(outputs),
            request,
            requests_for,
            tiles: rows * columns,
            column_queues: rows * channels,
            input_place: std::array::from_fn(|input| {
                let (row, at) = (input as u32 / inputs, input as u32 % inputs);
                ((row * columns) as u8, at as u8)
            }),
            output_place: std::array::from_fn(|output| {
                let output = output as u32;
                ((output / outputs) as u8, (output % outputs) as u8)
            }),
            row_queues: columns * outputs * channels,
            first_queue: places(outputs),
            row_spaces: columns * spaces * channels,
            first_space: places(spaces),
            tile_at: std::array::from_fn(|tile| {
                ((tile as u32 / columns) as u8, (tile as u32 % columns) as u8)
            }),
            row_of_queue: at(channels),
        }
    }

    /// Returns the channel to stashes (S).
    #[inline]
    pub(crate) fn store(&self) -> u32 {
        self.lanes
    }

    /// Returns the channel from stashes (R).
    #[inline]
    pub(crate) fn retrieve(&self) -> u32 {
        self.lanes + 1
    }

    /// Returns the column of an output.
    #[inline]
    pub(crate) fn column(&self, output: u32) -> u32 {
        u32::from(self.column_of[output as usize % MOST_PORTS])
    }

    /// Returns the column of an output, and its index among the outputs of its tiles.
    #[inline]
    pub(crate) fn tile_place(&self, output: u32) -> (u32, u32) {
        let (column, at) = self.output_place[output as usize % MOST_PORTS];
        (u32::from(column), u32::from(at))
    }

    /// Returns the first tile of the row of an input, and its index among the inputs of its tiles.
    #[inline]
    pub(crate) fn input_place(&self, input: u32) -> (u32, u32) {
        let (first_tile, at) = self.input_place[input as usize % MOST_PORTS];
        (u32::from(first_tile), u32::from(at))
    }

    /// Returns the row of an input.
    #[inline]
    pub(crate) fn row(&self, input: u32) -> u32 {
        u32::from(self.row_of[input as usize % MOST_PORTS])
    }

    /// Returns the row and the column of a tile.
    #[inline]
    pub(crate) fn tile_at(&self, tile: u32) -> (u32, u32) {
        let (row, column) = self.tile_at[tile as usize % MOST_TILES];
        (u32::from(row), u32::from(column))
    }

    /// Returns the row of a column queue of an output.
    #[inline]
    pub(crate) fn row_of_column_queue(&self, index: u32) -> u32 {
        u32::from(self.row_of_queue[index as usize % 64])
    }

    /// Returns the tile input of an input port (numbered over the partition) in a column.
    #[inline]
    pub(crate) fn tile_input(&self, port: u32, column: u32) -> u32 {
        port * self.columns + column
    }

    /// Returns the tile output of an output port (numbered over the partition) in a row.
    #[inline]
    pub(crate) fn tile_output(&self, port: u32, row: u32) -> u32 {
        port * self.rows + row
    }

    /// Returns the space in front of a tile input that a packet for one of its outputs takes on a
    /// channel. The channel to stashes takes the first.
    #[inline]
    pub(crate) fn row_space(&self, tile_input: u32, output: u32, channel: u32) -> u32 {
        let own = if self.spaces == 1 { 0 } else { output };
        (tile_input * self.spaces + own) * self.channels + channel
    }

    /// Returns the space in front of a tile that a packet from an input port (numbered over the
    /// partition) takes on a channel, given an output of the switch.
    #[inline]
    pub(crate) fn space_towards(&self, port: u32, output: u32, channel: u32) -> u32 {
        let first = self.first_space[output as usize % MOST_PORTS];
        port * self.row_spaces + u32::from(first) + channel
    }

    /// Returns the queue in front of a tile in which such a packet waits.
    #[inline]
    pub(crate) fn queue_towards(&self, port: u32, output: u32, channel: u32) -> u32 {
        let first = self.first_queue[output as usize % MOST_PORTS];
        port * self.row_queues + u32::from(first) + channel
    }

    /// Returns the queue in front of a tile input for one of its outputs and a channel. The channel
    /// to stashes has one for all outputs, the first.
    #[inline]
    pub(crate) fn row_queue(&self, tile_input: u32, output: u32, channel: u32) -> u32 {
        (tile_input * self.outputs + output) * self.channels + channel
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::{Faults, Priority, Retransmission, TileStages};

    use super::*;

    fn geometry((rows, columns, inputs, outputs): (u16, u16, u16, u16)) -> Geometry {
        let tiled = Tiled {
            period: 10,
            rows,
            columns,
            inputs,
            outputs,
            row_buffer: 96,
            row_space: RowSpace::Shared,
            column_buffer: 96,
            stages: TileStages {
                before_bus: 2,
                row_bus: 1,
                tile: 3,
                multiplexer: 1,
                output: 1,
                side_band: 10,
            },
            start: crate::plan::CrossbarStart::AtOnce,
            retransmission: Retransmission::Packet,
            priority: Priority::Equal,
            ports: vec![],
            stash: None,
            faults: Faults::default(),
        };
        Geometry::new(&tiled, 6)
    }

    /// The switch drawn in the paper, and the one that it evaluates.
    const SWITCHES: [(u16, u16, u16, u16); 2] = [(2, 3, 6, 4), (4, 4, 5, 5)];

    /// 2 x 6 = 3 x 4 = 12 and 4 x 5 = 4 x 5 = 20 ports, each in one row and one column.
    #[test]
    fn v002_1_ports_are_rows_times_inputs_and_columns_times_outputs() {
        for (switch, ports) in SWITCHES.into_iter().zip([12, 20]) {
            let geometry = geometry(switch);
            assert_eq!(geometry.ports, ports);
            for row in 0..geometry.rows {
                let own = (0..ports).filter(|&port| geometry.row(port) == row);
                assert_eq!(own.count() as u32, geometry.inputs);
            }
            for column in 0..geometry.columns {
                let own = (0..ports).filter(|&port| geometry.column(port) == column);
                assert_eq!(own.count() as u32, geometry.outputs);
            }
        }
    }

    /// Places by output of the switch equal those by column and output of the tile.
    #[test]
    fn places_by_output() {
        for geometry in SWITCHES.map(geometry) {
            for (port, output) in (0..40).zip((0..geometry.ports).cycle()) {
                let (column, at) = geometry.tile_place(output);
                assert_eq!(column * geometry.outputs + at, output);
                let tile_input = geometry.tile_input(port, column);
                for channel in 0..geometry.channels {
                    assert_eq!(
                        geometry.queue_towards(port, output, channel),
                        geometry.row_queue(tile_input, at, channel)
                    );
                    assert_eq!(
                        geometry.space_towards(port, output, channel),
                        geometry.row_space(tile_input, at, channel)
                    );
                }
            }
            for input in 0..geometry.ports {
                let (first_tile, at) = geometry.input_place(input);
                let row = geometry.row(input);
                assert_eq!(first_tile, row * geometry.columns);
                assert_eq!(row * geometry.inputs + at, input);
            }
        }
    }

    /// A column channel for each row and output, 24 in the drawing and 80 in the evaluation.
    #[test]
    fn v002_2_column_channels() {
        for (switch, expected) in SWITCHES.into_iter().zip([24, 80]) {
            let geometry = geometry(switch);
            let rows = 0..geometry.rows;
            let all = rows.flat_map(|row| (0..geometry.ports).map(move |port| (port, row)));
            let channels: BTreeSet<u32> = all
                .map(|(port, row)| geometry.tile_output(port, row))
                .collect();
            assert_eq!(channels.len(), expected);
            assert_eq!(channels.last(), Some(&(expected as u32 - 1)));
        }
    }
}
