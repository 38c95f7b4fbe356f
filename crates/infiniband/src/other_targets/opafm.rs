//! QoS groups of opafm.xml, the configuration of the fabric manager of Omni-Path.

use std::fmt::Write as _;

use super::{ClassError, TrafficClass, percents};

/// The `<QOSGroups>` element for the `<Common>` part of opafm.xml, one group for each class.
///
/// Bandwidths are whole percents with a sum of 100; strict classes get `HighPriority`. Virtual fabrics then refer to a
/// group by `<QOSGroup>name</QOSGroup>`, and must have no `<QOS>` or `<Bandwidth>` of their own. Flow control stays on
/// for lossless classes and is off for the others.
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
