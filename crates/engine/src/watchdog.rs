//! Detection of cyclic waiting when a run makes no progress.
//!
//! A deadlock is a result of a simulation, not an error, so the cycle is a value.

use std::collections::VecDeque;

/// Finds a cycle among edges (a, b), where a waits for b. Each node appears once, beginning with
/// the least.
///
/// The result depends on the set of edges, not on their order. It is the shortest cycle through the
/// least node of the first cycle that a depth-first search finds; there may be shorter ones
/// elsewhere. The search is linear in the number of edges after sorting them, and does not recurse.
pub fn find_cycle(edges: impl IntoIterator<Item = (u64, u64)>) -> Option<Vec<u64>> {
    let graph = Graph::new(edges.into_iter().collect());
    let cycle = graph.any_cycle()?;
    let least = *cycle.iter().min().expect("a cycle has a node");
    let mut shortest = graph.shortest_cycle_through(least);
    // Nodes are numbered in the order of their names.
    let (first, _) = shortest.iter().enumerate().min_by_key(|&(_, node)| node)?;
    shortest.rotate_left(first);
    Some(shortest.into_iter().map(|node| graph.names[node]).collect())
}

/// The edges by their origin, with nodes numbered in the order of their names.
struct Graph {
    names: Vec<u64>,
    /// The successors of node `i` are `targets[starts[i]..starts[i + 1]]`, in order.
    starts: Vec<usize>,
    targets: Vec<usize>,
}

impl Graph {
    fn new(mut edges: Vec<(u64, u64)>) -> Self {
        edges.sort_unstable();
        edges.dedup();
        let mut names: Vec<u64> = edges.iter().flat_map(|&(from, to)| [from, to]).collect();
        names.sort_unstable();
        names.dedup();
        let number = |name| {
            names
                .binary_search(&name)
                .expect("every end of an edge has a number")
        };
        let mut starts = vec![0; names.len() + 1];
        for &(from, _) in &edges {
            starts[number(from) + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let targets = edges.iter().map(|&(_, to)| number(to)).collect();
        Graph {
            names,
            starts,
            targets,
        }
    }

    fn successors(&self, node: usize) -> &[usize] {
        &self.targets[self.starts[node]..self.starts[node + 1]]
    }

    /// Searches depth first: an edge to a node of the current path closes a cycle.
    fn any_cycle(&self) -> Option<Vec<usize>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Visit {
            Never,
            OnPath,
            Done,
        }
        let mut visits = vec![Visit::Never; self.names.len()];
        let mut next: Vec<usize> = self.starts.clone();
        let mut path = Vec::new();
        for root in 0..self.names.len() {
            if visits[root] != Visit::Never {
                continue;
            }
            visits[root] = Visit::OnPath;
            path.push(root);
            while let Some(&node) = path.last() {
                if next[node] == self.starts[node + 1] {
                    visits[node] = Visit::Done;
                    path.pop();
                    continue;
                }
                let successor = self.targets[next[node]];
                next[node] += 1;
                match visits[successor] {
                    Visit::Done => {}
                    Visit::Never => {
                        visits[successor] = Visit::OnPath;
                        path.push(successor);
                    }
                    Visit::OnPath => {
                        let first = path.iter().position(|&n| n == successor);
                        return Some(path.split_off(first.expect("the node is on the path")));
                    }
                }
            }
        }
        None
    }

    /// Searches breadth first from a node on a cycle until the search returns to it.
    fn shortest_cycle_through(&self, origin: usize) -> Vec<usize> {
        let mut came_from: Vec<Option<usize>> = vec![None; self.names.len()];
        let mut queue = VecDeque::from([origin]);
        while let Some(node) = queue.pop_front() {
            for &successor in self.successors(node) {
                if successor == origin {
                    let mut cycle = vec![node];
                    while let Some(before) = came_from[cycle[cycle.len() - 1]] {
                        cycle.push(before);
                    }
                    cycle.reverse();
                    return cycle;
                }
                if came_from[successor].is_none() {
                    came_from[successor] = Some(node);
                    queue.push_back(successor);
                }
            }
        }
        unreachable!("the node lies on a cycle")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_chain_has_no_cycle() {
        assert_eq!(find_cycle([]), None);
        assert_eq!(find_cycle((0..100_000).map(|i| (i, i + 1))), None);
        assert_eq!(find_cycle([(1, 2), (1, 3), (2, 4), (3, 4)]), None);
    }

    #[test]
    fn a_ring_is_found_from_its_least_node() {
        assert_eq!(
            find_cycle([(7, 3), (3, 9), (9, 7), (1, 7)]),
            Some(vec![3, 9, 7])
        );
        assert_eq!(find_cycle([(5, 5)]), Some(vec![5]));
    }

    #[test]
    fn a_detour_is_cut_short() {
        // 1 > 2 > 3 > 4 > 1 is found first; 1 > 4 is shorter.
        let edges = [(1, 2), (2, 3), (3, 4), (4, 1), (1, 4)];
        assert_eq!(find_cycle(edges), Some(vec![1, 4]));
    }

    #[test]
    fn a_long_ring_does_not_exhaust_the_stack() {
        let n = 200_000;
        let cycle = find_cycle((0..n).map(|i| (i, (i + 1) % n))).expect("a ring");
        assert_eq!(cycle.len(), usize::try_from(n).expect("small"));
    }

    /// Whether repeatedly removing nodes without successors leaves nothing.
    fn is_acyclic(edges: &[(u64, u64)]) -> bool {
        let mut rest = edges.to_vec();
        loop {
            let before = rest.len();
            let previous = rest.clone();
            rest.retain(|&(_, to)| previous.iter().any(|&(from, _)| from == to));
            if rest.len() == before {
                return rest.is_empty();
            }
        }
    }

    proptest! {
        #[test]
        fn an_answer_is_a_cycle_and_no_answer_means_none(
            edges in prop::collection::vec((0u64..12, 0u64..12), 0..25),
        ) {
            let found = find_cycle(edges.iter().copied());
            prop_assert_eq!(found.is_none(), is_acyclic(&edges));
            prop_assert_eq!(&found, &find_cycle(edges.iter().rev().copied()));
            if let Some(cycle) = found {
                for (i, &node) in cycle.iter().enumerate() {
                    let after = cycle[(i + 1) % cycle.len()];
                    prop_assert!(edges.contains(&(node, after)));
                    prop_assert!(!cycle[..i].contains(&node));
                }
                prop_assert_eq!(cycle.iter().min(), cycle.first());
            }
        }
    }
}
