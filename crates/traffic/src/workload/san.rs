//! A storage area network: hosts read from disks and write to them.
//!
//! ```text
//!   host   on ──────┐          ┌── on ─────┐          Pareto on, Pareto off
//!              │  │ └── off ───┘ │   │  │              exponential gaps while on
//!              ▼  ▼             ▼   ▼  ▼
//!   read: 64 B to the disk, the data back after the service time; write: the data to the disk
//! ```
//!
//! It replaces the disk traces of paper 001, which are not published. It is an open loop: data are
//! sent back at a fixed time after the request was created, whether or not the fabric has delivered
//! the request. A disk serves any number of requests at once.

use netloom_catalog::{Described, Section, params};
use netloom_packet::Arrival;
use netloom_random::{Draw, Purpose, Stream, exponential};
use netloom_units::{Bytes, NicId, Ratio, Time};

use super::{Generated, Generator, MOST_MESSAGES};
use crate::{Mix, NicSet, Setting, Sizes};

params! {
    /// Hosts are on and off for Pareto times. While on, a host makes requests at exponential
    /// distances, each to a disk chosen by Zipf's law (the first of `disks` is the most popular). A
    /// read is a small request and, after the service time, the data from the disk. A write is the
    /// data to the disk.
    ///
    /// Times are those of a slow trace and are divided by `compression`. With the defaults and
    /// links of 1 GB/s, 48 hosts load 16 disk links to 0.35 of their rate on average at compression
    /// 20 and to 0.70 at 40, both directions together.
    #[derive(Clone, Debug)]
    pub struct San {
        /// Hosts that make requests.
        pub hosts: NicSet = NicSet::Range(NicId(0), NicId(47)),
        /// Disks that serve them.
        pub disks: NicSet = NicSet::Range(NicId(48), NicId(63)),
        /// Divisor of all times below.
        pub compression: f64 = 20.0,
        /// Length of the trace before compression; nothing is sent after it.
        pub length: Time = Time::from_nanos(1_000_000_000),
        /// Mean time for which a host is on.
        pub on: Time = Time::from_nanos(2_000_000),
        /// Mean time for which a host is off.
        pub off: Time = Time::from_nanos(18_000_000),
        /// Shape of the Pareto distribution of both, above 1; smaller is more variable.
        pub shape: f64 = 1.4,
        /// Mean time between the requests of a host that is on. It sets the rate of the workload.
        pub gap: Time = Time::from_nanos(220_000),
        /// Share of reads; the others are writes.
        pub reads: f64 = 0.6,
        /// Size of a read request.
        pub request: Bytes = Bytes(64),
        /// Mean time from a read request to its data, exponential.
        pub service: Time = Time::from_nanos(1_000_000),
        /// Exponent of Zipf's law of disks; 0 makes all equally popular.
        pub zipf: f64 = 0.9,
        /// Pairs of a data size and its frequency, as [bytes, weight].
        pub sizes: Vec<(Bytes, f64)> = vec![
            (Bytes(1 << 10), 0.10),
            (Bytes(2 << 10), 0.10),
            (Bytes(4 << 10), 0.15),
            (Bytes(8 << 10), 0.45),
            (Bytes(16 << 10), 0.10),
            (Bytes(64 << 10), 0.10),
        ],
    }
    check |it, section| {
        it.check(section);
    }
}

impl Described for San {
    const NAME: &'static str = "san";
    const SUMMARY: &'static str =
        "A storage area network: hosts in bursts, reads and writes, disks of unequal popularity.";
    const PAPER: Option<&'static str> = Some(
        "Replaces the disk traces of Escudero-Sahuquillo et al., OBQA (paper 001), which are not \
         published",
    );
    const EXAMPLE: &'static str = "hosts = \"0-11\"\ndisks = \"12-15\"\ncompression = 40";
}

