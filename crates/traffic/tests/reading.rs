//! Typical `[[traffic]]` tables, and the messages about wrong ones.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use netloom_catalog::{Disk, Document, Files, Notes, Section, ValueShape};
use netloom_packet::{Cursor, Segmentation, Source};
use netloom_traffic::{Class, Setting, TrafficKinds, Workload};
use netloom_units::{Bytes, NicId, Sl, Time};

/// Reads all traffic tables of a text; the messages are in order of place.
fn read(text: &str) -> (Vec<Class>, Vec<String>) {
    let mut notes = Notes::new();
    let document = Document::parse("x.toml", text, &mut notes);
    let Some(ValueShape::List(tables)) = document.root.get("traffic").map(|v| &v.shape) else {
        panic!("no traffic: {notes:?}");
    };
    let mut classes = vec![];
    for table in tables {
        let mut section = Section::open(table, &mut notes).expect("a table");
        classes.extend(
            Class::read(&mut section, &TrafficKinds::default())
                .into_iter()
                .flatten(),
        );
        section.finish();
    }
    (classes, texts(notes))
}

fn texts(notes: Notes) -> Vec<String> {
    let say = |note: netloom_catalog::Note| match note.help {
        Some(help) => format!("{} {} ({help})", note.code, note.message),
        None => format!("{} {}", note.code, note.message),
    };
    notes.sorted().into_iter().map(say).collect()
}

static FILES: LazyLock<Arc<dyn Files>> =
    LazyLock::new(|| Disk::folder(env!("CARGO_TARGET_TMPDIR")));

/// A fabric without an MTU, in which a nanosecond is a cycle.
fn setting(n_nics: u32) -> Setting<'static> {
    Setting {
        segmentation: Segmentation {
            flit: Bytes(64),
            mtu: None,
            header: Bytes(0),
        }
        .into(),
        n_nics,
        groups: &netloom_traffic::NO_GROUPS,
        seed: 1,
        class: 0,
        cycles: &|time: Time| time.as_nanos() as u64,
        files: &**FILES,
    }
}

fn build(class: &Class, n_nics: u32) -> Result<Box<dyn Source>, Vec<String>> {
    let mut notes = Notes::new();
    let source = class.build(&setting(n_nics), &mut notes);
    source.ok_or_else(|| texts(notes))
}

#[test]
fn a_permutation_has_1_to_255_connections() {
    let texts_of = |connections: u32| {
        let pattern = format!("{{ kind = \"permutation\", connections = {connections} }}");
        let rest = "message = \"64 B\"\nload = 0.1\narrival = \"constant\"";
        read(&format!("[[traffic]]\npattern = {pattern}\n{rest}\n")).1
    };
    assert_eq!(texts_of(1), [""; 0]);
    assert_eq!(texts_of(255), [""; 0]);
    assert_eq!(texts_of(0), ["E0603 expected 1 to 255, found 0"]);
    assert_eq!(texts_of(256), ["E0603 expected 1 to 255, found 256"]);
}

#[test]
fn the_seven_classes_of_000() {
    let (classes, texts) = read(
        r#"
        [[traffic]]
        name = "NC"
        arrival = "poisson"
        message = "192 B"
        load = 0.01
        [[traffic]]
        name = "VO"
        sl = 1
        pattern = "permutation"
        arrival = "constant"
        message = "128 B"
        load = 0.016
        [[traffic]]
        name = "VI"
        sl = 2
        pattern = "permutation"
        arrival = "constant"
        message = "2 KiB"
        load = 0.23
        [[traffic]]
        name = "CL"
        sl = 3
        pattern = "permutation"
        arrival = "constant"
        message = "2 KiB"
        load = 0.28
        [[traffic]]
        name = "best-effort"
        sl = [4, 5, 6]
        arrival = { kind = "bursts", messages = 4 }
        message = "1 KiB"
        load = 0.4575
        "#,
    );
    assert_eq!(texts, [""; 0]);
    let found: Vec<_> = classes
        .iter()
        .map(|class| (class.name.as_str(), class.sl.0, class.load().unwrap()))
        .collect();
    assert_eq!(
        found,
        [
            ("NC", 0, 0.01),
            ("VO", 1, 0.016),
            ("VI", 2, 0.23),
            ("CL", 3, 0.28),
            ("best-effort-sl4", 4, 0.1525),
            ("best-effort-sl5", 5, 0.1525),
            ("best-effort-sl6", 6, 0.1525),
        ]
    );
    assert_eq!(classes[4].largest_message(&setting(64)), Some(1024));
    for class in &classes {
        assert!(build(class, 64).is_ok());
    }
}

