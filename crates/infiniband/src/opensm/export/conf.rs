//! Writes tables as lines of opensm.conf.

use std::fmt::Write as _;

use netloom_arbitration::{Entry, MAX_ENTRIES};
use netloom_units::Vl;

use crate::opensm::keys::{QosKey, QosSet, key_name};
use crate::opensm::tables::{PortTables, Tables};

/// The reason why tables cannot be written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ExportError {
    /// More entries than OpenSM keeps: the key and the number of entries.
    #[error("expected at most 64 entries for {0}, found {1}")]
    TooManyEntries(String, usize),
    /// An entry of an arbitration table for a lane that does not carry data.
    #[error("expected lanes from VL0 to VL14 for {0}, found VL{1}")]
    NotADataLane(String, u8),
    /// An invalid code.
    #[error("expected a code from 1 to 5 for max_op_vls, found {0}")]
    NoSuchCode(u8),
}

/// Writes the lines of opensm.conf that set the tables of a fabric.
///
/// A table without entries is written as `""`: without the line, OpenSM would use its default.
pub fn opensm_conf(tables: &Tables) -> Result<String, ExportError> {
    if !(1..=5).contains(&tables.max_op_vls) {
        return Err(ExportError::NoSuchCode(tables.max_op_vls));
    }
    let mut text = String::new();
    let _ = writeln!(text, "qos TRUE\nmax_op_vls {}", tables.max_op_vls);
    for set in QosSet::ALL {
        if let Some(own) = tables.own(set) {
            let _ = writeln!(text, "\n# For {set}.");
            write_set(&mut text, set, own)?;
        }
    }
    Ok(text)
}

fn write_set(text: &mut String, set: QosSet, tables: &PortTables) -> Result<(), ExportError> {
    let _ = writeln!(
        text,
        "{} {}",
        key_name(set, QosKey::HighLimit),
        tables.high_limit
    );
    for (key, entries) in [
        (QosKey::VlarbHigh, &tables.high),
        (QosKey::VlarbLow, &tables.low),
    ] {
        let key = key_name(set, key);
        let list = entry_list(&key, entries)?;
        let _ = writeln!(text, "{key} {list}");
    }
    let lanes = tables.sl_to_vl.0.map(|vl| vl.0.to_string()).join(",");
    let _ = writeln!(text, "{} {lanes}", key_name(set, QosKey::Sl2Vl));
    Ok(())
}

fn entry_list(key: &str, entries: &[Entry]) -> Result<String, ExportError> {
    if entries.len() > MAX_ENTRIES {
        return Err(ExportError::TooManyEntries(key.to_owned(), entries.len()));
    }
    if let Some(entry) = entries.iter().find(|entry| entry.vl >= Vl(15)) {
        return Err(ExportError::NotADataLane(key.to_owned(), entry.vl.0));
    }
    let list: Vec<String> = entries
        .iter()
        .map(|entry| format!("{}:{}", entry.vl.0, entry.weight))
        .collect();
    Ok(match list.is_empty() {
        true => "\"\"".to_owned(),
        false => list.join(","),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SlToVl;
    use crate::opensm::{Conf, PortCapabilities, PortKind, Subject, Sweep, lint, program};

    fn entry(vl: u8, weight: u8) -> Entry {
        Entry { vl: Vl(vl), weight }
    }

    fn common() -> PortTables {
        PortTables {
            low: vec![entry(0, 128), entry(1, 64), entry(0, 128), entry(2, 64)],
            high: vec![entry(3, 64)],
            high_limit: 8,
            sl_to_vl: SlToVl(std::array::from_fn(|sl| {
                Vl(if sl < 4 { sl as u8 } else { 0 })
            })),
        }
    }

    fn tables() -> Tables {
        Tables {
            channel_adapter: Some(PortTables {
                high: vec![],
                low: (0..4).map(|vl| entry(vl, 64)).collect(),
                ..common()
            }),
            ..Tables::everywhere(3, common())
        }
    }

    #[test]
    fn what_is_written_is_clean_and_programmed_as_planned() {
        let tables = tables();
        let text = opensm_conf(&tables).unwrap();
        let conf = Conf::read(&text, 0);
        let report = lint(&Subject::of(&conf));
        assert!(report.findings.is_empty(), "{text}\n{report:#?}");
        let port = PortCapabilities {
            lanes: 8,
            neighbor_lanes: Some(8),
            operational_before: 8,
            low_cap: 16,
            high_cap: 16,
        };
        let kinds = [
            PortKind::ChannelAdapter,
            PortKind::SwitchExternal,
            PortKind::EnhancedPort0,
            PortKind::Router,
        ];
        for kind in kinds {
            let program = program(&conf, kind, &port, Sweep::Later).unwrap();
            let planned = tables.of(kind.set().unwrap());
            let trimmed = |mut entries: Vec<Entry>| {
                while entries.last().is_some_and(|entry| entry.weight == 0) {
                    entries.pop();
                }
                entries
            };
            assert_eq!(trimmed(program.arbitration.low), planned.low, "{kind:?}");
            assert_eq!(trimmed(program.arbitration.high), planned.high, "{kind:?}");
            assert_eq!(program.sl_to_vl, planned.sl_to_vl);
            assert_eq!(program.high_limit, planned.high_limit);
            assert_eq!(program.operational, 4);
        }
    }

    #[test]
    fn what_no_file_can_say_is_refused() {
        let with = |low| Tables::everywhere(3, PortTables { low, ..common() });
        let error = |tables| opensm_conf(&tables).unwrap_err().to_string();
        let long = error(with(vec![entry(0, 1); 65]));
        assert_eq!(
            long,
            "expected at most 64 entries for qos_vlarb_low, found 65"
        );
        let lane = error(with(vec![entry(15, 1)]));
        assert_eq!(
            lane,
            "expected lanes from VL0 to VL14 for qos_vlarb_low, found VL15"
        );
        let code = error(Tables::everywhere(8, common()));
        assert_eq!(code, "expected a code from 1 to 5 for max_op_vls, found 8");
    }

    #[test]
    fn a_full_table_is_shorter_than_a_line() {
        let full = PortTables {
            low: vec![entry(14, 255); 64],
            ..common()
        };
        let text = opensm_conf(&Tables::everywhere(5, full)).unwrap();
        assert!(Conf::read(&text, 0).too_long.is_empty());
    }
}
