//! Tables filled column by column: all of them for a run, or each when a route asks for it.
//!
//! Filling all columns of a large fabric takes minutes. A check asks for the routes to a few
//! destinations only, and gets the same ones.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use netloom_topology::Topology;

use crate::deadlock::{Network, Verdict};
use crate::table::TableBuilder;
use crate::{Facts, Forwarding, Hop, Lookup, QueueView, Route};
#[cfg(test)]
use crate::{Paths, UpDown, shortest::ShortestColumns, up_down::UpDownColumns};

/// Above this many ports, over all columns, a check fills columns when they are asked for.
const MOST_PORTS: u64 = 500_000_000;

/// A rule that fills one column of the tables after another.
pub(crate) trait Columns: Send + Debug + 'static {
    /// The number of tables, one or two.
    const TABLES: usize;

    /// Whether the routing is designed to be free of deadlock.
    const CLAIMS_NO_DEADLOCK: bool;

    /// Sets the entries of all switches for a column.
    fn fill(&mut self, tables: &mut TableBuilder, column: usize) -> Result<(), String>;

    /// Returns which inputs use the second table, by port index of the fabric.
    fn has_come_down(&self, _topology: &Topology) -> Option<Vec<bool>> {
        None
    }

    /// Returns why its tables have no cycle, if they have none on any fabric.
    fn theorem(&self) -> Option<&'static str> {
        None
    }
}

/// Fills all columns.
pub(crate) fn compile<C: Columns>(
    mut columns: C,
    topology: &Arc<Topology>,
) -> Result<Forwarding, String> {
    let mut tables = TableBuilder::new(topology, C::TABLES)?;
    for column in 0..tables.n_columns() {
        columns.fill(&mut tables, column)?;
    }
    Ok(tables.finish(columns.has_come_down(topology), C::CLAIMS_NO_DEADLOCK))
}

/// Fills all columns of a small fabric, and those of a large one when they are asked for.
pub(crate) fn compile_for_check<C: Columns>(
    columns: C,
    topology: &Arc<Topology>,
) -> Result<Forwarding, String> {
    let tables = TableBuilder::one_column(topology, C::TABLES)?;
    let n_columns = tables.n_columns() as u64;
    match n_columns * topology.n_ports_in_all() as u64 <= MOST_PORTS {
        true => compile(columns, topology),
        false => on_demand(columns, tables, topology),
    }
}

/// Fills columns when they are asked for.
fn on_demand<C: Columns>(
    mut columns: C,
    mut tables: TableBuilder,
    topology: &Arc<Topology>,
) -> Result<Forwarding, String> {
    // A mistake of the fabric shows in every column.
    columns.fill(&mut tables, 0)?;
    let route = OnDemand {
        topology: topology.clone(),
        has_come_down: columns.has_come_down(topology),
        theorem: columns.theorem(),
        filled: Mutex::new((tables, columns, 0)),
    };
    let facts = Facts {
        claims_no_deadlock: C::CLAIMS_NO_DEADLOCK,
        ..Facts::new(1)
    };
    Ok(Forwarding::own(Arc::new(route), facts))
}

/// A routing whose columns are filled when they are asked for. The last one is kept.
#[derive(Debug)]
struct OnDemand<C> {
    topology: Arc<Topology>,
    has_come_down: Option<Vec<bool>>,
    theorem: Option<&'static str>,
    /// The tables, the rule that fills them, and the column that they have.
    filled: Mutex<(TableBuilder, C, usize)>,
}

impl<C: Columns> OnDemand<C> {
    fn hop(&self, lookup: &Lookup) -> Option<Hop> {
        let (at, from, destination) = (lookup.at, lookup.from, lookup.destination);
        let mut filled = self.filled.lock().unwrap_or_else(PoisonError::into_inner);
        let (tables, columns, filled_column) = &mut *filled;
        let column = tables.column(destination);
        if *filled_column != column {
            tables.begin(column);
            columns
                .fill(tables, column)
                .expect("a fabric without mistakes, as the first column shows");
            *filled_column = column;
        }
        let is_second = |by_port: &Vec<bool>| by_port[self.topology.port_index(at, from)];
        let table = usize::from(self.has_come_down.as_ref().is_some_and(is_second));
        tables.hop(table, at, destination)
    }
}

impl<C: Columns> Route for OnDemand<C> {
    fn route(&self, lookup: &Lookup, _: &mut u8, _: &dyn QueueView) -> Hop {
        let (at, destination) = (lookup.at, lookup.destination);
        let hop = self.hop(lookup);
        hop.unwrap_or_else(|| unreachable!("the table has no entry at {at} for {destination}"))
    }

    fn choices(&self, lookup: &Lookup, hops: &mut Vec<Hop>) {
        hops.extend(self.hop(lookup));
    }

    fn theorem(&self, network: Network<'_>) -> Option<Verdict> {
        self.theorem.map(|why| network.by_theorem(why))
    }

    fn is_slow_to_turn(&self) -> bool {
        true
    }
}

/// Returns forwardings by full tables, each with its equal on demand.
#[cfg(test)]
pub(crate) fn on_demand_for_tests(topology: &Arc<Topology>) -> Vec<(Forwarding, Forwarding)> {
    fn both<C: Columns>(of: impl Fn() -> C, topology: &Arc<Topology>) -> (Forwarding, Forwarding) {
        let tables = TableBuilder::one_column(topology, C::TABLES).unwrap();
        let full = compile(of(), topology).unwrap();
        (full, on_demand(of(), tables, topology).unwrap())
    }
    let mut all = vec![];
    for paths in [Paths::All, Paths::One] {
        all.push(both(|| ShortestColumns::new(paths, topology), topology));
        let routing = UpDown { root: 2, paths };
        let of = || UpDownColumns::new(&routing, topology).unwrap();
        all.push(both(of, topology));
    }
    all
}
