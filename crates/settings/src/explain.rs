//! Rows of the table as text.

use crate::plan::Link;
use crate::table::{Ends, Library, Setting, Status, table};

/// A line of an explanation: a word and its text. An empty word continues the text.
pub type Line = (&'static str, String);

/// Returns what the table knows about a setting.
pub fn setting(setting: &Setting) -> Vec<Line> {
    let title = |name: &str| {
        table()
            .library(name)
            .map_or(name.to_owned(), |l| l.title.clone())
    };
    let library = table().library(&setting.library);
    let mut lines = vec![("library", title(&setting.library))];
    let readers: Vec<&str> = readers(setting)
        .map(|library| library.title.as_str())
        .collect();
    if !readers.is_empty() {
        lines.push(("also read by", readers.join(", ")));
    }
    if let Some([least, most]) = setting.range {
        let word = setting.word.as_ref().map(|word| format!(" or {word}"));
        lines.push((
            "range",
            format!("{least} to {most}{}", word.unwrap_or_default()),
        ));
    }
    lines.push(("default", setting.default.clone()));
    lines.push(("since", since(setting, library)));
    for link in [Link::InfiniBand, Link::Roce] {
        let name = match link {
            Link::InfiniBand => "on InfiniBand",
            Link::Roce => "on RoCE",
        };
        lines.push((name, setting.effect(link).words().to_owned()));
    }
    if !setting.overridden_by.is_empty() {
        lines.push(("overridden by", setting.overridden_by.join(", ")));
    }
    let ends = match setting.ends {
        Ends::Both => "one value decides both directions",
        Ends::Own => "each end sets what it sends; set it on both",
    };
    lines.push(("ends", ends.to_owned()));
    if let Some(note) = &setting.note {
        lines.push(("note", note.clone()));
    }
    lines.push(("source", setting.source.clone()));
    let status = match (setting.status, library) {
        (Status::Verified, Some(library)) => {
            format!(
                "read on {} in {} ({})",
                setting.date, library.version, library.commit
            )
        }
        (Status::Verified, None) => format!("read on {}", setting.date),
        (Status::Unverified, _) => {
            format!(
                "unverified on {}; netloom writes no line for it",
                setting.date
            )
        }
    };
    lines.push(("status", status));
    lines
}

/// Returns the libraries that read a setting of another one.
fn readers(setting: &Setting) -> impl Iterator<Item = &'static Library> {
    table().libraries.iter().filter(|library| {
        let fields = [&library.infiniband, &library.roce];
        let mut sources = fields.into_iter().flat_map(|fields| {
            [
                &fields.service_level,
                &fields.traffic_class,
                &fields.priority,
            ]
            .into_iter()
            .flatten()
        });
        library.name != setting.library && sources.any(|source| source.from.contains(&setting.key))
    })
}

fn since(setting: &Setting, library: Option<&Library>) -> String {
    let newest = library.map_or("", |library| library.version.as_str());
    let first = match setting.since.as_deref() {
        None => return format!("not known; read in {newest}"),
        Some(since) => match since.strip_prefix("<=") {
            Some(first) => format!("{first} or older"),
            None => since.to_owned(),
        },
    };
    format!("{first}; versions after {newest} are not known")
}

/// Returns what the table knows about a library, with its settings and their effects.
pub fn library(library: &Library) -> Vec<Line> {
    let mut lines = vec![("library", library.title.clone())];
    lines.push((
        "read in",
        format!("{} ({})", library.version, library.commit),
    ));
    for (name, link) in [("on InfiniBand", Link::InfiniBand), ("on RoCE", Link::Roce)] {
        let fields = library.fields(link);
        let deciding = fields.deciding(link);
        let field = match link {
            Link::InfiniBand => "service level",
            Link::Roce => "traffic class",
        };
        let words = match (fields.path_record, deciding) {
            (true, _) if link == Link::InfiniBand => "service level by the path record".to_owned(),
            (true, _) => "traffic class by rdma_cm".to_owned(),
            (false, None) => "not known to run there".to_owned(),
            (false, Some(source)) => {
                let default = match source.default {
                    Some(default) => default.to_string(),
                    None => "that of the kernel and the device".to_owned(),
                };
                match source.from.is_empty() {
                    true => format!("{field} {default}, always"),
                    false => {
                        format!(
                            "{field} by {}, otherwise {default}",
                            source.from.join(", then ")
                        )
                    }
                }
            }
        };
        lines.push((name, words));
    }
    lines.extend(library.limits.iter().map(|limit| ("limit", limit.clone())));
    if let (Some(source), Some(date)) = (&library.source, &library.date) {
        lines.push(("source", format!("{source}, read on {date}")));
    }
    lines
}

/// Returns all names that can be explained.
pub fn names() -> impl Iterator<Item = &'static str> {
    let settings = table().settings.iter().map(|setting| setting.key.as_str());
    settings.chain(table().names())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(key: &str) -> String {
        let lines = setting(table().setting(key).unwrap()).into_iter();
        lines
            .map(|(word, text)| format!("{word}: {text}\n"))
            .collect()
    }

    #[test]
    fn a_row_says_what_a_setting_does_and_where_that_was_read() {
        let sl = text("NCCL_IB_SL");
        assert!(
            sl.contains("also read by: NCCL clear-to-send, NCCL GIN, DeepEP V2"),
            "{sl}"
        );
        assert!(sl.contains("range: 0 to 15\n"), "{sl}");
        assert!(sl.contains("on InfiniBand: the service level\n"), "{sl}");
        assert!(sl.contains("on RoCE: the Ethernet priority bits"), "{sl}");
        assert!(
            sl.contains("since: 2.1.4; versions after 2.30.7 are not known"),
            "{sl}"
        );
        assert!(
            sl.contains("source: NVIDIA/nccl: src/transport/net_ib/connect.cc\n"),
            "{sl}"
        );
        assert!(
            sl.contains("status: read on 2026-11-19 in 2.30.7 (NVIDIA/nccl 5067397c"),
            "{sl}"
        );
        let gpfs = text("verbsRdmaQpRtrSl");
        assert!(gpfs.contains("since: not known"), "{gpfs}");
        assert!(gpfs.contains("status: unverified"), "{gpfs}");
        let ucx = library(table().library("ucx").unwrap());
        let roce = "traffic class by UCX_IB_TRAFFIC_CLASS, otherwise 106";
        assert!(ucx.contains(&("on RoCE", roce.to_owned())), "{ucx:?}");
    }
}
