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

/// A class of traffic.
#[derive(Clone, PartialEq, Debug)]
pub struct TrafficClass {
    /// Its name.
    pub name: String,
    /// Its share among the classes that have one, in any unit; `None` if it goes before all of them.
    pub share: Option<f64>,
    /// Whether its packets may not be lost: PFC on Ethernet.
    pub is_lossless: bool,
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

    #[test]
    fn mistakes_are_named() {
        let mut two = classes();
        two[1].number = 0;
        let text = check_numbers(&two).unwrap_err().to_string();
        assert_eq!(text, "class storage has number 0, which another class has");
        two[1].number = 8;
        let text = check_numbers(&two).unwrap_err().to_string();
        assert_eq!(text, "class storage has number 8; there are 0 to 7");
        two[1].share = Some(0.0);
        let text = percents(&two).unwrap_err().to_string();
        assert_eq!(
            text,
            "class storage has a share of 0; a share is a number above 0"
        );
    }
}
