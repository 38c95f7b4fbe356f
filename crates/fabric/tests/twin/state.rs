//! State of packets, ports, central links and NICs in the reference implementation.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use netloom_fabric::{FabricPlan, Sizes};
use netloom_packet::Cursor;
use netloom_units::{Sc, Sl};

use super::flows::Flows;

#[derive(Clone, Copy, Default)]
pub(super) struct Packet {
    pub(super) source: u32,
    pub(super) sequence: u32,
    pub(super) destination: u32,
    pub(super) generation: u64,
    pub(super) bytes: u32,
    pub(super) flits: u64,
    pub(super) sl: u8,
    pub(super) row: u8,
    pub(super) sc: Sc,
    pub(super) vl: u8,
    pub(super) hops: u8,
    /// The routing word.
    pub(super) word: u8,
    /// Number of its message among those of its NIC and row, and its own number in that message.
    pub(super) message: u32,
    pub(super) index: u32,
    pub(super) is_last: bool,
    pub(super) kind: Kind,
    /// Whether a congested input has marked it.
    pub(super) is_marked: bool,
    /// Its class at the current input.
    pub(super) class: Class,
    /// At its current input: when the header was received and may be allocated, its output and
    /// lane, and its class at the other end of that link.
    pub(super) received: u64,
    pub(super) allocatable: u64,
    pub(super) output: usize,
    pub(super) next_vl: u8,
    pub(super) next_class: Class,
    /// In a central buffer: when it may be allocated there.
    pub(super) central: u64,
    /// At its current output: when the header was there, and whether it has been announced to the
    /// arbiter.
    pub(super) buffered: u64,
    pub(super) is_announced: bool,
    pub(super) joined_output: (u64, bool),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Kind {
    #[default]
    Data,
    /// The acknowledged packet, its flits, and whether it was marked.
    Acknowledgement {
        of: u32,
        flits: u32,
        is_marked: bool,
    },
}

/// What a sender holds credits for: a lane, or a queue of the next input.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Class {
    Lane(u8),
    Queue(u32),
}

impl Default for Class {
    fn default() -> Self {
        Class::Lane(0)
    }
}

/// Flits of each class that are taken or present.
pub(super) type Counts = BTreeMap<Class, u32>;

/// Takes `n` off a count that holds them.
pub(super) fn take_off(counts: &mut Counts, class: Class, n: u32) {
    let count = counts.get_mut(&class).expect("counted before");
    *count = count.checked_sub(n).expect("counted before");
}

/// One end of a link that sends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Sender {
    Switch(usize, usize),
    Nic(usize),
}

/// An occurrence of a single flit (or slot), or a change of a sender's count.
#[derive(Clone, Copy)]
pub(super) enum Occurrence {
    /// Flit `k` of a packet is completely received at (switch, port) in a class. By the time of its
    /// last flit the header may be two switches further on another lane.
    Received(usize, usize, usize, u64, Class),
    /// The same at a NIC.
    ReceivedByNic(usize, usize, u64),
    /// A flit has left the input buffer of (switch, port, class).
    LeftInput(usize, usize, Class),
    /// A credit is back.
    Credit(Sender, Class),
    /// The sender learns of this change of a lane's count, in flits.
    Counted(Sender, u8, i64),
    /// A whole packet of a lane has left the input buffer of (switch, port).
    PacketLeft(usize, usize, u8, u32),
    /// A flit comes into the central buffer of (switch, link, lane); the first one joins its queue.
    InCentre(usize, usize, u8, usize, u64),
    /// A flit leaves the central buffer; its space is known to be free.
    LeftCentre(usize, usize, u8),
    CentreSpace(usize, usize, u8),
    /// A flit comes into the output buffer of (switch, port, lane).
    Buffered(usize, usize, u8),
    /// A packet in the output buffer of (switch, port, lane) could be scheduled from now on and
    /// joins its queue. At the same tick one from the own MPort precedes one from the centre.
    Joined(usize, usize, u8, usize, bool),
    /// A flit has left the output buffer.
    LeftOutput(usize, usize, u8),
    /// Space has been freed in the output buffer of (switch, port, lane).
    Space(usize, usize, u8),
    /// A header has passed the stages of its input (switch, port).
    Head(usize, usize, usize),
    /// The queue length of an output of the switch at the other end of (switch, port), as announced
    /// by that switch.
    Announced(usize, usize, usize, u32),
}

/// A sender's view of the other end of its link.
#[derive(Default)]
pub(super) struct Far {
    pub(super) credit_used: Counts,
    /// Priority flow control, by lane.
    pub(super) counted: Vec<i64>,
    pub(super) is_stopped: Vec<bool>,
    pub(super) link_until: u64,
}

#[derive(Default)]
pub(super) struct PortState {
    pub(super) queues: Vec<VecDeque<usize>>,
    pub(super) last_header: Option<u64>,
    /// The same at the end of the routing stage, which does not know yet where the packet goes.
    pub(super) last_head: Option<u64>,
    /// Flits of packets whose header has passed the stages of this input and that have not been
    /// granted.
    pub(super) occupancy: u32,
    /// The connections to the crossbar: one, or one for each lane.
    pub(super) crossbar_inputs: Vec<CrossbarInput>,
    pub(super) in_buffer: Counts,
    /// Flits of packets whose header has come and whose tail has not left, by lane.
    pub(super) whole: Vec<u32>,
    pub(super) output_until: u64,
    pub(super) next_input: usize,
    /// The second writer of an output buffer, if there is one.
    pub(super) central_until: u64,
    pub(super) next_link: usize,
    pub(super) space_used: Vec<u32>,
    pub(super) in_output: Vec<u32>,
    pub(super) out_queues: Vec<VecDeque<usize>>,
    /// Flits routed to this output and not granted the path into its buffer.
    pub(super) committed: u32,
    /// The last announcement of this output, and announcements of outputs at the other end.
    pub(super) announced: u32,
    pub(super) heard: BTreeMap<usize, u32>,
    pub(super) far: Far,
}

