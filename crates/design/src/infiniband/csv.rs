//! Reads lists of connections for `netloom plan --admit`.
//!
//! ```text
//! source,destination,bandwidth,sl,deadline
//! 0,7,64 Mbps,,
//! storage,n3,1.5 MB/s,3,200 us
//! ```
//!
//! The header line names the columns, in any order. A NIC is given by its name or its number, and a
//! bandwidth has a unit. `sl` is optional, as a column or in a line; without it, the bandwidth
//! decides. `deadline`, a time with a unit, is also optional. Blank lines and lines that begin with
//! `#` are skipped. Each connection is on one line, so a quotation mark must be closed on the line
//! where it is opened.

use std::collections::HashMap;
use std::fmt;

use netloom_catalog::nearest;
use netloom_topology::Topology;
use netloom_units::{NicId, Rate, Sl, Time};

use super::admission::Connection;
use super::classes::{ConnectionClass, classify_by};
use super::slots::N_SLS;

const COLUMNS: [&str; 5] = ["source", "destination", "bandwidth", "sl", "deadline"];

/// A connection and its line, so that a refusal can name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Listed {
    /// The line, counted from 1.
    pub line: u32,
    pub connection: Connection,
}

/// An error in a list of connections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// The line, counted from 1.
    pub line: u32,
    /// What is wrong, and what would be accepted.
    pub message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for Mistake {}

/// Reads a list of connections of a fabric, or returns every error in it.
pub fn parse(text: &str, topology: &Topology) -> Result<Vec<Listed>, Vec<Mistake>> {
    parse_by(text, topology, &ConnectionClass::of_paper())
}

/// Reads a list with other classes, which map bandwidths to service levels.
pub fn parse_by(
    text: &str,
    topology: &Topology,
    classes: &[ConnectionClass],
) -> Result<Vec<Listed>, Vec<Mistake>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = (1..)
        .zip(text.lines())
        .map(|(line, text)| (line, text.trim()))
        .filter(|(_, text)| !text.is_empty() && !text.starts_with('#'));
    let all_of = |line, messages: Vec<String>| {
        let mistake = move |message| Mistake { line, message };
        messages.into_iter().map(mistake)
    };
    let Some((line, header)) = lines.next() else {
        let expected = COLUMNS.join(",");
        let message = format!("the file is empty; add the header {expected}");
        return Err(vec![Mistake { line: 1, message }]);
    };
    let columns = fields(header)
        .map_err(|message| vec![message])
        .and_then(|header| Columns::find(&header))
        .map_err(|messages| all_of(line, messages).collect::<Vec<_>>())?;

    let nics = Nics::of(topology);
    let (mut listed, mut mistakes) = (vec![], vec![]);
    for (line, text) in lines {
        let read = fields(text)
            .map_err(|message| vec![message])
            .and_then(|fields| columns.read(&fields, &nics, classes));
        match read {
            Ok(connection) => listed.push(Listed { line, connection }),
            Err(messages) => mistakes.extend(all_of(line, messages)),
        }
    }
    if mistakes.is_empty() {
        Ok(listed)
    } else {
        Err(mistakes)
    }
}

/// Splits a line into its fields.
fn fields(line: &str) -> Result<::csv::StringRecord, String> {
    // In a whole file, an open quotation mark would hide the lines below it and their errors.
    if !line.matches('"').count().is_multiple_of(2) {
        return Err("a quotation mark is not closed".into());
    }
    let mut reader = ::csv::ReaderBuilder::new()
        .has_headers(false)
        .trim(::csv::Trim::All)
        .buffer_capacity(line.len())
        .from_reader(line.as_bytes());
    let mut record = ::csv::StringRecord::new();
    reader
        .read_record(&mut record)
        .map_err(|error| error.to_string())?;
    // A field keeps its quotation marks if a blank precedes them; they are removed here.
    Ok(record.iter().map(unquoted).collect())
}

fn unquoted(field: &str) -> &str {
    let inner = field.strip_prefix('"').and_then(|f| f.strip_suffix('"'));
    inner.map_or(field, str::trim)
}

/// The positions of the columns.
struct Columns {
    n: usize,
    source: usize,
    destination: usize,
    bandwidth: usize,
    sl: Option<usize>,
    deadline: Option<usize>,
}

