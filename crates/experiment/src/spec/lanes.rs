//! Lanes and their traffic.
//!
//! Both forms of the map give the same [`Channels`]. With `sl2vl`, each level has one channel with
//! its own number. `sl2sc` and `sc2vl` give both steps.

use std::collections::BTreeMap;
use std::sync::Arc;

use netloom_arbitration::MANAGEMENT_VL;
use netloom_catalog::{FromToml, Resolved};
use netloom_fabric::{Channels, DROPPED, LaneRows, SAME_CHANNELS};
use netloom_infiniband::Site;
use netloom_packet::{Cut, N_SCS, SlSegmentation};
use netloom_routing::Forwarding;
use netloom_topology::Topology;
use netloom_traffic::MANAGEMENT;
use netloom_units::{Port, Sc, Sl, SwitchId};

use super::classes::Classes;
use super::diagnostics::Diagnostics;
use super::mapping::{ChannelSets, MANAGEMENT_SC};
use super::qos::{BY_LEVEL, CHANGES, OwnRow, QosSpec, QosValues};
use super::reading::resolve_default;
use super::site;
use crate::check;

/// Service levels that have a channel by default: SC15 is reserved for management.
const LEVELS_WITH_A_CHANNEL: u8 = 15;

/// Lanes of every link.
pub(crate) struct LaneMap {
    /// All lanes, including that of management if it has traffic.
    pub(crate) n_vls: u8,
    /// Lanes of data.
    pub(crate) n_data_vls: u8,
    pub(crate) channels: Channels,
    /// Flits of the largest packet by lane; 0 without traffic.
    pub(crate) largest: Vec<u16>,
    /// Bytes on the wire of the largest packet by lane.
    pub(crate) largest_bytes: [Option<u32>; 16],
    /// Bytes on the wire of the largest packet by service level.
    pub(crate) largest_of_sl: [Option<u32>; 16],
    /// Lanes that carry traffic, one bit each.
    pub(crate) used: u32,
    /// The lanes of data by service level, one bit each.
    pub(crate) of_sl: [u32; 16],
    /// Lanes that the routing takes for each of `qos.vls`.
    pub(crate) per_routing: u8,
}

