//! Reads `[study]`. All errors are reported together, each with its place.

use std::collections::BTreeMap;

use netloom_catalog::{
    Document, Notes, Params, Place, Section, Value, ValueShape, is_formula, is_hidden, keys_of,
    no_name, split_assignment,
};
use netloom_experiment::Kinds;
use netloom_experiment::spec::measure;
use netloom_experiment::spec::study::{Range, Rules, is_known_path};
use netloom_results::Level;

use crate::axis::{Axis, AxisValue, ExactRange};
use crate::decimal::Decimal;
use crate::{Rising, Seeds};

/// The column of variants.
const VARIANT: &str = "variant";
/// Larger studies are most likely a typing error.
const MOST_VALUES: u64 = 100_000;
pub(crate) const MOST_POINTS: u64 = 1_000_000;
/// Limited because all runs are listed before they are distributed.
const MOST_RUNS: u64 = 10_000_000;
/// Default maximum number of seeds of a point.
const MOST_SEEDS: u32 = 30;

/// Keys that cannot be an axis, each with a hint.
const NO_AXIS: &[(&str, &str)] = &[
    (
        "measure.seed",
        "every point has consecutive seeds from measure.seed",
    ),
    ("measure.repeat", "every point has measure.repeat seeds"),
    ("netloom", "the format version applies to the whole file"),
    ("name", "use [[study.variant]] to name variants"),
    ("about", "it describes the whole study"),
    ("extends", "it is resolved before the study is read"),
    ("study", "a study cannot contain another study"),
];

/// The contents of `[study]`.
pub(crate) struct Plan {
    pub(crate) axes: Vec<Axis>,
    pub(crate) seeds: Seeds,
    /// The axis whose values a rule selects.
    pub(crate) walked: Option<usize>,
}

/// An axis that is being read, with its places.
struct Draft {
    axis: Axis,
    /// The paths that it sets, with their places.
    paths: Vec<(String, Place)>,
    /// The place of the axis.
    place: Place,
    /// `refine`, with its place.
    refine: Option<(Decimal, Place)>,
    /// Whether it is a key under `[study.axes]`.
    is_single: bool,
    /// Whether its values are variants, which have names.
    is_named: bool,
    /// Restrictions to values of other axes, with their places.
    only: Vec<(String, Level, Place)>,
}

/// Reads `[study]`; returns `None` if it has errors.
pub(crate) fn read(
    document: &Document,
    study: &Value,
    kinds: &Kinds,
    notes: &mut Notes,
) -> Option<Plan> {
    let errors = |notes: &Notes| notes.count();
    let before = errors(notes);
    let mut section = Section::open(study, notes)?;
    let rules = Rules::read(&mut section);
    let rule_places =
        ["stop-after-saturation", "interval", "most-seeds"].map(|key| section.place_of(key));
    for key in ["axes", "zip", "variant"] {
        section.raw(key);
    }
    section.finish();
    let [axes, zip, variant] = ["axes", "zip", "variant"].map(|key| study.get(key));

    let mut drafts = vec![];
    drafts.extend(variant.into_iter().flat_map(|list| variants(list, notes)));
    let ValueShape::Table(entries) = &study.shape else {
        return None;
    };
    for (key, _, _) in entries {
        match key.as_str() {
            "axes" => drafts.extend(axes.into_iter().flat_map(|table| singles(table, notes))),
            "zip" => drafts.extend(zip.into_iter().flat_map(|list| zips(list, notes))),
            _ => {}
        }
    }
    for draft in &drafts {
        for (path, place) in &draft.paths {
            check_path(path, *place, kinds, notes);
        }
        if !draft.is_named {
            check_distinct(&draft.axis, notes);
        }
        can_be_shown(draft, notes);
    }
    own_columns(&drafts, notes);
    // An invalid axis is missing from `drafts`; do not report errors that follow from that.
    if errors(notes) == before {
        check_only(&drafts, notes);
    }
    overlaps(&drafts, notes);
    lost_sets(document, &drafts, notes);
    let n_points = drafts.iter().try_fold(1u64, |n, draft| {
        n.checked_mul(draft.axis.values.len() as u64)
    });
    if n_points.is_none_or(|n| n > MOST_POINTS) {
        notes
            .error(
                "E1002",
                study.place,
                "the study has more than 1000000 points",
            )
            .help("use fewer values, or combine axes with [[study.zip]]");
    }
    let rules = rules?;
    let are_all_there = errors(notes) == before;
    let walked = walked(&mut drafts, are_all_there, &rules, rule_places[0], notes);
    let seeds = seeds(document, &rules, rule_places, notes);
    if let (Some(n @ ..=MOST_POINTS), Some(seeds)) = (n_points, &seeds)
        && n.saturating_mul(u64::from(seeds.most)) > MOST_RUNS
    {
        notes
            .error(
                "E1002",
                study.place,
                "the study has more than 10000000 runs",
            )
            .help("use fewer values or fewer seeds");
    }
    if errors(notes) > before {
        return None;
    }
    Some(Plan {
        axes: drafts.into_iter().map(|draft| draft.axis).collect(),
        seeds: seeds?,
        walked,
    })
}

