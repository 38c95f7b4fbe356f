//! Tables of SONiC's config_db.json.

use serde_json::{Map, Value, json};

use super::{ClassError, TrafficClass, check_numbers, percents};

/// The name under which SONiC's maps are kept.
const MAP: &str = "NETLOOM";

/// The tables of config_db.json that give ports their classes: queue, traffic class and priority of a class all have its
/// number.
///
/// Weights are whole percents with a sum of 100. Traffic classes and code points without a class go to the first class.
/// All values are texts, as SONiC has them.
pub fn sonic_config_db(ports: &[String], classes: &[TrafficClass]) -> Result<String, ClassError> {
    check_numbers(classes)?;
    let percents = percents(classes)?;
    let first = classes.first().map_or(0, |class| class.number);
    let mut schedulers = Map::new();
    for (class, percent) in classes.iter().zip(percents) {
        let scheduler = match percent {
            Some(percent) => json!({"type": "DWRR", "weight": percent.to_string()}),
            None => json!({"type": "STRICT"}),
        };
        schedulers.insert(scheduler_of(class.number), scheduler);
    }
    let mut queues = Map::new();
    for port in ports {
        for class in classes {
            let key = format!("{port}|{}", class.number);
            queues.insert(key, json!({"scheduler": scheduler_of(class.number)}));
        }
    }
    let numbers = |keep: &dyn Fn(&TrafficClass) -> bool| -> Vec<u8> {
        let kept = classes.iter().filter(|class| keep(class));
        kept.map(|class| class.number).collect()
    };
    let of_class = |number: u8| match classes.iter().any(|class| class.number == number) {
        true => number,
        false => first,
    };
    let map = |entries: Vec<(u8, u8)>| -> Value {
        let entries = entries
            .into_iter()
            .map(|(from, to)| (from.to_string(), Value::from(to.to_string())));
        json!({ MAP: entries.collect::<Map<String, Value>>() })
    };
    let lossless = numbers(&|class| class.is_lossless);
    let class_of_point = |point: u8| {
        let class = classes.iter().find(|class| class.dscps.contains(&point));
        class.map_or(first, |class| class.number)
    };
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
    let lossless_group = |number: u8| match lossless.contains(&number) {
        true => number,
        false => 0,
    };
    let database = json!({
        "SCHEDULER": schedulers,
        "QUEUE": queues,
        "DSCP_TO_TC_MAP": map((0..64).map(|point| (point, class_of_point(point))).collect()),
        "TC_TO_QUEUE_MAP": map((0..8).map(|tc| (tc, of_class(tc))).collect()),
        "TC_TO_PRIORITY_GROUP_MAP": map((0..8).map(|tc| (tc, lossless_group(tc))).collect()),
        "MAP_PFC_PRIORITY_TO_QUEUE": map((0..8).map(|priority| (priority, priority)).collect()),
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
    use super::super::tests::classes;
    use super::*;

    #[test]
    fn every_value_is_a_text_and_weights_have_a_sum_of_100() {
        let ports = ["Ethernet0".to_owned(), "Ethernet4".to_owned()];
        let text = sonic_config_db(&ports, &classes()).unwrap();
        let database: Value = serde_json::from_str(&text).unwrap();
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
        assert_eq!(database["DSCP_TO_TC_MAP"][MAP]["32"], "4");
        assert_eq!(database["DSCP_TO_TC_MAP"][MAP]["1"], "0");
        assert_eq!(database["TC_TO_PRIORITY_GROUP_MAP"][MAP]["3"], "3");
        let tables = database.as_object().unwrap().values();
        let rows = tables.flat_map(|table| table.as_object().unwrap().values());
        let mut values = rows.flat_map(|row| row.as_object().unwrap().values());
        assert!(values.all(Value::is_string));
    }
}
