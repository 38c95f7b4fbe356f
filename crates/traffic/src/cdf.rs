//! Sizes from a cumulative distribution: a table in a file, or one that is built in.
//!
//! ```text
//! bytes,probability
//! 2,0.0756
//! 4,0.1512
//! ```
//!
//! A line says which share of messages has at most so many bytes. Between two lines the logarithm of the
//! size grows evenly with the share; what lies below the first line has its size.

use std::path::Path;
use std::sync::Arc;

use netloom_catalog::file::{MOST_LIST, read_text};
use netloom_catalog::{Described, choice, nearest, params};
use netloom_packet::Segmentation;

use crate::Sizes;
use crate::flow_list::{Mistake, bytes_of, line_of};

choice! {
    /// A table of sizes that needs no file.
    pub enum Builtin {
        /// Remote procedure calls of a search service (spec 8.3).
        SearchRpc = "search-rpc",
    }
}

/// Bytes and the share of messages that have at most so many: Google_SearchRPC of the simulations of Homa
/// (Montazeri et al., SIGCOMM 2018), at a few points (spec 8.3).
const SEARCH_RPC: [(u32, f64); 14] = [
    (2, 0.0756),
    (4, 0.1512),
    (64, 0.3264),
    (128, 0.3417),
    (256, 0.4638),
    (512, 0.9104),
    (1024, 0.9581),
    (2048, 0.9810),
    (4096, 0.9953),
    (8192, 0.998_42),
    (65_536, 0.999_35),
    (131_072, 0.999_87),
    (262_144, 0.999_975),
    (3_529_904, 1.0),
];

params! {
    /// Sizes from a cumulative distribution, which a CSV file holds (columns `bytes` and `probability`) or
    /// which is built in. Between two lines of the table the logarithm of the size grows evenly.
    #[derive(Clone, Debug)]
    pub struct Cdf {
        /// A CSV file with the columns bytes and probability: which share of messages has at most so many bytes.
        pub file: Option<String> = None,
        /// A table that needs no file.
        pub builtin: Option<Builtin> = None,
        /// Every size is multiplied by this: fewer, larger messages at the same load.
        pub scale: u32 = 1,
    }
    check |it, section| {
        if it.file.is_some() == it.builtin.is_some() {
            let (place, message) = match it.file {
                Some(_) => (section.place_of("builtin"), "both `file` and `builtin`"),
                None => (section.place(), "neither `file` nor `builtin`"),
            };
            section.notes.error("E0604", place, message).help("write one of file = \"sizes.csv\" and builtin = \"search-rpc\"");
        }
        if it.scale == 0 {
            let place = section.place_of("scale");
            section.notes.error("E0603", place, "messages of no bytes").help("write at least scale = 1");
        } else if it.builtin.is_some() && u64::from(it.scale) * 3_529_904 > u64::from(u32::MAX) {
            let place = section.place_of("scale");
            section.notes.error("E0603", place, format!("{} times 3529904 bytes", it.scale)).help("a message is smaller than 4 GiB: write at most scale = 1216");
        }
    }
}

impl Described for Cdf {
    const NAME: &'static str = "cdf";
    const SUMMARY: &'static str =
        "Sizes from a cumulative distribution: a CSV file, or the built-in \"search-rpc\".";
    const PAPER: Option<&'static str> = Some(
        "Montazeri et al., Homa: a receiver-driven low-latency transport protocol using network priorities, \
         SIGCOMM 2018 (search-rpc)",
    );
    const EXAMPLE: &'static str = "builtin = \"search-rpc\"";
}

impl Cdf {
    /// The built-in table.
    ///
    /// # Panics
    /// If the sizes come from a file: [`Sizes::open`] reads it, and gives another law.
    fn table(&self) -> SizeTable {
        assert!(self.builtin.is_some(), "sizes of a file are opened first");
        SizeTable::new(&SEARCH_RPC, self.scale)
    }
}

impl Sizes for Cdf {
    fn mean_flits(&self, segmentation: &Segmentation) -> f64 {
        self.table().mean_flits(segmentation)
    }

    fn largest(&self) -> u32 {
        self.table().largest()
    }

    fn bytes(&self, word: u32) -> u32 {
        self.table().bytes(word)
    }

