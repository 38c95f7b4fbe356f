//! Runs the binary in a folder for one test.

// Each test file includes the whole module and uses a part of it.
#![allow(dead_code)]

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;

use serde_json::Value;

/// A folder that is removed at the end of the test.
pub(crate) struct Place(pub(crate) PathBuf);

impl Place {
    pub(crate) fn new(name: &str) -> Place {
        let path = std::env::temp_dir().join(format!("netloom-cli-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Place(path)
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> &Self {
        std::fs::write(self.0.join(name), text).unwrap();
        self
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_netloom"));
        command
            .current_dir(&self.0)
            .args(arguments)
            .env_remove("CLICOLOR_FORCE")
            .env_remove("COLUMNS");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        Ended::new(self.command(arguments).output().unwrap())
    }

    /// Starts a command, and returns after its first line of progress.
    pub(crate) fn begin(&self, arguments: &[&str]) -> Running {
        let mut child = self
            .command(arguments)
            .args(["--progress", "json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut progress = BufReader::new(child.stderr.take().unwrap());
        let mut stderr = String::new();
        progress.read_line(&mut stderr).unwrap();
        let line: Value = serde_json::from_str(&stderr).unwrap_or_else(|e| panic!("{e}: {stderr}"));
        assert_eq!(line["event"], "progress");
        // The command would block if nothing read its stderr.
        let reader = std::thread::spawn(move || {
            progress.read_to_string(&mut stderr).unwrap();
            stderr
        });
        Running { child, reader }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A running command.
pub(crate) struct Running {
    child: Child,
    reader: JoinHandle<String>,
}

impl Running {
    /// Returns the id of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal such as `-INT`, and waits for the end.
    pub(crate) fn stopped_by(self, signal: &str) -> Ended {
        let id = self.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status();
        assert!(sent.unwrap().success());
        let output = self.child.wait_with_output().unwrap();
        Ended {
            stderr: self.reader.join().unwrap(),
            ..Ended::new(output)
        }
    }
}

pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    pub(crate) fn new(output: Output) -> Ended {
        Ended {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Checks the exit code.
    #[track_caller]
    pub(crate) fn with(self, code: i32) -> Ended {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// Checks that the command succeeded, with sufficient precision (0) or without (5).
    #[track_caller]
    pub(crate) fn done(self) -> Ended {
        match self.code {
            Some(5) => self,
            _ => self.with(0),
        }
    }

    /// Returns the progress that it printed with `--progress json`.
    pub(crate) fn progress(&self) -> Vec<Value> {
        let events = self.stderr.lines().map(serde_json::from_str);
        let events = events.filter_map(|line: Result<Value, _>| line.ok());
        events.filter(|line| line["event"] == "progress").collect()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}:\n{}", self.stdout))
    }
}