/// The axes under `[study.axes]`.
fn singles(table: &Value, notes: &mut Notes) -> Vec<Draft> {
    let ValueShape::Table(entries) = &table.shape else {
        let found = table.shape.word();
        notes
            .error(
                "E0101",
                table.place,
                format!("expected a table of axes, found {found}"),
            )
            .help("add [study.axes] and below it \"traffic.load\" = [0.1, 0.2]");
        return vec![];
    };
    let drafts = entries.iter().filter_map(|(path, key_place, value)| {
        let paths = vec![(path.clone(), *key_place)];
        match &value.shape {
            ValueShape::List(items) => {
                let values = listed(path, items, value.place, notes)?;
                Some(Draft {
                    axis: axis(vec![path.clone()], values),
                    paths,
                    place: value.place,
                    refine: None,
                    is_single: true,
                    is_named: false,
                    only: vec![],
                })
            }
            ValueShape::Table(inner) => {
                // "study.axes.traffic.load" without quotes is a table in a table.
                if let Some((key, _, _)) = inner
                    .iter()
                    .find(|(_, _, v)| matches!(v.shape, ValueShape::List(_) | ValueShape::Table(_)))
                {
                    notes
                        .error("E1002", *key_place, format!("`{path}` is not an axis"))
                        .help(format!("quote the path: \"{path}.{key}\" = …"));
                    return None;
                }
                let (values, range, refine) = range(path, value, notes)?;
                Some(Draft {
                    axis: Axis {
                        range: Some(range),
                        ..axis(vec![path.clone()], values)
                    },
                    paths,
                    place: value.place,
                    refine,
                    is_single: true,
                    is_named: false,
                    only: vec![],
                })
            }
            _ => {
                let value = value.to_toml();
                notes
                    .error(
                        "E1002",
                        *key_place,
                        format!("the axis `{path}` has no list of values"),
                    )
                    .help(format!(
                        "use \"{path}\" = [{value}] or {{ from = …, to = …, step = … }}; \
                         set a value common to all points in its own section"
                    ));
                None
            }
        }
    });
    drafts.collect()
}

fn axis(columns: Vec<String>, mut values: Vec<AxisValue>) -> Axis {
    // A column has either numbers or texts.
    for column in 0..columns.len() {
        let is_text = |value: &AxisValue| matches!(value.levels[column], Level::Text(_));
        if values.iter().any(is_text) {
            for value in &mut values {
                value.levels[column] = Level::Text(value.levels[column].to_string());
            }
        }
    }
    Axis {
        columns,
        values,
        rising: None,
        range: None,
    }
}

/// Returns the level of a value in a column. A table with a kind has the name of the kind.
fn level(value: &Value) -> Level {
    match &value.shape {
        ValueShape::Integer(n) => Level::Number(*n as f64),
        ValueShape::Float(x) => Level::Number(*x),
        ValueShape::Text(text) => Level::Text(text.clone()),
        ValueShape::Table(_) => {
            let kind = value.get("kind").and_then(Value::as_text);
            Level::Text(kind.map_or_else(|| value.to_toml(), str::to_owned))
        }
        _ => Level::Text(value.to_toml()),
    }
}

fn listed(path: &str, items: &[Value], place: Place, notes: &mut Notes) -> Option<Vec<AxisValue>> {
    if items.is_empty() {
        notes
            .error("E1002", place, format!("the axis `{path}` has no values"))
            .help("add a value, or remove the axis");
        return None;
    }
    let value = |item: &Value| {
        let level = level(item);
        AxisValue {
            label: level.to_string(),
            levels: vec![level],
            sets: vec![(path.to_owned(), item.clone())],
            only: vec![],
        }
    };
    Some(items.iter().map(value).collect())
}

