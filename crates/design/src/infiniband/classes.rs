//! Classes of connections by bandwidth: the ranges to draw from, and the bounds between service
//! levels.

use netloom_units::{Rate, Sl, Time};

use super::slots::{LARGEST, N_SLS};
use super::table::Class;

/// Connections drawn from the same range.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConnectionClass {
    /// The service level, 0 to 3.
    pub sl: Sl,
    /// The smallest bandwidth drawn.
    pub least: Rate,
    /// The largest bandwidth drawn, and the bound of the class if a list gives no service level.
    pub most: Rate,
    /// The deadline of the drawn connections, if any.
    pub deadline: Option<Time>,
}

impl ConnectionClass {
    /// Returns the classes of the paper without deadlines; each begins where the one below ends.
    pub fn of_paper() -> Vec<ConnectionClass> {
        let class = |sl: u8, least, most| ConnectionClass {
            sl: Sl(sl),
            least: Rate(least),
            most: Rate(most),
            deadline: None,
        };
        vec![
            class(0, 8_000, LARGEST[0].0),
            class(1, LARGEST[0].0 + 1, LARGEST[1].0),
            class(2, LARGEST[1].0 + 1, LARGEST[2].0),
            class(3, LARGEST[2].0 + 1, 300_000_000),
        ]
    }

    /// Returns the class of the guarantees of its connections.
    pub fn class(&self) -> Class {
        Class {
            sl: self.sl,
            has_deadline: self.deadline.is_some(),
        }
    }

    /// Returns an error message, if the class is wrong.
    pub fn mistake(&self) -> Option<String> {
        let ConnectionClass {
            sl, least, most, ..
        } = self;
        if sl.0 >= N_SLS {
            return Some(format!("{sl} is not a service level of connections"));
        }
        if least.0 == 0 || least > most {
            return Some(format!("bandwidths cannot range from {least} to {most}"));
        }
        None
    }
}

/// Returns the service level of a connection by its mean bandwidth: that of the first class whose
/// bound reaches it. A bandwidth above all bounds belongs to the last class.
///
/// # Panics
/// If there are no classes.
pub fn classify_by(classes: &[ConnectionClass], bandwidth: Rate) -> Sl {
    let reaching = classes.iter().filter(|class| bandwidth <= class.most);
    let first = reaching.min_by_key(|class| (class.most, class.sl));
    let last = || classes.iter().max_by_key(|class| (class.most, class.sl));
    first.or_else(last).expect("a class of connections").sl
}

#[cfg(test)]
mod tests {
    use super::super::slots::classify;
    use super::*;

    #[test]
    fn the_classes_of_the_paper_classify_as_the_paper_does() {
        let classes = ConnectionClass::of_paper();
        for class in &classes {
            assert_eq!(class.mistake(), None);
            for bandwidth in [class.least, class.most, Rate(class.most.0 + 1), Rate(1)] {
                assert_eq!(classify_by(&classes, bandwidth), classify(bandwidth));
            }
        }
    }

    #[test]
    fn bounds_need_not_be_in_order() {
        let class = |sl, most| ConnectionClass {
            sl: Sl(sl),
            least: Rate(1),
            most: Rate(most),
            deadline: None,
        };
        let classes = [class(3, 500), class(1, 100)];
        let levels =
            [50, 100, 101, 500, 501].map(|bandwidth| classify_by(&classes, Rate(bandwidth)).0);
        assert_eq!(levels, [1, 1, 3, 3, 3]);
    }

    #[test]
    fn what_cannot_be_drawn_is_reported() {
        let mut class = ConnectionClass::of_paper()[0];
        class.least = Rate(70_000);
        assert_eq!(
            class.mistake().unwrap(),
            "bandwidths cannot range from 70 kbps to 64 kbps"
        );
        class.sl = Sl(4);
        assert_eq!(
            class.mistake().unwrap(),
            "SL4 is not a service level of connections"
        );
    }
}
