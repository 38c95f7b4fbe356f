//! Reads lists of messages from files.
//!
//! ```text
//! time,source,destination,bytes,sl
//! 1.5 us,0,7,2 KiB,1
//! 1.5 us,3,7,64,0
//! ```
//!
//! The header line names the columns, in any order. `time` has times with their unit; `time_ns` has
//! plain nanoseconds instead. `bytes` is a plain number or an amount with its unit. `sl` is
//! optional, as a column or in a line; the default is the service level of the class. Lines that
//! begin with `#` are skipped.

use std::collections::BTreeMap;

use netloom_catalog::nearest;
use netloom_packet::{Arrival, Cursor, Source};
use netloom_units::{Bytes, NicId, Sl, Time};

use crate::class::LARGEST_SL;

const COLUMNS: [&str; 6] = ["time", "time_ns", "source", "destination", "bytes", "sl"];

/// An error in a list of messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// The line, counted from 1.
    pub line: u64,
    pub message: String,
}

/// A list of messages, ready for the run.
#[derive(Clone, Debug)]
pub struct FlowList {
    /// The messages of NIC `i` are at `starts[i]` to `starts[i + 1]`, in order of time.
    starts: Vec<u32>,
    arrivals: Vec<Arrival>,
}

/// Returns the line of a record. The reader gives the position where it began to search, before the
/// blank lines and comments that it skips.
pub(crate) fn line_of(text: &str, began: &csv::Position) -> u64 {
    let rest = text.get(began.byte() as usize..).unwrap_or_default();
    let is_skipped = |line: &&str| line.is_empty() || line.starts_with('#');
    began.line() + rest.lines().take_while(is_skipped).count() as u64
}

impl FlowList {
    /// Reads a list for a fabric of `n_nics`, or returns every error in it.
    pub fn parse(
        text: &str,
        n_nics: u32,
        cycles: &dyn Fn(Time) -> u64,
    ) -> Result<FlowList, Vec<Mistake>> {
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .trim(csv::Trim::All)
            .comment(Some(b'#'))
            .from_reader(text.as_bytes());
        let whole_file = |message: String| vec![Mistake { line: 1, message }];
        let header = reader
            .headers()
            .map_err(|error| whole_file(error.to_string()))?;
        let columns = Columns::find(header)?;

        let (mut flows, mut mistakes) = (vec![], vec![]);
        for record in reader.records() {
            // The text is valid UTF-8 and lines may have any length, so no other error is possible.
            let record = record.map_err(|error| whole_file(error.to_string()))?;
            match columns.read(&record, n_nics) {
                Ok(flow) => flows.push(flow),
                Err(messages) => {
                    let line = record.position().map_or(0, |at| line_of(text, at));
                    mistakes.extend(
                        messages
                            .into_iter()
                            .map(|message| Mistake { line, message }),
                    );
                }
            }
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        if u32::try_from(flows.len()).is_err() {
            return Err(whole_file(format!("{} messages are too many", flows.len())));
        }

        let arrivals = flows
            .into_iter()
            .map(|flow| (flow.source, flow.arrival(cycles)))
            .collect();
        Ok(FlowList::new(arrivals, n_nics))
    }

    /// Returns the list of these messages, fewer than 2^32, in a fabric of `n_nics`. Messages of
    /// one source and instant keep their order.
    pub fn new(mut arrivals: Vec<(NicId, Arrival)>, n_nics: u32) -> FlowList {
        arrivals.sort_by_key(|(source, arrival)| (*source, arrival.cycle));
        let starts = (0..=n_nics)
            .map(|nic| arrivals.partition_point(|(source, _)| source.0 < nic) as u32)
            .collect();
        FlowList {
            starts,
            arrivals: arrivals.into_iter().map(|(_, arrival)| arrival).collect(),
        }
    }

    /// Returns the bytes of the largest message of each service level; messages without one have
    /// level `own`.
    pub fn largest(&self, own: Sl) -> BTreeMap<Sl, u32> {
        let mut largest = BTreeMap::new();
        for arrival in &self.arrivals {
            let of_level = largest.entry(arrival.sl.map_or(own, Sl)).or_insert(0);
            *of_level = arrival.bytes.max(*of_level);
        }
        largest
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.arrivals.len()
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.arrivals.is_empty()
    }
}

impl Source for FlowList {
    fn next(&self, nic: NicId, cursor: &mut Cursor) -> Option<Arrival> {
        let (start, end) = (self.starts[nic.index()], self.starts[nic.index() + 1]);
        let arrival = self.arrivals[start as usize..end as usize].get(cursor.number as usize)?;
        cursor.number += 1;
        Some(*arrival)
    }

