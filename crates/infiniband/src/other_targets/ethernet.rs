//! Linux command lines for ETS, PFC and the priorities of code points.

use super::{ClassError, LARGEST_DSCP, N_PRIORITIES, Queues, percents};

/// Returns the `dcb` command lines that set ETS, PFC and the priorities of code points. The traffic
/// class of a class has the number of the class.
///
/// Priorities without a class share the traffic class of the others, and code points without a
/// class get its priority, as do packets that are not IP. The bandwidths sum to 100.
pub fn dcb_commands(device: &str, queues: &Queues) -> Result<Vec<String>, ClassError> {
    let classes = &queues.classes;
    let percents = percents(classes)?;
    let mut algorithms = vec![];
    let mut bandwidths = vec![];
    let mut map = vec![];
    for number in 0..N_PRIORITIES {
        let at = classes.iter().position(|class| class.number == number);
        let percent = at.and_then(|at| percents[at]);
        let algorithm = if percent.is_some() { "ets" } else { "strict" };
        algorithms.push(format!("{number}:{algorithm}"));
        bandwidths.push(format!("{number}:{}", percent.unwrap_or(0)));
        map.push(format!("{number}:{}", queues.of_priority(number)));
    }
    let lossless: String = classes
        .iter()
        .filter(|class| class.is_lossless)
        .map(|class| format!(" {}:on", class.number))
        .collect();
    let dscps: Vec<String> = (0..=LARGEST_DSCP)
        .map(|dscp| format!("{dscp}:{}", queues.of_dscp(dscp)))
        .collect();
    Ok(vec![
        format!(
            "dcb ets set dev {device} tc-tsa {} tc-bw {} prio-tc {}",
            algorithms.join(" "),
            bandwidths.join(" "),
            map.join(" ")
        ),
        format!("dcb pfc set dev {device} prio-pfc all:off{lossless}"),
        format!(
            "dcb app replace dev {device} default-prio {} dscp-prio {}",
            queues.others().number,
            dscps.join(" ")
        ),
    ])
}

/// Returns the `tc` command line of the ETS queueing discipline: strict classes first, then the
/// others by quanta.
///
/// The smallest share has a quantum of one packet. The last band is for packets without a class,
/// and for priorities that the command does not name.
pub fn tc_ets_command(
    device: &str,
    queues: &Queues,
    largest_packet: u32,
) -> Result<String, ClassError> {
    percents(&queues.classes)?;
    let mut strict = vec![];
    let mut shared = vec![];
    for class in &queues.classes {
        match class.share {
            Some(share) => shared.push((class.number, share)),
            None => strict.push(class.number),
        }
    }
    let others = queues.others().number;
    shared.sort_by_key(|(number, _)| *number == others);
    let smallest = shared
        .iter()
        .map(|(_, share)| *share)
        .fold(f64::INFINITY, f64::min);
    let quanta: String = shared
        .iter()
        .map(|(_, share)| {
            let packets = share / smallest;
            format!(" {}", (packets * f64::from(largest_packet)).round() as u64)
        })
        .collect();
    let bands: Vec<u8> = strict
        .iter()
        .copied()
        .chain(shared.iter().map(|(number, _)| *number))
        .collect();
    let priomap: Vec<String> = (0..N_PRIORITIES)
        .filter_map(|priority| {
            let queue = queues.of_priority(priority);
            let band = bands.iter().position(|band| *band == queue)?;
            Some(band.to_string())
        })
        .collect();
    Ok(format!(
        "tc qdisc replace dev {device} root handle 1: ets bands {} strict {} quanta{quanta} \
         priomap {}",
        bands.len(),
        strict.len(),
        priomap.join(" ")
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::tests::classes;
    use super::super::{Queues, TrafficClass};
    use super::*;

    /// Returns the pairs of an argument of `dcb`, up to the next word without a colon.
    fn pairs<'a>(command: &'a str, argument: &str) -> BTreeMap<&'a str, &'a str> {
        let mut words = command.split(' ').skip_while(|word| *word != argument);
        assert_eq!(words.next(), Some(argument), "{command}");
        words.map_while(|word| word.split_once(':')).collect()
    }

    #[test]
    fn bandwidths_have_a_sum_of_100() {
        let queues = Queues::of(classes()).unwrap();
        let commands = dcb_commands("eth0", &queues).unwrap();
        let expected = "dcb ets set dev eth0 \
            tc-tsa 0:ets 1:strict 2:strict 3:ets 4:ets 5:strict 6:strict 7:strict \
            tc-bw 0:34 1:0 2:0 3:33 4:33 5:0 6:0 7:0 \
            prio-tc 0:0 1:0 2:0 3:3 4:4 5:0 6:6 7:0";
        assert_eq!(commands[0], expected);
        assert_eq!(commands[1], "dcb pfc set dev eth0 prio-pfc all:off 3:on");
    }

    /// Every code point and priority ends in the intended traffic class. Those without a class end
    /// in one that is neither lossless nor strict.
    #[test]
    fn every_code_point_and_priority_has_the_class_that_is_meant() {
        let all_lossless = classes().into_iter().map(|class| TrafficClass {
            is_lossless: true,
            ..class
        });
        for classes in [classes(), all_lossless.collect()] {
            let queues = Queues::of(classes.clone()).unwrap();
            let commands = dcb_commands("eth0", &queues).unwrap();
            let prio_tc = pairs(&commands[0], "prio-tc");
            let algorithms = pairs(&commands[0], "tc-tsa");
            let pfc = pairs(&commands[1], "prio-pfc");
            let dscp_prio = pairs(&commands[2], "dscp-prio");
            assert_eq!((prio_tc.len(), dscp_prio.len()), (8, 64));
            let is_harmless = |priority: &str| {
                !pfc.contains_key(priority) && algorithms[prio_tc[priority]] == "ets"
            };
            let default = commands[2]
                .split(' ')
                .skip_while(|word| *word != "default-prio");
            assert!(is_harmless(default.into_iter().nth(1).unwrap()));
            for dscp in 0..64u8 {
                let priority = dscp_prio[dscp.to_string().as_str()];
                match classes.iter().find(|class| class.dscps.contains(&dscp)) {
                    Some(class) => assert_eq!(prio_tc[priority], class.number.to_string()),
                    None => assert!(is_harmless(priority), "DSCP {dscp}: {commands:?}"),
                }
            }
            for priority in 0..8u8 {
                let name = priority.to_string();
                match classes.iter().find(|class| class.number == priority) {
                    Some(class) => {
                        assert_eq!(prio_tc[name.as_str()], name);
                        assert_eq!(pfc.contains_key(name.as_str()), class.is_lossless);
                    }
                    None => assert!(is_harmless(&name), "priority {priority}: {commands:?}"),
                }
            }
        }
    }

    #[test]
    fn strict_bands_come_first_and_all_others_last() {
        let mut classes = classes();
        classes[0].share = Some(4.0);
        let queues = Queues::of(classes).unwrap();
        let command = tc_ets_command("eth0", &queues, 1500).unwrap();
        let expected = "tc qdisc replace dev eth0 root handle 1: ets bands 4 strict 1 \
            quanta 1500 1500 6000 priomap 3 3 3 1 2 3 0 3";
        assert_eq!(command, expected);
    }
}