#[test]
fn the_hot_spot_of_001() {
    // 64 of 256 NICs send to NIC 123 from 250 to 300 us; one flit is 64 ns there.
    let (classes, texts) = read(
        r#"
        [[traffic]]
        load = 1.0
        message = "64 B"
        arrival = { kind = "bernoulli", slot = "message" }
        pattern = { kind = "hot-spot", destination = 123, sources = 0.25, from = "250 us", until = "300 us" }
        "#,
    );
    assert_eq!(texts, [""; 0]);
    assert_eq!((classes[0].name.as_str(), classes[0].sl), ("sl0", Sl(0)));
    let source = build(&classes[0], 256).unwrap_or_else(|texts| panic!("{texts:?}"));
    for nic in [3, 122, 255] {
        let mut cursor = Cursor::default();
        let messages: Vec<_> =
            std::iter::from_fn(|| source.next(NicId(nic), &mut cursor)).collect();
        assert_eq!(messages.len(), 50_000);
        assert!(messages.iter().all(|m| m.destination == NicId(123)));
        assert_eq!(
            (messages[0].cycle, messages[49_999].cycle),
            (250_000, 299_999)
        );
    }
    let mut cursor = Cursor::default();
    assert_eq!(source.next(NicId(0), &mut cursor).unwrap().cycle, 0);
}

#[test]
fn the_hot_spot_of_001_as_two_classes() {
    // The hot sources by their numbers, the others uniform, so results distinguish them.
    let (classes, texts) = read(
        r#"
        [[traffic]]
        name = "hot"
        load = 1.0
        message = "64 B"
        arrival = { kind = "bernoulli", slot = "message" }
        sources = "3 mod 4, not 123, 122"
        pattern = { kind = "hot-spot", destination = 123, sources = "all" }
        from = "250 us"
        until = "300 us"
        [[traffic]]
        name = "others"
        load = 1.0
        message = "64 B"
        arrival = { kind = "bernoulli", slot = "message" }
        sources = "all, not 3 mod 4, 123, not 122"
        "#,
    );
    assert_eq!(texts, [""; 0]);
    let built: Vec<_> = classes
        .iter()
        .map(|class| build(class, 256).unwrap_or_else(|texts| panic!("{texts:?}")))
        .collect();
    let first = |class: usize, nic: u32| built[class].next(NicId(nic), &mut Cursor::default());
    for nic in 0..256 {
        let is_hot = (nic % 4 == 3 && nic != 123) || nic == 122;
        assert_eq!(first(0, nic).is_some(), is_hot, "nic {nic}");
        assert_eq!(first(1, nic).is_some(), !is_hot, "nic {nic}");
    }
    let mut cursor = Cursor::default();
    let messages: Vec<_> = std::iter::from_fn(|| built[0].next(NicId(3), &mut cursor)).collect();
    assert_eq!(messages.len(), 50_000);
    assert!(messages.iter().all(|m| m.destination == NicId(123)));
    let ends = (messages[0].cycle, messages[49_999].cycle);
    assert_eq!(ends, (250_000, 299_999));
}