/// Maps the service levels that carry traffic to lanes.
pub(crate) fn lanes(
    qos: &QosSpec,
    classes: &Classes,
    forwarding: &Forwarding,
    topology: &Topology,
    resolved: &mut Resolved,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<LaneMap> {
    let map = Map::of(qos, topology)?;
    if map.has_channels && !check::channels::one_map(diagnostics) {
        return None;
    }
    let mut messages: BTreeMap<Sl, u32> = BTreeMap::new();
    for (&sl, &bytes) in classes.of_data() {
        let largest = messages.entry(Sl(sl)).or_insert(0);
        *largest = bytes.max(*largest);
    }
    let management = classes.largest_of_management();
    let segmentation = &classes.workloads.segmentation;
    if map.values.sl_mtu.is_some() {
        check::transfer_unit::fact(segmentation, messages.keys().copied(), diagnostics);
    }
    let mut channels = map.channels_of_levels(&messages, diagnostics)?;
    if management.is_some()
        && !check::management::lane(&messages, &channels, forwarding, diagnostics)
    {
        return None;
    }
    let began = channels.of_levels(messages.keys().copied());
    let used = check::channels::onward(&began, &changes(map.values, map.exceptions), diagnostics);
    // A pair of ports without a row counts as VL0, as in `show routing`.
    let own = map
        .site
        .and_then(|site| site::lane_rows(site, topology, [0; N_SCS]));
    let used_mask = used.keys().fold(0, |mask, sc| mask | 1 << sc.0);
    let passed = own.as_ref().map(|rows| rows.passed(topology));
    let highest = passed
        .as_ref()
        .and_then(|rows| site::highest_lane(rows, used_mask));
    let per_routing = forwarding.lanes().max(1);
    let vls = map.vls(highest, &used, per_routing);
    resolve_default(resolved, &["qos"], 0, "vls", vls.write());
    if !check::lanes::count(vls, per_routing, diagnostics) {
        return None;
    }
    if let Some(highest) = highest.filter(|highest| *highest >= vls) {
        check::site::too_few_lanes(vls, highest, diagnostics);
        return None;
    }
    map.rows(vls, &mut channels, (&began, &used), resolved, diagnostics);
    let own_rows = own_rows(qos, map.values, channels.sc2vl, vls, topology, diagnostics)?;
    if let Some(site) = map
        .site
        .filter(|_| own.is_some() || channels.paths.is_some())
    {
        check::site::routes(site, used_mask, diagnostics);
    }
    if let Some(rows) = passed {
        check::site::fact(&rows, &used, diagnostics);
    }
    // If the rows of a site apply, the file has none.
    channels.own = own.or(own_rows).map(Arc::new);
    check::deadlock::own_rows(forwarding, diagnostics);
    let mut lanes = LaneMap::new(vls, per_routing, channels);
    let rows = lanes.channels.rows(topology);
    for (sc, sl) in used {
        // NICs do not send channels that exist only after a switch.
        let at_nics = rows.at_nics.iter().filter(|_| began.contains_key(&sc));
        let of_channel = at_nics.chain(&rows.at_switches).map(|row| row[sc.index()]);
        lanes.add(of_channel, sl, messages[&sl], segmentation, vls);
    }
    check::lanes::of_routing(&lanes, diagnostics);
    if let Some(bytes) = management {
        lanes.add_management(segmentation.of(MANAGEMENT).cut(bytes));
    }
    Some(lanes)
}

/// The maps of the file from levels to lanes.
struct Map<'a> {
    values: &'a QosValues,
    exceptions: &'a [OwnRow],
    /// Whether it gives both steps, over channels.
    has_channels: bool,
    /// The real site, unless the file overrides its maps.
    site: Option<&'a Site>,
    /// The row of lanes, its path, and what it is indexed by.
    row: (&'a [u8], &'static str, &'static str),
}

impl<'a> Map<'a> {
    fn of(qos: &'a QosSpec, topology: &'a Topology) -> Option<Map<'a>> {
        let values = qos.values.as_ref()?;
        let exceptions = &qos.exceptions.rows[..];
        let has_channels = values.sl2sc.is_some()
            || values.sc2vl.is_some()
            || values.sc2sl.is_some()
            || values.sc2sc.is_some()
            || exceptions.iter().any(|own| own.map != BY_LEVEL);
        // A map in the file overrides that of a real site.
        let is_written = has_channels || values.sl2vl.is_some() || !exceptions.is_empty();
        Some(Map {
            values,
            exceptions,
            has_channels,
            site: Site::of(topology).filter(|_| !is_written),
            row: match (&values.sl2vl, &values.sc2vl) {
                (Some(row), _) => (&row.0[..], "qos.sl2vl", "SL"),
                (None, Some(row)) => (&row.0[..], "qos.sc2vl", "SC"),
                (None, None) => (&[][..], "qos", "SL"),
            },
        })
    }

    /// Returns the channels of each level.
    fn channels_of_levels(
        &self,
        messages: &BTreeMap<Sl, u32>,
        diagnostics: &mut Diagnostics<'_>,
    ) -> Option<Channels> {
        let mut channels = Channels::identity(1);
        if let Some(sets) = &self.values.sl2sc {
            channels.sl2sc = check::channels::sets(&sets.0, diagnostics)?;
        } else if self.has_channels {
            channels.sl2sc[usize::from(LEVELS_WITH_A_CHANNEL)..].fill(0);
        }
        if let Some(paths) = self.site.and_then(site::path_channels) {
            if !check::site::path_levels(messages.keys(), diagnostics) {
                return None;
            }
            channels.sl2sc = [0; 16];
            channels.sl2sc[0] = paths.used();
            channels.paths = Some(Arc::new(paths));
        }
        check::channels::all_levels(&channels, messages.keys(), diagnostics).then_some(channels)
    }

    /// Returns the number of lanes: that of the file, of the site, or as many as the rows name.
    fn vls(&self, highest: Option<u8>, used: &BTreeMap<Sc, Sl>, per_routing: u8) -> u8 {
        self.values.vls.unwrap_or_else(|| {
            if let Some(highest) = highest {
                return highest + 1;
            }
            let of_lanes = self.exceptions.iter().filter(|own| own.map != CHANGES);
            let other_rows = of_lanes.map(|exception| &exception.row[..]);
            let named = other_rows.chain([self.row.0]).flatten().max();
            let by_channel = match self.row.0.is_empty() {
                true => used.keys().max().map_or(1, |sc| sc.0 + 1),
                false => 1,
            };
            by_channel
                .min(15 / per_routing)
                .max(named.map_or(1, |vl| vl.saturating_add(1)))
                .min(15)
        })
    }

    /// Sets the lane of each channel, and writes the defaults.
    fn rows(
        &self,
        vls: u8,
        channels: &mut Channels,
        (began, used): (&BTreeMap<Sc, Sl>, &BTreeMap<Sc, Sl>),
        resolved: &mut Resolved,
        diagnostics: &mut Diagnostics<'_>,
    ) {
        let (row, path, from) = self.row;
        channels.sc2vl = beginning_with(row, Channels::identity(vls).sc2vl, vls);
        check::lanes::row(row, path, from, vls, diagnostics);
        let lane_of = |sc: &Sc| (sc.0, channels.sc2vl[sc.index()]);
        check::lanes::left_out(row, path, from, used.keys().map(lane_of), diagnostics);
        if self.has_channels {
            let mut levels = channels.of_levels((0..16).map(Sl));
            levels.extend(used);
            write_channels(channels, &levels, resolved);
            let sc2sl = self.values.sc2sl.as_ref().map_or(&[][..], |row| &row.0[..]);
            check::channels::inverse(sc2sl, &levels, diagnostics);
            check::channels::fact(began, used, channels, diagnostics);
        } else {
            let row = channels.sc2vl[..16].to_vec();
            resolve_default(resolved, &["qos"], 1, "sl2vl", row.write());
        }
    }
}

