//! The same classes for fabrics that are not InfiniBand: Omni-Path, and Ethernet with PFC and ETS.
//!
//! A class has a share, or goes before all others. The high table of InfiniBand with its limit has no equal there:
//! classes of the high table become strict ones, without a limit.
//!
//! Whole percents are made by the largest remainder: shares are scaled to a sum of 100, every class gets the whole part
//! (at least 1), and what is left goes one by one to the classes with the largest rest, the earlier one if they are even.
//! Where that minimum of 1 makes the sum too large, the classes with the most give.

mod ethernet;
mod opafm;
mod percent;
mod sonic;

pub use ethernet::{dcb_commands, tc_ets_command};
pub use opafm::opafm_qos_groups;
pub use percent::whole_percents;
pub use sonic::sonic_config_db;

/// Priorities of Ethernet, and its queues.
const N_PRIORITIES: u8 = 8;

/// The largest code point (DSCP) of an IP packet.
const LARGEST_DSCP: u8 = 63;

/// A class of traffic.
#[derive(Clone, PartialEq, Debug)]
pub struct TrafficClass {
    /// Its name.
    pub name: String,
    /// Its share among the classes that have one, in any unit; `None` if it goes before all of them.
    pub share: Option<f64>,
    /// Whether its packets may not be lost: PFC on Ethernet.
    pub is_lossless: bool,
    /// Whether its packets have a deadline.
    pub has_deadline: bool,
    /// Its number: the priority, traffic class and queue of Ethernet, from 0 to 7; the service level of Omni-Path.
    pub number: u8,
    /// Code points of IP packets that belong to it, for switches that sort by them.
    pub dscps: Vec<u8>,
}

/// Why classes cannot be written.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ClassError {
    /// A number that Ethernet does not have.
    #[error("class {0} has number {1}; there are 0 to 7")]
    NoSuchNumber(String, u8),
    /// Two classes of one number.
    #[error("class {0} has number {1}, which another class has")]
    NumberTaken(String, u8),
    /// A share that is none.
    #[error("class {0} has a share of {1}; a share is a number above 0")]
    NoShare(String, f64),
    /// More classes than percents.
    #[error("{0} classes have a share; at most 100 can have one percent each")]
    TooManyClasses(usize),
    /// A code point that IP does not have, or that another class has.
    #[error("class {0} has DSCP {1}; expected 0 to 63, each in one class")]
    WrongDscp(String, u8),
    /// No queue for packets of no class.
    #[error(
        "no queue is left for traffic outside the plan: name a class without a deadline with --lossy, or plan at most 7 classes"
    )]
    NoQueueLeft,
    /// Classes that no packet could get into.
    #[error(
        "no DSCP for {}: switches sort packets by DSCP, so no packet would get into its queue; write `dscp = 26`, for example, into its [[plan.class]]",
        .0.join(", ")
    )]
    NoDscp(Vec<String>),
}

/// The queues of a port of Ethernet: one for each class, and where packets of no class go.
///
/// Packets of no class may be anything, such as TCP or management. They get into no lossless queue, where TCP would fill
/// the buffers that PFC protects, and into none with a deadline.
#[derive(Clone, PartialEq, Debug)]
pub struct Queues {
    classes: Vec<TrafficClass>,
    others: usize,
}

/// The part of the link, in percent, of a queue for packets of no class.
const SHARE_OF_OTHERS: f64 = 1.0;

impl Queues {
    /// The queues of these classes. Packets of no class go to the lossy class with the largest share and without a
    /// deadline. Where there is none, they get a lossy queue of their own: the first that no class has, with 1 % of
    /// the link.
    pub fn of(mut classes: Vec<TrafficClass>) -> Result<Queues, ClassError> {
        check_numbers(&classes)?;
        check_dscps(&classes)?;
        let share = |class: &TrafficClass| class.share.unwrap_or(0.0);
        let harmless = (0..classes.len()).rev().filter(|&at| {
            let class = &classes[at];
            !class.is_lossless && !class.has_deadline && class.share.is_some()
        });
        let harmless = harmless.max_by(|a, b| share(&classes[*a]).total_cmp(&share(&classes[*b])));
        let others = match harmless {
            Some(others) => others,
            None => {
                let is_free = |number: &u8| classes.iter().all(|class| class.number != *number);
                let number = (0..N_PRIORITIES).find(is_free);
                let sum: f64 = classes.iter().map(share).sum();
                let all = if sum > 0.0 { sum } else { 1.0 };
                classes.push(TrafficClass {
                    name: "others".to_owned(),
                    share: Some(all * SHARE_OF_OTHERS / (100.0 - SHARE_OF_OTHERS)),
                    is_lossless: false,
                    has_deadline: false,
                    number: number.ok_or(ClassError::NoQueueLeft)?,
                    dscps: vec![],
                });
                classes.len() - 1
            }
        };
        Ok(Queues { classes, others })
    }

    /// The class that packets of no class go to.
    pub fn others(&self) -> &TrafficClass {
        &self.classes[self.others]
    }

    /// How many there are.
    pub fn n_classes(&self) -> usize {
        self.classes.len()
    }

