//! The number of flits that cross per cycle.

use netloom_catalog::{FromToml, Notes, Shape, Value};

use crate::spec::link::exact_decimal;

/// Flits per cycle as an exact fraction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Speedup(pub(crate) u32, pub(crate) u32);

impl FromToml for Speedup {
    fn shape() -> Shape {
        Shape::Number
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let number = f64::read(value, notes)?;
        // The file has the shortest decimal that parses as this number.
        let exact = match (0.01..=64.0).contains(&number) {
            true => exact_decimal(&number.to_string()),
            false => None,
        };
        let fraction = exact.and_then(|exact| {
            let part = |n: u128| u32::try_from(n).ok().filter(|n| *n <= 1_000_000);
            Some(Speedup(part(exact.num())?, part(exact.den())?))
        });
        if fraction.is_none() {
            notes
                .error(
                    "E0102",
                    value.place,
                    format!("a speedup of {number} is not supported"),
                )
                .help("use a number from 0.01 to 64 with few decimals, such as 1.5");
        }
        fraction
    }

    fn write(&self) -> String {
        match self.1 {
            1 => self.0.to_string(),
            _ => (f64::from(self.0) / f64::from(self.1)).write(),
        }
    }
}
