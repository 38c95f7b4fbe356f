//! The page, from tables to HTML.

mod synthetic;

use std::collections::BTreeSet;

use netloom_report::html;
use netloom_results::Collection;
use proptest::prelude::*;
use serde_json::Value;
use synthetic::{Size, collection};

const MADE_BY: &str = "netloom test";

/// Returns the data embedded in a page.
fn embedded(html: &str) -> Value {
    let mark = "id=\"report-data\">";
    let start = html.find(mark).expect("the data") + mark.len();
    let length = html[start..].find("</script>").expect("its end");
    serde_json::from_str(&html[start..start + length]).expect("JSON")
}

fn small(classes: [&str; 2], arbiters: [&str; 2]) -> Size {
    Size {
        classes: classes.map(str::to_owned).into(),
        arbiters: arbiters.map(str::to_owned).into(),
        loads: vec![0.5, 0.7, 1.0],
        seeds: 2,
        epochs: 3,
        shift: 0.0,
    }
}

#[test]
fn a_large_study_stays_small() {
    let study = collection("large", &Size::large());
    let page = html(std::slice::from_ref(&study), MADE_BY);
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    assert!(
        page == html(&[study], MADE_BY),
        "the same tables give the same bytes"
    );
    for id in [
        "verdict",
        "warnings",
        "figures",
        "fabric",
        "tables",
        "classes",
        "busiest-links",
        "experiment",
        "reproduce",
    ] {
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
    }
    let data = embedded(&page);
    assert!(data["figures"].as_array().expect("figures").len() >= 8);
    let lines = page.split("id=\"classes\"").nth(1).expect("the table");
    let lines = lines.split("</table>").next().expect("its end");
    assert_eq!(
        lines.matches("<tr>").count(),
        1 + 39 * 8,
        "a line per point and class, and totals"
    );
}

#[test]
fn nothing_is_fetched() {
    let page = html(&[collection("large", &Size::single())], MADE_BY);
    let own = page
        .split("<script>")
        .next()
        .expect("what is not a library");
    assert!(own.contains("default-src 'none'"));
    for reference in ["src=", "href=\"http", "url(", "@import", "<link"] {
        assert!(!own.contains(reference), "{reference}");
    }
}

/// Every field in a specification must be a column of its data or come from one of its transforms.
#[test]
fn specifications_name_fields_that_exist() {
    for size in [Size::large(), Size::single()] {
        let data = embedded(&html(&[collection("study", &size)], MADE_BY));
        let mut checked = 0;
        for figure in data["figures"].as_array().expect("figures") {
            for panel in figure["panels"].as_array().expect("panels") {
                let table = &data["datasets"][panel["data"].as_str().expect("a name")];
                let names: BTreeSet<String> = strings(&table["names"]);
                let columns = table["columns"].as_array().expect("columns");
                assert_eq!(columns.len(), names.len());
                let length = |column: &Value| {
                    let lines = if column.is_object() {
                        &column["lines"]
                    } else {
                        column
                    };
                    lines.as_array().expect("values").len()
                };
                assert!(columns.iter().all(|c| length(c) == length(&columns[0])));
                let spec = &figure["specs"][panel["spec"].as_u64().expect("a number") as usize];
                checked += fields(spec, names, &figure["id"]);
                assert!(!panel["summary"].as_str().expect("words").is_empty());
            }
        }
        assert!(checked > 20, "only {checked} fields");
    }
}

