//! Transfers of key-value caches, from the NICs that compute a prompt (prefill) to those that
//! generate its answer (decode).
//!
//! ```text
//!   prefill i   ── slices of all blocks ──►   decode i     block: tokens of a page in one layer
//!               ◄────── notification ──────                the next layer or transfer waits for it
//! ```
//!
//! Without `load` it is a program: transfers one after another, each as fast as the fabric allows.
//! With `load` it is an open loop next to other traffic: transfers begin at random times, whether
//! or not the fabric has delivered the ones before. The number of messages then depends on the
//! length of the run, so they are made one after another and not listed.

use netloom_catalog::{Described, Section, choice, params};
use netloom_packet::{Arrival, Cursor, Segmentation, Source, Volume};
use netloom_random::{Purpose, Stream, exponential};
use netloom_units::{Bytes, NicId, Time};

use super::collective::wrong;
use super::programs::{Builder, Rank};
use super::{Generated, Generator, MOST_MESSAGES};
use crate::composed::Silent;
use crate::{FRACTION_BITS, NicSet, Setting, Window};

choice! {
    /// The side that moves the data.
    pub enum TransferMode {
        /// The owner of the data writes them to the other side.
        Write = "write",
        /// The receiver reads them: a request for each slice, which the owner answers.
        Read = "read",
    }
}

params! {
    /// The i-th NIC of `from` sends the cache of a prompt to the i-th NIC of `to`. A cache is
    /// stored in blocks, each with the tokens of a page for one layer, and moves in slices. A last
    /// slice of at most a quarter of `slice` is joined with the one before.
    ///
    /// Several transfers of a program follow each other. An owner that writes waits for a
    /// notification of the receiver. A receiver that reads waits for its data. `compute` is the
    /// time of the owner before each further layer or transfer, or of a receiver that reads.
    ///
    /// With `load` transfers begin at exponential distances, write, and do not wait.
    #[derive(Clone, Debug)]
    pub struct KvTransfer {
        /// NICs that have the data.
        pub from: NicSet,
        /// NICs that get the data, as many as `from`. They may run another program too.
        pub to: NicSet,
        /// Tokens of a prompt.
        pub tokens: u32 = 4096,
        /// Bytes of a token in all layers together: 70272 for DeepSeek-V3, 327680 for Llama-3-70B.
        pub bytes_per_token: u32 = 70272,
        /// Layers: 61 for DeepSeek-V3, 80 for Llama-3-70B.
        pub layers: u32 = 61,
        /// Tokens of a page. The last page of a prompt is sent as a whole.
        pub page: u32 = 64,
        /// Size of a slice.
        pub slice: Bytes = Bytes(64 << 10),
        /// Side that moves the data.
        pub mode: TransferMode = TransferMode::Write,
        /// Whether layers are sent one after another, instead of all at once.
        pub by_layer: bool = false,
        /// Size of a notification, and of a request for a slice.
        pub control: Bytes = Bytes(64),
        /// Number of transfers of each pair. Default: 1, or without end if `load` is set.
        pub transfers: Option<u32> = None,
        /// Fraction of its link that each owner fills, in flits on the wire; 0 for no transfers.
        /// Default: a program.
        pub load: Option<f64> = None,
        /// With `load` and `by-layer`: time between two layers of a transfer.
        pub layer_time: Option<Time> = None,
    }
    check |it, section| {
        it.check(section);
    }
}

impl Described for KvTransfer {
    const NAME: &'static str = "kv-transfer";
    const SUMMARY: &'static str =
        "Transfers of key-value caches between NICs, in slices, as a program or at a load.";
    const PAPER: Option<&'static str> = Some(
        "Slices of Mooncake, github.com/kvcache-ai/Mooncake, \
         mooncake-transfer-engine/src/transport/rdma_transport, read in November 2026",
    );
    const EXAMPLE: &'static str =
        "from = \"0-7\"\nto = \"8-15\"\ntokens = 64\nbytes-per-token = 1024\nlayers = 4\npage = 16";
}

