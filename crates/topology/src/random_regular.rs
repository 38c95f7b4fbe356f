//! Random regular graphs of switches.
//!
//! Cables are drawn one by one between two free ports of switches that are not neighbours yet
//! (Steger and Wormald, "Generating random regular graphs quickly", 1999). A draw that gets stuck
//! or is not connected starts over. Dense graphs are drawn as the complement of sparse ones. Rings
//! are drawn as a random order of the switches, since few other draws of degree 2 are connected.

use netloom_catalog::{Described, params};
use netloom_random::{Purpose, Stream, permutation};
use netloom_units::{Port, SwitchId};

use crate::blueprint::{Problems, note, refuse, too_large};
use crate::{Blueprint, Builder, Structure, Topology};

params! {
    /// A random simple connected graph in which every switch has the same number of neighbours.
    #[derive(Clone, Debug)]
    pub struct RandomRegular {
        /// Number of switches.
        pub switches: u32,
        /// Neighbours of each switch.
        pub degree: u32,
        /// NICs of each switch.
        pub hosts: u16 = 1,
    }
    check |it, section| { note(it.problems(), section); }
}

/// Draws until a graph is connected. For any sound description the chance of failure is negligible.
const ATTEMPTS: u32 = 10_000;

type Neighbours = Vec<Vec<u32>>;

impl RandomRegular {
    fn problems(&self) -> Problems {
        let (n, degree) = (self.switches, self.degree);
        let mut problems = Problems::new();
        if n == 0 {
            problems.push(("switches", "expected at least one switch".into()));
        }
        if self.hosts == 0 {
            problems.push(("hosts", "expected at least one NIC per switch".into()));
        }
        if !problems.is_empty() {
            return problems;
        }
        if degree >= n {
            let message = format!("expected a degree of at most {}, found {degree}", n - 1);
            problems.push(("degree", message));
        } else if (u64::from(n) * u64::from(degree)) % 2 == 1 {
            let message = format!("{n} switches of degree {degree} have an odd number of ports");
            problems.push(("degree", message));
        } else if degree < 2 && n > degree + 1 {
            let message = format!("{n} switches of degree {degree} cannot be connected");
            problems.push(("degree", message));
        } else {
            let n_ports = u64::from(degree) + u64::from(self.hosts);
            problems = too_large("switches", Some(u64::from(n)), n_ports);
        }
        problems
    }

    /// Draws the neighbours of every switch, in ascending order.
    fn draw(&self, stream: &Stream) -> Option<Neighbours> {
        let (n, degree) = (self.switches, self.degree);
        for attempt in 0..ATTEMPTS {
            let drawn = if degree == 2 {
                Some(ring(&permutation(stream, attempt, n)))
            } else if 2 * degree >= n {
                regular(stream, attempt, n, n - 1 - degree).map(complement)
            } else {
                regular(stream, attempt, n, degree)
            };
            if let Some(mut neighbours) = drawn.filter(is_connected) {
                neighbours.iter_mut().for_each(|list| list.sort_unstable());
                return Some(neighbours);
            }
        }
        None
    }
}

/// Tries once to draw a simple graph; `None` if no two free ports can be joined any more.
fn regular(stream: &Stream, attempt: u32, n: u32, degree: u32) -> Option<Neighbours> {
    let mut neighbours: Neighbours = vec![vec![]; n as usize];
    let mut free: Vec<u32> = (0..n)
        .flat_map(|s| std::iter::repeat_n(s, degree as usize))
        .collect();
    let fits =
        |neighbours: &Neighbours, a: u32, b: u32| a != b && !neighbours[a as usize].contains(&b);
    let (mut draws, mut misses) = (0, 0);
    while !free.is_empty() {
        let draw = stream.draw([attempt, draws, 1, 0]);
        draws += 1;
        let i = draw.below(0, free.len() as u32) as usize;
        let j = draw.below(1, free.len() as u32) as usize;
        let (a, b) = (free[i], free[j]);
        if i != j && fits(&neighbours, a, b) {
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
            free.swap_remove(i.max(j));
            free.swap_remove(i.min(j));
            misses = 0;
            continue;
        }
        misses += 1;
        // Near the end only few pairs are left, so check whether there is one at all.
        if misses > 200 {
            misses = 0;
            let mut left = free.clone();
            left.sort_unstable();
            left.dedup();
            let open = |&a: &u32| left.iter().any(|&b| fits(&neighbours, a, b));
            if !left.iter().any(open) {
                return None;
            }
        }
    }
    Some(neighbours)
}

fn ring(order: &[u32]) -> Neighbours {
    let n = order.len();
    let mut neighbours = vec![vec![]; n];
    for i in 0..n {
        let (a, b) = (order[i], order[(i + 1) % n]);
        neighbours[a as usize].push(b);
        neighbours[b as usize].push(a);
    }
    neighbours
}

fn complement(graph: Neighbours) -> Neighbours {
    let n = graph.len() as u32;
    let without = |(s, list): (usize, &Vec<u32>)| {
        (0..n)
            .filter(|&other| other as usize != s && !list.contains(&other))
            .collect()
    };
    graph.iter().enumerate().map(without).collect()
}

fn is_connected(graph: &Neighbours) -> bool {
    let mut seen = vec![false; graph.len()];
    let (mut stack, mut count) = (vec![0u32], 1);
    seen[0] = true;
    while let Some(switch) = stack.pop() {
        for &other in &graph[switch as usize] {
            if !std::mem::replace(&mut seen[other as usize], true) {
                count += 1;
                stack.push(other);
            }
        }
    }
    count == graph.len()
}

impl Blueprint for RandomRegular {
    fn build(&self, seed: u64) -> Result<Topology, String> {
        refuse(self.problems())?;
        let stream = Stream::new(seed, Purpose::Topology);
        let neighbours = self.draw(&stream).ok_or("cannot draw a connected graph")?;
        let mut builder = Builder::new(vec!["host".into(), "switch".into()]);
        builder.switches(self.switches, self.hosts + self.degree as u16);
        for switch in (0..self.switches).map(SwitchId) {
            for host in 0..self.hosts {
                builder.nic((switch, Port(host)), 0);
            }
        }
        // Ports after the hosts are in order of the neighbour's number.
        let port = |a: u32, b: u32| {
            let nth = neighbours[a as usize]
                .binary_search(&b)
                .expect("neighbours are mutual");
            Port(self.hosts + nth as u16)
        };
        for a in 0..self.switches {
            for &b in neighbours[a as usize].iter().filter(|&&b| b > a) {
                builder.connect((SwitchId(a), port(a, b)), (SwitchId(b), port(b, a)), 1);
            }
        }
        Ok(builder.finish(Structure::Plain))
    }

    fn n_nics(&self) -> Option<u64> {
        Some(u64::from(self.switches) * u64::from(self.hosts))
    }

    fn n_ports(&self) -> Option<u64> {
        let radix = u64::from(self.degree) + u64::from(self.hosts);
        u64::from(self.switches).checked_mul(radix)
    }

    fn is_random(&self) -> bool {
        true
    }
}

impl Described for RandomRegular {
    const NAME: &'static str = "random-regular";
    const SUMMARY: &'static str =
        "A random simple connected graph in which every switch has the same number of neighbours.";
    const PAPER: Option<&'static str> = Some(
        "A. Steger, N. Wormald, \"Generating random regular graphs quickly\", Combinatorics, \
         Probability \
         and Computing 8, 1999",
    );
    const EXAMPLE: &'static str = "switches = 16\ndegree = 4\nhosts = 4";
}
