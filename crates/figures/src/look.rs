//! Writes pictures for inspection: `NETLOOM_LOOK=DIR cargo test -p netloom-figures look --
//! --ignored`.

use crate::synthetic::Synthetic;
use crate::{SvgStyle, figures, pgfplots, svg};

#[test]
#[ignore = "writes pictures for inspection"]
fn look() {
    let folder = std::env::var("NETLOOM_LOOK").expect("a folder");
    let folder = std::path::Path::new(&folder);
    let studies = [
        ("large", Synthetic::large()),
        ("small", Synthetic::small()),
        ("single", Synthetic::single()),
    ];
    for (name, study) in studies {
        for mut figure in figures(&study.collection()) {
            figure.id = format!("{name}-{}", figure.id);
            let latex = pgfplots(&figure, 3.5);
            let tex = (format!("{}.tex", figure.id), latex.tex);
            for (file, text) in latex.data.into_iter().chain([tex]) {
                std::fs::write(folder.join(file), text).expect("writable");
            }
            for (width, style) in [("1", SvgStyle::default()), ("2", SvgStyle::two_columns())] {
                let path = folder.join(format!("{}-{width}.svg", figure.id));
                std::fs::write(path, svg(&figure, &style)).expect("writable");
            }
        }
    }
}
