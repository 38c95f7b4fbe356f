//! Snapshots of small figures, and properties of large ones.

use crate::synthetic::Synthetic;
use crate::{
    Axis, BoxPlot, Cell, Chart, Figure, Gauge, Line, Mark, Panel, Point, Reference, Scale, Style,
    SvgStyle, csv, figures, pgfplots, svg,
};

use super::canvas::text_width;

fn axis(label: &str, unit: &str, high: f64) -> Axis {
    Axis {
        label: label.to_owned(),
        unit: unit.to_owned(),
        scale: Scale::Linear,
        low: 0.0,
        high,
    }
}

fn names(names: &[&str]) -> Axis {
    crate::study::category_axis("", names.iter().map(|name| (*name).to_owned()).collect())
}

fn figure(x: Axis, y: Axis, chart: Chart) -> Figure {
    Figure {
        id: "small".to_owned(),
        title: "Small & plain".to_owned(),
        caption: "Made up.".to_owned(),
        x,
        y,
        series: "class".to_owned(),
        heat: None,
        panels: vec![Panel {
            title: String::new(),
            chart,
            references: vec![],
        }],
        columns: None,
    }
}

/// Two lines with a band; the second ends where it is saturated, above the frame.
fn curves() -> Figure {
    let point = |x: f64, y: f64, mark: Mark| Point {
        x,
        y,
        low: Some(y * 0.9),
        high: Some(y * 1.1),
        mark,
    };
    let line = |n: usize, name: &str, points: Vec<Point>| Line {
        name: name.to_owned(),
        style: Style::nth(n),
        joined: true,
        marked: true,
        points,
    };
    let lines = vec![
        line(
            0,
            "control",
            vec![point(0.2, 1.0, Mark::Ok), point(0.6, 1.5, Mark::Unsure)],
        ),
        line(
            1,
            "bulk_1",
            vec![
                point(0.2, 2.0, Mark::Ok),
                point(0.6, 3.0, Mark::Ok),
                point(1.0, 90.0, Mark::Saturated),
            ],
        ),
    ];
    let mut figure = figure(
        axis("Offered load", "", 1.0),
        axis("Latency", "µs", 4.0),
        Chart::Lines(lines),
    );
    let label = "latency = load".to_owned();
    figure.panels[0].references.push(Reference {
        label,
        points: vec![(0.0, 0.0), (1.0, 1.0)],
    });
    figure
}

fn boxes() -> Figure {
    let plot = |category: usize| BoxPlot {
        category,
        name: "NICs".to_owned(),
        style: Style::nth(0),
        min: 0.1,
        q1: 0.2,
        median: 0.3,
        q3: 0.4,
        max: 0.5,
        count: 9,
    };
    figure(
        names(&["a", "b"]),
        axis("Load", "", 0.6),
        Chart::Boxes(vec![plot(0), plot(1)]),
    )
}

fn heat() -> Figure {
    let cells = [(0, 0, 0.0), (1, 0, 0.4), (0, 1, 1.0)];
    let cells = cells.map(|(column, row, value)| Cell { column, row, value });
    let mut figure = figure(
        names(&["0.1", "0.2"]),
        names(&["s0 → s1", "s1 → s0"]),
        Chart::Heat(cells.to_vec()),
    );
    figure.heat = Some(Gauge {
        label: "Use".to_owned(),
        unit: String::new(),
        low: 0.0,
        high: 1.0,
    });
    figure
}

#[test]
fn lines_letter_by_letter() {
    insta::assert_snapshot!("lines_svg", svg(&curves(), &SvgStyle::default()));
}

#[test]
fn boxes_letter_by_letter() {
    insta::assert_snapshot!("boxes_svg", svg(&boxes(), &SvgStyle::default()));
}

#[test]
fn cells_letter_by_letter() {
    insta::assert_snapshot!("heat_svg", svg(&heat(), &SvgStyle::default()));
}

