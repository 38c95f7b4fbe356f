//! The table of settings, which is one TOML file.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::plan::Link;

/// The file.
pub const TEXT: &str = include_str!("table.toml");

/// All libraries and their settings.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Table {
    #[serde(rename = "library")]
    pub libraries: Vec<Library>,
    #[serde(rename = "setting")]
    pub settings: Vec<Setting>,
}

/// A library, as `carries` names it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Library {
    pub name: String,
    pub title: String,
    /// The newest version that was read.
    pub version: String,
    /// The repository and commit of that version.
    pub commit: String,
    /// Where the fields were read, if no setting of the library says it, and the day.
    pub source: Option<String>,
    pub date: Option<String>,
    /// Variables, or beginnings of variables, that only a process with this library has.
    pub signs: Vec<String>,
    /// The library whose class also applies to this part, unless a class carries the part itself.
    pub part_of: Option<String>,
    /// What cannot be set.
    #[serde(default)]
    pub limits: Vec<String>,
    pub infiniband: Fields,
    pub roce: Fields,
}

/// The fields of packets on one kind of link.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Fields {
    pub service_level: Option<Source>,
    pub traffic_class: Option<Source>,
    /// The Ethernet priority bits.
    pub priority: Option<Source>,
    /// Whether rdma_cm decides: by the path record on InfiniBand, by its default on RoCE.
    #[serde(default)]
    pub path_record: bool,
}

/// What decides a field.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Source {
    /// Settings; the first one that is set decides.
    pub from: Vec<String>,
    /// The value if none is set. `None` if the library does not set the field then.
    pub default: Option<u16>,
    /// Whether the default depends on the host, so that exported lines do not rely on it.
    #[serde(default)]
    pub is_assumed: bool,
}

/// A variable or key of a library.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Setting {
    pub library: String,
    pub key: String,
    pub kind: Kind,
    /// The smallest and the largest value, if it is a number.
    pub range: Option<[u16; 2]>,
    /// A word that the setting also accepts, which counts as unset.
    pub word: Option<String>,
    /// Whether it switches something instead of being a level or class.
    #[serde(default)]
    pub is_switch: bool,
    pub default: String,
    /// The first version that has it; `<=1.8.0` if older versions were not read. `None` if not
    /// known.
    pub since: Option<String>,
    pub infiniband: Effect,
    pub roce: Effect,
    #[serde(default)]
    pub overridden_by: Vec<String>,
    pub ends: Ends,
    /// The repository and path where it was read.
    pub source: String,
    /// The day on which it was read.
    pub date: String,
    pub status: Status,
    pub note: Option<String>,
}

/// Where a setting is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A variable of the environment of a process.
    Environment,
    /// An argument of the program, per communicator or buffer.
    Communicator,
    /// A key per pool of queue pairs.
    Pool,
    /// A parameter of a kernel module.
    Module,
    /// A key of a configuration file.
    Configuration,
}

impl Kind {
    /// Returns the words after the name.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Environment => "a variable of the environment",
            Kind::Communicator => "an argument of the program, per communicator or buffer",
            Kind::Pool => "a key of the configuration, per pool of queue pairs",
            Kind::Module => "a parameter of a kernel module",
            Kind::Configuration => "a key of the configuration",
        }
    }

    /// Returns whether each class in a process can have its own value.
    pub(crate) fn is_finer(self) -> bool {
        matches!(self, Kind::Communicator | Kind::Pool)
    }
}

/// What a setting does on a kind of link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    ServiceLevel,
    TrafficClass,
    Priority,
    NoLane,
    QosClass,
    Nothing,
    Fails,
}

impl Effect {
    /// Returns what the setting sets, as words.
    pub fn words(self) -> &'static str {
        match self {
            Effect::ServiceLevel => "the service level",
            Effect::TrafficClass => "the traffic class: 4 times the DSCP, plus the ECN bits",
            Effect::Priority => "the Ethernet priority bits, not the DSCP",
            Effect::NoLane => "nothing that selects a lane",
            Effect::QosClass => {
                "the QoS class of the path query; the subnet manager answers with a level"
            }
            Effect::Nothing => "nothing",
            Effect::Fails => "initialisation fails",
        }
    }
}

/// Which end of a connection must have a setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ends {
    /// One value decides both directions.
    Both,
    /// Each end sets what it sends.
    Own,
}

/// Whether a row was read in the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Verified,
    Unverified,
}

impl Setting {
    /// Returns what it does on a kind of link.
    pub fn effect(&self, link: Link) -> Effect {
        match link {
            Link::InfiniBand => self.infiniband,
            Link::Roce => self.roce,
        }
    }

    pub fn is_verified(&self) -> bool {
        self.status == Status::Verified
    }
}

impl Library {
    /// Returns the fields on a kind of link.
    pub fn fields(&self, link: Link) -> &Fields {
        match link {
            Link::InfiniBand => &self.infiniband,
            Link::Roce => &self.roce,
        }
    }
}

impl Fields {
    /// Returns what decides the lane: the service level on InfiniBand, the traffic class on RoCE.
    pub fn deciding(&self, link: Link) -> Option<&Source> {
        match link {
            Link::InfiniBand => self.service_level.as_ref(),
            Link::Roce => self.traffic_class.as_ref(),
        }
    }
}

