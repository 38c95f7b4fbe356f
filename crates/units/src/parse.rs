//! Quantities as text: `"400 Gbps"`, `"1.2 us"`, `"4 KiB"`, `"1.3 GHz"`.
//!
//! The unit is mandatory and the value is an exact decimal. A printed quantity parses to the same
//! quantity. Ambiguous units (`K`, `G`, `Gb`) are errors whose help names the alternatives.

use std::fmt;
use std::str::FromStr;

use crate::rate::lane_rate;
use crate::{Bytes, Rate, Ratio, Time};

/// Why a string is not a quantity, and what to write instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnitError {
    pub message: String,
    pub help: String,
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.help)
    }
}

impl std::error::Error for UnitError {}

/// Returns the shortest decimal of `num / den`, or the fraction itself if no decimal is exact.
pub(crate) fn decimal(num: u128, den: u128) -> String {
    let exact = Ratio::new(num, den);
    let (mut rest, den) = (exact.num() % exact.den(), exact.den());
    let mut text = format!("{}", exact.num() / den);
    let mut digits = String::new();
    while rest != 0 && digits.len() < 24 {
        rest *= 10;
        digits.push(char::from(
            b'0' + u8::try_from(rest / den).expect("a digit"),
        ));
        rest %= den;
    }
    if rest != 0 {
        return format!("{}/{}", exact.num(), exact.den());
    }
    if !digits.is_empty() {
        text.push('.');
        text.push_str(&digits);
    }
    text
}

/// Splits `"1.25 us"` into the exact number and its unit.
fn split<'a>(text: &'a str, what: &str, example: &str) -> Result<(Ratio, &'a str), UnitError> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '/' | '_')))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.trim();
    let wrong = |message: String| UnitError {
        message,
        help: format!("use a value such as {example}"),
    };
    if number.is_empty() {
        return Err(wrong(format!(
            "expected {what}, found `{text}`, which does not start with a number"
        )));
    }
    if unit.is_empty() {
        return Err(wrong(format!("`{text}` has no unit")));
    }
    let value = exact(number)
        .ok_or_else(|| wrong(format!("expected an exact number, found `{number}`")))?;
    Ok((value, unit))
}

/// Larger parts of a fraction could overflow 128 bits when they are scaled and compared.
const MOST: u128 = 1_000_000_000_000_000;

/// Parses an exact decimal (`1.25`) or fraction (`10/13`).
fn exact(number: &str) -> Option<Ratio> {
    let number = number.replace('_', "");
    if let Some((num, den)) = number.split_once('/') {
        let part = |digits: &str| digits.parse().ok().filter(|n: &u128| *n <= MOST);
        let (num, den) = (part(num)?, part(den)?);
        return (den != 0).then(|| Ratio::new(num, den));
    }
    let (whole, part) = number.split_once('.').unwrap_or((&number, ""));
    if part.len() > 21
        || whole.len() > 15
        || whole.len() + part.len() > 24
        || (whole.is_empty() && part.is_empty())
        || part.contains('.')
    {
        return None;
    }
    let scale = 10u128.pow(u32::try_from(part.len()).ok()?);
    let whole: u128 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let part: u128 = if part.is_empty() {
        0
    } else {
        part.parse().ok()?
    };
    Some(Ratio::new(whole * scale + part, scale))
}

const TIME_HELP: &str = "\"5.12 ns\", \"1 us\" or \"2 ms\"";
const RATE_HELP: &str = "\"100 Gbps\", \"12.5 GB/s\" or \"NDR x4\"";
const BYTES_HELP: &str = "\"64 B\", \"4 KiB\" (1024) or \"4 KB\" (1000)";

impl FromStr for Time {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (value, unit) = split(text, "a time", TIME_HELP)?;
        let hertz = |per_second: u128| {
            if value.is_zero() {
                return Err(UnitError {
                    message: format!("expected a frequency above zero, found `{text}`"),
                    help: format!("use a value such as {TIME_HELP}"),
                });
            }
            Ok(Time::from_picos(
                Ratio::new(1_000_000_000_000, per_second) / value,
            ))
        };
        let scale: u128 = match unit {
            "ps" => 1,
            "ns" => 1_000,
            "us" | "µs" | "μs" => 1_000_000,
            "ms" => 1_000_000_000,
            "s" => 1_000_000_000_000,
            "MHz" => return hertz(1_000_000),
            "GHz" => return hertz(1_000_000_000),
            _ => {
                return Err(UnitError {
                    message: format!("unknown unit of time `{unit}`"),
                    help: format!(
                        "use a value such as {TIME_HELP}; a clock may be given as \"1.3 GHz\""
                    ),
                });
            }
        };
        Ok(Time::from_picos(value * Ratio::new(scale, 1)))
    }
}

