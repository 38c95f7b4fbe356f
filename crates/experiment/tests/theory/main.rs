//! Theory compared with complete runs of experiment files.
//!
//! Every test states a law, the figure that follows from it, and the tolerance. Times are in cycles
//! of 5.12 ns: a flit of 64 bytes on a link of 100 Gb/s, which is also the clock of the switches.

mod measured;
mod nic;
mod output;
mod pool;
mod slots;
mod switch;
mod torus;
