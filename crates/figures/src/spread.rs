//! Five-number summaries.

use crate::model::BoxPlot;
use crate::style::Style;

/// Returns the box of some values; quartiles are interpolated between neighbours (type 7 of Hyndman
/// and Fan).
pub(crate) fn box_plot(
    mut values: Vec<f64>,
    category: usize,
    name: &str,
    style: Style,
) -> Option<BoxPlot> {
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    let (min, max) = (*values.first()?, *values.last()?);
    let quantile = |share: f64| {
        let place = share * (values.len() - 1) as f64;
        let below = place.floor() as usize;
        let above = (below + 1).min(values.len() - 1);
        values[below] + (values[above] - values[below]) * (place - below as f64)
    };
    Some(BoxPlot {
        category,
        name: name.to_owned(),
        style,
        min,
        q1: quantile(0.25),
        median: quantile(0.5),
        q3: quantile(0.75),
        max,
        count: values.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_numbers_of_five() {
        let b = box_plot(vec![5.0, 1.0, 2.0, 4.0, 3.0], 2, "all", Style::nth(0)).unwrap();
        assert_eq!(
            (b.min, b.q1, b.median, b.q3, b.max),
            (1.0, 2.0, 3.0, 4.0, 5.0)
        );
        let b = box_plot(vec![1.0, 2.0], 0, "all", Style::nth(0)).unwrap();
        assert_eq!((b.q1, b.median, b.count), (1.25, 1.5, 2));
        assert_eq!(box_plot(vec![f64::NAN], 0, "all", Style::nth(0)), None);
    }
}