type Ranged = (Vec<AxisValue>, ExactRange, Option<(Decimal, Place)>);

fn range(path: &str, table: &Value, notes: &mut Notes) -> Option<Ranged> {
    let mut section = Section::open(table, notes)?;
    let read = Range::read(&mut section);
    let refine_place = section.place_of("refine");
    let step_place = section.place_of("step");
    section.finish();
    let read = read?;
    let mut exact = |key: &str, x: f64| {
        let exact = Decimal::of(x);
        if exact.is_none() {
            let place = table.get(key).map_or(table.place, |value| value.place);
            notes
                .error(
                    "E1002",
                    place,
                    format!("`{key}` of {x} is too large or has too many digits"),
                )
                .help("use at most 15 digits before and after the decimal point");
        }
        exact
    };
    let from = exact("from", read.from);
    let to = exact("to", read.to);
    let step = exact("step", read.step);
    let refine = read.refine.map(|refine| exact("refine", refine));
    let (from, to, step) = (from?, to?, step?);
    let Some(steps) = from.steps_to(to, step) else {
        let (a, b, distance) = (read.from, read.to, read.to - read.from);
        let note = notes.error(
            "E1002",
            step_place,
            format!("a step of {} does not lead from {a} to {b}", read.step),
        );
        match (read.step == 0.0, distance > 0.0) {
            (true, _) => note.help("set the difference between consecutive values"),
            (false, true) => note.help("use a positive step, or swap `from` and `to`"),
            (false, false) => note.help("use a negative step, or swap `from` and `to`"),
        };
        return None;
    };
    if steps >= MOST_VALUES {
        notes
            .error(
                "E1002",
                step_place,
                format!("the axis has {} values", steps + 1),
            )
            .help(format!(
                "use a larger step: an axis has at most {MOST_VALUES} values"
            ));
        return None;
    }
    let is_whole = ["from", "to", "step", "refine"]
        .iter()
        .filter_map(|key| table.get(key))
        .all(|value| matches!(value.shape, ValueShape::Integer(_)));
    let range = ExactRange {
        from,
        step,
        part: step,
        is_whole,
        place: table.place,
    };
    let values = (0..=steps).map(|n| range.value(path, n, 1)).collect();
    let refine = match refine {
        Some(refine) => Some((refine?, refine_place)),
        None => None,
    };
    Some((values, range, refine))
}

/// `[[study.zip]]`: one axis each.
fn zips(list: &Value, notes: &mut Notes) -> Vec<Draft> {
    let Some(tables) = tables(
        list,
        "zip",
        "\"link.rate\" = [\"100 Gbps\", \"200 Gbps\"]",
        notes,
    ) else {
        return vec![];
    };
    let drafts = tables.into_iter().filter_map(|(table, entries)| {
        let mut paths = vec![];
        let mut columns: Vec<Vec<AxisValue>> = vec![];
        let mut is_sound = true;
        let own = own_column(table, notes);
        let is_path = |key: &str| key != "name" && key != "values";
        let lists = entries.iter().filter(|(key, _, _)| is_path(key));
        // Several paths can share a list.
        let lists = lists.flat_map(|(key, place, value)| {
            let each = key.split(',').map(str::trim);
            each.map(move |path| (path.to_owned(), place, value))
        });
        for (path, key_place, value) in lists {
            let ValueShape::List(items) = &value.shape else {
                notes
                    .error(
                        "E1002",
                        value.place,
                        format!("expected a list of values, found {}", value.shape.word()),
                    )
                    .help("use a list: axes that step together cannot have from, to and step");
                is_sound = false;
                continue;
            };
            paths.push((path.clone(), *key_place));
            match listed(&path, items, value.place, notes) {
                Some(values) => columns.push(values),
                None => is_sound = false,
            }
        }
        if paths.is_empty() && is_sound {
            notes
                .error("E1002", table.place, "expected lists of values, found none")
                .help("add two or more lists, or remove the table");
            return None;
        }
        let length = columns.first()?.len();
        for (values, (path, key_place)) in columns.iter().zip(&paths).skip(1) {
            if values.len() != length && is_sound {
                let (first, first_place) = &paths[0];
                notes
                    .error(
                        "E1003",
                        *key_place,
                        format!("`{path}` and `{first}` have lists of different lengths"),
                    )
                    .label(format!("{} here", values.len()))
                    .also(*first_place, format!("{length} here"))
                    .help("use lists of equal length: these axes step together");
                is_sound = false;
            }
        }
        if !is_sound {
            return None;
        }
        let together = (0..length).map(|at| {
            let parts = columns.iter().map(|values| values[at].clone());
            let mut whole = AxisValue {
                label: String::new(),
                levels: vec![],
                sets: vec![],
                only: vec![],
            };
            let mut labels = vec![];
            for part in parts {
                labels.push(part.label);
                whole.levels.extend(part.levels);
                whole.sets.extend(part.sets);
            }
            whole.label = labels.join(", ");
            whole
        });
        let mut together: Vec<AxisValue> = together.collect();
        let mut columns: Vec<String> = paths.iter().map(|(path, _)| path.clone()).collect();
        if let Some((name, levels)) = own {
            let levels = levels.unwrap_or_else(|| {
                let first = together.iter().map(|value| value.levels[0].clone());
                first.collect()
            });
            if levels.len() != length {
                let (n, place) = (levels.len(), table.place);
                notes
                    .error(
                        "E1003",
                        place,
                        format!("expected {length} values, found {n}"),
                    )
                    .help("set one name in `values` for each step");
                return None;
            }
            for (value, level) in together.iter_mut().zip(levels) {
                value.label = level.to_string();
                value.levels = vec![level];
            }
            columns = vec![name];
        }
        Some(Draft {
            axis: axis(columns, together),
            paths,
            place: table.place,
            refine: None,
            is_single: false,
            is_named: false,
            only: vec![],
        })
    });
    drafts.collect()
}

