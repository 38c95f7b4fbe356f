//! What a design costs in memory and registers.

pub mod buffers;
pub mod queues;
pub mod registers;
