//! Fuzzing: every input is run or reported as an error. Nothing panics, hangs or exhausts the
//! machine.
//!
//! ```text
//!  corpus.rs, described.rs ─► mutate.rs ─► inputs ─► limits.rs: run, with panics caught
//! ```
//!
//! These tests take a minute. `NETLOOM_FUZZ=100` generates a hundred times as many inputs,
//! `NETLOOM_FUZZ_SEED` changes them, and `NETLOOM_FUZZ_INPUT` selects one by its number. Inputs
//! that failed once are in `regressions`.

mod corpus;
mod described;
mod limits;
mod mutate;
mod random;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use corpus::Lists;
use described::Format;
use limits::{Input, fuzz};
use netloom_experiment::runner::{self, Control, RunOptions};
use netloom_experiment::spec::{self, Request};
use netloom_figures::{SvgStyle, csv, figures, pgfplots, svg};
use netloom_results::store::{RunFile, RunSummary, from_parquet, to_parquet};
use netloom_study::Study;
use netloom_units::Time;
use random::Random;
use serde_json::Value;

/// Memory that an experiment may need. A larger one is refused without being built.
const MEMORY: u64 = 24 << 20;
/// Most packet-hops of an experiment that runs with checks of invariants.
const MOST_HOPS: f64 = 10_000.0;
/// A run is stopped after this time.
const TIME_LIMIT: Duration = Duration::from_millis(500);

/// Returns a folder for one test.
fn folder(name: &str) -> PathBuf {
    let name = format!("fuzz-work-{name}-{}", std::process::id());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("writable");
    path
}

/// Checks a text like `netloom check`, and runs a valid, small experiment for a short time.
fn check_and_run(text: &str, directory: &Path) {
    let request = Request {
        files: netloom_catalog::Disk::folder(directory),
        memory: Some(MEMORY),
        will_run: true,
        ..Request::new("input.toml", text)
    };
    let opened = Study::open(&request);
    if opened.has_study {
        let _ = netloom_experiment::render(&opened.document, &opened.notes, true);
        if let Some(study) = opened.study {
            // A study may have a million points, which would be checked for a minute.
            for point in study.points().take(3) {
                let loaded = study.load(&point, study.seeds.first);
                let _ = netloom_experiment::render(&loaded.document, &loaded.notes, false);
            }
        }
        return;
    }
    let loaded = spec::load(&request);
    let _ = netloom_experiment::render(&loaded.document, &loaded.notes, true);
    if loaded.experiment.is_none() {
        return;
    }
    let sets = [
        "measure.repeat=1".to_owned(),
        "measure.warmup=\"auto\"".to_owned(),
    ];
    let short = Request {
        sets: &sets,
        length: Some(Time::from_nanos(3000)),
        ..request
    };
    let loaded = spec::load(&short);
    let (Some(experiment), Some(cost)) = (loaded.experiment, loaded.cost) else {
        return;
    };
    // The resolved file is an experiment.
    let resolved = experiment.resolved.to_toml(true);
    let again = spec::load(&Request {
        files: netloom_catalog::Disk::folder(directory),
        ..Request::new("input.toml", &resolved)
    });
    assert!(
        again.experiment.is_some(),
        "resolved:\n{resolved}\n{}",
        netloom_experiment::render(&again.document, &again.notes, false)
    );
    if cost.packet_hops > MOST_HOPS || cost.memory_bytes > MEMORY {
        return;
    }
    let began = Instant::now();
    let options = RunOptions::default();
    let result = runner::run(
        &experiment,
        &options,
        &mut |_| match began.elapsed() < TIME_LIMIT {
            true => Control::Continue,
            false => Control::Stop,
        },
    );
    let _ = result.document.to_json();
}

fn text_of(input: &Input, name: &str) -> String {
    let found = input.iter().find(|(own, _)| own == name);
    let bytes = found.map_or(&[][..], |(_, bytes)| bytes);
    String::from_utf8_lossy(bytes).into_owned()
}

fn one_file(name: &str, content: impl Into<Vec<u8>>) -> Input {
    vec![(name.to_owned(), content.into())]
}

#[test]
fn mutated_experiments() {
    let (texts, dictionary) = (corpus::experiments(), Format::new().dictionary());
    let directory = folder("experiments");
    let make = |random: &mut Random| {
        let original = random.of(&texts);
        one_file(
            "input.toml",
            mutate::text(original, &texts, &dictionary, random),
        )
    };
    fuzz("experiments", 500, make, |input| {
        check_and_run(&text_of(input, "input.toml"), &directory);
    });
}

