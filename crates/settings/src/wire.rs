//! What each library of a process puts on the wire.

use crate::plan::Link;
use crate::reading::{Assignment, Process};
use crate::table::{Effect, Kind, Library, Setting, Source, table};

/// A library that a caller names, because variables do not show it, or to state its version.
#[derive(Clone, PartialEq, Debug)]
pub struct Given {
    pub library: String,
    pub version: Option<String>,
}

/// The field that decides the lane.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A service level on InfiniBand, a traffic class on RoCE.
    Number(u16),
    /// The subnet manager decides on InfiniBand, the default of rdma_cm on RoCE.
    PathRecord,
    /// The library leaves it to the kernel and the device.
    LeftToDevice,
    /// Why it is not known.
    NotKnown(String),
    /// The library does not run on such links.
    NotOnLink,
}

/// A library with its field.
#[derive(Clone, Debug)]
pub struct Wire<'a> {
    pub library: &'static Library,
    pub value: Value,
    /// The setting that decides; `None` if it is the default.
    pub by: Option<(&'static Setting, &'a Assignment)>,
}

/// The meaning of an assignment.
#[derive(Clone, PartialEq, Debug)]
pub enum Meaning {
    Number(u16),
    /// Empty, -1 or a word such as `auto`: as if it was not set.
    Unset,
    /// Decided by another variable or object.
    Elsewhere,
    /// Neither a number in the range nor a known word.
    Wrong,
}

impl Assignment {
    /// Returns what the value means for a setting.
    pub fn meaning(&self, setting: &Setting) -> Meaning {
        let Some(value) = self.value.as_deref() else {
            return Meaning::Elsewhere;
        };
        let is_word = |word: &String| value.eq_ignore_ascii_case(word);
        if value.is_empty() || value == "-1" || setting.word.as_ref().is_some_and(is_word) {
            return Meaning::Unset;
        }
        let number = match value
            .strip_prefix("0x")
            .or_else(|| value.strip_prefix("0X"))
        {
            Some(digits) => u16::from_str_radix(digits, 16).ok(),
            None => value.parse().ok(),
        };
        match (number, setting.range) {
            (Some(number), Some([least, most])) if (least..=most).contains(&number) => {
                Meaning::Number(number)
            }
            (Some(number), None) => Meaning::Number(number),
            _ => Meaning::Wrong,
        }
    }
}

impl Process {
    /// Returns the libraries that the process shows or the caller names.
    pub fn libraries(&self, given: &[Given]) -> Vec<&'static Library> {
        let shown = |library: &&Library| {
            let mut own = self.settings.iter();
            let is_shown = own.any(|own| {
                table()
                    .owner(&own.name)
                    .is_some_and(|owner| owner.name == library.name)
            });
            is_shown || given.iter().any(|given| given.library == library.name)
        };
        let mut found: Vec<&Library> = table().libraries.iter().filter(shown).collect();
        // DeepEP V2 is the program whose puts these are.
        let is_named = |name: &str| given.iter().any(|given| given.library == name);
        if found.iter().any(|library| library.name == "deepep-v2") && !is_named("nccl-gin") {
            found.retain(|library| library.name != "nccl-gin");
        }
        found
    }

    /// Returns what each library of the process puts on the wire.
    pub fn wires(&self, given: &[Given], link: Link) -> Vec<Wire<'_>> {
        let libraries = self.libraries(given).into_iter();
        libraries.map(|library| self.wire(library, link)).collect()
    }

    /// Returns what a library puts on the wire.
    pub fn wire(&self, library: &'static Library, link: Link) -> Wire<'_> {
        let fields = library.fields(link);
        let wire = |value, by| Wire { library, value, by };
        if fields.path_record {
            return wire(Value::PathRecord, None);
        }
        let Some(source) = fields.deciding(link) else {
            return wire(Value::NotOnLink, None);
        };
        if let Some((setting, own)) = self.decider(source) {
            let value = match own.meaning(setting) {
                Meaning::Number(number) if is_outside(link, number) => {
                    Value::NotKnown(format!("{number} is not a service level"))
                }
                Meaning::Number(number) => Value::Number(number),
                Meaning::Elsewhere => Value::NotKnown("its value is not in the file".to_owned()),
                Meaning::Wrong | Meaning::Unset => {
                    Value::NotKnown("its value cannot be used".to_owned())
                }
            };
            return wire(value, Some((setting, own)));
        }
        let value = match (self.switched(source, link), source.default) {
            (Some(switch), _) => Value::NotKnown(format!("{switch} selects it")),
            (None, Some(default)) => Value::Number(default),
            (None, None) if source.from.is_empty() => Value::NotOnLink,
            (None, None) => Value::LeftToDevice,
        };
        wire(value, None)
    }

    /// Returns the first setting that is set.
    pub(crate) fn decider(&self, source: &Source) -> Option<(&'static Setting, &Assignment)> {
        source.from.iter().find_map(|key| {
            let setting = table().setting(key)?;
            let own = self.get(key)?;
            let is_set =
                setting.kind == Kind::Environment && own.meaning(setting) != Meaning::Unset;
            is_set.then_some((setting, own))
        })
    }

    /// Returns the name of a switch that selects the level if no setting does.
    pub(crate) fn switched(&self, source: &Source, link: Link) -> Option<&str> {
        let library = source.from.iter().find_map(|key| table().setting(key));
        let library = &library?.library;
        let mut switches = table().settings.iter().filter(|setting| {
            setting.is_switch
                && setting.library == *library
                && setting.effect(link) == Effect::ServiceLevel
        });
        switches.find_map(|switch| {
            let own = self.get(&switch.key)?;
            let is_auto = |value: &str| value.is_empty() || value.eq_ignore_ascii_case("auto");
            let is_off = own.value.as_deref().is_some_and(is_auto);
            (!is_off).then_some(own.name.as_str())
        })
    }
}

