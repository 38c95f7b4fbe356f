//! The runs of a paper, read from its files: studies for each size, and the changes of alternative
//! readings.
//!
//! ```text
//!  experiments/papers/000/   s000_1.toml           an experiment of the paper
//!                            studies/S000-1.toml   extends it: variants, loads and seeds of a scenario, at paper size
//!                            paper.toml            settings of other sizes and readings
//! ```
//!
//! The files are part of the program, so that a paper can be reproduced in any folder.

use std::sync::Arc;

use netloom_catalog::{Disk, Document, Files, Notes, Section, Value, ValueShape};
use netloom_experiment::render;
use netloom_experiment::spec::Request;
use netloom_results::{Level, Setting};
use netloom_study::{Point, Study};

use crate::{Effort, Run, Size, Variation};

/// The files of a paper's folder in `experiments/papers`, by name.
macro_rules! files {
    ($paper:literal: $($name:literal),+ $(,)?) => {
        &[$((
            $name,
            include_str!(concat!("../../papers/", $paper, "/", $name)),
        )),+]
    };
}
pub(crate) use files;

/// Maximum number of seeds of an alternative reading: an order needs two.
const VARIED_SEEDS: u32 = 2;

/// The runs of a paper.
#[derive(Clone)]
pub struct Plan {
    /// Name and text of each file.
    files: Vec<(String, String)>,
    /// The files that experiments name.
    disk: Arc<dyn Files>,
    sizes: Vec<SizePlan>,
    readings: Vec<ReadingPlan>,
    /// The part of each study that alternative readings run, by id.
    varied: Vec<Varied>,
    /// Alternative readings.
    pub variations: Vec<Variation>,
}

/// The part of a study that alternative readings run.
#[derive(Clone)]
struct Varied {
    id: String,
    set: Sets,
    /// The loads to run; all if empty.
    loads: Vec<String>,
}

/// Values by key path.
type Sets = Vec<(String, Value)>;

#[derive(Clone)]
struct SizePlan {
    size: Size,
    seeds: Option<u32>,
    words: String,
    set: Sets,
    studies: Vec<StudyPlan>,
}

#[derive(Clone)]
struct StudyPlan {
    id: String,
    /// The name of runs, with columns of the study in braces.
    series: String,
    /// Position of runs in their series, if it is not the column `load`.
    load: f64,
    /// Tables that claims need in addition to the summary.
    tables: Vec<String>,
    is_drawn: bool,
    set: Sets,
}

#[derive(Clone)]
struct ReadingPlan {
    studies: Vec<String>,
    ours: Vec<String>,
    variants: Vec<String>,
    set: Sets,
    /// Replaces `set` at sizes below that of the paper.
    set_small: Sets,
    /// Additional settings for some variants only.
    some: Option<(Vec<String>, Sets)>,
}

impl Plan {
    /// Reads `paper.toml` among the files of a paper of the program.
    ///
    /// # Panics
    /// If it has mistakes. It is part of the program, and a test reads it for every paper.
    pub fn read(files: &[(&str, &str)]) -> Plan {
        let owned = files.iter();
        let owned = owned.map(|&(name, text)| (name.to_owned(), text.to_owned()));
        let files: Arc<dyn Files> = Arc::new(Disk::HERE.clone());
        Plan::of_files(owned.collect(), files).unwrap_or_else(|why| panic!("{why}"))
    }

    /// Reads `paper.toml` among these files, which are those of its folder by name. `disk` has the
    /// files that experiments name.
    ///
    /// # Errors
    /// If it has mistakes: all of them as text.
    pub fn of_files(files: Vec<(String, String)>, disk: Arc<dyn Files>) -> Result<Plan, String> {
        let mut notes = Notes::new();
        let text = text_of(&files, "paper.toml").ok_or("paper.toml is missing")?;
        let document = Document::parse("paper.toml", text, &mut notes);
        let read = parts(&document.root, &files, &mut notes);
        let (sizes, varied, readings) = match read {
            Some(read) if !notes.has_errors() => read,
            _ => return Err(render(&document, &notes, false)),
        };
        let (variations, readings) = readings.into_iter().unzip();
        Ok(Plan {
            files,
            disk,
            sizes,
            readings,
            varied,
            variations,
        })
    }

    /// Opens the studies of all sizes.
    ///
    /// # Errors
    /// If one has mistakes: those of the first as text.
    pub fn check(&self) -> Result<(), String> {
        for size in self.sizes() {
            self.opened(size, None, None)?;
        }
        Ok(())
    }