    fn messages(&self) -> Option<u64> {
        Some(self.arrivals.len() as u64)
    }
}

/// One line.
struct Flow {
    time: Time,
    source: NicId,
    destination: NicId,
    bytes: u32,
    sl: Option<u8>,
}

impl Flow {
    fn arrival(&self, cycles: &dyn Fn(Time) -> u64) -> Arrival {
        Arrival {
            cycle: cycles(self.time),
            destination: self.destination,
            bytes: self.bytes,
            sl: self.sl,
            flow: 0,
        }
    }
}

/// The positions of the columns.
struct Columns {
    n: usize,
    time: usize,
    /// Whether times are plain nanoseconds.
    is_nanos: bool,
    source: usize,
    destination: usize,
    bytes: usize,
    sl: Option<usize>,
}

impl Columns {
    fn find(header: &csv::StringRecord) -> Result<Columns, Vec<Mistake>> {
        let names: Vec<String> = header.iter().map(str::to_lowercase).collect();
        let mut messages = vec![];
        for (at, name) in names.iter().enumerate() {
            if !COLUMNS.contains(&name.as_str()) {
                let help = match nearest(name, COLUMNS) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("columns are {}", COLUMNS.join(", ")),
                };
                messages.push(format!("unknown column `{name}`; {help}"));
            } else if names[..at].contains(name) {
                messages.push(format!("column `{name}` occurs twice"));
            }
        }
        let at = |name: &str| names.iter().position(|n| n == name);
        let mut required = |name: &str| {
            let found = at(name);
            if found.is_none() {
                messages.push(format!("column `{name}` is missing"));
            }
            found.unwrap_or_default()
        };
        let (source, destination) = (required("source"), required("destination"));
        let bytes = required("bytes");
        let (time, is_nanos) = match (at("time"), at("time_ns")) {
            (Some(at), None) => (at, false),
            (None, Some(at)) => (at, true),
            (None, None) => {
                messages.push("column `time` (or `time_ns`) is missing".to_owned());
                (0, false)
            }
            (Some(at), Some(_)) => {
                messages.push("the columns `time` and `time_ns` are both present".to_owned());
                (at, false)
            }
        };
        if !messages.is_empty() {
            let mistake = |message| Mistake { line: 1, message };
            return Err(messages.into_iter().map(mistake).collect());
        }
        Ok(Columns {
            n: names.len(),
            time,
            is_nanos,
            source,
            destination,
            bytes,
            sl: at("sl"),
        })
    }

    /// Reads one line as a message, or returns every error in it.
    fn read(&self, record: &csv::StringRecord, n_nics: u32) -> Result<Flow, Vec<String>> {
        if record.len() != self.n {
            return Err(vec![format!(
                "expected {1} fields as in the header, found {0}",
                record.len(),
                self.n
            )]);
        }
        let mut wrong = vec![];
        let time = note(&mut wrong, self.time_of(&record[self.time]));
        let source = note(&mut wrong, nic("source", &record[self.source], n_nics));
        let destination = note(
            &mut wrong,
            nic("destination", &record[self.destination], n_nics),
        );
        let bytes = note(&mut wrong, bytes_of(&record[self.bytes]));
        let sl_text = self.sl.map_or("", |at| &record[at]);
        let sl = note(&mut wrong, sl_of(sl_text));
        if let (Some(source), Some(destination)) = (source, destination)
            && source == destination
        {
            wrong.push(format!("{source} sends to itself"));
        }
        match (time, source, destination, bytes, sl) {
            (Some(time), Some(source), Some(destination), Some(bytes), Some(sl))
                if wrong.is_empty() =>
            {
                Ok(Flow {
                    time,
                    source,
                    destination,
                    bytes,
                    sl,
                })
            }
            _ => Err(wrong),
        }
    }

    fn time_of(&self, text: &str) -> Result<Time, String> {
        let time = match self.is_nanos {
            true => format!("{text} ns").parse::<Time>(),
            false => text.parse(),
        };
        time.map_err(|error| error.to_string())
    }
}

/// Returns the value, or notes the error.
fn note<T>(wrong: &mut Vec<String>, read: Result<T, String>) -> Option<T> {
    read.map_err(|message| wrong.push(message)).ok()
}

fn nic(column: &str, text: &str, n_nics: u32) -> Result<NicId, String> {
    match text.parse::<u32>() {
        Ok(id) if id < n_nics => Ok(NicId(id)),
        Ok(id) => Err(format!(
            "{column} {id} does not exist: the fabric has {n_nics} NICs, counted from 0"
        )),
        Err(_) => Err(format!("{column} `{text}` is not a NIC number")),
    }
}

pub(crate) fn bytes_of(text: &str) -> Result<u32, String> {
    let bytes = match text.parse::<u64>() {
        Ok(plain) => plain,
        Err(_) => text.parse::<Bytes>().map_err(|error| error.to_string())?.0,
    };
    match u32::try_from(bytes) {
        Ok(0) => Err("the message is empty".to_owned()),
        Ok(bytes) => Ok(bytes),
        Err(_) => Err(format!(
            "a message of {} is too large; a message is smaller than 4 GiB",
            Bytes(bytes)
        )),
    }
}

