//! The rules for every registered arbiter.

use std::sync::Arc;

use netloom_arbitration::{Grant, Head, KINDS, Monitored, Policy, PortContext, View, WaitsBy};
use netloom_catalog::{Document, Kind, Notes, Section};
use netloom_units::{Sl, Tick, Vl};
use proptest::prelude::*;

const MANAGEMENT: u8 = 15;

/// Returns the kind with the parameters of its own example.
fn example(kind: &Kind<dyn Policy>) -> Box<dyn Policy> {
    let mut notes = Notes::new();
    let document = Document::parse(kind.name, kind.example, &mut notes);
    let mut section = Section::open(&document.root, &mut notes).expect("a table");
    let policy = (kind.read)(&mut section);
    section.finish();
    assert!(notes.is_empty(), "{}: {notes:?}", kind.name);
    policy.expect("an example without mistakes builds")
}

fn examples() -> impl Iterator<Item = (&'static str, Box<dyn Policy>)> {
    KINDS.iter().map(|kind| (kind.name, example(kind)))
}

#[test]
fn kinds_are_described_and_have_their_own_names() {
    for (at, kind) in KINDS.iter().enumerate() {
        assert!(KINDS[..at].iter().all(|other| other.name != kind.name));
        let is_kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(kind.name.chars().all(is_kebab), "{}", kind.name);
        assert!(kind.summary.ends_with('.'), "{}", kind.name);
        for param in (kind.params)() {
            assert!(!param.about.is_empty(), "{}.{}", kind.name, param.name);
        }
    }
}

#[test]
fn examples_suit_a_port_with_their_lanes() {
    for (name, policy) in examples() {
        let context = PortContext {
            data_vls: 15,
            largest_packet: [Some(4096); 16],
            largest_of_sl: [Some(4096); 16],
            used_vls: policy.sendable_vls() & 0x7fff,
        };
        let faults = policy.faults(&context);
        assert!(faults.is_empty(), "{name}: {faults:?}");
    }
}

#[test]
fn only_the_two_table_kind_is_specialised() {
    for (name, policy) in examples() {
        assert_eq!(policy.two_table().is_some(), name == "ib-two-table");
    }
}

fn heads() -> impl Strategy<Value = [Head; 32]> {
    // Mostly lanes and service levels of the examples; sometimes any lane and management.
    let vl = prop_oneof![16 => 0u8..3, 2 => 0u8..15, 1 => Just(MANAGEMENT)];
    let sl = prop_oneof![4 => 0u8..3, 1 => 0u8..16];
    let head = (0u64..50, 1u32..5000, sl, vl).prop_map(|(born, bytes, sl, vl)| Head {
        born: Tick(born),
        bytes,
        sl: Sl(sl),
        vl: Vl(vl),
    });
    prop::collection::vec(head, 32).prop_map(|heads| heads.try_into().expect("32 of them"))
}

fn decisions() -> impl Strategy<Value = Vec<([Head; 32], u32)>> {
    let eligible = prop_oneof![any::<u32>(), (0u32..32).prop_map(|q| 1 << q), 0u32..16];
    prop::collection::vec((heads(), eligible), 1..40)
}