#[test]
fn the_applications_of_003() {
    // S003-4: search RPCs, a burst every millisecond, and a uniform background.
    let (classes, texts) = read(
        r#"
        [[traffic]]
        name = "search"
        load = 0.6
        arrival = "poisson"
        message = { kind = "cdf", builtin = "search-rpc", scale = 8 }
        until = "4 ms"
        [[traffic]]
        name = "burst"
        sl = 1
        arrival = { kind = "periodic", period = "1 ms", messages = 32, per = "class" }
        message = "32 KiB"
        sources = "1 mod 2"
        pattern = { kind = "hot-spot", destination = 0, sources = "all" }
        [[traffic]]
        name = "background"
        sl = 2
        load = 0.2
        arrival = "constant"
        message = "9216 B"
        "#,
    );
    assert_eq!(texts, [""; 0]);
    let burst = build(&classes[1], 64).unwrap_or_else(|texts| panic!("{texts:?}"));
    let mut cursor = Cursor::default();
    let mut next = |nic| burst.next(NicId(nic), &mut cursor);
    assert_eq!(next(0), None);
    let cycles = [(); 3].map(|()| next(63).expect("a burst").cycle);
    assert_eq!(cycles, [0, 1_000_000, 2_000_000]);
    // Each of the 32 sources sends one message of 512 flits in a million cycles.
    let mut notes = Notes::new();
    let settled = classes[1]
        .settle(&setting(64), &mut notes)
        .expect("no file");
    assert_eq!(settled.load(), Some(512e-6));
    // Constant gaps, and a destination of its own for every message.
    let background = build(&classes[2], 64).unwrap_or_else(|texts| panic!("{texts:?}"));
    let mut cursor = Cursor::default();
    let messages: Vec<_> = (0..1000)
        .map(|_| background.next(NicId(5), &mut cursor).expect("a message"))
        .collect();
    assert!(messages.windows(2).all(|m| m[1].cycle - m[0].cycle == 720));
    let mut to: Vec<u32> = messages.iter().map(|m| m.destination.0).collect();
    to.sort_unstable();
    to.dedup();
    assert_eq!(to.len(), 63);
}

#[test]
fn a_period_and_a_load_exclude_each_other() {
    let (_, texts) = read(
        r#"
        [[traffic]]
        load = 0.5
        arrival = { kind = "periodic", period = "1 ms" }
        [[traffic]]
        arrival = { kind = "periodic", period = "0 ns", messages = 0 }
        [[traffic]]
        message = "64 B"
        [[traffic]]
        sl = [1, 2]
        arrival = { kind = "periodic", period = "1 ms" }
        "#,
    );
    assert_eq!(
        texts,
        [
            "E0604 `load` cannot be used with an arrival process that has a period (remove `load`; \
             it follows from the period and the messages)",
            "E0603 the period is zero (use a time like period = \"1 ms\")",
            "E0603 a burst needs at least one message (use at least messages = 1)",
            "E0105 `load` is missing (add load = … (number))",
            "E0604 several service levels share a load, but an arrival process with a period has \
             none (use one service level, or a class for each)",
        ]
    );
}

#[test]
fn sizes_come_from_a_file() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(
        folder.join("sizes.csv"),
        "bytes,probability\n64,0.5\n64,1\n",
    )
    .unwrap();
    std::fs::write(
        folder.join("half.csv"),
        "bytes,probability\n64,0.5\n128,x\n",
    )
    .unwrap();
    let (classes, texts) = read(
        r#"
        [[traffic]]
        load = 0.5
        size = { kind = "cdf", file = "sizes.csv", scale = 3 }
        [[traffic]]
        load = 0.5
        size = { kind = "cdf", file = "half.csv" }
        [[traffic]]
        load = 0.5
        size = { kind = "cdf", file = "search-rcp" }
        "#,
    );
    assert_eq!(texts, [""; 0]);
    let source = build(&classes[0], 4).unwrap_or_else(|texts| panic!("{texts:?}"));
    let message = source.next(NicId(0), &mut Cursor::default()).unwrap();
    assert_eq!(message.bytes, 192);
    let mistakes = |class: usize| build(&classes[class], 4).err().expect("a mistake");
    assert_eq!(
        mistakes(1),
        ["E0610 half.csv:3: `x` is not a probability; use a number from 0 to 1"]
    );
    assert!(mistakes(2)[0].ends_with("; use builtin = \"search-rpc\" for the built-in table"));
    let (_, texts) = read(
        "[[traffic]]\nload = 0.5\nsize = \"cdf\"\n[[traffic]]\nload = 0.5\n\
         message = { kind = \"cdf\", file \
         = \"a\", builtin = \"search-rpc\", scale = 0 }",
    );
    assert_eq!(
        texts,
        [
            "E0604 neither `file` nor `builtin` is set (use one of file = \"sizes.csv\" and \
             builtin = \"search-rpc\")",
            "E0604 `file` and `builtin` are both set (use one of file = \"sizes.csv\" and builtin \
             = \"search-rpc\")",
            "E0603 a scale of 0 makes empty messages (use at least scale = 1)",
        ]
    );
}

