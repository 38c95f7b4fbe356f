//! Reads `claims.toml`.

use std::sync::Arc;

use netloom_catalog::{Document, Notes, Place, Section, Value as Raw, ValueShape};

use super::check::{self, Check, Written, note_once};
use super::evaluation::{Body, Context, Definition, Evaluation};
use super::formula::{self, Loop, Mistake, Template};
use super::value::Value;
use super::{Claim, Formulas, Judge, LineTable, Number};
use crate::{Basis, Reading, Results, Tier};

/// The content of `claims.toml`.
#[derive(Clone, Debug)]
pub struct ClaimsFile {
    pub title: String,
    pub readings: Vec<Reading>,
    pub claims: Vec<Claim>,
    /// Tables for figures.
    pub(crate) tables: Vec<LineTable>,
}

impl ClaimsFile {
    /// Reads a file, or returns all its mistakes as text.
    ///
    /// # Errors
    /// If the file has mistakes.
    pub fn read(name: &str, text: &str) -> Result<ClaimsFile, String> {
        let mut notes = Notes::new();
        let document = Document::parse(name, text, &mut notes);
        let reader = Reader {
            source: text,
            notes: &mut notes,
            is_cyclic: false,
        };
        let file = { reader }.file(&document.root);
        match (notes.has_errors(), file) {
            (false, Some(file)) => Ok(file),
            _ => Err(netloom_experiment::render(&document, &notes, false)),
        }
    }
}

/// The texts of a claim, in which braces hold its parameters.
const TEXTS: [&str; 9] = [
    "id",
    "part",
    "statement",
    "paper",
    "band",
    "quote",
    "calibrated",
    "why",
    "figure",
];

struct Reader<'r> {
    source: &'r str,
    notes: &'r mut Notes,
    /// Whether a quantity uses itself, so that formulas cannot be evaluated.
    is_cyclic: bool,
}

