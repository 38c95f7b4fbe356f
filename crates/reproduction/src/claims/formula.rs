//! Formulas: their syntax, and their reading from text.
//!
//! ```text
//!  formula   = or ; or = and {"or" and} ; and = not {"and" not} ; not = ["not"] compare
//!  compare   = sum {("<" | "<=" | ">" | ">=" | "==" | "!=" | "in") sum}
//!  sum       = product {("+" | "-") product} ; product = unary {("*" | "/") unary}
//!  unary     = ["-"] postfix ; postfix = primary {"[" formula "]"}
//!  primary   = number | text | "yes" | "unsure" | "no" | name | name "(" arguments ")"
//!            | "(" formula ")" | "[" list "]" | "{" formula ":" formula, … "}"
//!  list      = formula, … | formula {for}
//!  for       = "for" name, … "in" compare, … ["if" formula]
//!  text      = '"' template '"' ; a template holds formulas in braces: {formula} or {formula:+.2}
//! ```

use super::value::Format;
use crate::Truth;

/// A formula, with its position in its text in bytes.
#[derive(Clone, Debug)]
pub(super) struct Formula {
    pub(super) at: usize,
    pub(super) node: Node,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Number(f64),
    Text(Template),
    Truth(Truth),
    Name(String),
    Call {
        name: String,
        arguments: Vec<Formula>,
        named: Vec<(String, Formula)>,
    },
    At(Box<Formula>, Box<Formula>),
    Negative(Box<Formula>),
    Not(Box<Formula>),
    Both(Sign, Box<Formula>, Box<Formula>),
    Compare(Box<Formula>, Vec<(Order, Formula)>),
    List(Vec<Formula>),
    Map(Vec<(Formula, Formula)>),
    Each(Box<Formula>, Vec<Loop>),
}

/// An operator of two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sign {
    Plus,
    Minus,
    Times,
    Over,
    And,
    Or,
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Unequal,
    In,
}

/// `for a, b in A, B if CONDITION`.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) names: Vec<String>,
    pub(super) lists: Vec<Formula>,
    pub(super) condition: Option<Formula>,
}

/// A text with formulas.
#[derive(Clone, Debug, Default)]
pub(super) struct Template {
    pub(super) pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
pub(super) enum Piece {
    Plain(String),
    Value(Formula, Format),
}

impl Template {
    /// Returns the text, if it has no formulas.
    pub(super) fn plain(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Plain(text)] => Some(text),
            _ => None,
        }
    }
}

/// A mistake, and its position in the text of the formula in bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Mistake {
    pub(super) at: usize,
    pub(super) message: String,
}

/// Reads a formula.
pub(super) fn formula(text: &str) -> Result<Formula, Mistake> {
    let mut reader = Reader::new(text);
    let formula = reader.formula()?;
    reader.end()?;
    Ok(formula)
}

/// Reads a formula that may end in loops.
pub(super) fn looped(text: &str) -> Result<(Formula, Vec<Loop>), Mistake> {
    let mut reader = Reader::new(text);
    let formula = reader.formula()?;
    let loops = reader.loops()?;
    reader.end()?;
    Ok((formula, loops))
}

/// Reads loops, of which the first has no `for`.
pub(super) fn loops(text: &str) -> Result<Vec<Loop>, Mistake> {
    let mut reader = Reader::new(text);
    let mut loops = vec![reader.one_loop()?];
    loops.extend(reader.loops()?);
    reader.end()?;
    Ok(loops)
}

/// Reads a text with formulas in braces.
pub(super) fn template(text: &str) -> Result<Template, Mistake> {
    Reader::new(text).template(None)
}

/// Reads the name of a definition, with its parameters.
pub(super) fn signature(text: &str) -> Result<(String, Vec<String>), Mistake> {
    let mut reader = Reader::new(text);
    let name = reader.name()?;
    let mut parameters = vec![];
    if reader.takes("(") {
        parameters.push(reader.name()?);
        while reader.takes(",") {
            parameters.push(reader.name()?);
        }
        reader.expect(")")?;
    }
    reader.end()?;
    Ok((name, parameters))
}

