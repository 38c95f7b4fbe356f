//! `netloom show picture`, through the binary.

mod place;

use std::collections::BTreeSet;

use place::Place;

/// A picture needs no traffic.
const TORUS: &str = "netloom = 1\nname = \"ring of rings\"\n\
    [topology]\nkind = \"torus\"\nsides = [3, 3]\nhosts = 2\ntrunk = 2\n";

#[test]
fn a_picture_goes_to_a_file_or_to_the_output() {
    let place = Place::new("draw");
    place.file("torus.toml", TORUS);
    let printed = place.run(&["show", "picture", "torus.toml"]).with(0);
    assert_eq!(printed.stderr, "");
    assert!(printed.stdout.starts_with("<svg "), "{}", printed.stdout);
    assert!(
        printed
            .stdout
            .contains("ring of rings: 3x3 torus, 9 switches, 18 NICs, 54 cables.")
    );
    let stored = place
        .run(&["show", "picture", "torus.toml", "-o", "torus.svg"])
        .with(0);
    assert_eq!(
        (stored.stdout.as_str(), stored.stderr.as_str()),
        ("", "wrote torus.svg\n")
    );
    assert_eq!(place.read("torus.svg"), printed.stdout);
    // The extension of a file selects the format.
    for (name, start) in [("torus.png", b"\x89PNG"), ("torus.pdf", b"%PDF")] {
        place
            .run(&["show", "picture", "torus.toml", "-o", name])
            .with(0);
        assert_eq!(&std::fs::read(place.0.join(name)).unwrap()[..4], start);
    }
    let other = place
        .run(&["show", "picture", "torus.toml", "-o", "torus.jpg"])
        .with(2);
    assert!(other.stderr.contains("found .jpg"), "{}", other.stderr);
    assert!(!place.0.join("torus.jpg").exists());

    let bare = place
        .run(&["show", "picture", "torus.toml", "--no-hosts"])
        .with(0)
        .stdout;
    assert!(bare.contains("<title>s8</title>") && !bare.contains("<title>n0</title>"));
    let nowhere = place
        .run(&["show", "picture", "torus.toml", "-o", "no/such/folder.svg"])
        .with(1);
    assert!(
        nowhere.stderr.contains("cannot write no/such/folder.svg"),
        "{}",
        nowhere.stderr
    );
    place.file(
        "wrong.toml",
        &TORUS.replace("torus\"\nsides", "tours\"\nsides"),
    );
    place.run(&["show", "picture", "wrong.toml"]).with(3);
}

#[test]
fn the_layout_has_the_names_and_ports_of_the_links_of_a_run() {
    let place = Place::new("draw-layout");
    let traffic = "[[traffic]]\nload = 0.2\n[measure]\nlength = \"20 us\"\n";
    place.file("torus.toml", &format!("{TORUS}{traffic}"));
    place.run(&["run", "torus.toml", "-o", "out", "--progress", "none"]);
    let layout = place
        .run(&["show", "picture", "torus.toml", "--format", "json"])
        .with(0)
        .json();
    let mut drawn = BTreeSet::new();
    for edge in layout["edges"].as_array().unwrap() {
        let name = |key: &str| edge[key].as_str().unwrap().to_owned();
        for cable in edge["cables"].as_array().unwrap() {
            let port = |key: &str| cable[key].as_u64().map_or(String::new(), |p| p.to_string());
            let (from, to) = (
                (name("from"), port("from_port")),
                (name("to"), port("to_port")),
            );
            // A cable is two links.
            drawn.insert((from.clone(), to.clone(), name("link_class")));
            drawn.insert((to, from, name("link_class")));
        }
    }
    let links = place.read("out/links.csv");
    let mut lines = links
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let column = |name: &str| header.iter().position(|&c| c == name).unwrap();
    let columns = ["from", "from_port", "to", "to_port", "link_class"].map(column);
    let used: BTreeSet<_> = lines
        .map(|line| {
            let [from, from_port, to, to_port, class] = columns.map(|c| line[c].to_owned());
            ((from, from_port), (to, to_port), class)
        })
        .collect();
    assert_eq!(used.len(), 2 * 54);
    assert_eq!(drawn, used);
}

#[test]
fn a_large_fabric_is_an_overview() {
    let place = Place::new("draw-large");
    place.file(
        "large.toml",
        "netloom = 1\n[topology]\nkind = \"pgft\"\nchildren = [32, 32, 64]\n\
         parents = [1, 32, 32]\n",
    );
    let drawn = place
        .run(&["show", "picture", "large.toml", "-o", "large.svg"])
        .with(0);
    assert!(
        drawn
            .stderr
            .contains("more than 400 switches: the picture shows groups"),
        "{}",
        drawn.stderr
    );
    let text = place.read("large.svg");
    assert!(text.contains("5,120 switches, 65,536 NICs, 196,608 cables"));
    assert!(
        text.contains("subtrees 3 to 62: 61,440 cables, level-1"),
        "{text}"
    );
}
