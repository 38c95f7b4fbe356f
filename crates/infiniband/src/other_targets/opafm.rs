//! QoS groups of opafm.xml, the configuration of the Omni-Path fabric manager.

use std::fmt::Write as _;

use super::{ClassError, TrafficClass, percents};

/// Returns the `<QOSGroups>` element for the `<Common>` part of opafm.xml, with one group per
/// class.
///
/// Bandwidths are whole percents with a sum of 100; strict classes get `HighPriority`. Virtual
/// fabrics refer to a group by `<QOSGroup>name</QOSGroup>`, and must not have their own `<QOS>` or
/// `<Bandwidth>`. Flow control is on for lossless classes and off for the others.
pub fn opafm_qos_groups(classes: &[TrafficClass]) -> Result<String, ClassError> {
    let percents = percents(classes)?;
    let mut text = String::from("  <QOSGroups>\n");
    for (class, percent) in classes.iter().zip(percents) {
        let _ = writeln!(
            text,
            "    <QOSGroup>\n      <Name>{}</Name>\n      <Enable>1</Enable>",
            escaped(&class.name)
        );
        let _ = match percent {
            Some(percent) => writeln!(text, "      <Bandwidth>{percent}%</Bandwidth>"),
            None => writeln!(text, "      <HighPriority>1</HighPriority>"),
        };
        let _ = writeln!(
            text,
            "      <BaseSL>{}</BaseSL>\n      <FlowControlDisable>{}</FlowControlDisable>\n    </QOSGroup>",
            class.number,
            u8::from(!class.is_lossless)
        );
    }
    text.push_str("  </QOSGroups>\n");
    Ok(text)
}

fn escaped(name: &str) -> String {
    name.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
