//! The rectangle of a panel: positions of values, and the grid.

use super::canvas::Canvas;
use crate::model::{Axis, Scale};
use crate::ticks::{minor_ticks, tick_text, ticks};

/// A panel on the sheet.
pub(super) struct Frame<'f> {
    pub(super) x: &'f Axis,
    pub(super) y: &'f Axis,
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Frame<'_> {
    /// Returns the position of a value on the x axis.
    pub(super) fn px(&self, value: f64) -> f64 {
        self.left + self.width * share(self.x, value)
    }

    /// Returns the position of a value on the y axis: categories from the top down, quantities from
    /// the bottom up.
    pub(super) fn py(&self, value: f64) -> f64 {
        let share = share(self.y, value);
        let down = if self.y.categories().is_empty() {
            1.0 - share
        } else {
            share
        };
        self.top + self.height * down
    }

    /// Whether a position is in the frame, with a small tolerance at its border.
    pub(super) fn holds(&self, (x, y): (f64, f64)) -> bool {
        let within =
            |at: f64, from: f64, length: f64| at >= from - 0.5 && at <= from + length + 0.5;
        within(x, self.left, self.width) && within(y, self.top, self.height)
    }

    fn n_x_ticks(&self, small: f64) -> usize {
        (self.width / (small * 3.2)).floor().clamp(2.0, 11.0) as usize
    }

    fn n_y_ticks(&self, small: f64) -> usize {
        (self.height / (small * 2.2)).floor().clamp(2.0, 7.0) as usize
    }

    /// Returns the labelled positions of the x axis.
    pub(super) fn x_ticks(&self, small: f64) -> Vec<(f64, String)> {
        named(self.x, self.n_x_ticks(small))
    }

    /// Returns the labelled positions of the y axis.
    pub(super) fn y_ticks(&self, small: f64) -> Vec<(f64, String)> {
        named(self.y, self.n_y_ticks(small))
    }

    pub(super) fn grid(&self, canvas: &mut Canvas, small: f64) {
        let (right, bottom) = (self.left + self.width, self.top + self.height);
        let mut lines = |xs: Vec<f64>, ys: Vec<f64>, color: &str, width: f64| {
            for x in xs.into_iter().map(|x| self.px(x)) {
                canvas.stroke_line((x, self.top), (x, bottom), color, width);
            }
            for y in ys.into_iter().map(|y| self.py(y)) {
                canvas.stroke_line((self.left, y), (right, y), color, width);
            }
        };
        let quantities = |axis: &Axis, values: Vec<f64>| {
            if axis.categories().is_empty() {
                values
            } else {
                vec![]
            }
        };
        let (nx, ny) = (self.n_x_ticks(small), self.n_y_ticks(small));
        lines(
            minor_ticks(self.x, nx),
            minor_ticks(self.y, ny),
            "#f1f1f1",
            0.4,
        );
        lines(
            quantities(self.x, ticks(self.x, nx)),
            quantities(self.y, ticks(self.y, ny)),
            "#dcdcdc",
            0.5,
        );
    }

    pub(super) fn border(&self, canvas: &mut Canvas) {
        canvas.rect(
            self.left,
            self.top,
            self.width,
            self.height,
            r##"fill="none" stroke="#444" stroke-width="0.6""##,
        );
    }
}

/// Returns the position of a value as a fraction of the axis.
fn share(axis: &Axis, value: f64) -> f64 {
    match &axis.scale {
        // A value below the axis stays below it: the logarithm of zero is infinite.
        Scale::Log => {
            let value = value.max(axis.low * 1e-6);
            (value / axis.low).ln() / (axis.high / axis.low).ln()
        }
        Scale::Linear | Scale::Category(_) => (value - axis.low) / (axis.high - axis.low),
    }
}

fn named(axis: &Axis, at_most: usize) -> Vec<(f64, String)> {
    let text = |value: f64| match &axis.scale {
        Scale::Category(names) => names[value as usize].clone(),
        _ => tick_text(value),
    };
    ticks(axis, at_most)
        .into_iter()
        .map(|value| (value, text(value)))
        .collect()
}
