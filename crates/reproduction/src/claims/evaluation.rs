//! Evaluates formulas on results.
//!
//! A formula is evaluated for one run. A function over seeds evaluates its argument for the first
//! run of every series, then for the second, and so on, until a series has no further run.
//! Quantities are evaluated when they are used, in the context of that use.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::formula::{Formula, Loop, Node, Order, Piece, Sign, Template};
use super::functions;
use super::quantities::{self, Call};
use super::sources;
use super::value::{Answer, Missing, Value};
use crate::{Outcome, Results, Truth};

/// Maximum of levels of formulas that use each other, which bounds the stack, and of steps of a
/// claim, which bounds its time.
const MOST_LEVELS: usize = 1000;
const MOST_STEPS: usize = 10_000_000;

/// A quantity with a name.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) parameters: Vec<String>,
    pub(super) body: Body,
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    Formula(Formula),
    Constant(Value),
}

/// The values of names in a formula: parameters and variables of loops, the innermost first.
type Locals<'a> = Option<Rc<Local<'a>>>;

struct Local<'a> {
    name: &'a str,
    bound: Bound<'a>,
    next: Locals<'a>,
}

#[derive(Clone)]
enum Bound<'a> {
    Now(Answer),
    /// A value by seed, evaluated where it is used.
    Later(&'a Formula, Context<'a>),
}

/// Where a formula is evaluated.
#[derive(Clone, Default)]
pub(super) struct Context<'a> {
    locals: Locals<'a>,
    /// Whether it sees the quantities of the claim, in addition to those of the file.
    sees_claim: bool,
    /// The seed, counted from 0; `None` outside of functions over seeds.
    pub(super) seed: Option<usize>,
}

impl<'a> Context<'a> {
    /// The context of the formulas of a claim.
    pub(super) fn of_claim() -> Context<'a> {
        Context {
            sees_claim: true,
            ..Context::default()
        }
    }

    fn with(&self, name: &'a str, bound: Bound<'a>) -> Context<'a> {
        let next = self.locals.clone();
        Context {
            locals: Some(Rc::new(Local { name, bound, next })),
            ..self.clone()
        }
    }

    /// Returns the context with a name that has a value.
    pub(super) fn with_value(&self, name: &'a str, value: Value) -> Context<'a> {
        self.with(name, Bound::Now(Ok(value)))
    }

    pub(super) fn at_seed(&self, seed: usize) -> Context<'a> {
        Context {
            seed: Some(seed),
            ..self.clone()
        }
    }

    fn local(&self, name: &str) -> Option<&Bound<'a>> {
        let mut next = self.locals.as_ref();
        while let Some(local) = next {
            if local.name == name {
                return Some(&local.bound);
            }
            next = local.next.as_ref();
        }
        None
    }
}

/// What happens to loops over lists that are missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turns {
    /// All is missing.
    All,
    /// They have no turns.
    Known,
}

/// The runs of a series, and the loads of its missing runs.
#[derive(Default)]
pub(super) struct Runs<'a> {
    pub(super) outcomes: Vec<&'a Outcome>,
    pub(super) lacking: Vec<f64>,
}

