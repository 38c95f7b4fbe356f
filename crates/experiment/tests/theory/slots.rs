//! Switches in slots: a second way to the same figures, without events, links or stages.
//!
//! In a slot every input may take one packet of one flit in, and the matching moves at most one
//! packet from each input and to each output. NICs do not send to themselves.

/// A separate generator (SplitMix64), so that nothing is shared with the tested code.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    fn chance(&mut self, p: f64) -> bool {
        ((self.next() >> 11) as f64) < p * (1u64 << 53) as f64
    }

    /// Any of `n` but the own one.
    fn other(&mut self, own: usize, n: usize) -> usize {
        let drawn = self.below(n - 1);
        drawn + usize::from(drawn >= own)
    }
}

/// Returns the load that a switch with one FIFO per input carries with backlogged inputs: a random
/// head wins each output and is replaced, and the others stay. The choice does not affect the load.
pub(crate) fn fifo_saturation(ports: usize, slots: u32, seed: u64) -> f64 {
    let mut random = Random(seed);
    let mut heads: Vec<usize> = (0..ports).map(|input| random.other(input, ports)).collect();
    let mut moved = 0u64;
    for _ in 0..slots {
        let first = random.below(ports);
        let mut taken = vec![false; ports];
        for input in (0..ports).map(|n| (first + n) % ports) {
            let output = heads[input];
            if !std::mem::replace(&mut taken[output], true) {
                heads[input] = random.other(input, ports);
                moved += 1;
            }
        }
    }
    moved as f64 / f64::from(slots) / ports as f64
}

/// Mean wait in slots of a switch with virtual output queues under iSLIP (N. McKeown, IEEE/ACM
/// Transactions on Networking 7, 1999): in each iteration every unmatched output grants the next
/// input at or after its pointer that has something for it, every unmatched input accepts the next
/// such output at or after its own. Pointers move one beyond a match of the first iteration, and
/// only then.
pub(crate) fn islip_wait(ports: usize, iterations: u32, load: f64, slots: u32, seed: u64) -> f64 {
    let mut random = Random(seed);
    let mut queues = vec![vec![std::collections::VecDeque::<u32>::new(); ports]; ports];
    let (mut grants, mut accepts) = (vec![0; ports], vec![0; ports]);
    let (mut waited, mut moved) = (0u64, 0u64);
    for now in 0..slots {
        for (input, queues) in queues.iter_mut().enumerate() {
            if random.chance(load) {
                queues[random.other(input, ports)].push_back(now);
            }
        }
        let (mut of_input, mut of_output) = (vec![None; ports], vec![None; ports]);
        for iteration in 0..iterations {
            let mut granted = vec![vec![]; ports];
            for output in (0..ports).filter(|&output| of_output[output].is_none()) {
                let mut inputs = (0..ports).map(|n| (grants[output] + n) % ports);
                let wants =
                    |&input: &usize| of_input[input].is_none() && !queues[input][output].is_empty();
                if let Some(input) = inputs.find(wants) {
                    granted[input].push(output);
                }
            }
            for (input, granted) in granted.iter().enumerate() {
                let mut outputs = (0..ports).map(|n| (accepts[input] + n) % ports);
                if let Some(output) = outputs.find(|output| granted.contains(output)) {
                    (of_input[input], of_output[output]) = (Some(output), Some(input));
                    if iteration == 0 {
                        grants[output] = (input + 1) % ports;
                        accepts[input] = (output + 1) % ports;
                    }
                }
            }
        }
        for (input, output) in of_input.iter().enumerate() {
            let Some(output) = output else { continue };
            let came = queues[input][*output]
                .pop_front()
                .expect("a match has a packet");
            // The first tenth is the warm-up.
            if now >= slots / 10 {
                waited += u64::from(now - came);
                moved += 1;
            }
        }
    }
    waited as f64 / moved as f64
}
