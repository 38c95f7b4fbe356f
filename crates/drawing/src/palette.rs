//! Colours by class of cable, from the palette of Okabe and Ito, which suits all kinds of colour
//! vision.

/// A colour on a light and on a dark background.
pub(crate) struct Ink {
    pub(crate) light: &'static str,
    pub(crate) dark: &'static str,
}

const fn ink(light: &'static str, dark: &'static str) -> Ink {
    Ink { light, dark }
}

/// The first class, that of host cables, is grey; the others use these colours in turn.
const INKS: [Ink; 6] = [
    ink("#0072b2", "#56b4e9"),
    ink("#d55e00", "#e69f00"),
    ink("#009e73", "#009e73"),
    ink("#cc79a7", "#cc79a7"),
    ink("#e69f00", "#f0e442"),
    ink("#56b4e9", "#d55e00"),
];

/// Returns the colour of a class, and the dashes that distinguish it from earlier classes of that
/// colour.
pub(crate) fn of_class(class: usize) -> (Ink, &'static str) {
    const GREY: Ink = ink("#8a8f98", "#7d8590");
    if class == 0 {
        return (GREY, "");
    }
    let Ink { light, dark } = INKS[(class - 1) % INKS.len()];
    let dashes = ["", "6 3", "2 3"][((class - 1) / INKS.len()).min(2)];
    (ink(light, dark), dashes)
}
