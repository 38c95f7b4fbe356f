//! The memory of an input port by queue scheme, in bytes, and its printed area in mm².

use netloom_design::cost::queues::Scheme;
use netloom_units::Bytes;

use super::{Call, Quantity};
use crate::claims::{Missing, Value};

pub(super) const QUEUE_MEMORY: Quantity = Quantity {
    name: "queue_memory",
    parameters: &["scheme", "queues"],
    by_seed: false,
    of: |call| {
        let bytes = scheme(call)?.minimum_memory(Bytes(64));
        Ok(Value::Number(bytes.0 as f64))
    },
};

pub(super) const QUEUE_AREA: Quantity = Quantity {
    name: "queue_area",
    parameters: &["scheme", "queues"],
    by_seed: false,
    of: |call| {
        let scheme = scheme(call)?;
        let area = scheme.printed_area();
        let area = area.ok_or_else(|| Missing::because(format!("no printed area of {scheme}")))?;
        Ok(Value::Number(area.mm2()))
    },
};

/// Returns the scheme that a call names.
fn scheme(call: &Call<'_, '_>) -> Result<Scheme, Missing> {
    let (name, queues) = (call.text(0)?, call.number(1)? as u32);
    match name {
        "DBBM" => Ok(Scheme::Dbbm(queues)),
        "OBQA" => Ok(Scheme::Obqa(queues)),
        "VOQsw" => Ok(Scheme::VoqSw(queues)),
        "VOQnet" => Ok(Scheme::VoqNet(queues)),
        _ => Err(Missing::mistake(format!(
            "expected DBBM, OBQA, VOQsw or VOQnet, found `{name}`"
        ))),
    }
}