#[test]
fn latex_letter_by_letter() {
    let latex = pgfplots(&curves(), 3.5);
    insta::assert_snapshot!("lines_tex", latex.tex);
    insta::assert_snapshot!(latex.data[0].1, @r"
    x0 y0 low0 high0 ok0 saturated0 unsure0 x1 y1 low1 high1 ok1 saturated1 unsure1
    0.2 1 0.9 1.1 1 nan nan 0.2 2 1.8 2.2 2 nan nan
    0.6 1.5 1.35 1.65 nan nan 1.5 0.6 3 2.7 3.3 3 nan nan
    nan nan nan nan nan nan nan 1 90 nan nan nan 4 nan
    ");
    assert_eq!(latex.data[0].0, "small-1.dat");
    insta::assert_snapshot!("boxes_tex", pgfplots(&boxes(), 3.5).tex);
    insta::assert_snapshot!("heat_tex", pgfplots(&heat(), 3.5).tex);
}

#[test]
fn numbers_behind_figures() {
    insta::assert_snapshot!(csv(&curves()), @r"
    panel,series,x,y,low,high,mark,q1,median,q3
    ,control,0.2,1,0.9,1.1,ok,,,
    ,control,0.6,1.5,1.35,1.6500000000000001,unsure,,,
    ,bulk_1,0.2,2,1.8,2.2,ok,,,
    ,bulk_1,0.6,3,2.7,3.3000000000000003,ok,,,
    ,bulk_1,1,90,81,99.00000000000001,saturated,,,
    ");
    insta::assert_snapshot!(csv(&boxes()), @r"
    panel,series,x,y,low,high,mark,q1,median,q3
    ,NICs,a,,0.1,0.5,,0.2,0.3,0.4
    ,NICs,b,,0.1,0.5,,0.2,0.3,0.4
    ");
    insta::assert_snapshot!(csv(&heat()), @r"
    panel,series,x,y,low,high,mark,q1,median,q3
    ,s0 → s1,0.1,0,,,,,,
    ,s0 → s1,0.2,0.4,,,,,,
    ,s1 → s0,0.1,1,,,,,,
    ");
}

/// Returns the value of an attribute of an element.
fn attribute<'s>(element: &'s str, name: &str) -> Option<&'s str> {
    let from = element.find(&format!(" {name}=\""))? + name.len() + 3;
    element[from..].split('"').next()
}

/// Returns left, right and base line of every text that is not rotated, with its size.
fn texts(picture: &str) -> Vec<(f64, f64, f64, f64, String)> {
    let lines = picture.lines().filter(|line| line.starts_with("<text x="));
    lines
        .map(|line| {
            let number = |name: &str| attribute(line, name).unwrap().parse::<f64>().unwrap();
            let text = line.split('>').nth(1).unwrap().split('<').next().unwrap();
            let text = text
                .replace("&gt;", ">")
                .replace("&lt;", "<")
                .replace("&amp;", "&");
            let (x, size) = (number("x"), number("font-size"));
            let width = text_width(&text, size);
            let left = match attribute(line, "text-anchor") {
                Some("middle") => x - width / 2.0,
                Some("end") => x - width,
                _ => x,
            };
            (left, left + width, number("y"), size, text)
        })
        .collect()
}

fn every_picture() -> Vec<(String, f64, String)> {
    let mut pictures = vec![];
    let mut sideways = Synthetic::large();
    sideways.loads.clear();
    for study in [
        Synthetic::large(),
        Synthetic::small(),
        Synthetic::single(),
        sideways,
    ] {
        for figure in figures(&study.collection()) {
            for style in [SvgStyle::default(), SvgStyle::two_columns()] {
                pictures.push((
                    figure.id.clone(),
                    style.width_in * 72.0,
                    svg(&figure, &style),
                ));
            }
        }
    }
    pictures
}

#[test]
fn no_text_leaves_the_sheet_and_none_covers_another() {
    for (id, width, picture) in every_picture() {
        let height: f64 = attribute(&picture, "height")
            .unwrap()
            .trim_end_matches("pt")
            .parse()
            .unwrap();
        let texts = texts(&picture);
        for (n, (left, right, base, size, text)) in texts.iter().enumerate() {
            assert!(
                *left >= -0.5 && *right <= width + 0.5,
                "{id} at {width}: {text} from {left} to {right}"
            );
            assert!(
                *base - size * 0.8 >= -0.5 && *base <= height,
                "{id} at {width}: {text} at {base}"
            );
            for (other_left, other_right, other_base, _, other) in &texts[..n] {
                let apart = right <= other_left
                    || left >= other_right
                    || (base - other_base).abs() >= size * 0.7;
                assert!(apart, "{id} at {width}: {text} covers {other}");
            }
        }
    }
}

#[test]
fn pictures_are_xml_without_scripts() {
    for (id, _, picture) in every_picture() {
        assert!(
            !picture.contains("<script") && !picture.contains("href"),
            "{id}"
        );
        assert!(!picture.contains("NaN") && !picture.contains("inf"), "{id}");
        // Every element is on a line of its own: closed there, or opened and closed.
        let opened = picture.matches("<g ").count() + picture.matches("<clipPath ").count();
        let closed = picture.matches("</g>").count() + picture.matches("</clipPath>").count();
        assert_eq!(opened, closed, "{id}");
    }
}

#[test]
fn what_is_beyond_the_axis_is_marked_at_its_border() {
    let picture = svg(&curves(), &SvgStyle::default());
    let frame = picture
        .lines()
        .find(|line| line.contains(r##"stroke="#444" stroke-width="0.6""##))
        .unwrap();
    let top: f64 = attribute(frame, "y").unwrap().parse().unwrap();
    // Hollow squares: the saturated point of the second series.
    let hollow: Vec<&str> = picture
        .lines()
        .filter(|line| line.starts_with("<polygon") && line.contains(r##"fill="#fff""##))
        .collect();
    assert_eq!(hollow.len(), 1);
    let first = attribute(hollow[0], "points")
        .unwrap()
        .split([' ', ','])
        .nth(1)
        .unwrap();
    assert!(
        (first.parse::<f64>().unwrap() + 0.9 * 1.9 - top).abs() < 0.02,
        "{first} {top}"
    );
}