fn sl_of(text: &str) -> Result<Option<u8>, String> {
    match text.parse::<u8>() {
        _ if text.is_empty() => Ok(None),
        Ok(sl) if sl <= LARGEST_SL => Ok(Some(sl)),
        _ => Err(format!(
            "`{text}` is not a service level; use 0 to {LARGEST_SL}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<FlowList, Vec<String>> {
        let cycles = |time: Time| time.as_nanos() as u64;
        FlowList::parse(text, 8, &cycles).map_err(|mistakes| {
            // The crate `netloom_units` defines how a time is written.
            let line = |m: Mistake| {
                let message = m.message.split("; use a value such as").next();
                format!("{}: {}", m.line, message.unwrap_or_default())
            };
            mistakes.into_iter().map(line).collect()
        })
    }

    fn messages(list: &FlowList, nic: u32) -> Vec<(u64, u32, u32, Option<u8>)> {
        let mut cursor = Cursor::default();
        std::iter::from_fn(|| list.next(NicId(nic), &mut cursor))
            .map(|a| (a.cycle, a.destination.0, a.bytes, a.sl))
            .collect()
    }

    #[test]
    fn messages_are_sorted_per_source() {
        let list = parse(
            "time,source,destination,bytes,sl\n\
             2 us,0,7,2 KiB,1\n\
             # a remark\n\
             1.5 us,0,6,64,\n\
             \"1.5 us\", 3, 7, 64, 0\n",
        );
        let list = list.unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
        assert_eq!(
            messages(&list, 0),
            [(1500, 6, 64, None), (2000, 7, 2048, Some(1))]
        );
        assert_eq!(messages(&list, 3), [(1500, 7, 64, Some(0))]);
        assert_eq!(messages(&list, 7), []);
        assert_eq!(list.len(), 3);
        let largest: Vec<(Sl, u32)> = list.largest(Sl(9)).into_iter().collect();
        assert_eq!(largest, [(Sl(0), 64), (Sl(1), 2048), (Sl(9), 64)]);
    }

    #[test]
    fn columns_come_in_any_order_and_times_may_be_plain() {
        let list = parse("Bytes,Time_ns,destination,source\n100,1.5,1,0\n").unwrap();
        assert_eq!(messages(&list, 0), [(1, 1, 100, None)]);
    }

    #[test]
    fn lines_are_counted_with_remarks_and_blank_ones() {
        let text = "# a list\n\ntime,source,destination,bytes\n\n# first\n1 us,0,0,64\n# last\n\n\
            1 us,9,1,64\n";
        let errors = parse(text).unwrap_err();
        let lines: Vec<&str> = errors
            .iter()
            .map(|m| m.split(':').next().unwrap())
            .collect();
        assert_eq!(lines, ["6", "9"], "{errors:?}");
    }

    #[test]
    fn all_mistakes_are_reported_at_once_with_their_lines() {
        let mistakes = parse(
            "time,source,destination,bytes,sl\n\
             1 us,0,0,64,0\n\
             soon,9,x,0,99\n\
             1 us,0,1,64,0\n\
             1,0,1,5 GiB,0\n\
             1 us,0,1\n",
        );
        assert_eq!(
            mistakes.unwrap_err(),
            [
                "2: nic 0 sends to itself",
                "3: expected a time, found `soon`, which does not start with a number",
                "3: source 9 does not exist: the fabric has 8 NICs, counted from 0",
                "3: destination `x` is not a NIC number",
                "3: the message is empty",
                "3: `99` is not a service level; use 0 to 31",
                "5: `1` has no unit",
                "5: a message of 5 GiB is too large; a message is smaller than 4 GiB",
                "6: expected 5 fields as in the header, found 3",
            ]
        );
    }

    #[test]
    fn a_wrong_header_is_reported_alone() {
        assert_eq!(
            parse("tme,src,destination,bytes\nx,y,z,w\n").unwrap_err(),
            [
                "1: unknown column `tme`; did you mean `time`?",
                "1: unknown column `src`; columns are time, time_ns, source, destination, bytes, \
                 sl",
                "1: column `source` is missing",
                "1: column `time` (or `time_ns`) is missing",
            ]
        );
        assert_eq!(parse("").unwrap_err().len(), 4);
        assert!(
            parse("time_ns,source,destination,bytes\n")
                .unwrap()
                .is_empty()
        );
    }

    proptest! {
        #[test]
        fn every_message_comes_back_once_in_order(
            flows in prop::collection::vec((0u64..50, 0u32..8, 1u32..8, 1u32..10_000, 0u8..32), 0..60)
        ) {
            let mut text = "source,destination,bytes,sl,time_ns\n".to_owned();
            let mut expected = vec![vec![]; 8];
            for &(time, source, step, bytes, sl) in &flows {
                let to = (source + step) % 8;
                text += &format!("{source},{to},{bytes},{sl},{time}\n");
                expected[source as usize].push((time, to, bytes, Some(sl)));
            }
            let list = parse(&text).map_err(|m| TestCaseError::fail(m.join("\n")))?;
            for (nic, mut expected) in (0..).zip(expected) {
                expected.sort_by_key(|message| message.0);
                prop_assert_eq!(messages(&list, nic), expected);
            }
        }
    }
}