/// Returns `name` and `values` of axes that step together: the name of the column in results, and
/// of its steps.
fn own_column(table: &Value, notes: &mut Notes) -> Option<(String, Option<Vec<Level>>)> {
    let name = table.get("name")?;
    let Some(text) = name.as_text() else {
        let message = format!("expected a text, found {}", name.shape.word());
        notes.error("E0101", name.place, message);
        return None;
    };
    let levels = match table.get("values").map(|values| (&values.shape, values)) {
        Some((ValueShape::List(items), _)) => Some(items.iter().map(level).collect()),
        Some((other, values)) => {
            let message = format!("expected a list of values, found {}", other.word());
            notes.error("E0101", values.place, message);
            None
        }
        None => None,
    };
    Some((text.to_owned(), levels))
}

/// Columns that tables of results always have.
const TAKEN: &[&str] = &[
    "point", "run_id", "seed", "seeds", "scope", "class", "sl", "status",
];

/// Checks that column names are unique and do not conflict with those in [`TAKEN`].
fn own_columns(drafts: &[Draft], notes: &mut Notes) {
    let mut seen: BTreeMap<&str, Place> = BTreeMap::new();
    for draft in drafts {
        for column in &draft.axis.columns {
            if TAKEN.contains(&column.as_str()) {
                notes
                    .error(
                        "E1004",
                        draft.place,
                        format!("`{column}` cannot be the name of an axis"),
                    )
                    .help("use another name: tables of results have a column of this name");
            }
            if let Some(first) = seen.insert(column, draft.place)
                && !column.contains('.')
            {
                notes
                    .error(
                        "E1004",
                        draft.place,
                        format!("two axes are named `{column}`"),
                    )
                    .also(first, "the first")
                    .help("use a unique name for each");
            }
        }
    }
}

/// Checks that `only` refers to existing columns and values of other axes.
fn check_only(drafts: &[Draft], notes: &mut Notes) {
    for (at, draft) in drafts.iter().enumerate() {
        for (column, level, place) in &draft.only {
            let others = drafts.iter().enumerate().filter(|(other, _)| *other != at);
            let mut named = others.filter_map(|(_, other)| {
                let column = other.axis.columns.iter().position(|own| own == column)?;
                Some((other, column))
            });
            let Some((other, at)) = named.next() else {
                let columns = drafts.iter().flat_map(|draft| &draft.axis.columns);
                let columns: Vec<&str> = columns.map(String::as_str).collect();
                notes
                    .error(
                        "E1010",
                        *place,
                        format!("no other axis is named `{column}`"),
                    )
                    .help(format!("use one of {}", columns.join(", ")));
                continue;
            };
            let mut levels = other.axis.values.iter().map(|value| &value.levels[at]);
            if levels.all(|own| own.to_string() != level.to_string()) {
                notes
                    .error(
                        "E1010",
                        *place,
                        format!("`{column}` does not have the value {level}"),
                    )
                    .help("use values of the axis");
            }
        }
    }
}

