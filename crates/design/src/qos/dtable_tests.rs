//! The numbers of Table 4 of paper 000, recomputed.

use super::*;

fn r(num: u128, den: u128) -> Ratio {
    Ratio::new(num, den)
}

fn class(name: &str, sl: u8, distance: usize, mtu: u32, thousandths: u128) -> Class {
    Class {
        name: name.into(),
        sl: Sl(sl),
        spacing: Spacing::Distance(distance),
        mtu,
        share: r(thousandths, 1000),
    }
}

const N_ENTRIES: [u32; 7] = [32, 16, 8, 4, 2, 1, 1];

#[test]
fn v000_3_pool() {
    let needs = Needs::table_4_as_printed();
    let plan = plan(&needs).unwrap();
    assert_eq!((plan.k, plan.w), (r(1, 2), r(3, 1)));
    assert_eq!(plan.pool, r(1024, 1));
}

#[test]
fn v000_4_min_shares() {
    let plan = plan(&Needs::table_4_as_printed()).unwrap();
    let shares: Vec<f64> = plan.classes.iter().map(|c| c.min_share.as_f64()).collect();
    // VO and BK are printed differently.
    let expected = [0.09375, 0.03125, 0.25, 0.125, 0.03125, 0.015625, 0.015625];
    assert_eq!(shares, expected);
    assert_eq!(shares.iter().sum::<f64>(), 0.5625);
}

#[test]
fn v000_5_max_shares() {
    let plan = plan(&Needs::table_4_as_printed()).unwrap();
    let shares: Vec<f64> = plan.classes.iter().map(|c| c.max_share.as_f64()).collect();
    assert_eq!(shares, [3.0, 1.5, 0.75, 0.375, 0.1875, 0.09375, 0.09375]);
    assert_eq!(shares.iter().sum::<f64>(), 6.0);
}

#[test]
fn v000_6_k_search() {
    let needs = Needs::table_4();
    let shares = scaled_shares(&needs);
    let needed = needed_k(&needs, &shares, &N_ENTRIES);
    assert_eq!(format!("{:.4}", needed[0].as_f64()), "0.4987");
    assert_eq!(format!("{:.4}", needed[6].as_f64()), "0.4883");
    assert_eq!(search_k(&needs, &shares, &N_ENTRIES), r(5, 10));
}

#[test]
fn x000_7_one_percent_for_nc_would_need_a_large_k() {
    let mut needs = Needs::table_4();
    needs.classes[0].share = r(10, 1000);
    needs.classes[1].share = r(248, 1000);
    let shares = scaled_shares(&needs);
    assert_eq!(needed_k(&needs, &shares, &N_ENTRIES)[0], r(46875, 10000));
    // With that, the other entries no longer fit in eight bits.
    let refusals = plan(&needs).unwrap_err();
    assert!(
        matches!(&refusals[..], [Refusal::Heavy(a, 361, 9626, 224), Refusal::Heavy(b, 843, ..), ..] if a == "VI" && b == "CL"),
        "{refusals:?}"
    );
}

#[test]
fn v000_7_w_search_in_exact_tenths() {
    let needs = Needs::table_4();
    let shares = scaled_shares(&needs);
    let needed = needed_w(&needs, &shares, &N_ENTRIES, r(1, 2));
    assert_eq!(needed[3], r(28, 10));
    assert_eq!(search_w(&needs, &shares, &N_ENTRIES, r(1, 2)), r(28, 10));
    // An entry of 94 needs 2.9375, so 3 is the first multiple of 0.1 that holds the printed
    // weights.
    let plan = plan(&Needs::table_4_as_printed()).unwrap();
    assert_eq!((plan.searched_w, plan.w), (r(28, 10), r(3, 1)));
}

