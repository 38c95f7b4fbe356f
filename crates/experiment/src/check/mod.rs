//! Checks of values across sections.
//!
//! Each check names all values involved with their places, states the numbers, and suggests a fix.

pub(crate) mod adaptive;
pub(crate) mod buffers;
pub(crate) mod channels;
pub(crate) mod connections;
pub(crate) mod deadlock;
pub(crate) mod flow_control;
pub(crate) mod groups;
pub(crate) mod hierarchical;
pub(crate) mod input_ports;
pub(crate) mod input_queued;
pub(crate) mod lanes;
pub(crate) mod management;
pub(crate) mod nic;
pub(crate) mod pause;
pub(crate) mod pfc;
pub(crate) mod programs;
pub(crate) mod queues;
pub(crate) mod site;
pub(crate) mod speedup;
pub(crate) mod tiled;
pub(crate) mod time;
pub(crate) mod traffic;
pub(crate) mod transfer_unit;