/// Reads the restrictions of a variant: `only = { "traffic.load" = [0.1, 0.2] }`.
fn only_of(table: &Value, notes: &mut Notes) -> Vec<(String, Level, Place)> {
    let Some(only) = table.get("only") else {
        return vec![];
    };
    let mut found = vec![];
    let wrong = |value: &Value, notes: &mut Notes| {
        let message = format!(
            "expected a table with a list of values for each axis, found {}",
            value.shape.word()
        );
        notes
            .error("E0101", value.place, message)
            .help("use only = { \"traffic.load\" = [0.1, 0.2] }");
    };
    let ValueShape::Table(entries) = &only.shape else {
        wrong(only, notes);
        return found;
    };
    for (column, place, value) in entries {
        match &value.shape {
            ValueShape::List(items) if !items.is_empty() => {
                let each = items
                    .iter()
                    .map(|item| (column.clone(), level(item), *place));
                found.extend(each);
            }
            _ => wrong(value, notes),
        }
    }
    found
}

/// `[[study.variant]]`: one axis for each value of `axis`, in the order of the file.
fn variants(list: &Value, notes: &mut Notes) -> Vec<Draft> {
    let Some(tables) = tables(
        list,
        "variant",
        "name = \"deep buffers\" and set = { … }",
        notes,
    ) else {
        return vec![];
    };
    let name = |table: &Value| {
        let axis = table.get("axis").and_then(Value::as_text);
        axis.unwrap_or(VARIANT).to_owned()
    };
    let mut axes: Vec<(String, Tables<'_>)> = vec![];
    for (table, entries) in tables {
        let name = name(table);
        match axes.iter_mut().find(|(own, _)| *own == name) {
            Some((_, tables)) => tables.push((table, entries)),
            None => axes.push((name, vec![(table, entries)])),
        }
    }
    let drafts = axes.into_iter();
    let drafts = drafts.filter_map(|(name, tables)| variants_of(&name, tables, list.place, notes));
    drafts.collect()
}

/// The variants of one axis.
fn variants_of(
    column: &str,
    tables: Tables<'_>,
    list_place: Place,
    notes: &mut Notes,
) -> Option<Draft> {
    let mut values = vec![];
    let mut all_only = vec![];
    let mut paths: BTreeMap<String, Place> = BTreeMap::new();
    for (table, _) in tables {
        let mut section = Section::open(table, notes)?;
        let name: Option<String> = section.required("name");
        let name_place = section.place_of("name");
        let _: Option<String> = section.or("axis", VARIANT.to_owned());
        section.raw("set");
        section.raw("only");
        section.finish();
        let only = only_of(table, notes);
        let mut allowed: Vec<(String, Vec<Level>)> = vec![];
        for (column, level, _) in &only {
            match allowed.iter_mut().find(|(own, _)| own == column) {
                Some((_, levels)) => levels.push(level.clone()),
                None => allowed.push((column.clone(), vec![level.clone()])),
            }
        }
        all_only.extend(only);
        let set = table.get("set");
        let entries = match set.map(|set| (&set.shape, set.place)) {
            Some((ValueShape::Table(entries), _)) => &entries[..],
            Some((other, place)) => {
                let message = format!("expected a table of values, found {}", other.word());
                notes
                    .error("E0101", place, message)
                    .help("use set = { \"switch.input-buffer\" = \"64 KiB\" }");
                &[]
            }
            None => {
                notes.error("E0105", table.place, "`set` is missing").help(
                    "add set = { \"switch.input-buffer\" = \"64 KiB\" }, or set = {} to \
                     leave the file unchanged",
                );
                &[]
            }
        };
        for (path, place, _) in entries {
            paths.entry(path.clone()).or_insert(*place);
        }
        let Some(name) = name else { continue };
        if name.trim().is_empty() {
            notes.error("E1004", name_place, "the name of a variant is empty");
        } else if let Some(why) = no_name(&name) {
            notes
                .error(
                    "E0108",
                    name_place,
                    format!("{name:?} cannot be the name of a variant: {why}"),
                )
                .help("start with a letter or digit, and use printable characters only");
        }
        // The place of the name, for errors about duplicate names.
        let sets = entries
            .iter()
            .map(|(path, _, value)| (path.clone(), value.clone()));
        values.push((
            AxisValue {
                label: name.clone(),
                levels: vec![Level::Text(name)],
                sets: sets.collect(),
                only: allowed,
            },
            name_place,
        ));
    }
    for (at, (value, place)) in values.iter().enumerate() {
        let same = values[..at]
            .iter()
            .find(|(other, _)| other.label == value.label);
        if let Some((_, first)) = same {
            notes
                .error(
                    "E1004",
                    *place,
                    format!("two variants are named \"{}\"", value.label),
                )
                .also(*first, "the first")
                .help("use a unique name for each");
        }
    }
    let values: Vec<AxisValue> = values.into_iter().map(|(value, _)| value).collect();
    if values.is_empty() {
        return None;
    }
    Some(Draft {
        axis: axis(vec![column.to_owned()], values),
        paths: paths.into_iter().collect(),
        place: list_place,
        refine: None,
        is_single: false,
        is_named: true,
        only: all_only,
    })
}

type Tables<'a> = Vec<(&'a Value, &'a [(String, Place, Value)])>;

/// Returns the elements of a list of tables.
fn tables<'a>(list: &'a Value, key: &str, below: &str, notes: &mut Notes) -> Option<Tables<'a>> {
    let tables = match &list.shape {
        ValueShape::List(items) => items
            .iter()
            .map(|item| match &item.shape {
                ValueShape::Table(entries) => Some((item, &entries[..])),
                _ => None,
            })
            .collect(),
        _ => None,
    };
    if tables.is_none() {
        notes
            .error(
                "E0101",
                list.place,
                format!("`study.{key}` must be a list of tables"),
            )
            .help(format!(
                "use [[study.{key}]] with two brackets, and below it {below}"
            ));
    }
    tables
}

