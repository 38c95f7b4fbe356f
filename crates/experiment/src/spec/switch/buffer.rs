//! The buffer of a port: a part per lane, one pool, or a part per queue.

use netloom_catalog::{FromToml, Notes, Param, Params, Section, Shape, Value, ValueShape, params};
use netloom_units::Bytes;

/// The buffer of a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Buffer {
    /// This size for each lane.
    PerVl(Bytes),
    /// One pool for all lanes.
    Pool(Pool),
    /// This size for each queue.
    PerQueue(Bytes),
}

params! {
    /// A buffer as a pool shared by all lanes of a port.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Pool {
        /// Size of the whole buffer.
        pub pool: Bytes,
        /// Space reserved for each lane. The default is the lane's largest packet.
        pub min: Option<Bytes> = None,
        /// Maximum for each lane. The default is all that the minima of the other lanes leave.
        pub max: Option<Bytes> = None,
    }
}

params! {
    /// A buffer with the same size for every queue of a port.
    #[derive(Clone, PartialEq, Eq, Debug)]
    struct Parts {
        /// Size per queue, in place of a pool. Input buffers only.
        per_queue: Bytes,
    }
}

impl Buffer {
    /// Returns the keys of a buffer that is a table: those of a pool, or `per-queue`.
    pub fn table_params() -> Vec<Param> {
        let optional = |param: Param| Param {
            default: Some(param.default.unwrap_or_default()),
            ..param
        };
        let params = Pool::params().into_iter().chain(Parts::params());
        params.map(optional).collect()
    }
}

impl FromToml for Buffer {
    fn shape() -> Shape {
        Bytes::shape()
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let ValueShape::Table(_) = value.shape else {
            return Bytes::read(value, notes).map(Buffer::PerVl);
        };
        let mut section = Section::open(value, notes)?;
        let buffer = match value.get("per-queue") {
            Some(_) => Parts::read(&mut section).map(|parts| Buffer::PerQueue(parts.per_queue)),
            None => Pool::read(&mut section).map(Buffer::Pool),
        };
        section.finish();
        buffer
    }

    fn write(&self) -> String {
        match self {
            Buffer::PerVl(bytes) => bytes.write(),
            Buffer::PerQueue(bytes) => format!("{{ per-queue = {} }}", bytes.write()),
            Buffer::Pool(Pool { pool, min, max }) => {
                let mut text = format!("{{ pool = {}", pool.write());
                for (key, value) in [("min", min), ("max", max)] {
                    if let Some(value) = value {
                        text.push_str(&format!(", {key} = {}", value.write()));
                    }
                }
                text + " }"
            }
        }
    }
}
