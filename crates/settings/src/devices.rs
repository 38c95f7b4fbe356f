//! Links and devices by name: their parameters, which is one TOML file.

use std::sync::LazyLock;

use serde::Deserialize;

/// The file.
pub const TEXT: &str = include_str!("devices.toml");

/// A link with the devices at its ends.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Device {
    pub name: String,
    pub title: String,
    pub values: Vec<Value>,
    /// Known issues and other facts.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl Device {
    /// Returns the value of a key.
    pub fn value(&self, key: &str) -> Option<&str> {
        let found = self.values.iter().find(|own| own.key == key);
        found.map(|own| own.value.as_str())
    }
}

/// A parameter of a device.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Value {
    /// A key of an experiment, or words if there is none.
    pub key: String,
    pub value: String,
    pub basis: Basis,
    pub source: String,
    /// The day on which the source was read.
    pub date: String,
}

/// The basis of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Computed from a published standard.
    Standard,
    /// Read from a public measurement.
    Measured,
    /// A vendor's figure, or one that is quoted as such.
    Vendor,
    /// Not public, or not found.
    Assumed,
}

impl Basis {
    /// Returns its name.
    pub fn word(self) -> &'static str {
        match self {
            Basis::Standard => "standard",
            Basis::Measured => "measured",
            Basis::Vendor => "vendor",
            Basis::Assumed => "assumed",
        }
    }
}

/// Returns all devices.
pub fn devices() -> &'static [Device] {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        device: Vec<Device>,
    }
    static DEVICES: LazyLock<File> =
        LazyLock::new(|| toml::from_str(TEXT).expect("a test reads the devices of the binary"));
    &DEVICES.device
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_a_source_and_a_date() {
        for device in devices() {
            for value in &device.values {
                let place = format!("{}: {}", device.name, value.key);
                assert!(!value.source.is_empty(), "{place}");
                let lengths: Vec<usize> = value.date.split('-').map(str::len).collect();
                assert_eq!(lengths, [4, 2, 2], "{place}");
                let is_unknown = value.value == "unknown";
                assert!(!is_unknown || value.basis == Basis::Assumed, "{place}");
            }
        }
    }

    #[test]
    fn every_device_has_a_rate_an_mtu_a_header_and_delays() {
        let wanted = [
            "link.rate",
            "link.mtu",
            "link.header",
            "delay of a switch",
            "delay of a cable",
        ];
        for device in devices() {
            for key in wanted {
                let mut values = device.values.iter();
                assert!(values.any(|own| own.key == key), "{}: {key}", device.name);
            }
        }
    }
}