const WORDS: [&str; 9] = ["for", "in", "if", "and", "or", "not", "yes", "no", "unsure"];

/// Maximum of levels of a formula, and of operators: both bound the stack that it takes.
const MOST_LEVELS: usize = 50;
const MOST_OPERATORS: usize = 200;

/// Maximum of decimals in a text: a number has no more digits.
pub(super) const MOST_DECIMALS: usize = 17;

struct Reader<'a> {
    text: &'a str,
    at: usize,
    level: usize,
    n_operators: usize,
}

impl Reader<'_> {
    fn new(text: &str) -> Reader<'_> {
        Reader {
            text,
            at: 0,
            level: 0,
            n_operators: 0,
        }
    }

    /// Reads a part that is one level deeper.
    fn nested(
        &mut self,
        part: impl FnOnce(&mut Self) -> Result<Formula, Mistake>,
    ) -> Result<Formula, Mistake> {
        if self.level == MOST_LEVELS {
            return Err(self.too_many(MOST_LEVELS, "levels"));
        }
        self.level += 1;
        let formula = part(self);
        self.level -= 1;
        formula
    }

    /// Counts an operator.
    fn operator(&mut self) -> Result<(), Mistake> {
        self.n_operators += 1;
        match self.n_operators > MOST_OPERATORS {
            true => Err(self.too_many(MOST_OPERATORS, "operators")),
            false => Ok(()),
        }
    }

    fn too_many(&self, most: usize, what: &str) -> Mistake {
        Mistake {
            at: self.at,
            message: format!("expected at most {most} {what} in a formula, found more"),
        }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Returns the mistake that something else was expected here.
    fn wrong(&mut self, expected: &str) -> Mistake {
        self.skip();
        let letters = |c: &char| c.is_alphanumeric() || *c == '_';
        let mut rest = self.rest().chars();
        let found = match rest.next() {
            None => "the end".to_owned(),
            Some(first) if letters(&first) => {
                let word: String = rest.take_while(letters).collect();
                format!("`{first}{word}`")
            }
            Some(other) => format!("`{other}`"),
        };
        Mistake {
            at: self.at,
            message: format!("expected {expected}, found {found}"),
        }
    }

    /// Consumes a sign or a word.
    fn takes(&mut self, what: &str) -> bool {
        self.skip();
        let Some(after) = self.rest().strip_prefix(what) else {
            return false;
        };
        let is_word = what.ends_with(|c: char| c.is_alphabetic());
        let goes_on = after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        if is_word && goes_on {
            return false;
        }
        self.at += what.len();
        true
    }

    fn expect(&mut self, what: &str) -> Result<(), Mistake> {
        match self.takes(what) {
            true => Ok(()),
            false => Err(self.wrong(&format!("`{what}`"))),
        }
    }

    fn end(&mut self) -> Result<(), Mistake> {
        self.skip();
        match self.rest().is_empty() {
            true => Ok(()),
            false => Err(self.wrong("an operator or the end")),
        }
    }

    fn formula(&mut self) -> Result<Formula, Mistake> {
        self.nested(|own| {
            own.chain(&[("or", Sign::Or)], |own| {
                own.chain(&[("and", Sign::And)], Reader::not)
            })
        })
    }

    fn sum(&mut self) -> Result<Formula, Mistake> {
        self.chain(&[("+", Sign::Plus), ("-", Sign::Minus)], |own| {
            own.chain(&[("*", Sign::Times), ("/", Sign::Over)], Reader::unary)
        })
    }

    /// Reads operands that signs of equal strength join, from the left.
    fn chain(
        &mut self,
        signs: &[(&str, Sign)],
        mut operand: impl FnMut(&mut Self) -> Result<Formula, Mistake>,
    ) -> Result<Formula, Mistake> {
        let mut left = operand(self)?;
        loop {
            self.skip();
            let at = self.at;
            let Some(&(_, sign)) = signs.iter().find(|(text, _)| self.takes(text)) else {
                return Ok(left);
            };
            self.operator()?;
            let right = operand(self)?;
            let node = Node::Both(sign, Box::new(left), Box::new(right));
            left = Formula { at, node };
        }
    }

    fn not(&mut self) -> Result<Formula, Mistake> {
        self.skip();
        let at = self.at;
        if self.takes("not") {
            let node = Node::Not(Box::new(self.nested(Reader::not)?));
            return Ok(Formula { at, node });
        }
        self.compare()
    }

    fn compare(&mut self) -> Result<Formula, Mistake> {
        const ORDERS: [(&str, Order); 7] = [
            ("<=", Order::AtMost),
            ("<", Order::Less),
            (">=", Order::AtLeast),
            (">", Order::More),
            ("==", Order::Equal),
            ("!=", Order::Unequal),
            ("in", Order::In),
        ];
        let first = self.sum()?;
        let at = first.at;
        let mut others = vec![];
        while let Some((_, order)) = ORDERS.iter().find(|(text, _)| self.takes(text)) {
            others.push((*order, self.sum()?));
        }
        if others.is_empty() {
            return Ok(first);
        }
        let node = Node::Compare(Box::new(first), others);
        Ok(Formula { at, node })
    }

    fn unary(&mut self) -> Result<Formula, Mistake> {
        self.skip();
        let at = self.at;
        if self.takes("-") {
            let node = Node::Negative(Box::new(self.nested(Reader::unary)?));
            return Ok(Formula { at, node });
        }
        let mut own = self.primary()?;
        while self.takes("[") {
            self.operator()?;
            let key = self.formula()?;
            self.expect("]")?;
            let node = Node::At(Box::new(own), Box::new(key));
            own = Formula { at, node };
        }
        Ok(own)
    }

    fn primary(&mut self) -> Result<Formula, Mistake> {
        self.skip();
        let at = self.at;
        let first = self.rest().chars().next();
        let node = match first {
            Some('0'..='9' | '.') => Node::Number(self.number()?),
            Some('"') => {
                self.at += 1;
                Node::Text(self.template(Some('"'))?)
            }
            Some('(') => {
                self.at += 1;
                let inner = self.formula()?;
                self.expect(")")?;
                inner.node
            }
            Some('[') => {
                self.at += 1;
                self.list()?
            }
            Some('{') => {
                self.at += 1;
                self.map()?
            }
            Some(c) if c.is_alphabetic() || c == '_' => self.word()?,
            _ => return Err(self.wrong("a value")),
        };
        Ok(Formula { at, node })
    }

    fn number(&mut self) -> Result<f64, Mistake> {
        let mut before = ' ';
        let goes_on = |c: char| {
            let is_sign = matches!(c, '+' | '-') && before == 'e';
            before = c;
            c.is_ascii_digit() || matches!(c, '.' | '_' | 'e') || is_sign
        };
        let rest = self.rest();
        let length = rest.len() - rest.trim_start_matches(goes_on).len();
        let digits = rest[..length].replace('_', "");
        let number = digits.parse().map_err(|_| self.wrong("a number"))?;
        self.at += length;
        Ok(number)
    }

    fn name(&mut self) -> Result<String, Mistake> {
        self.skip();
        let rest = self.rest();
        let letters = |c: char| c.is_alphanumeric() || c == '_';
        let name = &rest[..rest.len() - rest.trim_start_matches(letters).len()];
        let is_name = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
        if !is_name || WORDS.contains(&name) {
            return Err(self.wrong("a name"));
        }
        let name = name.to_owned();
        self.at += name.len();
        Ok(name)
    }

    fn word(&mut self) -> Result<Node, Mistake> {
        for (word, truth) in [
            ("yes", Truth::Yes),
            ("unsure", Truth::Unsure),
            ("no", Truth::No),
        ] {
            if self.takes(word) {
                return Ok(Node::Truth(truth));
            }
        }
        let name = self.name()?;
        if !self.takes("(") {
            return Ok(Node::Name(name));
        }
        let (mut arguments, mut named) = (vec![], vec![]);
        while !self.takes(")") {
            if !arguments.is_empty() || !named.is_empty() {
                self.expect(",")?;
            }
            let before = self.at;
            let key = self.name().ok();
            let is_named = key.is_some() && self.takes("=") && !self.rest().starts_with('=');
            match key.filter(|_| is_named) {
                Some(key) => named.push((key, self.formula()?)),
                None => {
                    self.at = before;
                    arguments.push(self.formula()?);
                }
            }
        }
        Ok(Node::Call {
            name,
            arguments,
            named,
        })
    }

    fn list(&mut self) -> Result<Node, Mistake> {
        let mut list = vec![];
        while !self.takes("]") {
            if !list.is_empty() {
                self.expect(",")?;
                if self.takes("]") {
                    break;
                }
            }
            list.push(self.formula()?);
            let loops = self.loops()?;
            if !loops.is_empty() {
                let Some(element) = list.pop().filter(|_| list.is_empty()) else {
                    return Err(self.wrong("a list or a loop"));
                };
                self.expect("]")?;
                return Ok(Node::Each(Box::new(element), loops));
            }
        }
        Ok(Node::List(list))
    }

    fn map(&mut self) -> Result<Node, Mistake> {
        let mut map = vec![];
        while !self.takes("}") {
            if !map.is_empty() {
                self.expect(",")?;
            }
            let key = self.formula()?;
            self.expect(":")?;
            map.push((key, self.formula()?));
        }
        Ok(Node::Map(map))
    }

    fn loops(&mut self) -> Result<Vec<Loop>, Mistake> {
        let mut loops = vec![];
        while self.takes("for") {
            loops.push(self.one_loop()?);
        }
        Ok(loops)
    }

    fn one_loop(&mut self) -> Result<Loop, Mistake> {
        let mut names = vec![self.name()?];
        while self.takes(",") {
            names.push(self.name()?);
        }
        self.expect("in")?;
        let mut lists = vec![self.sum()?];
        while lists.len() < names.len() {
            self.expect(",")?;
            lists.push(self.sum()?);
        }
        let condition = match self.takes("if") {
            true => Some(self.formula()?),
            false => None,
        };
        Ok(Loop {
            names,
            lists,
            condition,
        })
    }

    /// Reads a text up to a character, or to the end.
    fn template(&mut self, end: Option<char>) -> Result<Template, Mistake> {
        let mut pieces = vec![];
        let mut plain = String::new();
        loop {
            let Some(next) = self.rest().chars().next() else {
                match end {
                    Some(end) => return Err(self.wrong(&format!("`{end}`"))),
                    None => break,
                }
            };
            let rest = &self.rest()[next.len_utf8()..];
            let is_double = rest.starts_with(next);
            match next {
                c if Some(c) == end => {
                    self.at += 1;
                    break;
                }
                '{' | '}' if is_double => {
                    plain.push(next);
                    self.at += 2;
                }
                '{' => {
                    self.at += 1;
                    if !plain.is_empty() {
                        pieces.push(Piece::Plain(std::mem::take(&mut plain)));
                    }
                    let value = self.formula()?;
                    let format = match self.takes(":") {
                        true => self.format()?,
                        false => Format::default(),
                    };
                    self.expect("}")?;
                    pieces.push(Piece::Value(value, format));
                }
                '}' => return Err(self.wrong("`}}` for a brace")),
                '\\' if rest.starts_with('\n') => {
                    self.at += 1;
                    self.skip();
                }
                _ => {
                    plain.push(next);
                    self.at += next.len_utf8();
                }
            }
        }
        if !plain.is_empty() {
            pieces.push(Piece::Plain(plain));
        }
        Ok(Template { pieces })
    }

    fn format(&mut self) -> Result<Format, Mistake> {
        let has_sign = self.takes("+");
        let decimals = match self.takes(".") {
            true => {
                let digits = self.rest();
                let after = digits.trim_start_matches(|c: char| c.is_ascii_digit());
                let length = digits.len() - after.len();
                let decimals = digits[..length].parse().ok();
                let Some(decimals) = decimals.filter(|own| *own <= MOST_DECIMALS) else {
                    return Err(self.wrong(&format!("at most {MOST_DECIMALS} decimals")));
                };
                self.at += length;
                Some(decimals)
            }
            false => None,
        };
        Ok(Format { decimals, has_sign })
    }
}