/// Checks that a path is that of a value that may differ between points.
fn check_path(path: &str, place: Place, kinds: &Kinds, notes: &mut Notes) {
    let keys = keys_of(path);
    let plain = keys.join(".");
    for (forbidden, help) in NO_AXIS {
        if plain == *forbidden || plain.starts_with(&format!("{forbidden}.")) {
            notes
                .error("E1008", place, format!("`{path}` cannot be an axis"))
                .help(*help);
            return;
        }
    }
    if let Err(near) = is_known_path(path, kinds) {
        let note = notes.error("E1001", place, format!("no key has the path `{path}`"));
        match near {
            Some(near) => note.help(format!("did you mean \"{near}\"?")),
            None => note.help(
                "use a path as for --set, such as \"traffic.load\" \
                 or \"switch.input-buffer\"; `netloom schema` lists all keys",
            ),
        };
    }
}

/// Checks that names and values of an axis are safe to show in tables, figures and terminals.
fn can_be_shown(draft: &Draft, notes: &mut Notes) {
    let why = |text: &str| match text.contains(is_hidden) {
        true => Some("it contains control characters"),
        false if is_formula(text) && text.parse::<f64>().is_err() => {
            Some("a spreadsheet would evaluate it as a formula")
        }
        false => None,
    };
    let names = draft
        .axis
        .columns
        .iter()
        .map(|name| (name.clone(), draft.place));
    // The names of variants are already checked.
    let values = draft.axis.values.iter().filter(|_| !draft.is_named);
    let values = values.flat_map(|value| {
        let place = value
            .sets
            .first()
            .map_or(draft.place, |(_, value)| value.place);
        let texts = value
            .levels
            .iter()
            .filter(|level| matches!(level, Level::Text(_)));
        texts.map(move |level| (level.to_string(), place))
    });
    for (text, place) in names.chain(values) {
        if let Some(why) = why(&text) {
            notes
                .error(
                    "E0108",
                    place,
                    format!("{text:?} cannot be the name of a point: {why}"),
                )
                .help(
                    "start with a letter or digit, and use printable characters only; start a path \
                     with ./",
                );
        }
    }
}

/// Checks that every value of an axis has a unique label.
fn check_distinct(axis: &Axis, notes: &mut Notes) {
    for (at, value) in axis.values.iter().enumerate() {
        let same = axis.values[..at]
            .iter()
            .find(|other| other.label == value.label);
        let (Some(first), Some((path, own))) = (same, value.sets.first()) else {
            continue;
        };
        let is_table = matches!(own.shape, ValueShape::Table(_));
        notes
            .error(
                "E1004",
                own.place,
                format!("two values of `{path}` are named \"{}\"", value.label),
            )
            .also(first.sets[0].1.place, "the first")
            .help(match is_table {
                true => "name them with [[study.variant]]: name = … and set = { … }",
                false => "remove the duplicate; set measure.repeat to run a point several times",
            });
    }
}

