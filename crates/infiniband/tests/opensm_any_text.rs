//! The readers of OpenSM files do not panic on any text, and the places of notes are within the
//! text.

use netloom_infiniband::opensm::{Conf, Policy, Subject, lint};
use proptest::prelude::*;

/// A line with a QoS key and an almost valid value.
const LINE: &str = "(qos|max_op_vls|qos_high_limit|qos_ca_vlarb_low|qos_swe_vlarb_high|qos_sl2vl|qos_max_vls|\
    routing_engine)[ \t]{0,3}[-0-9:, \"x#é]{0,60}(TRUE|torus-2QoS)?";

/// A line of a policy.
const POLICY_LINE: &str = "(qos-ulps|end-qos-ulps|port-groups|port-group|name: a|default : 1|any, \
    pkey 0x1 : 2|\
     sl: 3|end-port-group|qos-levels|qos-level|end-qos-level|port-name: a b/P1|port-guid: 0x1-é)";

fn check(text: &str, policy_text: &str, log: &str) {
    let conf = Conf::read(text, 0);
    let policy = Policy::read(policy_text, 1);
    let report = lint(&Subject {
        policy: Some(&policy),
        log: Some((log, 2)),
        ..Subject::of(&conf)
    });
    let texts = [text, policy_text, log];
    for note in report.findings.iter().chain(report.remarks.iter()) {
        for (place, _) in &note.places {
            let length = texts[usize::from(place.source)].len();
            assert!(place.start <= place.end, "{note:?}");
            assert!(place.end as usize <= length, "{note:?}");
        }
    }
}

proptest! {
    #[test]
    fn any_text(text in "(.|\n){0,300}", policy in "(.|\n){0,200}") {
        check(&text, &policy, &text);
    }

    #[test]
    fn texts_that_look_like_files(
        lines in prop::collection::vec(LINE, 0..12),
        policy in prop::collection::vec(POLICY_LINE, 0..12),
    ) {
        check(&lines.join("\n"), &policy.join("\n"), "x tables configured on all switches\n");
    }
}
