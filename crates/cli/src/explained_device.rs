//! Links and devices in `netloom explain`.

use netloom_settings::devices::{Device, devices};

use super::table::{Table, page, width, wrapped};

/// Returns what is known about a device, or the list of all; names are compared without case.
pub(super) fn explained(name: &str) -> Vec<String> {
    if name == "devices" {
        let mut table = Table::words();
        devices()
            .iter()
            .for_each(|own| table.line([own.name.clone(), own.title.clone()]));
        return vec![format!(
            "devices: links and the devices at their ends, by name. In a file: [link] device = \"edr\"\n\n{}",
            table.text(width())
        )];
    }
    let found = devices()
        .iter()
        .filter(|own| own.name.eq_ignore_ascii_case(name));
    found.map(about).collect()
}

fn about(device: &Device) -> String {
    let mut table = Table::words();
    for own in &device.values {
        let source = format!("{} ({})", own.source, own.date);
        let basis = own.basis.word().to_owned();
        table.line([own.key.clone(), own.value.clone(), basis, source]);
    }
    let mut text = format!(
        "{}, a device: {}\n\n{}",
        device.name,
        device.title,
        table.text(width())
    );
    for note in &device.notes {
        let note = wrapped(note, page().saturating_sub(2).max(20));
        text.push_str(&format!("\n  {}\n", note.trim_end().replace('\n', "\n  ")));
    }
    text
}
