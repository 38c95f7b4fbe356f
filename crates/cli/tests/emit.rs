//! The scripts of `netloom study emit`, as text, under shellcheck, and run with stubs for the
//! programs that they call.

#![cfg(unix)]

mod place;

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use place::{Ended, Place};

/// Prints its arguments.
const STAND_IN: &str =
    "#!/bin/sh\necho \"$(basename \"$0\")[$NETLOOM_SHARDS] $*\" | tee -a calls >&2\n";

/// Returns a place with a study and stubs for programs.
fn place(name: &str, programs: &[&str]) -> Place {
    let place = Place::new(name);
    let text = "netloom = 1\n[topology]\nkind = \"single-switch\"\nports = 4\n\
        [[traffic]]\nload = 0.5\n[study.axes]\n\"traffic.load\" = [0.1, 0.2, 0.3]\n";
    place.file("study.toml", text);
    let run = "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 2\nlevels = 2\n\
        [[traffic]]\nload = 0.5\n[measure]\nlength = \"20 us\"\n";
    place.file("run.toml", run);
    let axes = "[study.axes]\n\"traffic.load\" = [0.1, 0.2, 0.3]\n";
    place.file("tree.toml", &format!("{run}{axes}"));
    for program in programs {
        place.file(program, STAND_IN);
        let path = place.0.join(program);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    place
}

/// Runs a script of a place, with its programs first on the PATH.
fn bash(place: &Place, script: &str, environment: &[(&str, &str)]) -> Ended {
    let path = format!("{}:{}", place.0.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.current_dir(&place.0).arg(script).env("PATH", path);
    command.env_remove("SLURM_ARRAY_TASK_ID");
    for job in ["SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"] {
        command.env_remove(job);
    }
    Ended::new(command.envs(environment.iter().copied()).output().unwrap())
}

fn has(program: &str) -> bool {
    let mut command = Command::new(program);
    let found = command.arg("--version").stdout(Stdio::null()).status();
    if found.is_err() {
        eprintln!("skipped: there is no {program}");
    }
    found.is_ok()
}

/// Emits from command lines in the place, by the names of their snapshots.
const SCRIPTS: [(&str, &str); 8] = [
    ("slurm", "slurm study.toml --shards 8"),
    (
        "slurm-ranks",
        "slurm run.toml --ranks 4 --ranks-per-node 2 --cpus 2 --mem 3G -- --seed 7",
    ),
    ("slurm-study-ranks", "slurm tree.toml --ranks 2"),
    (
        "pbs",
        "pbs study.toml --shards 8 --queue workq --account me",
    ),
    ("pbs-one", "pbs study.toml"),
    (
        "lsf",
        "lsf study.toml --shards 2 --cpus 2 --mem 8GB --project me -- --seed 7",
    ),
    ("parallel", "parallel study.toml --shards 8"),
    (
        "kubernetes",
        "kubernetes study.toml --image registry.example/netloom:1 --shards 8 --storage-class nfs",
    ),
];

#[test]
fn scripts_are_those_of_each_system() {
    let place = place("emit-scripts", &[]);
    for (name, line) in SCRIPTS {
        let line: Vec<&str> = line.split(' ').collect();
        let script = place.run(&[&["study", "emit"], &line[..]].concat());
        insta::assert_snapshot!(name, script.with(0).stdout);
    }
}

#[test]
fn a_manifest_is_not_executable_and_uses_an_existing_claim() {
    let place = place("emit-kubernetes", &[]);
    let line = "study emit kubernetes study.toml --image a --claim scratch -o it.yaml -- --until";
    let line: Vec<&str> = line.split(' ').chain(["1 ms"]).collect();
    let stderr = place.run(&line).with(0).stderr;
    assert!(
        stderr.contains("wrote it.yaml: 1 shard of 3 units. Next: kubectl apply -f it.yaml"),
        "{stderr}"
    );
    let text = place.read("it.yaml");
    assert!(text.contains("claimName: scratch") && !text.contains("PersistentVolumeClaim\n"));
    let mode = std::fs::metadata(place.0.join("it.yaml")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o111, 0);
}

/// Prints the documents of a manifest as a YAML 1.1 reader sees them.
const READ_YAML: &str = "import json, sys, \
    yaml\nprint(json.dumps(list(yaml.safe_load_all(open('it.yaml', encoding='utf-8')))))\n";

/// A study whose text has every line end that YAML 1.1 knows, each followed by a document of its
/// own.
fn study_with_line_ends() -> String {
    let pod = |end: &str| format!("{end}---{end}kind: Pod{end}");
    let ends = [
        "\\n",
        "\\r",
        "\u{85}",
        "\u{2028}",
        "\u{2029}",
        "\u{feff}",
        "\\u2028",
        "\u{1f600}",
    ];
    let about: String = ends.map(pod).concat();
    format!(
        "netloom = 1\nabout = \"{about}\"\n[topology]\nkind = \"single-switch\"\nports = 4\n\
         [[traffic]]\nload = 0.5\n[study.axes]\n\"traffic.load\" = [0.1, 0.2, 0.3]\n"
    )
}

#[test]
fn no_text_of_a_study_becomes_a_document_of_its_manifest() {
    let place = place("emit-yaml", &[]);
    place.file("lines.toml", &study_with_line_ends());
    let emit = [
        "study",
        "emit",
        "kubernetes",
        "lines.toml",
        "--image",
        "a",
        "-o",
        "it.yaml",
    ];
    place.run(&emit).with(0);
    let text = place.read("it.yaml");
    assert!(text.is_ascii(), "{text}");
    let kinds: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("kind: "))
        .collect();
    assert_eq!(
        kinds
            .iter()
            .filter(|line| line.starts_with("kind: "))
            .count(),
        3,
        "{kinds:?}"
    );
    let mut python = Command::new("python3");
    let read = python
        .args(["-c", READ_YAML])
        .current_dir(&place.0)
        .output();
    let Ok(read) = read else { return };
    if String::from_utf8_lossy(&read.stderr).contains("No module named") {
        eprintln!("skipped: Python has no yaml");
        return;
    }
    let documents = Ended::new(read).with(0).stdout;
    let documents: serde_json::Value = serde_json::from_str(&documents).unwrap();
    let kinds: Vec<&str> = documents
        .as_array()
        .unwrap()
        .iter()
        .map(|document| document["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["ConfigMap", "PersistentVolumeClaim", "Job"]);
    // It is the same study.
    let stored = documents[0]["data"]["study.toml"].as_str().unwrap();
    place.file("stored.toml", stored);
    let (there, here) = (
        place.run(&["check", "stored.toml"]),
        place.run(&["check", "lines.toml"]),
    );
    assert_eq!(there.stdout.replace("stored", "lines"), here.stdout);
    assert!(stored.contains("\u{2028}---\u{2028}kind: Pod"), "{stored}");
}

#[test]
fn a_name_is_no_command_of_parallel() {
    if !has("parallel") {
        return;
    }
    let place = place("emit-perl", &["netloom"]);
    let name = "{= system('touch made') =} {} {#} $(touch made) `touch made` ' \\\" é";
    let study = place.read("study.toml");
    place.file("study.toml", &format!("name = \"{name}\"\n{study}"));
    let emit = [
        "study",
        "emit",
        "parallel",
        "study.toml",
        "--shards",
        "2",
        "-o",
        "it.sh",
    ];
    place.run(&emit).with(0);
    bash(&place, "it.sh", &[]).with(0);
    assert!(!place.0.join("made").exists());
    let folder = name.replace("\\\"", "\"");
    let expected = format!("netloom[] run study.toml -o {folder}.out --progress plain --shard 2/2");
    let calls = place.read("calls");
    assert!(calls.lines().any(|line| line == expected), "{calls}");
}

#[test]
fn what_no_pod_could_do_is_refused() {
    let place = place("emit-kubernetes-mistakes", &[]);
    place.file("flows.csv", "time_ns,source,destination,bytes\n0,0,1,64\n");
    let listed = "netloom = 1\n[topology]\nkind = \"single-switch\"\nports = 4\n\
        [[traffic]]\nflows = \"flows.csv\"\n[study]\n";
    place.file("listed.toml", listed);
    let first_line = |file: &str, arguments: &[&str], code: i32| {
        let line = [&["study", "emit", "kubernetes", file], arguments].concat();
        let ended = place.run(&line).with(code);
        ended.stderr.lines().next().unwrap_or_default().to_owned()
    };
    insta::assert_snapshot!(
        [
            first_line("study.toml", &[], 2),
            first_line("run.toml", &["--image", "a"], 2),
            first_line("study.toml", &["--image", "a b"], 2),
            first_line("study.toml", &["--image", "a", "--mem", "4GB"], 2),
            first_line("study.toml", &["--image", "a", "--claim", "My Disk"], 2),
            first_line("study.toml", &["--image", "a", "--claim", "b", "--storage", "1Gi"], 2),
            first_line("study.toml", &["--image", "a", "--results", "/there"], 1),
            first_line("listed.toml", &["--image", "a"], 1),
        ]
        .join("\n"),
        @"
        error: the following required arguments were not provided:
        error: expected a study, found a file without [study]; use netloom run, or netloom study emit slurm --ranks N for the ranks of an MPI job
        error: invalid value 'a b' for '--image <IMAGE>': expected registry/name:tag
        error: invalid value '4GB' for '--mem <SIZE>': expected a Kubernetes quantity such as 4Gi or 500Mi
        error: invalid value 'My Disk' for '--claim <NAME>': expected lowercase letters, digits, and dashes or dots between them
        error: the argument '--claim <NAME>' cannot be used with '--storage <SIZE>'
        error: --results is a folder of the volume: expected a relative path without .., found /there
        error: the study uses flows.csv, which pods do not have; copy it to the volume and name it /results/flows.csv
        "
    );
}

#[test]
fn what_the_user_says_is_taken_over() {
    let place = place("emit-options", &[]);
    let script = place
        .run(&[
            "study",
            "emit",
            "slurm",
            "study.toml",
            "--shards",
            "3",
            "--partition",
            "short",
            "--account",
            "me",
            "--time",
            "2-00",
            "--mem",
            "900M",
            "--cpus",
            "2",
            "--results",
            "else where",
            "-o",
            "it.sh",
            "--",
            "--set",
            "traffic.name=\"two words\"",
            "--until",
            "1 ms",
        ])
        .with(0);
    assert_eq!(script.stdout, "");
    assert!(
        script
            .stderr
            .contains("wrote it.sh: 3 shards of 1 unit. Next: bash it.sh"),
        "{}",
        script.stderr
    );
    let text = place.read("it.sh");
    for line in [
        "#SBATCH --array=1-3",
        "#SBATCH --time=2-00",
        "#SBATCH --cpus-per-task=2",
        "#SBATCH --mem=900M",
        "#SBATCH --partition=short",
        "#SBATCH --account=me",
        "export NETLOOM_SHARDS=3",
        "folder='else where'",
        "    'traffic.name=\"two words\"' \\",
        "    '1 ms'",
    ] {
        assert!(
            text.lines().any(|found| found == line),
            "{line} is not in\n{text}"
        );
    }
    // An existing script is replaced only with --overwrite.
    let again = [
        "study",
        "emit",
        "parallel",
        "study.toml",
        "--shards",
        "3",
        "-o",
        "it.sh",
    ];
    let refused = place.run(&again).with(1);
    assert!(
        refused
            .stderr
            .contains("it.sh already exists; use --overwrite to replace it"),
        "{}",
        refused.stderr
    );
    place.run(&[&again[..], &["--overwrite"]].concat()).with(0);
    assert!(place.read("it.sh").contains("GNU parallel"));
}

#[test]
fn a_shard_has_at_least_one_unit() {
    let place = place("emit-units", &[]);
    let stderr = |shards: &str, script: &str| {
        let line = [
            "study",
            "emit",
            "slurm",
            "study.toml",
            "--shards",
            shards,
            "-o",
            script,
        ];
        place.run(&line).with(0).stderr
    };
    let all = [
        stderr("64", "a.sh"),
        stderr("2", "b.sh"),
        stderr("1", "c.sh"),
    ];
    insta::assert_snapshot!(all.concat(), @"
    64 shards for 3 units: using one shard per unit
    wrote a.sh: 3 shards of 1 unit. Next: bash a.sh
    wrote b.sh: 2 shards of 1 to 2 units. Next: bash b.sh
    wrote c.sh: 1 shard of 3 units. Next: bash c.sh
    ");
    assert!(place.read("a.sh").contains("#SBATCH --array=1-3\n"));
}

#[test]
fn mistakes_are_found_before_any_shard_meets_them() {
    let place = place("emit-mistakes", &[]);
    place.file("plain.toml", "netloom = 1\n");
    let first_line = |arguments: &[&str], code: i32| {
        let ended = place
            .run(&[&["study", "emit", "slurm"], arguments].concat())
            .with(code);
        ended.stderr.lines().next().unwrap_or_default().to_owned()
    };
    insta::assert_snapshot!(
        [
            first_line(&["plain.toml"], 2),
            first_line(&["study.toml", "--shards", "0"], 2),
            first_line(&["study.toml", "--shards", "2", "--time", "one hour"], 2),
            first_line(&["study.toml", "--shards", "2", "--", "--sett", "a=1"], 2),
            first_line(&["study.toml", "--shards", "2", "--", "-o", "there"], 2),
            first_line(&["study.toml", "--", "--threads", "2"], 2),
            first_line(&["study.toml", "--mem", "4 GB"], 2),
            first_line(&["study.toml", "--ranks-per-node", "2"], 2),
            first_line(&["study.toml", "--ranks", "2"], 2),
            first_line(&["run.toml", "--ranks", "7"], 2),
            first_line(&["run.toml", "--ranks", "0"], 2),
            first_line(&["run.toml", "--ranks", "2", "--shards", "3"], 2),
            first_line(&["run.toml", "--ranks", "2", "--mpi", "a b"], 2),
            first_line(&["run.toml", "--ranks", "2", "--", "--mpi"], 2),
            first_line(&["plain.toml", "--ranks", "2"], 3),
            first_line(&["absent.toml", "--shards", "2"], 1),
        ]
        .join("\n"),
        @r#"
        error: expected a study, found a file without [study]; use netloom run, or netloom study emit slurm --ranks N for the ranks of an MPI job
        error: invalid value '0' for '--shards <N>': expected a whole number of at least 1
        error: invalid value 'one hour' for '--time <TIME>': expected a value without spaces and quotes
        error: `netloom run` does not accept the options after `--`: unexpected argument '--sett' found
        error: `netloom run` does not accept the options after `--`: the argument '--output <DIR>' cannot be used multiple times
        error: `netloom run` does not accept the options after `--`: the argument '--threads <N>' cannot be used multiple times
        error: invalid value '4 GB' for '--mem <SIZE>': expected a whole number with K, M, G or T
        error: the following required arguments were not provided:
        error: 2 ranks, but the fabric has 1 switch: start at most 1
        error: 7 ranks, but the fabric has 4 switches: start at most 4
        error: invalid value '0' for '--ranks <N>': expected a whole number of at least 1
        error: --shards needs a study, but this file has no [study]
        error: invalid value 'a b' for '--mpi <TYPE>': expected a value without spaces and quotes
        error: `netloom run` does not accept the options after `--`: the argument '--mpi' cannot be used multiple times
        error[E0105]: `topology` is missing
        error: cannot read absent.toml: No such file or directory (os error 2)
        "#
    );
}

#[test]
fn shellcheck_has_nothing_to_say() {
    if !has("shellcheck") {
        return;
    }
    let place = place("emit-shellcheck", &[]);
    let kinds: [&[&str]; 7] = [
        &["slurm", "study.toml", "--shards", "2"],
        &["pbs", "study.toml", "--shards", "2", "--queue", "workq"],
        &["pbs", "study.toml", "--shards", "1"],
        &["lsf", "study.toml", "--shards", "2", "--queue", "normal"],
        &["parallel", "study.toml", "--shards", "2"],
        &["slurm", "tree.toml", "--ranks", "2"],
        &["slurm", "run.toml", "--ranks", "3", "--ranks-per-node", "2"],
    ];
    let options: [&[&str]; 2] = [
        &[],
        &[
            "--results",
            "it's here",
            "--",
            "--set",
            "name=\"b c\"",
            "--force",
        ],
    ];
    for kind in kinds {
        for options in options {
            let target = ["-o", "it.sh", "--overwrite"];
            place
                .run(&[&["study", "emit"], kind, &target, options].concat())
                .with(0);
            let mut shellcheck = Command::new("shellcheck");
            let found = shellcheck
                .arg("it.sh")
                .current_dir(&place.0)
                .output()
                .unwrap();
            Ended::new(found).with(0);
        }
    }
}

#[test]
fn the_script_for_slurm_submits_runs_and_merges() {
    let place = place("emit-submits", &["netloom", "sbatch"]);
    place.file(
        "sbatch",
        "#!/bin/sh\necho \"sbatch $*\" >>calls\necho '17;cluster'\n",
    );
    place
        .run(&[
            "study",
            "emit",
            "slurm",
            "study.toml",
            "--shards",
            "8",
            "-o",
            "it.sh",
            "--",
            "--set",
            "a=b c",
        ])
        .with(0);
    let submitted = bash(&place, "it.sh", &[]).with(0).stdout;
    assert_eq!(
        submitted,
        "submitted array 17 and merge 17; see: netloom study status study.out\n"
    );
    bash(&place, "it.sh", &[("SLURM_ARRAY_TASK_ID", "3")]).with(0);
    insta::assert_snapshot!(place.read("calls"), @r#"
    sbatch --parsable it.sh
    sbatch --parsable --dependency=afterany:17 --array=1 --job-name=study-merge --output=study-merge-%A.log it.sh merge
    netloom[3] run study.toml -o study.out --shard auto --threads 1 --progress plain --set a=b c
    "#);
    // The script reports what is missing, instead of an error of bash.
    std::fs::remove_file(place.0.join("study.toml")).unwrap();
    let missing = bash(&place, "it.sh", &[]).with(1).stderr;
    assert!(
        missing.starts_with("cannot read study.toml in "),
        "{missing}"
    );
    let missing = bash(&place, "it.sh", &[("NETLOOM", "absent")])
        .with(1)
        .stderr;
    assert!(missing.starts_with("cannot find absent: "), "{missing}");
}

#[test]
fn the_script_for_pbs_submits_runs_and_merges() {
    let place = place("emit-pbs", &["netloom", "qsub"]);
    place.file(
        "qsub",
        "#!/bin/sh\necho \"qsub $*\" >>calls\necho '17[].head'\n",
    );
    let emit = |shards: &str| {
        let line = "study emit pbs study.toml -o it.sh --overwrite --shards";
        let line: Vec<&str> = line.split(' ').chain([shards]).collect();
        place.run(&line).with(0);
    };
    emit("3");
    let submitted = bash(&place, "it.sh", &[]).with(0).stdout;
    assert_eq!(
        submitted,
        "submitted array 17[].head and merge 17[].head; see: netloom study status study.out\n"
    );
    let job = ("PBS_JOBID", "17[2].head");
    bash(&place, "it.sh", &[job, ("PBS_ARRAY_INDEX", "2")]).with(0);
    bash(&place, "it.sh", &[job, ("NETLOOM_MERGE", "1")]).with(0);
    // The only shard is a job without an index. A job starts in the home folder.
    emit("1");
    bash(&place, "it.sh", &[]).with(0);
    let folder = place.0.display().to_string();
    place.file(
        "netloom",
        "#!/bin/sh\necho \"netloom[$PBS_ARRAY_INDEX] $*\" >>calls\n",
    );
    std::fs::create_dir(place.0.join("home")).unwrap();
    std::fs::rename(place.0.join("it.sh"), place.0.join("home/it.sh")).unwrap();
    bash(&place, "home/it.sh", &[job, ("PBS_O_WORKDIR", &folder)]).with(0);
    insta::assert_snapshot!(place.read("calls"), @"
    qsub -J 1-3 it.sh
    qsub -W depend=afterany:17[].head -N study-merge -v NETLOOM_MERGE=1 it.sh
    netloom[3] run study.toml -o study.out --shard auto --threads 4 --progress plain
    netloom[3] study merge study.out
    qsub it.sh
    qsub -W depend=afterany:17[].head -N study-merge -v NETLOOM_MERGE=1 it.sh
    netloom[1] run study.toml -o study.out --shard auto --threads 4 --progress plain
    ");
}

#[test]
fn the_script_for_lsf_submits_runs_and_merges() {
    let place = place("emit-lsf", &["netloom", "bsub"]);
    let bsub = "#!/bin/sh\necho \"bsub[$NETLOOM_MERGE] $* < $(head -n 1)\" >>calls\n\
        echo 'Job <17> is submitted to queue <normal>.'\n";
    place.file("bsub", bsub);
    let line = "study emit lsf study.toml --shards 3 -o it.sh";
    place.run(&line.split(' ').collect::<Vec<_>>()).with(0);
    let submitted = bash(&place, "it.sh", &[]).with(0).stdout;
    assert_eq!(
        submitted,
        "submitted array 17 and merge 17; see: netloom study status study.out\n"
    );
    let job = ("LSB_JOBID", "17");
    bash(&place, "it.sh", &[job, ("LSB_JOBINDEX", "2")]).with(0);
    bash(&place, "it.sh", &[job, ("NETLOOM_MERGE", "1")]).with(0);
    insta::assert_snapshot!(place.read("calls"), @"
    bsub[]  < #!/bin/bash
    bsub[1] -J study-merge -n 1 -w ended(17) < #!/bin/bash
    netloom[3] run study.toml -o study.out --shard auto --threads 4 --progress plain
    netloom[3] study merge study.out
    ");
}

#[test]
fn scripts_over_ranks_submit_themselves_and_start_with_srun() {
    let place = place("emit-srun", &["netloom", "sbatch", "srun"]);
    place.file(
        "sbatch",
        "#!/bin/sh\necho \"sbatch $*\" >>calls\necho '17;cluster'\n",
    );
    let emit = |file: &str, script: &str| {
        let line = ["study", "emit", "slurm", file, "--ranks", "2", "-o", script];
        let stderr = place.run(&line).with(0).stderr;
        stderr.lines().next().unwrap_or_default().to_owned()
    };
    insta::assert_snapshot!(
        [emit("run.toml", "run.sh"), emit("tree.toml", "tree.sh")].join("\n"),
        @"
        wrote run.sh: one run over 2 ranks. Next: bash run.sh
        wrote tree.sh: 3 shards of 1 unit, each run over 2 ranks. Next: bash tree.sh
        "
    );
    let job = [("SLURM_JOB_ID", "17"), ("SLURM_CPUS_PER_TASK", "3")];
    bash(&place, "run.sh", &[]).with(0);
    bash(&place, "run.sh", &job).with(0);
    bash(&place, "tree.sh", &[]).with(0);
    let member = [("SLURM_ARRAY_TASK_ID", "2"), ("SLURM_CPUS_PER_TASK", "1")];
    bash(&place, "tree.sh", &member).with(0);
    insta::assert_snapshot!(place.read("calls"), @"
    sbatch run.sh
    srun[] --mpi=pmix --kill-on-bad-exit=1 --cpus-per-task=3 netloom run run.toml -o run.out --mpi --checkpoint-every 10min --threads 3 --progress plain
    sbatch --parsable tree.sh
    sbatch --parsable --dependency=afterany:17 --array=1 --ntasks=1 --ntasks-per-node=1 --job-name=tree-merge --output=tree-merge-%A.log tree.sh merge
    srun[3] --mpi=pmix --kill-on-bad-exit=1 --cpus-per-task=1 netloom run tree.toml -o tree.out --mpi --shard auto --threads 1 --progress plain
    ");
}

#[test]
fn the_script_for_parallel_runs_every_shard_and_merges() {
    if !has("parallel") {
        return;
    }
    let place = place("emit-runs", &["netloom"]);
    place
        .run(&[
            "study",
            "emit",
            "parallel",
            "study.toml",
            "--shards",
            "3",
            "-o",
            "it.sh",
            "--",
            "--set",
            "a=b  c",
        ])
        .with(0);
    bash(&place, "it.sh", &[]).with(0);
    insta::assert_snapshot!(place.read("calls"), @r#"
    netloom[] run study.toml -o study.out --progress plain --set a=b  c --shard 1/3
    netloom[] run study.toml -o study.out --progress plain --set a=b  c --shard 2/3
    netloom[] run study.toml -o study.out --progress plain --set a=b  c --shard 3/3
    netloom[] study merge study.out
    "#);
    // Failed shards are reported, and the existing runs are merged.
    place.file(
        "netloom",
        "#!/bin/sh\necho \"$1\" >>ended\ncase \"$*\" in 'study merge'* | *' 2/3'*) ;; *) exit 5 ;; \
         esac\n",
    );
    let ended = bash(&place, "it.sh", &[]).with(2);
    assert!(
        ended
            .stderr
            .contains("exited with code 2, the number of failed shards"),
        "{}",
        ended.stderr
    );
    assert_eq!(place.read("ended"), "run\nrun\nrun\nstudy\n");
}
