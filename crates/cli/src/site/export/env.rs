//! `netloom site export env`: the settings that put each library into its class.

use clap::{Args, ValueEnum};
use netloom_catalog::Notes;
use netloom_experiment::Kinds;
use netloom_settings::export::export;

use super::OneFile;
use crate::load;
use crate::output::Output;
use crate::site::lint_env::LinkKind;
use crate::site::plan_classes;

#[derive(Args)]
#[command(after_help = "Examples:
  netloom site export env moe.toml --link infiniband
  netloom site export env moe.toml --link roce --format k8s
  netloom site export env moe.toml --link infiniband --process prefill > prefill.sh

`carries = [\"nccl\", \"ucx@prefill\"]` of a [[plan.class]] names its libraries, and after @ the \
process of each. There is a block for each process: variables to set, variables that must stay \
unset, what cannot be done, and how to check the result. Libraries that connect by rdma_cm (Lustre, \
NVMe) get their service level from `netloom site export policy`. Settings that were not verified \
in the source of the library are not written. `netloom site lint env` checks the result.")]
pub(crate) struct EnvFile {
    #[command(flatten)]
    pub(super) file: OneFile,
    /// Kind of the links.
    #[arg(long, value_enum)]
    link: LinkKind,
    /// Format of the lines.
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
    /// Write only this process; `all` is that of libraries without one.
    #[arg(long, value_name = "NAME")]
    process: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Shell commands.
    Text,
    /// JSON.
    Json,
    /// Lists for the `env` of containers.
    K8s,
}

impl EnvFile {
    /// Returns the text, or `None` if the plan has errors, which are printed.
    pub(super) fn text(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Option<String>> {
        let file = &self.file.file;
        let overrides = self.file.overrides();
        let Some(planned) = plan_classes::of_plan(kinds, file, &overrides, &[], output)? else {
            return Ok(None);
        };
        let mut export = export(&planned.classes.classes, self.link.link());
        let mut notes = Notes::new();
        for problem in &export.problems {
            let mut places = problem.classes.iter().map(|class| planned.place(*class));
            let place = places.next().unwrap_or_default();
            let note = match problem.is_error {
                true => notes.error(problem.code, place, &problem.message),
                false => notes.warning(problem.code, place, &problem.message),
            };
            note.help(&problem.help);
            places.for_each(|place| {
                note.also(place, "the other class");
            });
        }
        load::tell(&planned.document, &notes, output);
        if notes.has_errors() {
            return Ok(None);
        }
        if export.blocks.is_empty() {
            anyhow::bail!(
                "no class of {} has `carries`; add a line such as carries = [\"nccl\"]",
                file.display()
            );
        }
        if let Some(process) = &self.process {
            let known: Vec<String> = export.blocks.iter().map(|b| b.name().to_owned()).collect();
            export.blocks.retain(|block| block.name() == process);
            if export.blocks.is_empty() {
                anyhow::bail!(
                    "expected a process ({}), found `{process}`",
                    known.join(", ")
                );
            }
        }
        let name = file.display().to_string();
        Ok(Some(match self.format {
            Form::Text => export.text(&name),
            Form::K8s => export.k8s(&name),
            Form::Json => serde_json::to_string_pretty(&export.json(&name))?,
        }))
    }
}
