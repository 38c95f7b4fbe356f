//! A fabric that ibsim simulates, and a real OpenSM that configures it.
//!
//! Every fabric has its own folder and socket, so several can run in parallel.

#![allow(dead_code, reason = "each test takes what it needs of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Variable that lets tests pass without the tools they need.
const WITHOUT_TOOLS: &str = "NETLOOM_WITHOUT_INFINIBAND_TOOLS";

/// The programs and their Debian packages.
const TOOLS: [(&str, &str); 3] = [
    ("opensm", "opensm"),
    ("ibsim", "ibsim-utils"),
    ("smpquery", "infiniband-diags"),
];

static COUNT: AtomicU32 = AtomicU32::new(0);

/// Returns whether the tests may run without the tools. Fails for other missing tools, with their
/// package.
pub(crate) fn without_tools() -> bool {
    if std::env::var_os(WITHOUT_TOOLS).is_some() {
        eprintln!("{WITHOUT_TOOLS} is set: nothing is compared with a real OpenSM");
        return true;
    }
    for (tool, package) in TOOLS {
        assert!(
            find_tool(tool).is_some(),
            "{tool} is not installed: install the package {package}, or set {WITHOUT_TOOLS}"
        );
    }
    assert!(
        find_preload().is_some(),
        "libumad2sim.so is not installed: install the package libumad2sim0, or set {WITHOUT_TOOLS}"
    );
    false
}

fn find_tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(["/usr/sbin", "/usr/bin", "/sbin"].map(PathBuf::from));
    let mut found = folders.iter().map(|folder| folder.join(name));
    found.find(|program| program.exists())
}

fn find_preload() -> Option<PathBuf> {
    let mut folders = vec![PathBuf::from("/usr/lib64"), PathBuf::from("/usr/lib")];
    let inside = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    folders.extend(inside.map(|entry| entry.path()));
    let mut found = folders.iter().map(|f| f.join("umad2sim/libumad2sim.so"));
    found.find(|library| library.exists())
}

/// A running fabric.
pub(crate) struct SimulatedFabric {
    ibsim: Child,
    opensm: Option<Child>,
    socket: String,
    pub(crate) folder: PathBuf,
}

impl SimulatedFabric {
    /// Starts ibsim with a net file.
    pub(crate) fn start(net: &str) -> SimulatedFabric {
        let socket = format!(
            "netloom-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let folder = std::env::temp_dir().join(&socket);
        fs::create_dir_all(&folder).expect("a folder for the fabric");
        fs::write(folder.join("net"), net).expect("the net file");
        let log = fs::File::create(folder.join("ibsim.log")).expect("the log of ibsim");
        let ibsim = Command::new(find_tool("ibsim").expect("ibsim"))
            .args(["-s", "-n", "net"])
            .env("IBSIM_SOCKNAME", &socket)
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stderr(log.try_clone().expect("one more handle of the log"))
            .stdout(log)
            .spawn()
            .expect("ibsim starts");
        let mut fabric = SimulatedFabric {
            ibsim,
            opensm: None,
            socket,
            folder,
        };
        let name = format!("@{}:ctl", fabric.socket);
        fabric.wait("the socket of ibsim", |_| {
            fs::read_to_string("/proc/net/unix").is_ok_and(|list| list.contains(&name))
        });
        fabric
    }

    fn wait(&mut self, what: &str, is_there: impl Fn(&Path) -> bool) {
        let start = Instant::now();
        while !is_there(&self.folder) {
            if let Some(end) = self.ibsim.try_wait().expect("ibsim can be asked") {
                let log = fs::read_to_string(self.folder.join("ibsim.log"));
                panic!("ibsim ended with {end}: {}", log.unwrap_or_default());
            }
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "{what} does not come"
            );
            sleep(Duration::from_millis(10));
        }
    }

    fn client(&self, tool: &str) -> Command {
        let mut command = Command::new(find_tool(tool).expect("the tool is installed"));
        command
            .env("IBSIM_SOCKNAME", &self.socket)
            .env(
                "LD_PRELOAD",
                find_preload().expect("the library is installed"),
            )
            .env("OSM_TMP_DIR", &self.folder)
            .env("OSM_CACHE_DIR", &self.folder)
            .current_dir(&self.folder)
            .stdin(Stdio::null());
        command
    }

    fn opensm_command(&self, conf: &str, more: &[&str]) -> Command {
        fs::write(self.folder.join("opensm.conf"), conf).expect("opensm.conf");
        let mut command = self.client("opensm");
        command
            .args(["-F", "opensm.conf", "-f"])
            .arg(self.folder.join("osm.log"))
            .args(["-e", "-d", "2", "-D", "0x43", "--dump_files_dir"])
            .arg(&self.folder)
            .args(more);
        command
    }

