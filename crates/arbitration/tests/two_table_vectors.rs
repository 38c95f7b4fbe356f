//! The two-table arbiter packet by packet, in sequences that can be checked by hand.

use netloom_arbitration::{Arbiter, Head, TwoTable, View, VlArbitrationTable};
use netloom_units::Vl;

/// One output with a queue per lane; all heads of a lane have the same length.
struct Output {
    arbiter: TwoTable,
    heads: [Head; 32],
}

/// Lanes of the vectors: one in the high table, two in the low one, and management.
const H: u32 = 1 << 0;
const L: u32 = 1 << 1;
const K: u32 = 1 << 2;
const M: u32 = 1 << 15;

impl Output {
    fn new(high: &[(u8, u8)], low: &[(u8, u8)], limit: u8) -> Output {
        let table = |pairs| VlArbitrationTable::from_pairs(pairs).unwrap();
        let mut heads = [Head::default(); 32];
        for (vl, head) in (0..32).zip(&mut heads) {
            head.vl = Vl(vl);
            head.bytes = 64;
        }
        Output {
            arbiter: TwoTable::new(&table(high), &table(low), limit),
            heads,
        }
    }

    /// Sets the length of the packets of a lane.
    fn packets(mut self, lane: u32, bytes: u32) -> Output {
        self.heads[lane.trailing_zeros() as usize].bytes = bytes;
        self
    }

    /// Sends `n` packets while these lanes have something to send; returns the lanes that sent.
    fn send(&mut self, n: usize, eligible: u32) -> Vec<u8> {
        (0..n)
            .map(|_| {
                let view = View {
                    eligible,
                    heads: &self.heads,
                };
                let grant = self.arbiter.choose(&view).expect("work conserving");
                self.arbiter.commit(grant);
                grant.queue
            })
            .collect()
    }

    /// Returns the same as letters: H for VL0, L for VL1, K for VL2, M for VL15.
    fn letters(&mut self, n: usize, eligible: u32) -> String {
        let letter = |vl| match vl {
            0 => 'H',
            1 => 'L',
            2 => 'K',
            15 => 'M',
            other => panic!("VL{other} has no letter here"),
        };
        self.send(n, eligible).into_iter().map(letter).collect()
    }
}

/// Returns an output with VL0 in the high table and VL1 in the low one.
fn high_and_low(limit: u8, high_packet: u32) -> Output {
    Output::new(&[(0, 255)], &[(1, 255)], limit).packets(H, high_packet)
}

#[test]
fn g000_13_limit_0_lets_one_high_packet_pass() {
    for bytes in [1, 64, 4096, 9000] {
        assert_eq!(high_and_low(0, bytes).letters(8, H | L), "HLHLHLHL");
    }
}

#[test]
fn g000_13_limit_1_lets_4096_bytes_pass() {
    // Exactly 4096 bytes: four packets of 1024, or one of 4096.
    assert_eq!(high_and_low(1, 1024).letters(12, H | L), "HHHHLHHHHLHH");
    assert_eq!(high_and_low(1, 4096).letters(6, H | L), "HLHLHL");
    // A packet that begins within the limit is sent: 3 x 1500 = 4500 bytes.
    assert_eq!(high_and_low(1, 1500).letters(8, H | L), "HHHLHHHL");
    // One byte less than the limit does not reach it: 4095 bytes, and one more packet.
    assert_eq!(high_and_low(1, 4095).letters(6, H | L), "HHLHHL");
    // Bytes, not units of 64: 63 x 65 = 4095.
    let sent = high_and_low(1, 65).letters(65, H | L);
    assert_eq!(sent, format!("{}L", "H".repeat(64)));
}

#[test]
fn g000_13_limit_254_lets_254_times_4096_bytes_pass() {
    let round = format!("{}L", "H".repeat(254));
    let sent = high_and_low(254, 4096).letters(2 * 255, H | L);
    assert_eq!(sent, round.repeat(2));
}

#[test]
fn g000_13_limit_255_never_gives_way() {
    let mut output = high_and_low(255, 1 << 20);
    // 10,000 packets of 1 MiB are more bytes than 32 bits count.
    assert_eq!(output.letters(10_000, H | L), "H".repeat(10_000));
    assert_eq!(output.letters(2, L), "LL");
    assert_eq!(output.letters(3, H | L), "HHH");
}

#[test]
fn g000_13_a_chance_that_nobody_can_take_is_kept() {
    let mut output = high_and_low(1, 4096);
    // The limit is spent after the first packet. Without a low-priority packet the high table
    // continues.
    assert_eq!(output.letters(5, H), "HHHHH");
    // The first one to appear goes next; then the limit holds again.
    assert_eq!(output.letters(5, H | L), "LHLHL");
}

#[test]
fn g000_13_any_low_packet_reloads_the_limit() {
    let mut output = high_and_low(1, 1024);
    assert_eq!(output.letters(3, H | L), "HHH");
    // No high-priority packet can be sent for a moment.
    assert_eq!(output.letters(1, L), "L");
    assert_eq!(output.letters(6, H | L), "HHHHLH");
}

#[test]
fn g000_13_one_chance_is_one_packet_and_the_low_table_remembers_its_entry() {
    // VL1 may send two packets of 64 bytes per turn, VL2 one.
    let mut output = Output::new(&[(0, 255)], &[(1, 2), (2, 1)], 0);
    assert_eq!(output.letters(12, H | L | K), "HLHLHKHLHLHK");
}