impl San {
    /// Notes every invalid value.
    fn check(&self, section: &mut Section<'_>) {
        let mut wrong = |is_wrong: bool, key: &str, message: String, help: &str| {
            if is_wrong {
                let place = section.place_of(key);
                section.notes.error("E0603", place, message).help(help);
            }
        };
        let compression = self.compression;
        wrong(
            !(compression.is_finite() && compression > 0.0),
            "compression",
            format!("compression {compression} is out of range"),
            "use a number above 0; paper 001 has 20 and 40",
        );
        let shape = self.shape;
        wrong(
            !(shape.is_finite() && shape > 1.0),
            "shape",
            format!("shape {shape} has no mean"),
            "use a number above 1, like 1.4",
        );
        wrong(
            !(0.0..=1.0).contains(&self.reads),
            "reads",
            format!("{} is not a share", self.reads),
            "use a number from 0 to 1",
        );
        wrong(
            !(0.0..=10.0).contains(&self.zipf),
            "zipf",
            format!("exponent {} is out of range", self.zipf),
            "use a number from 0 (all equal) to 10",
        );
        for (key, time) in [("length", self.length), ("on", self.on), ("gap", self.gap)] {
            let help = "use a time above 0, like \"2 ms\"";
            wrong(time.is_zero(), key, format!("`{key}` is zero"), help);
        }
        let is_message = |bytes: Bytes| (1..=u64::from(u32::MAX)).contains(&bytes.0);
        let help = "use at least 1 byte and less than 4 GiB";
        wrong(
            !is_message(self.request),
            "request",
            format!("a message cannot have {}", self.request),
            help,
        );
        wrong(
            self.sizes.is_empty(),
            "sizes",
            "the list of sizes is empty".to_owned(),
            "use sizes = [[\"8 KiB\", 3], [\"64 KiB\", 1]]",
        );
        for &(bytes, weight) in &self.sizes {
            let message = format!("a message cannot have {bytes}");
            wrong(!is_message(bytes), "sizes", message, help);
            let message = format!("the weight of {bytes} is {weight}");
            let is_wrong = !(weight.is_finite() && weight > 0.0);
            wrong(is_wrong, "sizes", message, "use a weight above 0");
        }
    }

    /// Returns a Pareto time with a mean, in the unit of the mean.
    fn pareto(&self, mean: f64, uniform: f64) -> f64 {
        let smallest = mean * (self.shape - 1.0) / self.shape;
        smallest / libm::pow(1.0 - uniform, 1.0 / self.shape)
    }
}

/// The draws of a host; each is for one time of its trace.
struct Draws<'a> {
    arrivals: Stream,
    details: Stream,
    periods: Stream,
    setting: &'a Setting<'a>,
}

impl Draws<'_> {
    fn of(&self, stream: &Stream, host: NicId, number: u32) -> Draw {
        stream.draw([host.0, u32::from(self.setting.class), number, 0])
    }
}

impl Generator for San {
    fn largest(&self, _setting: &Setting<'_>) -> u32 {
        let data = self.sizes.iter().map(|(bytes, _)| bytes.0).max();
        data.unwrap_or(0).max(self.request.0) as u32
    }

    fn sets(&self) -> Vec<NicSet> {
        vec![self.hosts.clone(), self.disks.clone()]
    }

    fn generate(&self, setting: &Setting<'_>) -> Result<Generated, String> {
        let members = |set: &NicSet, key: &str| {
            let members = set.members(setting.n_nics, setting.groups);
            members.map_err(|problem| format!("`{key}`: {problem}"))
        };
        let (hosts, disks) = (
            members(&self.hosts, "hosts")?,
            members(&self.disks, "disks")?,
        );
        if let Some(both) = hosts.iter().find(|host| disks.contains(host)) {
            return Err(format!("{both} is among `hosts` and among `disks`"));
        }
        let (on, off) = (self.on.as_nanos(), self.off.as_nanos());
        let requests = self.length.as_nanos() / self.gap.as_nanos() * on / (on + off);
        if requests * hosts.len() as f64 * (1.0 + self.reads) > MOST_MESSAGES as f64 {
            return Err(too_many());
        }
        let draws = Draws {
            arrivals: Stream::new(setting.seed, Purpose::Arrival),
            details: Stream::new(setting.seed, Purpose::Message),
            periods: Stream::new(setting.seed, Purpose::Phase),
            setting,
        };
        let popularity = Popularity::new(disks.len(), self.zipf);
        let sizes = Mix {
            sizes: self.sizes.clone(),
        };
        let arrival = |nanos: f64, destination: NicId, bytes: u32| {
            let picos = (nanos / self.compression * 1000.0 + 0.5) as u64;
            Arrival {
                cycle: (setting.cycles)(Time::from_picos(Ratio::whole(picos))),
                destination,
                bytes,
                sl: None,
                flow: 0,
            }
        };
        let mut messages = vec![];
        for &host in &hosts {
            let mut requests = vec![];
            self.requests(host, &draws, &mut requests)?;
            for (number, at) in requests {
                let draw = draws.of(&draws.details, host, number);
                let disk = disks[popularity.choose(draw.unit(0))];
                let data = sizes.bytes(draw.0[2]);
                let is_read = f64::from(draw.0[3]) < self.reads * 4_294_967_296.0;
                if is_read {
                    // The other half of the draw that gave the gap.
                    let service = draws.of(&draws.arrivals, host, number).unit(1);
                    let service = exponential(service) * self.service.as_nanos();
                    messages.push((host, arrival(at, disk, self.request.0 as u32)));
                    messages.push((disk, arrival(at + service, host, data)));
                } else {
                    messages.push((host, arrival(at, disk, data)));
                }
            }
            if messages.len() > MOST_MESSAGES {
                return Err(too_many());
            }
        }
        Ok(Generated::Messages(messages))
    }
}

