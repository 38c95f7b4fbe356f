//! `[switch.pipeline]`: what each stage of a switch takes.

use netloom_catalog::params;
use netloom_fabric::Pipeline;

params! {
    /// Latencies of the stages, in cycles of the switch's clock. They are pipelined: they delay a packet
    /// and occupy nothing.
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
                section.notes.error("E0102", place, format!("{cycles} cycles")).help(format!("write 0 to {MOST_CYCLES}"));
            }
        }
        if it.allocation == 0 && it.crossbar == 0 {
            let (allocation, crossbar) = (section.place_of("allocation"), section.place_of("crossbar"));
            section
                .notes
                .error("E0310", crossbar, "`allocation` and `crossbar` are both 0")
                .also(allocation, "")
                .help("a packet needs at least one cycle from its input to its output: give one of them 1");
        }
    }
}

const MOST_CYCLES: u64 = 1_000_000;

impl Stages {
    /// As the fabric knows them.
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
