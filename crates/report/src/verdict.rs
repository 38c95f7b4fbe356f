//! The box at the top: what was run, where series saturate, which is fastest, and warnings.

use netloom_results::view::number::{self, latency};
use netloom_results::view::{Point, Study};
use netloom_results::{Collection, Column, Verdict, axis_label, described};
use serde_json::Value;

use crate::escape;
use crate::signs::{SIGNS, sign};

/// Maximum number of series in the table of saturation.
const MOST_SERIES: usize = 40;
/// Maximum number of loads side by side.
const MOST_LOADS: usize = 30;

/// The columns of a single run.
const LATENCIES: [&str; 4] = [
    "latency_mean_ns",
    "latency_p50_ns",
    "latency_p99_ns",
    "latency_p999_ns",
];
const LOADS: [&str; 2] = ["offered_load", "delivered_load"];

/// Returns the box.
pub(crate) fn html(study: &Study, collections: &[Collection]) -> String {
    let mut html = String::from("<section id=\"verdict\" class=\"verdict\">\n<h2>Verdict</h2>\n");
    html.push_str(&tiles(study, collections));
    html.push_str(&format!("<p>{}</p>\n", sentence(study)));
    let mut parts = vec![];
    parts.extend(saturation(study));
    parts.extend(quickest(study));
    if !parts.is_empty() {
        html.push_str(&format!("<div class=\"pair\">{}</div>\n", parts.concat()));
    }
    html.push_str("</section>\n");
    html.push_str(&warnings(study, collections));
    html
}

fn tiles(study: &Study, collections: &[Collection]) -> String {
    let n = |verdict: Verdict| study.points.iter().filter(|p| p.verdict == verdict).count();
    let runs: u64 = study.points.iter().map(|point| point.seeds).sum();
    let seeds = study.points.iter().map(|point| point.seeds);
    let (fewest, most) = (seeds.clone().min().unwrap_or(0), seeds.max().unwrap_or(0));
    let seeds = match (fewest, most) {
        (1, 1) => "one seed each".to_owned(),
        (a, b) if a == b => format!("{a} seeds each"),
        (a, b) => format!("{a} to {b} seeds each"),
    };
    let mut tiles = vec![
        tile("", "Points", study.points.len(), &seeds),
        tile("", "Runs", runs as usize, ""),
        tile("ok", "● Ok", n(Verdict::Ok), "steady or completed"),
        tile(
            "saturated",
            "▲ Saturated",
            n(Verdict::Saturated),
            "in half of the seeds or more",
        ),
        tile(
            "unconverged",
            "◐ Not converged",
            n(Verdict::NotConverged),
            "interval too wide",
        ),
    ];
    for (verdict, name, words) in [
        (Verdict::NotStationary, "◑ Not stationary", "still drifting"),
        (Verdict::TooShort, "◔ Too short to tell", "queues may grow"),
        (
            Verdict::Unfinished,
            "◇ Unfinished",
            "messages not delivered",
        ),
    ] {
        if n(verdict) > 0 {
            tiles.push(tile("unconverged", name, n(verdict), words));
        }
    }
    let deadlocks: usize = collections.iter().map(|c| deadlocks(&c.manifest)).sum();
    if deadlocks > 0 {
        let words = "results end there";
        tiles.push(tile("deadlock", "✕ Deadlocked runs", deadlocks, words));
    }
    format!("<dl class=\"tiles\">{}</dl>\n", tiles.concat())
}

fn tile(class: &str, name: &str, n: usize, words: &str) -> String {
    let class = if n == 0 { "" } else { class };
    let small = if words.is_empty() {
        String::new()
    } else {
        format!("<small>{words}</small>")
    };
    let n = number::count(n as u64);
    format!("<div class=\"tile {class}\"><dt>{name}</dt><dd>{n}{small}</dd></div>")
}

/// Counts the deadlocked runs in a manifest, at any depth.
fn deadlocks(manifest: &Value) -> usize {
    match manifest {
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| {
                let is_so = key == "status" && value.as_str() == Some("deadlock");
                usize::from(is_so) + deadlocks(value)
            })
            .sum(),
        Value::Array(values) => values.iter().map(deadlocks).sum(),
        _ => 0,
    }
}

/// Summarises what was run in one sentence.
fn sentence(study: &Study) -> String {
    if study.points.is_empty() {
        return "No finished points in these folders.".into();
    }
    let classes = study.classes().len();
    let classes = match classes {
        0 | 1 => "one traffic class".to_owned(),
        n => format!("{n} traffic classes"),
    };
    let loads = study.loads();
    let range = match (loads.first(), loads.last()) {
        (Some(low), Some(high)) => format!(
            ", at {} loads from {} to {}",
            loads.len(),
            number::plain(*low),
            number::plain(*high)
        ),
        _ => String::new(),
    };
    let others: Vec<String> = study
        .series_axes()
        .map(|axis| format!("<code>{}</code>", escape::text(axis)))
        .collect();
    let series = if others.is_empty() {
        String::new()
    } else {
        format!(
            ", {} series that differ in {}",
            study.series.len(),
            others.join(", ")
        )
    };
    format!("Measured: {classes}{range}{series}.")
}

