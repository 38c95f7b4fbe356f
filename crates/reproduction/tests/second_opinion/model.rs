//! A second model of paper 000 (Cano-Cano and others, 2021). It shares no code with netloom.
//!
//! It follows sections 2, 4 and 5 of the paper. In every cycle each writer (a link, or an output
//! port of a crossbar) moves flits of one message from a buffer to another. There are no events,
//! and nothing is computed ahead.
//!
//! The paper states no latency. As in netloom, each of its stages (IB, RT, VA-SA, X, OB) takes a
//! cycle, a link two, and a credit one. A message is what is scheduled and what must fit into the
//! next buffer (section 4.3).

use std::collections::VecDeque;

pub(crate) const CLASSES: usize = 7;
pub(crate) const CYCLE_NS: f64 = 5.12;
const ARITY: usize = 4;
const LEVELS: usize = 3;
const SWITCHES_PER_LEVEL: usize = 16;
const PORTS: usize = 2 * ARITY;
const NICS: usize = ARITY * SWITCHES_PER_LEVEL;
/// Flits of a message of each class (Table 2).
const FLITS: [u32; CLASSES] = [3, 2, 32, 32, 16, 16, 16];
/// Entries of each class in the table, and their total weight (Table 4).
const ENTRIES: [(u32, u32); CLASSES] = [
    (32, 101),
    (16, 176),
    (8, 322),
    (4, 375),
    (2, 43),
    (1, 39),
    (1, 17),
];
/// Flits of a buffer of a port, and of each link to the centre: 114,688 bytes (section 5.2).
const POOL: u32 = 1792;
/// Flits that a buffer keeps for each lane: the largest message.
const KEPT: u32 = 32;
const LINK_CYCLES: usize = 2;
/// Permutations of the connections of VO, VI and CL.
const CONNECTIONS: usize = 4;

/// Buffers and writers of a switch, by their first number.
const INPUTS: usize = 0;
const OUTPUTS: usize = PORTS;
const CENTRE: usize = 2 * PORTS;
const BUFFERS: usize = 2 * PORTS + 4;
const LINKS: usize = 0;
const TO_OUTPUTS: usize = PORTS;
const FROM_CENTRE: usize = 2 * PORTS;
const TO_CENTRE: usize = 3 * PORTS;
const WRITERS: usize = 3 * PORTS + 4;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Switch {
    /// One crossbar of a flit per cycle. A message that crosses it holds its input.
    OneInput,
    /// The same, but messages of different lanes of an input cross at the same time.
    PerLane,
    /// Clusters of four ports around a central crossbar, joined by links of three flits per cycle.
    Hierarchical,
}

struct Message {
    class: usize,
    destination: usize,
    created: usize,
}

/// A message in a buffer.
struct Entry {
    message: usize,
    output: usize,
    writer: usize,
    /// When its header has passed the stages of its buffer.
    ready: usize,
    arrived: u32,
    /// Flits per cycle in which it arrives.
    pace: u32,
    left: u32,
}

#[derive(Default)]
struct Buffer {
    lanes: [VecDeque<Entry>; CLASSES],
    /// Claimed flits of each lane.
    used: [u32; CLASSES],
    /// Whether a message crosses, the lane that the input arbiter chose, and the next one in turn.
    is_crossed: bool,
    chosen: usize,
    turn: usize,
}

impl Buffer {
    /// Whether a message fits: into what is kept for its lane, and the rest into what is shared.
    fn fits(&self, lane: usize, flits: u32) -> bool {
        let beyond = |used: u32| used.saturating_sub(KEPT);
        let shared: u32 = self.used.iter().map(|used| beyond(*used)).sum();
        let more = beyond(self.used[lane] + flits) - beyond(self.used[lane]);
        shared + more <= POOL - CLASSES as u32 * KEPT
    }
}

/// The deficit table of an output (section 4).
struct Table {
    entries: Vec<(usize, u32)>,
    deficits: [u32; CLASSES],
    weight: u32,
    at: usize,
    is_selected: bool,
}

