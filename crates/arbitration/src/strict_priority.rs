//! Always sends the most urgent lane first.
//!
//! `order` lists lanes from the most to the least urgent. Other lanes follow, the higher number
//! first. So an empty list means "VL14 before VL13 … before VL0", the common reading of a lane
//! number as a priority. A busy urgent lane starves all others.

use netloom_catalog::{Described, FromToml, Notes, Shape, Value, ValueShape, params};
use netloom_units::Vl;

use crate::head::{queues, vl_bit};
use crate::policy::lanes_outside;
use crate::{Arbiter, Fault, Grant, MANAGEMENT_VL, Policy, PortContext, Speaks, View};

params! {
    /// Lanes in a fixed order of urgency.
    #[derive(Clone, Debug)]
    pub struct StrictPriority {
        /// Lanes from the most to the least urgent. Other lanes follow, the higher number first.
        pub order: VlOrder = VlOrder::default(),
    }
}

impl Described for StrictPriority {
    const NAME: &'static str = "strict-priority";
    const SUMMARY: &'static str = "The most urgent lane that can send; the others wait.";
    const EXAMPLE: &'static str = "order = [2, 0, 1]";
}

/// Lanes from the most to the least urgent: data lanes, without duplicates.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VlOrder(Vec<Vl>);

impl VlOrder {
    /// Returns the order, or an error message.
    pub fn new(vls: Vec<Vl>) -> Result<VlOrder, String> {
        let mut seen = 0;
        for &vl in &vls {
            check_vl(vl, seen)?;
            seen |= vl_bit(vl);
        }
        Ok(VlOrder(vls))
    }

    /// Returns the listed lanes, the most urgent first.
    pub fn vls(&self) -> &[Vl] {
        &self.0
    }

    /// Returns the rank of each lane: 0 is the most urgent. Management precedes all others.
    fn ranks(&self) -> [u8; 32] {
        let mut ranks = [u8::MAX; 32];
        let unnamed = (0..32).rev().map(Vl).filter(|vl| !self.0.contains(vl));
        let all = self.0.iter().copied().chain(unnamed);
        let order = std::iter::once(MANAGEMENT_VL).chain(all.filter(|&vl| vl != MANAGEMENT_VL));
        for (rank, vl) in (0u8..).zip(order) {
            ranks[vl.index()] = rank;
        }
        ranks
    }
}

fn check_vl(vl: Vl, seen: u32) -> Result<(), String> {
    if vl == MANAGEMENT_VL {
        Err("VL15 is management and always goes first; remove it".into())
    } else if vl.0 > 15 {
        Err(format!(
            "{vl} is not a data lane; data lanes are VL0 to VL14"
        ))
    } else if seen & vl_bit(vl) != 0 {
        Err(format!("{vl} is listed twice"))
    } else {
        Ok(())
    }
}

impl FromToml for VlOrder {
    fn shape() -> Shape {
        Shape::List(Box::new(Shape::Integer(0, 14)))
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let numbers = Vec::<u8>::read(value, notes)?;
        let ValueShape::List(items) = &value.shape else {
            unreachable!("a list was just read")
        };
        let (mut seen, mut is_good) = (0, true);
        for (&number, item) in numbers.iter().zip(items) {
            match check_vl(Vl(number), seen) {
                Ok(()) => seen |= vl_bit(Vl(number)),
                Err(message) => {
                    notes.error("E0102", item.place, message);
                    is_good = false;
                }
            }
        }
        is_good.then(|| VlOrder(numbers.into_iter().map(Vl).collect()))
    }

    fn write(&self) -> String {
        self.0.iter().map(|vl| vl.0).collect::<Vec<u8>>().write()
    }
}

impl Policy for StrictPriority {
    fn build(&self) -> Box<dyn Arbiter> {
        Box::new(StrictPriorityArbiter {
            ranks: self.order.ranks(),
        })
    }

    fn faults(&self, context: &PortContext) -> Vec<Fault> {
        let named = self.order.0.iter().fold(0, |vls, vl| vls | vl_bit(*vl));
        lanes_outside("order", named, context).into_iter().collect()
    }

    fn speaks(&self) -> Speaks {
        Speaks::Vls
    }

    fn serves_everyone(&self) -> bool {
        false
    }
}

struct StrictPriorityArbiter {
    ranks: [u8; 32],
}

impl Arbiter for StrictPriorityArbiter {
    #[inline]
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        // Queues of one lane have the same rank: the oldest of them, then the lowest queue.
        let queue = queues(view.eligible).min_by_key(|&queue| {
            let head = &view.heads[queue];
            (self.ranks[head.vl.index() & 31], head.born)
        })?;
        Some(Grant {
            queue: queue as u8,
            registers: [0; 6],
        })
    }

    #[inline]
    fn commit(&mut self, _grant: Grant) {}

    fn save(&self, _out: &mut Vec<u64>) {}

    fn restore(&mut self, _from: &mut &[u64]) -> Option<()> {
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Head, N_QUEUES};
    use netloom_units::Tick;

    /// Returns the order in which one packet of each lane leaves.
    fn leaves(order: &[u8], vls: &[u8]) -> Vec<u8> {
        let order = VlOrder::new(order.iter().copied().map(Vl).collect()).unwrap();
        let arbiter = StrictPriority { order }.build();
        let mut heads = [Head::default(); N_QUEUES];
        for (head, vl) in heads.iter_mut().zip(vls) {
            head.vl = Vl(*vl);
        }
        let mut eligible = (1 << vls.len()) - 1;
        std::iter::from_fn(|| {
            let view = View {
                eligible,
                heads: &heads,
            };
            let grant = arbiter.choose(&view)?;
            eligible &= !(1 << grant.queue);
            Some(heads[usize::from(grant.queue)].vl.0)
        })
        .collect()
    }

    #[test]
    fn lanes_leave_in_order_with_the_unnamed_after_and_management_before() {
        assert_eq!(leaves(&[], &[0, 3, 1, 2]), [3, 2, 1, 0]);
        assert_eq!(leaves(&[1, 0], &[0, 1, 2, 3, 15]), [15, 1, 0, 3, 2]);
    }

    #[test]
    fn queues_of_one_lane_leave_by_age() {
        let arbiter = StrictPriority {
            order: VlOrder::default(),
        }
        .build();
        let mut heads = [Head::default(); N_QUEUES];
        heads[0].born = Tick(5);
        heads[1].born = Tick(4);
        heads[2].born = Tick(4);
        let view = View {
            eligible: 0b111,
            heads: &heads,
        };
        assert_eq!(arbiter.choose(&view).unwrap().queue, 1);
    }

    #[test]
    fn an_order_names_data_lanes_once() {
        assert!(VlOrder::new(vec![Vl(0), Vl(14)]).is_ok());
        for wrong in [vec![Vl(15)], vec![Vl(16)], vec![Vl(3), Vl(3)]] {
            assert!(VlOrder::new(wrong).is_err());
        }
    }
}