#[test]
fn a_workload_replaces_the_law_and_keeps_its_window() {
    let (classes, texts) = read(
        r#"
        [[traffic]]
        workload = { kind = "san", length = "100 ms" }
        [[traffic]]
        workload = { kind = "san", length = "100 ms" }
        from = "1 ms"
        until = "3 ms"
        [[traffic]]
        workload = { kind = "san", disks = "60-70" }
        "#,
    );
    assert_eq!(texts, [""; 0]);
    let messages = |class: usize| {
        let source = build(&classes[class], 64).unwrap_or_else(|texts| panic!("{texts:?}"));
        let mut all = vec![];
        for nic in 0..64 {
            let mut cursor = Cursor::default();
            let own: Vec<_> = std::iter::from_fn(|| source.next(NicId(nic), &mut cursor)).collect();
            assert!(own.windows(2).all(|m| m[0].cycle <= m[1].cycle));
            all.extend(own.into_iter().map(|m| (nic, m)));
        }
        all
    };
    let whole = messages(0);
    let mut expected: Vec<_> = whole
        .into_iter()
        .filter(|(_, m)| m.cycle < 2_000_000)
        .collect();
    expected.iter_mut().for_each(|(_, m)| m.cycle += 1_000_000);
    assert!(expected.len() > 100);
    assert_eq!(messages(1), expected);
    assert_eq!(
        build(&classes[2], 64).err().unwrap(),
        ["E0611 `disks`: nic 70 does not exist: the fabric has NICs 0 to 63"]
    );
    let (_, texts) = read(
        "[[traffic]]\nworkload = \"san\"\nload = 0.5\nsl = [0, 1]\nsize = \"fixed\"\n[[traffic]]\n\
         sl = [0, \
         1]\nworkload = \"san\"",
    );
    assert_eq!(
        texts,
        [
            "E0604 `load` cannot be used with `workload`",
            "E0604 a workload cannot have several service levels (use one service level, or a \
             class for each)",
            "E0604 `size` cannot be used with `workload`",
            "E0604 a workload cannot have several service levels (use one service level, or a \
             class for each)",
        ]
    );
}

#[test]
fn all_mistakes_of_a_table_are_reported_at_once() {
    let (classes, texts) = read(
        r#"
        [[traffic]]
        sl = [0, 40]
        load = 1.5
        patern = "uniform"
        arrival = "poison"
        message = "0 B"
        sources = "all of them"
        "#,
    );
    assert!(classes.is_empty());
    assert_eq!(
        texts,
        [
            "E0603 40 is not a service level (service levels go from 0 to 31)",
            "E0603 load 1.5 is not a fraction of a link (use a number from 0 to 1)",
            "E0106 unknown key `patern` (did you mean `pattern`?)",
            "E0104 unknown arrival process \"poison\" (did you mean \"poisson\"?)",
            "E0603 a message cannot have 0 B (use at least 1 byte and less than 4 GiB)",
            "E0601 \"all of them\" is not a set of NICs (use \"all\", a range like \"0-63\", a \
             list like [3, 7, 11], the name of one of [groups], or terms like \"3 mod 4, not 123, \
             122\")",
        ]
    );
    let (_, texts) = read(
        "[[traffic]]\nload = 0.5\nfrom = \"2 us\"\nuntil = \"1 us\"\nmessage = \"64 B\"\n\
         size = { kind = \"fixed\", bytes = \"64 B\" }\n[[traffic]]\nload = 0.5",
    );
    assert_eq!(
        texts,
        [
            "E0603 `until` is not after `from`",
            "E0604 the class has both `message` and `size` (remove one of them; `message` is short \
             for a fixed size)",
        ]
    );
}

