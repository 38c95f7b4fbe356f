//! Command lines of Linux for ETS and PFC.

use super::{ClassError, N_PRIORITIES, TrafficClass, check_numbers, percents};

/// `dcb` command lines that give a device ETS and PFC: one traffic class for each class, of its number.
///
/// Priorities without a class share the traffic class of the first class. The bandwidths have a sum of 100.
pub fn dcb_commands(device: &str, classes: &[TrafficClass]) -> Result<Vec<String>, ClassError> {
    check_numbers(classes)?;
    let percents = percents(classes)?;
    let first = classes.first().map_or(0, |class| class.number);
    let mut algorithms = vec![];
    let mut bandwidths = vec![];
    let mut map = vec![];
    for number in 0..N_PRIORITIES {
        let at = classes.iter().position(|class| class.number == number);
        let percent = at.and_then(|at| percents[at]);
        let algorithm = if percent.is_some() { "ets" } else { "strict" };
        algorithms.push(format!("{number}:{algorithm}"));
        bandwidths.push(format!("{number}:{}", percent.unwrap_or(0)));
        map.push(format!("{number}:{}", at.map_or(first, |_| number)));
    }
    let lossless: String = classes
        .iter()
        .filter(|class| class.is_lossless)
        .map(|class| format!(" {}:on", class.number))
        .collect();
    Ok(vec![
        format!(
            "dcb ets set dev {device} tc-tsa {} tc-bw {} prio-tc {}",
            algorithms.join(" "),
            bandwidths.join(" "),
            map.join(" ")
        ),
        format!("dcb pfc set dev {device} prio-pfc all:off{lossless}"),
    ])
}

/// The `tc` command line of the ETS queueing discipline: strict classes first, then the others by quanta.
///
/// The smallest share has a quantum of one packet. Priorities without a class go to the last band.
pub fn tc_ets_command(
    device: &str,
    classes: &[TrafficClass],
    largest_packet: u32,
) -> Result<String, ClassError> {
    check_numbers(classes)?;
    percents(classes)?;
    let mut strict = vec![];
    let mut shared = vec![];
    for class in classes {
        match class.share {
            Some(share) => shared.push((class.number, share)),
            None => strict.push(class.number),
        }
    }
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
    let last = bands.len().saturating_sub(1);
    let priomap: Vec<String> = (0..N_PRIORITIES)
        .map(|number| {
            let band = bands.iter().position(|band| *band == number);
            band.unwrap_or(last).to_string()
        })
        .collect();
    let quanta = match quanta.is_empty() {
        true => String::new(),
        false => format!(" quanta{quanta}"),
    };
    Ok(format!(
        "tc qdisc replace dev {device} root handle 1: ets bands {} strict {}{quanta} priomap {}",
        bands.len(),
        strict.len(),
        priomap.join(" ")
    ))
}

#[cfg(test)]
mod tests {
    use super::super::tests::classes;
    use super::*;

    #[test]
    fn bandwidths_have_a_sum_of_100() {
        let commands = dcb_commands("eth0", &classes()).unwrap();
        let expected = "dcb ets set dev eth0 \
            tc-tsa 0:ets 1:strict 2:strict 3:ets 4:ets 5:strict 6:strict 7:strict \
            tc-bw 0:34 1:0 2:0 3:33 4:33 5:0 6:0 7:0 \
            prio-tc 0:0 1:0 2:0 3:3 4:4 5:0 6:6 7:0";
        assert_eq!(commands[0], expected);
        assert_eq!(commands[1], "dcb pfc set dev eth0 prio-pfc all:off 3:on");
    }

    #[test]
    fn strict_bands_come_first() {
        let mut classes = classes();
        classes[0].share = Some(4.0);
        let command = tc_ets_command("eth0", &classes, 1500).unwrap();
        let expected = "tc qdisc replace dev eth0 root handle 1: ets bands 4 strict 1 \
            quanta 6000 1500 1500 priomap 1 3 3 2 3 3 0 3";
        assert_eq!(command, expected);
    }
}
