//! Kinds of fat trees: k-ary n-trees, and generalised ones described by lists.

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
            return vec![("arity", "expected at least one child per switch".into())];
        }
        if !(1..=32).contains(&self.levels) {
            return vec![(
                "levels",
                format!("expected 1 to 32 levels, found {}", self.levels),
            )];
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
    const SUMMARY: &'static str =
        "A k-ary n-tree of equal switches with as many parents as children.";
    const PAPER: Option<&'static str> = Some(
        "F. Petrini, M. Vanneschi, \"k-ary n-trees: high performance networks for massively \
         parallel \
         architectures\", IPPS 1997",
    );
    const EXAMPLE: &'static str = "arity = 4\nlevels = 3";
}

params! {
    /// A parallel-ports generalised fat tree, PGFT(h; m; w; p), described level by level from the
    /// leaves up.
    #[derive(Clone, Debug)]
    pub struct ParallelFatTree {
        /// Children of a switch of each level (m). Their product is the number of NICs.
        pub children: Vec<u32>,
        /// Parents of a node of the level below (w). The first is that of a NIC and is 1.
        pub parents: Vec<u32>,
        /// Parallel cables to each parent (p); by default one everywhere (an XGFT).
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
                "expected 1 to 32 levels, one number each".into(),
            ));
        }
        for (key, list) in [("parents", &shape.w), ("links", &shape.p)] {
            if list.len() != shape.levels() {
                let (have, want) = (list.len(), shape.levels());
                let message = format!("expected {want} numbers, one per level, found {have}");
                problems.push((key, message));
            }
        }
        for (key, list) in [
            ("children", &shape.m),
            ("parents", &shape.w),
            ("links", &shape.p),
        ] {
            if list.contains(&0) {
                problems.push((key, "expected numbers of at least 1".into()));
            }
        }
        for (key, list) in [("parents", &shape.w), ("links", &shape.p)] {
            if list.first().is_some_and(|&first| first > 1) {
                problems.push((
                    key,
                    "expected 1 as the first number: a NIC has one port".into(),
                ));
            }
        }
        if !problems.is_empty() {
            return problems;
        }
        // A bound on the product of all numbers bounds every partial product.
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
        "A generalised fat tree with the children, parents and parallel links of each level.";
    const PAPER: Option<&'static str> = Some(
        "E. Zahavi, \"D-Mod-K routing providing non-blocking traffic for shift permutations on \
         real life \
         fat trees\", 2010",
    );
    const EXAMPLE: &'static str = "children = [8, 4]\nparents = [1, 4]\nlinks = [1, 2]";
}
