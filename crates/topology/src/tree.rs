//! Fat trees as kinds: k-ary n-trees by two numbers, generalised ones by their lists.

use netloom_catalog::{Described, params};

use crate::blueprint::{Problems, note, refuse, too_large};
use crate::{Blueprint, Pgft, Topology};

params! {
    /// A k-ary n-tree: k^n NICs, n levels of k^(n-1) switches with 2k ports.
    #[derive(Clone, Debug)]
    pub struct FatTree {
        /// Children, and parents, of every switch (k).
        pub arity: u32,
        /// Levels of switches (n).
        pub levels: u32,
    }
    check |it, section| { note(it.problems(), section); }
}

impl FatTree {
    fn shape(&self) -> Pgft {
        let n = self.levels as usize;
        let mut w = vec![self.arity; n];
        w[0] = 1;
        Pgft {
            m: vec![self.arity; n],
            w,
            p: vec![1; n],
        }
    }

    fn problems(&self) -> Problems {
        if self.arity == 0 {
            return vec![("arity", "a switch needs at least one child".into())];
        }
        if !(1..=32).contains(&self.levels) {
            return vec![("levels", format!("{} levels; write 1 to 32", self.levels))];
        }
        let (k, n) = (u64::from(self.arity), self.levels);
        let n_switches = k
            .checked_pow(n - 1)
            .and_then(|per| per.checked_mul(u64::from(n)));
        too_large("arity", n_switches, 2 * k)
    }
}

impl Blueprint for FatTree {
    fn build(&self, _seed: u64) -> Result<Topology, String> {
        refuse(self.problems())?;
        Ok(self.shape().build())
    }

    fn n_nics(&self) -> Option<u64> {
        u64::from(self.arity).checked_pow(self.levels)
    }

    fn n_ports(&self) -> Option<u64> {
        self.n_nics()?.checked_mul(2 * u64::from(self.levels))
    }
}

impl Described for FatTree {
    const NAME: &'static str = "fat-tree";
    const SUMMARY: &'static str = "A k-ary n-tree: equal switches, as many parents as children.";
    const PAPER: Option<&'static str> = Some(
        "F. Petrini, M. Vanneschi, \"k-ary n-trees: high performance networks for massively parallel \
         architectures\", IPPS 1997",
    );
    const EXAMPLE: &'static str = "arity = 4\nlevels = 3";
}

params! {
    /// A parallel-ports generalised fat tree, PGFT(h; m; w; p), given level by level from the leaves up.
    #[derive(Clone, Debug)]
    pub struct ParallelFatTree {
        /// Children of a switch of each level (m); their product is the number of NICs.
        pub children: Vec<u32>,
        /// Parents of a node of the level below (w); the first is that of a NIC, which has one.
        pub parents: Vec<u32>,
        /// Parallel cables to each parent (p); left out, one everywhere (an XGFT).
        pub links: Vec<u32> = vec![],
    }
    check |it, section| { note(it.problems(), section); }
}

impl ParallelFatTree {
    fn shape(&self) -> Pgft {
        let links = match self.links.is_empty() {
            true => vec![1; self.children.len()],
            false => self.links.clone(),
        };
        Pgft {
            m: self.children.clone(),
            w: self.parents.clone(),
            p: links,
        }
    }

    pub(crate) fn problems(&self) -> Problems {
        let shape = self.shape();
        let mut problems = Problems::new();
        if !(1..=32).contains(&shape.levels()) {
            problems.push((
                "children",
                "write one number for each of 1 to 32 levels".into(),
            ));
        }
        for (key, list) in [("parents", &shape.w), ("links", &shape.p)] {
            if list.len() != shape.levels() {
                let (have, want) = (list.len(), shape.levels());
                problems.push((key, format!("{have} numbers for {want} levels")));
            }
        }
        for (key, list) in [
            ("children", &shape.m),
            ("parents", &shape.w),
            ("links", &shape.p),
        ] {
            if list.contains(&0) {
                problems.push((key, "every number is at least 1".into()));
            }
        }
        for (key, list) in [("parents", &shape.w), ("links", &shape.p)] {
            if list.first().is_some_and(|&first| first > 1) {
                problems.push((key, "the first number must be 1: a NIC has one port".into()));
            }
        }
        if !problems.is_empty() {
            return problems;
        }
        // Multiplying everything bounds every product of a part.
        let all = |list: &[u32]| {
            list.iter()
                .try_fold(1u64, |product, &n| product.checked_mul(u64::from(n)))
        };
        let (m, w) = (all(&shape.m), all(&shape.w));
        let ports = |a: u32, b: u32| u64::from(a) * u64::from(b);
        let most = (0..shape.levels())
            .map(|l| {
                let up = match l + 1 < shape.levels() {
                    true => ports(shape.w[l + 1], shape.p[l + 1]),
                    false => 0,
                };
                ports(shape.m[l], shape.p[l]).saturating_add(up)
            })
            .max()
            .unwrap_or(0);
        let (Some(_), Some(_), true) = (m, w, most <= u64::from(u16::MAX)) else {
            return too_large("children", None, most);
        };
        let n_switches = (1..=shape.levels()).try_fold(0u64, |sum, level| {
            let subtrees = all(&shape.m[level..])?;
            sum.checked_add(subtrees.checked_mul(all(&shape.w[..level])?)?)
        });
        too_large("children", n_switches, most)
    }
}

impl Blueprint for ParallelFatTree {
    fn build(&self, _seed: u64) -> Result<Topology, String> {
        refuse(self.problems())?;
        Ok(self.shape().build())
    }

    fn n_nics(&self) -> Option<u64> {
        self.children
            .iter()
            .try_fold(1u64, |product, &m| product.checked_mul(u64::from(m)))
    }

    fn n_ports(&self) -> Option<u64> {
        if !self.problems().is_empty() {
            return None;
        }
        let shape = self.shape();
        let of_level = |level| {
            let ports = u64::from(shape.n_down(level)) + u64::from(shape.n_up(level));
            shape.n_switches(level) * ports
        };
        Some((1..=shape.levels()).map(of_level).sum())
    }
}

impl Described for ParallelFatTree {
    const NAME: &'static str = "pgft";
    const SUMMARY: &'static str =
        "A generalised fat tree: children, parents and parallel links given level by level.";
    const PAPER: Option<&'static str> = Some(
        "E. Zahavi, \"D-Mod-K routing providing non-blocking traffic for shift permutations on real life \
         fat trees\", 2010",
    );
    const EXAMPLE: &'static str = "children = [8, 4]\nparents = [1, 4]\nlinks = [1, 2]";
}
