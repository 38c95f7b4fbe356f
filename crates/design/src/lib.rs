//! Computes arbitration tables, admission and cost from the needs of traffic classes, without
//! simulation. The table types are those of the simulator, so a plan can be simulated unchanged.

pub mod cost;
pub mod infiniband;
pub mod plan;
pub mod qos;

pub use plan::{Plan, PlanError, plan};
