//! Mapping from service level to virtual lane through service channels.
//!
//! ```text
//!  NIC, per message      every switch, per packet      every link, per packet
//!  SL ── SL2SC ──► SC ── SC2SC ──► SC ──────────────── SC2VL ──► VL
//! ```
//!
//! In Omni-Path a service level owns one or more channels, a packet carries its channel, and each
//! channel maps to a lane. InfiniBand's SL2VL is the case of one channel per level, with the
//! level's number. A packet here carries the level as well, so a switch does not need SC2SL to find
//! it.
//!
//! If a level has several channels, a flow takes one by a draw keyed by (seed, level, source,
//! destination). The packets of a flow thus use the same lanes and keep their order, and flows
//! spread over the lanes. SC2SC changes the channel of a packet at a switch. Its acknowledgement
//! starts with the original channel.

use std::collections::BTreeMap;
use std::sync::Arc;

use netloom_packet::{Label, N_SCS};
use netloom_random::{Purpose, Stream};
use netloom_topology::Topology;
use netloom_units::{NicId, Port, Sc, Sl, SwitchId};

use crate::lane_rows::{LaneRows, PassedRows};

/// Channels by path, for a routing that needs several lanes to be free of deadlock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathChannels {
    n_nics: usize,
    /// By source, then by destination.
    channels: Vec<Sc>,
}

impl PathChannels {
    /// Creates a table with one channel for all paths between `n_nics` NICs.
    pub fn new(n_nics: u32, usual: Sc) -> Self {
        let n_nics = n_nics as usize;
        PathChannels {
            n_nics,
            channels: vec![usual; n_nics * n_nics],
        }
    }

    pub fn set(&mut self, source: NicId, destination: NicId, channel: Sc) {
        self.channels[source.index() * self.n_nics + destination.index()] = channel;
    }

    #[inline]
    pub fn of(&self, source: NicId, destination: NicId) -> Sc {
        self.channels[source.index() * self.n_nics + destination.index()]
    }

    /// Returns the channels in use, one bit each.
    pub fn used(&self) -> u32 {
        self.channels.iter().fold(0, |used, sc| used | 1 << sc.0)
    }
}

/// The channel of each message, and the lane of its packets on each link.
#[derive(Clone, Debug)]
pub struct Channels {
    /// SL2SC: the channels of each service level, one bit each. A channel belongs to one level.
    pub sl2sc: [u32; 16],
    /// SC2VL: the default lane of each channel.
    pub sc2vl: [u8; N_SCS],
    /// Rows of single ports, as in the tables of devices, and all changes of channels.
    pub own: Option<Arc<LaneRows>>,
    /// Channels of single paths, if the routing sets them.
    pub paths: Option<Arc<PathChannels>>,
    draws: Stream,
}

impl Channels {
    /// Creates one channel per level with the level's number. Channel n uses VL n, modulo the
    /// number of lanes.
    pub fn identity(n_vls: u8) -> Self {
        Channels {
            sl2sc: std::array::from_fn(|sl| 1 << sl),
            sc2vl: std::array::from_fn(|sc| sc as u8 % n_vls),
            own: None,
            paths: None,
            draws: Stream::new(1, Purpose::Channel),
        }
    }

    /// Gives a level one channel, with one lane at every port.
    pub fn set_everywhere(&mut self, sl: Sl, sc: Sc, vl: u8) {
        self.sl2sc[sl.index() & 15] = 1 << sc.0;
        self.sc2vl[sc.index()] = vl;
        if let Some(own) = &mut self.own {
            Arc::make_mut(own).set_everywhere(sc, vl);
        }
    }

    /// Redistributes the flows of levels with several channels.
    pub fn reseed(&mut self, seed: u64) {
        self.draws = Stream::new(seed, Purpose::Channel);
    }

    /// Returns the channels of these levels with their levels, in order of the channels.
    pub fn of_levels(&self, sls: impl IntoIterator<Item = Sl>) -> BTreeMap<Sc, Sl> {
        let of_level = |sl: Sl| {
            let own = self.sl2sc[sl.index() & 15];
            let channels = (0..N_SCS as u8).filter(move |sc| own >> sc & 1 == 1);
            channels.map(move |sc| (Sc(sc), sl))
        };
        sls.into_iter().flat_map(of_level).collect()
    }

    /// Returns the channel of a message.
    #[inline]
    pub fn choose(&self, sl: Sl, source: NicId, destination: NicId) -> Sc {
        if let Some(paths) = &self.paths {
            return paths.of(source, destination);
        }
        let channels = self.sl2sc[sl.index() & 15];
        debug_assert!(channels != 0, "{sl} with traffic has a channel");
        if channels & channels.wrapping_sub(1) == 0 {
            return Sc(channels.trailing_zeros() as u8);
        }
        self.draw(channels, sl, source, destination)
    }