#[test]
fn v000_8_total_weights_and_splits() {
    let plan = plan(&Needs::table_4_as_printed()).unwrap();
    let totals: Vec<u64> = plan.classes.iter().map(|c| c.total).collect();
    assert_eq!(totals, [101, 176, 322, 375, 43, 39, 17]);
    assert_eq!(plan.sum, 1073);
    let split = |class: usize| {
        let weights = &plan.classes[class].weights;
        let heaviest = weights.iter().filter(|&&w| w == weights[0]).count();
        let rest = weights.last().copied().filter(|&w| w != weights[0]);
        (heaviest, weights[0], weights.len() - heaviest, rest)
    };
    assert_eq!(split(0), (5, 4, 27, Some(3)));
    assert_eq!(split(1), (16, 11, 0, None));
    assert_eq!(split(2), (2, 41, 6, Some(40)));
    assert_eq!(split(3), (3, 94, 1, Some(93)));
    assert_eq!(split(4), (1, 22, 1, Some(21)));
    assert_eq!((split(5), split(6)), ((1, 39, 0, None), (1, 17, 0, None)));
}

#[test]
fn the_search_stops_at_1052() {
    let plan = plan(&Needs::table_4()).unwrap();
    assert_eq!((plan.total, plan.sum), (1052, 1053));
    let totals: Vec<u64> = plan.classes.iter().map(|c| c.total).collect();
    assert_eq!(totals, [99, 173, 316, 368, 42, 38, 17]);
    assert!(plan.error < r(1, 100) && plan.error > r(9, 1000));
    assert_eq!(plan.w, r(29, 10));
    // The printed total is also within the tolerance.
    assert!(super::plan(&Needs::table_4_as_printed()).unwrap().error < r(1, 100));
}

#[test]
fn v000_9_the_table_has_every_slot() {
    let plan = plan(&Needs::table_4_as_printed()).unwrap();
    let sls: Vec<u8> = plan.table.entries().iter().map(|e| e.sl.0).collect();
    let expected = |slot: usize| match slot {
        s if s % 2 == 0 => 0,
        s if s % 4 == 1 => 1,
        s if s % 8 == 3 => 2,
        s if s % 16 == 7 => 3,
        s if s % 32 == 15 => 4,
        31 => 5,
        _ => 6,
    };
    assert_eq!(sls, (0..64).map(expected).collect::<Vec<u8>>());
    let distances: Vec<usize> = plan.classes.iter().map(|c| c.distance).collect();
    assert_eq!(distances, [2, 4, 8, 16, 32, 64, 64]);
    let weight: u64 = plan
        .table
        .entries()
        .iter()
        .map(|e| u64::from(e.weight))
        .sum();
    assert_eq!(weight, plan.sum);
}

#[test]
fn v000_2_equal_totals_are_equal_shares() {
    let half = |name, sl, distance, mtu| class(name, sl, distance, mtu, 333);
    let mut needs = Needs::new(vec![
        half("A", 0, 2, 2),
        half("B", 1, 4, 4),
        half("C", 2, 4, 4),
    ]);
    needs.gmtu = 4;
    let plan = plan(&needs).unwrap();
    assert_eq!(plan.classes[0].total, plan.classes[1].total);
    assert_eq!((plan.classes[0].distance, plan.classes[1].distance), (2, 4));
}

#[test]
fn c000_12_registers_of_eight_bits_never_overflow() {
    let plan = plan(&Needs::table_4_as_printed()).unwrap();
    assert_eq!(plan.largest_accumulator, 125);
    assert_eq!(plan.classes[3].largest_accumulator, 94 + 31);
    // With seven bits 94 + 31 still fits; with six, CL and VI do not.
    let narrow = |bits| {
        super::plan(&Needs {
            register_bits: bits,
            ..Needs::table_4_as_printed()
        })
    };
    assert!(narrow(7).is_ok());
    let refusals = narrow(6).unwrap_err();
    assert_eq!(
        refusals,
        [
            Refusal::Heavy("VI".into(), 41, 1072, 32),
            Refusal::Heavy("CL".into(), 94, 1072, 32)
        ]
    );
}

