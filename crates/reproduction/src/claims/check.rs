//! Checks formulas before they are evaluated: names, numbers of values, columns, and values by seed
//! outside of functions over seeds.

use netloom_catalog::{Notes, Place, Value as Raw, nearest};
use netloom_results::{Summary, TABLES, Table as _};

use super::evaluation::{Context, Definition, Evaluation};
use super::formula::{Formula, Loop, Mistake, Node, Piece, Template};
use super::{functions, quantities, sources};

/// A definition: whether it is of the claim, and its name.
type Id = (bool, String);

/// The text of a formula, and its position in the file.
#[derive(Clone, Copy)]
pub(super) struct Written<'w> {
    pub(super) value: &'w Raw,
    /// The text of the source of that value.
    pub(super) source: &'w str,
}

impl Written<'_> {
    /// Notes a mistake, with its column in the formula.
    pub(super) fn note(&self, notes: &mut Notes, mistake: &Mistake) {
        let text = self.value.as_text().unwrap_or("");
        let before = &text[..text.floor_char_boundary(mistake.at)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before[line_start..].chars().count() + 1;
        let line = match before.matches('\n').count() {
            0 => String::new(),
            n => format!("line {}, ", n + 1),
        };
        let message = format!("{} ({line}column {column} of the formula)", mistake.message);
        note_once(notes, self.place(text, mistake.at), message);
    }

    /// Returns the place of a position in the formula, or of all of it if its text is escaped.
    fn place(&self, text: &str, at: usize) -> Place {
        let whole = self.value.place;
        let slice = self.source.get(whole.start as usize..whole.end as usize);
        let found = slice.and_then(|slice| slice.find(text));
        match found.and_then(|begin| u32::try_from(begin + at).ok()) {
            Some(offset) => Place {
                start: whole.start + offset,
                end: whole.start + offset + 1,
                ..whole
            },
            None => whole,
        }
    }
}

/// Notes a mistake, unless it is noted: a group is read once for each of its claims.
pub(super) fn note_once(notes: &mut Notes, place: Place, message: String) {
    let is_same = |note: &netloom_catalog::Note| {
        note.message == message && note.places.first().is_some_and(|own| own.0 == place)
    };
    if !notes.iter().any(is_same) {
        notes.error("E0102", place, message);
    }
}

/// Checks the formulas that see some definitions.
pub(super) struct Check<'a> {
    /// The quantities of the file, then those of the claim.
    pub(super) definitions: [&'a [Definition]; 2],
    pub(super) sees_claim: bool,
    mistakes: Vec<Mistake>,
    /// The definitions used.
    used: Vec<Id>,
}

impl<'a> Check<'a> {
    pub(super) fn new(file: &'a [Definition], claim: &'a [Definition], sees_claim: bool) -> Self {
        Check {
            definitions: [file, claim],
            sees_claim,
            mistakes: vec![],
            used: vec![],
        }
    }

    /// Returns the mistakes found since the last call.
    pub(super) fn take(&mut self) -> Vec<Mistake> {
        std::mem::take(&mut self.mistakes)
    }

    /// Returns the definitions used since the last call.
    pub(super) fn take_used(&mut self) -> Vec<Id> {
        std::mem::take(&mut self.used)
    }

    fn wrong(&mut self, at: usize, message: String) {
        self.mistakes.push(Mistake { at, message });
    }

