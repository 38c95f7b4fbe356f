//! Checks of transfer units, the largest packets of service levels.

use netloom_packet::{Segmentation, SlSegmentation};
use netloom_units::{Bytes, Sl};

use super::buffers::words;
use crate::spec::Diagnostics;
use crate::spec::link::Mtu;

/// Returns the MTU of each level: its own if the file has one, which is at most that of the links.
pub(crate) fn by_level(
    link: Segmentation,
    own: &[Mtu],
    diagnostics: &mut Diagnostics<'_>,
) -> SlSegmentation {
    let mut segmentation = SlSegmentation::from(link);
    for (sl, mtu) in own.iter().enumerate() {
        match (mtu.0, link.mtu) {
            (Some(Bytes(own)), Some(Bytes(most))) if own > most => {}
            (None, Some(_)) => {}
            _ => {
                segmentation.mtu[sl] = mtu.0;
                continue;
            }
        }
        let place = diagnostics.places.of(&format!("qos.sl-mtu.{sl}"));
        let (own, most) = (size(mtu.0), size(link.mtu));
        let note = diagnostics.notes.error(
            "E0414",
            place,
            format!("the MTU of SL{sl} is {own}, but that of the links is {most}"),
        );
        if let Some(place) = diagnostics.places.written("link.mtu") {
            note.also(place, "on every link");
        }
        note.help(format!("use at most \"{most}\", or a larger `link.mtu`"));
    }
    segmentation
}

/// States the transfer units of levels with traffic, if levels have their own.
pub(crate) fn fact(
    segmentation: &SlSegmentation,
    used: impl Iterator<Item = Sl>,
    diagnostics: &mut Diagnostics<'_>,
) {
    let unit = |sl: Sl| format!("{sl} {}", size(segmentation.of(sl).mtu));
    let units: Vec<String> = used.map(unit).collect();
    diagnostics.fact("packets", format!("at most {}", units.join(", ")));
}

fn size(mtu: Option<Bytes>) -> String {
    mtu.map_or_else(|| "message".to_owned(), |bytes| words(bytes.0))
}
