//! InfiniBand tools, each with its own emulator and folder.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use netloom_infiniband::emulate::{self, Emulator, Profiles};
use netloom_infiniband::{PortName, SlToVl, Subnet};

/// The time limit of any step on a busy machine.
const LIMIT: Duration = Duration::from_secs(240);

/// Debian packages, and a file or program of each.
const PACKAGES: [(&str, &str); 5] = [
    ("opensm", "opensm"),
    ("infiniband-diags", "smpquery"),
    ("infiniband-diags", "ibnetdiscover"),
    ("infiniband-diags", "ibportstate"),
    ("infiniband-diags", "sminfo"),
];

/// Returns whether to run the test. Fails if a tool is missing, unless missing tools are allowed.
pub(crate) fn are_installed() -> bool {
    let missing_program = PACKAGES.iter().find(|(_, p)| emulate::program(p).is_none());
    let missing = match (missing_program, emulate::library()) {
        (Some((package, _)), _) => package,
        (None, None) => "libumad2sim0",
        (None, Some(_)) => return true,
    };
    let may_be = std::env::var_os("NETLOOM_WITHOUT_INFINIBAND_TOOLS").is_some();
    assert!(
        may_be,
        "this test needs the Debian package {missing}; install it, or set \
         NETLOOM_WITHOUT_INFINIBAND_TOOLS"
    );
    false
}

/// Returns a name that is unique among tests and runs.
pub(crate) fn unique_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("netloom-{}-{count}", std::process::id())
}

/// An emulator with a folder for the programs attached to it.
pub(crate) struct Session {
    pub(crate) emulator: Emulator,
    pub(crate) folder: PathBuf,
}

impl Session {
    pub(crate) fn start(subnet: &Subnet, profiles: &Profiles) -> Session {
        let name = unique_name();
        let folder = std::env::temp_dir().join(&name);
        fs::create_dir_all(&folder).expect("a folder for the programs");
        let emulator = Emulator::start(subnet, profiles, &name).expect("an emulator");
        Session { emulator, folder }
    }

    /// Returns a program that is ready to start.
    pub(crate) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let path = emulate::program(program).expect("looked for by are_installed");
        let mut command = Command::new(path);
        let library = emulate::library().expect("looked for by are_installed");
        self.emulator.attach(library, &mut command);
        let output = |what: &str| {
            let file = format!("{program}.{what}");
            fs::File::create(self.folder.join(file)).expect("a file for its output")
        };
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env("OSM_TMP_DIR", &self.folder)
            .env("OSM_CACHE_DIR", &self.folder)
            .stdin(Stdio::null())
            .stdout(output("out"))
            .stderr(output("err"));
        command
    }

    /// Returns the output of a program that must succeed.
    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = self.command(program, arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = command.output().expect("a program that starts");
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        let called = format!("{program} {}", arguments.join(" "));
        assert!(
            output.status.success(),
            "{called}: {}\n{errors}",
            output.status
        );
        stdout
    }

    /// Returns OpenSM with this opensm.conf, ready to start.
    pub(crate) fn opensm(&self, conf: &str, arguments: &[&str]) -> Command {
        let conf_file = self.write_conf(conf);
        let log = self.folder.join("osm.log");
        let mut command = self.command("opensm", arguments);
        command.arg("-F").arg(conf_file).arg("-f").arg(log);
        // Log from the start, unbuffered, with state messages.
        command.args(["-e", "-d", "2", "-D", "0x03"]);
        command
    }

    pub(crate) fn write_conf(&self, conf: &str) -> PathBuf {
        let file = self.folder.join("opensm.conf");
        fs::write(&file, conf).expect("a folder to write to");
        file
    }

    /// Lets OpenSM configure the subnet once. Returns the time it took.
    pub(crate) fn configure(&self, conf: &str, arguments: &[&str]) -> Duration {
        let mut arguments = arguments.to_vec();
        arguments.push("-o");
        let start = Instant::now();
        let mut child = Running::start(self.opensm(conf, &arguments));
        let status = child.wait();
        let took = start.elapsed();
        let log = self.log();
        assert!(status.success(), "opensm: {status}\n{log}");
        assert!(log.contains("SUBNET UP"), "{log}");
        let errors: Vec<&str> = log.lines().filter(|line| line.contains(" ERR ")).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        took
    }

    /// Returns the log of OpenSM.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.join("osm.log")).unwrap_or_default()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Errors do not matter.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A running program. It is killed at the end of its test.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn start(mut command: Command) -> Running {
        Running(command.spawn().expect("a program that starts"))
    }

    /// Returns the process id.
    pub(crate) fn id(&self) -> String {
        self.0.id().to_string()
    }

    /// Sends a signal to the process.
    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.id()]).status();
        assert!(sent.expect("kill is in every system").success());
    }

    /// Waits for the end of the process.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let child = &mut self.0;
        let mut status = None;
        wait_until("a program ends", || {
            status = child.try_wait().expect("a child");
            status.is_some()
        });
        status.expect("waited for")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

