//! Message sizes from a cumulative distribution: a table in a file, or a built-in one.
//!
//! ```text
//! bytes,probability
//! 2,0.0756
//! 4,0.1512
//! ```
//!
//! A line gives the share of messages of at most this size. Between two lines the logarithm of the
//! size grows linearly with the share. Below the first line, all messages have its size.

use std::path::Path;
use std::sync::Arc;

use netloom_catalog::file::MOST_LIST;
use netloom_catalog::{Described, Files, choice, nearest, params};
use netloom_packet::Segmentation;

use crate::Sizes;
use crate::flow_list::{Mistake, bytes_of, line_of};

choice! {
    /// The built-in tables of sizes.
    pub enum Builtin {
        /// Remote procedure calls of a search service.
        SearchRpc = "search-rpc",
    }
}

/// Bytes and the share of messages of at most this size: Google_SearchRPC of the simulations of
/// Homa (Montazeri et al., SIGCOMM 2018), at a few points.
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
    /// Sizes from a cumulative distribution: a CSV file (columns `bytes` and `probability`), or a
    /// built-in table. Between two lines of the table the logarithm of the size grows linearly.
    #[derive(Clone, Debug)]
    pub struct Cdf {
        /// A CSV file with the columns bytes and probability: the share of messages of at most this
        /// size.
        pub file: Option<String> = None,
        /// A built-in table, without a file.
        pub builtin: Option<Builtin> = None,
        /// Factor of every size: fewer, larger messages at the same load.
        pub scale: u32 = 1,
    }
    check |it, section| {
        if it.file.is_some() == it.builtin.is_some() {
            let (place, message) = match it.file {
                Some(_) => (section.place_of("builtin"), "`file` and `builtin` are both set"),
                None => (section.place(), "neither `file` nor `builtin` is set"),
            };
            let help = "use one of file = \"sizes.csv\" and builtin = \"search-rpc\"";
            section.notes.error("E0604", place, message).help(help);
        }
        if it.scale == 0 {
            let place = section.place_of("scale");
            let message = "a scale of 0 makes empty messages";
            section.notes.error("E0603", place, message).help("use at least scale = 1");
        } else if it.builtin.is_some() && u64::from(it.scale) * 3_529_904 > u64::from(u32::MAX) {
            let place = section.place_of("scale");
            let message = format!("{} times 3529904 bytes is 4 GiB or more", it.scale);
            section.notes.error("E0603", place, message).help("use at most scale = 1216");
        }
    }
}

impl Described for Cdf {
    const NAME: &'static str = "cdf";
    const SUMMARY: &'static str =
        "Sizes from a cumulative distribution: a CSV file, or the built-in \"search-rpc\".";
    const PAPER: Option<&'static str> = Some(
        "Montazeri et al., Homa: a receiver-driven low-latency transport protocol using network \
         priorities, \
         SIGCOMM 2018 (search-rpc)",
    );
    const EXAMPLE: &'static str = "builtin = \"search-rpc\"";
}