impl Table {
    /// Entries of a class are as far apart as possible, and its heavier ones come first.
    fn new() -> Table {
        let mut given = [0; CLASSES];
        let entry = |slot: u32| {
            let class = slot.trailing_zeros() as usize;
            let (n, total) = ENTRIES[class];
            given[class] += 1;
            (class, total / n + u32::from(given[class] <= total % n))
        };
        let entries = (1..=64).map(entry).collect();
        Table {
            entries,
            deficits: [0; CLASSES],
            weight: 0,
            at: 63,
            is_selected: false,
        }
    }

    /// Returns the lane that sends, of those whose heads (in flits) can be sent.
    fn choose(&mut self, heads: [Option<u32>; CLASSES]) -> Option<usize> {
        loop {
            let lane = self.entries[self.at].0;
            if self.is_selected {
                match heads[lane] {
                    Some(flits) if flits <= self.weight => {
                        self.weight -= flits;
                        return Some(lane);
                    }
                    Some(_) => self.deficits[lane] = self.weight,
                    None => self.deficits[lane] = 0,
                }
                self.is_selected = false;
            }
            let mut next = (1..=64).map(|step| (self.at + step) % 64);
            self.at = next.find(|at| heads[self.entries[*at].0].is_some())?;
            let (lane, weight) = self.entries[self.at];
            self.weight = weight + self.deficits[lane];
            self.is_selected = true;
        }
    }
}

/// A link, or an output port of a crossbar.
struct Writer {
    sources: Vec<usize>,
    /// The buffer that it writes, or none if a NIC receives.
    target: Option<usize>,
    flits_per_cycle: u32,
    /// Only links have a table. Crossbars take turns over lanes of their sources.
    table: Option<Table>,
    turn: usize,
    /// The source and lane of the message under way.
    serves: Option<(usize, usize)>,
    n_waiting: usize,
}

enum Event {
    Arrives {
        buffer: usize,
        message: usize,
        output: usize,
        flits: u32,
        pace: u32,
    },
    IsFree {
        buffer: usize,
        lane: usize,
        flits: u32,
    },
    IsReceived {
        message: usize,
    },
}

pub(crate) struct Model {
    switch: Switch,
    buffers: Vec<Buffer>,
    writers: Vec<Writer>,
    messages: Vec<Message>,
    /// What happens in each of the next cycles.
    events: [Vec<Event>; 8],
    now: usize,
    random: u64,
    /// Sum of latencies and number of received messages of each class.
    received: [(f64, u32); CLASSES],
}

fn digit(index: usize, level: usize) -> usize {
    index / ARITY.pow(level as u32) % ARITY
}

fn with_digit(index: usize, level: usize, digit_now: usize) -> usize {
    index + (digit_now * ARITY.pow(level as u32)) - digit(index, level) * ARITY.pow(level as u32)
}

/// Returns the input that a port of a switch sends to, or none if it sends to a NIC or is unused.
fn neighbour(switch: usize, port: usize) -> Option<usize> {
    let (level, index) = (switch / SWITCHES_PER_LEVEL, switch % SWITCHES_PER_LEVEL);
    let (level, index, port) = if port >= ARITY && level + 1 < LEVELS {
        (
            level + 1,
            with_digit(index, level, port - ARITY),
            digit(index, level),
        )
    } else if port < ARITY && level > 0 {
        (
            level - 1,
            with_digit(index, level - 1, port),
            ARITY + digit(index, level - 1),
        )
    } else {
        return None;
    };
    Some(NICS + (level * SWITCHES_PER_LEVEL + index) * BUFFERS + INPUTS + port)
}

