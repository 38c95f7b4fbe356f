//! The style of a series in every figure and format.
//!
//! Colours are those of Okabe and Ito, which remain distinct for readers with colour blindness.
//! Dashes and markers differ too, so that a grey print shows the same information.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Style {
    pub color: Color,
    pub dash: Dash,
    /// The marker of its points: filled, or hollow if a point is saturated.
    pub marker: Marker,
}

/// A colour of the palette.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Color {
    Blue,
    Vermillion,
    Green,
    Orange,
    SkyBlue,
    Purple,
    Black,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dash {
    Solid,
    Dashed,
    Dotted,
    DashDot,
    LongDash,
}

/// The shape of a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Marker {
    Circle,
    Square,
    TriangleUp,
    Diamond,
    TriangleDown,
    /// A thick plus sign.
    Cross,
}

/// The palette, in the order of series. Yellow is omitted, since it is hardly visible on white
/// paper.
pub(crate) const COLORS: [Color; 7] = [
    Color::Blue,
    Color::Vermillion,
    Color::Green,
    Color::Orange,
    Color::SkyBlue,
    Color::Purple,
    Color::Black,
];

const DASHES: [Dash; 5] = [
    Dash::Solid,
    Dash::Dashed,
    Dash::DashDot,
    Dash::Dotted,
    Dash::LongDash,
];

const MARKERS: [Marker; 6] = [
    Marker::Circle,
    Marker::Square,
    Marker::TriangleUp,
    Marker::Diamond,
    Marker::TriangleDown,
    Marker::Cross,
];

impl Style {
    /// Returns the style of the `n`-th series. 7, 5 and 6 have no common factor, so 210 series
    /// differ.
    pub fn nth(n: usize) -> Style {
        Style {
            color: COLORS[n % COLORS.len()],
            dash: DASHES[n % DASHES.len()],
            marker: MARKERS[n % MARKERS.len()],
        }
    }
}

impl Color {
    /// Returns the colour as `#rrggbb`.
    pub fn hex(self) -> &'static str {
        match self {
            Color::Blue => "#0072b2",
            Color::Vermillion => "#d55e00",
            Color::Green => "#009e73",
            Color::Orange => "#e69f00",
            Color::SkyBlue => "#56b4e9",
            Color::Purple => "#cc79a7",
            Color::Black => "#000000",
        }
    }
}

impl Dash {
    /// Returns the lengths of dashes and gaps in points, for a line of 1 pt; empty for a solid
    /// line.
    pub fn pattern(self) -> &'static [f64] {
        match self {
            Dash::Solid => &[],
            Dash::Dashed => &[4.0, 1.6],
            Dash::Dotted => &[1.0, 1.4],
            Dash::DashDot => &[4.0, 1.4, 1.0, 1.4],
            Dash::LongDash => &[7.0, 1.6],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_hundred_and_ten_series_look_different() {
        let styles: Vec<Style> = (0..210).map(Style::nth).collect();
        for (n, style) in styles.iter().enumerate() {
            assert!(
                !styles[..n].contains(style),
                "{n} looks like an earlier one"
            );
        }
        assert_eq!(Style::nth(210), styles[0]);
    }
}
