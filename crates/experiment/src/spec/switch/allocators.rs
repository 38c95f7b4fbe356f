//! The kinds of allocators: which packets cross a switch next.

use netloom_catalog::{Described, Kind, kind, params};
use netloom_fabric::Allocation;

/// A kind of allocator.
#[warn(missing_docs)]
pub trait Allocating: Send + Sync {
    /// Returns the allocation of the fabric's switches.
    fn allocation(&self) -> Allocation;
}

/// All kinds of allocators.
pub const ALLOCATORS: &[Kind<dyn Allocating>] = &[
    kind!(Separable, dyn Allocating),
    kind!(Islip, dyn Allocating),
];

params! {
    /// Each input picks one queue, and each output one input, both round-robin, once per cycle.
    #[derive(Clone, Debug)]
    pub struct Separable {}
}

impl Described for Separable {
    const NAME: &'static str = "separable";
    const SUMMARY: &'static str =
        "Each input picks one queue, and each output one input, both round-robin, once per cycle.";
    const EXAMPLE: &'static str = "";
}

impl Allocating for Separable {
    fn allocation(&self) -> Allocation {
        Allocation::Separable
    }
}

params! {
    /// Outputs grant and inputs accept, round-robin, several times per cycle.
    #[derive(Clone, Debug)]
    pub struct Islip {
        /// Rounds of request, grant and accept per cycle.
        pub iterations: u8 = 1,
    }
    check |it, section| {
        if !(1..=16).contains(&it.iterations) {
            let place = section.place_of("iterations");
            let message = format!("expected 1 to 16 iterations, found {}", it.iterations);
            section.notes.error("E0102", place, message).help("use 1 to 16");
        }
    }
}

impl Described for Islip {
    const NAME: &'static str = "islip";
    const SUMMARY: &'static str =
        "Outputs grant and inputs accept, round-robin, in several rounds per cycle.";
    const PAPER: Option<&'static str> = Some(
        "N. McKeown, \"The iSLIP scheduling algorithm for input-queued switches\", IEEE/ACM Trans. \
         Networking 7, 1999",
    );
    const EXAMPLE: &'static str = "iterations = 2";
}

impl Allocating for Islip {
    fn allocation(&self) -> Allocation {
        Allocation::Islip {
            iterations: self.iterations,
        }
    }
}