/// Whether setting `path` completely overrides setting `other`.
pub(crate) fn covers(path: &str, other: &str) -> bool {
    let (path, other) = (keys_of(path), keys_of(other));
    let mut others = other.iter();
    path.iter().all(|key| {
        // A number selects one table of a list; the other path refers to the whole list.
        others
            .by_ref()
            .find(|other| *other == key || other.parse::<usize>().is_err())
            .is_some_and(|other| other == key)
    })
}

/// Checks that no axis overrides an earlier one.
fn overlaps(drafts: &[Draft], notes: &mut Notes) {
    for (at, later) in drafts.iter().enumerate() {
        for earlier in &drafts[..at] {
            for (path, place) in &later.paths {
                for (lost, first) in &earlier.paths {
                    if covers(path, lost) {
                        notes
                            .error("E1005", *place, format!("`{path}` is set by two axes"))
                            .also(*first, "also set here")
                            .help(
                                "remove it from one axis, or combine the axes in one \
                                 [[study.zip]] or [[study.variant]]",
                            );
                    }
                }
            }
        }
    }
}

/// Checks that no `--set` is overridden by an axis.
fn lost_sets(document: &Document, drafts: &[Draft], notes: &mut Notes) {
    for (source, (name, text)) in document.sources.iter().enumerate() {
        if !name.starts_with("--set ") {
            continue;
        }
        let Some((set, value)) = split_assignment(text) else {
            continue;
        };
        let axes = drafts.iter().flat_map(|draft| {
            let is_single = draft.is_single;
            draft
                .paths
                .iter()
                .map(move |(path, place)| (path, place, is_single))
        });
        for (path, place, is_single) in axes {
            if !covers(path, set) {
                continue;
            }
            let whole = Place {
                source: u16::try_from(source).unwrap_or(u16::MAX),
                start: 0,
                end: u32::try_from(text.len()).unwrap_or(u32::MAX),
            };
            notes
                .error("E1009", whole, format!("the study already sets `{path}`"))
                .also(*place, "here")
                .help(match is_single {
                    true => format!(
                        "set the values of the axis: --set 'study.axes.\"{path}\"=[{value}]'"
                    ),
                    false => "change the study in the file".to_owned(),
                });
        }
    }
}

/// Finds the axis along which rules search for saturation, and sets its rule. An axis with errors
/// is missing and may be that one.
fn walked(
    drafts: &mut [Draft],
    are_all_there: bool,
    rules: &Rules,
    stop_place: Place,
    notes: &mut Notes,
) -> Option<usize> {
    let refined: Vec<usize> = (0..drafts.len())
        .filter(|&at| drafts[at].refine.is_some())
        .collect();
    if let [first, second, ..] = refined[..] {
        let (first, second) = (drafts[first].place, drafts[second].place);
        notes
            .error("E1006", second, "two axes have `refine`")
            .also(first, "the first")
            .help("remove one `refine`: a study searches for saturation along one axis only");
        return None;
    }
    let stop_after = rules.stop_after_saturation;
    if refined.is_empty() && stop_after.is_none() {
        return None;
    }
    let loads = || {
        let ends = |draft: &Draft| draft.paths.iter().any(|(path, _)| path.ends_with("load"));
        let singles = drafts.iter().enumerate();
        singles.filter(move |(_, draft)| draft.is_single && ends(draft))
    };
    let at = match (refined.first(), loads().count()) {
        (Some(at), _) => *at,
        (None, 1) => loads().next()?.0,
        (None, _) if !are_all_there => return None,
        (None, n) => {
            let message = match n {
                0 => "`stop-after-saturation` needs one axis of loads, found none".to_owned(),
                n => format!("`stop-after-saturation` needs one axis of loads, found {n}"),
            };
            notes.error("E1006", stop_place, message).help(
                "set exactly one load under [study.axes], such as \"traffic.load\" = { from = 0.1, \
                 to = 1.0, step = 0.1 }",
            );
            return None;
        }
    };
    let path = &drafts[at].axis.columns[0];
    let all = drafts.iter().flat_map(|draft| &draft.only);
    if let Some((_, _, place)) = all.into_iter().find(|(column, _, _)| column == path) {
        notes
            .error(
                "E1006",
                *place,
                format!("`only` cannot restrict `{path}`: a rule searches for saturation along it"),
            )
            .help("remove it from `only`, or remove the rule");
        return None;
    }
    let draft = &mut drafts[at];
    let numbers: Option<Vec<f64>> = draft.axis.values.iter().map(number).collect();
    let rises = numbers.is_some_and(|numbers| numbers.windows(2).all(|pair| pair[0] < pair[1]));
    if !rises {
        let path = &draft.axis.columns[0];
        notes
            .error(
                "E1006",
                draft.place,
                format!("the values of `{path}` are not ascending"),
            )
            .help("use ascending numbers, or remove the rule that searches for saturation");
        return None;
    }
    let mut fineness = 1;
    if let (Some((refine, place)), Some(range)) = (draft.refine, &mut draft.axis.range) {
        let Some(parts) = range.step.over(refine) else {
            notes
                .error("E1002", place, "`refine` does not divide the step evenly")
                .help("use the step divided by 2, 4, 5, 10, …");
            return None;
        };
        (range.part, fineness) = (refine, parts);
    }
    draft.axis.rising = Some(Rising {
        n_values: draft.axis.values.len() as u64,
        fineness,
        stop_after,
    });
    Some(at)
}

