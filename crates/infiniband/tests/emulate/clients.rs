//! Many programs at once, programs that are killed, and invalid datagrams.

use std::num::NonZeroU64;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::thread;

use netloom_infiniband::emulate::{Emulator, Profiles, StartError};
use netloom_infiniband::{Guid, Subnet};

use crate::readback::CONF;
use crate::subnets::{k_ary_n_tree, two_level};
use crate::tools::{Running, Session, are_installed, field, unique_name, wait_until};

#[test]
fn many_programs_are_served_at_once() {
    if !are_installed() {
        return;
    }
    let session = Session::start(&k_ary_n_tree(4, 3), &Profiles::default());
    session.configure("", &[]);
    let mut manager = Running::start(session.opensm(CONF, &[]));
    thread::scope(|scope| {
        let session = &session;
        let queries = (1..=24).map(|lid: u16| {
            scope.spawn(move || session.run("smpquery", &["nodeinfo", &lid.to_string()]))
        });
        let queries: Vec<_> = queries.collect();
        let listing = session.run("ibnetdiscover", &[]);
        assert_eq!(listing.matches("caguid=").count(), 64);
        for query in queries {
            assert!(query.join().unwrap().contains("Guid"));
        }
    });
    wait_until("OpenSM is done", || session.log().contains("SUBNET UP"));
    let answer = session.run("sminfo", &[]);
    assert!(answer.contains("SMINFO_MASTER"), "{answer}");
    manager.signal("-TERM");
    assert!(manager.wait().success());
    wait_until("all have said goodbye", || {
        session.emulator.n_clients() == 0
    });
    assert_eq!(session.emulator.counters().died, 0);
}

#[test]
fn a_manager_that_is_killed_is_forgotten() {
    if !are_installed() {
        return;
    }
    let session = Session::start(&two_level(2, 2, 4), &Profiles::default());
    let mut manager = Running::start(session.opensm("", &[]));
    wait_until("OpenSM is done", || session.log().contains("SUBNET UP"));
    let capabilities = || {
        let text = session.run("smpquery", &["portinfo", "-D", "0"]);
        let mask = field(&text, "CapMask").trim_start_matches("0x").to_owned();
        u32::from_str_radix(&mask, 16).expect("a mask")
    };
    assert_eq!(
        capabilities() & 2,
        2,
        "its port says that a manager is there"
    );
    manager.signal("-KILL");
    manager.wait();
    wait_until("its end is noticed", || session.emulator.n_clients() == 0);
    assert_eq!(capabilities() & 2, 0);
    assert_eq!(session.emulator.counters().died, 1);
}

#[test]
fn two_managers_agree_on_a_master() {
    if !are_installed() {
        return;
    }
    let subnet = two_level(2, 2, 4);
    let session = Session::start(&subnet, &Profiles::default());
    let _first = Running::start(session.opensm("", &["-p", "9"]));
    wait_until("OpenSM is done", || session.log().contains("SUBNET UP"));
    let mut second = session.command("opensm", &["-p", "3", "-F", "second.conf"]);
    std::fs::write(session.folder.join("second.conf"), "").unwrap();
    second.arg("-f").arg(session.folder.join("second.log"));
    second.args(["-e", "-d", "2", "-D", "0x03"]);
    second.env("SIM_HOST", "h7 mlx5_0");
    let _second = Running::start(second);
    let log = || std::fs::read_to_string(session.folder.join("second.log")).unwrap_or_default();
    wait_until("the second stands by", || log().contains("STANDBY"));
}

#[test]
fn a_lost_packet_is_reported_and_the_next_sweep_makes_up_for_it() {
    if !are_installed() {
        return;
    }
    let session = Session::start(&two_level(2, 2, 4), &Profiles::default());
    session.emulator.lose_every(NonZeroU64::new(100));
    let mut manager = Running::start(session.opensm(CONF, &[]));
    wait_until("some are lost", || session.emulator.counters().lost >= 3);
    session.emulator.lose_every(None);
    wait_until("OpenSM sweeps again", || {
        manager.signal("-HUP");
        thread::sleep(std::time::Duration::from_millis(300));
        session.log().contains("SUBNET UP")
    });
    manager.signal("-TERM");
    assert!(manager.wait().success());
}

/// A socket that sends invalid datagrams to the emulator.
fn stranger(emulator: &Emulator, role: &str) -> UnixDatagram {
    let name = format!("{}:{role}\0", emulator.name());
    let socket = UnixDatagram::unbound().expect("a socket");
    let address = SocketAddr::from_abstract_name(name).expect("a name");
    socket.connect_addr(&address).expect("the emulator listens");
    socket
}

#[test]
fn nonsense_is_counted_and_nobody_else_is_disturbed() {
    if !are_installed() {
        return;
    }
    let session = Session::start(&two_level(2, 2, 4), &Profiles::default());
    let socket = stranger(&session.emulator, "ctl");
    for datagram in [
        &[][..],
        &[0],
        &[0xff; 79],
        &[0; 80],
        &[0; 81],
        &[0xde; 4000],
    ] {
        socket.send(datagram).expect("nonsense can be sent");
    }
    session.configure(CONF, &[]);
    assert_eq!(session.emulator.counters().malformed, 6);
}

#[test]
fn a_program_attaches_at_the_node_that_it_names() {
    if !are_installed() {
        return;
    }
    let subnet = two_level(2, 2, 4);
    let session = Session::start(&subnet, &Profiles::default());
    let asked = |host: &str| {
        let mut command = session.command("smpquery", &["nodeinfo", "-D", "0"]);
        command
            .env("SIM_HOST", host)
            .stdout(std::process::Stdio::piped());
        let output = command.output().expect("smpquery starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        output
            .status
            .success()
            .then(|| field(&text, "Guid").to_owned())
    };
    let guid = |description: &str| {
        let node = subnet.nodes.iter().find(|n| n.description == description);
        node.unwrap().guid
    };
    let Guid(host) = guid("h5 mlx5_0");
    assert_eq!(asked("h5 mlx5_0"), Some(guid("h5 mlx5_0").to_string()));
    assert_eq!(
        asked(&format!("H-{host:016x}")),
        Some(guid("h5 mlx5_0").to_string())
    );
    assert_eq!(asked("spine1"), Some(guid("spine1").to_string()));
    assert_eq!(asked("unknown"), None);
}

#[test]
fn a_name_is_had_once_and_free_after_the_end() {
    let (subnet, profiles, name) = (two_level(2, 2, 4), Profiles::default(), unique_name());
    for _ in 0..3 {
        let mut started = None;
        // A program that another test is starting may hold the sockets until it runs.
        wait_until("the name is free", || {
            started = Emulator::start(&subnet, &profiles, &name).ok();
            started.is_some()
        });
        let second = Emulator::start(&subnet, &profiles, &name);
        assert!(matches!(second, Err(StartError::Socket(_))));
        started.expect("waited for").stop();
    }
}

#[test]
fn a_cable_that_does_not_lead_back_is_refused() {
    let mut subnet: Subnet = two_level(2, 2, 4);
    subnet.nodes[0].ports[1].cable = None;
    let started = Emulator::start(&subnet, &Profiles::default(), &unique_name());
    let Err(StartError::Subnet(why)) = started else {
        panic!("a broken subnet was emulated");
    };
    assert!(why.contains("port 1") && why.contains("leaf0"), "{why}");
}
