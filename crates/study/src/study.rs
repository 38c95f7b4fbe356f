//! A study: a document, its axes and its seeds.

use std::sync::Arc;

use netloom_catalog::{Document, Files, Notes, Place, Value, ValueShape};
use netloom_experiment::spec::{self, Loaded, OpenedFile, Request};
use netloom_experiment::{Kinds, available_memory, runner};
use netloom_results::view::layout::Layout;
use netloom_results::{Control, RESULTS_VERSION, Setting, Stopped, sha256};

use crate::{Axis, AxisValue, Point, Rising, Seeds, Series, Unit, reading};

/// Division of the fabric of a run; does not affect results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Division {
    /// Number of partitions; `None` to choose it by the size of the fabric.
    pub partitions: Option<usize>,
    /// Number of threads that share the partitions of a process.
    pub threads: usize,
    /// Number of processes that share the run.
    pub ranks: usize,
}

impl Default for Division {
    fn default() -> Self {
        Division {
            partitions: None,
            threads: 1,
            ranks: 1,
        }
    }
}

/// The result of opening a file that may contain a study.
pub struct OpenedStudy {
    /// The sources and their parsed tree.
    pub document: Document,
    /// Notes about the file itself and about `[study]`; values of points are checked when they are
    /// loaded.
    pub notes: Notes,
    /// Whether the file has `[study]`.
    pub has_study: bool,
    /// The study, if there is one without errors.
    pub study: Option<Study>,
}

/// Many runs described by one file.
#[derive(Clone)]
pub struct Study {
    /// The `name` in the file, or the stem of the file name.
    pub name: String,
    pub about: String,
    /// The axes: variants first, then the others in the order of the file.
    pub axes: Vec<Axis>,
    pub seeds: Seeds,
    /// The axis whose values a rule selects.
    pub walked: Option<usize>,
    /// The base values with `[study]`, after `extends` and `--set`.
    document: Document,
    files: Arc<dyn Files>,
    force: bool,
    memory: Option<u64>,
    will_run: bool,
    effort: spec::Effort,
    kinds: Kinds,
}

impl Study {
    /// Opens a file. A file that is not a study is loaded by [`spec::load`].
    pub fn open(request: &Request<'_>) -> OpenedStudy {
        let OpenedFile {
            mut document,
            mut notes,
            is_toml,
        } = spec::open(request);
        let section = document.root.get("study").filter(|_| is_toml).cloned();
        let has_study = document.root.get("study").is_some();
        let plan = section
            .and_then(|section| reading::read(&document, &section, request.kinds, &mut notes));
        let study = plan.filter(|_| !notes.has_errors()).map(|plan| {
            // The file name is part of every run, and would be lost in the stored text.
            if document.root.get("name").is_none() {
                let place = Place::default();
                let shape = ValueShape::Text(spec::stem(request.name));
                document.put("name", place, Value { place, shape }, &mut notes);
            }
            let text = |key| {
                let value = document.root.get(key).and_then(Value::as_text);
                value.unwrap_or_default().to_owned()
            };
            Study {
                name: text("name"),
                about: text("about"),
                axes: plan.axes,
                seeds: plan.seeds,
                walked: plan.walked,
                document: document.clone(),
                files: request.files.clone(),
                force: request.force,
                memory: request.memory.or_else(available_memory),
                will_run: request.will_run,
                effort: request.effort,
                kinds: request.kinds.clone(),
            }
        });
        OpenedStudy {
            document,
            notes,
            has_study,
            study,
        }
    }

    /// Returns the study as one text, with `extends` and `--set` resolved. Reading it gives the
    /// same study, and the same run ids if the files that it refers to are found.
    pub fn to_toml(&self) -> String {
        self.document.to_toml()
    }

    /// Returns the id of the study: the hash of its text and [`RESULTS_VERSION`], as 16 hexadecimal
    /// digits.
    pub fn id(&self) -> String {
        let mut id = sha256(format!("{}\u{0}{RESULTS_VERSION}", self.to_toml()));
        id.truncate(16);
        id
    }

    /// Returns the base values with `[study]`, and their sources.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Returns the files that the study names.
    pub fn files(&self) -> &dyn Files {
        &*self.files
    }

    /// Returns the rule that selects values of an axis.
    pub fn rising(&self) -> Option<Rising> {
        self.walked.and_then(|axis| self.axes[axis].rising)
    }

