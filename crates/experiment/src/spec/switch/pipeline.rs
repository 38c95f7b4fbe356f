//! `[switch.pipeline]`: latencies of the stages of a switch.

use netloom_catalog::params;
use netloom_fabric::Pipeline;

params! {
    /// Latencies of the stages, in cycles of the switch clock. The stages are pipelined: they delay
    /// a packet but do not limit throughput.
    #[derive(Clone, Debug)]
    pub struct Stages {
        /// Writing the header into the input buffer.
        pub input: u64 = 1,
        /// Computing the output.
        pub routing: u64 = 1,
        /// From the allocation to the first flit on the crossbar.
        pub allocation: u64 = 1,
        /// From the crossbar's input to the output buffer.
        pub crossbar: u64 = 1,
        /// From the scheduler's decision to the first flit on the link.
        pub output: u64 = 1,
        /// From a flit leaving the input buffer to its credit leaving for the other end.
        pub credit: u64 = 1,
    }
    check |it, section| {
        let stages = [
            ("input", it.input),
            ("routing", it.routing),
            ("allocation", it.allocation),
            ("crossbar", it.crossbar),
            ("output", it.output),
            ("credit", it.credit),
        ];
        for (key, cycles) in stages {
            if cycles > MOST_CYCLES {
                let place = section.place_of(key);
                let message = format!("expected 0 to {MOST_CYCLES} cycles, found {cycles}");
                let help = format!("use 0 to {MOST_CYCLES}");
                section.notes.error("E0102", place, message).help(help);
            }
        }
        if it.allocation == 0 && it.crossbar == 0 {
            let (allocation, crossbar) = (section.place_of("allocation"), section.place_of("crossbar"));
            section
                .notes
                .error("E0310", crossbar, "`allocation` and `crossbar` are both 0")
                .also(allocation, "")
                .help(
                    "set one of them to 1: a packet needs at least one cycle from input to output",
                );
        }
    }
}

const MOST_CYCLES: u64 = 1_000_000;

impl Stages {
    /// Returns the pipeline of the fabric's switches.
    pub(crate) fn pipeline(&self) -> Pipeline {
        Pipeline {
            input: self.input,
            routing: self.routing,
            allocation: self.allocation,
            crossbar: self.crossbar,
            output: self.output,
            credit: self.credit,
        }
    }
}
