//! `[study]`: the names and descriptions of its keys. The `study` crate reads the section; an
//! experiment with `[study]` loads with its base values.

use std::collections::BTreeSet;

use netloom_catalog::{FromToml, KindInfo, Param, Params, Shape, keys_of, nearest, params};

use super::{SectionInfo, concepts, sections};
use crate::Kinds;

params! {
    /// Rules that add or skip points and seeds.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Rules {
        /// Number of points to run after the first saturated point of a series. By default all
        /// points run.
        pub stop_after_saturation: Option<u32> = None,
        /// Adds seeds until the half width of the 95 % interval of the mean latency over seeds is
        /// within this fraction of the mean. A saturated point gets no further seeds.
        pub interval: Option<f64> = None,
        /// Maximum number of seeds of a point if `interval` adds seeds. The default is 30.
        pub most_seeds: Option<u32> = None,
    }
}

params! {
    /// A range of values of an axis.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Range {
        /// The first value.
        pub from: f64,
        /// The last value, if the steps reach it exactly.
        pub to: f64,
        /// The difference between two values; negative for decreasing values.
        pub step: f64,
        /// Adds values by bisection between the last unsaturated and the first saturated value,
        /// until they differ by this amount. `step` must be a multiple of it.
        pub refine: Option<f64> = None,
    }
}

/// Returns the sections of `[study]`.
pub(super) fn sections_of_a_study() -> Vec<SectionInfo> {
    let section = |path, about, params, is_list| SectionInfo {
        path,
        about,
        params,
        is_list,
        concept: None,
    };
    let variant = vec![
        required(
            "name",
            "The name of the variant in results.",
            String::shape(),
        ),
        required(
            "set",
            "The values to set, by key path: { \"switch.input-buffer\" = \"64 KiB\" }.",
            Shape::Table,
        ),
        optional(
            "axis",
            "The axis of the variant. Variants of different axes are combined.",
            String::shape(),
            "\"variant\"",
        ),
        optional(
            "only",
            "The values of other axes to combine it with, by axis name: { \"traffic.load\" = [0.1, \
             0.2] }. The default is all.",
            Shape::Table,
            "{}",
        ),
    ];
    let zip = vec![
        optional(
            "name",
            "The name of a single result column that replaces one column per list.",
            String::shape(),
            "",
        ),
        optional(
            "values",
            "The values in that column. The default is the values of the first list.",
            Shape::List(Box::new(Shape::Either(vec![Shape::Number, Shape::Text]))),
            "",
        ),
    ];
    vec![
        section(
            "study",
            "Many runs from one file: every combination of axis values, each with `measure.repeat` \
             seeds.",
            Rules::params(),
            false,
        ),
        section(
            "study.axes",
            "Axes by key path, each with several values. The path is the same as for --set: \
             \"traffic.load\" = [0.1, 0.2].",
            vec![],
            false,
        ),
        section(
            "study.axes.*",
            "The values of one axis: a list, or a table with these keys.",
            Range::params(),
            false,
        ),
        section(
            "study.zip",
            "Axes that step together: lists of equal length, by key path. Several paths, separated \
             by commas, can share one list.",
            zip,
            true,
        ),
        section(
            "study.zip.*",
            "The list of values of one of the axes that step together.",
            vec![],
            false,
        ),
        section(
            "study.variant",
            "A named set of values. All variants with the same `axis` form one axis.",
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

/// Checks whether a file can have a value under this path. The error is the nearest known path.
///
/// Numbers select tables of lists and are skipped. Keys of every kind of a concept are known;
/// whether a key fits the chosen kind is checked when the values are read.
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

/// Returns every path under which a file can have a value.
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
