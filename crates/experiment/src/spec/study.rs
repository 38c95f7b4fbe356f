//! `[study]`: what its keys are called and mean. It is read by the crate of studies; an experiment that has it is
//! loaded with its base values.

use std::collections::BTreeSet;

use netloom_catalog::{FromToml, KindInfo, Param, Params, Shape, keys_of, nearest, params};

use super::{SectionInfo, concepts, sections};
use crate::Kinds;

params! {
    /// When points and seeds are added or left out.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Rules {
        /// Points of a series that are run beyond its first saturated one; left out, all are run.
        pub stop_after_saturation: Option<u32> = None,
        /// Seeds are added until the half width of the 95 % interval of mean latency over seeds is within this
        /// fraction of the mean; a saturated point gets none.
        pub interval: Option<f64> = None,
        /// Seeds of a point at most, where `interval` adds some; left out, 30.
        pub most_seeds: Option<u32> = None,
    }
}

params! {
    /// Values of an axis from one to another.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Range {
        /// The first value.
        pub from: f64,
        /// The last value, if steps lead to it.
        pub to: f64,
        /// From one value to the next; below zero for falling values.
        pub step: f64,
        /// Values are added by bisection between the last unsaturated and the first saturated one, until they are
        /// so near; a whole number of these makes a step.
        pub refine: Option<f64> = None,
    }
}

/// The sections of `[study]`.
pub(super) fn sections_of_a_study() -> Vec<SectionInfo> {
    let section = |path, about, params, is_list| SectionInfo {
        path,
        about,
        params,
        is_list,
        concept: None,
    };
    let variant = vec![
        required("name", "What results call it.", String::shape()),
        required(
            "set",
            "Values by the paths of their keys: { \"switch.input-buffer\" = \"64 KiB\" }.",
            Shape::Table,
        ),
        optional(
            "axis",
            "The axis that it belongs to: variants of different axes are combined.",
            String::shape(),
            "\"variant\"",
        ),
        optional(
            "only",
            "With which values of other axes it is combined, by their names: { \"traffic.load\" = [0.1, 0.2] }; left out, with all.",
            Shape::Table,
            "{}",
        ),
    ];
    let zip = vec![
        optional(
            "name",
            "One column of results in place of one for each list.",
            String::shape(),
            "",
        ),
        optional(
            "values",
            "What stands in that column; left out, the values of the first list.",
            Shape::List(Box::new(Shape::Either(vec![Shape::Number, Shape::Text]))),
            "",
        ),
    ];
    vec![
        section(
            "study",
            "Many runs from one file: every combination of the values of its axes, each with `measure.repeat` seeds.",
            Rules::params(),
            false,
        ),
        section(
            "study.axes",
            "Keys with several values; a key is the path of the value it replaces, as for --set: \"traffic.load\" = [0.1, 0.2].",
            vec![],
            false,
        ),
        section(
            "study.axes.*",
            "The values of one axis: a list, or these keys.",
            Range::params(),
            false,
        ),
        section(
            "study.zip",
            "Axes that step together: lists of one length, by the paths of their keys; one list for several paths with commas.",
            zip,
            true,
        ),
        section(
            "study.zip.*",
            "The values of one of the axes that step together: a list.",
            vec![],
            false,
        ),
        section(
            "study.variant",
            "A named set of values, together with the others of its `axis` an axis.",
            variant,
            true,
        ),
    ]
}

fn optional(name: &str, about: &str, shape: Shape, default: &str) -> Param {
    Param {
        default: Some(default.to_owned()),
        ..required(name, about, shape)
    }
}

fn required(name: &str, about: &str, shape: Shape) -> Param {
    Param {
        name: name.to_owned(),
        about: about.to_owned(),
        shape,
        default: None,
    }
}

/// Whether some file could have a value under this path, or the nearest path where one can.
///
/// Numbers pick tables of lists and are passed over, and a key of any kind of a concept is known: whether it suits
/// the kind at hand is found when the values are read.
pub fn is_known_path(path: &str, kinds: &Kinds) -> Result<(), Option<String>> {
    let keys = keys_of(path);
    let keys: Vec<&str> = keys
        .iter()
        .map(String::as_str)
        .filter(|key| key.parse::<usize>().is_err())
        .collect();
    if keys.is_empty() {
        return Err(None);
    }
    let known = known_paths(kinds);
    if known.iter().any(|pattern| fits(pattern, &keys)) {
        return Ok(());
    }
    let near = nearest(&keys.join("."), known.iter().map(String::as_str));
    Err(near.map(str::to_owned))
}

fn fits(pattern: &str, keys: &[&str]) -> bool {
    let mut pattern = pattern.split('.');
    let all = keys.iter().all(|key| {
        let known = pattern.next();
        known.is_some_and(|known| known == "*" || known == *key)
    });
    all && pattern.next().is_none()
}

/// Every path under which a file can have a value.
fn known_paths(kinds: &Kinds) -> BTreeSet<String> {
    let (concepts, sections) = (concepts(kinds), sections());
    let mut paths = BTreeSet::new();
    let of_kinds = |paths: &mut BTreeSet<String>, path: &str, kinds: &[KindInfo]| {
        paths.insert(path.to_owned());
        paths.insert(format!("{path}.kind"));
        let params = kinds.iter().flat_map(|kind| &kind.params);
        paths.extend(params.map(|param| format!("{path}.{}", param.name)));
    };
    for section in &sections {
        let path = section.path;
        let params = section.params.iter().map(|param| match path {
            "" => param.name.clone(),
            _ => format!("{path}.{}", param.name),
        });
        paths.extend(params);
        paths.insert(path.to_owned());
        for param in &section.params {
            if let Shape::Kind(name) = param.shape
                && let Some(concept) = concepts.iter().find(|concept| concept.name == name)
            {
                of_kinds(
                    &mut paths,
                    &format!("{path}.{}", param.name),
                    &concept.kinds,
                );
            }
        }
    }
    for concept in &concepts {
        of_kinds(&mut paths, concept.path, &concept.kinds);
    }
    paths.remove("");
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_sections_lists_and_kinds_are_known() {
        for path in [
            "traffic.load",
            "traffic.0.load",
            "traffic.pattern.kind",
            "qos.arbiter",
            "qos.arbiter.kind",
            "qos.arbiter.limit",
            "qos.nic-arbiter.kind",
            "link.class.host.rate",
            "switch.input-buffer",
            "topology.arity",
            "measure.length",
        ] {
            assert_eq!(is_known_path(path, Kinds::built_in()), Ok(()), "{path}");
        }
        let near = |path| is_known_path(path, Kinds::built_in()).unwrap_err();
        assert_eq!(near("trafic.load"), Some("traffic.load".to_owned()));
        assert_eq!(
            near("qos.arbitre.kind"),
            Some("qos.arbiter.kind".to_owned())
        );
        assert_eq!(near("0"), None);
        assert_eq!(near("colour.of.cables"), None);
    }
}
