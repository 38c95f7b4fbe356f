//! The computing time of a rank between a receive and its next send.

use netloom_catalog::choice;
use netloom_random::{Purpose, Stream, exponential};

use super::Rank;

choice! {
    /// The distribution of computing times around their mean.
    pub enum ComputeLaw {
        /// Always the mean.
        Constant = "constant",
        /// Uniform from zero to twice the mean.
        Uniform = "uniform",
        /// Exponential: mostly short, sometimes several times the mean.
        Exponential = "exponential",
    }
}

/// The computing of a job. A draw depends on rank and step, so computing times do not depend on the
/// NICs of the ranks or on the fabric.
#[derive(Clone, Debug)]
pub struct Computing {
    /// In cycles of a NIC.
    pub mean: u64,
    pub law: ComputeLaw,
    pub stream: Stream,
    /// Index of the class in the experiment.
    pub class: u8,
}

impl Computing {
    /// Returns the computing of a class for a seed.
    pub fn new(mean: u64, law: ComputeLaw, seed: u64, class: u8) -> Computing {
        Computing {
            mean,
            law,
            stream: Stream::new(seed, Purpose::Compute),
            class,
        }
    }

    /// Returns the cycles of computing before a step of a rank.
    pub(super) fn cycles(&self, rank: Rank, step: u32) -> u64 {
        let unit = || {
            let occasion = [rank.0, u32::from(self.class), step, 0];
            self.stream.draw(occasion).unit(0)
        };
        let mean = self.mean as f64;
        match self.law {
            ComputeLaw::Constant => self.mean,
            ComputeLaw::Uniform => libm::round(2.0 * mean * unit()) as u64,
            ComputeLaw::Exponential => libm::round(mean * exponential(unit())) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use netloom_packet::Program;
    use netloom_units::NicId;

    use super::super::{Builder, Placed};
    use super::*;

    fn cycles(law: ComputeLaw) -> Vec<u64> {
        let computing = Computing::new(1000, law, 7, 0);
        (0..20_000)
            .map(|step| computing.cycles(Rank(step % 5), step))
            .collect()
    }

    #[test]
    fn every_law_has_its_mean_and_its_spread() {
        let mean = |times: &[u64]| times.iter().sum::<u64>() as f64 / times.len() as f64;
        assert!(
            cycles(ComputeLaw::Constant)
                .iter()
                .all(|time| *time == 1000)
        );
        let uniform = cycles(ComputeLaw::Uniform);
        assert!(uniform.iter().all(|time| *time <= 2000));
        assert!((mean(&uniform) - 1000.0).abs() < 15.0, "{}", mean(&uniform));
        let exponential = cycles(ComputeLaw::Exponential);
        assert!((mean(&exponential) - 1000.0).abs() < 30.0);
        // One in e^2 takes more than twice the mean.
        let long = exponential.iter().filter(|time| **time > 2000).count();
        assert!((2_500..2_900).contains(&long), "{long}");
    }

    #[test]
    fn a_rank_computes_after_it_waited_and_before_it_sends() {
        let mut builder = Builder::new(2);
        let (a, b) = (Rank(0), Rank(1));
        for _ in 0..2 {
            builder.send(a, b, 8);
            builder.send(a, b, 8);
            builder.receive(b, a);
            builder.receive(b, a);
            builder.send(b, a, 8);
            builder.receive(a, b);
        }
        let computing = Computing::new(10, ComputeLaw::Constant, 1, 0);
        let placed = |programs: super::super::Programs| -> Placed {
            programs
                .place(&[NicId(0), NicId(1)], 3)
                .computing(computing)
        };
        let placed = placed(builder.repeat(2).unwrap());
        let before = |nic, n: u32| -> Vec<u64> {
            (0..n)
                .map(|step| placed.computes_before(NicId(nic), step))
                .collect()
        };
        // a: s s r s s r, and again; nothing before its first send.
        assert_eq!(before(0, 12), [0, 0, 0, 10, 0, 0, 10, 0, 0, 10, 0, 0]);
        // b: r r s r r s.
        assert_eq!(before(1, 6), [0, 0, 10, 0, 0, 10]);
        assert_eq!(before(2, 3), [0; 3]);
        // There is no computing after the last step.
        assert_eq!(placed.computes_before(NicId(0), 12), 0);
    }
}