/// Returns `everywhere` with `row` at its beginning. Values of `n` or more are noted elsewhere and
/// reduced modulo `n`, so that the checks can continue.
fn beginning_with(row: &[u8], mut everywhere: [u8; N_SCS], n: u8) -> [u8; N_SCS] {
    for (value, own) in everywhere.iter_mut().zip(row) {
        *value = own % n;
    }
    everywhere
}

/// Returns the rows of single ports, if any differ: of lanes, or of changes of channels. The outer
/// `None` means that the file has an invalid row.
fn own_rows(
    qos: &QosSpec,
    values: &QosValues,
    sc2vl: [u8; N_SCS],
    vls: u8,
    topology: &Topology,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<Option<LaneRows>> {
    let changed = values.sc2sc.as_ref().map_or(&[][..], |row| &row.0[..]);
    let onward = beginning_with(changed, SAME_CHANNELS, N_SCS as u8);
    let as_everywhere = || LaneRows::new(topology, sc2vl, onward);
    let mut own_rows = values.sc2sc.as_ref().map(|_| as_everywhere());
    for exception in &qos.exceptions.rows {
        let is_change = exception.map == CHANGES;
        if !is_change {
            let path = format!("{}.row", exception.path());
            check::lanes::row(&exception.row, &path, exception.map.from, vls, diagnostics);
        }
        if !check::lanes::exception(exception, topology, diagnostics) {
            continue;
        }
        type Set = fn(&mut LaneRows, SwitchId, Port, Port, [u8; N_SCS]);
        let (own, set): (_, Set) = match is_change {
            true => (
                beginning_with(&exception.row, onward, N_SCS as u8),
                LaneRows::set_onward,
            ),
            false => (
                beginning_with(&exception.row, sc2vl, vls),
                LaneRows::set_lanes,
            ),
        };
        let switch = SwitchId(exception.switch);
        let rows = own_rows.get_or_insert_with(as_everywhere);
        let of = |port: Option<u16>| {
            let all = topology.ports(switch);
            all.filter(move |at| port.is_none_or(|port| Port(port) == *at))
        };
        for output in of(exception.output) {
            of(exception.input).for_each(|input| set(rows, switch, input, output, own));
        }
    }
    (!qos.exceptions.are_some_missing).then_some(own_rows)
}

/// Returns the rows that change channels, each with its path in the file.
fn changes<'a>(values: &'a QosValues, exceptions: &'a [OwnRow]) -> Vec<(String, &'a [u8])> {
    let everywhere = values.sc2sc.iter();
    let everywhere = everywhere.map(|row| ("qos.sc2sc".to_owned(), &row.0[..]));
    let own = exceptions.iter().filter(|own| own.map == CHANGES);
    let own = own.map(|own| (format!("{}.row", own.path()), &own.row[..]));
    everywhere.chain(own).collect()
}