impl KvTransfer {
    /// Notes every invalid value.
    fn check(&self, section: &mut Section<'_>) {
        for (key, value) in [
            ("tokens", self.tokens),
            ("bytes-per-token", self.bytes_per_token),
            ("layers", self.layers),
            ("page", self.page),
            ("transfers", self.transfers.unwrap_or(1)),
        ] {
            if value == 0 {
                wrong(section, key, format!("`{key}` is 0"), "use 1 or more");
            }
        }
        for (key, bytes) in [("slice", self.slice), ("control", self.control)] {
            // A last slice may have a quarter more.
            if bytes.0 == 0 || bytes.0 > 1 << 31 {
                let message = format!("a message cannot have {bytes}");
                wrong(
                    section,
                    key,
                    message,
                    "use at least 1 byte and at most 2 GiB",
                );
            }
        }
        let (bytes, layers) = (self.bytes_per_token, self.layers);
        if layers > 0 && bytes % layers != 0 {
            let message = format!("{bytes} bytes cannot be divided evenly over {layers} layers");
            wrong(
                section,
                "bytes-per-token",
                message,
                "use a multiple of `layers`",
            );
        }
        let Some(load) = self.load else {
            if self.layer_time.is_some() {
                let message = "`layer-time` needs `load`".to_owned();
                wrong(
                    section,
                    "layer-time",
                    message,
                    "use `compute` for a program",
                );
            }
            return;
        };
        if !(0.0..=1.0).contains(&load) {
            let message = format!("load {load} is out of range");
            wrong(section, "load", message, "use a number from 0 to 1");
        }
        if self.mode == TransferMode::Read {
            let message = "requests cannot be answered at a load".to_owned();
            wrong(section, "mode", message, "use \"write\", or remove `load`");
        }
        if self.transfers.is_some() {
            let message = "`transfers` cannot be used with `load`".to_owned();
            wrong(
                section,
                "transfers",
                message,
                "remove it, and use `until` of the class",
            );
        }
        if self.by_layer != self.layer_time.is_some() {
            let (key, message) = match self.by_layer {
                true => ("by-layer", "`by-layer` with `load` needs `layer-time`"),
                false => ("layer-time", "`layer-time` needs `by-layer`"),
            };
            let help = "set both, or neither";
            wrong(section, key, message.to_owned(), help);
        }
    }

    /// Returns the slices of a block.
    fn slices(&self) -> Vec<u32> {
        let block = u64::from(self.page) * u64::from(self.bytes_per_token / self.layers);
        let (n_full, rest) = (block / self.slice.0, block % self.slice.0);
        let mut slices = vec![self.slice.0; n_full as usize];
        match slices.last_mut() {
            Some(last) if rest * 4 <= self.slice.0 => *last += rest,
            _ => slices.push(rest),
        }
        slices.into_iter().map(|bytes| bytes as u32).collect()
    }

    /// Returns the slices of each layer of a transfer, or why there are too many.
    fn layer(&self, n_pairs: u64) -> Result<Vec<u32>, String> {
        let block = u64::from(self.page) * u64::from(self.bytes_per_token / self.layers);
        let n_pages = u64::from(self.tokens.div_ceil(self.page));
        let of_block = block / self.slice.0 + 1;
        let of_layer = of_block.saturating_mul(n_pages);
        let requests = match self.mode {
            TransferMode::Write => 1,
            TransferMode::Read => 2,
        };
        // At a load one transfer is kept for all pairs.
        let n_messages = match self.load {
            Some(_) => of_layer,
            None => of_layer
                .saturating_mul(u64::from(self.layers))
                .saturating_mul(n_pairs * requests),
        };
        if n_messages > MOST_MESSAGES as u64 {
            return Err(format!(
                "a transfer has about {n_messages} messages, more than {MOST_MESSAGES}; use larger \
                 `slice` and `page`, or fewer `tokens`"
            ));
        }
        let slices = self.slices();
        Ok((0..n_pages).flat_map(|_| slices.iter().copied()).collect())
    }

    /// Returns the pairs of NICs.
    fn pairs(&self, setting: &Setting<'_>) -> Result<Vec<(NicId, NicId)>, String> {
        let members = |set: &NicSet, key: &str| {
            let members = set.members(setting.n_nics, setting.groups);
            members.map_err(|problem| format!("`{key}`: {problem}"))
        };
        let (from, to) = (members(&self.from, "from")?, members(&self.to, "to")?);
        if from.len() != to.len() {
            return Err(format!(
                "{} NICs cannot send to {} NICs in pairs; use sets of equal size",
                from.len(),
                to.len()
            ));
        }
        if let Some(nic) = from.iter().find(|nic| to.contains(nic)) {
            return Err(format!(
                "{nic} is in `from` and in `to`; use sets without common NICs"
            ));
        }
        Ok(from.into_iter().zip(to).collect())
    }