impl Columns {
    fn find(header: &::csv::StringRecord) -> Result<Columns, Vec<String>> {
        let names: Vec<String> = header.iter().map(str::to_lowercase).collect();
        let mut wrong = vec![];
        for (at, name) in names.iter().enumerate() {
            if !COLUMNS.contains(&name.as_str()) {
                let help = match nearest(name, COLUMNS) {
                    Some(near) if !name.is_empty() => format!("did you mean `{near}`?"),
                    _ => format!("columns are {}", COLUMNS.join(", ")),
                };
                wrong.push(format!("unknown column `{name}`; {help}"));
            } else if names[..at].contains(name) {
                wrong.push(format!("column `{name}` occurs twice"));
            }
        }
        let at = |name: &str| names.iter().position(|n| n == name);
        let mut required = |name: &str| {
            let found = at(name);
            if found.is_none() {
                wrong.push(format!("column `{name}` is missing"));
            }
            found.unwrap_or_default()
        };
        let columns = Columns {
            n: names.len(),
            source: required("source"),
            destination: required("destination"),
            bandwidth: required("bandwidth"),
            sl: at("sl"),
            deadline: at("deadline"),
        };
        if wrong.is_empty() {
            Ok(columns)
        } else {
            Err(wrong)
        }
    }

    /// Reads one line as a connection, or returns every error in it.
    fn read(
        &self,
        fields: &::csv::StringRecord,
        nics: &Nics<'_>,
        classes: &[ConnectionClass],
    ) -> Result<Connection, Vec<String>> {
        if fields.len() != self.n {
            let (found, n) = (fields.len(), self.n);
            return Err(vec![format!(
                "expected {n} fields as in the header, found {found}"
            )]);
        }
        let mut wrong = vec![];
        let source = note(&mut wrong, nics.find("source", &fields[self.source]));
        let destination = note(
            &mut wrong,
            nics.find("destination", &fields[self.destination]),
        );
        let bandwidth = note(&mut wrong, bandwidth_of(&fields[self.bandwidth]));
        let optional = |at: Option<usize>| at.map_or("", |at| &fields[at]);
        let sl = note(&mut wrong, sl_of(optional(self.sl)));
        let deadline = note(&mut wrong, deadline_of(optional(self.deadline)));
        if let (Some(source), Some(destination)) = (source, destination)
            && source == destination
        {
            wrong.push(format!("{source} connects to itself"));
        }
        match (source, destination, bandwidth, sl, deadline) {
            (Some(source), Some(destination), Some(bandwidth), Some(sl), Some(deadline))
                if wrong.is_empty() =>
            {
                Ok(Connection {
                    source,
                    destination,
                    bandwidth,
                    sl: sl.unwrap_or_else(|| classify_by(classes, bandwidth)),
                    deadline,
                })
            }
            _ => Err(wrong),
        }
    }
}

/// Returns the value, or notes the error.
fn note<T>(wrong: &mut Vec<String>, value: Result<T, String>) -> Option<T> {
    value.map_err(|message| wrong.push(message)).ok()
}

fn bandwidth_of(text: &str) -> Result<Rate, String> {
    text.parse().map_err(|error| format!("bandwidth: {error}"))
}

fn deadline_of(text: &str) -> Result<Option<Time>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse::<Time>() {
        Ok(time) if time.is_zero() => {
            Err("deadline: a deadline must be above zero; use a longer time, or nothing".into())
        }
        Ok(time) => Ok(Some(time)),
        Err(error) => Err(format!("deadline: {error}")),
    }
}

fn sl_of(text: &str) -> Result<Option<Sl>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse() {
        Ok(sl) if sl < N_SLS => Ok(Some(Sl(sl))),
        _ => Err(format!(
            "sl: `{text}` is not a service level of connections; use 0 to {}, or nothing",
            N_SLS - 1
        )),
    }
}

/// With more names than this, finding the nearest name for every error would take too long.
const MANY_NAMES: usize = 4096;

/// The NICs of a fabric by name.
struct Nics<'a> {
    topology: &'a Topology,
    by_name: HashMap<String, NicId>,
}