/// Waits until a condition is true.
pub(crate) fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(
            start.elapsed() < LIMIT,
            "timeout while waiting until {what}"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

/// Parses `smpquery vlarb`: lane and weight of the low entries, then of the high entries.
pub(crate) fn arbitration(text: &str) -> [Vec<(u8, u8)>; 2] {
    let (low, high) = text
        .split_once("# High priority")
        .expect("both tables in the answer");
    let cells = |table: &str, label: &str| -> Vec<u8> {
        let rows = table.lines().filter_map(|line| line.strip_prefix(label));
        let cells = rows.flat_map(|row| row.split('|')).map(str::trim);
        let hex = |cell: &str| u8::from_str_radix(cell.trim_start_matches("0x"), 16).ok();
        cells.filter_map(hex).collect()
    };
    [low, high].map(|table| {
        let (lanes, weights) = (cells(table, "VL    :"), cells(table, "WEIGHT:"));
        assert_eq!(lanes.len(), weights.len(), "{table}");
        lanes.into_iter().zip(weights).collect()
    })
}

/// Parses `smpquery sl2vl`: input, output, lanes.
pub(crate) fn lanes_of_levels(text: &str) -> Vec<(u8, u8, Vec<u8>)> {
    let rows = text
        .lines()
        .filter_map(|line| line.strip_prefix("ports: in "));
    rows.map(|row| {
        let (ports, lanes) = row.split_once(':').expect("lanes behind a colon");
        let (input, output) = ports.split_once(", out").expect("two ports");
        let number = |text: &str| text.trim().parse().expect("a number");
        let cells = lanes.split('|').map(str::trim).filter(|c| !c.is_empty());
        (number(input), number(output), cells.map(number).collect())
    })
    .collect()
}

/// Returns a field of `smpquery portinfo`.
pub(crate) fn field<'a>(text: &'a str, name: &str) -> &'a str {
    let line = text.lines().find(|line| {
        let rest = line.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(":."))
    });
    let line = line.unwrap_or_else(|| panic!("no {name} in\n{text}"));
    line[name.len() + 1..].trim_start_matches('.')
}

/// Checks that smpquery and the emulator return the same tables of a port.
pub(crate) fn check_port(session: &Session, lid: u16, name: PortName, inputs: &[u8]) {
    let programmed = session.emulator.programmed();
    let (lid, port) = (lid.to_string(), name.port.to_string());
    let query = |what: &str| session.run("smpquery", &[what, &lid, &port]);

    let tables = &programmed.arbitration[&name];
    let pairs = |entries: &[netloom_arbitration::Entry]| -> Vec<(u8, u8)> {
        entries.iter().map(|e| (e.vl.0, e.weight)).collect()
    };
    let expected = [pairs(&tables.low), pairs(&tables.high)];
    assert_eq!(arbitration(&query("vlarb")), expected, "{name:?}");

    let rows = lanes_of_levels(&query("sl2vl"));
    let read: Vec<u8> = rows.iter().map(|(input, _, _)| *input).collect();
    assert_eq!(read, inputs, "{name:?}");
    for (input, _, lanes) in &rows {
        let SlToVl(expected) = programmed.sl_to_vl[&(name, *input)];
        assert_eq!(*lanes, expected.map(|vl| vl.0), "{name:?} from {input}");
    }

    let (info, lanes) = (query("portinfo"), programmed.lanes[&name]);
    let in_words = |count: Option<u8>| match count {
        Some(1) => "VL0".to_owned(),
        Some(n) => format!("VL0-{}", n - 1),
        None => panic!("every port has lanes"),
    };
    let number = |value: Option<u8>| value.expect("every port says it").to_string();
    for (key, expected) in [
        ("VLCap", in_words(lanes.cap)),
        ("OperVLs", in_words(lanes.operational)),
        ("VLHighLimit", number(lanes.high_limit)),
        ("VLArbHighCap", number(lanes.high_cap)),
        ("VLArbLowCap", number(lanes.low_cap)),
        (
            "NeighborMTU",
            lanes.neighbor_mtu.expect("present").to_string(),
        ),
        ("LinkState", "Active".to_owned()),
    ] {
        assert_eq!(field(&info, key), expected, "{key} of {name:?}");
    }
}