impl LaneMap {
    /// Returns lanes without traffic.
    fn new(vls: u8, per_routing: u8, channels: Channels) -> LaneMap {
        let n_vls = vls * per_routing;
        LaneMap {
            n_vls,
            n_data_vls: n_vls,
            largest: vec![0; usize::from(n_vls)],
            largest_bytes: [None; 16],
            largest_of_sl: [None; 16],
            used: 0,
            of_sl: [0; 16],
            per_routing,
            channels,
        }
    }

    /// Adds subnet management, with packets of up to this size, on the lane after all data lanes.
    fn add_management(&mut self, largest: Cut) {
        let vl = MANAGEMENT_VL.index();
        self.n_vls = MANAGEMENT_VL.0 + 1;
        self.largest.resize(vl + 1, 0);
        self.largest[vl] = largest.flits;
        self.largest_bytes[vl] = Some(largest.bytes);
        self.largest_of_sl[MANAGEMENT.index()] = Some(largest.bytes);
        self.used |= 1 << vl;
        self.channels
            .set_everywhere(MANAGEMENT, Sc(MANAGEMENT_SC), MANAGEMENT_VL.0);
    }

    /// Returns the data lanes that carry traffic, one bit each.
    pub(crate) fn used_by_data(&self) -> u32 {
        self.used & !(1 << MANAGEMENT_VL.0)
    }

    /// Returns whether management has traffic, and so a lane.
    pub(crate) fn has_management(&self) -> bool {
        self.n_vls != self.n_data_vls
    }

    /// Returns `of` for each existing lane, and 0 for the numbers between data and management.
    pub(crate) fn of_each(&self, of: impl Fn(usize) -> u32) -> Box<[u32]> {
        let exists = |vl| vl < usize::from(self.n_data_vls) || vl == MANAGEMENT_VL.index();
        let lanes = 0..usize::from(self.n_vls);
        lanes
            .map(|vl| if exists(vl) { of(vl) } else { 0 })
            .collect()
    }

    /// Adds messages of up to `bytes` on these lanes, with `vls` lanes per lane of the routing.
    fn add(
        &mut self,
        lanes: impl Iterator<Item = u8>,
        sl: Sl,
        bytes: u32,
        segmentation: &SlSegmentation,
        vls: u8,
    ) {
        let cut = segmentation.of(sl).cut(bytes);
        let of_sl = &mut self.largest_of_sl[sl.index() & 15];
        *of_sl = Some(cut.bytes).max(*of_sl);
        for lane in lanes.filter(|lane| *lane != DROPPED) {
            for vl in (usize::from(lane)..usize::from(self.n_vls)).step_by(usize::from(vls)) {
                self.largest[vl] = self.largest[vl].max(cut.flits);
                self.largest_bytes[vl] = self.largest_bytes[vl].max(Some(cut.bytes));
                self.used |= 1 << vl;
                self.of_sl[sl.index() & 15] |= 1 << vl;
            }
        }
    }
}

/// Adds the defaults of a file with channels. A channel without a level has SL0 in SC2SL.
fn write_channels(channels: &Channels, levels: &BTreeMap<Sc, Sl>, resolved: &mut Resolved) {
    let of_level = |sl| channels.of_levels([Sl(sl)]).keys().map(|sc| sc.0).collect();
    let sets = ChannelSets((0..LEVELS_WITH_A_CHANNEL).map(of_level).collect());
    resolve_default(resolved, &["qos"], 1, "sl2sc", sets.write());
    let lanes = channels.sc2vl.to_vec().write();
    resolve_default(resolved, &["qos"], 2, "sc2vl", lanes);
    let mut sc2sl = [0u8; N_SCS];
    for (sc, sl) in levels {
        sc2sl[sc.index()] = sl.0;
    }
    resolve_default(resolved, &["qos"], 3, "sc2sl", sc2sl.to_vec().write());
}