    /// Returns the sizes that it has.
    pub fn sizes(&self) -> Vec<Size> {
        self.sizes.iter().map(|own| own.size).collect()
    }

    /// Returns the text of one of its files.
    ///
    /// # Panics
    /// If it has no such file.
    pub fn text(&self, name: &str) -> &str {
        let text = text_of(&self.files, name);
        text.unwrap_or_else(|| panic!("{name} is a file of the paper"))
    }

    fn size(&self, size: Size) -> &SizePlan {
        let own = self.sizes.iter().find(|own| own.size == size);
        own.expect("a size of the paper")
    }

    /// Returns the number of seeds and the run length of a size.
    pub fn effort(&self, size: Size) -> Effort {
        let scenarios = self.scenarios(size, None, None);
        let seeds = scenarios.iter().map(|own| own.study.seeds.repeat).min();
        Effort {
            seeds: seeds.unwrap_or(1),
            length: self.size(size).words.clone(),
        }
    }

    /// Returns the scenarios, by id, and single series whose results an alternative reading does
    /// not change.
    pub fn ours(&self, variation: &Variation) -> &[String] {
        &self.reading(variation).ours
    }

    fn reading(&self, variation: &Variation) -> &ReadingPlan {
        let named = self.variations.iter().zip(&self.readings);
        let mut own = named.filter(|(own, _)| own.name == variation.name);
        own.next().expect("a reading of the paper").1
    }

    /// Returns the scenarios of a size; under an alternative reading, those that it affects, with
    /// the affected variants.
    ///
    /// # Panics
    /// If a study has mistakes, which [`Plan::check`] finds under the main readings. A test loads
    /// those of the papers of the program.
    pub fn scenarios(
        &self,
        size: Size,
        seeds: Option<u32>,
        variation: Option<&Variation>,
    ) -> Vec<Scenario> {
        let opened = self.opened(size, seeds, variation);
        opened.unwrap_or_else(|why| panic!("{why}"))
    }

    fn opened(
        &self,
        size: Size,
        seeds: Option<u32>,
        variation: Option<&Variation>,
    ) -> Result<Vec<Scenario>, String> {
        let (size, reading) = (self.size(size), variation.map(|own| self.reading(own)));
        let is_touched =
            |own: &&StudyPlan| reading.is_none_or(|reading| reading.studies.contains(&own.id));
        let studies = size.studies.iter().filter(is_touched);
        let scenario = |own: &StudyPlan| {
            let mut document = self.document(&format!("studies/{}.toml", own.id))?;
            let mut notes = Notes::new();
            for (path, value) in size.set.iter().chain(&own.set) {
                document.set(&format!("{path}={}", value.to_toml()), &mut notes);
            }
            let seeds = match reading {
                Some(_) => {
                    let most = size.seeds.unwrap_or(VARIED_SEEDS).min(VARIED_SEEDS);
                    Some(seeds.unwrap_or(most).min(most))
                }
                None => seeds.or(size.seeds),
            };
            if let Some(seeds) = seeds {
                document.set(&format!("measure.repeat={seeds}"), &mut notes);
            }
            if let (Some(reading), Some(variation)) = (reading, variation) {
                for varied in self.varied.iter().filter(|varied| varied.id == own.id) {
                    for (path, value) in &varied.set {
                        document.set(&format!("{path}={}", value.to_toml()), &mut notes);
                    }
                    keep_loads(&mut document, &varied.loads);
                }
                let is_small = size.size != Size::Paper && !reading.set_small.is_empty();
                let sets = if is_small {
                    &reading.set_small
                } else {
                    &reading.set
                };
                put_reading(&mut document, reading, sets, &variation.name);
            }
            let text = document.to_toml();
            let opened = Study::open(&Request {
                files: Arc::clone(&self.disk),
                ..Request::new(&own.id, &text)
            });
            let mistakes = || render(&opened.document, &opened.notes, false);
            Ok(Scenario {
                id: own.id.clone(),
                series: own.series.clone(),
                load: own.load,
                tables: own.tables.clone(),
                is_drawn: own.is_drawn,
                study: opened.study.clone().ok_or_else(mistakes)?,
            })
        };
        studies.map(scenario).collect()
    }