/// Checks the rules of a single decision.
fn check_grant(
    name: &str,
    policy: &dyn Policy,
    view: &View<'_>,
    grant: Option<Grant>,
) -> Result<(), TestCaseError> {
    let eligible = |q: usize| view.eligible >> q & 1 == 1;
    let vl = |q: usize| view.heads[q].vl.0;
    let has_sl =
        |q: usize| vl(q) == MANAGEMENT || policy.sendable_sls() >> view.heads[q].sl.0 & 1 == 1;
    let can_send = |q: usize| eligible(q) && policy.sendable_vls() >> vl(q) & 1 == 1 && has_sl(q);
    let Some(grant) = grant else {
        prop_assert!(!(0..32).any(can_send), "{name} idles with work to do");
        return Ok(());
    };
    let winner = usize::from(grant.queue);
    prop_assert!(
        winner < 32 && can_send(winner),
        "{name} sends what it cannot"
    );
    if (0..32).any(|q| eligible(q) && vl(q) == MANAGEMENT) {
        prop_assert_eq!(vl(winner), MANAGEMENT, "{} keeps management waiting", name);
    }
    if policy.speaks() == netloom_arbitration::Speaks::Vls || vl(winner) == MANAGEMENT {
        let age = |q: usize| (view.heads[q].born, q);
        let same_vl = (0..32).filter(|&q| eligible(q) && vl(q) == vl(winner));
        let first = same_vl.min_by_key(|&q| age(q));
        prop_assert_eq!(
            first,
            Some(winner),
            "{} takes a younger packet of a lane",
            name
        );
    }
    Ok(())
}

