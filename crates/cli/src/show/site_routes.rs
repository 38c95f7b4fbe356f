//! `netloom show routing` of a real site: every route, by the programmed tables.

use std::path::{Path, PathBuf};

use netloom_catalog::{Value, ValueShape};
use netloom_experiment::Kinds;
use netloom_infiniband::Site;
use netloom_infiniband::routes::{Names, RouteCheck, check_host_routes, check_routes};

use crate::Exit;
use crate::load::{self, Overrides};
use crate::output::Output;
use crate::site::files::{others, read_all, understood};
use crate::table::{Table, width};

/// Number of failures, links and steps of a loop that are printed.
const MOST_SHOWN: usize = 8;

/// Reads the site of an experiment that uses its forwarding tables; `None` for other experiments.
pub(super) fn of_file(
    kinds: &Kinds,
    file: &Path,
    overrides: &Overrides,
    output: &Output,
) -> anyhow::Result<Option<Result<Site, Exit>>> {
    let root = load::open(kinds, file, overrides)?.document.root;
    let (topology, routing) = (root.get("topology"), root.get("routing"));
    let is_site = topology.and_then(Value::kind_name) == Some("infiniband");
    let is_own = routing
        .and_then(Value::kind_name)
        .is_none_or(|kind| kind == "forwarding-tables");
    let files = topology.and_then(|topology| topology.get("files"));
    let Some(ValueShape::List(files)) = files
        .filter(|_| is_site && is_own)
        .map(|value| &value.shape)
    else {
        return Ok(None);
    };
    let folder = file.parent().unwrap_or(Path::new("."));
    let paths: Vec<PathBuf> = files
        .iter()
        .filter_map(Value::as_text)
        .map(|name| folder.join(name))
        .collect();
    let (document, notes, site) = understood(read_all(&paths)?);
    load::tell(&document, &notes, output);
    Ok(Some(match notes.has_errors() {
        true => Err(Exit::Invalid),
        false => Ok(site),
    }))
}

/// Number of service levels that are assumed for paths without one in the files.
const USUAL_LEVELS: u16 = 1;

/// Checks the routes between hosts and, if there are routers or aggregation nodes, all routes.
///
/// A route of a router or aggregation node that does not arrive is reported, but it is not a fault
/// of the hosts. Its packets can be part of a credit loop.
pub(super) fn check(site: &Site, output: &Output) -> anyhow::Result<Exit> {
    let names = Names::of(&site.subnet);
    let hosts = check_host_routes(&site.subnet, &site.programmed, USUAL_LEVELS);
    let mut text = verdict(&hosts, &names);
    if !hosts.balance.is_empty() {
        text.push_str(&balance(&hosts, &names));
    }
    if let Some(worst) = hosts.longer.worst {
        text.push_str(&format!(
            "longest detour: {} to {} passes {} switches, the shortest path {}\n",
            names.port(worst.from),
            names.address(worst.to),
            worst.hops,
            worst.shortest
        ));
    }
    let mut has_loops = false;
    if !site.left_out.is_empty() {
        let all = check_routes(&site.subnet, &site.programmed);
        let others = others(site);
        text.push_str(&format!("with {others}:\n{}", verdict(&all, &names)));
        has_loops = all.loops.n_knots > 0;
    }
    output.data(&text)?;
    Ok(match hosts.is_sound() && !has_loops {
        true => Exit::Done,
        false => Exit::Fault,
    })
}

/// Returns how many routes arrive, which do not, and the credit loops.
fn verdict(found: &RouteCheck, names: &Names<'_>) -> String {
    let mut text = summary(found);
    for failure in found.failures.first.iter().take(MOST_SHOWN) {
        text.push_str(&format!("  {}\n", names.failure(failure)));
    }
    for (at, circle) in found.loops.found.iter().enumerate() {
        let n = circle.dependencies.len();
        text.push_str(&format!("credit loop {} of {n} links:\n", at + 1));
        for step in circle.dependencies.iter().take(MOST_SHOWN) {
            text.push_str(&format!(
                "  {} on {} waits for {} on {}: packets from {} to {}\n",
                names.port(step.from.port),
                step.from.vl,
                names.port(step.to.port),
                step.to.vl,
                names.port(step.source),
                names.address(step.destination),
            ));
        }
    }
    text
}

fn summary(found: &RouteCheck) -> String {
    let count = |mask: u16| mask.count_ones();
    let mut text = format!(
        "{} routes between {} ports with {} addresses: {} arrive, {} do not\n",
        found.routes, found.n_ports, found.n_addresses, found.arriving, found.failures.routes
    );
    text.push_str(&match found.loops.n_knots {
        0 => format!(
            "no credit loops ({} service levels on {} lanes)\n",
            count(found.levels),
            count(found.lanes)
        ),
        n => format!("credit loops: {n} groups of links can wait for each other forever\n"),
    });
    if found.unknown_lanes > 0 {
        text.push_str(&format!(
            "{} pairs of ports have no SL2VL row in the files; VL0 is assumed\n",
            found.unknown_lanes
        ));
    }
    if found.longer.routes > 0 {
        text.push_str(&format!(
            "{} routes pass more switches than the shortest path\n",
            found.longer.routes
        ));
    }
    text
}

fn balance(found: &RouteCheck, names: &Names<'_>) -> String {
    let mut table = Table::words();
    table.line(["links", "number", "routes: least", "mean", "most"]);
    for own in &found.balance {
        table.line([
            format!("level {} to {}", own.from_level, own.to_level),
            own.n_links.to_string(),
            own.routes.min.to_string(),
            format!("{:.1}", own.routes.mean),
            own.routes.max.to_string(),
        ]);
    }
    let mut text = format!("{}\n", table.text(width()).trim_end());
    if let Some(busiest) = found.most_loaded(1).first() {
        text.push_str(&format!(
            "most routes on one link: {2} from {0} to {1}\n",
            names.port(busiest.from),
            names.port(busiest.to),
            busiest.routes
        ));
    }
    text
}
