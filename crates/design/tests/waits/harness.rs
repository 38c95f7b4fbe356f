//! Tables under load: every class comes and goes at one output, and no class may wait longer than
//! its bound, or send a backlog later than its slowdown allows.
//!
//! ```text
//! maker ── Case { table, sizes } ──┬─ bounds    netloom_design::qos::wait
//!                                  └─ arbiter ── load ── longest waits
//! ```
//!
//! The maker is a parameter, so random tables and planned ones use the same run. Another test of
//! this crate includes it with `#[path = "waits/harness.rs"] mod harness;`.

use netloom_arbitration::{
    Arbiter, BxiDeficit, BxiTable, DTable, DeficitTable, Head, MANAGEMENT_VL, N_QUEUES, N_SLS,
    Policy, QuantumTable, TwoTable, View, VlArbitrationTable,
};
use netloom_design::qos::slowdown::{Packets, Slowdown};
use netloom_design::qos::wait::{
    Bound, IbTables, PacketSizes, Wait, bxi_wait, dtable_wait, ib_wait,
};
use netloom_units::{Bytes, Sl, Vl};

/// Bytes of a flit and of a unit of weight.
pub(crate) const UNIT: u64 = 64;

/// A small generator, so a failure can be reproduced from its seed.
pub(crate) struct Draws(pub u64);

impl Draws {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    pub(crate) fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }

    /// Returns a length in bytes: mostly one of the extremes, where bounds are reached.
    fn length(&mut self, (smallest, largest): (u64, u64), habit: Habit) -> u32 {
        let unit = UNIT.min(largest);
        let bytes = match (habit, self.below(64)) {
            (Habit::Short, 1..) | (Habit::Long, 0) => unit,
            (Habit::Short | Habit::Long, _) | (Habit::Mixed, ..32) => largest,
            (Habit::Mixed, ..48) => UNIT * (1 + self.below(largest.div_ceil(UNIT))),
            (Habit::Mixed, _) => unit,
        };
        bytes.clamp(smallest, largest) as u32
    }
}

/// The packets that a class sends: many short ones give way most often, long ones fill the last
/// turn.
#[derive(Clone, Copy, Default)]
enum Habit {
    #[default]
    Mixed,
    Short,
    Long,
}

/// A table of any kind with a bound.
#[derive(Clone, Debug)]
pub(crate) enum Arbitration {
    DTable(DeficitTable),
    Ib(VlArbitrationTable, VlArbitrationTable, u8),
    Bxi(QuantumTable),
    BxiDeficit(QuantumTable),
}

impl Arbitration {
    pub(crate) fn arbiter(&self) -> Box<dyn Arbiter> {
        match self {
            Arbitration::DTable(table) => DTable {
                table: table.clone(),
            }
            .build(),
            Arbitration::Ib(high, low, limit) => Box::new(TwoTable::new(high, low, *limit)),
            Arbitration::Bxi(table) => BxiTable::from_table(table, Bytes(UNIT)).build(),
            Arbitration::BxiDeficit(table) => BxiDeficit::from_table(table, Bytes(UNIT)).build(),
        }
    }

    pub(crate) fn wait(&self, sizes: &PacketSizes, class: u8) -> Wait {
        let flit = Bytes(UNIT);
        match self {
            Arbitration::DTable(table) => dtable_wait(table, sizes, Sl(class)),
            Arbitration::Ib(high, low, limit) => {
                let tables = IbTables {
                    high,
                    low,
                    limit: *limit,
                };
                ib_wait(tables, sizes, Vl(class))
            }
            Arbitration::Bxi(table) => bxi_wait(table, false, flit, sizes, Sl(class)),
            Arbitration::BxiDeficit(table) => bxi_wait(table, true, flit, sizes, Sl(class)),
        }
    }

    pub(crate) fn slowdown(&self, packets: &Packets, class: u8) -> Option<Slowdown> {
        let slowdown = match self {
            Arbitration::DTable(table) => packets.dtable(table, Sl(class)),
            Arbitration::Ib(high, low, limit) => {
                let tables = IbTables {
                    high,
                    low,
                    limit: *limit,
                };
                packets.ib(tables, Vl(class))
            }
            Arbitration::Bxi(table) => packets.bxi(table, false, Sl(class)),
            Arbitration::BxiDeficit(table) => packets.bxi(table, true, Sl(class)),
        };
        slowdown.ok()
    }

    pub(crate) fn bound(&self, sizes: &PacketSizes, class: u8) -> Option<Bound> {
        match self.wait(sizes, class) {
            Wait::AtMost(bound) => Some(bound),
            Wait::Unbounded(_) => None,
        }
    }
}

/// A table and the packets on its link.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub table: Arbitration,
    pub sizes: PacketSizes,
}