    fn open(&self, directory: &Path) -> Result<Option<Arc<dyn Sizes>>, Vec<String>> {
        let Some(file) = &self.file else {
            return Ok(Some(Arc::new(self.table())));
        };
        let text = read_text(&directory.join(file), MOST_LIST).map_err(|error| {
            let builtin = nearest(file, ["search-rpc"])
                .map(|near| format!("; the built-in table is builtin = \"{near}\""));
            vec![format!("{file}: {error}{}", builtin.unwrap_or_default())]
        })?;
        match parse(&text, self.scale) {
            Ok(table) => Ok(Some(Arc::new(table))),
            Err(mistakes) => Err(mistakes
                .into_iter()
                .map(|mistake| format!("{file}:{}: {}", mistake.line, mistake.message))
                .collect()),
        }
    }
}

/// Reads a table, or tells every mistake in it.
fn parse(text: &str, scale: u32) -> Result<SizeTable, Vec<Mistake>> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let whole_file = |message: String| vec![Mistake { line: 1, message }];
    let header = reader
        .headers()
        .map_err(|error| whole_file(error.to_string()))?;
    let names: Vec<String> = header.iter().map(str::to_lowercase).collect();
    let at = |name: &str| names.iter().position(|own| own == name);
    let (Some(bytes), Some(probability), 2) = (at("bytes"), at("probability"), names.len()) else {
        return Err(whole_file(format!(
            "columns `{}`; write a first line bytes,probability",
            names.join(",")
        )));
    };
    let mut points: Vec<(u32, f64)> = vec![];
    let mut mistakes = vec![];
    let mut last_line = 1;
    for record in reader.records() {
        let record = record.map_err(|error| whole_file(error.to_string()))?;
        let line = record.position().map_or(0, |at| line_of(text, at));
        last_line = line;
        let mut wrong = |message| mistakes.push(Mistake { line, message });
        if record.len() != 2 {
            wrong(format!("{} fields where the header has 2", record.len()));
            continue;
        }
        let size = bytes_of(&record[bytes]).and_then(|size| match size.checked_mul(scale) {
            Some(_) => Ok(size),
            None => Err(format!(
                "{scale} times {size} bytes; a message is smaller than 4 GiB"
            )),
        });
        let share = match record[probability].parse::<f64>() {
            Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
            _ => Err(format!(
                "`{}` is no probability; write a number from 0 to 1",
                &record[probability]
            )),
        };
        let (size, share) = match (size, share) {
            (Ok(size), Ok(share)) => (size, share),
            (size, share) => {
                size.err().into_iter().for_each(&mut wrong);
                share.err().into_iter().for_each(&mut wrong);
                continue;
            }
        };
        if let Some(&(before, share_before)) = points.last() {
            if size < before {
                wrong(format!(
                    "{size} bytes after {before}; write sizes in rising order"
                ));
            }
            if share < share_before {
                wrong(format!(
                    "probability {share} after {share_before}; it says how many messages have at most so \
                     many bytes, and never falls"
                ));
            }
        }
        points.push((size, share));
    }
    if mistakes.is_empty() && points.last().is_none_or(|&(_, share)| share != 1.0) {
        let message = match points.last() {
            Some((size, share)) => format!(
                "the table ends with probability {share} at {size} bytes; the largest size has 1"
            ),
            None => "no sizes; write lines like 64,0.5".to_owned(),
        };
        mistakes.push(Mistake {
            line: last_line,
            message,
        });
    }
    match mistakes.is_empty() {
        true => Ok(SizeTable::new(&points, scale)),
        false => Err(mistakes),
    }
}

/// How many random words there are.
const WORDS: u64 = 1 << 32;
/// Sizes that are looked up for a mean.
const MOST_STEPS: u64 = 1 << 22;

/// A table of sizes, ready for the run: the inverse of the cumulative distribution.
#[derive(Clone, Debug)]
pub struct SizeTable {
    points: Vec<Point>,
    scale: u32,
}

#[derive(Clone, Copy, Debug)]
struct Point {
    bytes: f64,
    /// Share of messages with at most so many bytes.
    share: f64,
    /// Logarithm of the size over that of the point before.
    rise: f64,
}