impl FromStr for Rate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let name = text.trim();
        let (lane, width) = match name.split_once(" x") {
            Some((lane, width)) => (lane.trim(), width.parse::<u64>().unwrap_or(0)),
            None => (name, 4),
        };
        if let Some(Rate(rate)) = lane_rate(lane) {
            if [1, 2, 4, 8, 12].contains(&width) {
                return Ok(Rate(rate * width));
            }
            return Err(UnitError {
                message: format!("expected the width of an InfiniBand port, found `{name}`"),
                help: "use x1, x2, x4, x8 or x12".into(),
            });
        }
        let (value, unit) = split(text, "a data rate", RATE_HELP)?;
        let scale: u128 = match unit {
            "bps" | "b/s" | "bit/s" => 1,
            "kbps" | "Kbps" | "kb/s" | "Kb/s" | "kbit/s" | "Kbit/s" => 1_000,
            "Mbps" | "Mb/s" | "Mbit/s" => 1_000_000,
            "Gbps" | "Gb/s" | "Gbit/s" => 1_000_000_000,
            "Tbps" | "Tb/s" | "Tbit/s" => 1_000_000_000_000,
            "B/s" => 8,
            "kB/s" | "KB/s" => 8_000,
            "MB/s" => 8_000_000,
            "GB/s" => 8_000_000_000,
            _ => {
                return Err(UnitError {
                    message: format!("unknown unit of data rate `{unit}`"),
                    help: format!("use a value such as {RATE_HELP} (Gbps counts bits, GB/s bytes)"),
                });
            }
        };
        let bits = value * Ratio::new(scale, 1);
        if bits.is_zero() || bits.den() != 1 || bits > Ratio::whole(u64::MAX) {
            return Err(UnitError {
                message: format!(
                    "expected a whole number of bits per second above zero, found `{text}`"
                ),
                help: format!("use a value such as {RATE_HELP}"),
            });
        }
        Ok(Rate(bits.round()))
    }
}

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (value, unit) = split(text, "an amount of data", BYTES_HELP)?;
        let scale: u128 = match unit {
            "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            "TiB" => 1 << 40,
            "kB" | "KB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            _ => {
                return Err(UnitError {
                    message: format!("unknown unit of data `{unit}`"),
                    help: format!("use a value such as {BYTES_HELP}"),
                });
            }
        };
        let bytes = value * Ratio::new(scale, 1);
        if bytes.den() != 1 || bytes > Ratio::whole(u64::MAX) {
            return Err(UnitError {
                message: format!("expected a whole number of bytes, found `{text}`"),
                help: format!("use a value such as {BYTES_HELP}"),
            });
        }
        Ok(Bytes(bytes.round()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantities_are_exact() {
        assert_eq!(
            "5.12 ns".parse::<Time>().unwrap(),
            Time::from_picos(Ratio::whole(5120))
        );
        assert_eq!(
            "1.3 GHz".parse::<Time>().unwrap(),
            Time::from_picos(Ratio::new(10_000, 13))
        );
        assert_eq!("12.5 GB/s".parse::<Rate>().unwrap(), Rate(100_000_000_000));
        assert_eq!("NDR x4".parse::<Rate>().unwrap(), Rate(400_000_000_000));
        assert_eq!("HDR".parse::<Rate>().unwrap(), Rate(200_000_000_000));
        assert_eq!("2 KiB".parse::<Bytes>().unwrap(), Bytes(2048));
        assert_eq!("10 kB".parse::<Bytes>().unwrap(), Bytes(10_000));
    }

    #[test]
    fn mistakes_say_what_to_write() {
        let message = |e: UnitError| e.to_string();
        assert_eq!(
            message("100 Gpbs".parse::<Rate>().unwrap_err()),
            "unknown unit of data rate `Gpbs`; use a value such as \"100 Gbps\", \"12.5 GB/s\" or \
             \"NDR x4\" (Gbps counts bits, GB/s bytes)"
        );
        assert_eq!(
            message("50".parse::<Time>().unwrap_err()),
            "`50` has no unit; use a value such as \"5.12 ns\", \"1 us\" or \"2 ms\""
        );
        assert!("4 K".parse::<Bytes>().is_err());
        assert!("0.3 B".parse::<Bytes>().is_err());
        assert!("0 Gbps".parse::<Rate>().is_err());
        assert!("1.2.3 ns".parse::<Time>().is_err());
    }

    proptest! {
        #[test]
        fn printing_is_the_inverse_of_parsing(num in 1u64..1_000_000_000_000, den in 1u64..1000) {
            let time = Time::from_picos(Ratio::new(u128::from(num), u128::from(den)));
            prop_assert_eq!(time.to_string().parse::<Time>().unwrap(), time);
            let bytes = Bytes(num);
            prop_assert_eq!(bytes.to_string().parse::<Bytes>().unwrap(), bytes);
            let rate = Rate(num);
            prop_assert_eq!(rate.to_string().parse::<Rate>().unwrap(), rate);
        }
    }
}