impl Reader<'_> {
    fn file(&mut self, root: &Raw) -> Option<ClaimsFile> {
        let mut section = Section::open(root, self.notes)?;
        let title = section.required::<String>("title").unwrap_or_default();
        const TABLES: [&str; 5] = ["readings", "define", "group", "claim", "table"];
        for key in TABLES {
            section.raw(key);
        }
        section.finish();
        let [readings, define, group, claims, tables] = TABLES.map(|key| root.get(key));
        let mut known = vec![];
        for (id, _, words) in entries(readings) {
            match words.as_text() {
                Some(words) => known.push(Reading {
                    id: id.clone(),
                    words: words.to_owned(),
                }),
                None => self.expected("a text", words),
            }
        }
        let mut written = vec![];
        let file = Arc::new(self.definitions(define, false, &mut written));
        self.check(&file, &[], &written, false);
        let mut read = vec![];
        for claim in items(claims) {
            for own in self.expanded(claim, group) {
                read.extend(self.claim(&own, &file, &known));
            }
        }
        let tables = items(tables).filter_map(|own| self.table(own, &file));
        let tables = tables.collect();
        Some(ClaimsFile {
            title,
            readings: known,
            claims: read,
            tables,
        })
    }

    /// Reads a table for figures.
    fn table(&mut self, table: &Raw, file: &Arc<Vec<Definition>>) -> Option<LineTable> {
        const FORMULAS: [&str; 4] = ["for", "runs", "load", "each"];
        let mut section = Section::open(table, self.notes)?;
        let name = section.required::<String>("name");
        let seeds = section.or("seeds", u32::MAX);
        for key in FORMULAS.iter().chain(&["columns"]) {
            section.raw(key);
        }
        section.finish();
        let [loops, runs, load, each] = FORMULAS.map(|key| {
            let own = table.get(key)?;
            match own.as_text() {
                Some(text) => Some((own, text)),
                None => {
                    self.expected("a formula", own);
                    None
                }
            }
        });
        let mut of_loops = |own: Option<(&Raw, &str)>| match own {
            Some((value, text)) => self.read::<_, Vec<Loop>>(value, formula::loops(text)),
            None => Some(vec![]),
        };
        let (read_loops, read_each) = (of_loops(loops), of_loops(each));
        let mut of_formula = |own: Option<(&Raw, &str)>| {
            let (value, text) = own?;
            self.read::<_, formula::Formula>(value, formula::formula(text))
        };
        let (read_runs, read_load) = (of_formula(runs), of_formula(load));
        let mut columns = vec![];
        let mut written = vec![];
        for (name, _, value) in entries(table.get("columns")) {
            let Some(text) = value.as_text() else {
                self.expected("a formula", value);
                continue;
            };
            if let Some(read) = self.read(value, formula::formula(text)) {
                columns.push((name.clone(), read));
                written.push(value);
            }
        }
        let read = LineTable {
            name: name?,
            loops: read_loops?,
            runs: read_runs,
            load: read_load,
            seeds: usize::try_from(seeds?).unwrap_or(usize::MAX),
            each: read_each?,
            columns,
            file: Arc::clone(file),
        };
        let of =
            |own: Option<(&'_ Raw, &str)>| own.map_or_else(|| table.clone(), |(v, _)| v.clone());
        let places = [of(loops), of(runs), of(load), of(each)];
        self.check_table(&read, &places, &written);
        Some(read)
    }

    fn check_table(&mut self, read: &LineTable, places: &[Raw; 4], written: &[&Raw]) {
        let results = Results::default();
        let evaluation = Evaluation::new(&results, &read.file, &[]);
        let mut check = Check::new(&read.file, &[], false);
        let mut locals = vec![];
        let [loops, runs, load, each] = places;
        check.loops(&read.loops, &mut locals);
        let mut found = vec![(loops, check.take())];
        for (own, place) in [(&read.runs, runs), (&read.load, load)] {
            if let Some(own) = own {
                check.formula(own, &mut locals);
            }
            found.push((place, check.take()));
        }
        check.loops(&read.each, &mut locals);
        found.push((each, check.take()));
        for ((_, column), value) in read.columns.iter().zip(written) {
            check.formula(column, &mut locals);
            found.push((*value, check.take()));
        }
        let is_right = found.iter().all(|(_, mistakes)| mistakes.is_empty());
        if !self.is_cyclic && is_right && read.runs.is_none() {
            let context = evaluation.inside(&read.loops, &Context::default());
            let context = evaluation.inside(&read.each, &context);
            for ((_, column), value) in read.columns.iter().zip(written) {
                check.one_value(&evaluation, column, &context);
                found.push((*value, check.take()));
            }
        }
        for (value, mistakes) in found {
            for mistake in mistakes {
                self.note(value, &mistake);
            }
        }
    }

    fn expected(&mut self, what: &str, found: &Raw) {
        let message = format!("expected {what}, found {}", found.shape.word());
        note_once(self.notes, found.place, message);
    }

    /// Returns the tables of a claim: one for each element of `each`, over its group.
    fn expanded(&mut self, claim: &Raw, groups: Option<&Raw>) -> Vec<Raw> {
        let base = without(claim, "each");
        match claim.get("each") {
            None => vec![self.over_group(base, groups, 0)],
            Some(each) => {
                let own = items(Some(each)).map(|own| own.clone().over(base.clone()));
                let own: Vec<Raw> = own.collect();
                own.into_iter()
                    .map(|own| self.over_group(own, groups, 0))
                    .collect()
            }
        }
    }

    fn over_group(&mut self, claim: Raw, groups: Option<&Raw>, depth: usize) -> Raw {
        let Some(name) = claim.get("group") else {
            return claim;
        };
        let found = name
            .as_text()
            .and_then(|name| groups.and_then(|groups| groups.get(name)));
        let Some(parent) = found.filter(|_| depth < 10) else {
            let message = format!("expected the name of a group, found {}", name.to_toml());
            note_once(self.notes, name.place, message);
            return without(&claim, "group");
        };
        let place = claim.place;
        let parent = self.over_group(parent.clone(), groups, depth + 1);
        let mut merged = without(&claim, "group").over(parent);
        merged.place = place;
        merged
    }

    /// Reads quantities: strings are formulas, unless all values are constants.
    fn definitions<'t>(
        &mut self,
        table: Option<&'t Raw>,
        are_constants: bool,
        written: &mut Vec<&'t Raw>,
    ) -> Vec<Definition> {
        let mut read: Vec<Definition> = vec![];
        for (key, place, value) in entries(table) {
            let (name, parameters) = match formula::signature(key) {
                Ok(own) => own,
                Err(mistake) => {
                    note_once(self.notes, *place, mistake.message);
                    continue;
                }
            };
            if check::built_in().any(|own| own == name) {
                let message = format!("expected a new name, found the function `{name}`");
                note_once(self.notes, *place, message);
            }
            if read.iter().any(|own| own.name == name) {
                note_once(self.notes, *place, format!("`{name}` is defined twice"));
            }
            let body = match value.as_text() {
                Some(text) if !are_constants => self.read(value, formula::formula(text)),
                _ => self.constant(value).map(Body::Constant),
            };
            written.push(value);
            // A quantity with a mistake is known, so that its uses are correct.
            read.push(Definition {
                name,
                parameters,
                body: body.unwrap_or(Body::Constant(Value::Number(0.0))),
            });
        }
        read
    }

    /// Returns what was read, or notes the mistake.
    fn read<T, R>(&mut self, value: &Raw, read: Result<T, Mistake>) -> Option<R>
    where
        R: From<T>,
    {
        match read {
            Ok(read) => Some(read.into()),
            Err(mistake) => {
                self.note(value, &mistake);
                None
            }
        }
    }

    fn note(&mut self, value: &Raw, mistake: &Mistake) {
        let source = self.source;
        Written { value, source }.note(self.notes, mistake);
    }

    fn constant(&mut self, value: &Raw) -> Option<Value> {
        Some(match &value.shape {
            ValueShape::Integer(n) => Value::Number(*n as f64),
            ValueShape::Float(x) => Value::Number(*x),
            ValueShape::Text(text) => Value::text(text),
            ValueShape::Bool(is_so) => Value::Truth((*is_so).into()),
            ValueShape::List(list) => {
                let each: Option<Vec<Value>> = list.iter().map(|own| self.constant(own)).collect();
                Value::List(each?)
            }
            ValueShape::Table(map) => {
                let each: Option<Vec<(Value, Value)>> = map
                    .iter()
                    .map(|(key, _, own)| Some((Value::text(key), self.constant(own)?)))
                    .collect();
                Value::Map(each?)
            }
            ValueShape::Date(_) => {
                self.expected("a number, a text, a list or a table", value);
                return None;
            }
        })
    }

    /// Checks the formulas of quantities; `all` are those of the file, or those of the claim.
    fn check(
        &mut self,
        file: &[Definition],
        claim: &[Definition],
        written: &[&Raw],
        is_of_claim: bool,
    ) {
        let all = if is_of_claim { claim } else { file };
        let mut check = Check::new(file, claim, is_of_claim);
        let mut used = vec![];
        for (own, value) in all.iter().zip(written) {
            if let Body::Formula(body) = &own.body {
                check.formula(body, &mut own.parameters.clone());
            }
            for mistake in check.take() {
                self.note(value, &mistake);
            }
            used.push(((is_of_claim, own.name.clone()), check.take_used()));
        }
        if let Some((_, name)) = check::cycle(&used) {
            let mut own = all.iter().zip(written).filter(|(own, _)| own.name == *name);
            let place = own
                .next()
                .map_or(Place::default(), |(_, value)| value.place);
            note_once(self.notes, place, format!("`{name}` uses itself"));
            self.is_cyclic = true;
        }
    }

    fn claim(
        &mut self,
        table: &Raw,
        file: &Arc<Vec<Definition>>,
        readings: &[Reading],
    ) -> Option<Claim> {
        let mut section = Section::open(table, self.notes)?;
        for key in ["id", "statement", "paper", "band", "tier"] {
            if section.raw(key).is_none() {
                let message = format!("`{key}` is missing");
                note_once(section.notes, table.place, message);
            }
        }
        for key in ["part", "basis", "quote", "calibrated", "why", "figure"] {
            section.raw(key);
        }
        let is_ordered = section.or("ordered", false).unwrap_or_default();
        const OTHERS: [&str; 9] = [
            "holds", "measured", "numbers", "error", "was", "law", "with", "let", "readings",
        ];
        for key in OTHERS {
            section.raw(key);
        }
        if let Some(own) = section.raw("not-run") {
            let message = "`not-run` was replaced by `law`, with the tests that check the claim";
            note_once(section.notes, own.place, message.to_owned());
        }
        section.finish();
        let [holds, measured, numbers, error, was, law, with, own, ids] =
            OTHERS.map(|key| table.get(key));
        let mut written = vec![];
        let mut names = self.definitions(with, true, &mut written);
        names.extend(self.definitions(own, false, &mut written));
        self.check(file, &names, &written, true);
        let mut texts = TEXTS
            .map(|key| self.text_over(table.get(key), with))
            .into_iter();
        let mut text = || texts.next().unwrap_or_default();
        let (id, part, statement, paper, band) = (text(), text(), text(), text(), text());
        let (quote, calibrated, why, figure) = (text(), text(), text(), text());
        let (old_holds, old_band) = match was {
            Some(was) => self.was(was, with),
            None => (None, None),
        };
        let judge = match law {
            Some(tests) => Judge::Law(self.text_over(Some(tests), with)),
            None => Judge::Formulas(Box::new(self.formulas(
                table,
                [holds, measured, numbers],
                [error, old_holds],
                file,
                names,
                is_ordered,
            )?)),
        };
        Some(Claim {
            id,
            part,
            tier: self.one_of(
                table.get("tier"),
                &[("E", Tier::E), ("Q", Tier::Q), ("O", Tier::O)],
            )?,
            statement,
            paper,
            band,
            basis: match table.get("basis") {
                None => Basis::Paper,
                own => self.one_of(own, &BASES)?,
            },
            readings: self.readings(ids, file, readings),
            quote,
            calibrated,
            why,
            was: old_band,
            figure,
            judge,
        })
    }

    /// Reads the check before a claim was restated: its formula and its band.
    fn was<'t>(&mut self, was: &'t Raw, with: Option<&Raw>) -> (Option<&'t Raw>, Option<String>) {
        let Some(mut section) = Section::open(was, self.notes) else {
            return (None, None);
        };
        for key in ["band", "holds"] {
            if section.raw(key).is_none() {
                let message = format!("`{key}` of `was` is missing");
                note_once(section.notes, was.place, message);
            }
        }
        section.finish();
        let band = self.text_over(was.get("band"), with);
        (was.get("holds"), Some(band))
    }

    fn one_of<T: Copy>(&mut self, value: Option<&Raw>, known: &[(&str, T)]) -> Option<T> {
        let value = value?;
        let own = known.iter().find(|(word, _)| value.as_text() == Some(word));
        if own.is_none() {
            let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
            let found = value.to_toml();
            let message = format!("expected one of {}, found {found}", words.join(", "));
            note_once(self.notes, value.place, message);
        }
        own.map(|(_, own)| *own)
    }

    /// Returns a text, with the parameters of the claim.
    fn text_over(&mut self, value: Option<&Raw>, with: Option<&Raw>) -> String {
        let Some(value) = value else {
            return String::new();
        };
        let Some(text) = value.as_text() else {
            self.expected("a text", value);
            return String::new();
        };
        let Some(template) = self.read::<_, Template>(value, formula::template(text)) else {
            return String::new();
        };
        let names = self.definitions(with, true, &mut vec![]);
        let mut check = Check::new(&[], &names, true);
        check.template(&template, &mut vec![]);
        for mistake in check.take() {
            self.note(value, &mistake);
        }
        let results = Results::default();
        let evaluation = Evaluation::new(&results, &[], &names);
        match evaluation.text(&template, &Context::of_claim()) {
            Ok(text) => text,
            Err(missing) => {
                note_once(self.notes, value.place, missing.words());
                String::new()
            }
        }
    }

    fn readings(
        &mut self,
        value: Option<&Raw>,
        file: &[Definition],
        known: &[Reading],
    ) -> Vec<String> {
        let Some(value) = value else { return vec![] };
        let list = match value.as_text() {
            Some(name) => {
                let own = file.iter().find(|own| own.name == name);
                match own.map(|own| &own.body) {
                    Some(Body::Constant(list)) => Some(list.clone()),
                    _ => None,
                }
            }
            None => self.constant(value),
        };
        let list = list.and_then(|list| {
            let each = list.elements().ok()?;
            let each = each.into_iter().map(|own| own.as_text().ok());
            each.map(|own| own.map(str::to_owned)).collect()
        });
        let Some(list): Option<Vec<String>> = list else {
            self.expected("a list of readings, or the name of one in [define]", value);
            return vec![];
        };
        for id in &list {
            if !known.iter().any(|own| own.id == *id) {
                let message = format!("expected the id of a reading, found `{id}`");
                note_once(self.notes, value.place, message);
            }
        }
        list
    }

    /// Reads and checks the formulas of a claim.
    fn formulas(
        &mut self,
        table: &Raw,
        [holds, measured, numbers]: [Option<&Raw>; 3],
        others: [Option<&Raw>; 2],
        file: &Arc<Vec<Definition>>,
        names: Vec<Definition>,
        is_ordered: bool,
    ) -> Option<Formulas> {
        for (key, value) in [("holds", holds), ("measured", measured)] {
            match value {
                None => note_once(self.notes, table.place, format!("`{key}` is missing")),
                Some(value) if value.as_text().is_none() => self.expected("a text", value),
                Some(_) => {}
            }
        }
        let (holds, measured) = (holds?, measured?);
        let read_holds = self.read(holds, formula::formula(holds.as_text()?))?;
        let read_measured = self.read(measured, formula::template(measured.as_text()?))?;
        let mut read_numbers = vec![];
        for (key, place, value) in entries(numbers) {
            let (name, is_optional) = match key.strip_suffix('?') {
                Some(name) => (name, true),
                None => (key.as_str(), false),
            };
            let Some(text) = value.as_text() else {
                self.expected("a formula", value);
                continue;
            };
            let name = match formula::template(name) {
                Ok(name) => name,
                Err(mistake) => {
                    note_once(self.notes, *place, mistake.message);
                    continue;
                }
            };
            let Some((formula, loops)) = self.read(value, formula::looped(text)) else {
                continue;
            };
            read_numbers.push(Number {
                name,
                is_optional,
                value: formula,
                loops,
            });
        }
        let [error, was] = others.map(|own| {
            let own = own?;
            let Some(text) = own.as_text() else {
                self.expected("a formula", own);
                return None;
            };
            self.read::<_, formula::Formula>(own, formula::formula(text))
        });
        let read = Formulas {
            holds: read_holds,
            is_ordered,
            measured: read_measured,
            numbers: read_numbers,
            error,
            was,
            file: Arc::clone(file),
            names,
        };
        self.check_formulas(&read, [holds, measured], others, numbers);
        Some(read)
    }

    fn check_formulas(
        &mut self,
        read: &Formulas,
        [holds, measured]: [&Raw; 2],
        others: [Option<&Raw>; 2],
        numbers: Option<&Raw>,
    ) {
        let results = Results::default();
        let evaluation = Evaluation::new(&results, &read.file, &read.names);
        let context = Context::of_claim();
        let mut check = Check::new(&read.file, &read.names, true);
        check.formula(&read.holds, &mut vec![]);
        let mut found = vec![(holds, check.take())];
        let others = [&read.error, &read.was].into_iter().zip(others);
        let others = others.filter_map(|(own, value)| Some((own.as_ref()?, value?)));
        for (own, value) in others.clone() {
            check.formula(own, &mut vec![]);
            found.push((value, check.take()));
        }
        check.template(&read.measured, &mut vec![]);
        found.push((measured, check.take()));
        for (own, (_, _, value)) in read.numbers.iter().zip(entries(numbers)) {
            let mut locals = vec![];
            check.loops(&own.loops, &mut locals);
            check.formula(&own.value, &mut locals);
            check.template(&own.name, &mut locals);
            found.push((value, check.take()));
        }
        if !self.is_cyclic && found.iter().all(|(_, mistakes)| mistakes.is_empty()) {
            check.one_value(&evaluation, &read.holds, &context);
            found.push((holds, check.take()));
            for (own, value) in others {
                check.one_value(&evaluation, own, &context);
                found.push((value, check.take()));
            }
            check.one_value_each(&evaluation, &read.measured, &context);
            found.push((measured, check.take()));
            for (own, (_, _, value)) in read.numbers.iter().zip(entries(numbers)) {
                let context = evaluation.inside(&own.loops, &context);
                check.one_value(&evaluation, &own.value, &context);
                found.push((value, check.take()));
            }
        }
        for (value, mistakes) in found {
            for mistake in mistakes {
                self.note(value, &mistake);
            }
        }
    }
}

const BASES: [(&str, Basis); 4] = [
    ("paper", Basis::Paper),
    ("arithmetic", Basis::Arithmetic),
    ("made-up", Basis::MadeUp),
    ("ours", Basis::Ours),
];

impl From<formula::Formula> for Body {
    fn from(formula: formula::Formula) -> Body {
        Body::Formula(formula)
    }
}

type Entry = (String, Place, Raw);

fn entries(table: Option<&Raw>) -> &[Entry] {
    match table.map(|own| &own.shape) {
        Some(ValueShape::Table(entries)) => entries,
        _ => &[],
    }
}

fn items(list: Option<&Raw>) -> std::slice::Iter<'_, Raw> {
    match list.map(|own| &own.shape) {
        Some(ValueShape::List(items)) => items.iter(),
        _ => [].iter(),
    }
}

/// Returns a table without a key.
fn without(table: &Raw, key: &str) -> Raw {
    let mut table = table.clone();
    if let ValueShape::Table(entries) = &mut table.shape {
        entries.retain(|(own, _, _)| own != key);
    }
    table
}