/// Returns whether a number cannot be the field.
fn is_outside(link: Link, number: u16) -> bool {
    number
        > match link {
            Link::InfiniBand => 15,
            Link::Roce => 255,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::read;

    fn wires(text: &str, link: Link, given: &[&str]) -> Vec<String> {
        let given: Vec<Given> = given
            .iter()
            .map(|name| Given {
                library: (*name).to_owned(),
                version: None,
            })
            .collect();
        let mut found = read(text, 0, table());
        let process = found.processes.pop().unwrap_or_default();
        let wires = process.wires(&given, link).into_iter();
        let words = wires.map(|wire| {
            let by = wire
                .by
                .map_or("default", |(setting, _)| setting.key.as_str());
            format!("{} {:?} {by}", wire.library.name, wire.value)
        });
        words.collect()
    }

    #[test]
    fn the_environment_wins_over_deepep() {
        let ib = Link::InfiniBand;
        let text = "EP_OVERRIDE_RDMA_SL=1";
        assert_eq!(
            wires(text, ib, &[]),
            ["deepep-v2 Number(1) EP_OVERRIDE_RDMA_SL"]
        );
        assert_eq!(
            wires("", ib, &["deepep-v2"]),
            ["deepep-v2 Number(3) default"]
        );
        let text = "EP_OVERRIDE_RDMA_SL=1\nNCCL_IB_SL=2";
        let both = [
            "nccl Number(2) NCCL_IB_SL",
            "deepep-v2 Number(2) NCCL_IB_SL",
        ];
        assert_eq!(wires(text, ib, &[]), both);
        let text = "EP_OVERRIDE_RDMA_SL=1\nNCCL_IB_TC=106";
        let wrong = "deepep-v2 NotKnown(\"106 is not a service level\") NCCL_IB_TC";
        assert_eq!(wires(text, ib, &[]), ["nccl Number(0) default", wrong]);
        let roce = [
            "nccl Number(106) NCCL_IB_TC",
            "deepep-v2 Number(106) NCCL_IB_TC",
        ];
        assert_eq!(wires(text, Link::Roce, &[]), roce);
    }

    #[test]
    fn ucx_has_its_own_default_and_an_automatic_level() {
        let auto = "UCX_IB_SL=auto\nUCX_IB_TRAFFIC_CLASS=auto";
        assert_eq!(
            wires(auto, Link::InfiniBand, &[]),
            ["ucx Number(0) default"]
        );
        assert_eq!(wires(auto, Link::Roce, &[]), ["ucx Number(106) default"]);
        let text = "UCX_IB_AR_ENABLE=yes";
        let selected = "ucx NotKnown(\"UCX_IB_AR_ENABLE selects it\") default";
        assert_eq!(wires(text, Link::InfiniBand, &[]), [selected]);
        assert_eq!(wires(text, Link::Roce, &[]), ["ucx Number(106) default"]);
        let text = "UCX_IB_AR_ENABLE=yes\nUCX_IB_SL=2";
        assert_eq!(
            wires(text, Link::InfiniBand, &[]),
            ["ucx Number(2) UCX_IB_SL"]
        );
    }

    #[test]
    fn values_that_are_not_numbers_are_not_known() {
        let ib = Link::InfiniBand;
        let wrong = "nccl NotKnown(\"its value cannot be used\") NCCL_IB_SL";
        for value in ["f5", "16", "-2", "1e3", "99999999999999999999"] {
            assert_eq!(
                wires(&format!("NCCL_IB_SL={value}"), ib, &[]),
                [wrong],
                "{value}"
            );
        }
        assert_eq!(
            wires("NCCL_IB_SL=0x5", ib, &[]),
            ["nccl Number(5) NCCL_IB_SL"]
        );
        assert_eq!(wires("NCCL_IB_SL=-1", ib, &[]), ["nccl Number(0) default"]);
        let elsewhere = "nccl NotKnown(\"its value is not in the file\") NCCL_IB_SL";
        assert_eq!(wires("NCCL_IB_SL=$SL", ib, &[]), [elsewhere]);
    }

    #[test]
    fn connections_of_rdma_cm_ask_the_subnet_manager() {
        let lustre = wires("", Link::InfiniBand, &["lustre"]);
        assert_eq!(lustre, ["lustre PathRecord default"]);
        assert_eq!(
            wires("", Link::Roce, &["lustre"]),
            ["lustre LeftToDevice default"]
        );
        assert_eq!(
            wires("HFI_SL=3", Link::InfiniBand, &[]),
            ["psm2 NotOnLink default"]
        );
    }
}
