//! `netloom site lint`: mistakes in the configuration of a subnet manager, and of libraries.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use netloom_catalog::{Document, Notes, Place};
use netloom_experiment::{Kinds, render};
use netloom_infiniband::Site;
use netloom_infiniband::opensm::{Conf, Fabric, Policy, Subject, lint};

use super::files::{self, read_all};
use super::lint_env::Env;
use crate::note_lines::NoteLine;
use crate::output::Output;
use crate::{Exit, Format};

#[derive(Subcommand)]
pub(crate) enum Lint {
    /// Check opensm.conf: what OpenSM will do, and how to fix it.
    Opensm(Opensm),
    /// Check environments: what each communication library puts on the wire, and collisions.
    Env(Env),
}

impl Lint {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        match self {
            Lint::Opensm(command) => command.run(output),
            Lint::Env(command) => command.run(kinds, output),
        }
    }
}

#[derive(Args)]
#[command(after_help = "Examples:
  netloom site lint opensm /etc/opensm/opensm.conf
  netloom site lint opensm opensm.conf --policy qos-policy.conf \\
      --fabric nd.txt --fabric portinfo.txt
  netloom site lint opensm opensm.conf --log /var/log/opensm.log

Each finding has its line, what OpenSM will do, and the fix. With --fabric, lint knows the table \
sizes of the ports; with --log, which routing OpenSM used instead of the one in the file. Exit \
codes: 0 nothing found, 6 findings. Remarks are not findings.")]
pub(crate) struct Opensm {
    /// Configuration file of OpenSM, opensm.conf.
    conf: PathBuf,
    /// Policy file, qos-policy.conf.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Output of ibnetdiscover or smpquery portinfo for the fabric; may be repeated.
    #[arg(long, value_name = "FILE")]
    fabric: Vec<PathBuf>,
    /// Log of OpenSM.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Largest packet in bytes; weights should not be smaller.
    #[arg(long, default_value_t = 4096, value_name = "BYTES")]
    packet: u32,
    /// Format of stdout.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

impl Opensm {
    fn run(&self, output: &Output) -> anyhow::Result<Exit> {
        // The fabric comes first, because its reader numbers sources from 0.
        let mut paths = self.fabric.clone();
        paths.push(self.conf.clone());
        paths.extend(self.policy.clone());
        paths.extend(self.log.clone());
        let sources = read_all(&paths)?;
        let conf_at = self.fabric.len();
        let policy_at = self.policy.as_ref().map(|_| conf_at + 1);
        let log_at = self.log.as_ref().map(|_| sources.len() - 1);
        let mut notes = Notes::new();
        let site = match self.fabric.is_empty() {
            true => None,
            false => Some(Site::understand(&sources[..conf_at], &mut notes)),
        };
        let conf = Conf::read(&sources[conf_at].1, conf_at as u16);
        let policy = policy_at.map(|at| Policy::read(&sources[at].1, at as u16));
        let report = lint(&Subject {
            conf: &conf,
            policy: policy.as_ref(),
            fabric: site.as_ref().map(|site| Fabric {
                subnet: &site.subnet,
                lanes: &site.programmed.lanes,
            }),
            log: log_at.map(|at| (sources[at].1.as_str(), at as u16)),
            largest_packet: self.packet,
        });
        let is_unreadable = notes.has_errors();
        let is_about_qos = |key: &str| key.starts_with("qos") || key == "max_op_vls";
        let says_nothing = !conf.settings.iter().any(|set| is_about_qos(&set.key));
        if says_nothing {
            let place = Place {
                source: conf_at as u16,
                ..Place::default()
            };
            notes
                .error(
                    "E1100",
                    place,
                    "expected settings of quality of service, found none",
                )
                .help(
                    "add lines such as `qos TRUE`; without them, OpenSM does not write the \
                    tables of ports",
                );
        }
        for note in report.findings.iter() {
            notes.push(note.clone());
        }
        let document = files::texts(sources);
        match self.format {
            Format::Json => output.data(&json(&document, &notes, &report.remarks)?)?,
            Format::Human => {
                for remark in report.remarks.iter() {
                    let words = NoteLine::of(remark, &document).sentence();
                    output.say(&format!("remark[{}]: {words}", remark.code));
                }
                output.rendered(&render(&document, &notes, output.is_data_coloured))?;
                if notes.is_empty() {
                    output.outcome("nothing found\n")?;
                }
            }
        }
        Ok(match () {
            () if is_unreadable => Exit::Invalid,
            () if says_nothing || !report.findings.is_empty() => Exit::BeyondLimit,
            () => Exit::Done,
        })
    }
}

fn json(document: &Document, findings: &Notes, remarks: &Notes) -> anyhow::Result<String> {
    let lines = |notes: &Notes| -> Vec<NoteLine> {
        let notes = notes.iter();
        notes.map(|note| NoteLine::of(note, document)).collect()
    };
    let whole = serde_json::json!({ "findings": lines(findings), "remarks": lines(remarks) });
    Ok(serde_json::to_string_pretty(&whole)?)
}