pub(crate) fn sizes(largest: &[u64], management: u64) -> PacketSizes {
    let mut all = [Bytes(0); N_SLS];
    for (slot, &bytes) in all.iter_mut().zip(largest) {
        *slot = Bytes(bytes);
    }
    PacketSizes {
        largest: all,
        smallest: [Bytes(0); N_SLS],
        management: Bytes(management),
    }
}

/// The load of the output in a run.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub seed: u64,
    pub n_decisions: usize,
    /// If set, only this class comes and goes, and the others always have a packet. Otherwise all
    /// come and go.
    pub comes_and_goes: Option<usize>,
}

/// One queue of the output; service level, lane and queue have the same number.
#[derive(Clone, Copy, Default)]
struct Queue {
    smallest: u64,
    largest: u64,
    habit: Habit,
    /// Decisions until it has a packet again.
    asleep: u64,
    /// The probability of leaving after a packet is one in this number; 0 never leaves.
    goes: u64,
    /// When its head appeared.
    since: u64,
    /// Whether a management packet was sent since then: the bounds allow for one.
    had_management: bool,
    longest: u64,
}

/// Returns the longest wait of each class in a run, in bytes. A head counts as present from the
/// start of its predecessor, or from just after a decision that could not have taken it.
pub(crate) fn longest_waits(
    arbiter: &mut dyn Arbiter,
    sizes: &PacketSizes,
    load: Load,
) -> [u64; N_SLS] {
    const MANAGEMENT: usize = N_QUEUES - 1;
    let mut draws = Draws(load.seed);
    let mut heads = [Head::default(); N_QUEUES];
    let mut queues = [Queue::default(); N_SLS];
    for class in 0..N_SLS {
        heads[class].sl = Sl(class as u8);
        heads[class].vl = Vl(class as u8);
        let queue = &mut queues[class];
        queue.smallest = sizes.smallest[class].0;
        queue.largest = sizes.largest[class].0;
        queue.habit = draws.one_of(&[Habit::Mixed, Habit::Short, Habit::Long]);
        if queue.largest > 0 {
            heads[class].bytes = draws.length((queue.smallest, queue.largest), queue.habit);
        }
        queue.goes = match load.comes_and_goes {
            Some(only) if only == class => 2,
            Some(_) => 0,
            None => draws.one_of(&[0, 2, 20, 100]),
        };
    }
    heads[MANAGEMENT].vl = MANAGEMENT_VL;
    heads[MANAGEMENT].bytes = sizes.management.0 as u32;
    let mut now = 0;
    for _ in 0..load.n_decisions {
        if load.comes_and_goes.is_none() && draws.below(100) == 0 {
            // A pause: all but one leave, and return together.
            let (stays, asleep) = (draws.below(8) as usize, 1 + draws.below(2));
            for (class, queue) in queues.iter_mut().enumerate() {
                if class != stays {
                    queue.asleep = asleep;
                }
            }
        }
        let mut eligible = 0;
        let mut may_manage = sizes.management.0 > 0;
        for (class, queue) in queues.iter().enumerate() {
            if queue.largest > 0 && queue.asleep == 0 {
                eligible |= 1 << class;
                may_manage &= !queue.had_management;
            }
        }
        if may_manage && draws.below(8) == 0 {
            eligible |= 1 << MANAGEMENT;
        }
        let view = View {
            eligible,
            heads: &heads,
        };
        let Some(grant) = arbiter.choose(&view) else {
            // No queue can send.
            for queue in &mut queues {
                if queue.asleep > 0 {
                    queue.asleep = 0;
                    queue.since = now;
                    queue.had_management = false;
                }
            }
            continue;
        };
        arbiter.commit(grant);
        let sent = usize::from(grant.queue);
        let bytes = u64::from(heads[sent].bytes);
        for (class, queue) in queues.iter_mut().enumerate() {
            if class == sent {
                queue.longest = queue.longest.max(now - queue.since);
                queue.since = now;
                queue.had_management = false;
                if queue.goes > 0 && draws.below(queue.goes) == 0 {
                    queue.asleep = draws.below(60);
                }
                heads[class].bytes = draws.length((queue.smallest, queue.largest), queue.habit);
            } else if queue.asleep > 0 {
                // Its next head appears right after this decision.
                queue.asleep -= 1;
                queue.since = now;
                queue.had_management = sent == MANAGEMENT;
            } else if sent == MANAGEMENT {
                queue.had_management = true;
            }
        }
        now += bytes;
    }
    queues.map(|queue| queue.longest)
}

/// The ratio of waits to their bounds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nearest {
    /// The longest wait over its bound.
    pub ratio: f64,
    /// The table and class of that wait.
    pub what: String,
    /// The number of waits with a bound, with others in the way.
    pub n_bounds: usize,
}

