//! The fabrics, switches and loads of claims.

use crate::Results;

/// A switch, or a variant of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Switch {
    /// InfiniBand, one flit per cycle over each crossbar port.
    Ib,
    /// InfiniBand, two flits per cycle over each crossbar port.
    Ib2x,
    /// Omni-Path, internal links of three flits per cycle.
    Opa,
    /// Omni-Path, internal links of one flit per cycle.
    OpaX1,
    /// Omni-Path, six internal links of one flit per cycle instead of two of three.
    Opa6X1,
}

/// A fabric and the switches that are run on it.
pub(super) struct Fabric {
    /// Its name.
    pub(super) name: &'static str,
    /// The names of its series.
    series: &'static [(Switch, &'static str)],
}

pub(super) const TREE_3: Fabric = Fabric {
    name: "4-ary 3-tree",
    series: &[
        (Switch::Ib, "S000-1 IB"),
        (Switch::Ib2x, "S000-1 IB 2x"),
        (Switch::Opa, "S000-2 OPA"),
        (Switch::OpaX1, "S000-2 OPA x1"),
        (Switch::Opa6X1, "S000-2 OPA 6 x1"),
    ],
};
pub(super) const TREE_2: Fabric = Fabric {
    name: "24-ary 2-tree",
    series: &[
        (Switch::Ib, "S000-3 IB"),
        (Switch::Opa, "S000-4 OPA"),
        (Switch::OpaX1, "S000-4 OPA x1"),
        (Switch::Opa6X1, "S000-4 OPA 6 x1"),
    ],
};
pub(super) const TORUS_2: Fabric = Fabric {
    name: "2D torus",
    series: &[(Switch::Ib, "S000-5 IB"), (Switch::Opa, "S000-6 OPA")],
};
pub(super) const TORUS_3: Fabric = Fabric {
    name: "3D torus",
    series: &[(Switch::Ib, "S000-7 IB"), (Switch::Opa, "S000-8 OPA")],
};
/// Replaces the trees at CI size.
pub(super) const SMALL_TREE: Fabric = Fabric {
    name: "4-ary 2-tree",
    series: &[
        (Switch::Ib, "S000-1 16 NICs IB"),
        (Switch::Ib2x, "S000-1 16 NICs IB 2x"),
        (Switch::Opa, "S000-2 16 NICs OPA"),
        (Switch::OpaX1, "S000-2 16 NICs OPA x1"),
        (Switch::Opa6X1, "S000-2 16 NICs OPA 6 x1"),
    ],
};
/// Replaces the tori at CI size: 4 trunks of 3 cables and 4 hosts are 16 ports.
pub(super) const SMALL_TORUS: Fabric = Fabric {
    name: "4x4 torus",
    series: &[
        (Switch::Ib, "S000-5 64 NICs IB"),
        (Switch::Opa, "S000-6 64 NICs OPA"),
    ],
};

impl Fabric {
    /// Returns the series of a switch.
    pub(super) fn series(&self, switch: Switch) -> &'static str {
        let own = self.series.iter().find(|(own, _)| *own == switch);
        own.map_or("", |(_, name)| name)
    }

    /// Whether the results or the missing runs include it.
    fn is_in(&self, results: &Results) -> bool {
        let is_own = |series: &str| self.series.iter().any(|(_, own)| *own == series);
        results.outcomes.iter().any(|o| is_own(&o.run.series))
            || results.lacking.iter().any(|(series, _)| is_own(series))
    }

    /// Returns the fabric for orders: that of the paper, or the small one if only that was run.
    pub(super) fn or<'a>(&'a self, small: &'a Fabric, results: &Results) -> &'a Fabric {
        if !self.is_in(results) && small.is_in(results) {
            small
        } else {
            self
        }
    }
}

pub(super) const FIRST: f64 = 0.5735;
pub(super) const LAST: f64 = 0.9935;
pub(super) const MIDDLE: f64 = 0.7;
pub(super) const HIGH: f64 = 0.95;