    fn definition(&mut self, name: &str) -> Option<&'a Definition> {
        let [file, claim] = self.definitions;
        let of = |all: &'a [Definition]| all.iter().find(|own| own.name == name);
        let own = of(claim).filter(|_| self.sees_claim);
        let (own, is_of_claim) = match own {
            Some(own) => (own, true),
            None => (of(file)?, false),
        };
        self.used.push((is_of_claim, name.to_owned()));
        Some(own)
    }

    /// Checks the names in a formula.
    pub(super) fn formula(&mut self, formula: &Formula, locals: &mut Vec<String>) {
        match &formula.node {
            Node::Number(_) | Node::Truth(_) => {}
            Node::Text(template) => self.template(template, locals),
            Node::Name(name) if locals.contains(name) => {}
            Node::Name(name) => match self.definition(name) {
                Some(own) => {
                    let n = own.parameters.len();
                    if n > 0 {
                        let message = format!("expected `{name}` with its values ({n})");
                        self.wrong(formula.at, message);
                    }
                }
                None => self.unknown(formula.at, name, locals),
            },
            Node::Call {
                name,
                arguments,
                named,
            } => {
                self.call(formula.at, name, arguments, named, locals);
                for own in arguments.iter().chain(named.iter().map(|(_, own)| own)) {
                    self.formula(own, locals);
                }
            }
            Node::Negative(own) | Node::Not(own) => self.formula(own, locals),
            Node::At(own, other) | Node::Both(_, own, other) => {
                self.formula(own, locals);
                self.formula(other, locals);
            }
            Node::Compare(own, others) => {
                self.formula(own, locals);
                others.iter().for_each(|(_, own)| self.formula(own, locals));
            }
            Node::List(list) => list.iter().for_each(|own| self.formula(own, locals)),
            Node::Map(map) => {
                for (key, own) in map {
                    self.formula(key, locals);
                    self.formula(own, locals);
                }
            }
            Node::Each(element, loops) => {
                let n = locals.len();
                self.loops(loops, locals);
                self.formula(element, locals);
                locals.truncate(n);
            }
        }
    }

    /// Checks loops, and adds their variables.
    pub(super) fn loops(&mut self, loops: &[Loop], locals: &mut Vec<String>) {
        for own in loops {
            own.lists.iter().for_each(|list| self.formula(list, locals));
            locals.extend(own.names.iter().cloned());
            if let Some(condition) = &own.condition {
                self.formula(condition, locals);
            }
        }
    }

    pub(super) fn template(&mut self, template: &Template, locals: &mut Vec<String>) {
        for piece in &template.pieces {
            if let Piece::Value(own, _) = piece {
                self.formula(own, locals);
            }
        }
    }

    fn unknown(&mut self, at: usize, name: &str, locals: &[String]) {
        let [file, claim] = self.definitions;
        let claim = if self.sees_claim { claim } else { &[] };
        let own = claim.iter().chain(file).map(|own| own.name.as_str());
        let mut known: Vec<&str> = own.collect();
        known.extend(locals.iter().map(String::as_str));
        for own in built_in() {
            known.push(own);
        }
        let message = match nearest(name, known.iter().copied()) {
            Some(near) => format!("unknown name `{name}`; did you mean `{near}`?"),
            None => format!("unknown name `{name}`"),
        };
        self.wrong(at, message);
    }

    fn call(
        &mut self,
        at: usize,
        name: &str,
        arguments: &[Formula],
        named: &[(String, Formula)],
        locals: &[String],
    ) {
        let source = sources::SOURCES.iter().find(|own| own.name == name);
        let listed = |all: &[(&str, std::ops::RangeInclusive<usize>)]| {
            let own = all.iter().find(|(own, _)| *own == name);
            own.map(|(_, n)| n.clone())
        };
        let n = match self.definition(name) {
            Some(own) => {
                let n = own.parameters.len();
                Some(n..=n)
            }
            None => source
                .map(|own| own.values.clone())
                .or_else(|| functions::plain(name).map(|own| own.n.clone()))
                .or_else(|| listed(&functions::OVER_SEEDS))
                .or_else(|| listed(&functions::SPECIAL))
                .or_else(|| {
                    let n = quantities::quantity(name)?.parameters.len();
                    Some(n..=n)
                }),
        };
        let Some(n) = n else {
            return self.unknown(at, name, locals);
        };
        if !n.contains(&arguments.len()) {
            let (least, found) = (n.start(), arguments.len());
            let plural = if *least == 1 { "" } else { "s" };
            let message = format!("expected {least} value{plural} for `{name}`, found {found}");
            self.wrong(at, message);
            return;
        }
        for (key, own) in named {
            let is_column = name == "lines";
            let is_known = source.is_some_and(|own| own.options.contains(&key.as_str()));
            if !is_known && !is_column {
                self.wrong(own.at, format!("`{name}` has no option `{key}`"));
            }
        }
        match name {
            "result" => self.column(&arguments[1], "results"),
            "lines" => {
                let Node::Text(table) = &arguments[1].node else {
                    return;
                };
                let Some(table) = table.plain() else { return };
                self.column(&arguments[2], table);
            }
            _ => {}
        }
    }

    /// Checks the name of a column, if it is a plain text.
    fn column(&mut self, formula: &Formula, table: &str) {
        let Node::Text(template) = &formula.node else {
            return;
        };
        let Some(name) = template.plain() else { return };
        let Some((_, parts)) = TABLES.iter().find(|(own, _)| *own == table) else {
            let known: Vec<&str> = TABLES.iter().map(|(own, _)| *own).collect();
            let known = known.join(", ");
            self.wrong(
                formula.at,
                format!("expected a table ({known}), found `{table}`"),
            );
            return;
        };
        let columns = match table {
            "results" => Summary::COLUMNS.iter().collect::<Vec<_>>(),
            _ => parts.iter().copied().flatten().collect(),
        };
        if !columns.iter().any(|own| own.name == name) {
            let near = nearest(name, columns.iter().map(|own| own.name));
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let message = format!("table {table} has no column `{name}`{near}");
            self.wrong(formula.at, message);
        }
    }

    /// Notes the formulas of a text that have a value by seed.
    pub(super) fn one_value_each(
        &mut self,
        evaluation: &Evaluation<'a>,
        template: &'a Template,
        context: &Context<'a>,
    ) {
        for piece in &template.pieces {
            if let Piece::Value(own, _) = piece {
                self.one_value(evaluation, own, context);
            }
        }
    }

    /// Notes a formula of a claim that has a value by seed.
    pub(super) fn one_value(
        &mut self,
        evaluation: &Evaluation<'a>,
        formula: &'a Formula,
        context: &Context<'a>,
    ) {
        if evaluation.varies(formula, context) {
            let message = "expected one value, found a value for each seed; use a function over \
                           seeds, such as mean()";
            self.wrong(formula.at, message.to_owned());
        }
    }
}

/// Returns the names of all functions.
pub(super) fn built_in() -> impl Iterator<Item = &'static str> {
    let sources = sources::SOURCES.iter().map(|own| own.name);
    let seeds = functions::OVER_SEEDS.iter().map(|(own, _)| *own);
    let special = functions::SPECIAL.iter().map(|(own, _)| *own);
    let plain = functions::PLAIN.iter().map(|own| own.name);
    let all = sources.chain(seeds).chain(special).chain(plain);
    all.chain(quantities::names())
}

/// Returns the first definition that uses itself, given what each uses: by origin and name.
pub(super) fn cycle(used: &[(Id, Vec<Id>)]) -> Option<&Id> {
    let of = |id: &Id| {
        let own = used.iter().find(|(own, _)| own == id);
        own.map_or(&[][..], |(_, used)| used)
    };
    let is_in_cycle = |start: &Id| {
        let mut reached: Vec<&Id> = of(start).iter().collect();
        let mut at = 0;
        while let Some(next) = reached.get(at) {
            for own in of(next) {
                if !reached.contains(&own) {
                    reached.push(own);
                }
            }
            at += 1;
        }
        reached.contains(&start)
    };
    used.iter().map(|(id, _)| id).find(|id| is_in_cycle(id))
}