/// Runs cases of a maker from a seed on; panics if a class waits longer than its bound.
pub(crate) fn hold(
    mut make: impl FnMut(&mut Draws) -> Case,
    n_cases: usize,
    seed: u64,
    n_decisions: usize,
) -> Nearest {
    let mut draws = Draws(seed);
    let mut nearest = Nearest::default();
    for at in 0..n_cases {
        let case = make(&mut draws);
        let class = draws.below(8) as usize;
        let load = Load {
            seed: draws.0,
            n_decisions,
            comes_and_goes: (draws.below(2) == 0).then_some(class),
        };
        let mut arbiter = case.table.arbiter();
        let longest = longest_waits(&mut *arbiter, &case.sizes, load);
        for (class, longest) in (0u8..).zip(longest) {
            let Some(bound) = case.table.bound(&case.sizes, class) else {
                continue;
            };
            let is_alone = bound.table.0 + bound.other_table.0 == 0;
            let bound = bound.total().0;
            assert!(
                longest <= bound,
                "case {at} from seed {seed}: class {class} waited {longest} bytes, at most \
                 {bound}: {case:?}"
            );
            if is_alone {
                continue;
            }
            nearest.n_bounds += 1;
            let ratio = longest as f64 / bound.max(1) as f64;
            if ratio > nearest.ratio {
                nearest.ratio = ratio;
                nearest.what = format!("class {class} of {:?}", case.table);
            }
        }
    }
    nearest
}

/// Runs one class that always has a packet, while the others come and go, or always have one too.
/// Returns the most bytes that the link sent beyond the factor, over all backlogs within the run. A
/// backlog may begin at any decision, with the packet of that decision in flight, and end with any
/// own packet.
pub(crate) fn longest_startup(
    arbiter: &mut dyn Arbiter,
    sizes: &PacketSizes,
    own: usize,
    factor: f64,
    (seed, n_decisions): (u64, usize),
) -> f64 {
    let mut draws = Draws(seed);
    let mut heads = [Head::default(); N_QUEUES];
    let mut habits = [Habit::default(); N_SLS];
    let mut asleep = [0u64; N_SLS];
    let goes = draws.one_of(&[0, 0, 2, 20]);
    let length = |class: usize, habit: Habit, draws: &mut Draws| -> u32 {
        let (smallest, largest) = (sizes.smallest[class].0, sizes.largest[class].0);
        draws.length((smallest.max(1), largest), habit)
    };
    for class in 0..N_SLS {
        heads[class].sl = Sl(class as u8);
        heads[class].vl = Vl(class as u8);
        if sizes.largest[class].0 > 0 {
            habits[class] = draws.one_of(&[Habit::Mixed, Habit::Short, Habit::Long]);
            heads[class].bytes = length(class, habits[class], &mut draws);
        }
    }
    let (mut ahead, mut startup) = (0.0f64, 0.0f64);
    for _ in 0..n_decisions {
        let sends = |class: usize| sizes.largest[class].0 > 0 && asleep[class] == 0;
        let eligible = (0..N_SLS).filter(|&class| class == own || sends(class));
        let view = View {
            eligible: eligible.fold(0, |mask, class| mask | 1 << class),
            heads: &heads,
        };
        let Some(grant) = arbiter.choose(&view) else {
            break;
        };
        arbiter.commit(grant);
        let sent = usize::from(grant.queue);
        let bytes = u64::from(heads[sent].bytes).div_ceil(UNIT) * UNIT;
        ahead += bytes as f64;
        if sent == own {
            ahead -= factor * bytes as f64;
            startup = startup.max(ahead);
        }
        ahead = ahead.max(bytes as f64);
        for asleep in &mut asleep {
            *asleep = asleep.saturating_sub(1);
        }
        if goes > 0 && draws.below(goes) == 0 {
            asleep[sent] = draws.below(60);
        }
        heads[sent].bytes = length(sent, habits[sent], &mut draws);
    }
    startup
}

/// How near runs came to slowdowns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slowest {
    pub n_bounds: usize,
    /// The largest startup over its bound.
    pub startup: f64,
}

impl Slowest {
    /// Runs every class of a case with a bound; panics if it is exceeded.
    pub(crate) fn add(&mut self, case: &Case, seed: u64, n_decisions: usize) {
        let packets = Packets::new(&case.sizes, Bytes(UNIT));
        for class in 0..8 {
            let Some(bound) = case.table.slowdown(&packets, class) else {
                continue;
            };
            let own = usize::from(class);
            let startup = longest_startup(
                &mut *case.table.arbiter(),
                &case.sizes,
                own,
                bound.factor,
                (seed + u64::from(class), n_decisions),
            );
            assert!(
                startup <= bound.startup.0 as f64 + 1e-3,
                "seed {seed}: class {class} has {startup}, at most {bound:?}: {case:?}"
            );
            if bound.factor > 1.0 {
                self.n_bounds += 1;
                self.startup = self.startup.max(startup / bound.startup.0 as f64);
            }
        }
    }
}
