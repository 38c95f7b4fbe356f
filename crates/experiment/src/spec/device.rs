//! `link.device`: values of `[link]` by the name of a link.

use std::borrow::Cow;

use netloom_catalog::{Document, FromToml, Notes, Shape, Value, ValueShape, one_of};
use netloom_settings::devices::{Device, devices};

/// The name of a link with the devices at its ends, which `explain` describes.
#[derive(Clone, Copy, Debug)]
pub struct DeviceName(pub &'static Device);

impl FromToml for DeviceName {
    fn shape() -> Shape {
        Shape::OneOf(devices().iter().map(|own| own.name.as_str()).collect())
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let Shape::OneOf(names) = Self::shape() else {
            return None;
        };
        let name = one_of(value, notes, &names)?;
        let named = devices().iter().find(|own| own.name == name);
        named.map(DeviceName)
    }

    fn write(&self) -> String {
        self.0.name.clone().write()
    }
}

/// Returns the document with the values of the named device that it does not set. Their place is
/// that of the name. A wrong name is noted when the section is read.
pub(super) fn applied(document: &Document) -> Cow<'_, Document> {
    let link = document.root.get("link");
    let name = link.and_then(|link| link.get("device"));
    let Some((link, name)) = link.zip(name) else {
        return Cow::Borrowed(document);
    };
    let Some(DeviceName(device)) = DeviceName::read(name, &mut Notes::new()) else {
        return Cow::Borrowed(document);
    };
    let missing = device.values.iter().filter(|own| {
        let key = own.key.strip_prefix("link.");
        key.is_some_and(|key| link.get(key).is_none())
    });
    let mut changed = document.clone();
    for own in missing {
        let value = Value {
            place: name.place,
            shape: ValueShape::Text(own.value.clone()),
        };
        changed.put(&own.key, name.place, value, &mut Notes::new());
    }
    Cow::Owned(changed)
}

/// Applies the device that a document names, if any.
pub(super) fn put(document: &mut Document) {
    if let Cow::Owned(changed) = applied(document) {
        *document = changed;
    }
}
