//! What theory says, against whole runs from experiment files.
//!
//! Every test states a law in words, the figure that follows from it, and how far a run may be away. Times are in cycles: a
//! flit of 64 bytes on a link of 100 Gb/s, 5.12 ns, which is the clock of the switches as well.

mod measured;
mod nic;
mod output;
mod pool;
mod slots;
mod switch;
mod torus;
