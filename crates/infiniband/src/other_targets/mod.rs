//! Configuration of classes for other fabrics: Omni-Path, and Ethernet with PFC and ETS.
//!
//! A class has a share or strict priority. These fabrics have no equivalent of the limit of the
//! InfiniBand high table: its classes become strict, without a limit.
//!
//! Whole percents are computed by the largest remainder: shares are scaled to a sum of 100, every
//! class gets the whole part (at least 1), and the rest is distributed by largest remainder, in
//! order of the classes for ties. If the minimum of 1 makes the sum too large, the largest classes
//! give up percents.

mod ethernet;
mod opafm;
mod percent;
mod sonic;

pub use ethernet::{dcb_commands, tc_ets_command};
pub use opafm::opafm_qos_groups;
pub use percent::whole_percents;
pub use sonic::sonic_config_db;

/// Number of priorities and queues of Ethernet.
const N_PRIORITIES: u8 = 8;

/// The largest code point (DSCP) of an IP packet.
const LARGEST_DSCP: u8 = 63;

/// A class of traffic.
#[derive(Clone, PartialEq, Debug)]
pub struct TrafficClass {
    pub name: String,
    /// The share among the classes that have one, in any unit; `None` for strict priority.
    pub share: Option<f64>,
    /// Whether its packets must not be lost (PFC on Ethernet).
    pub is_lossless: bool,
    /// Whether its packets have a deadline.
    pub has_deadline: bool,
    /// The priority, traffic class and queue of Ethernet, from 0 to 7, or the service level of
    /// Omni-Path.
    pub number: u8,
    /// Code points of IP packets of the class, for switches that classify by them.
    pub dscps: Vec<u8>,
}

/// The reason why classes cannot be written.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ClassError {
    /// A number that Ethernet does not have.
    #[error("class {0}: expected a number from 0 to 7, found {1}")]
    NoSuchNumber(String, u8),
    /// Two classes with the same number.
    #[error("class {0} has number {1}, which another class already has")]
    NumberTaken(String, u8),
    /// A share that is not a positive number.
    #[error("class {0}: expected a share above 0, found {1}")]
    NoShare(String, f64),
    /// More classes than percents.
    #[error("expected at most 100 classes with a share, found {0}")]
    TooManyClasses(usize),
    /// A code point that is out of range, or that another class has.
    #[error("class {0}: DSCP {1} is above 63 or belongs to another class")]
    WrongDscp(String, u8),
    /// No queue for packets without a class.
    #[error(
        "no queue is left for traffic outside the plan; use --lossy with a class without a \
         deadline, or plan at most 7 classes"
    )]
    NoQueueLeft,
    /// Classes that no packet can match.
    #[error(
        "no DSCP for {}: switches classify packets by DSCP; set one in [[plan.class]], \
         such as `dscp = 26`",
        .0.join(", ")
    )]
    NoDscp(Vec<String>),
}

/// The queues of an Ethernet port: one for each class, and one for packets without a class.
///
/// Packets without a class may be anything, such as TCP or management. They do not use lossless
/// queues, where TCP would fill the buffers that PFC protects, or queues with a deadline.
#[derive(Clone, PartialEq, Debug)]
pub struct Queues {
    classes: Vec<TrafficClass>,
    others: usize,
}

/// The share of a queue for packets without a class, in percent of the link.
const SHARE_OF_OTHERS: f64 = 1.0;

impl Queues {
    /// Builds the queues of these classes. Packets without a class go to the lossy class with the
    /// largest share and without a deadline. If there is none, they get their own lossy queue: the
    /// first free one, with 1 % of the link.
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

    /// Returns the class for packets without a class.
    pub fn others(&self) -> &TrafficClass {
        &self.classes[self.others]
    }

    /// Returns the number of classes.
    pub fn n_classes(&self) -> usize {
        self.classes.len()
    }

    /// Returns the classes without a code point, except the one for packets without a class.
    pub fn without_dscp(&self) -> Vec<String> {
        let numbered = self.classes.iter().enumerate();
        let lacking = numbered.filter(|(at, class)| *at != self.others && class.dscps.is_empty());
        lacking.map(|(_, class)| class.name.clone()).collect()
    }

    /// Returns the queue of a priority.
    fn of_priority(&self, priority: u8) -> u8 {
        let is_own = self.classes.iter().any(|class| class.number == priority);
        if is_own {
            priority
        } else {
            self.others().number
        }
    }

    /// Returns the queue of a code point.
    fn of_dscp(&self, dscp: u8) -> u8 {
        let class = self
            .classes
            .iter()
            .find(|class| class.dscps.contains(&dscp));
        class.unwrap_or(self.others()).number
    }
}

/// Rejects code points that are out of range, or that two classes have.
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

/// Returns the whole percents of the classes; `None` for strict classes.
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

/// Rejects numbers that are out of range, or that two classes have.
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

    /// Returns the class of packets without a class: its name, number and share of 100.
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
        assert_eq!(
            text,
            "class storage has number 0, which another class already has"
        );
        two[1].number = 8;
        let text = check_numbers(&two).unwrap_err().to_string();
        assert_eq!(
            text,
            "class storage: expected a number from 0 to 7, found 8"
        );
        two = classes();
        two[1].dscps = vec![2, 48];
        let text = Queues::of(two.clone()).unwrap_err().to_string();
        assert_eq!(
            text,
            "class control: DSCP 48 is above 63 or belongs to another class"
        );
        two[1].share = Some(0.0);
        let text = percents(&two).unwrap_err().to_string();
        assert_eq!(text, "class storage: expected a share above 0, found 0");
    }
}
