//! Writes the report of a synthetic study, to inspect the page: `synthetic FILE
//! [large|single|pair]`.

#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use synthetic::{Size, collection};

fn main() -> std::io::Result<()> {
    let mut words = std::env::args().skip(1);
    let file = words.next().unwrap_or_else(|| "synthetic.html".into());
    let collections = match words.next().as_deref() {
        Some("single") => vec![collection("one run", &Size::single())],
        Some("pair") => {
            let small = Size {
                arbiters: vec!["dtable".into()],
                ..Size::large()
            };
            let other = Size {
                shift: 0.4,
                ..small.clone()
            };
            vec![collection("before", &small), collection("after", &other)]
        }
        _ => vec![collection("arbiters on a fat tree", &Size::large())],
    };
    let began = std::time::Instant::now();
    let html = netloom_report::html(&collections, "netloom 0.1.0");
    eprintln!("{file}: {} bytes, {:?}", html.len(), began.elapsed());
    std::fs::write(file, html)
}
