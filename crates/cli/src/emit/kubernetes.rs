//! `netloom study emit kubernetes`: writes a study as an indexed Job, with a ConfigMap and a claim
//! on a shared volume.
//!
//! ```text
//!  ConfigMap (the study) ──/study──►  pod 0 … pod N-1, each a shard by its index  ──/results──►  PersistentVolumeClaim
//! ```
//!
//! Jobs do not wait for each other, so every shard tries to merge at its end, and the last one
//! succeeds. A shard exits with 0 if its runs are stored, whatever their verdicts. The exit code of
//! the merge does not fail the pod.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use anyhow::bail;
use clap::Args;
use netloom_study::Study;
use netloom_study::running::named_files;

use super::template::fill;
use super::words::{quoted, quoted_path};
use super::{What, program};
use crate::load::at_least_one;
use crate::shard;

/// Paths in a pod of the study and of its results.
const STUDY: &str = "/study/study.toml";
const RESULTS: &str = "/results";

/// The name of a pod is that of its Job and an index, and has at most 63 characters.
const LONGEST_NAME: usize = 40;
/// A ConfigMap has at most 1 MiB, including its names.
const LONGEST_STUDY: usize = 1_000_000;

#[derive(Args)]
pub(crate) struct Kubernetes {
    #[command(flatten)]
    pub(super) what: What,
    /// Container image with netloom and a shell.
    #[arg(long, value_name = "IMAGE", value_parser = image)]
    image: String,
    /// Existing claim on a volume [default: create one].
    #[arg(long, value_name = "NAME", value_parser = name)]
    claim: Option<String>,
    /// Size of the created claim, as a Kubernetes quantity.
    #[arg(long, value_name = "SIZE", default_value = "10Gi", value_parser = quantity, conflicts_with = "claim")]
    storage: String,
    /// Storage class of the created claim [default: that of the cluster].
    #[arg(long, value_name = "NAME", value_parser = name, conflicts_with = "claim")]
    storage_class: Option<String>,
    /// Number of shards that run at the same time [default: all].
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    parallelism: Option<usize>,
    /// Cores per shard.
    #[arg(long, value_name = "N", default_value = "4", value_parser = at_least_one)]
    pub(super) cpus: usize,
    /// Memory per shard, as a Kubernetes quantity.
    #[arg(long, value_name = "SIZE", default_value = "4Gi", value_parser = quantity)]
    mem: String,
}

impl Kubernetes {
    /// Returns the manifest for `shards` shards.
    pub(super) fn manifest(&self, study: &Study, shards: usize) -> anyhow::Result<String> {
        let files = named_files(study);
        if let Some(file) = files.iter().find(|file| Path::new(file).is_relative()) {
            bail!(
                "the study uses {file}, which pods do not have; copy it to the volume and name it \
                 {RESULTS}/{file}"
            );
        }
        let text = study.to_toml();
        if text.len() > LONGEST_STUDY {
            bail!(
                "the study has {} bytes, but a ConfigMap holds at most {LONGEST_STUDY}",
                text.len()
            );
        }
        let own_name = label(&self.what.file);
        let folder = quoted_path(&self.folder(study)?)?;
        let manifest = match &self.what.output {
            Some(path) => quoted_path(path)?,
            None => format!("{own_name}.yaml"),
        };
        let claim = self.claim.as_ref().unwrap_or(&own_name);
        let parallelism = self.parallelism.unwrap_or(shards).min(shards);
        let program = quoted(program())?;
        let Kubernetes {
            image, cpus, mem, ..
        } = self;
        let mut options = String::new();
        for option in &self.what.options {
            write!(options, " \\\n                {}", quoted(option)?)?;
        }
        let (text, made) = (yaml_lines(&text, 4), self.made(&own_name));
        let gone = match self.claim {
            Some(_) => "delete everything except the volume",
            None => "delete everything, including the results",
        };
        let shards = shards.to_string();
        let values = [
            ("manifest", manifest.as_str()),
            ("own_name", &own_name),
            ("gone", gone),
            ("folder", &folder),
            ("text", &text),
            ("made", &made),
            ("shards", &shards),
            ("parallelism", &parallelism.to_string()),
            ("image", image),
            ("program", &program),
            ("study", STUDY),
            ("cpus", &cpus.to_string()),
            ("options", &options),
            ("variable", shard::SHARDS),
            ("mem", mem),
            ("results", RESULTS),
            ("claim", claim),
        ];
        Ok(fill(include_str!("templates/kubernetes.yaml"), &values))
    }

    /// Returns the folder of results in a pod.
    fn folder(&self, study: &Study) -> anyhow::Result<PathBuf> {
        let given = self.what.results.clone();
        let inside = given.unwrap_or_else(|| crate::study::folder_of(study));
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if !inside.components().all(is_plain) {
            bail!(
                "--results is a folder of the volume: expected a relative path without .., found \
                 {}",
                inside.display()
            );
        }
        Ok(Path::new(RESULTS).join(inside))
    }