    /// Adds the steps of the transfer of one pair.
    fn transfer(&self, builder: &mut Builder, owner: Rank, receiver: Rank, layer: &[u32]) {
        let control = self.control.0 as u32;
        let all_layers = || (0..self.layers).flat_map(|_| layer.iter().copied());
        let mut part = |slices: &mut dyn Iterator<Item = u32>| {
            let mut n = 0;
            for bytes in slices {
                n += 1;
                if self.mode == TransferMode::Read {
                    builder.send(receiver, owner, control);
                    builder.receive(owner, receiver);
                }
                builder.send(owner, receiver, bytes);
            }
            (0..n).for_each(|_| builder.receive(receiver, owner));
            if self.mode == TransferMode::Write {
                builder.send(receiver, owner, control);
                builder.receive(owner, receiver);
            }
        };
        match self.by_layer {
            true => (0..self.layers).for_each(|_| part(&mut layer.iter().copied())),
            false => part(&mut all_layers()),
        }
    }
}

impl Generator for KvTransfer {
    fn largest(&self, _setting: &Setting<'_>) -> u32 {
        let block = u64::from(self.page) * u64::from(self.bytes_per_token / self.layers);
        let slice = self.slice.0 + self.slice.0 / 4;
        block.min(slice).max(self.control.0) as u32
    }

    fn generate(&self, setting: &Setting<'_>) -> Result<Generated, String> {
        let pairs = self.pairs(setting)?;
        let layer = self.layer(pairs.len() as u64)?;
        if let Some(load) = self.load {
            return Ok(Generated::Transfers(Transfers {
                pairs,
                layer,
                n_layers: self.layers,
                layer_cycles: self.layer_time.map_or(0, setting.cycles),
                load,
            }));
        }
        let n = pairs.len() as u32;
        let mut builder = Builder::new(2 * n);
        for pair in 0..n {
            self.transfer(&mut builder, Rank(pair), Rank(n + pair), &layer);
        }
        let n_transfers = self.transfers.unwrap_or(1);
        let programs = builder
            .repeat(n_transfers)
            .map_err(|misfit| misfit.to_string())?;
        let bytes = layer.iter().map(|&bytes| u64::from(bytes)).sum::<u64>();
        let volume = Volume {
            bytes: bytes * u64::from(self.layers),
            operations: n_transfers,
            bus_factor: [1, 1],
        };
        let computing = match self.mode {
            TransferMode::Write => 0..n,
            TransferMode::Read => n..2 * n,
        };
        let (from, to): (Vec<NicId>, Vec<NicId>) = pairs.into_iter().unzip();
        let nics = [from, to].concat();
        let placed = programs.place(&nics, setting.n_nics);
        let placed = placed.counted(volume).only_computing(computing).sharing();
        Ok(Generated::Programs(placed))
    }

    fn sets(&self) -> Vec<NicSet> {
        vec![self.from.clone(), self.to.clone()]
    }

    fn is_program(&self) -> bool {
        self.load.is_none()
    }
}

/// Transfers that begin at exponential distances, without end.
#[derive(Clone, Debug)]
pub struct Transfers {
    /// Owner and receiver of each pair.
    pairs: Vec<(NicId, NicId)>,
    /// The slices of a layer.
    layer: Vec<u32>,
    n_layers: u32,
    /// Cycles of a NIC between two layers.
    layer_cycles: u64,
    /// Fraction of its link that each owner fills.
    load: f64,
}

impl Transfers {
    /// Returns the messages in a window, or why there are none.
    pub(crate) fn source(
        self,
        window: Window,
        segmentation: &Segmentation,
        setting: &Setting<'_>,
    ) -> Result<Box<dyn Source>, String> {
        if self.load == 0.0 {
            return Ok(Box::new(Silent));
        }
        let of_layer: u64 = self
            .layer
            .iter()
            .map(|&bytes| segmentation.flits_of(bytes))
            .sum();
        let interval = of_layer as f64 * f64::from(self.n_layers) / self.load;
        let length = self.layer_cycles * u64::from(self.n_layers);
        if interval < length as f64 {
            let most = self.load * interval / length as f64;
            return Err(format!(
                "at load {} a transfer begins before all layers of the one before are computed; \
                 use a load of at most {most:.3}, or a shorter `layer-time`",
                self.load
            ));
        }
        let mut receivers = vec![None; setting.n_nics as usize];
        for &(from, to) in &self.pairs {
            receivers[from.index()] = Some(to);
        }
        let fraction = (1u64 << FRACTION_BITS) as f64;
        Ok(Box::new(Running {
            stream: Stream::new(setting.seed, Purpose::Arrival),
            class: setting.class,
            window,
            receivers,
            mean_pause: (interval - length as f64) * fraction,
            length: length << FRACTION_BITS,
            transfers: self,
        }))
    }
}

