//! Formats texts and numbers for TeX.

use netloom_results::view::number::decimals;

use crate::style::{Color, Marker, Style};

/// Escapes the special characters of TeX in a text.
pub(super) fn escaped(text: &str) -> String {
    let plain = |c: char| match c {
        '\\' => "\\textbackslash{}".to_owned(),
        '{' | '}' | '$' | '&' | '#' | '_' | '%' => format!("\\{c}"),
        '~' => "\\textasciitilde{}".to_owned(),
        '^' => "\\textasciicircum{}".to_owned(),
        // In math mode: the upright letter may be a bitmap (Type 3), which publishers reject.
        'µ' => "$\\mu$".to_owned(),
        // Not `\to`, which separates lists within PGFPlots.
        '→' => "$\\rightarrow$".to_owned(),
        '×' => "$\\times$".to_owned(),
        '…' => "\\dots{}".to_owned(),
        '<' => "$<$".to_owned(),
        '>' => "$>$".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(plain).collect()
}

/// Formats a number with the digits that a figure shows.
pub(super) fn number(x: f64) -> String {
    if !x.is_finite() {
        return "nan".to_owned();
    }
    if x == 0.0 {
        return "0".to_owned();
    }
    let magnitude = x.abs();
    match (1e-3..1e6).contains(&magnitude) {
        true => decimals(x, 9),
        false => format!("{x:.6e}"),
    }
}

/// Formats a number of an axis; powers of ten as powers.
pub(super) fn tick(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 || (0.999e-3..1e6).contains(&magnitude) {
        return crate::tick_text(value);
    }
    let exponent = magnitude.log10().floor();
    let lead = ((value / 10f64.powf(exponent)) * 1e6).round() / 1e6;
    match lead == 1.0 {
        true => format!("$10^{{{exponent}}}$"),
        false => format!("${lead}\\cdot10^{{{exponent}}}$"),
    }
}

/// Formats a length in inches.
pub(super) fn length(inches: f64) -> String {
    format!("{inches:.3}in")
}

/// Returns the name of a colour.
pub(super) fn color(color: Color) -> &'static str {
    match color {
        Color::Blue => "netloomblue",
        Color::Vermillion => "netloomvermillion",
        Color::Green => "netloomgreen",
        Color::Orange => "netloomorange",
        Color::SkyBlue => "netloomsky",
        Color::Purple => "netloompurple",
        Color::Black => "netloomblack",
    }
}

/// Returns the options for colour and dashes of a line.
pub(super) fn stroke(style: Style) -> String {
    let mut text = format!("{}, line width=0.8pt", color(style.color));
    let pattern = style.dash.pattern();
    if !pattern.is_empty() {
        let parts = pattern
            .chunks(2)
            .map(|pair| format!("on {}pt off {}pt", pair[0], pair[1]));
        text += &format!(", dash pattern={}", parts.collect::<Vec<_>>().join(" "));
    }
    text
}

/// Returns the options for the marker of a point, filled with a colour.
pub(super) fn marker(style: Style, fill: &str) -> String {
    let (mark, turn) = match style.marker {
        Marker::Circle => ("*", ""),
        Marker::Square => ("square*", ""),
        Marker::TriangleUp => ("triangle*", ""),
        Marker::Diamond => ("diamond*", ""),
        Marker::TriangleDown => ("triangle*", ", rotate=180"),
        Marker::Cross => ("pentagon*", ""),
    };
    let color = color(style.color);
    format!(
        "mark={mark}, mark size=1.5pt, mark options={{solid, line width=0.6pt, draw={color}, \
         fill={fill}{turn}}}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_mean_nothing_to_tex() {
        assert_eq!(
            escaped("50 % of a_b & µs → {x}"),
            "50 \\% of a\\_b \\& $\\mu$s $\\rightarrow$ \\{x\\}"
        );
    }

    #[test]
    fn numbers_and_ticks() {
        assert_eq!(
            [number(0.5), number(0.0), number(f64::NAN), number(1e-7)],
            ["0.5", "0", "nan", "1.000000e-7"]
        );
        assert_eq!(
            [tick(0.01), tick(1e-6), tick(2e7)],
            ["0.01", "$10^{-6}$", "$2\\cdot10^{7}$"]
        );
    }
}