/// A connection from an input to a crossbar.
#[derive(Clone, Default)]
pub(super) struct CrossbarInput {
    pub(super) until: u64,
    pub(super) next_queue: usize,
    pub(super) next_output: usize,
}

/// A link from an MPort to the central crossbar, with its buffer there.
#[derive(Default)]
pub(super) struct CentralLink {
    /// As an output of the MPort crossbar.
    pub(super) until: u64,
    pub(super) next_input: usize,
    /// As an input of the central crossbar.
    pub(super) crossbar_inputs: Vec<CrossbarInput>,
    pub(super) queues: Vec<VecDeque<usize>>,
    pub(super) space_used: Vec<u32>,
    pub(super) in_buffer: Vec<u32>,
}

/// A message of which `left` bytes have not been cut off.
#[derive(Clone, Copy)]
pub(super) struct Message {
    pub(super) born: u64,
    pub(super) destination: u32,
    pub(super) left: u32,
    pub(super) sc: Sc,
    pub(super) sl: Sl,
    /// The recorder's row.
    pub(super) row: u8,
    /// Number among the messages of its NIC and row, and packets cut so far.
    pub(super) number: u32,
    pub(super) index: u32,
}

impl Message {
    /// Returns its next packet, which is cut off if the caller keeps what is left.
    pub(super) fn cut(&mut self, plan: &FabricPlan) -> Ready {
        let cut = plan.segmentation.of(self.sl).cut(self.left);
        self.left -= cut.payload;
        self.index += 1;
        Ready {
            born: self.born,
            destination: self.destination,
            bytes: cut.bytes,
            flits: cut.flits,
            sc: self.sc,
            sl: self.sl,
            row: self.row,
            message: self.number,
            index: self.index - 1,
            is_last: self.left == 0,
        }
    }
}

/// A packet that could be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    pub(super) born: u64,
    pub(super) destination: u32,
    pub(super) bytes: u32,
    pub(super) flits: u16,
    pub(super) sc: Sc,
    pub(super) sl: Sl,
    pub(super) row: u8,
    pub(super) message: u32,
    pub(super) index: u32,
    pub(super) is_last: bool,
}

/// An acknowledgement that waits to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) to: u32,
    pub(super) born: u64,
    pub(super) sc: Sc,
    pub(super) sl: u8,
    pub(super) row: u8,
    pub(super) kind: Kind,
}

/// One injection queue of a channel, and the destinations that wait for it.
#[derive(Default)]
pub(super) struct Injection {
    pub(super) active: VecDeque<u32>,
    pub(super) packets: VecDeque<Ready>,
    pub(super) used: u32,
}

pub(super) struct NicState {
    /// By channel.
    pub(super) queues: Vec<VecDeque<Message>>,
    /// By channel and destination, by channel and queue of the first switch.
    pub(super) voqs: Vec<BTreeMap<u32, VecDeque<Message>>>,
    pub(super) injection: Vec<Vec<Injection>>,
    pub(super) next_injection: Vec<usize>,
    pub(super) answers: VecDeque<Answer>,
    pub(super) flows: Flows,
    /// The next step of the program of each class.
    pub(super) steps: Vec<u32>,
    /// Since when the rank of each class computes before that step.
    pub(super) computes_since: Vec<Option<u64>>,
    /// By row: messages created so far.
    pub(super) numbers: Vec<u32>,
    /// By source, row and message: packets that have arrived, and the total once it is known.
    pub(super) arriving: BTreeMap<(u32, u8, u32), (u32, Option<u32>)>,
    /// Messages that have arrived and have not been received by a program.
    pub(super) complete: BTreeSet<(u32, u8, u32)>,
    pub(super) far: Far,
    pub(super) sequence: u32,
    pub(super) cursors: Vec<Cursor>,
    pub(super) next: Vec<Option<(u64, u32, u32)>>,
}

/// Returns the space of a lane in a buffer.
pub(super) fn room(sizes: &Sizes, used: &[u32], vl: usize) -> u32 {
    match sizes {
        Sizes::Static(sizes) => sizes[vl].checked_sub(used[vl]).expect("no overflow"),
        Sizes::Pool { capacity, min, max } => {
            let allocated: u32 = (0..used.len())
                .map(|l| {
                    if l == vl {
                        used[l]
                    } else {
                        used[l].max(min[l])
                    }
                })
                .sum();
            (capacity.checked_sub(allocated).expect("no overflow"))
                .min(max[vl].saturating_sub(used[vl]))
        }
    }
}

/// Checks that the actual flits fit.
pub(super) fn assert_holds(sizes: &Sizes, present: &[u32], place: &str) {
    for (vl, &flits) in present.iter().enumerate() {
        assert!(flits <= sizes.most(vl), "no overflow of {place}, lane {vl}");
    }
    if let Sizes::Pool { capacity, .. } = sizes {
        assert!(
            present.iter().sum::<u32>() <= *capacity,
            "no overflow of {place}"
        );
    }
}

/// Returns the cyclic distance of `x` from `first`.
pub(super) fn turn(x: usize, first: usize) -> usize {
    (x + 10_000 - first) % 10_000
}
