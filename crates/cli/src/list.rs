//! `netloom list`: what can be named in an experiment.

use clap::{Args, ValueEnum};
use netloom_experiment::Kinds;
use netloom_experiment::spec::concepts;

use super::Exit;
use super::output::Output;
use super::table::Columns;

#[derive(Args)]
pub(crate) struct List {
    /// Kinds of what; without it, of everything.
    #[arg(value_enum)]
    what: Option<What>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    Topologies,
    Routings,
    FlowControls,
    Switches,
    Stashes,
    CongestionControls,
    Queues,
    Allocators,
    NicQueues,
    Arbiters,
    Patterns,
    Arrivals,
    Sizes,
    Workloads,
}

impl What {
    /// The concept in messages about experiments.
    fn concept(self) -> &'static str {
        match self {
            What::Topologies => "topology",
            What::Routings => "routing",
            What::FlowControls => "flow control",
            What::Switches => "switch",
            What::Stashes => "stash",
            What::CongestionControls => "congestion control",
            What::Queues => "queue scheme",
            What::Allocators => "allocator",
            What::NicQueues => "NIC queueing",
            What::Arbiters => "arbiter",
            What::Patterns => "pattern",
            What::Arrivals => "arrival process",
            What::Sizes => "message size",
            What::Workloads => "workload",
        }
    }
}

impl List {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        let mut text = String::new();
        for what in What::value_variants() {
            if self.what.is_some_and(|wanted| wanted != *what) {
                continue;
            }
            let all = concepts(kinds);
            let known = all.iter().find(|concept| concept.name == what.concept());
            let concept = known.expect("every word of `list` names a concept");
            let mut table = Columns::words();
            concept
                .kinds
                .iter()
                .for_each(|kind| table.line([kind.name, kind.summary]));
            if self.what.is_none() {
                text.push_str(&format!(
                    "{} ({}): {}\n",
                    concept.name, concept.path, concept.about
                ));
            }
            text.push_str(&table.print());
            if self.what.is_none() {
                text.push('\n');
            }
        }
        output.text(text.trim_end_matches('\n'))?;
        Ok(Exit::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_concept_can_be_listed() {
        let listed: Vec<&str> = What::value_variants()
            .iter()
            .map(|what| what.concept())
            .collect();
        for concept in concepts(Kinds::built_in()) {
            assert!(
                listed.contains(&concept.name),
                "{} is not listed",
                concept.name
            );
        }
        assert_eq!(listed.len(), concepts(Kinds::built_in()).len());
    }
}
