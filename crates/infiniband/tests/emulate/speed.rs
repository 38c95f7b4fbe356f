//! Time of OpenSM with the emulator and with ibsim. Not part of a normal run:
//! `cargo test --release -p netloom-infiniband --test emulate speed -- --ignored --nocapture`.

use std::fmt::Write;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use netloom_infiniband::emulate::{self, Profiles};
use netloom_infiniband::{NodeKind, Subnet};

use crate::readback::CONF;
use crate::subnets::{k_ary_n_tree, two_level};
use crate::tools::{Running, Session, are_installed, unique_name, wait_until};

/// Returns a subnet in the format of ibsim.
fn net_of_ibsim(subnet: &Subnet) -> String {
    let mut text = String::new();
    for node in &subnet.nodes {
        let word = if node.kind == NodeKind::ChannelAdapter {
            "Hca"
        } else {
            "Switch"
        };
        let _ = writeln!(
            text,
            "{word}\t{} \"{}\"",
            node.ports.len() - 1,
            node.description
        );
        for (number, port) in node.ports.iter().enumerate() {
            if let Some(cable) = port.cable {
                let there = &subnet.nodes[cable.node.index()].description;
                let _ = writeln!(text, "[{number}]\t\"{there}\"[{}]", cable.port);
            }
        }
        text.push('\n');
    }
    text
}

/// Returns the CPU time of a process and all its threads, in seconds.
fn processor_seconds(process: &str) -> f64 {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, fields) = text.rsplit_once(')').unwrap();
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks.map(|t| t.parse::<f64>().unwrap()).sum::<f64>() / 100.0
}

/// Returns the wall time of `opensm -o` with ibsim, and the CPU time of ibsim, in seconds.
fn with_ibsim(subnet: &Subnet) -> Option<(f64, f64)> {
    let ibsim = emulate::program("ibsim")?;
    let session = Session::start(&two_level(2, 2, 1), &Profiles::default());
    let net = session.folder.join("net");
    fs::write(&net, net_of_ibsim(subnet)).unwrap();
    let name = unique_name();
    let mut command = Command::new(ibsim);
    command.args(["-s", "-n", "-N", "8192", "-P", "65536", "-S", "2048"]);
    command
        .arg(&net)
        .env("IBSIM_SOCKNAME", &name)
        .current_dir(&session.folder);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let ibsim = Running::start(command);
    wait_until("ibsim listens", || {
        let sockets = fs::read_to_string("/proc/net/unix").unwrap();
        sockets.contains(&format!("@{name}:ctl"))
    });
    let mut opensm = session.opensm(CONF, &["-o"]);
    opensm.env("IBSIM_SOCKNAME", &name);
    let start = Instant::now();
    let status = Running::start(opensm).wait();
    let took = start.elapsed().as_secs_f64();
    assert!(status.success(), "{}", session.log());
    Some((took, processor_seconds(&ibsim.id())))
}

fn measure(what: &str, subnet: &Subnet) {
    if !are_installed() {
        return;
    }
    for _ in 0..3 {
        let session = Session::start(subnet, &Profiles::default());
        let used_before = processor_seconds("self");
        let took = session.configure(CONF, &[]).as_secs_f64();
        let used = processor_seconds("self") - used_before;
        let n = session.emulator.counters().n_answered();
        let start = Instant::now();
        let tables = session.emulator.programmed().sl_to_vl.len();
        let read = start.elapsed().as_secs_f64();
        drop(session);
        println!(
            "{what}: {took:.2} s, {used:.2} s of processors, {n} packets; {tables} tables of lanes \
             read in {read:.3} s"
        );
        if let Some((took, used)) = with_ibsim(subnet) {
            println!("{what}: {took:.2} s, {used:.2} s of processors with ibsim");
        }
    }
}

#[test]
#[ignore = "takes minutes"]
fn speed_of_64_hosts() {
    measure("64 hosts", &k_ary_n_tree(4, 3));
}

#[test]
#[ignore = "takes minutes"]
fn speed_of_576_hosts() {
    measure("576 hosts", &k_ary_n_tree(24, 2));
}

#[test]
#[ignore = "takes minutes"]
fn speed_of_2048_hosts() {
    measure("2048 hosts", &two_level(64, 32, 32));
}