#[test]
fn saturated_points_beyond_an_axis_are_drawn_at_its_end() {
    let data = embedded(&html(&[collection("study", &Size::large())], MADE_BY));
    let figures = data["figures"].as_array().expect("figures");
    let figure = figures.iter().find(|figure| figure["id"] == "latency");
    let spec = &figure.expect("latencies")["specs"][0];
    let layers = spec["layer"].as_array().expect("layers");
    let high = &layers[0]["encoding"]["y"]["scale"]["domain"][1];
    let steps = spec["transform"].as_array().expect("transforms");
    let shown = steps.iter().find(|step| step["as"] == "shown_y");
    let expected = format!("datum.state === 'saturated' ? min(datum.y, {high}) : datum.y");
    let high = high.as_f64().expect("a number");
    let expected = expected.replace(&format!("{high:?}"), &high.to_string());
    assert_eq!(shown.expect("a place")["calculate"], expected.as_str());
    let markers = layers.iter().find(|layer| layer["mark"]["size"] == 34);
    assert_eq!(
        markers.expect("markers")["encoding"]["y"]["field"],
        "shown_y"
    );
}

fn strings(value: &Value) -> BTreeSet<String> {
    let items = value.as_array().expect("a list").iter();
    items
        .map(|item| item.as_str().expect("a text").to_owned())
        .collect()
}

/// Checks a specification against the columns of its data; returns the number of fields.
fn fields(spec: &Value, mut known: BTreeSet<String>, figure: &Value) -> usize {
    if let Some(values) = spec["data"]["values"].as_array() {
        let row = values[0].as_object().expect("a row");
        known = row.keys().cloned().collect();
    }
    for step in spec["transform"].as_array().into_iter().flatten() {
        known.extend(step["as"].as_str().map(str::to_owned));
        for made in step["window"].as_array().into_iter().flatten() {
            known.extend(made["as"].as_str().map(str::to_owned));
        }
        for text in [&step["filter"], &step["calculate"]] {
            for used in text.as_str().unwrap_or("").split("datum.").skip(1) {
                let end = used.find(|c: char| !c.is_alphanumeric() && c != '_');
                let name = &used[..end.unwrap_or(used.len())];
                assert!(known.contains(name), "{figure}: {name} in {text}");
            }
        }
    }
    let mut n = 0;
    let mut waiting: Vec<&Value> = vec![&spec["encoding"]];
    while let Some(value) = waiting.pop() {
        if let Some(field) = value["field"].as_str() {
            assert!(known.contains(field), "{figure}: {field} of {known:?}");
            n += 1;
        }
        match value {
            Value::Object(entries) => waiting.extend(entries.values()),
            Value::Array(values) => waiting.extend(values),
            _ => {}
        }
    }
    for layer in spec["layer"].as_array().into_iter().flatten() {
        n += fields(layer, known.clone(), figure);
    }
    n
}

/// Returns the line of a series in the box at the top, without tags.
fn saturation_of(page: &str, series: &str) -> Vec<String> {
    let table = page.split("class=\"states\"").nth(1).expect("the table");
    let table = table.split("</table>").next().expect("its end");
    let line = table
        .split("<tr>")
        .find(|line| line.contains(&format!(">{series}<")))
        .expect("the series");
    line.split("<td class=\"n\">")
        .skip(1)
        .map(|cell| cell.split('<').next().expect("words").to_owned())
        .collect()
}

#[test]
fn the_verdict_knows_where_series_saturate() {
    let page = html(&[collection("large", &Size::large())], MADE_BY);
    assert_eq!(saturation_of(&page, "dtable")[..2], ["0.9", "0.95"]);
    assert_eq!(saturation_of(&page, "ib-two-table")[..2], ["0.85", "0.9"]);
    assert_eq!(saturation_of(&page, "wfq")[..2], ["0.95", "1"]);
    assert!(page.contains("p99 latency at load 0.85"));
    assert!(page.contains("</bdi>: saturated at load 0.95, 1"));
    let below = Size {
        loads: vec![0.4, 0.5],
        ..Size::large()
    };
    let page = html(&[collection("low", &below)], MADE_BY);
    assert_eq!(saturation_of(&page, "dtable")[..2], ["0.5", "not reached"]);
    assert!(!page.contains("id=\"warnings\""), "nothing to warn of");
}

#[test]
fn what_a_folder_warns_of_is_said() {
    let mut study = collection("large", &Size::single());
    study.warnings.push("2 runs are <missing>".into());
    study.manifest["status"] = "deadlock".into();
    let page = html(&[study], MADE_BY);
    assert!(page.contains("2 runs are &lt;missing&gt;"));
    assert!(page.contains("Deadlocked runs"));
}