#[test]
fn described_experiments() {
    let format = Format::new();
    let directory = folder("described");
    let make = |random: &mut Random| one_file("input.toml", format.experiment(random));
    fuzz("described", 1500, make, |input| {
        check_and_run(&text_of(input, "input.toml"), &directory);
    });
}

/// Mutates lists that an experiment names, and checks and runs the experiment.
fn lists(target: &'static str, lists: &Lists) {
    let directory = folder(target);
    let words: Vec<String> = lists.words.iter().map(|word| (*word).to_owned()).collect();
    let texts: Vec<String> = lists.texts.iter().map(|text| (*text).to_owned()).collect();
    let make = |random: &mut Random| {
        let original = random.of(&texts[..]).as_str();
        let mut text = mutate::text(original, &texts, &words, random).into_bytes();
        if random.one_in(8) {
            mutate::some_bytes(&mut text, random);
        }
        one_file(lists.name, text)
    };
    // The path of a graph file is relative to the working directory.
    let path = directory.join(lists.name).display().to_string();
    let experiment = lists.experiment.replace("fabric.txt", &path);
    fuzz(target, 1000, make, |input| {
        std::fs::write(directory.join(lists.name), &input[0].1).expect("writable");
        check_and_run(&experiment, &directory);
    });
}

#[test]
fn mutated_graphs() {
    lists("graphs", &corpus::GRAPHS);
}

#[test]
fn mutated_flow_lists() {
    lists("flows", &corpus::FLOWS);
}

#[test]
fn mutated_size_tables() {
    lists("sizes", &corpus::SIZES);
}

#[test]
fn mutated_connections() {
    lists("connections", &corpus::CONNECTIONS);
}

/// Returns the results of a text as the command writes them, each file by its path.
fn results(name: &str, text: &str) -> Input {
    let directory = folder(name);
    std::fs::write(directory.join("input.toml"), text).expect("writable");
    let ran = Command::new(env!("CARGO_BIN_EXE_netloom"))
        .args(["run", "input.toml", "-q", "-o", "out"])
        .current_dir(&directory)
        .stdout(Stdio::null())
        .status();
    assert!(ran.expect("it starts").code().is_some_and(|code| code != 3));
    let mut files = vec![];
    read_all(&directory.join("out"), Path::new(""), &mut files);
    files.sort();
    let _ = std::fs::remove_dir_all(&directory);
    files
}

fn read_all(root: &Path, inner: &Path, files: &mut Input) {
    for entry in std::fs::read_dir(root.join(inner)).expect("readable") {
        let name = inner.join(entry.expect("readable").file_name());
        let path = root.join(&name);
        match path.is_dir() {
            true => read_all(root, &name, files),
            false => files.push((
                name.display().to_string(),
                std::fs::read(path).expect("readable"),
            )),
        }
    }
}

/// Changes a file of results in ways that suit its format.
fn damaged(name: &str, bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if random.one_in(3) {
        mutate::some_bytes(&mut bytes, random);
        return bytes;
    }
    if name.ends_with(".json") {
        if let Ok(mut tree) = serde_json::from_slice::<Value>(&bytes) {
            mutate::json(&mut tree, random);
            return serde_json::to_vec(&tree).expect("a tree");
        }
    } else if name.ends_with(".parquet") {
        if let Ok(frame) = from_parquet(bytes.clone(), None) {
            let mut tree = serde_json::to_value(&frame).expect("a tree");
            let mut columns = tree["columns"].clone();
            mutate::json(&mut columns, random);
            tree["columns"] = columns;
            if let Ok(frame) = serde_json::from_value(tree) {
                return to_parquet(&frame);
            }
        }
    } else if name.ends_with(".json.zst")
        && let Some(changed) = changed_run_file(&bytes, random)
    {
        return changed;
    } else if let Ok(text) = std::str::from_utf8(&bytes) {
        return mutate::text(text, &[], &[], random).into_bytes();
    }
    mutate::some_bytes(&mut bytes, random);
    bytes
}

/// Changes the lines of a run file as trees.
fn changed_run_file(bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let text = zstd::decode_all(bytes).ok()?;
    let mut changed = vec![];
    let at = random.below(2);
    for (number, line) in text.split(|&byte| byte == b'\n').take(2).enumerate() {
        let mut tree: Value = serde_json::from_slice(line).ok()?;
        if number == at {
            mutate::json(&mut tree, random);
        }
        changed.extend(serde_json::to_vec(&tree).ok()?);
        changed.push(b'\n');
    }
    zstd::encode_all(changed.as_slice(), 1).ok()
}