fn too_many() -> String {
    format!(
        "the trace has more than {MOST_MESSAGES} messages; use a shorter `length` or a longer `gap`"
    )
}

impl San {
    /// Returns the requests of a host: their numbers and times before compression, in nanoseconds.
    fn requests(
        &self,
        host: NicId,
        draws: &Draws<'_>,
        requests: &mut Vec<(u32, f64)>,
    ) -> Result<(), String> {
        let (on, off) = (self.on.as_nanos(), self.off.as_nanos());
        let (gap, length) = (self.gap.as_nanos(), self.length.as_nanos());
        // A host begins with a whole period, on or off with the long-run probabilities.
        let mut is_on = draws.of(&draws.periods, host, 0).unit(1) * (on + off) < on;
        let (mut period, mut number, mut begins) = (0, 0, 0.0);
        while begins < length {
            let uniform = draws.of(&draws.periods, host, period).unit(0);
            let mean = if is_on { on } else { off };
            let ends = begins + self.pareto(mean, uniform);
            if is_on {
                let mut at = begins;
                loop {
                    at += exponential(draws.of(&draws.arrivals, host, number).unit(0)) * gap;
                    // A draw beyond the end is spent: the next period begins with another.
                    number += 1;
                    if at >= ends.min(length) {
                        break;
                    }
                    requests.push((number - 1, at));
                    if requests.len() > MOST_MESSAGES {
                        return Err(too_many());
                    }
                }
            }
            begins = ends;
            is_on = !is_on;
            period += 1;
        }
        Ok(())
    }
}

/// Zipf's law: the probability of the k-th of n is proportional to k to the power of minus the
/// exponent.
struct Popularity {
    /// The probability of one of the first k.
    cumulative: Vec<f64>,
}

impl Popularity {
    fn new(n: usize, exponent: f64) -> Popularity {
        let mut sum = 0.0;
        let sums: Vec<f64> = (1..=n)
            .map(|rank| {
                sum += libm::pow(rank as f64, -exponent);
                sum
            })
            .collect();
        Popularity {
            cumulative: sums.into_iter().map(|part| part / sum).collect(),
        }
    }

