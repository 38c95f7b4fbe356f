//! Tables of config_db.json of SONiC.

use serde_json::{Map, Value, json};

use super::{ClassError, LARGEST_DSCP, N_PRIORITIES, Queues, percents};

/// The name of the maps in SONiC.
const MAP: &str = "NETLOOM";

/// Returns the tables of config_db.json that set up the classes of ports. Queue, traffic class and
/// priority of a class all have its number.
///
/// Weights are whole percents with a sum of 100. Code points, traffic classes and priorities
/// without a class use the queue of the others, and lossy traffic uses a priority group without
/// PFC. All values are strings, as SONiC requires.
///
/// # Errors
/// Fails if a class has no code point, since no packet would reach its queue.
pub fn sonic_config_db(ports: &[String], queues: &Queues) -> Result<String, ClassError> {
    let lacking = queues.without_dscp();
    if !lacking.is_empty() {
        return Err(ClassError::NoDscp(lacking));
    }
    let classes = &queues.classes;
    let percents = percents(classes)?;
    let mut schedulers = Map::new();
    for (class, percent) in classes.iter().zip(percents) {
        let scheduler = match percent {
            Some(percent) => json!({"type": "DWRR", "weight": percent.to_string()}),
            None => json!({"type": "STRICT"}),
        };
        schedulers.insert(scheduler_of(class.number), scheduler);
    }
    let mut of_queues = Map::new();
    for port in ports {
        for class in classes {
            let key = format!("{port}|{}", class.number);
            of_queues.insert(key, json!({"scheduler": scheduler_of(class.number)}));
        }
    }
    let map = |entries: Vec<(u8, u8)>| -> Value {
        let entries = entries
            .into_iter()
            .map(|(from, to)| (from.to_string(), Value::from(to.to_string())));
        json!({ MAP: entries.collect::<Map<String, Value>>() })
    };
    let lossless = classes.iter().filter(|class| class.is_lossless);
    let lossless: Vec<u8> = lossless.map(|class| class.number).collect();
    let enabled: Vec<String> = lossless.iter().map(u8::to_string).collect();
    let of_ports: Map<String, Value> = ports
        .iter()
        .map(|port| {
            let mut maps = json!({
                "dscp_to_tc_map": MAP,
                "tc_to_queue_map": MAP,
                "tc_to_pg_map": MAP,
                "pfc_to_queue_map": MAP,
            });
            if !enabled.is_empty() {
                maps["pfc_enable"] = Value::from(enabled.join(","));
            }
            (port.clone(), maps)
        })
        .collect();
    // Group 0 is for lossy traffic, unless a lossless class has this number.
    let lossy_group = match lossless.contains(&0) {
        true => queues.others().number,
        false => 0,
    };
    let group = |number: u8| match lossless.contains(&number) {
        true => number,
        false => lossy_group,
    };
    let by_priority = |of: &dyn Fn(u8) -> u8| map((0..N_PRIORITIES).map(|n| (n, of(n))).collect());
    let by_dscp = (0..=LARGEST_DSCP).map(|dscp| (dscp, queues.of_dscp(dscp)));
    let database = json!({
        "SCHEDULER": schedulers,
        "QUEUE": of_queues,
        "DSCP_TO_TC_MAP": map(by_dscp.collect()),
        "TC_TO_QUEUE_MAP": by_priority(&|tc| queues.of_priority(tc)),
        "TC_TO_PRIORITY_GROUP_MAP": by_priority(&group),
        "MAP_PFC_PRIORITY_TO_QUEUE": by_priority(&|priority| queues.of_priority(priority)),
        "PORT_QOS_MAP": of_ports,
    });
    let mut text = serde_json::to_string_pretty(&database).expect("texts and maps are JSON");
    text.push('\n');
    Ok(text)
}

fn scheduler_of(number: u8) -> String {
    format!("scheduler.{number}")
}

#[cfg(test)]
mod tests {
    use super::super::TrafficClass;
    use super::super::tests::classes;
    use super::*;

    fn database(ports: &[&str], classes: Vec<TrafficClass>) -> Value {
        let ports: Vec<String> = ports.iter().map(|port| (*port).to_owned()).collect();
        let text = sonic_config_db(&ports, &Queues::of(classes).unwrap()).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn every_value_is_a_text_and_weights_have_a_sum_of_100() {
        let database = database(&["Ethernet0", "Ethernet4"], classes());
        assert_eq!(
            database["SCHEDULER"]["scheduler.6"],
            json!({"type": "STRICT"})
        );
        let schedulers = database["SCHEDULER"].as_object().unwrap();
        let sum: u32 = schedulers
            .values()
            .filter_map(|scheduler| scheduler["weight"].as_str()?.parse::<u32>().ok())
            .sum();
        assert_eq!(sum, 100);
        assert_eq!(database["QUEUE"]["Ethernet4|3"]["scheduler"], "scheduler.3");
        assert_eq!(database["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"], "3");
        let tables = database.as_object().unwrap().values();
        let rows = tables.flat_map(|table| table.as_object().unwrap().values());
        let mut values = rows.flat_map(|row| row.as_object().unwrap().values());
        assert!(values.all(Value::is_string));
    }

    /// The handling of packets at a port, by the tables that `PORT_QOS_MAP` names.
    struct Port<'a> {
        database: &'a Value,
        maps: &'a Value,
    }