/// Returns the table of the loads between which each series saturates, with the verdict of each of
/// its points.
fn saturation(study: &Study) -> Option<String> {
    study.load_axis.as_ref()?;
    let mut loads = study.loads();
    if loads.len() > MOST_LOADS || study.series.len() > MOST_SERIES {
        loads.clear();
    }
    let mut html = String::from(
        "<div class=\"whole\"><h3>Saturation</h3><div class=\"statesbox\"><table \
         class=\"states\"><thead><tr><th scope=\"col\"><span class=\"unseen\">Series</span></th>",
    );
    for load in &loads {
        html.push_str(&format!("<th scope=\"col\">{}</th>", tight(*load)));
    }
    for title in ["Steady up to", "Saturated from", "Most delivered"] {
        html.push_str(&format!("<th scope=\"col\" class=\"n\">{title}</th>"));
    }
    html.push_str("</tr></thead><tbody>");
    for (at, series) in study.series.iter().enumerate() {
        html.push_str(&format!(
            "<tr><th scope=\"row\">{}</th>",
            escape::name(series)
        ));
        for load in &loads {
            let point = study.of_series(at).find(|p| p.load == Some(*load));
            let cell = point.map_or("<td></td>".into(), |point| state_cell(study, point));
            html.push_str(&cell);
        }
        let edge = study.saturation(at);
        let most = study
            .of_series(at)
            .filter_map(|point| point.total.mean("delivered_load"))
            .max_by(f64::total_cmp);
        let load =
            |load: Option<f64>, otherwise: &str| load.map_or(otherwise.to_owned(), number::plain);
        for words in [
            load(edge.last_steady, "none"),
            load(edge.first_saturated, "not reached"),
            most.map_or("–".into(), number::load),
        ] {
            html.push_str(&format!("<td class=\"n\">{words}</td>"));
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div><ul class=\"key\">");
    for (verdict, sign, style, words) in SIGNS {
        if !loads.is_empty() && study.points.iter().any(|point| point.verdict == verdict) {
            html.push_str(&format!(
                "<li class=\"{style}\"><span class=\"sign\">{sign}</span> {words}</li>"
            ));
        }
    }
    html.push_str("</ul></div>");
    Some(html)
}

/// Formats a load for a narrow column: `.85`.
fn tight(load: f64) -> String {
    let text = number::plain(load);
    match text.strip_prefix("0.") {
        Some(rest) => format!(".{rest}"),
        None => text,
    }
}

fn state_cell(study: &Study, point: &Point) -> String {
    let (sign, style, words) = sign(point.verdict);
    let title = escape::text(&format!(
        "{}: {words} ({} of {} seeds saturated, {} unsure)",
        study.name(point),
        point.saturated_seeds,
        point.seeds,
        point.unsure_seeds
    ));
    format!(
        "<td class=\"{style}\" title=\"{title}\"><span class=\"sign\" \
         aria-hidden=\"true\">{sign}</span><span class=\"unseen\">{words}</span></td>"
    )
}

/// Returns the table of the best and the worst series for each class, at the load where they can be
/// compared.
fn quickest(study: &Study) -> Option<String> {
    let chosen = study.chosen();
    let classes = study.classes();
    let is_compared = chosen.len() > 1;
    if chosen.is_empty() || classes.is_empty() {
        return None;
    }
    let at = study.chosen_load().map_or(String::new(), |load| {
        format!(" at load {}", number::plain(load))
    });
    let title = match is_compared {
        true => "p99 latency",
        false => "Latency and load",
    };
    let mut html = format!("<div class=\"whole\"><h3>{title}{at}</h3>");
    if study.chosen_load().is_some() {
        let is_steady = chosen.iter().all(|p| p.verdict == Verdict::Ok);
        html.push_str(if is_steady {
            "<p class=\"quiet small\">The highest load at which every series is ok.</p>"
        } else {
            "<p class=\"quiet small\">The lowest load common to all series; not all of them are ok \
             even at this load.</p>"
        });
    }
    html.push_str(
        "<div class=\"scroll\"><table class=\"data\"><thead><tr><th scope=\"col\">Class</th>",
    );
    let head = |title: String| format!("<th scope=\"col\" class=\"n\">{title}</th>");
    if is_compared {
        html.push_str(
            "<th scope=\"col\" class=\"n\">Lowest</th><th scope=\"col\">with</th><th scope=\"col\" \
             class=\"n\">Highest</th><th scope=\"col\">with</th><th scope=\"col\" \
             class=\"n\">Factor</th>",
        );
    } else {
        let title = |metric: &&str| head(described(metric).map_or(String::new(), Column::title));
        html.extend(LATENCIES.iter().map(title));
        html.extend(LOADS.iter().map(|metric| head(axis_label(metric))));
    }
    html.push_str("</tr></thead><tbody>");
    for class in classes {
        html.push_str(&format!(
            "<tr><th scope=\"row\" class=\"name\">{}</th>",
            escape::name(class)
        ));
        let of = |point: &Point, metric: &str| {
            let line = point.classes.iter().find(|line| line.class == class);
            line.and_then(|line| line.mean(metric))
        };
        let number = |value: Option<f64>| {
            let shown = value.map_or("–".into(), latency);
            format!("<td class=\"n\">{shown}</td>")
        };
        if is_compared {
            let mut all: Vec<(f64, &Point)> = chosen
                .iter()
                .filter_map(|point| of(point, "latency_p99_ns").map(|p99| (p99, *point)))
                .collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            let series = |point: Option<&(f64, &Point)>| {
                let name = point.map_or("–", |(_, point)| study.series[point.series].as_str());
                format!("<td class=\"name\">{}</td>", escape::name(name))
            };
            // With only one value there is nothing to compare.
            let best = all.first();
            let worst = all.last().filter(|_| all.len() > 1);
            html.push_str(&number(best.map(|best| best.0)));
            html.push_str(&series(best));
            html.push_str(&number(worst.map(|worst| worst.0)));
            html.push_str(&series(worst));
            let factor = best.zip(worst).map(|(best, worst)| worst.0 / best.0);
            html.push_str(&format!(
                "<td class=\"n\">{}</td>",
                factor.map_or("–".into(), |x| format!("{}×", number::short(x)))
            ));
        } else {
            for metric in LATENCIES {
                html.push_str(&number(of(chosen[0], metric)));
            }
            for metric in LOADS {
                let load = of(chosen[0], metric).map_or("–".into(), number::load);
                html.push_str(&format!("<td class=\"n\">{load}</td>"));
            }
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div></div>");
    Some(html)
}

/// Returns the list of warnings.
fn warnings(study: &Study, collections: &[Collection]) -> String {
    let mut items: Vec<String> = vec![];
    for collection in collections {
        let prefix = if collections.len() > 1 {
            format!("{}: ", collection.folder)
        } else {
            String::new()
        };
        let words = collection.warnings.iter();
        items.extend(words.map(|words| escape::text(&format!("{prefix}{words}"))));
    }
    for verdict in Verdict::warnings() {
        for (at, series) in study.series.iter().enumerate() {
            let points: Vec<&Point> = study
                .of_series(at)
                .filter(|point| point.verdict == verdict)
                .collect();
            if !points.is_empty() {
                items.push(named(study, series, verdict, &points));
            }
        }
    }
    if items.is_empty() {
        return String::new();
    }
    let list: String = items
        .iter()
        .map(|item| format!("<li>{item}</li>"))
        .collect();
    format!(
        "<section id=\"warnings\" class=\"warnings\"><h2>Warnings</h2>\n\
         <ul class=\"small\">{list}</ul>\n\
         <p class=\"small quiet\">Beyond saturation, queues grow throughout a run: latencies then \
         depend on its length, but delivered loads are valid. Run a point longer if it is \
         unfinished, too short to tell, not stationary or not converged. The verdict of a point is \
         the median over its seeds; one unfinished seed makes it unfinished.</p></section>\n"
    )
}

fn named(study: &Study, series: &str, verdict: Verdict, points: &[&Point]) -> String {
    let (sign, style, _) = sign(verdict);
    let what = verdict.words();
    let seeds = |point: &Point| match verdict {
        Verdict::Saturated => point.saturated_seeds,
        _ => point.unsure_seeds,
    };
    let one = |point: &&Point| {
        let load = point.load.map(number::plain).unwrap_or_default();
        let n = seeds(point);
        if n < point.seeds {
            format!("{load} ({n} of {} seeds)", point.seeds)
                .trim()
                .to_owned()
        } else {
            load
        }
    };
    let loads: Vec<String> = points.iter().map(one).filter(|w| !w.is_empty()).collect();
    let place = if loads.is_empty() {
        String::new()
    } else if study.load_axis.is_some() {
        format!(" at load {}", loads.join(", "))
    } else {
        format!(" {}", loads.join(", "))
    };
    let sign = format!("<span class=\"{style}\"><span class=\"sign\">{sign}</span></span>");
    format!(
        "{sign} {}: {what}{}",
        escape::name(series),
        escape::text(&place)
    )
}
