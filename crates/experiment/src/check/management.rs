//! Checks of subnet management, which uses VL15 and SL15 exclusively.

use std::collections::BTreeMap;

use netloom_catalog::{Value, ValueShape};
use netloom_fabric::Channels;
use netloom_routing::Forwarding;
use netloom_traffic::MANAGEMENT;
use netloom_units::Sl;

use crate::spec::Diagnostics;
use crate::spec::flow_control::FlowControlSpec;
use crate::spec::switch::{ArchitectureSpec, SwitchSpec};

/// Checks that the level and lane of management are free. No file can give its channel to data.
pub(crate) fn lane(
    data: &BTreeMap<Sl, u32>,
    channels: &Channels,
    forwarding: &Forwarding,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let number = MANAGEMENT.0;
    let (message, help) = if data.contains_key(&MANAGEMENT) {
        let message = format!("{MANAGEMENT} is reserved for management but carries data");
        (
            message,
            "give the class of data another service level".to_owned(),
        )
    } else if channels.paths.is_some() {
        let message =
            "the routes of this site give every path a channel, but management needs its own";
        (
            message.to_owned(),
            "remove `management`, or set `qos.sl2vl`".to_owned(),
        )
    } else if forwarding.lanes() > 1 {
        let message = format!(
            "the routing needs {} lanes per level, but management has only VL{number}",
            forwarding.lanes()
        );
        (message, "use a routing with one lane".to_owned())
    } else {
        return true;
    };
    refuse(message, help, diagnostics);
    false
}

/// Checks that switches and links have a lane for management.
pub(crate) fn machine(
    switch: &SwitchSpec,
    flow_control: FlowControlSpec,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let (message, help) = if matches!(switch.architecture, ArchitectureSpec::Tiled(_)) {
        (
            "a tiled switch has no lane for management",
            "use another kind of switch",
        )
    } else if matches!(
        flow_control,
        FlowControlSpec::Pfc { .. } | FlowControlSpec::Pause { .. }
    ) {
        (
            "links with PAUSE have no lane for management, which is specific to InfiniBand",
            "use link.flow-control = \"credits\", or give the class a service level in place of \
             `management`",
        )
    } else {
        return true;
    };
    refuse(message.to_owned(), help.to_owned(), diagnostics);
    false
}

fn refuse(message: String, help: String, diagnostics: &mut Diagnostics<'_>) {
    let classes = match diagnostics
        .places
        .root
        .get("traffic")
        .map(|tables| &tables.shape)
    {
        Some(ValueShape::List(classes)) => &classes[..],
        _ => &[],
    };
    let is_set = |value: &&Value| value.shape == ValueShape::Bool(true);
    let mut written = classes.iter().filter_map(|class| class.get("management"));
    let place = written.find(is_set).map(|value| value.place);
    let place = place.unwrap_or(diagnostics.places.of("traffic"));
    diagnostics.notes.error("E0420", place, message).help(help);
}
