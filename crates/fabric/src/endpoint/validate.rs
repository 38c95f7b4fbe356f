//! Validation of restored endpoints: could a run have saved them?

use netloom_encoding::{Invalid, Validity, ensure, ensure_below, ensure_equal};
use netloom_units::{NicId, Sc, Sl};

use crate::endpoint::{Created, Endpoints, Message, Nic};
use crate::shared::Shared;
use crate::slab::Claims;
use crate::switch::NIL;
use crate::validation::{Bounds, RemainingRoutes};

impl<C> Endpoints<C> {
    /// Validates a message that a workload is about to create.
    pub(crate) fn validate_created(
        &self,
        bounds: &Bounds<'_>,
        routes: &mut RemainingRoutes<'_>,
        nic: u32,
        created: &Created,
    ) -> Validity {
        let classes = bounds.plan.classes.len();
        ensure_below("class", created.class, classes as u64)?;
        let class = usize::from(created.class);
        let plan = &bounds.plan.classes[class];
        let sl = Sl(created.sl);
        ensure(plan.sls.contains(&sl), || {
            Invalid::new("service level", "a level of its class", created.sl)
        })?;
        let row = self.row_of[class][usize::from(created.sl & 15)];
        self.validate_message(
            bounds,
            routes,
            nic,
            &Message {
                generation: bounds.now,
                destination: created.destination,
                left: created.bytes,
                number: 0,
                index: 0,
                next: NIL,
                row,
                flow: created.flow,
                sl: created.sl,
                sc: self.channel_of(bounds, nic, sl, created.destination)?.0,
            },
        )
    }

    fn channel_of(
        &self,
        bounds: &Bounds<'_>,
        nic: u32,
        sl: Sl,
        destination: NicId,
    ) -> Result<Sc, Invalid> {
        bounds.nic("destination", destination)?;
        let source = self.nics[nic].id;
        Ok(bounds.plan.channels.choose(sl, source, destination))
    }

    /// Validates a message at its NIC.
    fn validate_message(
        &self,
        bounds: &Bounds<'_>,
        routes: &mut RemainingRoutes<'_>,
        nic: u32,
        message: &Message,
    ) -> Validity {
        let Message {
            destination,
            row,
            flow,
            ..
        } = *message;
        let (source, sl) = (self.nics[nic].id, Sl(message.sl));
        bounds.past("creation time of a message", message.generation)?;
        bounds.row("row of a message", row, sl)?;
        bounds.message("message", sl, message.left)?;
        let sc = self.channel_of(bounds, nic, sl, destination)?;
        ensure_equal("channel of a message", sc, Sc(message.sc))?;
        bounds.connection(
            "destination of a connection",
            source,
            row,
            flow,
            destination,
        )?;
        ensure_below("packets of a message", message.index, 1u64 << 31)?;
        let vl = (bounds.lanes.data)(bounds.plan.channels.at_nic(source, sc));
        routes.leave_nic(source, vl, sc, destination)
    }

    /// Validates the state of all endpoints.
    pub(crate) fn validate(
        &self,
        shared: &Shared,
        bounds: &Bounds<'_>,
        routes: &mut RemainingRoutes<'_>,
    ) -> Validity {
        let n_slots = self.n_slots;
        let mut sent = 0u64;
        for nic in &self.nics {
            validate_nic(nic, bounds, n_slots).map_err(|why| why.within(nic.id))?;
            sent += u64::from(nic.sequence);
        }
        ensure_equal("packets sent by NICs", shared.counters.injected, sent)?;
        for flits in &self.nic_flits {
            bounds.count("flits sent by a NIC", *flits)?;
        }
        for numbers in self.numbers.iter().flatten() {
            ensure_below("messages of a NIC", *numbers, 1u64 << 31)?;
        }
        for cursor in &self.cursors {
            ensure_below("messages of a workload", cursor.number, 1u64 << 31)?;
        }
        if let Some(meters) = &self.meters {
            meters.validate(bounds.now)?;
        }
        self.validate_queues(shared, bounds, routes)?;
        for (nic, answers) in self.nics.iter().zip(&self.answers) {
            for answer in answers {
                let (sc, destination) = answer.validate(bounds, nic.id)?;
                let data = bounds.plan.channels.at_nic(nic.id, sc);
                routes.leave_nic(nic.id, (bounds.lanes.answer)(data), sc, destination)?;
            }
        }
        self.receiver.validate(bounds)?;
        match &self.programs {
            Some(programs) => programs.validate(bounds),
            None => Ok(()),
        }
    }