    impl Port<'_> {
        fn look_up(&self, key: &str, table: &str, from: &str) -> String {
            let name = self.maps[key].as_str().unwrap();
            let to = self.database[table][name][from].as_str();
            to.unwrap_or_else(|| panic!("{table} {name} {from}"))
                .to_owned()
        }

        /// Returns traffic class, queue and priority group of a code point.
        fn of_dscp(&self, dscp: u8) -> [String; 3] {
            let tc = self.look_up("dscp_to_tc_map", "DSCP_TO_TC_MAP", &dscp.to_string());
            let queue = self.look_up("tc_to_queue_map", "TC_TO_QUEUE_MAP", &tc);
            let group = self.look_up("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", &tc);
            [tc, queue, group]
        }

        /// Returns the queue that a PFC frame of this priority pauses.
        fn of_priority(&self, priority: u8) -> String {
            let key = "pfc_to_queue_map";
            self.look_up(key, "MAP_PFC_PRIORITY_TO_QUEUE", &priority.to_string())
        }

        fn is_lossless(&self, number: &str) -> bool {
            let enabled = self.maps["pfc_enable"].as_str().unwrap_or("");
            enabled.split(',').any(|own| own == number)
        }

        /// Returns whether a queue has neither PFC nor strict priority.
        fn is_harmless(&self, queue: &str) -> bool {
            let key = format!("Ethernet0|{queue}");
            let scheduler = self.database["QUEUE"][key]["scheduler"].as_str().unwrap();
            let is_shared = self.database["SCHEDULER"][scheduler]["type"] == "DWRR";
            is_shared && !self.is_lossless(queue)
        }
    }

    #[test]
    fn every_code_point_and_priority_ends_in_the_queue_that_is_meant() {
        let lossless = |n: usize| {
            let mut classes = classes();
            classes[..n]
                .iter_mut()
                .for_each(|class| class.is_lossless = true);
            classes
        };
        let lossy = classes().into_iter().map(|class| TrafficClass {
            is_lossless: false,
            ..class
        });
        for classes in [classes(), lossless(1), lossless(4), lossy.collect()] {
            let database = database(&["Ethernet0"], classes.clone());
            let port = Port {
                database: &database,
                maps: &database["PORT_QOS_MAP"]["Ethernet0"],
            };
            for dscp in 0..64u8 {
                let [tc, queue, group] = port.of_dscp(dscp);
                let own = classes.iter().find(|class| class.dscps.contains(&dscp));
                match own {
                    Some(class) => {
                        let number = class.number.to_string();
                        assert_eq!((&tc, &queue), (&number, &number), "DSCP {dscp}");
                        assert_eq!(port.is_lossless(&tc), class.is_lossless);
                    }
                    None => assert!(port.is_harmless(&queue), "DSCP {dscp} in queue {queue}"),
                }
                // A packet is in a lossless group only if its class is lossless.
                let is_lossless = own.is_some_and(|class| class.is_lossless);
                assert_eq!(port.is_lossless(&group), is_lossless, "DSCP {dscp}");
            }
            for priority in 0..8u8 {
                let queue = port.of_priority(priority);
                match classes.iter().any(|class| class.number == priority) {
                    true => assert_eq!(queue, priority.to_string()),
                    false => assert!(port.is_harmless(&queue), "priority {priority}: {queue}"),
                }
                let tc = priority.to_string();
                assert_eq!(
                    port.look_up("tc_to_queue_map", "TC_TO_QUEUE_MAP", &tc),
                    queue
                );
            }
        }
    }

    #[test]
    fn a_class_that_no_packet_gets_into_is_refused() {
        let mut classes = classes();
        classes[0].dscps.clear();
        classes[2].dscps.clear();
        classes[3].dscps.clear();
        let queues = Queues::of(classes).unwrap();
        // Bulk takes packets without a class, so it needs no DSCP.
        let refused = sonic_config_db(&["Ethernet0".to_owned()], &queues).unwrap_err();
        assert_eq!(
            refused,
            ClassError::NoDscp(vec!["mpi".to_owned(), "control".to_owned()])
        );
    }
}