    /// Returns the original channel of a flow whose packet arrives with this channel. Without rows
    /// of single ports, no switch changes channels.
    #[inline]
    pub fn began(&self, arrived: Sc, sl: Sl, source: NicId, destination: NicId) -> Sc {
        match self.own {
            None => arrived,
            Some(_) => self.choose(sl, source, destination),
        }
    }

    fn draw(&self, mut channels: u32, sl: Sl, source: NicId, destination: NicId) -> Sc {
        let flow = [source.0, destination.0, u32::from(sl.0), 0];
        let chosen = self.draws.draw(flow).below(0, channels.count_ones());
        for _ in 0..chosen {
            channels &= channels - 1;
        }
        Sc(channels.trailing_zeros() as u8)
    }

    /// Returns the lane at the output of a NIC.
    #[inline]
    pub fn at_nic(&self, nic: NicId, sc: Sc) -> u8 {
        let row = match &self.own {
            None => &self.sc2vl,
            Some(own) => own.at_nic(nic),
        };
        row[sc.index() & (N_SCS - 1)]
    }

    /// Returns the lane at every output, if no port has its own rows.
    #[inline(always)]
    pub fn everywhere(&self, sc: Sc) -> u8 {
        self.sc2vl[sc.index() & (N_SCS - 1)]
    }

    /// Returns the channel of a packet after a switch, and its lane there.
    #[inline]
    pub fn at_switch(&self, switch: SwitchId, input: Port, output: Port, sc: Sc) -> (Sc, u8) {
        match &self.own {
            None => (sc, self.everywhere(sc)),
            Some(own) => own.at_switch(switch, input, output, sc),
        }
    }

    /// Changes the channel of a packet that passes a switch, and returns its lane.
    #[inline(always)]
    pub fn pass(&self, switch: SwitchId, input: Port, output: Port, label: &mut Label) -> u8 {
        let Some(own) = &self.own else {
            return self.everywhere(label.sc());
        };
        let (sc, lane) = own.at_switch(switch, input, output, label.sc());
        label.set_sc(sc);
        lane
    }

    /// Returns the rows that map channels to lanes on the paths of packets.
    pub fn rows(&self, topology: &Topology) -> PassedRows {
        match &self.own {
            None => PassedRows {
                at_nics: vec![self.sc2vl],
                at_switches: vec![self.sc2vl],
            },
            Some(own) => own.passed(topology),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three_channels() -> Channels {
        let mut channels = Channels::identity(4);
        channels.sl2sc = [0; 16];
        channels.sl2sc[0] = 1 << 3 | 1 << 8 | 1 << 30;
        channels.sl2sc[2] = 1 << 1;
        channels
    }

    #[test]
    fn sl2vl_is_one_channel_per_level() {
        let channels = Channels::identity(4);
        for sl in (0..16).map(Sl) {
            let sc = channels.choose(sl, NicId(3), NicId(9));
            assert_eq!((sc.0, channels.at_nic(NicId(3), sc)), (sl.0, sl.0 % 4));
        }
    }

    #[test]
    fn flows_keep_their_channel_and_spread_evenly() {
        let channels = three_channels();
        let mut counts = BTreeMap::new();
        for source in 0..100 {
            for destination in 0..100 {
                let sc = channels.choose(Sl(0), NicId(source), NicId(destination));
                assert_eq!(
                    sc,
                    channels.choose(Sl(0), NicId(source), NicId(destination))
                );
                *counts.entry(sc.0).or_insert(0) += 1;
                let other = channels.choose(Sl(2), NicId(source), NicId(destination));
                assert_eq!(other, Sc(1));
            }
        }
        assert_eq!(counts.keys().copied().collect::<Vec<u8>>(), [3, 8, 30]);
        // A third of 10,000 with a standard deviation of 47.
        assert!(
            counts.values().all(|n| (3150..3520).contains(n)),
            "{counts:?}"
        );
    }

    #[test]
    fn another_seed_spreads_flows_anew() {
        let (one, mut two) = (three_channels(), three_channels());
        two.reseed(2);
        let differs = |nic: &u32| {
            one.choose(Sl(0), NicId(*nic), NicId(7)) != two.choose(Sl(0), NicId(*nic), NicId(7))
        };
        let moved = (0..300).filter(differs).count();
        assert!((150..250).contains(&moved), "{moved} of 300 flows");
    }

    #[test]
    fn channels_of_levels_are_in_order() {
        let of = three_channels().of_levels([Sl(2), Sl(0), Sl(5)]);
        let pairs: Vec<(u8, u8)> = of.into_iter().map(|(sc, sl)| (sc.0, sl.0)).collect();
        assert_eq!(pairs, [(1, 2), (3, 0), (8, 0), (30, 0)]);
    }
}