impl Nics<'_> {
    fn of(topology: &Topology) -> Nics<'_> {
        let by_name = |nic| (topology.nic_name(nic), nic);
        Nics {
            topology,
            by_name: topology.nics().map(by_name).collect(),
        }
    }

    /// Returns the NIC with this name, otherwise the one with this number.
    fn find(&self, column: &str, text: &str) -> Result<NicId, String> {
        if let Some(&nic) = self.by_name.get(text) {
            return Ok(nic);
        }
        let last = self.topology.n_nics().saturating_sub(1);
        match text.parse::<u32>() {
            Ok(number) if number <= last => Ok(NicId(number)),
            Ok(number) => Err(format!(
                "{column}: there is no NIC {number}; use 0 to {last}"
            )),
            Err(_) => {
                let is_worth_it = !text.is_empty() && self.by_name.len() <= MANY_NAMES;
                let names = self.by_name.keys().map(String::as_str);
                let near = is_worth_it.then(|| nearest(text, names)).flatten();
                let help = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("use a name or a number from 0 to {last}"),
                };
                Err(format!("{column}: unknown NIC `{text}`; {help}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use netloom_topology::{Blueprint, SingleSwitch, graph};

    use super::*;

    fn fabric() -> Topology {
        graph::parse("nic alpha s\nnic beta s\nnic gamma s\nnic delta s").unwrap()
    }

    fn mistakes(text: &str) -> Vec<String> {
        let mistakes = parse(text, &fabric()).unwrap_err();
        mistakes.iter().map(Mistake::to_string).collect()
    }

    #[test]
    fn names_numbers_units_and_optional_levels() {
        let text = "# who talks to whom\n\nBandwidth, source, destination, sl\n\
                    64 Mbps, alpha, 3,\n\"1.5 MB/s\",gamma,beta,3\r\n8 Kb/s,0,1,0\n";
        let listed = parse(text, &fabric()).unwrap();
        let expected = [
            (4, 0, 3, 64_000_000, 2),
            (5, 2, 1, 12_000_000, 3),
            (6, 0, 1, 8_000, 0),
        ];
        let expected = expected.map(|(line, source, destination, bits, sl)| Listed {
            line,
            connection: Connection {
                source: NicId(source),
                destination: NicId(destination),
                bandwidth: Rate(bits),
                sl: Sl(sl),
                deadline: None,
            },
        });
        assert_eq!(listed, expected);
    }

    #[test]
    fn the_column_of_levels_may_be_missing() {
        let topology = SingleSwitch { ports: 2 }.build(1).unwrap();
        let text = "source,destination,bandwidth\nn0,n1,300 Mbps\n";
        let listed = parse(text, &topology).unwrap();
        let expected = Connection::new(NicId(0), NicId(1), Rate(300_000_000));
        assert_eq!(listed[0].connection, expected);
        assert_eq!(expected.sl, Sl(3));
    }

    #[test]
    fn deadlines_have_units_and_may_be_missing() {
        let text = "source,destination,bandwidth,deadline\n0,1,1 Mbps,1.5 us\n0,1,1 Mbps,\n";
        let listed = parse(text, &fabric()).unwrap();
        let deadlines: Vec<_> = listed.iter().map(|l| l.connection.deadline).collect();
        assert_eq!(deadlines, [Some(Time::from_nanos(1500)), None]);
        let text = "source,destination,bandwidth,deadline\n0,1,1 Mbps,0 ns\n0,1,1 Mbps,soon\n";
        let expected = [
            "line 2: deadline: a deadline must be above zero; use a longer time, or nothing",
            "line 3: deadline: expected a time, found `soon`, which does not start with a number; \
             use a value such as \"5.12 ns\", \"1 us\" or \"2 ms\"",
        ];
        assert_eq!(mistakes(text), expected);
    }

    #[test]
    fn quoting_is_that_of_spreadsheets() {
        let record = fields("\"a,b\", \"c\" ,\"d\"\"e\"").unwrap();
        assert_eq!(record.iter().collect::<Vec<_>>(), ["a,b", "c", "d\"e"]);
    }

    #[test]
    fn all_mistakes_at_once_with_their_lines() {
        let text = "source,destination,bandwidth,sl\n\
                    alpha,alhpa,64 Mbps,\n\
                    0,0,64,4\n\
                    # fine: 0,1,1 Mbps,\n\
                    0,4,0 Mbps,\n\
                    0,1\n\
                    0,\"1,1 Mbps,\n\
                    ,beta,1 Mbps,two\n";
        let expected = [
            "line 2: destination: unknown NIC `alhpa`; did you mean `alpha`?",
            "line 3: bandwidth: `64` has no unit; use a value such as \"100 Gbps\", \"12.5 GB/s\" \
             or \"NDR x4\"",
            "line 3: sl: `4` is not a service level of connections; use 0 to 3, or nothing",
            "line 3: nic 0 connects to itself",
            "line 5: destination: there is no NIC 4; use 0 to 3",
            "line 5: bandwidth: expected a whole number of bits per second above zero, found `0 \
             Mbps`; \
             use a value such as \"100 Gbps\", \"12.5 GB/s\" or \"NDR x4\"",
            "line 6: expected 4 fields as in the header, found 2",
            "line 7: a quotation mark is not closed",
            "line 8: source: unknown NIC ``; use a name or a number from 0 to 3",
            "line 8: sl: `two` is not a service level of connections; use 0 to 3, or nothing",
        ];
        assert_eq!(mistakes(text), expected);
    }

    #[test]
    fn headers_are_checked_first() {
        assert_eq!(
            mistakes("# x\nsource,source,bandwith\n0,9,9\n"),
            [
                "line 2: column `source` occurs twice",
                "line 2: unknown column `bandwith`; did you mean `bandwidth`?",
                "line 2: column `destination` is missing",
                "line 2: column `bandwidth` is missing",
            ]
        );
        assert_eq!(
            mistakes("\n# nothing\n"),
            ["line 1: the file is empty; add the header source,destination,bandwidth,sl,deadline"]
        );
    }
}
