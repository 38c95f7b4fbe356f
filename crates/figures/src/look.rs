//! Pictures to look at: `NETLOOM_LOOK=DIR cargo test -p netloom-figures look -- --ignored`.

use crate::synthetic::Synthetic;
use crate::{SvgStyle, figures, svg};

#[test]
#[ignore = "writes pictures for people"]
fn look() {
    let folder = std::env::var("NETLOOM_LOOK").expect("a folder");
    let folder = std::path::Path::new(&folder);
    let studies = [
        ("large", Synthetic::large()),
        ("small", Synthetic::small()),
        ("single", Synthetic::single()),
    ];
    for (name, study) in studies {
        for figure in figures(&study.collection()) {
            for (width, style) in [("1", SvgStyle::default()), ("2", SvgStyle::two_columns())] {
                let path = folder.join(format!("{name}-{}-{width}.svg", figure.id));
                std::fs::write(path, svg(&figure, &style)).expect("writable");
            }
        }
    }
}
