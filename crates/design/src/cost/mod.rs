//! Computes the memory and registers that a design needs.

pub mod buffers;
pub mod queues;
pub mod registers;