impl SizeTable {
    /// A table from rising pairs of bytes and share; the last share is 1.
    fn new(points: &[(u32, f64)], scale: u32) -> SizeTable {
        let mut before = points.first().map_or(1.0, |point| f64::from(point.0));
        let points = points
            .iter()
            .map(|&(bytes, share)| {
                let bytes = f64::from(bytes);
                let rise = libm::log(bytes / before);
                before = bytes;
                Point { bytes, share, rise }
            })
            .collect();
        SizeTable { points, scale }
    }

    /// The size before scaling.
    fn unscaled(&self, word: u32) -> u32 {
        // The middle of what the word stands for.
        let share = (f64::from(word) + 0.5) * (1.0 / WORDS as f64);
        let at = self.points.partition_point(|point| point.share < share);
        let point = self.points[at];
        if at == 0 {
            return point.bytes as u32;
        }
        let before = self.points[at - 1];
        let part = (share - before.share) / (point.share - before.share);
        let bytes = before.bytes * libm::exp(part * point.rise);
        (bytes.clamp(before.bytes, point.bytes) + 0.5) as u32
    }

    /// How many words give less than so many bytes; exact but for the rounding of logarithms.
    fn words_below(&self, bytes: u64) -> u64 {
        // Sizes are rounded before they are scaled.
        let bytes = bytes.div_ceil(u64::from(self.scale)) as f64 - 0.5;
        let at = self.points.partition_point(|point| point.bytes < bytes);
        let share = match (at, self.points.get(at)) {
            (0, _) => 0.0,
            (_, None) => 1.0,
            (_, Some(point)) => {
                let before = self.points[at - 1];
                let part = libm::log(bytes / before.bytes) / point.rise;
                before.share + part * (point.share - before.share)
            }
        };
        // A word stands for the share in its middle.
        (share * WORDS as f64 + 0.5) as u64
    }
}

impl Sizes for SizeTable {
    /// Over all words: every size at which a message needs more flits is looked up; of millions of them, so many that
    /// the rest is between two of them.
    fn mean_flits(&self, segmentation: &Segmentation) -> f64 {
        let largest = u64::from(self.largest());
        let (flit, header) = (segmentation.flit.0, segmentation.header.0);
        let mtu = segmentation.mtu.map_or(largest, |mtu| mtu.0);
        let stride = (largest / flit.min(mtu).max(1)).div_ceil(MOST_STEPS).max(1);
        let scale = u64::from(self.scale);
        let mut sum = 0u128;
        let mut flits = 0;
        let mut before = WORDS;
        // The smallest size that needs more flits than the ones before.
        let mut bytes = 1u64;
        while bytes <= largest {
            let needed = segmentation.flits_of(bytes as u32);
            let words = WORDS - self.words_below(bytes);
            // Where steps are left out, as many words as in the middle of both ends.
            let fitting = match stride {
                1 => words,
                _ => before.midpoint(words),
            };
            sum += u128::from(needed - flits) * u128::from(fitting);
            (flits, before) = (needed, words);
            // What the last packet still takes without another flit.
            let rest = (bytes - 1) % mtu + 1;
            let room = ((rest + header).div_ceil(flit) * flit - header).min(mtu);
            bytes += room - rest + 1 + (stride - 1) * flit;
            // No message has a size in between.
            bytes = bytes.next_multiple_of(scale);
        }
        sum as f64 / WORDS as f64
    }

    fn largest(&self) -> u32 {
        let last = self.points.last().map_or(0.0, |point| point.bytes);
        last as u32 * self.scale
    }

    fn bytes(&self, word: u32) -> u32 {
        self.unscaled(word) * self.scale
    }

    fn content(&self) -> Option<String> {
        Some(format!("{:?} {}", self.points, self.scale))
    }
}

#[cfg(test)]
mod tests {
    use netloom_random::{Purpose, Stream};
    use netloom_units::Bytes;
    use proptest::prelude::*;

    use super::*;

    fn cutting(mtu: Option<u64>, header: u64) -> Segmentation {
        Segmentation {
            flit: Bytes(64),
            mtu: mtu.map(Bytes),
            header: Bytes(header),
        }
    }