    /// Returns the columns of all axes in tables, in order: `variant` first if there are variants.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        let columns = self.axes.iter().flat_map(|axis| &axis.columns);
        columns.map(String::as_str)
    }

    /// Returns the values of a point, one for every axis.
    pub fn values(&self, point: &Point) -> Vec<AxisValue> {
        let pairs = self.axes.iter().zip(&point.0);
        pairs.map(|(axis, number)| axis.value(*number)).collect()
    }

    /// Returns the value of a point in every column of tables.
    pub fn settings(&self, point: &Point) -> Vec<Setting> {
        let pairs = self.axes.iter().zip(self.values(point));
        let settings = pairs.flat_map(|(axis, value)| {
            let pairs = axis.columns.iter().zip(value.levels);
            let setting = |(column, value): (&String, _)| Setting {
                column: column.clone(),
                value,
            };
            pairs.map(setting).collect::<Vec<_>>()
        });
        settings.collect()
    }

    /// Returns the label of a point: `traffic.load = 0.3, qos.arbiter.kind = wfq`; empty for a
    /// study without axes.
    pub fn label(&self, point: &Point) -> String {
        let settings = self.settings(point).into_iter();
        let parts = settings.map(|setting| format!("{} = {}", setting.column, setting.value));
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Returns the number of points, without those that a rule adds.
    pub fn n_points(&self) -> u64 {
        let mut values = self.axes.iter().flat_map(|axis| &axis.values);
        match values.all(|value| value.only.is_empty()) {
            true => self.n_combinations(),
            false => self.points().count() as u64,
        }
    }

    /// Returns the number of combinations of values, including excluded ones.
    fn n_combinations(&self) -> u64 {
        let lengths = self.axes.iter().map(|axis| axis.values.len() as u64);
        lengths.product()
    }

    /// Returns the points of the study in order: the last axis changes fastest.
    pub fn points(&self) -> impl Iterator<Item = Point> {
        let all = (0..self.n_combinations()).map(|number| self.point_at(number));
        all.filter(|point| self.goes_together(point))
    }

    /// Whether the values of a point may be combined.
    fn goes_together(&self, point: &Point) -> bool {
        let values = || {
            let pairs = self.axes.iter().zip(&point.0);
            pairs.map(|(axis, number)| {
                let at = usize::try_from(number / axis.fineness()).expect("a number of a value");
                (axis, &axis.values[at])
            })
        };
        values()
            .flat_map(|(_, value)| &value.only)
            .all(|(column, allowed)| {
                let mut others = values().filter_map(|(axis, value)| {
                    let at = axis.columns.iter().position(|own| own == column)?;
                    Some(&value.levels[at])
                });
                // Numbers in a column of texts are compared as texts.
                others.all(|level| {
                    allowed
                        .iter()
                        .any(|own| own.to_string() == level.to_string())
                })
            })
    }

    fn point_at(&self, mut number: u64) -> Point {
        let mut numbers = vec![0; self.axes.len()];
        for (axis, slot) in self.axes.iter().zip(&mut numbers).rev() {
            let length = axis.values.len() as u64;
            *slot = number % length * axis.fineness();
            number /= length;
        }
        Point(numbers)
    }

    /// Returns the units that processes distribute among themselves, in the same order in every
    /// process.
    pub fn units(&self) -> Vec<Unit> {
        if let Some(axis) = self.walked {
            let firsts = self.points().filter(|point| point.0[axis] == 0);
            let series = firsts.map(|first| Unit::Series(Series { first, axis }));
            return series.collect();
        }
        if self.seeds.interval.is_some() {
            return self.points().map(Unit::Point).collect();
        }
        let seeds = || (0..self.seeds.repeat).map(|n| self.seeds.seed(n));
        let runs = self
            .points()
            .flat_map(|point| seeds().map(move |seed| Unit::Run(point.clone(), seed)));
        runs.collect()
    }

    /// Returns the maximum number of runs; it is exact if no rule adds or omits runs.
    pub fn most_runs(&self) -> u64 {
        let points = match self.rising() {
            Some(rising) => self.n_points() / rising.n_values * rising.at_most(),
            None => self.n_points(),
        };
        points * u64::from(self.seeds.most)
    }

    /// Whether a rule decides the number of runs.
    pub fn is_adaptive(&self) -> bool {
        self.walked.is_some() || self.seeds.interval.is_some()
    }

    /// Returns the positions of switches and NICs in the drawing of the fabric, if all points have
    /// the same fabric.
    pub fn layout(&self) -> Option<Layout> {
        let is_varied = |path: &str| path.split('.').next() == Some("topology");
        let mut paths = self.axes.iter().flat_map(|axis| axis.paths());
        if paths.any(is_varied) {
            return None;
        }
        let point = self.points().next()?;
        let experiment = self.load(&point, self.seeds.first).experiment?;
        Some(runner::layout(&experiment))
    }

    /// Loads the experiment of one run: the file with the values of the point, `measure.seed =
    /// seed` and `measure.repeat = 1`, as `netloom run FILE --set … --seed N --set
    /// measure.repeat=1` would load it.
    ///
    /// Other seeds of the same point are derived from it without loading:
    /// [`netloom_experiment::Experiment::alone`].
    pub fn load(&self, point: &Point, seed: u64) -> Loaded {
        self.load_divided(point, seed, &Division::default())
    }

    /// Loads the same experiment with a division of its fabric.
    pub fn load_divided(&self, point: &Point, seed: u64, division: &Division) -> Loaded {
        let loaded = self.load_with_control(point, seed, division, &mut || Control::Continue);
        loaded.expect("nothing stops it")
    }

    /// Loads it, and asks between the steps whether to continue.
    ///
    /// # Errors
    /// If `control` stops it.
    pub fn load_with_control(
        &self,
        point: &Point,
        seed: u64,
        division: &Division,
        control: &mut dyn FnMut() -> Control,
    ) -> Result<Loaded, Stopped> {
        let mut document = self.document.clone();
        let mut notes = Notes::new();
        for value in self.values(point) {
            for (path, value) in value.sets {
                document.put(&path, value.place, value, &mut notes);
            }
        }
        document.set(&format!("measure.seed={seed}"), &mut notes);
        document.set("measure.repeat=1", &mut notes);
        let request = Request {
            files: self.files.clone(),
            partitions: division.partitions,
            threads: division.threads,
            ranks: division.ranks,
            force: self.force,
            memory: self.memory,
            will_run: self.will_run,
            effort: self.effort,
            kinds: &self.kinds,
            ..Request::new(&self.name, "")
        };
        spec::load_document(document, notes, &request, control)
    }
}