    /// Lets OpenSM configure the fabric once, and returns its output.
    pub(crate) fn configure(&mut self, conf: &str, more: &[&str]) -> String {
        let output = self
            .opensm_command(conf, more)
            .arg("-o")
            .output()
            .expect("opensm starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "opensm ended with {}: {text}",
            output.status
        );
        assert!(self.log().contains("SUBNET UP"), "{}", self.log());
        text
    }

    /// Starts OpenSM in the background, and waits until it has configured the fabric.
    pub(crate) fn configure_and_stay(&mut self, conf: &str, more: &[&str]) {
        let out = fs::File::create(self.folder.join("osm.out")).expect("the output of opensm");
        let opensm = self
            .opensm_command(conf, more)
            .stdout(out)
            .stderr(Stdio::null())
            .spawn();
        self.opensm = Some(opensm.expect("opensm starts"));
        self.wait("SUBNET UP", |folder| n_sweeps(folder) >= 1);
    }

    /// Makes the running OpenSM do a heavy sweep.
    pub(crate) fn hang_up(&mut self) {
        let before = n_sweeps(&self.folder);
        let id = self.opensm.as_ref().expect("an OpenSM that stays").id();
        let status = Command::new("kill")
            .args(["-HUP", &id.to_string()])
            .status();
        assert!(status.expect("kill").success());
        self.wait("a further SUBNET UP", |folder| n_sweeps(folder) > before);
    }

    /// Returns the log of OpenSM.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.join("osm.log")).unwrap_or_default()
    }

    /// Returns the LIDs by port GUID.
    pub(crate) fn lids(&self) -> BTreeMap<u64, u16> {
        let text = fs::read_to_string(self.folder.join("guid2lid")).expect("guid2lid");
        let hex = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16);
        text.lines()
            .filter_map(|line| {
                let mut words = line.split_whitespace();
                let guid = hex(words.next()?).ok()?;
                Some((guid, hex(words.next()?).ok()? as u16))
            })
            .collect()
    }

    /// Returns the output of a client of the fabric.
    pub(crate) fn ask(&self, tool: &str, arguments: &[&str]) -> String {
        let output = self
            .client(tool)
            .args(arguments)
            .output()
            .expect("the tool starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{tool} {arguments:?} ended with {}: {text}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        text
    }
}

fn n_sweeps(folder: &Path) -> usize {
    let log = fs::read_to_string(folder.join("osm.log")).unwrap_or_default();
    log.matches("SUBNET UP").count()
}

impl Drop for SimulatedFabric {
    fn drop(&mut self) {
        for child in self.opensm.iter_mut().chain([&mut self.ibsim]) {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Parses both tables of `smpquery vlarb` as (lane, weight), low and high; `None` if the port has
/// none.
pub(crate) fn read_vlarb(text: &str) -> Option<[Vec<(u8, u8)>; 2]> {
    let mut tables = [vec![], vec![]];
    let mut which = 0;
    let mut lanes = vec![];
    for line in text.lines() {
        if line.starts_with("# No VLArb") {
            return None;
        } else if line.starts_with("# High") {
            which = 1;
        } else if let Some(cells) = line.strip_prefix("VL    : |") {
            lanes = hex_cells(cells);
        } else if let Some(cells) = line.strip_prefix("WEIGHT: |") {
            tables[which].extend(lanes.iter().copied().zip(hex_cells(cells)));
        }
    }
    Some(tables)
}

fn hex_cells(cells: &str) -> Vec<u8> {
    let cells = cells
        .split('|')
        .map(str::trim)
        .filter(|cell| !cell.is_empty());
    cells
        .map(|cell| u8::from_str_radix(&cell[2..], 16).expect("a hexadecimal cell"))
        .collect()
}

/// Parses the rows of `smpquery sl2vl`, by input.
pub(crate) fn read_sl2vl(text: &str) -> BTreeMap<u8, [u8; 16]> {
    let rows = text
        .lines()
        .filter_map(|line| line.strip_prefix("ports: in"));
    rows.map(|row| {
        let (ports, cells) = row.split_once(": |").expect("cells");
        let (input, _) = ports.split_once(',').expect("two ports");
        let cells: Vec<u8> = cells
            .split('|')
            .filter_map(|cell| cell.trim().parse().ok())
            .collect();
        (
            input.trim().parse().expect("an input"),
            cells.try_into().expect("16 cells"),
        )
    })
    .collect()
}

/// Returns a field of `smpquery portinfo`.
pub(crate) fn field<'a>(text: &'a str, name: &str) -> &'a str {
    let found = text
        .lines()
        .find_map(|line| line.strip_prefix(&format!("{name}:")));
    found.expect("the field").trim_start_matches('.')
}

/// Parses the number of lanes of `VL0-7`.
pub(crate) fn lanes(field: &str) -> u8 {
    match field {
        "VL0" => 1,
        "VL0-1" => 2,
        "VL0-3" => 4,
        "VL0-7" => 8,
        "VL0-14" => 15,
        other => panic!("{other} is not a range of lanes"),
    }
}