/// Transfers, ready for the run.
struct Running {
    stream: Stream,
    class: u8,
    window: Window,
    /// By NIC.
    receivers: Vec<Option<NicId>>,
    /// From the last layer of a transfer to the next transfer, in fractions of a cycle.
    mean_pause: f64,
    /// From the first layer of a transfer to the end of the last, in fractions of a cycle.
    length: u64,
    transfers: Transfers,
}

impl Source for Running {
    /// Returns the next slice. [`Cursor::time`] is the beginning of the transfer.
    fn next(&self, nic: NicId, cursor: &mut Cursor) -> Option<Arrival> {
        let destination = self.receivers[nic.index()]?;
        let transfers = &self.transfers;
        let of_layer = transfers.layer.len() as u64;
        let number = u64::from(cursor.number);
        let at = number % (of_layer * u64::from(transfers.n_layers));
        if at == 0 {
            let draw = self
                .stream
                .draw([nic.0, u32::from(self.class), cursor.number, 0]);
            let pause = (exponential(draw.unit(0)) * self.mean_pause + 0.5) as u64;
            let before = if number == 0 { 0 } else { self.length };
            cursor.time = cursor.time.saturating_add(before).saturating_add(pause);
        }
        let layer = at / of_layer;
        let cycle = (cursor.time >> FRACTION_BITS)
            .saturating_add(layer * transfers.layer_cycles)
            .saturating_add(self.window.from);
        if cycle >= self.window.until {
            return None;
        }
        cursor.number = cursor.number.checked_add(1)?;
        Some(Arrival {
            cycle,
            destination,
            bytes: transfers.layer[(at % of_layer) as usize],
            sl: None,
            flow: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use netloom_catalog::Disk;
    use netloom_packet::Program;

    use super::super::programs::{Placed, Programs, Step, play};
    use super::*;
    use crate::NO_GROUPS;

    const CUTTING: Segmentation = Segmentation {
        flit: Bytes(64),
        mtu: Some(Bytes(4096)),
        header: Bytes(64),
    };

    fn setting(seed: u64) -> Setting<'static> {
        Setting {
            segmentation: CUTTING.into(),
            n_nics: 8,
            groups: &NO_GROUPS,
            seed,
            class: 1,
            cycles: &|time| time.as_nanos() as u64,
            files: Disk::HERE,
        }
    }

    /// The cache of DeepSeek-V3.
    fn transfer() -> KvTransfer {
        KvTransfer {
            from: NicSet::Range(NicId(4), NicId(7)),
            to: NicSet::Range(NicId(0), NicId(3)),
            tokens: 4096,
            bytes_per_token: 70_272,
            layers: 61,
            page: 64,
            slice: Bytes(64 << 10),
            mode: TransferMode::Write,
            by_layer: false,
            control: Bytes(64),
            transfers: None,
            load: None,
            layer_time: None,
        }
    }

    fn placed(transfer: &KvTransfer) -> Placed {
        match transfer.generate(&setting(1)).unwrap() {
            Generated::Programs(placed) => placed,
            _ => panic!("a program"),
        }
    }

    fn words(programs: &Programs, rank: u32) -> String {
        let word = |step| match step {
            Step::Send { to, bytes } => format!("{bytes}>{}", to.0),
            Step::Receive { from, .. } => format!("<{}", from.0),
        };
        let words: Vec<String> = programs.steps(Rank(rank)).map(word).collect();
        words.join(" ")
    }

    #[test]
    fn blocks_are_cut_like_those_of_mooncake() {
        let slices = |page, bytes_per_token, layers| {
            let transfer = KvTransfer {
                page,
                bytes_per_token,
                layers,
                ..transfer()
            };
            assert!(
                transfer
                    .slices()
                    .iter()
                    .all(|&s| s <= transfer.largest(&setting(1)))
            );
            transfer.slices()
        };
        // 1,152 bytes of a token in each layer.
        assert_eq!(slices(16, 70_272, 61), [18_432]);
        // The last 8 KiB are joined with the 64 KiB before.
        assert_eq!(slices(64, 70_272, 61), [73_728]);
        assert_eq!(slices(128, 70_272, 61), [65_536, 81_920]);
        // 17,408 bytes are more than a quarter.
        assert_eq!(slices(72, 70_272, 61), [65_536, 17_408]);
        assert_eq!(slices(16, 327_680, 80), [65_536]);
    }

    #[test]
    fn a_transfer_has_the_bytes_of_its_tokens() {
        let whole = placed(&transfer());
        // 64 pages of 61 layers, and a notification.
        assert_eq!(whole.programs().n_messages(), 4 * (64 * 61 + 1));
        let bytes = whole.programs().sum(u64::from);
        assert_eq!(bytes, 4 * (70_272 * 4096 + 64));
        assert_eq!(whole.volume().unwrap().bytes, 70_272 * 4096);
        assert!(play(whole.programs(), |_| 1).is_ok());
        assert_eq!(whole.nics()[..5].last(), Some(&NicId(0)));
        // An incomplete page is sent as a whole.
        let more = KvTransfer {
            tokens: 4097,
            ..transfer()
        };
        assert_eq!(placed(&more).programs().n_messages(), 4 * (65 * 61 + 1));
    }

    fn small() -> KvTransfer {
        KvTransfer {
            tokens: 32,
            bytes_per_token: 200,
            layers: 2,
            page: 16,
            ..transfer()
        }
    }

    #[test]
    fn layers_and_reads_wait_for_each_other() {
        let ranks = |transfer: &KvTransfer| {
            let placed = placed(transfer);
            [0, 4].map(|rank| words(placed.programs(), rank))
        };
        let whole = ["1600>4 1600>4 1600>4 1600>4 <4", "<0 <0 <0 <0 64>0"];
        assert_eq!(ranks(&small()), whole);
        let by_layer = KvTransfer {
            by_layer: true,
            ..small()
        };
        let two = ["1600>4 1600>4 <4 1600>4 1600>4 <4", "<0 <0 64>0 <0 <0 64>0"];
        assert_eq!(ranks(&by_layer), two);
        let read = KvTransfer {
            mode: TransferMode::Read,
            layers: 1,
            ..small()
        };
        let read = ranks(&read);
        assert_eq!(read, ["<4 3200>4 <4 3200>4", "64>0 64>0 <0 <0"]);
    }

    #[test]
    fn an_open_loop_keeps_its_load() {
        let at_load = |load, layer_time, seed| {
            let transfer = KvTransfer {
                load: Some(load),
                layer_time,
                by_layer: layer_time.is_some(),
                ..small()
            };
            assert!(!transfer.is_program());
            let Generated::Transfers(transfers) = transfer.generate(&setting(seed)).unwrap() else {
                panic!("transfers");
            };
            let window = Window {
                from: 1000,
                until: 20_000_000,
            };
            transfers.source(window, &CUTTING, &setting(seed))
        };
        for layer_time in [None, Some(Time::from_nanos(50))] {
            let source = at_load(0.3, layer_time, 1).unwrap();
            let mut cursor = Cursor::default();
            let (mut flits, mut last) = (0, 1000);
            while let Some(message) = source.next(NicId(5), &mut cursor) {
                assert!(message.cycle >= last);
                last = message.cycle;
                assert_eq!((message.destination, message.bytes), (NicId(1), 1600));
                flits += CUTTING.flits_of(message.bytes);
            }
            let load = flits as f64 / 19_999_000.0;
            assert!((load - 0.3).abs() < 0.01, "{load}");
            assert_eq!(source.next(NicId(1), &mut Cursor::default()), None);
        }
        let first = |seed| {
            at_load(0.3, None, seed)
                .unwrap()
                .next(NicId(5), &mut Cursor::default())
        };
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
        // 104 flits of a transfer take 104 cycles at full load, and two layers 200.
        let problem = at_load(1.0, Some(Time::from_nanos(100)), 1).err().unwrap();
        assert!(problem.contains("a load of at most 0.520"), "{problem}");
    }

    #[test]
    fn impossible_transfers_are_refused() {
        let problem = |transfer: KvTransfer| transfer.generate(&setting(1)).err().unwrap();
        let unequal = KvTransfer {
            to: NicSet::Range(NicId(0), NicId(2)),
            ..transfer()
        };
        assert!(problem(unequal).starts_with("4 NICs cannot send to 3 NICs in pairs"));
        let common = KvTransfer {
            to: NicSet::Range(NicId(1), NicId(4)),
            ..transfer()
        };
        assert!(problem(common).contains("is in `from` and in `to`"));
        let many = KvTransfer {
            tokens: u32::MAX,
            page: 1,
            ..transfer()
        };
        assert!(problem(many).contains("use larger `slice` and `page`"));
    }
}