fn number(value: &AxisValue) -> Option<f64> {
    match value.levels[..] {
        [Level::Number(x)] => Some(x),
        _ => None,
    }
}

/// Reads the seeds of every point.
fn seeds(
    document: &Document,
    rules: &Rules,
    [_, interval_place, most_place]: [Place; 3],
    notes: &mut Notes,
) -> Option<Seeds> {
    let nowhere = Value {
        place: document.root.place,
        shape: ValueShape::Table(vec![]),
    };
    let measure = document.root.get("measure").unwrap_or(&nowhere);
    let mut section = Section::open(measure, notes)?;
    let (first, repeat) = (section.or("seed", 1u64), section.or("repeat", 1u32));
    let (repeat_place, seed_place) = (section.place_of("repeat"), section.place_of("seed"));
    let (first, repeat) = (first?, repeat?);
    if !(1..=measure::MOST_RUNS).contains(&repeat) {
        let message = match repeat {
            0 => "expected at least one run, found 0".to_owned(),
            n => format!("expected at most 1000000 runs, found {n}"),
        };
        notes
            .error("E0701", repeat_place, message)
            .help("use 1 to 1000000");
    }
    match rules.interval {
        Some(interval) if !(interval > 0.0 && interval < 1.0) => {
            notes
                .error(
                    "E1007",
                    interval_place,
                    format!("expected a fraction between 0 and 1, found {interval}"),
                )
                .help("use a fraction such as 0.02");
        }
        Some(_) if repeat < 2 => {
            notes
                .error(
                    "E1007",
                    interval_place,
                    "an interval needs at least two seeds",
                )
                .also(repeat_place, "")
                .help("set measure.repeat = 2 or more, the number of seeds of every point");
        }
        None if rules.most_seeds.is_some() => {
            notes
                .error("E1007", most_place, "`most-seeds` needs `interval`")
                .help("add interval = 0.02, or set measure.repeat for a fixed number of seeds");
        }
        _ => {}
    }
    let most = rules.most_seeds.unwrap_or(MOST_SEEDS.max(repeat));
    if rules.interval.is_some() && most < repeat {
        notes
            .error(
                "E1007",
                most_place,
                format!("expected at least {repeat} seeds, found {most}"),
            )
            .also(repeat_place, format!("{repeat} seeds"))
            .help(format!("set most-seeds = {repeat} or more"));
    }
    if first > measure::LAST_SEED - u64::from(most.max(repeat)) {
        let message = format!("the seeds from {first} on exceed {}", measure::LAST_SEED);
        notes
            .error("E0701", seed_place, message)
            .help("use a smaller seed");
    }
    Some(Seeds {
        first,
        repeat,
        interval: rules.interval,
        most: rules.interval.map_or(repeat, |_| most),
    })
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn what_is_lost_behind_what() {
        assert!(covers("traffic.load", "traffic.load"));
        assert!(covers("qos.arbiter", "qos.arbiter.limit"));
        assert!(!covers("qos.arbiter.limit", "qos.arbiter"));
        assert!(covers("traffic.load", "traffic.0.load"));
        assert!(!covers("traffic.0.load", "traffic.load"));
        assert!(!covers("traffic.0.load", "traffic.1.load"));
        assert!(!covers("traffic.load", "traffic.sl"));
    }
}
