//! Laws of message sizes: the payload of a message.

use std::sync::Arc;

use netloom_catalog::{Described, Files, Kind, Section, kind, params};
use netloom_packet::Segmentation;
use netloom_units::Bytes;

use crate::Cdf;

/// A law of message sizes.
#[warn(missing_docs)]
pub trait Sizes: Send + Sync {
    /// Returns the exact mean of flits on the wire per message.
    fn mean_flits(&self, segmentation: &Segmentation) -> f64;

    /// Returns the largest message in bytes.
    fn largest(&self) -> u32;

    /// Returns the size for a random word.
    fn bytes(&self, word: u32) -> u32;

    /// Returns the law with the contents of its file, or the errors of the file. Returns `None` if
    /// the law needs no file.
    fn open(&self, _files: &dyn Files) -> Result<Option<Arc<dyn Sizes>>, Vec<String>> {
        Ok(None)
    }

    /// Returns the contents of the file that the experiment names, if any.
    fn content(&self) -> Option<String> {
        None
    }
}

/// All laws of message sizes.
pub const SIZES: &[Kind<dyn Sizes>] = &[
    kind!(Fixed, dyn Sizes),
    kind!(UniformSizes, dyn Sizes),
    kind!(Mix, dyn Sizes),
    kind!(Cdf, dyn Sizes),
];

/// Notes an error if the size is not valid for a message.
fn check_size(section: &mut Section<'_>, key: &str, bytes: Bytes) {
    let place = section.place_of(key);
    if bytes.0 == 0 {
        section.notes.error("E0603", place, "the message is empty");
    } else if bytes.0 > u64::from(u32::MAX) {
        section
            .notes
            .error("E0603", place, format!("a message cannot have {bytes}"))
            .help("use less than 4 GiB");
    }
}

params! {
    /// Every message has the same size.
    #[derive(Clone, Debug)]
    pub struct Fixed {
        /// Payload of a message.
        pub bytes: Bytes,
    }
    check |it, section| {
        check_size(section, "bytes", it.bytes);
    }
}

impl Described for Fixed {
    const NAME: &'static str = "fixed";
    const SUMMARY: &'static str = "Every message has the same size.";
    const EXAMPLE: &'static str = "bytes = \"2 KiB\"";
}

impl Sizes for Fixed {
    fn mean_flits(&self, segmentation: &Segmentation) -> f64 {
        segmentation.flits_of(self.largest()) as f64
    }

    fn largest(&self) -> u32 {
        self.bytes.0 as u32
    }

    #[inline]
    fn bytes(&self, _word: u32) -> u32 {
        self.bytes.0 as u32
    }
}

/// Maximum of sizes, so the mean over all of them can be exact.
const MOST_SIZES: u64 = 1 << 20;

params! {
    /// Sizes from `min` to `max`, all equally likely.
    #[derive(Clone, Debug)]
    pub struct UniformSizes {
        /// The smallest message.
        pub min: Bytes,
        /// The largest message.
        pub max: Bytes,
        /// Distance from one size to the next.
        pub step: Bytes = Bytes(1),
    }
    check |it, section| {
        check_size(section, "min", it.min);
        check_size(section, "max", it.max);
        check_size(section, "step", it.step);
        let place = section.place_of("max");
        if it.min > it.max {
            let (max, min) = (it.max, it.min);
            let message = format!("the largest message, {max}, is below the smallest, {min}");
            section.notes.error("E0603", place, message);
        } else if it.step.0 > 0 && !(it.max.0 - it.min.0).is_multiple_of(it.step.0) {
            let message = format!("steps of {} from {} do not reach {}", it.step, it.min, it.max);
            section.notes.error("E0603", place, message);
        } else if it.step.0 > 0 && (it.max.0 - it.min.0) / it.step.0 >= MOST_SIZES {
            let message = format!("there are more than {MOST_SIZES} sizes");
            section.notes.error("E0603", place, message).help("use a larger `step`");
        }
    }
}

impl Described for UniformSizes {
    const NAME: &'static str = "uniform";
    const SUMMARY: &'static str = "Sizes between two bounds, all equally likely.";
    const EXAMPLE: &'static str = "min = \"64 B\"\nmax = \"2 KiB\"\nstep = \"64 B\"";
}

impl UniformSizes {
    /// Returns the number of sizes.
    fn count(&self) -> u32 {
        ((self.max.0 - self.min.0) / self.step.0) as u32 + 1
    }