#[test]
fn g000_13_a_lane_in_both_tables_is_sent_through_either() {
    // The limit is spent, and VL0 is alone: it is sent through the low table, which reloads the
    // limit. So VL0 (high), VL0 (low), … and then VL1 finds the limit as VL0 left it.
    let mut output = Output::new(&[(0, 1)], &[(0, 1), (1, 1)], 0);
    assert_eq!(output.letters(2, H), "HH");
    // High VL0; low: VL0 had its turn, so VL1; high VL0; low VL0; high VL0; low VL1.
    assert_eq!(output.letters(6, H | L), "HLHHHL");
}

#[test]
fn management_goes_first_and_is_charged_to_nothing() {
    let mut output = high_and_low(1, 2048);
    assert_eq!(output.letters(1, H | L), "H");
    assert_eq!(output.letters(3, H | L | M), "MMM");
    assert_eq!(output.letters(3, H | L), "HLH");
    assert_eq!(output.letters(1, M), "M");
    assert_eq!(output.letters(2, H | L), "HL");
}

#[test]
fn a_lane_in_no_table_is_never_sent() {
    let output = Output::new(&[(0, 1)], &[(1, 1), (2, 0)], 0);
    let choose = |eligible| {
        let view = View {
            eligible,
            heads: &output.heads,
        };
        output.arbiter.choose(&view).map(|grant| grant.queue)
    };
    assert_eq!(choose(0), None);
    assert_eq!(choose(K), None, "weight 0");
    assert_eq!(choose(1 << 9), None, "no entry");
    assert_eq!(choose(1 << 20), None, "beyond the lanes of InfiniBand");
    assert_eq!(choose(K | L), Some(1));
    assert_eq!(choose(K | M), Some(15));
}

#[test]
fn g000_2_entry_0_is_examined_first() {
    let mut output = Output::new(&[], &[(2, 1), (1, 1), (0, 1)], 255);
    assert_eq!(output.letters(6, H | L | K), "KLHKLH");
    // In a new one, the entry examined next after the only eligible one follows.
    let mut output = Output::new(&[], &[(2, 1), (1, 1), (0, 1)], 255);
    assert_eq!(output.letters(1, L), "L");
    assert_eq!(output.letters(3, H | L | K), "HKL");
}

#[test]
fn s5_2_4_an_entry_is_kept_while_its_counter_is_above_zero() {
    // Weight 3, packets of 2 units: 3 -> 1 -> -1, so two packets; then weight 1, one packet.
    let mut output = Output::new(&[], &[(1, 3), (2, 1)], 255).packets(L, 128);
    assert_eq!(output.letters(9, L | K), "LLKLLKLLK");
}

#[test]
fn s5_2_4_what_is_left_of_a_counter_is_lost_with_the_entry() {
    let mut output = Output::new(&[], &[(1, 10), (2, 1)], 255);
    assert_eq!(output.letters(3, L | K), "LLL");
    // VL1 is empty once: the pointer leaves with 7 units unused, and they are not added later.
    assert_eq!(output.letters(1, K), "K");
    assert_eq!(output.letters(11, L | K), "LLLLLLLLLLK");
}

#[test]
fn s5_2_4_nothing_is_lost_while_nothing_is_sent() {
    let mut output = Output::new(&[], &[(1, 3), (2, 1)], 255);
    assert_eq!(output.letters(1, L | K), "L");
    // Only VL2 could send, and the link did not take it: no commit, no change.
    let view = View {
        eligible: K,
        heads: &output.heads,
    };
    assert_eq!(output.arbiter.choose(&view).unwrap().queue, 2);
    assert_eq!(output.letters(4, L | K), "LLKL");
}

#[test]
fn s5_2_4_several_entries_of_a_lane_spread_its_turns() {
    let low = [(1, 1), (2, 1), (1, 1), (0, 1), (1, 0)];
    let mut output = Output::new(&[], &low, 255);
    assert_eq!(output.letters(8, H | L | K), "LKLHLKLH");
    // Alone, it moves from entry to entry; the pointer is where it was last served.
    assert_eq!(output.letters(3, L), "LLL");
    assert_eq!(output.letters(3, H | L | K), "KLH");
}

/// Returns the bytes of VL1 and VL2 after `n_packets` packets with both always ready.
fn shares(weight: u8, units: (u32, u32), n_packets: usize) -> (f64, f64) {
    let mut output = Output::new(&[], &[(1, weight), (2, weight)], 255)
        .packets(L, units.0 * 64)
        .packets(K, units.1 * 64);
    let sent = output.send(n_packets, L | K);
    let n_first = sent.iter().filter(|&&vl| vl == 1).count() as f64;
    let first = n_first * f64::from(units.0);
    let second = (n_packets as f64 - n_first) * f64::from(units.1);
    let percent = |units: f64| (1000.0 * units / (first + second)).round() / 10.0;
    (percent(first), percent(second))
}

#[test]
fn s5_2_4_weighted_round_robin_with_round_up() {
    // A turn sends 64 and 4 units: 64 / 68.
    assert_eq!(shares(1, (64, 4), 2 * 1000), (94.1, 5.9));
    // A turn sends 2 x 64 (100 -> 36 -> -28) and 25 x 4 units (100 -> 0): 128 / 228.
    assert_eq!(shares(100, (64, 4), 27 * 1000), (56.1, 43.9));
}