    fn choose(&self, uniform: f64) -> usize {
        let at = self.cumulative.partition_point(|chance| *chance <= uniform);
        at.min(self.cumulative.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use netloom_catalog::{Disk, Document, Notes, Params};
    use netloom_packet::Segmentation;

    use super::*;

    fn san(text: &str) -> Result<San, Vec<String>> {
        let mut notes = Notes::new();
        let document = Document::parse("x.toml", text, &mut notes);
        let mut section = Section::open(&document.root, &mut notes).expect("a table");
        let read = San::read(&mut section);
        section.finish();
        let say = |note: netloom_catalog::Note| {
            format!("{} ({})", note.message, note.help.unwrap_or_default())
        };
        read.ok_or_else(|| notes.sorted().into_iter().map(say).collect())
    }

    /// Returns the messages for a seed in a fabric of 64; one cycle is a nanosecond.
    fn messages(san: &San, seed: u64) -> Result<Vec<(NicId, Arrival)>, String> {
        let generated = san.generate(&Setting {
            segmentation: Segmentation {
                flit: Bytes(64),
                mtu: Some(Bytes(64)),
                header: Bytes(0),
            }
            .into(),
            n_nics: 64,
            groups: &crate::NO_GROUPS,
            seed,
            class: 0,
            cycles: &|time: Time| time.as_nanos() as u64,
            files: Disk::HERE,
        });
        generated.map(|generated| match generated {
            Generated::Messages(messages) => messages,
            _ => panic!("a list of messages"),
        })
    }

    /// Returns the demand on each disk link, as a fraction of 1 byte per ns, both directions
    /// together.
    fn demands(san: &San, seed: u64) -> Vec<f64> {
        let mut bytes = [0u64; 16];
        for (source, message) in messages(san, seed).unwrap() {
            let disk = source.0.max(message.destination.0) - 48;
            bytes[disk as usize] += u64::from(message.bytes);
        }
        let length = san.length.as_nanos() / san.compression;
        bytes.iter().map(|bytes| *bytes as f64 / length).collect()
    }

    fn mean_demand(compression: f64) -> f64 {
        let san = San {
            compression,
            length: Time::from_nanos(100_000_000_000),
            ..san("").unwrap()
        };
        let demands = demands(&san, 1);
        demands.iter().sum::<f64>() / demands.len() as f64
    }

    #[test]
    fn g001_9_the_mean_disk_link_is_asked_for_a_third_and_two_thirds() {
        let (slow, fast) = (mean_demand(20.0), mean_demand(40.0));
        assert!((slow / 0.35 - 1.0).abs() < 0.05, "{slow}");
        assert!((fast / 0.70 - 1.0).abs() < 0.05, "{fast}");
    }

    #[test]
    fn there_are_peaks_above_the_link() {
        let san = san("compression = 40\nlength = \"1 s\"").unwrap();
        // Windows of 100 us of the compressed trace; the most popular disk.
        let mut windows = vec![0u64; 251];
        for (source, message) in messages(&san, 1).unwrap() {
            if source.0.max(message.destination.0) == 48 {
                let at = (message.cycle / 100_000).min(250) as usize;
                windows[at] += u64::from(message.bytes);
            }
        }
        let busy = windows.iter().filter(|bytes| **bytes > 100_000).count();
        assert!((10..240).contains(&busy), "{busy} of 251 windows above 1");
    }

    #[test]
    fn requests_are_what_was_asked_for() {
        let san = san("length = \"20 s\"").unwrap();
        let all = messages(&san, 3).unwrap();
        let is_disk = |nic: NicId| nic.0 >= 48;
        assert!(
            all.iter()
                .all(|(from, m)| is_disk(*from) != is_disk(m.destination))
        );
        let data = all.iter().filter(|(from, _)| is_disk(*from)).count() as f64;
        let requests = all
            .iter()
            .filter(|(from, m)| !is_disk(*from) && m.bytes == 64)
            .count() as f64;
        assert_eq!(data, requests);
        let from_hosts = all.len() as f64 - data;
        assert!((data / from_hosts - 0.6).abs() < 0.01);
        let of_8k = all.iter().filter(|(_, m)| m.bytes == 8192).count() as f64;
        assert!((of_8k / from_hosts - 0.45).abs() < 0.01);
        // Zipf 0.9: the first disk is 2^0.9 = 1.87 times as popular as the second.
        let to = |disk: u32| {
            let own = |m: &&(NicId, Arrival)| m.1.destination == NicId(disk);
            all.iter().filter(own).count() as f64
        };
        assert!((to(48) / to(49) / 1.866 - 1.0).abs() < 0.06);
    }

    #[test]
    fn compression_divides_all_times_and_a_longer_trace_begins_the_same() {
        let at = |text: &str, seed| messages(&san(text).unwrap(), seed).unwrap();
        let slow = at("compression = 1\nlength = \"50 ms\"", 1);
        let fast = at("compression = 10\nlength = \"50 ms\"", 1);
        assert_eq!(slow.len(), fast.len());
        for ((from, slow), (also, fast)) in slow.iter().zip(&fast) {
            assert_eq!((from, slow.bytes), (also, fast.bytes));
            assert!(fast.cycle.abs_diff(slow.cycle / 10) <= 1);
        }
        let longer = at("compression = 1\nlength = \"60 ms\"", 1);
        assert!(slow.iter().all(|message| longer.contains(message)));
        assert!(longer.len() > slow.len());
        assert_ne!(slow, at("compression = 1\nlength = \"50 ms\"", 2));
    }

    #[test]
    fn all_mistakes_are_reported_at_once() {
        assert_eq!(
            san("compression = 0\nshape = 1.0\nreads = 2\ngap = \"0 ns\"\nsizes = [[\"0 B\", -1]]")
                .unwrap_err(),
            [
                "compression 0 is out of range (use a number above 0; paper 001 has 20 and 40)",
                "shape 1 has no mean (use a number above 1, like 1.4)",
                "2 is not a share (use a number from 0 to 1)",
                "`gap` is zero (use a time above 0, like \"2 ms\")",
                "a message cannot have 0 B (use at least 1 byte and less than 4 GiB)",
                "the weight of 0 B is -1 (use a weight above 0)",
            ]
        );
        let problem = |text: &str| messages(&san(text).unwrap(), 1).unwrap_err();
        assert_eq!(
            problem("disks = \"40-50\""),
            "nic 40 is among `hosts` and among `disks`"
        );
        assert_eq!(
            problem("disks = \"48-70\""),
            "`disks`: nic 70 does not exist: the fabric has NICs 0 to 63"
        );
        assert_eq!(
            problem("gap = \"1 ns\"\nlength = \"100 s\""),
            "the trace has more than 20000000 messages; use a shorter `length` or a longer `gap`"
        );
    }
}
