//! `netloom plot` through the binary.

mod place;

use place::Place;

/// Eight hosts and two classes, in a short run.
const SMALL: &str = "netloom = 1\nname = \"small\"\n\
    [topology]\nkind = \"fat-tree\"\narity = 2\nlevels = 3\n\
    [[traffic]]\nname = \"bulk\"\nload = 0.3\n\
    [[traffic]]\nname = \"control\"\nload = 0.1\n\
    [measure]\nlength = \"300 us\"\n";

#[test]
fn a_run_is_drawn() {
    let place = Place::new("plot");
    place
        .file("small.toml", SMALL)
        .run(&["run", "small.toml"])
        .with(0);
    let listed = place.run(&["plot", "small.out", "--list"]).with(0).stdout;
    let names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(
        names.starts_with(&[
            "latency-by-class",
            "load-by-class",
            "latency-cdf",
            "latency-ccdf"
        ]),
        "{listed}"
    );

    let drawn = place.run(&["plot", "small.out"]).with(0);
    let message = format!("{0} figures, {0} files in small.out/figures", names.len());
    assert!(drawn.stderr.contains(&message), "{}", drawn.stderr);
    for name in &names {
        let picture = place.read(&format!("small.out/figures/{name}.svg"));
        assert!(
            picture.starts_with("<svg ") && picture.contains("width=\"252pt\""),
            "{name}"
        );
    }
    assert!(
        place
            .read("small.out/figures/latency-cdf.svg")
            .contains(">control</text>")
    );

    // Figures are replaced, other files are kept.
    std::fs::create_dir(place.0.join("paper")).unwrap();
    place
        .file("paper/notes.txt", "mine")
        .file("paper/latency-cdf.svg", "old");
    let arguments = [
        "plot",
        "small.out",
        "latency-cdf",
        "--format",
        "all",
        "--width",
        "page",
        "-o",
        "paper",
    ];
    place.run(&arguments).with(0);
    assert_eq!(place.read("paper/notes.txt"), "mine");
    assert!(
        place
            .read("paper/latency-cdf.svg")
            .contains("width=\"515.52pt\"")
    );
    assert!(
        place
            .read("paper/latency-cdf.tex")
            .contains("latency-cdf-1.dat")
    );
    assert!(place.read("paper/latency-cdf-1.dat").starts_with("x0 y0 "));
    assert!(
        place
            .read("paper/latency-cdf.csv")
            .starts_with("panel,series,x,y,")
    );
    // The notes, SVG, PDF, PNG, TeX with its data, CSV.
    assert_eq!(std::fs::read_dir(place.0.join("paper")).unwrap().count(), 7);
}

#[test]
fn two_runs_are_drawn_over_each_other_and_into_one_file() {
    let place = Place::new("plot-two");
    place
        .file("small.toml", SMALL)
        .run(&["run", "small.toml"])
        .with(0);
    let load = ["--set", "traffic.0.load=0.6", "-o", "more.out"];
    place.run(&[&["run", "small.toml"], &load[..]].concat());
    let two = ["plot", "small.out", "more.out"];
    place
        .run(&[&two[..], &["latency", "-o", "both.svg"]].concat())
        .with(0);
    let picture = place.read("both.svg");
    assert!(picture.contains("Latency of each run"), "{picture}");
    for name in ["small (load 0.3)", "more (load 0.6)"] {
        assert!(picture.contains(&format!(">{name}</text>")), "{name}");
    }
    let starts = |name: &str| std::fs::read(place.0.join(name)).unwrap()[..4].to_vec();
    for (name, start) in [("both.png", b"\x89PNG"), ("both.pdf", b"%PDF")] {
        place
            .run(&[&two[..], &["latency", "-o", name]].concat())
            .with(0);
        assert_eq!(starts(name), start);
    }
    let own = ["--y", "p99", "--by", "class", "--label", "run=Run"];
    place
        .run(&[&two[..], &own[..], &["-o", "own.svg"]].concat())
        .with(0);
    assert!(place.read("own.svg").contains("99 % latency by run"));

    for (words, message) in [
        (&["-o", "all.svg"][..], "is one file, but "),
        (&["latency", "-o", "x.jpg"], "found .jpg"),
        (&["--y", "p98"], "there is no column \"p98\""),
        (&["--y", "p99", "--class", "blk"], "did you mean \"bulk\"?"),
        (&["--class", "bulk"], "--y"),
    ] {
        let ended = place.run(&[&two[..], words].concat()).with(2);
        assert!(ended.stderr.contains(message), "{}", ended.stderr);
    }
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let place = Place::new("plot-errors");
    place
        .file("small.toml", SMALL)
        .run(&["run", "small.toml"])
        .with(0);
    let wrong = place
        .run(&["plot", "small.out", "latency-cfd", "heatmap"])
        .with(2);
    assert_eq!(
        wrong.stderr,
        "error: small.out has no figure \"latency-cfd\"; did you mean \"latency-cdf\"?\n\
         error: small.out has no figure \"heatmap\"; `netloom plot small.out --list` lists the \
         figures\n"
    );
    assert!(!place.0.join("small.out/figures").exists());
    let nothing = place.run(&["plot", "elsewhere"]).with(1);
    assert!(
        nothing.stderr.contains("elsewhere has no results"),
        "{}",
        nothing.stderr
    );
    let width = place.run(&["plot", "small.out", "--width", "3.5"]).with(2);
    assert!(width.stderr.contains("such as 3.5in"), "{}", width.stderr);
}
