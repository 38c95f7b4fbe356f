//! `netloom route check` of a real site: every route by the tables that are programmed.

use std::path::{Path, PathBuf};

use netloom_catalog::{Value, ValueShape};
use netloom_experiment::Kinds;
use netloom_infiniband::Site;
use netloom_infiniband::routes::{Names, RouteCheck, check_host_routes, check_routes};

use super::Exit;
use super::load::{self, Overrides};
use super::output::Output;
use super::site_files::{others, read_all, understood};
use super::table::Columns;

/// Failures, links and steps of a loop that are told; more help nobody.
const SHOWN: usize = 8;

/// The site of an experiment that goes by the tables of one; nothing if it does not.
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

/// The service level of paths that the files give none.
const USUAL_LEVELS: u16 = 1;

/// Checks the routes between hosts; and, where there are routers or aggregation nodes, all routes. Routes of these that
/// do not arrive are reported and are not a fault of the hosts'; their packets can close a credit loop as any.
pub(super) fn check(site: &Site, output: &Output) -> anyhow::Result<Exit> {
    let names = Names::of(&site.subnet);
    let hosts = check_host_routes(&site.subnet, &site.programmed, USUAL_LEVELS);
    let mut text = verdict(&hosts, &names);
    if !hosts.balance.is_empty() {
        text.push_str(&balance(&hosts, &names));
    }
    if let Some(worst) = hosts.longer.worst {
        text.push_str(&format!(
            "longest way around: {} to {} passes {} switches, {} would do\n",
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

/// What arrives, what does not, and the credit loops.
fn verdict(found: &RouteCheck, names: &Names<'_>) -> String {
    let mut text = summary(found);
    for failure in found.failures.first.iter().take(SHOWN) {
        text.push_str(&format!("  {}\n", names.failure(failure)));
    }
    for (at, circle) in found.loops.found.iter().enumerate() {
        let n = circle.dependencies.len();
        text.push_str(&format!("credit loop {} of {n} links:\n", at + 1));
        for step in circle.dependencies.iter().take(SHOWN) {
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
        n => format!("credit loops: {n} groups of links can wait for each other for ever\n"),
    });
    if found.unknown_lanes > 0 {
        text.push_str(&format!(
            "{} pairs of ports have no SL2VL row in the files; they count as VL0\n",
            found.unknown_lanes
        ));
    }
    if found.longer.routes > 0 {
        text.push_str(&format!(
            "{} routes pass more switches than they must\n",
            found.longer.routes
        ));
    }
    text
}

fn balance(found: &RouteCheck, names: &Names<'_>) -> String {
    let mut table = Columns::words();
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
    let mut text = format!("{}\n", table.print().trim_end());
    if let Some(busiest) = found.most_loaded(1).first() {
        text.push_str(&format!(
            "most routes: {} to {}, {} of them\n",
            names.port(busiest.from),
            names.port(busiest.to),
            busiest.routes
        ));
    }
    text
}
