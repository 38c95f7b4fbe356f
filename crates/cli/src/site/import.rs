//! `netloom site import`: a real site as an experiment.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use netloom_infiniband::Site;
use netloom_infiniband::routes::Names;
use netloom_infiniband::suspects::{Suspect, suspects};
use netloom_settings::devices::{Device, devices};
use netloom_units::{Rate, Time};

use super::files::{others, put, read_all, understood, write_folder};
use crate::load::tell;
use crate::output::Output;
use crate::table::{Table, width};
use crate::{Exit, program};

#[derive(Args)]
#[command(after_help = "Examples:
  ibnetdiscover > nd.txt; netloom site import nd.txt -o site
  netloom site import nd.txt opensm-lfts.dump vlarb.txt -o site

Files may be given in any order; each is recognised by its content:
  nodes and cables         ibnetdiscover or opensm-subnet.lst (exactly one)
  forwarding tables        opensm-lfts.dump, opensm.fdbs, dump_fts, ibroute
  SL2VL maps               opensm-sl2vl.dump, smpquery sl2vl, slvl of ibdmchk
  arbitration, limits      smpquery vlarb and portinfo, answers one after the other
  service levels of paths  psl of ibdmchk

OpenSM writes its dumps with `opensm -D 0x43 --dump_files_dir DIR`.")]
pub(crate) struct Import {
    /// Output of the site's tools.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the experiment and the files it needs to DIR.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Write into an existing folder.
    #[arg(long)]
    overwrite: bool,
}

impl Import {
    pub(super) fn run(&self, output: &Output) -> anyhow::Result<Exit> {
        let files = read_all(&self.files)?;
        let (document, notes, site) = understood(files);
        tell(&document, &notes, output);
        if notes.has_errors() {
            return Ok(Exit::Invalid);
        }
        if self.output.exists() && !self.overwrite {
            bail!(
                "{} already exists; add --overwrite to write into it",
                self.output.display()
            );
        }
        let mut written = write_folder(&self.output, &site)?;
        let path = self.output.join("site.toml");
        let text = experiment(&written, &site);
        put(&path, &text)?;
        written.push("site.toml");
        output.outcome(&format!("{}\n", summary(&site).trim_end()))?;
        output.outcome(&suspected(&site))?;
        let folder = self.output.display();
        output.say(&format!("wrote {folder}: {}", written.join(", ")));
        output.say(&format!(
            "next: {0} check {folder}/site.toml; {0} show routing {folder}/site.toml",
            program()
        ));
        Ok(Exit::Done)
    }
}

/// Number of suspects of one kind that are printed.
const MOST_SHOWN: usize = 20;

/// Prints suspected faults, one per line.
fn suspected(site: &Site) -> String {
    let names = Names::of(&site.subnet);
    let found = suspects(&site.subnet);
    let mut text = match found.is_empty() {
        true => "  no suspected faults\n".to_owned(),
        false => "  suspected faults\n".to_owned(),
    };
    for kind in found.chunk_by(|a, b| std::mem::discriminant(a) == std::mem::discriminant(b)) {
        let words = |suspect: &Suspect| suspect.words(&site.subnet, &names);
        for suspect in kind.iter().take(MOST_SHOWN) {
            text.push_str(&format!("    {}\n", words(suspect)));
        }
        if let Some(more @ 1..) = kind.len().checked_sub(MOST_SHOWN) {
            text.push_str(&format!("    and {more} more of these\n"));
        }
    }
    text
}