    /// Returns all runs of a size, in the order of the studies.
    pub fn runs(&self, size: Size, seeds: Option<u32>, variation: Option<&Variation>) -> Vec<Run> {
        let scenarios = self.scenarios(size, seeds, variation);
        scenarios.iter().flat_map(Scenario::runs).collect()
    }

    /// Returns the experiment at the first point of every series.
    #[cfg(test)]
    pub(crate) fn experiments(
        &self,
        size: Size,
        variation: Option<&Variation>,
    ) -> Vec<(String, netloom_experiment::Experiment)> {
        let mut found: Vec<(String, _)> = vec![];
        for scenario in self.scenarios(size, Some(1), variation) {
            for point in scenario.study.points() {
                let series = scenario.run(&point, 1).series;
                if found.iter().any(|(own, _)| *own == series) {
                    continue;
                }
                let loaded = scenario.study.load(&point, 1);
                let messages = || render(&loaded.document, &loaded.notes, false);
                let experiment = loaded
                    .experiment
                    .unwrap_or_else(|| panic!("{}", messages()));
                found.push((series, experiment));
            }
        }
        found
    }

    /// Returns an alternative reading by name.
    #[cfg(test)]
    pub(crate) fn variation(&self, name: &str) -> &Variation {
        let mut all = self.variations.iter();
        all.find(|own| own.name == name).expect("a reading")
    }

    /// Returns a file merged with those that it extends.
    fn document(&self, name: &str) -> Result<Document, String> {
        let text = text_of(&self.files, name).ok_or_else(|| format!("{name} is missing"))?;
        let mut document = parsed(name, text)?;
        let parent = document.root.get("extends").and_then(Value::as_text);
        let Some(parent) = parent.map(|name| name.trim_start_matches("../").to_owned()) else {
            return Ok(document);
        };
        let parent = self.document(&parent)?.root;
        if let ValueShape::Table(entries) = &mut document.root.shape {
            entries.retain(|(key, _, _)| key != "extends");
        }
        document.root = document.root.over(parent);
        Ok(document)
    }
}

/// Keeps only some steps named `load`; all if the list is empty.
fn keep_loads(document: &mut Document, loads: &[String]) {
    let study = document.root.get("study");
    let zips = study.into_iter().flat_map(|study| tables(study, "zip"));
    let is_load = |zip: &&Value| zip.get("name").and_then(Value::as_text) == Some("load");
    let Some(ValueShape::Table(entries)) = zips.clone().find(is_load).map(|zip| &zip.shape) else {
        return;
    };
    let lists = entries
        .iter()
        .filter_map(|(key, _, value)| match &value.shape {
            ValueShape::List(items) => Some((key, items)),
            _ => None,
        });
    // The names of steps are those in `values`, or those of the first list.
    let names = lists.clone().find(|(key, _)| *key == "values");
    let Some((_, names)) = names.or_else(|| lists.clone().next()) else {
        return;
    };
    let is_selected: Vec<bool> = names
        .iter()
        .map(|name| loads.is_empty() || loads.contains(&name.to_toml()))
        .collect();
    let selected = lists.map(|(key, items)| {
        let pairs = items
            .iter()
            .zip(&is_selected)
            .filter(|(_, is_selected)| **is_selected);
        let items: Vec<String> = pairs.map(|(item, _)| item.to_toml()).collect();
        format!("{key:?} = [{}]", items.join(", "))
    });
    let selected: Vec<String> = selected.collect();
    let all = format!("study.zip=[{{ name = \"load\", {} }}]", selected.join(", "));
    document.set(&all, &mut Notes::new());
}