    /// The classes that have no code point, without that of all others.
    pub fn without_dscp(&self) -> Vec<String> {
        let numbered = self.classes.iter().enumerate();
        let lacking = numbered.filter(|(at, class)| *at != self.others && class.dscps.is_empty());
        lacking.map(|(_, class)| class.name.clone()).collect()
    }

    /// The queue of a priority.
    fn of_priority(&self, priority: u8) -> u8 {
        let is_own = self.classes.iter().any(|class| class.number == priority);
        if is_own {
            priority
        } else {
            self.others().number
        }
    }

    /// The queue of a code point.
    fn of_dscp(&self, dscp: u8) -> u8 {
        let class = self
            .classes
            .iter()
            .find(|class| class.dscps.contains(&dscp));
        class.unwrap_or(self.others()).number
    }
}

/// Refuses code points that IP does not have, or that two classes have.
fn check_dscps(classes: &[TrafficClass]) -> Result<(), ClassError> {
    let mut seen = vec![];
    for class in classes {
        for dscp in &class.dscps {
            if *dscp > LARGEST_DSCP || seen.contains(dscp) {
                return Err(ClassError::WrongDscp(class.name.clone(), *dscp));
            }
            seen.push(*dscp);
        }
    }
    Ok(())
}

/// The classes with their whole percents; `None` for strict ones.
fn percents(classes: &[TrafficClass]) -> Result<Vec<Option<u8>>, ClassError> {
    let is_share = |share: f64| share.is_finite() && share > 0.0;
    for class in classes {
        if let Some(share) = class.share.filter(|share| !is_share(*share)) {
            return Err(ClassError::NoShare(class.name.clone(), share));
        }
    }
    let shares: Vec<f64> = classes.iter().filter_map(|class| class.share).collect();
    let whole = whole_percents(&shares).ok_or(ClassError::TooManyClasses(shares.len()))?;
    let mut whole = whole.into_iter();
    let of_class = |class: &TrafficClass| class.share.and_then(|_| whole.next());
    Ok(classes.iter().map(of_class).collect())
}

/// Refuses numbers that Ethernet does not have, or that two classes have.
fn check_numbers(classes: &[TrafficClass]) -> Result<(), ClassError> {
    for (n, class) in classes.iter().enumerate() {
        if class.number >= N_PRIORITIES {
            return Err(ClassError::NoSuchNumber(class.name.clone(), class.number));
        }
        if classes[..n]
            .iter()
            .any(|other| other.number == class.number)
        {
            return Err(ClassError::NumberTaken(class.name.clone(), class.number));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three classes with shares, one of them lossless, and a strict one.
    pub(super) fn classes() -> Vec<TrafficClass> {
        let class = |name: &str, share, number: u8| TrafficClass {
            name: name.to_owned(),
            share,
            is_lossless: number == 3,
            has_deadline: number == 6,
            number,
            dscps: vec![number * 8],
        };
        vec![
            class("bulk", Some(1.0), 0),
            class("storage", Some(1.0), 3),
            class("mpi", Some(1.0), 4),
            class("control", None, 6),
        ]
    }

    /// The class of others: its name, number and share of 100.
    fn others(classes: Vec<TrafficClass>) -> (String, u8, f64) {
        let queues = Queues::of(classes).unwrap();
        let sum: f64 = queues.classes.iter().filter_map(|class| class.share).sum();
        let others = queues.others();
        let share = others.share.unwrap() / sum * 100.0;
        (
            others.name.clone(),
            others.number,
            (share * 1e6).round() / 1e6,
        )
    }

    #[test]
    fn packets_of_no_class_get_into_a_lossy_queue_without_a_deadline() {
        let mut few = classes();
        few[2].share = Some(2.0);
        assert_eq!(others(few.clone()), ("mpi".to_owned(), 4, 50.0));
        few[2].has_deadline = true;
        assert_eq!(others(few.clone()), ("bulk".to_owned(), 0, 25.0));
        few[0].is_lossless = true;
        assert_eq!(others(few.clone()), ("others".to_owned(), 1, 1.0));
        for number in [1, 2, 5] {
            few.push(TrafficClass {
                number,
                dscps: vec![],
                ..few[1].clone()
            });
        }
        assert_eq!(others(few.clone()).1, 7);
        few.push(TrafficClass {
            number: 7,
            dscps: vec![],
            ..few[3].clone()
        });
        assert_eq!(Queues::of(few), Err(ClassError::NoQueueLeft));
        let strict = vec![classes().remove(3)];
        assert_eq!(others(strict), ("others".to_owned(), 0, 100.0));
    }

    #[test]
    fn mistakes_are_named() {
        let mut two = classes();
        two[1].number = 0;
        let text = check_numbers(&two).unwrap_err().to_string();
        assert_eq!(text, "class storage has number 0, which another class has");
        two[1].number = 8;
        let text = check_numbers(&two).unwrap_err().to_string();
        assert_eq!(text, "class storage has number 8; there are 0 to 7");
        two = classes();
        two[1].dscps = vec![2, 48];
        let text = Queues::of(two.clone()).unwrap_err().to_string();
        assert_eq!(
            text,
            "class control has DSCP 48; expected 0 to 63, each in one class"
        );
        two[1].share = Some(0.0);
        let text = percents(&two).unwrap_err().to_string();
        assert_eq!(
            text,
            "class storage has a share of 0; a share is a number above 0"
        );
    }
}