#[test]
fn all_mistakes_come_at_once() {
    let mut needs = Needs::table_4();
    needs.classes[1].sl = Sl(0);
    needs.classes[2].mtu = 33;
    needs.classes[3].share = Ratio::ZERO;
    needs.classes[4].share = r(9, 10);
    needs.classes[5].spacing = Spacing::Distance(3);
    let refusals = plan(&needs).unwrap_err();
    assert_eq!(refusals.len(), 5, "{refusals:?}");
    assert!(
        refusals
            .iter()
            .all(|refusal| !refusal.to_string().is_empty())
    );
    assert_eq!(plan(&Needs::new(vec![])), Err(vec![Refusal::NoClasses]));
}

#[test]
fn pinned_numbers_are_checked() {
    let pinned = |total| {
        super::plan(&Needs {
            total: Some(total),
            ..Needs::table_4()
        })
    };
    // At 1000, NC has 94 over 32 entries: two credits for messages of three.
    assert_eq!(pinned(1000), Err(vec![Refusal::Light("NC".into(), 2, 3)]));
    let w = |w| {
        super::plan(&Needs {
            w: Some(w),
            ..Needs::table_4_as_printed()
        })
    };
    assert_eq!(
        w(r(28, 10)),
        Err(vec![Refusal::Heavy("CL".into(), 94, 1072, 89)])
    );
    assert!(w(r(47, 16)).is_ok());
    let no_k = Needs {
        k: Some(Ratio::ZERO),
        ..Needs::table_4()
    };
    assert_eq!(plan(&no_k), Err(vec![Refusal::NoPool]));
    // Seven bits end before 1500, where these shares would be exact.
    let shapeless = Needs {
        tolerance: r(1, 10_000),
        register_bits: 7,
        ..Needs::table_4()
    };
    assert!(matches!(plan(&shapeless), Err(e) if matches!(e[..], [Refusal::Shapeless(..)])));
}

#[test]
fn shares_below_one_are_scaled_up() {
    let mut needs = Needs::table_4();
    for class in &mut needs.classes {
        class.share = class.share / Ratio::whole(2);
    }
    let (half, whole) = (plan(&needs).unwrap(), plan(&Needs::table_4()).unwrap());
    assert_eq!(half.table, whole.table);
    assert_eq!(half.classes[3].wanted, r(175, 1000));
    assert_eq!(half.error, whole.error);
}

/// The arbiter gives the planned shares.
#[test]
fn v000_10_shares_of_the_planned_table() {
    use netloom_arbitration::{DTable, Head, N_QUEUES, Policy, View};
    let needs = Needs::table_4_as_printed();
    let plan = plan(&needs).unwrap();
    let mut arbiter = DTable {
        table: plan.table.clone(),
    }
    .build();
    let mut heads = [Head::default(); N_QUEUES];
    for (head, class) in heads.iter_mut().zip(&needs.classes) {
        head.sl = class.sl;
        head.bytes = class.mtu * 64;
    }
    let mut sent = [0u64; 7];
    for _ in 0..200_000 {
        let view = View {
            eligible: (1 << 7) - 1,
            heads: &heads,
        };
        let grant = arbiter.choose(&view).expect("all are backlogged");
        arbiter.commit(grant);
        sent[usize::from(grant.queue)] += u64::from(heads[usize::from(grant.queue)].bytes);
    }
    let all: u64 = sent.iter().sum();
    for (class, sent) in plan.classes.iter().zip(sent) {
        let share = sent as f64 / all as f64;
        assert!(
            (share - class.given.as_f64()).abs() < 1e-4,
            "{}",
            class.name
        );
    }
    let expected = [0.0941, 0.1640, 0.3001, 0.3495, 0.0401, 0.0363, 0.0158];
    for (sent, expected) in sent.into_iter().zip(expected) {
        assert!((sent as f64 / all as f64 - expected).abs() < 1.5e-4);
    }
}
