//! Stores the commit of the build, for manifests and `--version`.

use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn main() {
    println!("cargo::rerun-if-env-changed=NETLOOM_GIT");
    // A build from a package has no repository; its packager may set the commit.
    let commit = std::env::var("NETLOOM_GIT").ok().or_else(|| {
        let head = git(&["rev-parse", "--short=12", "HEAD"])?;
        if let Some(directory) = git(&["rev-parse", "--absolute-git-dir"]) {
            // Without a repository there are no such lines, so any change runs this script again.
            println!("cargo::rerun-if-changed=build.rs");
            println!("cargo::rerun-if-changed={directory}/HEAD");
            println!("cargo::rerun-if-changed={directory}/index");
        }
        let is_dirty = git(&["status", "--porcelain"]).is_some_and(|changes| !changes.is_empty());
        Some(if is_dirty {
            format!("{head}-dirty")
        } else {
            head
        })
    });
    let number = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let version = match &commit {
        Some(commit) => format!("{number} (git {commit})"),
        None => number,
    };
    println!("cargo::rustc-env=NETLOOM_VERSION={version}");
    if let Some(commit) = commit {
        println!("cargo::rustc-env=NETLOOM_GIT={commit}");
    }
}