proptest! {
    #[test]
    fn grants_are_eligible_and_looking_changes_nothing(decisions in decisions()) {
        for (name, policy) in examples() {
            // One arbiter is called often, and with other views too; the other one only gets what
            // is sent.
            let (mut curious, mut twin) = (policy.build(), policy.build());
            for (at, (heads, eligible)) in decisions.iter().enumerate() {
                let view = View { eligible: *eligible, heads };
                let elsewhere = &decisions[(at + 1) % decisions.len()].0;
                curious.choose(&View { eligible: !eligible, heads: elsewhere });
                let grant = curious.choose(&view);
                prop_assert_eq!(grant, curious.choose(&view), "{} changes its mind", name);
                prop_assert_eq!(grant, twin.choose(&view), "{} remembers looking", name);
                check_grant(name, &*policy, &view, grant)?;
                if let Some(grant) = grant {
                    curious.commit(grant);
                    twin.commit(grant);
                }
            }
        }
    }

    /// A single queue is sent as if it were chosen and then sent.
    #[test]
    fn one_queue_alone_is_sent_as_it_would_be_chosen(decisions in decisions()) {
        for (name, policy) in examples() {
            let (mut at_once, mut twin) = (policy.build(), policy.build());
            for (heads, eligible) in &decisions {
                let queue = eligible.trailing_zeros().min(31) as u8;
                let grant = twin.choose(&View { eligible: 1 << queue, heads });
                let mut shown = [Head::default(); 32];
                let is_sent = at_once.send_alone(queue, &heads[usize::from(queue)], &mut shown);
                prop_assert_eq!(is_sent, grant.is_some(), "{}", name);
                if let Some(grant) = grant {
                    twin.commit(grant);
                }
                let view = View { eligible: *eligible, heads };
                let (one, other) = (at_once.choose(&view), twin.choose(&view));
                prop_assert_eq!(one, other, "{} remembers something else", name);
                if let Some(grant) = one {
                    at_once.commit(grant);
                    twin.commit(grant);
                }
            }
        }
    }

    /// `send` does what `choose` and `commit` do.
    #[test]
    fn packets_are_sent_as_they_would_be_chosen(decisions in decisions()) {
        for (name, policy) in examples() {
            let (mut at_once, mut twin) = (policy.build(), policy.build());
            for (heads, eligible) in &decisions {
                let view = View { eligible: *eligible, heads };
                let grant = twin.choose(&view);
                let expected = grant.map(|grant| grant.queue);
                if let Some(grant) = grant {
                    twin.commit(grant);
                }
                prop_assert_eq!(at_once.send(&view), expected, "{}", name);
            }
        }
    }

    /// After a save, an arbiter built by the same policy continues as the saved one.
    #[test]
    fn a_restored_arbiter_chooses_as_the_saved_one(
        decisions in decisions(),
        at in any::<prop::sample::Index>(),
        announces in any::<bool>(),
        is_monitored in any::<bool>(),
    ) {
        let saved_at = at.index(decisions.len());
        for (name, policy) in examples() {
            let policy: Arc<dyn Policy> = Arc::from(policy);
            let policy = match is_monitored {
                true => Arc::new(Monitored::new(policy, WaitsBy::Vl)),
                false => policy,
            };
            let (mut saved, mut restored) = (policy.build(), None);
            for (at, (heads, eligible)) in decisions.iter().enumerate() {
                if at == saved_at {
                    let mut words = vec![];
                    saved.save(&mut words);
                    let mut fresh = policy.build();
                    prop_assert_eq!(fresh.restore(&mut &words[..words.len().saturating_sub(1)]).is_none(), !words.is_empty());
                    let mut fresh = policy.build();
                    let mut rest = &words[..];
                    prop_assert_eq!(fresh.restore(&mut rest), Some(()), "{}", name);
                    prop_assert!(rest.is_empty(), "{} leaves words", name);
                    let mut again = vec![];
                    fresh.save(&mut again);
                    prop_assert_eq!(words, again, "{} saves what it was given", name);
                    restored = Some(fresh);
                }
                let view = View { eligible: *eligible, heads };
                let both = std::iter::once(&mut saved).chain(&mut restored);
                let mut grants = vec![];
                for arbiter in both {
                    for (queue, head) in heads.iter().enumerate().filter(|_| announces) {
                        // A queue gets a packet at every third decision.
                        if (queue + at) % 3 == 0 {
                            arbiter.arrived(queue as u8, head);
                        }
                    }
                    let grant = arbiter.choose(&view);
                    if let Some(grant) = grant {
                        arbiter.commit(grant);
                    }
                    grants.push(grant);
                }
                let all_same = grants.iter().all(|grant| *grant == grants[0]);
                prop_assert!(all_same, "{}: {:?}", name, grants);
            }
        }
    }

    #[test]
    fn management_leaves_the_registers_alone(decisions in decisions(), mut data in heads()) {
        for head in &mut data {
            head.vl = Vl(head.vl.0 % 3);
        }
        let view = View { eligible: u32::MAX, heads: &data };
        for (name, policy) in examples() {
            let mut arbiter = policy.build();
            for (heads, eligible) in &decisions {
                let before = arbiter.choose(&view);
                let Some(grant) = arbiter.choose(&View { eligible: *eligible, heads }) else {
                    continue;
                };
                arbiter.commit(grant);
                if heads[usize::from(grant.queue)].vl.0 == MANAGEMENT {
                    prop_assert_eq!(before, arbiter.choose(&view), "{}", name);
                }
            }
        }
    }

    /// Every queue always has a packet; new packets are younger than all waiting ones.
    #[test]
    fn nobody_starves_where_that_is_promised(sizes in prop::collection::vec(1u32..5000, 32)) {
        let promised = || examples().filter(|(_, policy)| policy.serves_everyone());
        // Packets are announced, as in a switch, or not, as in a NIC.
        let cases = promised().map(|it| (it, true)).chain(promised().map(|it| (it, false)));
        for ((name, policy), announces) in cases {
            let mut arbiter = policy.build();
            let mut heads = [Head::default(); 32];
            let mut sent = [0u32; 32];
            for (queue, head) in heads.iter_mut().enumerate() {
                head.vl = Vl(queue as u8 % 3);
                head.sl = Sl(queue as u8 % 3);
                head.bytes = sizes[queue];
                if announces {
                    arbiter.arrived(queue as u8, head);
                }
            }
            for now in 1..5000 {
                let grant = arbiter.choose(&View { eligible: u32::MAX, heads: &heads }).unwrap();
                arbiter.commit(grant);
                let queue = usize::from(grant.queue);
                sent[queue] += 1;
                heads[queue].born = Tick(now);
                if announces {
                    arbiter.arrived(grant.queue, &heads[queue]);
                }
            }
            prop_assert!(sent.iter().all(|&n| n > 3), "{} starves: {:?}", name, sent);
        }
    }
}
