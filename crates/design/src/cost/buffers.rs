//! Computes buffers from cable length and rate: the minimum for a link, and the idle part of a
//! switch.
//!
//! A lossless link runs at full rate if the receiving buffer holds what is sent during one round
//! trip: a credit (or a link-level acknowledgement) frees space only after that time. A port built
//! for the longest cable leaves most of its buffer idle on a short one. Paper 002 uses this idle
//! space as stash.

use netloom_units::{Bytes, Rate, Ratio, Time};

/// The delay of a cable per metre: 5 ns, as light in fibre.
pub const DELAY_PER_METRE: u64 = 5;

/// Returns the one-way delay of a cable of this length.
pub fn cable_delay(metres: Ratio) -> Time {
    Time::from_picos(metres * Ratio::whole(DELAY_PER_METRE * 1000))
}

/// Returns the exact amount that a link sends during a round trip. The delay is one-way and may
/// include fixed parts.
pub fn round_trip(delay: Time, rate: Rate) -> Ratio {
    let bits = delay.picos() * Ratio::whole(2) * Ratio::whole(rate.0);
    bits / Ratio::whole(8) / Ratio::whole(1_000_000_000_000)
}

/// Returns the buffer that keeps a link with credits at full rate: one round trip, and the packet
/// that waits for its last credit (`packet` is 0 if credits are flits).
pub fn credit_buffer(delay: Time, rate: Rate, packet: Bytes) -> Bytes {
    Bytes(round_trip(delay, rate).ceil() + packet.0)
}

/// Ports of one kind on a switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortGroup {
    /// The name: end, local or global.
    pub name: String,
    pub n_ports: u64,
    /// The one-way delay of their cables.
    pub delay: Time,
}

/// The idle buffer of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupIdle {
    /// The name of the group.
    pub name: String,
    /// Bytes that one buffer needs.
    pub needed: Bytes,
    /// Bytes that one buffer has beyond that; 0 if the cable is too long for it.
    pub idle: Bytes,
    /// Bytes that one buffer lacks for full rate.
    pub missing: Bytes,
}

/// The idle buffer of a switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchIdle {
    pub groups: Vec<GroupIdle>,
    /// All idle bytes.
    pub idle: Bytes,
    /// All bytes.
    pub total: Bytes,
}

impl SwitchIdle {
    /// Returns the idle part of all buffers; 0 for a switch without buffers.
    pub fn part(&self) -> Ratio {
        if self.total.0 == 0 {
            return Ratio::ZERO;
        }
        Ratio::new(self.idle.0.into(), self.total.0.into())
    }
}

/// Returns the idle buffer of a switch whose ports all have `buffers_per_port` buffers (input and
/// output: 2) of `buffer` bytes.
pub fn idle_buffer(
    groups: &[PortGroup],
    rate: Rate,
    buffer: Bytes,
    buffers_per_port: u64,
) -> SwitchIdle {
    let one = |group: &PortGroup| {
        let needed = credit_buffer(group.delay, rate, Bytes(0));
        GroupIdle {
            name: group.name.clone(),
            needed,
            idle: Bytes(buffer.0.saturating_sub(needed.0)),
            missing: Bytes(needed.0.saturating_sub(buffer.0)),
        }
    };
    let idle_groups: Vec<GroupIdle> = groups.iter().map(one).collect();
    let buffers = |group: &PortGroup| group.n_ports * buffers_per_port;
    let pairs = groups.iter().zip(&idle_groups);
    let idle = pairs
        .map(|(group, idle)| buffers(group) * idle.idle.0)
        .sum();
    let total = groups.iter().map(|group| buffers(group) * buffer.0).sum();
    SwitchIdle {
        groups: idle_groups,
        idle: Bytes(idle),
        total: Bytes(total),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN_GIGABYTES: Rate = Rate(80_000_000_000);

    fn group(name: &str, n_ports: u64, delay: Time) -> PortGroup {
        PortGroup {
            name: name.into(),
            n_ports,
            delay,
        }
    }

    fn metres(n: u64) -> Time {
        cable_delay(Ratio::whole(n))
    }

    /// Table I of paper 002: cables of 1, 5 and 100 m on a quarter, a half and a quarter of the
    /// ports.
    #[test]
    fn v002_3_idle_buffer_by_cable_length() {
        let groups = [
            group("end", 5, metres(1)),
            group("local", 10, metres(5)),
            group("global", 5, metres(100)),
        ];
        let idle = idle_buffer(&groups, TEN_GIGABYTES, Bytes(10_000), 2);
        let parts: Vec<u64> = idle.groups.iter().map(|g| g.idle.0).collect();
        assert_eq!(parts, [9_900, 9_500, 0]);
        assert_eq!(idle.part(), Ratio::new(7225, 10_000));
    }

    #[test]
    fn v002_4_buffer_sizing() {
        let buffer = credit_buffer(Time::from_nanos(500), TEN_GIGABYTES, Bytes(0));
        assert_eq!(buffer, Bytes(10_000));
        assert_eq!(metres(100), Time::from_nanos(500));
        let idle = idle_buffer(&[group("any", 20, metres(1))], TEN_GIGABYTES, buffer, 2);
        assert_eq!(idle.total, Bytes(400_000));
    }

    /// The partitions of paper 002 leave 1250, 2500 and 10000 bytes (flits of 10 bytes).
    #[test]
    fn v002_15_normal_partitions_hold_a_round_trip() {
        let needed = |nanos| credit_buffer(Time::from_nanos(nanos), TEN_GIGABYTES, Bytes(0)).0 / 10;
        assert_eq!([5, 40, 500].map(needed), [10, 80, 1000]);
    }

    #[test]
    fn a_cable_too_long_lacks_buffer() {
        let idle = idle_buffer(
            &[group("far", 1, metres(200))],
            TEN_GIGABYTES,
            Bytes(10_000),
            1,
        );
        assert_eq!(
            (idle.groups[0].missing, idle.idle),
            (Bytes(10_000), Bytes(0))
        );
    }
}