impl Model {
    pub(crate) fn new(switch: Switch, seed: u64) -> Model {
        let writer = |sources, target, flits_per_cycle, is_link: bool| Writer {
            sources,
            target,
            flits_per_cycle,
            table: is_link.then(Table::new),
            turn: 0,
            serves: None,
            n_waiting: 0,
        };
        let mut writers = vec![];
        for nic in 0..NICS {
            let input = NICS + nic / ARITY * BUFFERS + INPUTS + nic % ARITY;
            writers.push(writer(vec![nic], Some(input), 1, true));
        }
        for number in 0..LEVELS * SWITCHES_PER_LEVEL {
            let first = NICS + number * BUFFERS;
            let buffers = |from: usize, n| (first + from..first + from + n).collect::<Vec<_>>();
            let cluster = |port: usize| buffers(INPUTS + port / 4 * 4, 4);
            for port in 0..PORTS {
                let output = first + OUTPUTS + port;
                writers.push(writer(vec![output], neighbour(number, port), 1, true));
            }
            for port in 0..PORTS {
                let is_flat = switch != Switch::Hierarchical;
                let sources = if is_flat {
                    buffers(INPUTS, PORTS)
                } else {
                    cluster(port)
                };
                writers.push(writer(sources, Some(first + OUTPUTS + port), 1, false));
            }
            for port in 0..PORTS {
                let target = Some(first + OUTPUTS + port);
                writers.push(writer(buffers(CENTRE, 4), target, 3, false));
            }
            for link in 0..4 {
                let target = Some(first + CENTRE + link);
                writers.push(writer(cluster(link / 2 * 4), target, 3, false));
            }
        }
        let n_buffers = NICS + LEVELS * SWITCHES_PER_LEVEL * BUFFERS;
        Model {
            switch,
            buffers: (0..n_buffers).map(|_| Buffer::default()).collect(),
            writers,
            messages: vec![],
            events: Default::default(),
            now: 0,
            random: seed,
            received: [(0.0, 0); CLASSES],
        }
    }

    /// Returns the mean latency of each class in nanoseconds, for messages created after `warmup`
    /// cycles. `loads` are flits per cycle and NIC.
    pub(crate) fn run(
        mut self,
        loads: [f64; CLASSES],
        warmup: usize,
        length: usize,
    ) -> [f64; CLASSES] {
        let mut permutation = || {
            let mut order: Vec<usize> = (0..NICS).collect();
            while (0..NICS).any(|nic| order[nic] == nic) {
                (1..NICS).for_each(|i| order.swap(i, self.below(i + 1)));
            }
            order
        };
        let connections: [[Vec<usize>; CONNECTIONS]; CLASSES] =
            std::array::from_fn(|_| std::array::from_fn(|_| permutation()));
        let n_at_once = |class| if class >= 4 { 4 } else { 1 };
        let interval = |class| f64::from(FLITS[class] * n_at_once(class)) / loads[class];
        let mut sources: Vec<(usize, usize, f64, usize)> = vec![];
        for nic in 0..NICS {
            for class in 0..CLASSES {
                sources.push((nic, class, self.uniform() * interval(class), 0));
            }
        }
        while self.now < length {
            for (nic, class, next, n_sent) in &mut sources {
                while *next <= self.now as f64 {
                    let is_constant = (1..=3).contains(class);
                    let destination = if is_constant {
                        connections[*class][*n_sent % CONNECTIONS][*nic]
                    } else {
                        (*nic + 1 + self.below(NICS - 1)) % NICS
                    };
                    for _ in 0..n_at_once(*class) {
                        self.create(*nic, *class, destination);
                    }
                    *n_sent += 1;
                    let gap = if is_constant {
                        1.0
                    } else {
                        -(1.0 - self.uniform()).ln()
                    };
                    *next += gap * interval(*class);
                }
            }
            self.step(warmup);
        }
        self.received.map(|(sum, n)| sum / f64::from(n) * CYCLE_NS)
    }

    /// Returns a random number in [0, 1) (SplitMix64).
    fn uniform(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        (self.uniform() * n as f64) as usize
    }