    /// Validates that each message is in one queue of its NIC, and that the cached data of the
    /// first one of a queue match it.
    fn validate_queues(
        &self,
        shared: &Shared,
        bounds: &Bounds<'_>,
        routes: &mut RemainingRoutes<'_>,
    ) -> Validity {
        let n_slots = self.n_slots;
        let mut messages = Claims::new(&self.messages, "message");
        let mut own = |nic: u32, slot: usize, message: &Message| {
            self.validate_message(bounds, routes, nic, message)?;
            let sc = usize::from(message.sc) % self.slot_of.len();
            ensure_equal("queue of a message", usize::from(self.slot_of[sc]), slot)
        };
        let present = |nic: u32, slot: usize| self.nics[nic].present >> slot & 1 == 1;
        for (at, queue) in self.queues.iter().enumerate() {
            let (nic, slot) = ((at / n_slots) as u32, at % n_slots);
            if self.flows.is_some() || self.voqs.is_some() {
                ensure_equal(
                    "queue of a NIC with queues per destination",
                    NIL,
                    queue.head,
                )?;
                continue;
            }
            ensure_equal("queue with messages", present(nic, slot), queue.head != NIL)?;
            messages.list(
                (queue.head, queue.tail),
                |message| message.next,
                |id, message| {
                    own(nic, slot, message)?;
                    if id != queue.head {
                        return Ok(());
                    }
                    let cut = shared.segmentation.of(Sl(queue.sl)).cut(message.left);
                    let known = (queue.payload, queue.bytes, queue.flits);
                    ensure_equal("next packet", (cut.payload, cut.bytes, cut.flits), known)
                },
            )?;
        }
        if let Some(flows) = &self.flows {
            flows.validate(bounds, n_slots, &mut messages, &mut own)?;
        }
        if let Some(voqs) = &self.voqs {
            let own_cut = |nic: u32, slot: usize, (row, flow, destination): (u8, u8, NicId)| {
                let source = self.nics[nic].id;
                let queue = &self.queues[nic * n_slots as u32 + slot as u32];
                bounds.row("row of a cut packet", row, Sl(queue.sl))?;
                let sc = self.channel_of(bounds, nic, Sl(queue.sl), destination)?;
                ensure_equal("channel of a cut packet", sc, Sc(queue.sc))?;
                bounds.connection(
                    "destination of a connection",
                    source,
                    row,
                    flow,
                    destination,
                )
            };
            voqs.validate(bounds, n_slots, &mut messages, &mut own, own_cut, present)?;
        }
        messages.finish()?;
        let Some(buffers) = &self.buffers else {
            return Ok(());
        };
        buffers.validate(&shared.segmentation, &self.queues, |queue| {
            let (mut list, mut at) = (Vec::new(), queue.head);
            while at != NIL {
                let message = &self.messages[at];
                list.push((at, message.left));
                at = message.next;
            }
            list
        })
    }
}

/// Validates the state of a NIC other than its queues.
fn validate_nic<C>(nic: &Nic<C>, bounds: &Bounds<'_>, n_slots: usize) -> Validity {
    let present = u64::from(nic.present) >> n_slots;
    ensure_equal("queues with messages beyond the last", 0, present)?;
    ensure_equal("NIC that decides in a past tick", false, nic.is_marked)?;
    bounds.time("end of a packet on the link", nic.link_until)?;
    bounds.time("next check of the link", nic.link_wake)?;
    bounds.time("time of the last header", nic.last_header)?;
    ensure_below("messages", nic.messages, 1u64 << 31)
}