impl Table {
    /// Finds a library by its name.
    pub fn library(&self, name: &str) -> Option<&Library> {
        self.libraries.iter().find(|library| library.name == name)
    }

    /// Finds a setting by its exact name.
    pub fn setting(&self, key: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key == key)
    }

    /// Returns the names of all libraries.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.libraries.iter().map(|library| library.name.as_str())
    }

    /// Returns the library that a variable belongs to: that of its row, otherwise the one with the
    /// longest beginning that fits.
    pub fn owner(&self, variable: &str) -> Option<&Library> {
        if let Some(setting) = self.setting(variable) {
            return self.library(&setting.library);
        }
        let fitting = self.libraries.iter().filter_map(|library| {
            let signs = library
                .signs
                .iter()
                .filter(|sign| variable.starts_with(*sign));
            Some((signs.map(String::len).max()?, library))
        });
        fitting
            .max_by_key(|(length, _)| *length)
            .map(|(_, library)| library)
    }

    /// Returns whether a variable belongs to a library of the table.
    pub fn knows(&self, variable: &str) -> bool {
        self.owner(variable).is_some()
    }
}

/// Returns the table.
pub fn table() -> &'static Table {
    static TABLE: LazyLock<Table> =
        LazyLock::new(|| toml::from_str(TEXT).expect("a test reads the table of the binary"));
    &TABLE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Answer;

    #[test]
    fn every_row_has_a_source_and_a_date() {
        for setting in &table().settings {
            let (key, source) = (&setting.key, &setting.source);
            let path = source.split_once(": ").map(|(_, path)| path.trim());
            assert!(path.is_some_and(|path| !path.is_empty()), "{key}: {source}");
            let date: Vec<&str> = setting.date.split('-').collect();
            let digits = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
            assert!(date.len() == 3 && date.iter().all(digits), "{key}: no date");
            assert_eq!(setting.date.len(), 10, "{key}: {}", setting.date);
            assert!(table().library(&setting.library).is_some(), "{key}");
        }
    }

    /// A library whose fields no setting decides has a source of its own.
    #[test]
    fn every_library_has_a_source_and_a_date() {
        for library in &table().libraries {
            let mut settings = table().settings.iter();
            let has_own = settings.any(|setting| setting.library == library.name);
            let has_source = library
                .source
                .as_ref()
                .is_some_and(|source| source.contains(": "));
            let has_date = library.date.as_ref().is_some_and(|date| date.len() == 10);
            assert!(has_own || (has_source && has_date), "{}", library.name);
        }
    }

    #[test]
    fn a_row_without_a_source_or_date_is_refused() {
        let row = "[[setting]]\nlibrary = \"x\"\nkey = \"X\"\nkind = \"environment\"\n\
                   default = \"0\"\ninfiniband = \"nothing\"\nroce = \"nothing\"\nends = \"own\"\n\
                   status = \"verified\"\n";
        let (source, date) = ("source = \"a/b: c\"\n", "date = \"2026-11-19\"\n");
        let reads = |rows: String| toml::from_str::<Table>(&format!("library = []\n{rows}"));
        assert!(reads(format!("{row}{source}{date}")).is_ok());
        assert!(reads(format!("{row}{source}")).is_err());
        assert!(reads(format!("{row}{date}")).is_err());
    }

    #[test]
    fn libraries_name_settings_of_the_table() {
        for library in &table().libraries {
            for fields in [&library.infiniband, &library.roce] {
                let sources = [
                    &fields.service_level,
                    &fields.traffic_class,
                    &fields.priority,
                ];
                for key in sources
                    .into_iter()
                    .flatten()
                    .flat_map(|source| &source.from)
                {
                    assert!(table().setting(key).is_some(), "{}: {key}", library.name);
                }
            }
            if let Some(whole) = &library.part_of {
                assert!(table().library(whole).is_some(), "{whole}");
            }
            assert!(!library.name.contains('@'), "{}", library.name);
        }
        let mut keys: Vec<&str> = table().settings.iter().map(|s| s.key.as_str()).collect();
        keys.sort_unstable();
        let n = keys.len();
        keys.dedup();
        assert_eq!(keys.len(), n, "each key has one row");
    }

    /// The row says which settings override it, and libraries say which one is read first.
    #[test]
    fn orders_agree_with_what_rows_say() {
        for library in &table().libraries {
            for fields in [&library.infiniband, &library.roce] {
                for source in [&fields.service_level, &fields.traffic_class]
                    .into_iter()
                    .flatten()
                {
                    for (at, key) in source.from.iter().enumerate().skip(1) {
                        let setting = table().setting(key).unwrap();
                        let is_own = setting.library == library.name;
                        for before in source.from[..at].iter().filter(|_| is_own) {
                            // A pool of TENT replaces what the variable sets for all.
                            let says = setting.overridden_by.contains(before);
                            assert!(says, "{key} is read after {before}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn versions_of_rows_can_be_compared_with_what_was_read() {
        for setting in &table().settings {
            let library = table().library(&setting.library).unwrap();
            let answer = setting.is_in(library, &library.version);
            let is_number = library
                .version
                .split('.')
                .all(|part| part.parse::<u32>().is_ok());
            if is_number && setting.since.is_some() {
                assert_eq!(answer, Answer::Yes, "{}", setting.key);
            }
        }
    }
}
