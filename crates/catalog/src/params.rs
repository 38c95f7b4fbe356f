//! Parameters declared once: the declaration gives type, default, documentation and reader.

use crate::{Section, Shape};

/// One parameter of a kind or section.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// Key in a file.
    pub name: String,
    pub about: String,
    /// Type of its value.
    pub shape: Shape,
    /// Default as TOML, if the key is optional; empty if it then has no value.
    pub default: Option<String>,
}

/// A struct of parameters, declared with [`params!`](crate::params).
pub trait Params: Sized {
    /// Returns the parameters in order of declaration.
    fn params() -> Vec<Param>;
    /// Reads the parameters from a table and notes every mistake; `None` if there is one.
    fn read(section: &mut Section<'_>) -> Option<Self>;
}

/// Declares a struct of parameters. A field with `= default` is an optional key. Keys are the field
/// names in kebab case. An optional `removed` list has keys of former versions, each with its
/// former default as TOML and what holds now. An optional `check` closure notes mistakes that
/// concern several values.
///
/// ```
/// netloom_catalog::params! {
///     /// A ring of hosts.
///     #[derive(Clone, Debug)]
///     pub struct Ring {
///         /// Number of hosts.
///         pub hosts: u32,
///         /// Hops skipped by an express link.
///         pub skip_length: u32 = 1,
///     }
///     removed { "wrap" = "true": "a ring is always closed" }
///     check |ring, section| {
///         if ring.hosts < 3 {
///             let place = section.place_of("hosts");
///             section.notes.error("E0200", place, "a ring needs at least 3 hosts");
///         }
///     }
/// }
/// ```
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident { $($(#[doc = $about:literal])+ $fvis:vis $field:ident : $type:ty $(= $default:expr)?),* $(,)? }
        $(removed { $($gone:literal = $former:literal: $instead:literal),+ $(,)? })?
        $(check |$this:ident, $section:ident| $body:block)?
    ) => {
        $(#[$meta])*
        $vis struct $name { $($(#[doc = $about])+ $fvis $field: $type),* }

        impl $crate::Params for $name {
            fn params() -> Vec<$crate::Param> {
                vec![$($crate::Param {
                    name: stringify!($field).replace('_', "-"),
                    about: [$($about),+].map(str::trim).join(" "),
                    shape: <$type as $crate::FromToml>::shape(),
                    default: $crate::params!(@default $type $(, $default)?),
                }),*]
            }

            #[allow(unused_variables, clippy::needless_question_mark)]
            fn read(section: &mut $crate::Section<'_>) -> Option<Self> {
                $($(section.removed($gone, $former, $instead);)+)?
                $(let $field = $crate::params!(@read section, stringify!($field).replace('_', "-"), $type $(, $default)?);)*
                let read = $name { $($field: $field?),* };
                $({
                    let errors_before = section.notes.count_of($crate::Severity::Error);
                    let ($this, $section) = (&read, &mut *section);
                    $body
                    if section.notes.count_of($crate::Severity::Error) > errors_before {
                        return None;
                    }
                })?
                Some(read)
            }
        }
    };
    (@default $type:ty) => { None };
    (@default $type:ty, $default:expr) => { Some(<$type as $crate::FromToml>::write(&$default)) };
    (@read $section:ident, $key:expr, $type:ty) => { $section.required::<$type>(&$key) };
    (@read $section:ident, $key:expr, $type:ty, $default:expr) => { $section.or::<$type>(&$key, $default) };
}