    fn create(&mut self, nic: usize, class: usize, destination: usize) {
        let (message, ready, flits) = (self.messages.len(), self.now, FLITS[class]);
        self.messages.push(Message {
            class,
            destination,
            created: self.now,
        });
        let entry = Entry {
            message,
            output: 0,
            writer: nic,
            ready,
            arrived: flits,
            pace: 1,
            left: 0,
        };
        self.buffers[nic].lanes[class].push_back(entry);
        self.writers[nic].n_waiting += 1;
    }

    fn later(&mut self, cycles: usize, event: Event) {
        self.events[(self.now + cycles) % 8].push(event);
    }

    fn step(&mut self, warmup: usize) {
        for event in std::mem::take(&mut self.events[self.now % 8]) {
            match event {
                Event::Arrives {
                    buffer,
                    message,
                    output,
                    flits,
                    pace,
                } => {
                    self.arrive(buffer, message, output, flits, pace);
                }
                Event::IsFree {
                    buffer,
                    lane,
                    flits,
                } => self.buffers[buffer].used[lane] -= flits,
                Event::IsReceived { message } => {
                    let Message { class, created, .. } = self.messages[message];
                    if created >= warmup {
                        self.received[class].0 += (self.now - created) as f64;
                        self.received[class].1 += 1;
                    }
                }
            }
        }
        if self.switch == Switch::OneInput {
            self.choose_lanes();
        }
        for number in 0..self.writers.len() {
            self.write(number);
        }
        self.now += 1;
    }

    /// Returns the port by which a switch sends to a NIC: down if it can, or else any port up.
    fn route(&mut self, switch: usize, destination: usize) -> usize {
        let (level, index) = (switch / SWITCHES_PER_LEVEL, switch % SWITCHES_PER_LEVEL);
        let leaf = destination / ARITY;
        match (level..LEVELS - 1).all(|i| digit(index, i) == digit(leaf, i)) {
            true if level == 0 => destination % ARITY,
            true => digit(leaf, level - 1),
            false => ARITY + self.below(ARITY),
        }
    }

    fn arrive(&mut self, buffer: usize, message: usize, output: usize, flits: u32, pace: u32) {
        let Message {
            class, destination, ..
        } = self.messages[message];
        let lane = &mut self.buffers[buffer].lanes[class];
        if let Some(entry) = lane.iter_mut().rev().find(|entry| entry.message == message) {
            entry.arrived += flits;
            return;
        }
        let (switch, place) = ((buffer - NICS) / BUFFERS, (buffer - NICS) % BUFFERS);
        let (writer, output, stages) = if place < OUTPUTS {
            let output = self.route(switch, destination);
            let (cluster, to) = (place / 4, output / 4);
            let is_direct = self.switch != Switch::Hierarchical || cluster == to;
            let through_centre = TO_CENTRE + 2 * cluster + output % 2;
            // IB, RT and VA-SA.
            (
                if is_direct {
                    TO_OUTPUTS + output
                } else {
                    through_centre
                },
                output,
                3,
            )
        } else if place < CENTRE {
            // OB.
            (LINKS + place - OUTPUTS, output, 1)
        } else {
            // IB and VA-SA.
            (FROM_CENTRE + output, output, 2)
        };
        let writer = NICS + switch * WRITERS + writer;
        let ready = self.now + stages;
        self.buffers[buffer].lanes[class].push_back(Entry {
            message,
            output,
            writer,
            ready,
            arrived: flits,
            pace,
            left: 0,
        });
        self.writers[writer].n_waiting += 1;
    }

    /// Lets each input arbiter choose, in turn, a lane whose header is ready and whose output is
    /// free. The next turn begins after the last lane that crossed.
    fn choose_lanes(&mut self) {
        for buffer in self.buffers.iter_mut().skip(NICS) {
            let can_cross = |lane: &usize| {
                buffer.lanes[*lane].front().is_some_and(|head| {
                    head.ready <= self.now && self.writers[head.writer].serves.is_none()
                })
            };
            let mut lanes = (0..CLASSES).map(|step| (buffer.turn + step) % CLASSES);
            buffer.chosen = lanes.find(can_cross).unwrap_or(CLASSES);
        }
    }

