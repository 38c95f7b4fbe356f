//! The base of inputs: all shipped experiments, and small files of every other format.

use std::path::Path;

/// Returns every experiment of the repository and every template.
pub(crate) fn experiments() -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = vec![];
    for folder in ["templates", "../../experiments"] {
        collect(&crates.join(folder), &mut texts);
    }
    assert!(texts.len() > 30, "the experiments are where they were");
    texts
}

fn collect(folder: &Path, texts: &mut Vec<String>) {
    let entries = std::fs::read_dir(folder).expect("a folder of the repository");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("readable").path())
        .collect();
    // The order of folder entries depends on the file system.
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, texts);
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            texts.push(std::fs::read_to_string(path).expect("readable"));
        }
    }
}

/// A list that an experiment names: the experiment, the name of its list, and lists.
pub(crate) struct Lists {
    pub(crate) experiment: &'static str,
    pub(crate) name: &'static str,
    pub(crate) texts: &'static [&'static str],
    pub(crate) words: &'static [&'static str],
}

pub(crate) const GRAPHS: Lists = Lists {
    experiment: "netloom = 1\n[topology]\nkind = \"graph\"\nfile = \"fabric.txt\"\n[[traffic]]\n\
        load = 0.4\n\
        message = \"256 B\"\n[measure]\nlength = \"2 us\"\n",
    name: "fabric.txt",
    texts: &[
        "class long\nswitch left ports 8\nlink left:6 right:0 class long\nlink left right\n\
         nic a left:0\nnic b right\n",
        "# a triangle\nlink a b\nlink b c\nlink c a\nnic 1 a\nnic 2 b\nnic 3 c\nnic 4 c\n",
        "nic x s\nnic y s\n",
    ],
    words: &[
        "nic z left",
        "switch left ports 65536",
        "switch q ports 0",
        "link left:0 left:1",
        "link left left",
        "nic a left:99999999999",
        "class host",
        "class long",
        "link a:1 b:1 class x",
        "nic",
        "link a",
        "switch a ports -1",
        "nic a:b c",
        "# \u{1b}[31m",
        "switch left ports 65535",
    ],
};

pub(crate) const FLOWS: Lists = Lists {
    experiment: "netloom = 1\n[topology]\nkind = \"single-switch\"\nports = 4\n[[traffic]]\n\
        flows = \"flows.csv\"\n\
        [measure]\nlength = \"2 us\"\n",
    name: "flows.csv",
    texts: &[
        "time,source,destination,bytes\n0 ns,0,1,64\n10 ns,1,2,4096\n1 us,3,0,100\n",
        "time,source,destination,bytes,sl\n0 ns,0,1,64 B,0\n10 ns,1,2,1 KiB,3\n",
    ],
    words: &[
        "0 ns,0,0,64",
        "99999999999 s,0,1,64",
        "0 ns,0,9,64",
        "-1 ns,0,1,64",
        "0 ns,0,1,0",
        "0 ns,0,1,5 GiB",
        "0 ns,0,1,64,99",
        "\"0 ns\",\"0\",\"1\",\"64\"",
        "\"",
        ",,,",
        "0 ns,4294967296,1,64",
        "0 fs,0,1,1",
        "time,source,destination,bytes",
        "0.0000000000001 ns,0,1,64",
        "18446744073709551615 ns,0,1,64",
    ],
};

pub(crate) const SIZES: Lists = Lists {
    experiment: "netloom = 1\n[topology]\nkind = \"single-switch\"\nports = 4\n[[traffic]]\n\
        load = 0.3\n\
        size = { kind = \"cdf\", file = \"sizes.csv\", scale = 3 }\n[measure]\nlength = \"2 us\"\n",
    name: "sizes.csv",
    texts: &[
        "bytes,probability\n2,0.0756\n64,0.5\n4096,1\n",
        "bytes,probability\n100,1\n",
        "bytes,probability\n1,0\n2,0.5\n3,0.5\n1000000,1.0\n",
    ],
    words: &[
        "4294967295,1",
        "0,0.5",
        "64,nan",
        "64,-1",
        "64,2",
        "64 KiB,0.9",
        "1e9,1",
        "5,1e-300",
        "bytes,probability",
        "64,0.99999999999999999",
        "1431655765,1",
        "1,inf",
    ],
};

pub(crate) const CONNECTIONS: Lists = Lists {
    experiment: "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 2\nlevels = 2\n\
        [connections]\n\
        list = \"connections.csv\"\nrefused = \"skip\"\n[measure]\nlength = \"2 us\"\n",
    name: "connections.csv",
    texts: &[
        "source,destination,bandwidth,sl\n0,1,64 Mbps,\n1,2,1 Gbps,3\n2,3,512 kbps,0\n",
        "source,destination,bandwidth\nn0,n3,20 Gbps\nn1,n3,1 Gbps\n",
    ],
    words: &[
        "0,0,1 Gbps,",
        "0,1,0 bps,",
        "0,1,1 bps,",
        "0,1,100 Tbps,",
        "0,9,1 Gbps,",
        "0,1,1 Gbps,9",
        "x,y,z,",
        "\"",
        "0,1,64 Mbps,0\n0,1,64 Mbps,0\n0,1,64 Mbps,0",
        "source,destination,bandwidth,deadline\n0,1,1 Gbps,1 us",
        "0,1,18446744073709551615 bps,",
    ],
};

/// Small experiments whose folders of results are damaged: one of a single run, one of a study.
pub(crate) const SINGLE: &str = "netloom = 1\nname = \"single\"\n[topology]\nkind = \"fat-tree\"\n\
    arity = 2\nlevels = 2\n\
    [[traffic]]\nname = \"bulk\"\nload = 0.4\nmessage = \"256 B\"\n[[traffic]]\n\
    name = \"control\"\nload = 0.1\nsl = 1\n\
    message = \"64 B\"\n[measure]\nlength = \"20 us\"\nrepeat = 2\nepochs = 20\nwaits = true\n";
pub(crate) const STUDY: &str = "netloom = 1\nname = \"study\"\n[topology]\n\
    kind = \"single-switch\"\nports = 3\n\
    [[traffic]]\nname = \"bulk\"\nload = 0.4\nmessage = \"256 B\"\n[measure]\nlength = \"10 us\"\n\
    repeat = 2\nepochs = 10\n\
    [study.axes]\n\"traffic.load\" = [0.2, 0.6]\n\"qos.arbiter.kind\" = \
    [\"round-robin\", \"oldest-first\"]\n";