/// Evaluates the formulas of a claim.
pub(super) struct Evaluation<'a> {
    pub(super) results: &'a Results,
    /// The quantities of the file, then those of the claim.
    definitions: [&'a [Definition]; 2],
    pub(super) series: HashMap<&'a str, Runs<'a>>,
    /// Values of quantities by name, arguments and seed. Looked up, never iterated.
    answers: RefCell<HashMap<String, Answer>>,
    /// Documents of runs by address. Looked up, never iterated.
    pub(super) documents: RefCell<HashMap<usize, Rc<serde_json::Value>>>,
    /// The levels of the formula that is evaluated, and the steps so far.
    level: Cell<usize>,
    n_steps: Cell<usize>,
    /// The fewest seeds that a function over seeds has used.
    fewest: Cell<Option<usize>>,
    /// Whether a value was missing because a run is.
    lacks_runs: Cell<bool>,
    /// A source, and the factor of its values.
    #[cfg(test)]
    pub(super) scale: Option<(String, f64)>,
    /// The sources that were used.
    #[cfg(test)]
    pub(super) used: RefCell<std::collections::BTreeSet<String>>,
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(
        results: &'a Results,
        file: &'a [Definition],
        claim: &'a [Definition],
    ) -> Evaluation<'a> {
        let mut series: HashMap<&str, Runs<'_>> = HashMap::new();
        for outcome in &results.outcomes {
            let own = series.entry(&outcome.run.series).or_default();
            own.outcomes.push(outcome);
        }
        for (name, load) in &results.lacking {
            series.entry(name).or_default().lacking.push(*load);
        }
        Evaluation {
            results,
            definitions: [file, claim],
            series,
            answers: RefCell::default(),
            documents: RefCell::default(),
            level: Cell::new(0),
            n_steps: Cell::new(0),
            fewest: Cell::new(None),
            lacks_runs: Cell::new(false),
            #[cfg(test)]
            scale: None,
            #[cfg(test)]
            used: RefCell::default(),
        }
    }

    /// Returns the fewest seeds that a function over seeds has used so far.
    pub(super) fn fewest(&self) -> Option<usize> {
        self.fewest.get()
    }

    /// Whether a value was missing so far because a run is.
    pub(super) fn lacks_runs(&self) -> bool {
        self.lacks_runs.get()
    }

    /// Returns whether a series lacks a run at some loads, and notes it.
    pub(super) fn lacks(&self, series: &str, is_at: impl Fn(f64) -> bool) -> bool {
        let own = self.series.get(series);
        let is_lacking = own.is_some_and(|own| own.lacking.iter().any(|load| is_at(*load)));
        if is_lacking {
            self.lacks_runs.set(true);
        }
        is_lacking
    }

    /// Returns the quantity with a name that a context sees, and whether it is of the claim.
    fn definition(&self, name: &str, sees_claim: bool) -> Option<(&'a Definition, bool)> {
        let [file, claim] = self.definitions;
        let of = |all: &'a [Definition]| all.iter().find(|own| own.name == name);
        let own = of(claim).filter(|_| sees_claim).map(|own| (own, true));
        own.or_else(|| of(file).map(|own| (own, false)))
    }

    /// Counts a step, in which a part of a formula is looked at.
    fn step<T>(&self, of: impl FnOnce() -> T) -> Result<T, Missing> {
        let (level, n_steps) = (self.level.get(), self.n_steps.get());
        if level == MOST_LEVELS {
            let message = format!("formulas that use each other have more than {level} levels");
            return Err(Missing::mistake(message));
        }
        if n_steps == MOST_STEPS {
            let message = format!("the formulas take more than {n_steps} steps");
            return Err(Missing::mistake(message));
        }
        self.level.set(level + 1);
        self.n_steps.set(n_steps + 1);
        let found = of();
        self.level.set(level);
        Ok(found)
    }

    /// Whether a formula has a value by seed. One that takes too many steps has none; its value
    /// says why.
    pub(super) fn varies(&self, formula: &'a Formula, context: &Context<'a>) -> bool {
        let found = self.step(|| self.parts_vary(formula, context));
        found.unwrap_or(false)
    }

    fn parts_vary(&self, formula: &'a Formula, context: &Context<'a>) -> bool {
        let any = |all: &'a [Formula]| all.iter().any(|own| self.varies(own, context));
        match &formula.node {
            Node::Number(_) | Node::Truth(_) => false,
            Node::Text(template) => template.pieces.iter().any(|piece| match piece {
                Piece::Plain(_) => false,
                Piece::Value(own, _) => self.varies(own, context),
            }),
            Node::Name(name) => match context.local(name) {
                Some(bound) => matches!(bound, Bound::Later(..)),
                None => self.call_varies(name, &[], context),
            },
            Node::Call {
                name,
                arguments,
                named,
            } => {
                let is_named = named.iter().any(|(_, own)| self.varies(own, context));
                match functions::is_over_seeds(name) {
                    true => false,
                    false => is_named || self.call_varies(name, arguments, context),
                }
            }
            Node::Negative(own) | Node::Not(own) => self.varies(own, context),
            Node::At(own, other) | Node::Both(_, own, other) => {
                self.varies(own, context) || self.varies(other, context)
            }
            Node::Compare(own, others) => {
                let mut others = others.iter();
                self.varies(own, context) || others.any(|(_, own)| self.varies(own, context))
            }
            Node::List(list) => any(list),
            Node::Map(map) => {
                let mut map = map.iter();
                map.any(|(key, own)| self.varies(key, context) || self.varies(own, context))
            }
            Node::Each(element, loops) => {
                let inner = self.inside(loops, context);
                let mut conditions = loops.iter().filter_map(|own| own.condition.as_ref());
                let mut lists = loops.iter().flat_map(|own| &own.lists);
                conditions.any(|own| self.varies(own, &inner))
                    || lists.any(|own| self.varies(own, &inner))
                    || self.varies(element, &inner)
            }
        }
    }

    /// Returns the context inside of loops, for checks: without values.
    pub(super) fn inside(&self, loops: &'a [Loop], context: &Context<'a>) -> Context<'a> {
        let mut inner = context.clone();
        for own in loops {
            for (name, list) in own.names.iter().zip(&own.lists) {
                let bound = self.bound_for_check(list, &inner);
                inner = inner.with(name, bound);
            }
        }
        inner
    }

    fn bound_for_check(&self, formula: &'a Formula, context: &Context<'a>) -> Bound<'a> {
        match self.varies(formula, context) {
            true => Bound::Later(formula, context.clone()),
            false => Bound::Now(Err(Missing::NoSeed)),
        }
    }

    fn call_varies(&self, name: &str, arguments: &'a [Formula], context: &Context<'a>) -> bool {
        let any = || arguments.iter().any(|own| self.varies(own, context));
        if sources::is_by_seed(name) || quantities::is_by_seed(name) {
            return true;
        }
        match self.definition(name, context.sees_claim) {
            Some((own, is_of_claim)) => match &own.body {
                Body::Constant(_) => false,
                Body::Formula(body) => {
                    let mut inner = Context {
                        sees_claim: is_of_claim,
                        ..Context::default()
                    };
                    for (name, argument) in own.parameters.iter().zip(arguments) {
                        inner = inner.with(name, self.bound_for_check(argument, context));
                    }
                    self.varies(body, &inner)
                }
            },
            None => any(),
        }
    }

    pub(super) fn value(&self, formula: &'a Formula, context: &Context<'a>) -> Answer {
        self.step(|| self.value_of_parts(formula, context))?
    }

    fn value_of_parts(&self, formula: &'a Formula, context: &Context<'a>) -> Answer {
        match &formula.node {
            Node::Number(number) => Ok(Value::Number(*number)),
            Node::Truth(truth) => Ok(Value::Truth(*truth)),
            Node::Text(template) => self.text(template, context).map(Value::Text),
            Node::Name(name) => match context.local(name) {
                Some(Bound::Now(answer)) => answer.clone(),
                Some(Bound::Later(own, place)) => {
                    let place = Context {
                        seed: context.seed,
                        ..place.clone()
                    };
                    self.value(own, &place)
                }
                None => self.call(name, &[], &[], context),
            },
            Node::Call {
                name,
                arguments,
                named,
            } => self.call(name, arguments, named, context),
            Node::At(own, key) => {
                let own = self.value(own, context)?;
                own.at(&self.value(key, context)?)
            }
            Node::Negative(own) => {
                let own = self.value(own, context)?;
                functions::pairwise(&Value::Number(0.0), &own, &|a, b| {
                    Ok(Value::Number(a.number()? - b.number()?))
                })
            }
            Node::Not(own) => Ok(Value::Truth(match self.value(own, context)?.truth()? {
                Truth::Yes => Truth::No,
                Truth::Unsure => Truth::Unsure,
                Truth::No => Truth::Yes,
            })),
            Node::Both(sign, one, other) => self.both(*sign, one, other, context),
            Node::Compare(first, others) => self.compare(first, others, context),
            Node::List(list) => {
                let each = list.iter().map(|own| self.value(own, context));
                each.collect::<Result<_, _>>().map(Value::List)
            }
            Node::Map(map) => {
                let each = map
                    .iter()
                    .map(|(key, own)| Ok((self.value(key, context)?, self.value(own, context)?)));
                each.collect::<Result<_, _>>().map(Value::Map)
            }
            Node::Each(element, loops) => {
                let mut list = vec![];
                self.each(loops, context, Turns::All, &mut |inner| {
                    list.push(self.value(element, inner)?);
                    Ok(())
                })?;
                Ok(Value::List(list))
            }
        }
    }

    fn both(
        &self,
        sign: Sign,
        one: &'a Formula,
        other: &'a Formula,
        context: &Context<'a>,
    ) -> Answer {
        let one = self.value(one, context)?;
        match (sign, &one) {
            (Sign::And, Value::Truth(Truth::No)) | (Sign::Or, Value::Truth(Truth::Yes)) => {
                return Ok(one);
            }
            _ => {}
        }
        let other = self.value(other, context)?;
        functions::pairwise(&one, &other, &|a, b| {
            if let Sign::And | Sign::Or = sign {
                let (a, b) = (a.truth()?, b.truth()?);
                return Ok(Value::Truth(if sign == Sign::And { a & b } else { a | b }));
            }
            let (a, b) = (a.number()?, b.number()?);
            Ok(Value::Number(match sign {
                Sign::Plus => a + b,
                Sign::Minus => a - b,
                Sign::Times => a * b,
                _ if b == 0.0 => return Err(Missing::because("division by zero")),
                _ => a / b,
            }))
        })
    }

    fn compare(
        &self,
        first: &'a Formula,
        others: &'a [(Order, Formula)],
        context: &Context<'a>,
    ) -> Answer {
        let mut left = self.value(first, context)?;
        let mut all = Value::Truth(Truth::Yes);
        for (order, right) in others {
            let right = self.value(right, context)?;
            let truth = match order {
                Order::In => Value::Truth(right.items()?.contains(&left).into()),
                _ => functions::pairwise(&left, &right, &|a, b| {
                    Ok(Value::Truth(functions::ordered(*order, a, b)?.into()))
                })?,
            };
            all = functions::pairwise(&all, &truth, &|a, b| {
                Ok(Value::Truth(a.truth()? & b.truth()?))
            })?;
            left = right;
        }
        Ok(all)
    }

    /// Calls a function for each turn of nested loops.
    pub(super) fn each(
        &self,
        loops: &'a [Loop],
        context: &Context<'a>,
        turns: Turns,
        of: &mut dyn FnMut(&Context<'a>) -> Result<(), Missing>,
    ) -> Result<(), Missing> {
        let Some((first, others)) = loops.split_first() else {
            return of(context);
        };
        let lists = first.lists.iter();
        let lists = lists.map(|list| self.value(list, context)?.items());
        let lists: Vec<Vec<Value>> = match lists.collect::<Result<_, _>>() {
            Err(Missing::Because(_)) if turns == Turns::Known => return Ok(()),
            lists => lists?,
        };
        let n = lists[0].len();
        if let Some(other) = lists.iter().find(|list| list.len() != n) {
            let other = other.len();
            return Err(Missing::because(format!(
                "lists of {n} and {other} elements in one loop"
            )));
        }
        for turn in 0..n {
            let mut inner = context.clone();
            for (name, list) in first.names.iter().zip(&lists) {
                inner = inner.with_value(name, list[turn].clone());
            }
            let is_in = match &first.condition {
                Some(condition) => self.value(condition, &inner)?.truth()? == Truth::Yes,
                None => true,
            };
            if is_in {
                self.each(others, &inner, turns, of)?;
            }
        }
        Ok(())
    }

    pub(super) fn text(
        &self,
        template: &'a Template,
        context: &Context<'a>,
    ) -> Result<String, Missing> {
        let mut text = String::new();
        for piece in &template.pieces {
            match piece {
                Piece::Plain(plain) => text.push_str(plain),
                Piece::Value(own, format) => {
                    text.push_str(&self.value(own, context)?.formatted(*format));
                }
            }
        }
        Ok(text)
    }

    fn call(
        &self,
        name: &str,
        arguments: &'a [Formula],
        named: &'a [(String, Formula)],
        context: &Context<'a>,
    ) -> Answer {
        if let Some((own, is_of_claim)) = self.definition(name, context.sees_claim) {
            return self.defined(own, is_of_claim, arguments, context);
        }
        if let Some(answer) = self.special(name, arguments, context) {
            return answer;
        }
        if functions::is_over_seeds(name) {
            let rows = self.over_seeds(arguments, context)?;
            return functions::over_seeds(name, &rows);
        }
        let values = arguments.iter().map(|own| self.value(own, context));
        let values: Vec<Value> = values.collect::<Result<_, _>>()?;
        if sources::is_source(name) {
            let mut options = vec![];
            for (key, own) in named {
                options.push((key.as_str(), self.value(own, context)?));
            }
            let answer = sources::value(self, name, &values, &options, context.seed);
            #[cfg(test)]
            let answer = self.scaled(&format!("{name} {values:?} {options:?}"), answer);
            return answer;
        }
        if let Some(quantity) = quantities::quantity(name) {
            let call = Call {
                results: self.results,
                seed: context.seed,
                values: &values,
                evaluation: self,
            };
            let answer = (quantity.of)(&call);
            #[cfg(test)]
            let answer = self.scaled(&format!("{name} {values:?}"), answer);
            return answer;
        }
        match functions::plain(name) {
            Some(function) => (function.of)(&values),
            None => Err(Missing::mistake(format!("unknown name `{name}`"))),
        }
    }

    /// Returns the value of a source by name, times its factor.
    #[cfg(test)]
    fn scaled(&self, source: &str, answer: Answer) -> Answer {
        self.used.borrow_mut().insert(source.to_owned());
        match (&self.scale, &answer) {
            (Some((own, factor)), Ok(value)) if own == source => {
                functions::pairwise(&Value::Number(*factor), value, &|factor, own| {
                    Ok(match own {
                        Value::Number(own) => Value::Number(factor.number()? * own),
                        other => other.clone(),
                    })
                })
            }
            _ => answer,
        }
    }

    /// Evaluates a function that does not evaluate all its arguments.
    fn special(
        &self,
        name: &str,
        arguments: &'a [Formula],
        context: &Context<'a>,
    ) -> Option<Answer> {
        let value = |at: usize| match arguments.get(at) {
            Some(own) => self.value(own, context),
            None => Err(Missing::mistake(format!("too few values for {name}()"))),
        };
        let choose = || match value(0)?.truth()? {
            Truth::Yes => value(1),
            _ => value(2),
        };
        Some(match name {
            "choose" => choose(),
            "default" => match value(0) {
                Err(Missing::Because(_)) => value(1),
                other => other,
            },
            "exists" => match value(0) {
                Ok(_) => Ok(Value::Truth(Truth::Yes)),
                Err(Missing::Because(_)) => Ok(Value::Truth(Truth::No)),
                other => other,
            },
            "missing" => value(0).and_then(|why| Err(Missing::because(why.words()))),
            _ => return None,
        })
    }

    fn defined(
        &self,
        own: &'a Definition,
        is_of_claim: bool,
        arguments: &'a [Formula],
        context: &Context<'a>,
    ) -> Answer {
        let body = match &own.body {
            Body::Constant(value) => return Ok(value.clone()),
            Body::Formula(body) => body,
        };
        let mut inner = Context {
            locals: None,
            sees_claim: is_of_claim,
            seed: context.seed,
        };
        let mut key = Some(format!("{is_of_claim} {} {:?}", own.name, context.seed));
        for (name, argument) in own.parameters.iter().zip(arguments) {
            let bound = match self.varies(argument, context) {
                true => Bound::Later(argument, context.clone()),
                false => Bound::Now(self.value(argument, context)),
            };
            match (&mut key, &bound) {
                (Some(key), Bound::Now(Ok(value))) => key.push_str(&format!(" {value:?}")),
                _ => key = None,
            }
            inner = inner.with(name, bound);
        }
        let Some(key) = key else {
            return self.value(body, &inner);
        };
        if let Some(answer) = self.answers.borrow().get(&key) {
            return answer.clone();
        }
        let answer = self.value(body, &inner);
        self.answers.borrow_mut().insert(key, answer.clone());
        answer
    }

    /// Evaluates arguments once for each seed.
    fn over_seeds(
        &self,
        arguments: &'a [Formula],
        context: &Context<'a>,
    ) -> Result<Vec<Vec<Value>>, Missing> {
        let row = |context: &Context<'a>| -> Result<Vec<Value>, Missing> {
            let values = arguments.iter().map(|own| self.value(own, context));
            values.collect()
        };
        if !arguments.iter().any(|own| self.varies(own, context)) {
            return Ok(vec![row(context)?]);
        }
        // What is not evaluated has no end of seeds: `choose(yes, 1, result(...))`.
        let most = self.series.values().map(|own| own.outcomes.len()).max();
        let mut rows = vec![];
        while rows.len() < most.unwrap_or(0).max(1) {
            match row(&context.at_seed(rows.len())) {
                Ok(row) => rows.push(row),
                Err(Missing::NoSeed) if !rows.is_empty() => break,
                Err(missing) => return Err(missing),
            }
        }
        let fewest = self
            .fewest
            .get()
            .map_or(rows.len(), |own| own.min(rows.len()));
        self.fewest.set(Some(fewest));
        Ok(rows)
    }
}