/// Keeps the variants that a reading affects, and adds an axis with its changes.
fn put_reading(
    document: &mut Document,
    reading: &ReadingPlan,
    sets: &[(String, Value)],
    name: &str,
) {
    let study = document.root.get("study");
    let variants = study.and_then(|study| study.get("variant"));
    let mut variants: Vec<Value> = match variants.map(|own| &own.shape) {
        Some(ValueShape::List(items)) => items.clone(),
        _ => vec![],
    };
    let is_selected = |variant: &Value| {
        let name = variant.get("name").and_then(Value::as_text);
        let is_plain = variant.get("axis").is_none();
        let is_named = reading
            .variants
            .iter()
            .any(|own| Some(own.as_str()) == name);
        !is_plain || reading.variants.is_empty() || is_named
    };
    variants.retain(is_selected);
    let plain = variants.iter().filter(|own| own.get("axis").is_none());
    let names: Vec<&str> = plain
        .filter_map(|own| own.get("name").and_then(Value::as_text))
        .collect();
    let of = |set: &mut dyn Iterator<Item = &(String, Value)>, name: &str, only: &[&str]| {
        let set: Vec<String> = set
            .map(|(path, value)| format!("{path:?} = {}", value.to_toml()))
            .collect();
        let only: Vec<String> = only.iter().map(|name| format!("{name:?}")).collect();
        let only = match only.is_empty() {
            true => String::new(),
            false => format!(", only = {{ variant = [{}] }}", only.join(", ")),
        };
        let set = set.join(", ");
        format!("{{ axis = \"reading\", name = {name:?}, set = {{ {set} }}{only} }}")
    };
    let none = (vec![], vec![]);
    let (some, also_set) = reading.some.as_ref().unwrap_or(&none);
    let (theirs, others): (Vec<&str>, Vec<&str>) = names
        .iter()
        .partition(|name| some.iter().any(|own| own == *name));
    let own = match (theirs.is_empty(), others.is_empty()) {
        (true, _) => vec![of(&mut sets.iter(), name, &[])],
        (false, true) => vec![of(&mut sets.iter().chain(also_set), name, &[])],
        (false, false) => vec![
            of(&mut sets.iter().chain(also_set), name, &theirs),
            of(&mut sets.iter(), &format!("{name} without"), &others),
        ],
    };
    let variants = variants.iter().map(Value::to_toml).chain(own);
    let all = variants.collect::<Vec<_>>().join(", ");
    document.set(&format!("study.variant=[{all}]"), &mut Notes::new());
}

/// A scenario of a paper: a study, and the names of its runs.
#[derive(Clone)]
pub struct Scenario {
    pub id: String,
    pub study: Study,
    /// Whether figures are drawn from it, so that its runs are merged.
    pub is_drawn: bool,
    series: String,
    load: f64,
    /// Tables that claims need in addition to the summary.
    pub(crate) tables: Vec<String>,
}

impl Scenario {
    /// Returns its name: the first word of its series. Several studies may belong to one scenario.
    pub fn name(&self) -> &str {
        self.series.split(' ').next().unwrap_or(&self.id)
    }

    /// Returns all its runs.
    pub fn runs(&self) -> Vec<Run> {
        let seeds = || (0..self.study.seeds.repeat).map(|n| self.study.seeds.seed(n));
        let points: Vec<Point> = self.study.points().collect();
        let runs = points
            .iter()
            .flat_map(|point| seeds().map(|seed| self.run(point, seed)));
        runs.collect()
    }

    /// Returns the name of a run and its position in its series.
    pub fn run(&self, point: &Point, seed: u64) -> Run {
        let settings = self.study.settings(point);
        let mut series = self.series.clone();
        for Setting { column, value } in &settings {
            series = series.replace(&format!("{{{column}}}"), &value.to_string());
        }
        let load = settings.iter().find(|own| own.column == "load");
        Run {
            series,
            load: match load.map(|own| &own.value) {
                Some(Level::Number(load)) => *load,
                _ => self.load,
            },
            seed,
        }
    }
}

fn text_of<'f>(files: &'f [(String, String)], name: &str) -> Option<&'f str> {
    let own = files.iter().find(|(own, _)| own == name);
    own.map(|(_, text)| text.as_str())
}

fn parsed(name: &str, text: &str) -> Result<Document, String> {
    let mut notes = Notes::new();
    let document = Document::parse(name, text, &mut notes);
    match notes.has_errors() {
        true => Err(render(&document, &notes, false)),
        false => Ok(document),
    }
}

fn tables<'a>(table: &'a Value, key: &str) -> std::slice::Iter<'a, Value> {
    listed(table.get(key))
}

fn listed(list: Option<&Value>) -> std::slice::Iter<'_, Value> {
    let items = match list.map(|list| &list.shape) {
        Some(ValueShape::List(items)) => &items[..],
        _ => &[],
    };
    items.iter()
}

fn sets(set: Option<&Value>) -> Sets {
    match set.map(|set| &set.shape) {
        Some(ValueShape::Table(entries)) => {
            let each = entries.iter();
            let each = each.map(|(path, _, value)| (path.clone(), value.clone()));
            each.collect()
        }
        _ => vec![],
    }
}

/// Sizes, the parts of studies that alternative readings run, and these readings.
type Parts = (Vec<SizePlan>, Vec<Varied>, Vec<(Variation, ReadingPlan)>);

