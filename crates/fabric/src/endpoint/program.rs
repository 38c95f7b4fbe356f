//! Programs: ranks that send, receive and wait, step by step.

use netloom_encoding::{Invalid, State, Validity, ensure, ensure_below};
use netloom_engine::Outbox;
use netloom_packet::{Op, Packet};
use netloom_units::{Clock, NicId, Tick};
use rustc_hash::FxHashSet;

use crate::endpoint::Created;
use crate::fabric::Fabric;
use crate::plan::FabricPlan;
use crate::simulation::rows;
use crate::switch::{Events, Switches};
use crate::validation::Bounds;

/// The progress of the programs of a partition.
#[derive(Debug, State)]
pub(crate) struct Programs {
    #[state(constant)]
    n_classes: usize,
    /// The next step of each (NIC, class).
    #[state(records)]
    steps: Vec<u32>,
    /// Until when the rank of each (NIC, class) computes before its next step, if it has started.
    #[state(records)]
    computes_until: Vec<Option<Tick>>,
    /// When the rank of each (NIC, class) was done with its last step, if it is.
    #[state(records)]
    ended: Vec<Option<Tick>>,
    /// NICs whose programs have work in this tick.
    #[state(records)]
    are_due: Vec<bool>,
    /// The rows that programs send in.
    #[state(constant)]
    is_program: Vec<bool>,
    /// Messages that have arrived but not been received: by destination, source, row and number.
    arrived: FxHashSet<(NicId, NicId, u8, u32)>,
}

impl Programs {
    /// Creates the programs of `n_nics` NICs; `None` if no class has any.
    pub(crate) fn new(plan: &FabricPlan, n_nics: usize) -> Option<Self> {
        let is_program = |class: usize| plan.classes[class].source.program().is_some();
        let n_classes = plan.classes.len();
        (0..n_classes).any(is_program).then(|| Programs {
            n_classes,
            steps: vec![0; n_nics * n_classes],
            computes_until: vec![None; n_nics * n_classes],
            ended: vec![None; n_nics * n_classes],
            are_due: vec![false; n_nics],
            is_program: rows(plan).iter().map(|&(at, _)| is_program(at)).collect(),
            arrived: FxHashSet::default(),
        })
    }

    /// Validates that no past work is due and that computing times are sound.
    pub(crate) fn validate(&self, bounds: &Bounds<'_>) -> Validity {
        ensure(!self.are_due.contains(&true), || {
            Invalid::new("programs", "none due", "one")
        })?;
        for until in self.computes_until.iter().flatten() {
            bounds.time("end of a rank's computing", *until)?;
        }
        for end in self.ended.iter().flatten() {
            bounds.past("end of a rank", *end)?;
        }
        let most = self.steps.iter().copied().max().unwrap_or(0);
        ensure_below("step of a program", most, u64::from(u32::MAX))
    }

    /// Marks the programs of a NIC as due.
    pub(super) fn make_due(&mut self, nic: u32) {
        self.are_due[nic as usize] = true;
    }

    /// Records that a message is complete, since a program may wait for it.
    pub(super) fn message_completed(&mut self, nic: u32, packet: &Packet) {
        if self.is_program[usize::from(packet.class)] {
            let key = (
                packet.destination,
                packet.source,
                packet.class,
                packet.message,
            );
            self.arrived.insert(key);
            self.make_due(nic);
        }
    }
}

impl<S: Switches> Fabric<S> {
    /// Returns the ranks that wait for a message: class and NIC, and the NIC of the rank that they
    /// wait for.
    pub(crate) fn waiting_ranks(&self) -> Vec<(u8, NicId, NicId)> {
        let endpoints = &self.endpoints;
        let Some(programs) = &endpoints.programs else {
            return vec![];
        };
        let mut waiting = vec![];
        for (nic, steps) in endpoints
            .nics
            .iter()
            .zip(programs.steps.chunks(programs.n_classes))
        {
            for (class, step) in steps.iter().enumerate() {
                let plan = &endpoints.classes[class];
                let op = plan
                    .source
                    .program()
                    .and_then(|program| program.op(nic.id, *step));
                let row = endpoints.row_of[class][usize::from(plan.sl.0 & 15)];
                if let Some(Op::Receive { from, message }) = op
                    && !programs.arrived.contains(&(nic.id, from, row, message))
                {
                    waiting.push((class as u8, nic.id, from));
                }
            }
        }
        waiting
    }