#[test]
fn mutated_run_files() {
    let whole = results("run-files", corpus::STUDY);
    let runs: Input = whole
        .into_iter()
        .filter(|(name, _)| name.starts_with("runs/"))
        .collect();
    let directory = folder("run-files");
    let make = |random: &mut Random| {
        let (name, bytes) = random.of(&runs);
        one_file(name, damaged(name, bytes, random))
    };
    fuzz("run-files", 2000, make, |input| {
        let (name, bytes) = &input[0];
        let name = name.trim_start_matches("runs/");
        std::fs::write(directory.join(name), bytes).expect("writable");
        let run_id = RunFile::id_of(name).expect("the name of a run file");
        let _ = RunSummary::read(&directory, &run_id);
        let _ = RunFile::read(&directory, &run_id);
    });
}

#[test]
fn mutated_parquet() {
    let whole = results("parquet", corpus::SINGLE);
    let is_table = |(name, _): &(String, Vec<u8>)| name.ends_with(".parquet");
    let tables: Input = whole.into_iter().filter(is_table).collect();
    let make = |random: &mut Random| {
        let (name, bytes) = random.of(&tables);
        let mut bytes = bytes.clone();
        mutate::some_bytes(&mut bytes, random);
        one_file(name, bytes)
    };
    fuzz("parquet", 3000, make, |input| {
        let (name, bytes) = &input[0];
        let _ = from_parquet(bytes.clone(), None);
        let like = name
            .split('.')
            .next()
            .and_then(netloom_results::empty_table);
        let _ = from_parquet(bytes.clone(), like.as_ref());
    });
}

/// Every single changed bit of a table or document is detected.
#[test]
fn a_flipped_bit_of_a_folder_is_found() {
    let whole = results("bits", corpus::SINGLE);
    let work = folder("bits");
    for (name, bytes) in &whole {
        let path = work.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder above it")).expect("writable");
        std::fs::write(path, bytes).expect("writable");
    }
    let sound = netloom_results::store::read(&work).expect("it is sound");
    let mut random = Random::new(17, 0);
    let is_read = |name: &str| {
        name.ends_with(".parquet")
            || matches!(name, "results.json" | "resolved.toml" | "layout.json")
    };
    let read: Vec<_> = whole.iter().filter(|(name, _)| is_read(name)).collect();
    assert!(read.len() > 6, "{read:?}");
    for _ in 0..400 {
        let (name, bytes) = random.of(&read);
        let mut changed = bytes.clone();
        let at = random.below(changed.len());
        changed[at] ^= 1 << random.below(8);
        std::fs::write(work.join(name), changed).expect("writable");
        let found = netloom_results::store::read(&work);
        assert!(found.is_err(), "{name}: byte {at}");
        std::fs::write(work.join(name), bytes).expect("writable");
    }
    // A changed checksum makes a valid file damaged, and never a damaged one valid.
    let (_, sums) = whole
        .iter()
        .find(|(name, _)| name == "SHA256SUMS")
        .expect("it is there");
    for _ in 0..200 {
        let mut changed = sums.clone();
        let at = random.below(changed.len());
        changed[at] ^= 1 << random.below(8);
        std::fs::write(work.join("SHA256SUMS"), changed).expect("writable");
        if let Ok(read) = netloom_results::store::read(&work) {
            assert!(read == sound);
        }
    }
}

