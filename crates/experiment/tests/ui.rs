//! Cases in files: `ui/TOPIC/CASE.toml` is an experiment, and `CASE.snap` has its notes and facts.
//!
//! The first line of a case states what it shows. Files in `base` are those that cases extend or
//! name. `INSTA_UPDATE=always` writes the snapshots.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use netloom_catalog::MemoryFiles;
use netloom_experiment::spec::{Loaded, Request, load};
use netloom_experiment::{Experiment, bench, render};

/// Returns the files of a topic and of its `base`, by their names in cases.
fn files_of(topic: &Path) -> MemoryFiles {
    let mut files = vec![];
    for folder in ["", "base"] {
        for entry in fs::read_dir(topic.join(folder)).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = Path::new(folder).join(path.file_name().unwrap());
                files.push((name, fs::read(path).unwrap()));
            }
        }
    }
    MemoryFiles::from_iter(files)
}

fn notes(loaded: &Loaded) -> String {
    render(&loaded.document, &loaded.notes, false)
}

/// Returns the resolved text of an experiment. It is the same experiment, without notes.
fn resolved(experiment: &Experiment) -> String {
    let text = experiment.resolved.to_toml(true);
    let loaded = load(&Request::new("resolved.toml", &text));
    assert_eq!(notes(&loaded), "", "{text}");
    let again = loaded.experiment.expect("no notes");
    let texts = [experiment, &again].map(|one| one.resolved.to_toml(false));
    assert_eq!(texts[0], texts[1]);
    assert_eq!(again.timebase, experiment.timebase);
    assert_eq!(again.fabric.largest, experiment.fabric.largest);
    text
}

/// Returns the notes about a case and, if it is valid, its facts or its resolved text.
fn described(case: &Path) -> String {
    let (topic, name) = (case.parent().unwrap(), case.file_name().unwrap());
    let text = fs::read_to_string(case).unwrap();
    assert!(text.starts_with("# "), "{name:?} states what it shows");
    let loaded = load(&Request {
        files: Arc::new(files_of(topic)),
        ..Request::new(&name.to_string_lossy(), &text)
    });
    assert_eq!(loaded.experiment.is_none(), loaded.notes.has_errors());
    let mut parts = vec![notes(&loaded)];
    match &loaded.experiment {
        Some(experiment) if topic.ends_with("resolved") => parts.push(resolved(experiment)),
        Some(_) => {
            let facts = loaded.facts.iter();
            let lines: Vec<String> = facts
                .map(|(word, fact)| format!("{word}: {fact}"))
                .collect();
            parts.push(lines.join("\n"));
        }
        None => {}
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

#[test]
fn every_case_has_the_notes_and_facts_of_its_snapshot() {
    insta::glob!("ui/*/*.toml", |case| {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(case.parent().unwrap());
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.remove_snapshot_suffix();
        let name = case.file_stem().unwrap().to_string_lossy();
        settings.bind(|| insta::assert_snapshot!(name.as_ref(), described(case)));
    });
}

#[test]
fn a_resolved_benchmark_fabric_loads_to_itself() {
    let text = bench::bench_fabric("torus512").unwrap();
    let experiment = load(&Request::new("test.toml", text)).experiment;
    resolved(&experiment.expect("a sound fabric"));
}