    /// Returns the ranks that are done: class, NIC and time.
    pub(crate) fn ended_ranks(&self) -> Vec<(u8, NicId, Tick)> {
        let endpoints = &self.endpoints;
        let Some(programs) = &endpoints.programs else {
            return vec![];
        };
        let nics = endpoints.nics.iter();
        let ended = nics.zip(programs.ended.chunks(programs.n_classes));
        let of_nic = |(nic, ended): (NicId, &[Option<Tick>])| {
            let ended = ended.iter().enumerate();
            let of_class = ended.filter_map(|(class, end)| Some((class as u8, nic, (*end)?)));
            of_class.collect::<Vec<_>>()
        };
        ended
            .flat_map(|(nic, ended)| of_nic((nic.id, ended)))
            .collect()
    }

    /// Starts the programs of a NIC, or continues after a rank has computed.
    pub(crate) fn programs_begin(&mut self, nic: u32, out: &mut Outbox<Self>) {
        if let Some(programs) = &mut self.endpoints.programs {
            programs.make_due(nic);
            self.mark_nic(nic, out);
        }
    }

    /// Whether the programs of a NIC have work in this tick.
    pub(super) fn has_due_programs(&self, nic: u32) -> bool {
        let programs = self.endpoints.programs.as_ref();
        programs.is_some_and(|programs| programs.are_due[nic as usize])
    }

    /// Runs the programs of a NIC as far as they can.
    pub(super) fn run_programs(&mut self, now: Tick, nic: u32, out: &mut Outbox<Self>) {
        let Some(mut programs) = self.endpoints.programs.take() else {
            return;
        };
        if std::mem::replace(&mut programs.are_due[nic as usize], false) {
            for class in 0..programs.n_classes {
                self.run_program(&mut programs, now, nic, class, out);
            }
        }
        self.endpoints.programs = Some(programs);
    }

    fn run_program(
        &mut self,
        programs: &mut Programs,
        now: Tick,
        nic: u32,
        class: usize,
        out: &mut Outbox<Self>,
    ) {
        let id = self.endpoints.nics[nic].id;
        let plan = &self.endpoints.classes[class];
        let source = plan.source.clone();
        let Some(program) = source.program() else {
            return;
        };
        let sl = plan.sl.0;
        let row = self.endpoints.row_of[class][usize::from(sl & 15)];
        let at = nic as usize * programs.n_classes + class;
        while let Some(op) = program.op(id, programs.steps[at]) {
            match op {
                Op::Send { to, bytes } => {
                    let cycles = program.computes_before(id, programs.steps[at]);
                    if cycles > 0 {
                        let until = &mut programs.computes_until[at];
                        match *until {
                            None => {
                                let end = self.end_of_computing(nic, now, cycles);
                                *until = Some(end);
                                out.at(end, S::Event::begin(nic));
                                break;
                            }
                            Some(end) if end > now => break,
                            Some(_) => *until = None,
                        }
                    }
                    let created = Created {
                        class: class as u8,
                        sl,
                        flow: 0,
                        destination: to,
                        bytes,
                    };
                    self.enqueue(now, nic, created);
                }
                Op::Receive { from, message } => {
                    if !programs.arrived.remove(&(id, from, row, message)) {
                        break;
                    }
                }
            }
            programs.steps[at] += 1;
        }
        let step = programs.steps[at];
        if step > 0 && programs.ended[at].is_none() && program.op(id, step).is_none() {
            programs.ended[at] = Some(now);
        }
    }

    /// Returns when a rank that starts to compute now is done: on an edge of its NIC.
    fn end_of_computing(&self, nic: u32, now: Tick, cycles: u64) -> Tick {
        let clock = Clock::new(self.switches.nic_cycle(self.endpoints.nics[nic].wire));
        clock.edge_at_or_after(now + cycles * clock.period)
    }
}
