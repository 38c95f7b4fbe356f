//! The tool part: from what traffic classes need to arbitration tables, admission and cost. It runs
//! without simulating, and shares its table types with the simulator: what was planned is what is
//! simulated.

pub mod cost;
pub mod infiniband;
pub mod plan;
pub mod qos;
