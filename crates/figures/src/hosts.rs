//! Injected load of each NIC, to compare NICs.

use std::collections::BTreeMap;

use netloom_results::view::{Lines, Numbers, words};

use crate::axis::fitted_to;
use crate::detail::Details;
use crate::model::{BoxPlot, Chart, Figure, Panel};
use crate::spread::box_plot;
use crate::study::category_axis;
use crate::style::Style;

pub(crate) fn hosts(details: &Details<'_, '_>) -> Option<Figure> {
    let study = details.study;
    let table = study.collection.table("hosts")?;
    let host = words(table, "host")?;
    let injected = Numbers::of(table, "injected_load")?;
    let seed = Numbers::of(table, "seed");
    let lines = Lines::of(table);
    let groups = study.groups.reader(table);
    // By point, group and NIC: the sum over seeds and service levels, divided by the number of
    // seeds.
    let mut sums: BTreeMap<(u64, usize), BTreeMap<u32, f64>> = BTreeMap::new();
    let mut seeds: BTreeMap<u64, std::collections::BTreeSet<u64>> = BTreeMap::new();
    for line in 0..table.len() {
        let number = lines.point(line);
        if !details.is_chosen(number) {
            continue;
        }
        let read = (groups.get(line), host.lines.get(line), injected.get(line));
        let (Some(group), Some(host), Some(load)) = read else {
            continue;
        };
        let seed = seed.and_then(|seed| seed.get(line)).unwrap_or(0.0);
        seeds.entry(number).or_default().insert(seed as u64);
        *sums
            .entry((number, group))
            .or_default()
            .entry(host)
            .or_default() += load;
    }
    let values = |number: u64, group: usize| -> Option<Vec<f64>> {
        let n_seeds = seeds.get(&number)?.len() as f64;
        Some(
            sums.get(&(number, group))?
                .values()
                .map(|sum| sum / n_seeds)
                .collect(),
        )
    };
    let n_groups = study.groups.names.len();
    let mut panels: Vec<(String, Vec<BoxPlot>)> = vec![];
    let categories;
    if n_groups > 1 {
        categories = study.groups.names.clone();
        for point in &details.points {
            let of = |group: usize| {
                let name = &study.groups.names[group];
                box_plot(
                    values(point.number, group)?,
                    group,
                    name,
                    study.groups.style(group),
                )
            };
            panels.push((
                study.point_text(point),
                (0..n_groups).filter_map(of).collect(),
            ));
        }
    } else {
        let text = |point: &_| match study.point_text(point) {
            text if text.is_empty() => study.groups.names.first().cloned().unwrap_or_default(),
            text => text,
        };
        categories = details.points.iter().map(text).collect();
        let of = |(n, point): (usize, &crate::study::StudyPoint)| {
            box_plot(values(point.number, 0)?, n, "NICs", Style::nth(0))
        };
        panels.push((
            String::new(),
            details.points.iter().enumerate().filter_map(of).collect(),
        ));
    }
    panels.retain(|(_, boxes)| !boxes.is_empty());
    let all = panels
        .iter()
        .flat_map(|(_, boxes)| boxes.iter().map(|b| b.max));
    let all: Vec<f64> = all.collect();
    let y = fitted_to("injected_load", all.into_iter());
    if panels.is_empty() {
        return None;
    }
    Some(Figure {
        id: "injected-by-host".to_owned(),
        title: "Injected load per NIC".to_owned(),
        caption: format!(
            "Injected load of each NIC as a fraction of its link, mean over seeds: minimum, \
             quartiles and maximum over all NICs.{}",
            details.sentence()
        ),
        x: category_axis("", categories),
        y: y.axis,
        series: if n_groups > 1 {
            study.groups.title().to_owned()
        } else {
            String::new()
        },
        heat: None,
        panels: panels
            .into_iter()
            .map(|(title, boxes)| Panel {
                title,
                chart: Chart::Boxes(boxes),
                references: vec![],
            })
            .collect(),
        columns: if n_groups > 1 {
            details.columns()
        } else {
            None
        },
    })
}