fn parts(root: &Value, files: &[(String, String)], notes: &mut Notes) -> Option<Parts> {
    let mut section = Section::open(root, notes)?;
    for key in Size::ALL
        .map(Size::word)
        .iter()
        .chain(&["varied", "reading"])
    {
        section.raw(key);
    }
    section.finish();
    let (varied, readings) = (root.get("varied"), root.get("reading"));
    let mut read = vec![];
    for size in Size::ALL {
        if let Some(table) = root.get(size.word()) {
            read.push(size_plan(size, table, files, notes)?);
        }
    }
    if read.is_empty() {
        let message = "expected a size (tiny, ci or paper), found none";
        notes.error("E0105", root.place, message);
    }
    let varied = listed(varied).map(|own| varied_plan(own, notes));
    let varied: Option<Vec<Varied>> = varied.collect();
    let readings = listed(readings).map(|own| reading_plan(own, notes));
    let readings: Option<Vec<_>> = readings.collect();
    Some((read, varied?, readings?))
}

fn size_plan(
    size: Size,
    table: &Value,
    files: &[(String, String)],
    notes: &mut Notes,
) -> Option<SizePlan> {
    let mut section = Section::open(table, notes)?;
    let seeds = section.raw("seeds").is_some();
    let seeds = match seeds {
        true => Some(section.required::<u32>("seeds")?),
        false => None,
    };
    let words = section.required::<String>("words");
    for key in ["set", "study"] {
        section.raw(key);
    }
    section.finish();
    let (set, studies) = (table.get("set"), table.get("study"));
    let studies = listed(studies).map(|own| study_plan(own, files, notes));
    let studies: Option<Vec<StudyPlan>> = studies.collect();
    Some(SizePlan {
        size,
        seeds,
        words: words?,
        set: sets(set),
        studies: studies?,
    })
}

fn study_plan(table: &Value, files: &[(String, String)], notes: &mut Notes) -> Option<StudyPlan> {
    let mut section = Section::open(table, notes)?;
    let (id, series) = (section.required::<String>("id"), section.required("series"));
    let (load, tables) = (section.or("load", 1.0), section.or("tables", vec![]));
    let is_drawn = section.or("drawn", true);
    section.raw("set");
    let place = section.place_of("id");
    section.finish();
    let set = table.get("set");
    let id = id?;
    let file = format!("studies/{id}.toml");
    if text_of(files, &file).is_none() {
        notes.error(
            "E0102",
            place,
            format!("expected the file {file}, found none"),
        );
    }
    Some(StudyPlan {
        id,
        series: series?,
        load: load?,
        tables: tables?,
        is_drawn: is_drawn?,
        set: sets(set),
    })
}

fn varied_plan(table: &Value, notes: &mut Notes) -> Option<Varied> {
    let mut section = Section::open(table, notes)?;
    let id = section.required("id");
    for key in ["set", "loads"] {
        section.raw(key);
    }
    section.finish();
    let (set, loads) = (table.get("set"), table.get("loads"));
    Some(Varied {
        id: id?,
        set: sets(set),
        loads: listed(loads).map(Value::to_toml).collect(),
    })
}

fn reading_plan(table: &Value, notes: &mut Notes) -> Option<(Variation, ReadingPlan)> {
    let mut section = Section::open(table, notes)?;
    let [name, of, words] = ["name", "of", "words"].map(|key| section.required::<String>(key));
    let is_fitted = section.or("fitted", false);
    let [studies, ours, variants] =
        ["studies", "ours", "variants"].map(|key| section.or::<Vec<String>>(key, vec![]));
    const TABLES: [&str; 3] = ["set", "set-small", "some"];
    for key in TABLES {
        section.raw(key);
    }
    section.finish();
    let [set, set_small, some] = TABLES.map(|key| table.get(key));
    let some = match some {
        Some(table) => {
            let mut section = Section::open(table, notes)?;
            let variants = section.required("variants");
            section.raw("set");
            section.finish();
            Some((variants?, sets(table.get("set"))))
        }
        None => None,
    };
    let variation = Variation {
        name: name?,
        reading: of?,
        words: words?,
        is_fitted: is_fitted?,
    };
    let plan = ReadingPlan {
        studies: studies?,
        ours: ours?,
        variants: variants?,
        set: sets(set),
        set_small: sets(set_small),
        some,
    };
    Some((variation, plan))
}
