//! Bits of tables and registers of a device.

use netloom_design::cost::registers::Device;

use super::Quantity;
use crate::claims::value::{Missing, Value};

/// `register_bits(ports, entries, deficits, part)`: `part` is `all`, `table` or `port`.
pub(super) const REGISTER_BITS: Quantity = Quantity {
    name: "register_bits",
    parameters: &["ports", "entries", "deficits", "part"],
    by_seed: false,
    of: |call| {
        let size = |at: usize| match call.number(at)? {
            number if (1.0..=65_536.0).contains(&number) => Ok(number as u64),
            other => Err(Missing::mistake(format!(
                "expected 1 to 65536, found {other}"
            ))),
        };
        let (ports, entries) = (size(0)?, size(1)?);
        let device = Device::new(ports, entries, call.value(2).truth()? == crate::Truth::Yes);
        let bits = match call.text(3)? {
            "all" => device.bits(),
            "table" => device.table_bits(),
            "port" => device.port_bits(),
            other => {
                let expected = "expected `all`, `table` or `port`";
                return Err(Missing::mistake(format!("{expected}, found `{other}`")));
            }
        };
        Ok(Value::Number(bits as f64))
    },
};