    /// Returns the claim for all pods, if none is given.
    fn made(&self, own_name: &str) -> String {
        if self.claim.is_some() {
            return String::new();
        }
        let storage = &self.storage;
        let class = self.storage_class.as_ref();
        let class = class.map_or(String::new(), |class| {
            format!("  storageClassName: {class}\n")
        });
        let values = [
            ("own_name", own_name),
            ("class", &class),
            ("storage", storage),
        ];
        fill(include_str!("templates/kubernetes-claim.yaml"), &values)
    }
}

/// Returns the inside of a double-quoted YAML scalar, with each line of the text on its own line,
/// indented by `by` spaces.
///
/// Other characters than printable ASCII are escaped. YAML 1.1 reads U+0085, U+2028 and U+2029 as
/// line breaks, so a text with one of them would end a literal block.
fn yaml_lines(text: &str, by: usize) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        write!(out, "{:by$}", "").expect("a string takes everything");
        for (at, c) in line.chars().enumerate() {
            let written = match c {
                '"' | '\\' => write!(out, "\\{c}"),
                '\n' => write!(out, "\\n"),
                // YAML ignores the indentation of a continued line.
                ' ' if at == 0 => write!(out, "\\ "),
                ' '..='~' => write!(out, "{c}"),
                c if u32::from(c) <= 0xffff => write!(out, "\\u{:04x}", u32::from(c)),
                c => write!(out, "\\U{:08x}", u32::from(c)),
            };
            written.expect("a string takes everything");
        }
        // An escaped line end is not part of the text.
        out.push_str("\\\n");
    }
    out
}

/// Converts the name of a file to a Kubernetes name: lowercase letters, digits and dashes between
/// them.
fn label(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let plain = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_alphanumeric() => c,
        _ => '-',
    };
    let label: String = stem.chars().map(plain).take(LONGEST_NAME).collect();
    match label.trim_matches('-') {
        "" => "study".to_owned(),
        label => label.to_owned(),
    }
}

fn name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
    let has_ends = !text.starts_with(['-', '.']) && !text.ends_with(['-', '.']);
    match !text.is_empty() && text.len() <= 253 && has_ends && text.chars().all(is_plain) {
        true => Ok(text.to_owned()),
        false => {
            Err("expected lowercase letters, digits, and dashes or dots between them".to_owned())
        }
    }
}

fn image(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "./:@_-".contains(c);
    match text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_plain) {
        // YAML would read a name such as 1:30 as a number.
        true => Ok(format!("\"{text}\"")),
        false => Err("expected registry/name:tag".to_owned()),
    }
}

fn quantity(text: &str) -> Result<String, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text[digits.len()..];
    let is_number = digits.parse::<u64>().is_ok_and(|number| number > 0);
    match is_number && ["Mi", "Gi", "Ti", "M", "G", "T"].contains(&unit) {
        true => Ok(text.to_owned()),
        false => Err("expected a Kubernetes quantity such as 4Gi or 500Mi".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_kubernetes() {
        for (file, wanted) in [
            ("study.toml", "study"),
            ("a/Two Words_é.toml", "two-words"),
            ("--.toml", "study"),
            ("1.2.toml", "1-2"),
        ] {
            assert_eq!(label(Path::new(file)), wanted);
            assert!(name(&label(Path::new(file))).is_ok());
        }
        let long = label(Path::new(&"x".repeat(300)));
        assert_eq!(long.len(), LONGEST_NAME);
        for wrong in ["", "-a", "a-", "A", "a b", "a\n"] {
            assert!(name(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_text_is_lines_of_ascii_in_quotes() {
        let text = "a = \"b\\n\"\n\n  indented\n\ttab\u{85}\u{2028}---\u{1f600}\r\nend";
        let expected = r#"  a = \"b\\n\"\n\
  \n\
  \  indented\n\
  \u0009tab\u0085\u2028---\U0001f600\u000d\n\
  end\
"#;
        assert_eq!(yaml_lines(text, 2), expected);
    }

    #[test]
    fn quantities_and_images_are_plain() {
        for right in ["4Gi", "500M", "1Ti"] {
            assert!(quantity(right).is_ok(), "{right}");
        }
        for wrong in ["", "Gi", "4", "4 Gi", "0Gi", "-1Gi", "4GB", "1.5Gi"] {
            assert!(quantity(wrong).is_err(), "{wrong:?}");
        }
        assert!(image("registry.example:5000/group/netloom:1.2@sha256:00ff").is_ok());
        for wrong in ["", "-x", "a b", "a\"b", "a\nb"] {
            assert!(image(wrong).is_err(), "{wrong:?}");
        }
    }
}
