//! The colours of heat maps, from pale to dark. Lightness decreases monotonically, so that a grey
//! print keeps the order.

use crate::model::Gauge;

/// Colours at some positions of the scale; others are interpolated.
const STOPS: [(f64, [u8; 3]); 5] = [
    (0.0, [247, 251, 255]),
    (0.25, [198, 219, 239]),
    (0.5, [107, 174, 214]),
    (0.75, [33, 113, 181]),
    (1.0, [8, 48, 107]),
];

/// Returns the colour at a position of the scale, from 0 to 1: red, green, blue.
pub(crate) fn rgb(share: f64) -> [u8; 3] {
    let share = share.clamp(0.0, 1.0);
    let above = STOPS.iter().position(|(at, _)| share <= *at);
    let above = above.unwrap_or(STOPS.len() - 1).max(1);
    let (below, above) = (STOPS[above - 1], STOPS[above]);
    let part = (share - below.0) / (above.0 - below.0);
    std::array::from_fn(|n| {
        let (from, to) = (f64::from(below.1[n]), f64::from(above.1[n]));
        (from + (to - from) * part).round() as u8
    })
}

/// Returns the colour at a position of the scale as `#rrggbb`.
pub(crate) fn hex(share: f64) -> String {
    let [red, green, blue] = rgb(share);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

impl Gauge {
    /// Returns the position of a value on the scale, from 0 to 1.
    pub fn share(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }

    /// Returns the colour of a value as `#rrggbb`.
    pub fn color(&self, value: f64) -> String {
        hex(self.share(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_grow_darker() {
        let grey = |share: f64| {
            let [red, green, blue] = rgb(share).map(f64::from);
            0.3 * red + 0.59 * green + 0.11 * blue
        };
        let greys: Vec<f64> = (0..=40).map(|n| grey(f64::from(n) / 40.0)).collect();
        assert!(greys.is_sorted_by(|a, b| a > b), "{greys:?}");
        assert_eq!((hex(-1.0), hex(2.0)), (hex(0.0), hex(1.0)));
        assert_eq!(hex(1.0), "#08306b");
    }
}