#[test]
fn what_does_not_fit_the_fabric_is_reported_when_building() {
    let problems = |table: &str, n_nics| {
        let (classes, texts) = read(&format!("[[traffic]]\nload = 0.5\n{table}"));
        assert_eq!(texts, [""; 0]);
        build(&classes[0], n_nics).err().expect("a mistake")
    };
    assert_eq!(
        problems(
            "message = \"1 GiB\"\nsources = \"0-63\"\ndestinations = [70]",
            64
        ),
        [
            "E0601 `destinations`: nic 70 does not exist: the fabric has NICs 0 to 63",
            "E0603 a packet cannot have 16777216 flits (use at most 65535 flits: set an MTU, \
             larger flits or smaller messages)",
        ]
        .map(str::to_owned)
        .into_iter()
        .rev()
        .collect::<Vec<_>>()
    );
    assert_eq!(
        problems(
            "message = \"64 B\"\npattern = \"tornado\"\ndestinations = [7]",
            64
        ),
        ["E0602 pattern \"tornado\" defines the destinations itself; remove `destinations`"]
    );
}

#[test]
fn a_list_of_messages_replaces_the_law() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(
        folder.join("flows.csv"),
        "time,source,destination,bytes,sl\n1 us,0,1,64,3\n",
    )
    .unwrap();
    std::fs::write(
        folder.join("wrong.csv"),
        "time,source,destination,bytes,sl\n1 us,0,9,64,3\n1 us,0,1,64,99\n",
    )
    .unwrap();
    let (classes, texts) = read(
        "[[traffic]]\nname = \"listed\"\nsl = 2\nflows = \"flows.csv\"\n[[traffic]]\n\
         flows = \"wrong.csv\"",
    );
    assert_eq!(texts, [""; 0]);
    assert!(
        matches!(&classes[0].workload, Workload::Listed(path) if path == Path::new("flows.csv"))
    );
    let source = build(&classes[0], 4).unwrap_or_else(|texts| panic!("{texts:?}"));
    let mut cursor = Cursor::default();
    let message = source.next(NicId(0), &mut cursor).unwrap();
    assert_eq!((message.cycle, message.sl), (1000, Some(3)));
    assert_eq!(source.next(NicId(0), &mut cursor), None);
    assert_eq!(
        build(&classes[1], 4).err().unwrap(),
        [
            "E0605 wrong.csv:2: destination 9 does not exist: the fabric has 4 NICs, counted from \
             0",
            "E0605 wrong.csv:3: `99` is not a service level; use 0 to 31",
        ]
    );
    let (_, texts) = read("[[traffic]]\nflows = \"flows.csv\"\nload = 0.5\npattern = \"uniform\"");
    assert_eq!(
        texts,
        [
            "E0604 `load` cannot be used with `flows`",
            "E0604 `pattern` cannot be used with `flows`",
        ]
    );
}

#[test]
fn every_key_is_described() {
    let params = Class::params();
    assert!(params.iter().all(|param| !param.about.is_empty()));
    let names: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "name",
            "sl",
            "management",
            "flows",
            "load",
            "message",
            "sources",
            "destinations",
            "from",
            "until",
            "pattern",
            "arrival",
            "size",
            "mapping",
            "compute",
            "compute-law",
            "workload"
        ]
    );
}