    fn size(&self, at: u32) -> u32 {
        (self.min.0 + u64::from(at) * self.step.0) as u32
    }
}

impl Sizes for UniformSizes {
    fn mean_flits(&self, segmentation: &Segmentation) -> f64 {
        let sum: u64 = (0..self.count())
            .map(|at| segmentation.flits_of(self.size(at)))
            .sum();
        sum as f64 / f64::from(self.count())
    }

    fn largest(&self) -> u32 {
        self.max.0 as u32
    }

    fn bytes(&self, word: u32) -> u32 {
        self.size(((u64::from(word) * u64::from(self.count())) >> 32) as u32)
    }
}

params! {
    /// A few sizes, each with its weight.
    #[derive(Clone, Debug)]
    pub struct Mix {
        /// Pairs of a size and its frequency, as [bytes, weight]; weights need not sum to 1.
        pub sizes: Vec<(Bytes, f64)>,
    }
    check |it, section| {
        let place = section.place_of("sizes");
        if it.sizes.is_empty() {
            let help = "use sizes = [[\"64 B\", 3], [\"2 KiB\", 1]]";
            section.notes.error("E0603", place, "the list of sizes is empty").help(help);
        }
        for &(bytes, weight) in &it.sizes {
            check_size(section, "sizes", bytes);
            if weight <= 0.0 {
                let message = format!("the weight of {bytes} is {weight}");
                section.notes.error("E0603", place, message).help("use a weight above 0");
            }
        }
    }
}

impl Described for Mix {
    const NAME: &'static str = "mix";
    const SUMMARY: &'static str = "A few sizes, each with its weight.";
    const EXAMPLE: &'static str = "sizes = [[\"64 B\", 3], [\"2 KiB\", 1]]";
}

impl Mix {
    fn total(&self) -> f64 {
        self.sizes.iter().map(|(_, weight)| weight).sum()
    }
}

impl Sizes for Mix {
    fn mean_flits(&self, segmentation: &Segmentation) -> f64 {
        let sum: f64 = self
            .sizes
            .iter()
            .map(|&(bytes, weight)| weight * segmentation.flits_of(bytes.0 as u32) as f64)
            .sum();
        sum / self.total()
    }

    fn largest(&self) -> u32 {
        let largest = self.sizes.iter().map(|(bytes, _)| bytes.0).max();
        largest.unwrap_or_default() as u32
    }

    fn bytes(&self, word: u32) -> u32 {
        let mut left = f64::from(word) * (1.0 / 4_294_967_296.0) * self.total();
        for &(bytes, weight) in &self.sizes {
            if left < weight {
                return bytes.0 as u32;
            }
            left -= weight;
        }
        // Rounding can exceed the last weight slightly.
        self.sizes.last().map_or(0, |(bytes, _)| bytes.0 as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLITS: Segmentation = Segmentation {
        flit: Bytes(64),
        mtu: Some(Bytes(2048)),
        header: Bytes(0),
    };

    #[test]
    fn means_are_exact() {
        let fixed = Fixed { bytes: Bytes(2000) };
        assert_eq!(fixed.mean_flits(&FLITS), 32.0);
        let uniform = UniformSizes {
            min: Bytes(64),
            max: Bytes(256),
            step: Bytes(64),
        };
        assert_eq!(uniform.mean_flits(&FLITS), 2.5);
        let mix = Mix {
            sizes: vec![(Bytes(64), 3.0), (Bytes(2048), 1.0)],
        };
        assert_eq!(mix.mean_flits(&FLITS), 35.0 / 4.0);
        assert_eq!(mix.largest(), 2048);
    }

    #[test]
    fn words_cover_all_sizes_and_nothing_else() {
        let uniform = UniformSizes {
            min: Bytes(100),
            max: Bytes(130),
            step: Bytes(10),
        };
        let sizes = [0, 1 << 30, 1 << 31, u32::MAX].map(|word| uniform.bytes(word));
        assert_eq!(sizes, [100, 110, 120, 130]);
        let mix = Mix {
            sizes: vec![(Bytes(64), 3.0), (Bytes(2048), 1.0)],
        };
        let sizes = [0, (3 << 30) - 1, 3 << 30, u32::MAX].map(|word| mix.bytes(word));
        assert_eq!(sizes, [64, 64, 2048, 2048]);
    }
}
