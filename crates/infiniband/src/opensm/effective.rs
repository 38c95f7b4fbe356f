//! The lines of the file that apply to a kind of port.

use super::conf::{Conf, Setting};
use super::keys::{QosKey, QosSet, key_name};

/// OpenSM's default tables, for what the file does not set.
const DEFAULT_HIGH: &str = "0:4,1:0,2:0,3:0,4:0,5:0,6:0,7:0,8:0,9:0,10:0,11:0,12:0,13:0,14:0";
const DEFAULT_LOW: &str = "0:0,1:4,2:4,3:4,4:4,5:4,6:4,7:4,8:4,9:4,10:4,11:4,12:4,13:4,14:4";
const DEFAULT_SL2VL: &str = "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7";
const DEFAULT_HIGH_LIMIT: u8 = 0;

/// The origin of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin<'a> {
    /// A line of the file, and the key set that it belongs to.
    Line(&'a Setting, QosSet),
    /// OpenSM's default, since the file does not set the value.
    OpenSm,
}

/// The settings of the file that apply to one kind of port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effective<'a> {
    /// The key set that takes precedence.
    pub set: QosSet,
    /// The limit of the high table, and its origin.
    pub high_limit: (u8, Origin<'a>),
    /// The list of the high table, and its origin.
    pub high: (&'a str, Origin<'a>),
    /// The list of the low table, and its origin.
    pub low: (&'a str, Origin<'a>),
    /// The list of lanes by service level, and its origin.
    pub sl2vl: (&'a str, Origin<'a>),
}

impl<'a> Effective<'a> {
    /// Returns the settings for one kind of port: its own keys, else the `qos_` keys, else OpenSM's
    /// defaults.
    pub fn of(conf: &'a Conf, set: QosSet) -> Effective<'a> {
        let list = |key, default: &'static str| -> (&'a str, Origin<'a>) {
            let found = asked(set).find_map(|set| Some((conf.text(&key_name(set, key))?, set)));
            match found {
                Some((setting, set)) => (setting.value.as_str(), Origin::Line(setting, set)),
                None => (default, Origin::OpenSm),
            }
        };
        // A limit that does not fit in a byte is ignored, and the next set applies.
        let limit = asked(set).find_map(|set| {
            let setting = conf.last(&key_name(set, QosKey::HighLimit))?;
            let limit = u8::try_from(setting.number() as i32).ok()?;
            Some((limit, Origin::Line(setting, set)))
        });
        Effective {
            set,
            high_limit: limit.unwrap_or((DEFAULT_HIGH_LIMIT, Origin::OpenSm)),
            high: list(QosKey::VlarbHigh, DEFAULT_HIGH),
            low: list(QosKey::VlarbLow, DEFAULT_LOW),
            sl2vl: list(QosKey::Sl2Vl, DEFAULT_SL2VL),
        }
    }
}

/// Returns the key sets that apply to a kind of port, in order of precedence.
fn asked(set: QosSet) -> impl Iterator<Item = QosSet> {
    let own = Some(set).filter(|set| *set != QosSet::Default);
    own.into_iter().chain([QosSet::Default])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_keys_come_before_common_ones_and_those_before_defaults() {
        let conf = Conf::read(
            "qos_vlarb_low 0:1\nqos_ca_vlarb_low 0:2\nqos_ca_sl2vl (null)\n",
            0,
        );
        let ca = Effective::of(&conf, QosSet::ChannelAdapter);
        let swe = Effective::of(&conf, QosSet::SwitchExternal);
        assert_eq!((ca.low.0, swe.low.0), ("0:2", "0:1"));
        assert_eq!((ca.high.0, ca.sl2vl.1), (DEFAULT_HIGH, Origin::OpenSm));
    }

    #[test]
    fn a_limit_that_is_no_byte_leaves_the_word_to_the_next_set() {
        let conf = Conf::read(
            "qos_high_limit 10\nqos_ca_high_limit 300\nqos_swe_high_limit -1\n",
            0,
        );
        let limit = |set| Effective::of(&conf, set).high_limit.0;
        assert_eq!(limit(QosSet::ChannelAdapter), 10);
        assert_eq!(limit(QosSet::SwitchExternal), 10);
        let conf = Conf::read("qos_high_limit 300\n", 0);
        assert_eq!(Effective::of(&conf, QosSet::Router).high_limit.0, 0);
    }
}