/// Configurations of OpenSM with any bytes: every finding has its place.
#[test]
fn mutated_configurations_are_linted() {
    let texts = [
        "qos TRUE\nqos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7\nmax_op_vls 4\n\
         routing_engine ftree,updn\n",
        "qos_vlarb_high 0:4,1:0\nqos_vlarb_low 0:0,1:64\nqos_high_limit 255\nqos_sw0_max_vls 8\n",
    ];
    let texts: Vec<String> = texts.map(str::to_owned).into();
    let words = ["qos_sl2vl ", "\u{fffd}", "ü", "#", "(null)", "\t"].map(str::to_owned);
    let place = folder("lint");
    let make = |random: &mut Random| {
        let original = random.of(&texts[..]).as_str();
        let mut text = mutate::text(original, &texts, &words, random).into_bytes();
        if random.one_in(2) {
            // OpenSM truncates lines after 1,022 bytes.
            let length = 900 + random.below(300);
            let at = random.below(text.len() + 1);
            let bytes = *random.of(&[0xed, 0xc3, b'a', b' ', b',']);
            text.splice(at..at, std::iter::repeat_n(bytes, length));
        }
        one_file("opensm.conf", text)
    };
    fuzz("lint", 40, make, |input| {
        std::fs::write(place.join("opensm.conf"), &input[0].1).expect("writable");
        let ended = Command::new(env!("CARGO_BIN_EXE_netloom"))
            .args(["site", "lint", "opensm", "opensm.conf", "--format", "json"])
            .current_dir(&place)
            .output()
            .expect("it starts");
        let words = String::from_utf8_lossy(&ended.stderr);
        assert!(
            matches!(ended.status.code(), Some(0..=6)) && !words.contains("panicked"),
            "{:?} {words}",
            ended.status
        );
    });
}

/// Reads a folder of results and formats all of it.
fn show(folder: &Path) {
    let Ok(collection) = netloom_results::store::read(folder) else {
        return;
    };
    for figure in figures(&collection) {
        let _ = svg(&figure, &SvgStyle::default());
        let _ = pgfplots(&figure, 3.5);
        let _ = csv(&figure);
    }
    let _ = netloom_report::html(&[collection], "fuzz");
}

/// Writes a folder and runs every command that reads one; only sometimes, since processes are slow.
fn commands(folder: &Path, sound: &Path, is_study: bool) {
    let (folder, sound) = (folder.display().to_string(), sound.display().to_string());
    let mut lines = vec![
        vec!["compare", sound.as_str(), folder.as_str()],
        vec!["plot", folder.as_str(), "--list"],
    ];
    if is_study {
        lines.push(vec!["study", "status", folder.as_str()]);
        lines.push(vec!["study", "merge", folder.as_str()]);
        lines.push(vec!["run", folder.as_str(), "-q"]);
    }
    for line in lines {
        let ended = Command::new(env!("CARGO_BIN_EXE_netloom"))
            .args(&line)
            .output()
            .expect("it starts");
        let words = String::from_utf8_lossy(&ended.stderr);
        let is_known_exit = matches!(ended.status.code(), Some(0..=6));
        assert!(
            is_known_exit && !words.contains("panicked"),
            "{line:?}: {:?} {words}",
            ended.status
        );
    }
}

/// Folders of results with one or two files damaged.
fn folders(target: &'static str, text: &str) {
    let whole = results(target, text);
    let (work, sound) = (folder(target), folder(&format!("{target}-sound")));
    let write = |folder: &Path, (name, bytes): &(String, Vec<u8>)| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder above it")).expect("writable");
        std::fs::write(path, bytes).expect("writable");
    };
    whole.iter().for_each(|file| write(&sound, file));
    let make = |random: &mut Random| {
        let mut files = whole.clone();
        for _ in 0..=random.below(2) {
            let at = random.below(files.len());
            if random.one_in(10) {
                files.remove(at);
            } else if random.one_in(20) {
                files[at].1 = random.of(&whole).1.clone();
            } else {
                files[at].1 = damaged(&files[at].0, &files[at].1, random);
            }
        }
        // With its checksums, damage is detected before the files are read.
        if !random.one_in(20) {
            files.retain(|(name, _)| name != "SHA256SUMS");
        }
        files
    };
    let is_study = whole.iter().any(|(name, _)| name == "study.json");
    let mut number = 0;
    fuzz(target, 400, make, |input| {
        let _ = std::fs::remove_dir_all(&work);
        input.iter().for_each(|file| write(&work, file));
        show(&work);
        number += 1;
        if number % 20 == 0 {
            commands(&work, &sound, is_study);
        }
    });
}

#[test]
fn damaged_folders_of_single_runs() {
    folders("single", corpus::SINGLE);
}

#[test]
fn damaged_folders_of_studies() {
    folders("study", corpus::STUDY);
}

/// Experiments that once caused an error.
#[test]
fn regressions() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/regressions");
    let mut n = 0;
    for entry in std::fs::read_dir(place).expect("a folder of the repository") {
        let path = entry.expect("readable").path();
        let text = std::fs::read_to_string(&path).expect("readable");
        limits::caught(|| check_and_run(&text, path.parent().expect("a folder")))
            .unwrap_or_else(|what| panic!("{}: {what}", path.display()));
        n += 1;
    }
    assert!(n > 0, "none are there");
}