/// Prints what was found, and for what is missing the command that provides it.
fn summary(site: &Site) -> String {
    let (subnet, programmed) = (&site.subnet, &site.programmed);
    let mut rates: BTreeMap<String, u32> = BTreeMap::new();
    let mut n_ends = 0;
    for cable in subnet
        .nodes
        .iter()
        .flat_map(|node| &node.ports)
        .filter_map(|port| port.cable)
    {
        let name = match cable.speed.zip(cable.width) {
            Some((speed, width)) => format!("{speed} x{}", width.lanes()),
            None => "unknown rate".to_owned(),
        };
        *rates.entry(name).or_default() += 1;
        n_ends += 1;
    }
    let rates: Vec<String> = rates
        .iter()
        .map(|(name, n)| format!("{} {name}", n / 2))
        .collect();
    let mut table = Table::words();
    let found = |n: usize, of: usize, what: &str| format!("{n} of {of} {what}");
    let n_switches = site.switches.len();
    table.line(["NICs".to_owned(), site.nics.len().to_string()]);
    table.line(["switches".to_owned(), n_switches.to_string()]);
    table.line([
        "cables".to_owned(),
        format!("{}: {}", n_ends / 2, rates.join(", ")),
    ]);
    if !site.left_out.is_empty() {
        table.line(["left out".to_owned(), others(site)]);
    }
    let or = |is_known: bool, words: String, missing: &str| match is_known {
        true => words,
        false => missing.to_owned(),
    };
    table.line([
        "forwarding tables".to_owned(),
        or(
            !programmed.forwarding.is_empty(),
            found(programmed.forwarding.len(), n_switches, "switches"),
            "none: using up*/down* routing; add opensm-lfts.dump or the output of dump_fts",
        ),
    ]);
    let mut mapped: Vec<_> = programmed
        .sl_to_vl
        .keys()
        .map(|(name, _)| name.node)
        .collect();
    mapped.dedup();
    table.line([
        "SL2VL maps".to_owned(),
        or(
            !mapped.is_empty(),
            format!(
                "{} rows of {} nodes",
                programmed.sl_to_vl.len(),
                mapped.len()
            ),
            "none: SL n uses VL n; add opensm-sl2vl.dump or the output of smpquery sl2vl",
        ),
    ]);
    table.line([
        "arbitration tables".to_owned(),
        or(
            !programmed.arbitration.is_empty(),
            format!("{} ports", programmed.arbitration.len()),
            "none: lanes take turns; add the output of smpquery vlarb LID PORT for each port",
        ),
    ]);
    table.line([
        "limits of high priority".to_owned(),
        or(
            programmed
                .lanes
                .values()
                .any(|lanes| lanes.high_limit.is_some()),
            format!("{} ports; 0 for the others", programmed.lanes.len()),
            "none: 0 is assumed; add the output of smpquery portinfo LID PORT for each port",
        ),
    ]);
    table.line([
        "service levels of paths".to_owned(),
        or(
            !programmed.path_levels.is_empty(),
            "as listed".to_owned(),
            "none: packets use the service level of their class",
        ),
    ]);
    table.text(width())
}

/// Returns the device of most cables, if its name is known.
fn device(site: &Site) -> Option<&'static Device> {
    let mut n_cables = BTreeMap::new();
    let ports = site.subnet.nodes.iter().flat_map(|node| &node.ports);
    for cable in ports.filter_map(|port| port.cable) {
        if let Some((speed, width)) = cable.speed.zip(cable.width) {
            let name = speed.to_string().to_lowercase();
            let name = match width.lanes() {
                4 => name,
                2 => format!("{name}100"),
                lanes => format!("{name} x{lanes}"),
            };
            *n_cables.entry(name).or_insert(0) += 1;
        }
    }
    let (name, _) = n_cables.into_iter().max_by_key(|(_, n)| *n)?;
    devices().iter().find(|own| own.name == name)
}

/// Returns the cycles of the stage of routing with which a switch has the delay of its device. A
/// cycle is the time of a flit of 64 bytes, and the other stages take four.
fn routing_cycles(device: &Device) -> Option<u64> {
    let delay: Time = device.value("delay of a switch")?.parse().ok()?;
    let rate: Rate = device.value("link.rate")?.parse().ok()?;
    let cycles = delay.as_nanos() * rate.0 as f64 / (64.0 * 8.0 * 1e9);
    (cycles.round() as u64).checked_sub(4)
}

/// Returns `[link]` and the delay of a switch.
fn links(device: Option<&Device>) -> (String, String) {
    let Some(device) = device else {
        return (String::new(), String::new());
    };
    let name = &device.name;
    let link = format!(
        "
# Headers and MTU of {}; `netloom explain {name}` has the sources.
# The lengths of the cables are not in the files of the site.
[link]
device = \"{name}\"
cable = \"5 m\"
",
        device.title
    );
    let pipeline = routing_cycles(device).map(|cycles| {
        let delay = device.value("delay of a switch").unwrap_or_default();
        format!("pipeline = {{ routing = {cycles} }}  # {delay} from port to port, if idle\n")
    });
    (link, pipeline.unwrap_or_default())
}

/// Returns the text of an experiment: the site, and some traffic to start with.
fn experiment(files: &[&str], site: &Site) -> String {
    let (link, pipeline) = links(device(site));
    let files: Vec<String> = files.iter().map(|name| format!("\"{name}\"")).collect();
    let files = files.join(", ");
    let routing = match site.programmed.forwarding.is_empty() {
        false => "",
        true => {
            "\n# No forwarding tables were given, so routing is up*/down*; the subnet manager may \
             route differently.\n[routing]\nkind = \"up-down\"\n"
        }
    };
    format!(
        "# A real InfiniBand subnet, imported from the output of its tools. Rates, forwarding \
         tables, SL2VL maps
# and arbitration tables are those of the site, as far as the files contain them. Values below \
override them.
netloom = 1
name = \"site\"

[topology]
kind = \"infiniband\"
files = [{files}]
{link}{routing}
# The crossbar of a real switch is faster than its links. The ratio is not public; 2 is an \
assumption.
[switch]
speedup = 2
{pipeline}
# `netloom show switches site.toml` lists the names of hosts and switches.
[[traffic]]
name = \"all-to-all\"
load = 0.3
message = \"4 KiB\"
"
    )
}