    #[test]
    fn search_rpc_has_a_mean_of_441_bytes() {
        let table = SizeTable::new(&SEARCH_RPC, 1);
        let stream = Stream::new(1, Purpose::Arrival);
        let n = 4_000_000u32;
        let sum: u64 = (0..n)
            .map(|number| u64::from(table.bytes(stream.draw([number, 0, 0, 0]).0[3])))
            .sum();
        let mean = sum as f64 / f64::from(n);
        assert!((mean / 441.0 - 1.0).abs() < 0.1, "{mean}");
        // In flits of one byte the exact mean is that of bytes.
        let bytes = Segmentation {
            flit: Bytes(1),
            mtu: Some(Bytes(9216)),
            header: Bytes(0),
        };
        let exact = table.mean_flits(&bytes);
        assert!((exact / 441.0 - 1.0).abs() < 0.1, "{exact}");
        assert!((exact / mean - 1.0).abs() < 0.05, "{exact} for {mean}");
        let scaled = SizeTable::new(&SEARCH_RPC, 8);
        assert_eq!(scaled.bytes(77), 8 * table.bytes(77));
        assert_eq!(scaled.largest(), 8 * 3_529_904);
    }

    #[test]
    fn shares_are_those_of_the_table() {
        let table = SizeTable::new(&SEARCH_RPC, 1);
        for (bytes, share) in SEARCH_RPC {
            let word = (share * WORDS as f64) as u64;
            assert!(table.bytes((word.min(WORDS - 1)).saturating_sub(2) as u32) <= bytes);
            if word + 2 < WORDS {
                assert!(table.bytes(word as u32 + 2) >= bytes);
            }
        }
        // Half way between the shares of 256 and 512 bytes lies their geometric mean, 362.
        let middle = (0.4638 + 0.9104) / 2.0 * WORDS as f64;
        assert_eq!(table.bytes(middle as u32), 362);
    }

    #[test]
    fn all_mistakes_of_a_table_are_told_with_their_lines() {
        let mistakes = |text: &str| {
            let mistakes = parse(text, 2).expect_err("a mistake");
            let line = |m: Mistake| format!("{}: {}", m.line, m.message);
            mistakes.into_iter().map(line).collect::<Vec<_>>()
        };
        assert_eq!(
            mistakes("size,cdf\n1,1\n"),
            ["1: columns `size,cdf`; write a first line bytes,probability"]
        );
        assert_eq!(
            mistakes("bytes,probability\n# few\n64,0.5\n0,1.5\n32,0.4\n3 GiB,1\n"),
            [
                "4: an empty message",
                "4: `1.5` is no probability; write a number from 0 to 1",
                "5: 32 bytes after 64; write sizes in rising order",
                "5: probability 0.4 after 0.5; it says how many messages have at most so many bytes, and \
                 never falls",
                "6: 2 times 3221225472 bytes; a message is smaller than 4 GiB",
            ]
        );
        assert_eq!(
            mistakes("bytes,probability\n64,0.5\n"),
            ["2: the table ends with probability 0.5 at 64 bytes; the largest size has 1"]
        );
        assert_eq!(
            mistakes("bytes,probability\n"),
            ["1: no sizes; write lines like 64,0.5"]
        );
    }

    proptest! {
        #[test]
        fn the_mean_is_that_of_the_words(
            sizes in prop::collection::btree_set(1u32..20_000, 1..5),
            mtu in prop::option::of(65u64..3000),
            header in 0u64..60,
            scale in 1u32..9,
        ) {
            let n = sizes.len() as f64;
            let points: Vec<(u32, f64)> = sizes
                .iter()
                .enumerate()
                .map(|(at, &bytes)| (bytes, (at + 1) as f64 / n))
                .collect();
            let table = SizeTable::new(&points, scale);
            let cutting = cutting(mtu, header);
            // One word of every 2^18. Flits never fall from word to word, so the two means differ by no
            // more than the largest message over the number of words looked at.
            let step = 1u64 << 18;
            let words = (0..WORDS / step).map(|at| (at * step + step / 2) as u32);
            let sum: u64 = words.map(|word| cutting.flits_of(table.bytes(word))).sum();
            let mean = sum as f64 / (WORDS / step) as f64;
            let exact = table.mean_flits(&cutting);
            let most = cutting.flits_of(table.largest()) as f64 * step as f64 / WORDS as f64;
            prop_assert!((exact - mean).abs() <= most, "{} for {}", exact, mean);
        }
    }
}