    /// Returns the flits of the head of a lane if this writer can start it now.
    fn startable(&self, number: usize, source: usize, lane: usize) -> Option<u32> {
        let (writer, buffer) = (&self.writers[number], &self.buffers[source]);
        let head = buffer.lanes[lane].front()?;
        let flits = FLITS[lane];
        let is_crossbar = writer.table.is_none();
        let holds = is_crossbar && self.switch == Switch::OneInput;
        let is_held = holds && (buffer.is_crossed || buffer.chosen != lane);
        // It must not run dry: its last flits have arrived when their turn comes.
        let cycles = flits.div_ceil(writer.flits_per_cycle);
        let is_fed = head.arrived + head.pace * (cycles - 1) >= flits;
        let fits = || {
            writer
                .target
                .is_none_or(|target| self.buffers[target].fits(lane, flits))
        };
        let is_ready = head.writer == number && head.ready <= self.now;
        (is_ready && !is_held && is_fed && fits()).then_some(flits)
    }

    fn write(&mut self, number: usize) {
        if self.writers[number].n_waiting == 0 {
            return;
        }
        if self.writers[number].serves.is_none() {
            self.start(number);
        }
        let writer = &mut self.writers[number];
        let Some((source, lane)) = writer.serves else {
            return;
        };
        let is_link = writer.table.is_some();
        let (target, pace) = (writer.target, writer.flits_per_cycle);
        let head = self.buffers[source].lanes[lane]
            .front_mut()
            .expect("it is served");
        let flits = pace.min(head.arrived - head.left);
        head.left += flits;
        let (message, output, is_last) = (head.message, head.output, head.left == FLITS[lane]);
        if is_last {
            writer.serves = None;
            writer.n_waiting -= 1;
            self.buffers[source].lanes[lane].pop_front();
            self.buffers[source].is_crossed = false;
        }
        let delay = if is_link { 1 + LINK_CYCLES } else { 1 };
        if let Some(buffer) = target {
            self.later(
                delay,
                Event::Arrives {
                    buffer,
                    message,
                    output,
                    flits,
                    pace,
                },
            );
        } else if is_last {
            self.later(delay, Event::IsReceived { message });
        }
        if source >= NICS {
            let is_input = (source - NICS) % BUFFERS < OUTPUTS;
            let credit = if is_input { 1 + LINK_CYCLES } else { 1 };
            self.later(
                credit,
                Event::IsFree {
                    buffer: source,
                    lane,
                    flits,
                },
            );
        }
    }

    fn start(&mut self, number: usize) {
        let writer = &self.writers[number];
        let chosen = if writer.table.is_some() {
            let source = writer.sources[0];
            let heads = std::array::from_fn(|lane| self.startable(number, source, lane));
            let table = self.writers[number].table.as_mut().expect("a link has one");
            table.choose(heads).map(|lane| (source, lane))
        } else {
            let n = writer.sources.len() * CLASSES;
            let turns = (0..n).map(|step| (writer.turn + step) % n);
            let mut heads =
                turns.map(|turn| (turn, writer.sources[turn / CLASSES], turn % CLASSES));
            let is_startable = |(_, source, lane): &(usize, usize, usize)| {
                self.startable(number, *source, *lane).is_some()
            };
            heads.find(is_startable).map(|(turn, source, lane)| {
                // Next in turn is another lane, or another input if inputs chose their lanes.
                let next = match self.switch {
                    Switch::OneInput => (turn / CLASSES + 1) * CLASSES,
                    Switch::PerLane | Switch::Hierarchical => turn + 1,
                };
                self.writers[number].turn = next % n;
                (source, lane)
            })
        };
        let Some((source, lane)) = chosen else {
            return;
        };
        self.writers[number].serves = Some((source, lane));
        self.buffers[source].is_crossed = true;
        self.buffers[source].turn = lane + 1;
        if let Some(target) = self.writers[number].target {
            self.buffers[target].used[lane] += FLITS[lane];
        }
    }
}
