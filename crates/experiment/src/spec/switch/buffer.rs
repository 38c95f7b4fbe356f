//! The buffer of a port: parts for lanes, one pool, or parts for queues.

use netloom_catalog::{FromToml, Notes, Param, Params, Section, Shape, Value, ValueShape, params};
use netloom_units::Bytes;

/// The buffer of a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Buffer {
    /// So much for each lane.
    PerVl(Bytes),
    /// One pool for all lanes.
    Pool(Pool),
    /// So much for each queue.
    PerQueue(Bytes),
}

params! {
    /// A buffer as one pool that all lanes of a port share.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Pool {
        /// The whole buffer.
        pub pool: Bytes,
        /// Kept free for each lane; left out, the lane's largest packet.
        pub min: Option<Bytes> = None,
        /// At most this much for each lane; left out, all that the others' minima leave.
        pub max: Option<Bytes> = None,
    }
}

params! {
    /// A buffer with as much for every queue of a port.
    #[derive(Clone, PartialEq, Eq, Debug)]
    struct Parts {
        /// The part of each queue, instead of a pool; an input buffer only.
        per_queue: Bytes,
    }
}

impl Buffer {
    /// The keys of a buffer that is a table: those of a pool, or `per-queue`.
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