impl Cdf {
    /// Returns the built-in table.
    ///
    /// # Panics
    /// If the sizes come from a file: [`Sizes::open`] reads it, and returns another law.
    fn table(&self) -> SizeTable {
        assert!(
            self.builtin.is_some(),
            "sizes of a file must be opened first"
        );
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

    fn open(&self, files: &dyn Files) -> Result<Option<Arc<dyn Sizes>>, Vec<String>> {
        let Some(file) = &self.file else {
            return Ok(Some(Arc::new(self.table())));
        };
        let text = files
            .read_text(Path::new(file), MOST_LIST)
            .map_err(|error| {
                let builtin = nearest(file, ["search-rpc"])
                    .map(|near| format!("; use builtin = \"{near}\" for the built-in table"));
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

/// Reads a table, or returns every error in it.
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
            "expected the columns bytes,probability, found `{}`",
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
            let message = format!("expected 2 fields as in the header, found {}", record.len());
            wrong(message);
            continue;
        }
        let size = bytes_of(&record[bytes]).and_then(|size| match size.checked_mul(scale) {
            Some(_) => Ok(size),
            None => Err(format!(
                "{scale} times {size} bytes is too large; a message is smaller than 4 GiB"
            )),
        });
        let share = match record[probability].parse::<f64>() {
            Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
            _ => Err(format!(
                "`{}` is not a probability; use a number from 0 to 1",
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
                    "{size} bytes follows {before}; sort the sizes in ascending order"
                ));
            }
            if share < share_before {
                wrong(format!(
                    "probability {share} follows {share_before}; cumulative probabilities cannot \
                     decrease"
                ));
            }
        }
        points.push((size, share));
    }
    if mistakes.is_empty() && points.last().is_none_or(|&(_, share)| share != 1.0) {
        let message = match points.last() {
            Some((size, share)) => format!(
                "the table ends with probability {share} at {size} bytes; the last one must be 1"
            ),
            None => "the table has no sizes; add lines like 64,0.5".to_owned(),
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

/// The number of random words.
const WORDS: u64 = 1 << 32;
/// Maximum of sizes examined for a mean.
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
    /// Share of messages of at most this size.
    share: f64,
    /// Logarithm of the ratio of the size to that of the previous point.
    rise: f64,
}

impl SizeTable {
    /// Returns a table from ascending pairs of bytes and share; the last share is 1.
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

    /// Returns the size before scaling.
    fn unscaled(&self, word: u32) -> u32 {
        // The middle of the range of the word.
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

    /// Returns the number of words that give fewer bytes than `bytes`; exact except for the
    /// rounding of logarithms.
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
        // A word represents the share in its middle.
        (share * WORDS as f64 + 0.5) as u64
    }
}

impl Sizes for SizeTable {
    /// Returns the mean over all words: examines every size at which a message needs more flits. If
    /// there are millions of them, it examines a part and interpolates.
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
            // For skipped steps, assume the mean of both ends.
            let fitting = match stride {
                1 => words,
                _ => before.midpoint(words),
            };
            sum += u128::from(needed - flits) * u128::from(fitting);
            (flits, before) = (needed, words);
            // The free bytes of the last packet that need no further flit.
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
        // Half-way between the shares of 256 and 512 bytes is their geometric mean, 362.
        let middle = (0.4638 + 0.9104) / 2.0 * WORDS as f64;
        assert_eq!(table.bytes(middle as u32), 362);
    }

    #[test]
    fn all_mistakes_of_a_table_are_reported_with_their_lines() {
        let mistakes = |text: &str| {
            let mistakes = parse(text, 2).expect_err("a mistake");
            let line = |m: Mistake| format!("{}: {}", m.line, m.message);
            mistakes.into_iter().map(line).collect::<Vec<_>>()
        };
        assert_eq!(
            mistakes("size,cdf\n1,1\n"),
            ["1: expected the columns bytes,probability, found `size,cdf`"]
        );
        assert_eq!(
            mistakes("bytes,probability\n# few\n64,0.5\n0,1.5\n32,0.4\n3 GiB,1\n"),
            [
                "4: the message is empty",
                "4: `1.5` is not a probability; use a number from 0 to 1",
                "5: 32 bytes follows 64; sort the sizes in ascending order",
                "5: probability 0.4 follows 0.5; cumulative probabilities cannot decrease",
                "6: 2 times 3221225472 bytes is too large; a message is smaller than 4 GiB",
            ]
        );
        assert_eq!(
            mistakes("bytes,probability\n64,0.5\n"),
            ["2: the table ends with probability 0.5 at 64 bytes; the last one must be 1"]
        );
        assert_eq!(
            mistakes("bytes,probability\n"),
            ["1: the table has no sizes; add lines like 64,0.5"]
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
            // One word of every 2^18. Flits never decrease from word to word, so the two means
            // differ by at most the largest message over the number of words examined.
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