#[test]
fn two_folders_are_compared_at_common_points() {
    let size = Size {
        arbiters: vec!["dtable".into()],
        ..Size::large()
    };
    let mut other = Size {
        shift: 1.0,
        ..size.clone()
    };
    other.loads.truncate(3);
    let both = [collection("before", &size), collection("after", &other)];
    let page = html(&both, MADE_BY);
    let table = page.split("id=\"differences\"").nth(1).expect("the table");
    let table = table.split("</table>").next().expect("its end");
    assert_eq!(
        table.matches("<tr>").count(),
        1 + 3 * 8,
        "common points only"
    );
    assert!(table.contains("<strong>+"), "a clear rise of latency");
    let series: BTreeSet<String> = embedded(&page)["figures"][0]["legend"]
        .as_array()
        .expect("a legend")
        .iter()
        .map(|entry| entry["name"].as_str().expect("a name").to_owned())
        .collect();
    assert_eq!(series, ["after", "before"].map(str::to_owned).into());
}

#[test]
fn a_folder_without_tables_is_a_page() {
    let page = html(&[Collection::default()], MADE_BY);
    assert!(page.contains("No finished point"));
    assert_eq!(embedded(&page)["figures"], Value::Array(vec![]));
}

/// Names that try to end an element, open one, leave an attribute or begin a comment.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("</script>".to_owned()),
        Just("<script>alert(1)</script>".to_owned()),
        Just("<!--".to_owned()),
        Just("-->".to_owned()),
        Just("]]>".to_owned()),
        Just("\" onload=\"alert(1)".to_owned()),
        Just("' autofocus".to_owned()),
        Just("&lt;&amp;".to_owned()),
        Just("\u{202e}\u{0}\u{2028}".to_owned()),
        Just("</pre></td></details>".to_owned()),
        Just("${x}`\\u003c".to_owned()),
        Just("__proto__".to_owned()),
        Just("datum['x']".to_owned()),
        Just("漢字 é".to_owned()),
        Just("long ".repeat(400)),
        any::<String>().prop_map(|text| text.replace('\n', " ")),
    ];
    prop::collection::vec(piece, 1..4).prop_map(|pieces| format!("x{}", pieces.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// A page has as many tags with hostile names as with harmless ones, and its data holds the
    /// very names.
    #[test]
    fn hostile_names_stay_names(a in hostile(), b in hostile(), c in hostile(), about in hostile()) {
        let of = |a: &str, b: &str, c: &str, about: &str| {
            let (first, second) = (format!("{a} 1"), format!("{b} 2"));
            let size = small([&first, &second], [&format!("{c} 3"), &format!("{a} 4")]);
            let mut study = collection(c, &size);
            study.about = about.to_owned();
            study.experiment = format!("# {about}\nname = '{c}'\n");
            study.manifest["host"] = a.into();
            study.warnings.push(b.to_owned());
            html(&[study], about)
        };
        let (page, harmless) = (of(&a, &b, &c, &about), of("xa", "xb", "xc", "xd"));
        for sign in ['<', '>'] {
            let n = |page: &str| page.matches(sign).count();
            prop_assert_eq!(n(&page), n(&harmless), "{}", sign);
        }
        prop_assert!(!page.contains('\0'));
        let data = embedded(&page);
        let titles: Vec<&str> = data["figures"][0]["panels"].as_array().unwrap().iter()
            .map(|panel| panel["title"].as_str().unwrap()).collect();
        let names: Vec<&str> = data["figures"][0]["legend"].as_array().unwrap().iter()
            .map(|entry| entry["name"].as_str().unwrap()).collect();
        let class = format!("{a} 1");
        prop_assert!(titles.contains(&class.as_str()) || names.contains(&class.as_str()), "{titles:?} {names:?}");
    }
}
