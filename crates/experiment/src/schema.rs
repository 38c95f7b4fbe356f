//! The JSON Schema of experiment files, for completion and explanations in editors.
//!
//! It is generated from the same descriptions as the reader: [`sections()`] and the kinds of every
//! [concept](concepts). It describes single keys. `netloom check` also checks combinations of
//! values.

use std::collections::BTreeMap;

use netloom_catalog::{Document, KindInfo, Notes, Param, Shape, Value as Toml, ValueShape};
use serde_json::{Map, Value, json};

use crate::Kinds;
use crate::spec::{Concept, SectionInfo, concepts, sections};

/// Returns the schema (draft 2020-12) as JSON text, including kinds that a program adds.
pub fn schema(kinds: &Kinds) -> String {
    let (concepts, sections) = (concepts(kinds), sections());
    let mut root = Node::default();
    for section in &sections {
        let path = section.path.split('.').filter(|key| !key.is_empty());
        let node = path.fold(&mut root, |node, key| node.children.entry(key).or_default());
        node.section = Some(section);
    }
    let mut schema = root.object(&concepts);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("netloom experiment");
    if let Some(root) = schema.as_object_mut() {
        root.remove("required");
    }
    // A base file may have the sections that a file with `extends` omits.
    schema["anyOf"] = json!([
        { "required": ["netloom", "topology", "traffic"] },
        { "required": ["extends"] },
    ]);
    schema["$defs"] = definitions(&concepts);
    let mut text = serde_json::to_string_pretty(&schema).expect("a tree of JSON is text");
    text.push('\n');
    text
}

/// A section and its nested sections.
#[derive(Default)]
struct Node<'a> {
    section: Option<&'a SectionInfo>,
    children: BTreeMap<&'a str, Node<'a>>,
}

impl Node<'_> {
    /// Returns the schema of the value of this section.
    fn schema(&self, concepts: &[Concept]) -> Value {
        let about = self.section.map_or("", |section| section.about);
        let mut inner = match self.section.and_then(|section| section.concept) {
            Some(concept) => self.of_a_kind(concept, concepts),
            None => self.object(concepts),
        };
        match self.section.map_or("", |section| section.path) {
            "traffic" => either_drawn_or_listed(&mut inner),
            "study.axes.*" => inner = json!({ "description": about, "anyOf": [values(), inner] }),
            "study.zip.*" => inner = values(),
            "groups.*" => inner = set_of_nics(about),
            _ => {}
        }
        match self.section.is_some_and(|section| section.is_list) {
            true => json!({ "type": "array", "description": about, "items": inner }),
            false => inner,
        }
    }

    fn object(&self, concepts: &[Concept]) -> Value {
        let params = self.section.map_or(&[][..], |section| &section.params);
        let mut object = table(params, &self.children, concepts);
        if let Some(section) = self.section {
            object["description"] = json!(section.about);
        }
        object
    }

    /// Returns a table with one form per kind. Nested sections belong to every kind.
    fn of_a_kind(&self, name: &str, concepts: &[Concept]) -> Value {
        let kinds = concepts
            .iter()
            .find(|concept| concept.name == name)
            .map_or(&[][..], |c| &c.kinds);
        // A topology has no default. In other sections, the kind is optional.
        let is_required = name == "topology";
        // A kind without required keys may be given by name alone.
        let is_enough = |kind: &&KindInfo| kind.params.iter().all(|param| param.default.is_some());
        let names: Vec<&str> = kinds
            .iter()
            .filter(is_enough)
            .map(|kind| kind.name)
            .collect();
        let mut forms = vec![];
        if !names.is_empty() {
            forms.push(json!({ "enum": names }));
        }
        let tables = kinds
            .iter()
            .map(|kind| kind_table(kind, is_required, &self.children, concepts));
        forms.extend(tables);
        let about = self.section.map_or("", |section| section.about);
        match is_required {
            true => json!({ "description": about, "oneOf": forms }),
            false => json!({ "description": about, "anyOf": forms }),
        }
    }
}

/// Returns the schema of the members of a group.
fn set_of_nics(about: &str) -> Value {
    json!({
        "description": about,
        "examples": ["random 48", "next 48", "rest", "0-63"],
        "anyOf": [
            { "type": "string" },
            { "type": "array", "items": { "type": "integer", "minimum": 0 }, "minItems": 1 },
        ],
    })
}

/// Returns the schema of the values of an axis.
fn values() -> Value {
    json!({ "type": "array", "minItems": 1 })
}

/// Requires a load, a list of messages or a workload in a class.
fn either_drawn_or_listed(class: &mut Value) {
    class["required"] = json!([]);
    class["anyOf"] = json!([
        { "required": ["load"] },
        { "required": ["flows"] },
        { "required": ["workload"] },
    ]);
}

/// Returns every concept as a value: a name, or a table with a kind and its parameters.
fn definitions(concepts: &[Concept]) -> Value {
    let mut definitions = Map::new();
    for concept in concepts {
        let names: Vec<&str> = concept.kinds.iter().map(|kind| kind.name).collect();
        let nothing = BTreeMap::new();
        let tables = concept
            .kinds
            .iter()
            .map(|kind| kind_table(kind, true, &nothing, concepts));
        let mut forms = vec![json!({ "enum": names })];
        forms.extend(tables);
        let schema = json!({ "description": concept.about, "oneOf": forms });
        definitions.insert(definition_name(concept.name), schema);
    }
    Value::Object(definitions)
}

fn definition_name(concept: &str) -> String {
    concept.replace(' ', "-")
}

fn kind_table(
    kind: &KindInfo,
    is_required: bool,
    children: &BTreeMap<&str, Node<'_>>,
    concepts: &[Concept],
) -> Value {
    let mut object = table(&kind.params, children, concepts);
    let paper = kind
        .paper
        .map_or_else(String::new, |paper| format!(" ({paper})"));
    let about = format!("{}{paper}", kind.summary);
    object["description"] = json!(about);
    object["properties"]["kind"] = json!({ "const": kind.name, "description": kind.summary });
    if is_required {
        match object.get_mut("required").and_then(Value::as_array_mut) {
            Some(required) => required.insert(0, json!("kind")),
            None => object["required"] = json!(["kind"]),
        }
    }
    object
}

/// Returns a table with these keys and nested tables, and no others.
fn table(params: &[Param], children: &BTreeMap<&str, Node<'_>>, concepts: &[Concept]) -> Value {
    let mut properties = Map::new();
    let mut required = vec![];
    for param in params {
        let mut schema = shape(&param.shape);
        if let Some(node) = children.get(param.name.as_str()) {
            schema = json!({ "anyOf": [schema, node.schema(concepts)] });
        }
        schema["description"] = json!(param.about);
        match &param.default {
            None => required.push(json!(param.name)),
            Some(text) if text.is_empty() => {}
            Some(text) => {
                if let Some(default) = default_value(text) {
                    schema["default"] = default;
                }
            }
        }
        properties.insert(param.name.clone(), schema);
    }
    let mut others = json!(false);
    for (key, node) in children {
        match *key {
            "*" => others = node.schema(concepts),
            key if properties.contains_key(key) => {}
            key => {
                properties.insert(key.to_owned(), node.schema(concepts));
            }
        }
    }
    let mut object = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": others,
    });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

fn shape(shape: &Shape) -> Value {
    match shape {
        Shape::Integer(least, most) => {
            let clip = |n: i128| i64::try_from(n).ok();
            let mut schema = json!({ "type": "integer" });
            if let Some(least) = clip(*least) {
                schema["minimum"] = json!(least);
            }
            if let Some(most) = clip(*most) {
                schema["maximum"] = json!(most);
            }
            schema
        }
        Shape::Number => json!({ "type": "number" }),
        Shape::Bool => json!({ "type": "boolean" }),
        Shape::Text => json!({ "type": "string" }),
        Shape::OneOf(words) => json!({ "enum": words }),
        Shape::Quantity(what) => quantity(what),
        Shape::List(item) => json!({ "type": "array", "items": self::shape(item) }),
        Shape::Tuple(items) => json!({
            "type": "array",
            "prefixItems": items.iter().map(self::shape).collect::<Vec<_>>(),
            "items": false,
            "minItems": items.len(),
        }),
        Shape::Either(forms) => {
            json!({ "anyOf": forms.iter().map(self::shape).collect::<Vec<_>>() })
        }
        Shape::Table => json!({ "type": "object" }),
        Shape::Kind(concept) => {
            json!({ "$ref": format!("#/$defs/{}", definition_name(concept)) })
        }
    }
}

/// Returns a string with a unit. Rates may also have names (`NDR x4`), so any string is accepted.
fn quantity(what: &str) -> Value {
    let (units, examples) = match what {
        "time" => (
            "ps|ns|us|µs|μs|ms|s|MHz|GHz",
            json!(["5.12 ns", "1 us", "1.3 GHz"]),
        ),
        "data amount" => ("B|KiB|MiB|GiB|TiB|kB|KB|MB|GB", json!(["64 B", "4 KiB"])),
        "number of packets" => ("packets", json!(["10000 packets"])),
        "length" => ("m|cm|km", json!(["5 m"])),
        _ => return json!({ "type": "string", "examples": ["100 Gbps", "12.5 GB/s", "NDR x4"] }),
    };
    let pattern = format!("^ *[0-9][0-9._/]* *({units}) *$");
    json!({ "type": "string", "pattern": pattern, "examples": examples })
}

/// Converts a default from TOML to JSON.
fn default_value(text: &str) -> Option<Value> {
    let mut notes = Notes::new();
    let document = Document::parse("default", &format!("value = {text}"), &mut notes);
    document
        .root
        .get("value")
        .filter(|_| notes.is_empty())
        .map(to_json)
}

fn to_json(value: &Toml) -> Value {
    match &value.shape {
        ValueShape::Integer(n) => json!(n),
        ValueShape::Float(x) => json!(x),
        ValueShape::Text(text) | ValueShape::Date(text) => json!(text),
        ValueShape::Bool(b) => json!(b),
        ValueShape::List(items) => items.iter().map(to_json).collect(),
        ValueShape::Table(entries) => Value::Object(
            entries
                .iter()
                .map(|(key, _, value)| (key.clone(), to_json(value)))
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns every place in a schema that describes a key of a table.
    fn find<'a>(schema: &'a Value, key: &str) -> Vec<&'a Value> {
        let mut found: Vec<&Value> = vec![];
        if let Some(property) = schema.get("properties").and_then(|all| all.get(key)) {
            found.push(property);
        }
        if key == "*" {
            found.extend(schema.get("additionalProperties"));
        }
        for forms in ["oneOf", "anyOf"]
            .iter()
            .filter_map(|word| schema.get(word)?.as_array())
        {
            found.extend(forms.iter().flat_map(|form| find(form, key)));
        }
        if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
            found.extend(find(items, key));
        }
        found
    }

    #[test]
    fn the_schema_is_json_and_covers_every_section_and_key() {
        let text = schema(Kinds::built_in());
        let root: Value = serde_json::from_str(&text).expect("valid JSON");
        for section in sections() {
            let path = section.path.split('.').filter(|key| !key.is_empty());
            let tables = path.fold(vec![&root], |tables, key| {
                tables
                    .into_iter()
                    .flat_map(|table| find(table, key))
                    .collect()
            });
            assert!(!tables.is_empty(), "[{}] is in no table", section.path);
            for param in &section.params {
                let described: Vec<&Value> =
                    tables.iter().flat_map(|t| find(t, &param.name)).collect();
                assert!(!described.is_empty(), "{}.{}", section.path, param.name);
                assert!(described.iter().all(|d| d["description"].is_string()));
            }
        }
        for concept in concepts(Kinds::built_in()) {
            let definition = &root["$defs"][definition_name(concept.name)];
            for kind in &concept.kinds {
                assert!(definition.to_string().contains(kind.name), "{}", kind.name);
            }
        }
        assert!(!text.contains("\"additionalProperties\": true"));
    }

    #[test]
    fn a_section_of_a_kind_may_be_its_name() {
        let root: Value = serde_json::from_str(&schema(Kinds::built_in())).unwrap();
        let names = |section: &str, forms: &str| {
            let forms = root["properties"][section][forms]
                .as_array()
                .unwrap()
                .clone();
            let names = forms.into_iter().find_map(|form| form.get("enum").cloned());
            names.map_or(vec![], |names| names.as_array().unwrap().clone())
        };
        assert!(names("routing", "anyOf").contains(&json!("up-down")));
        assert!(names("switch", "anyOf").contains(&json!("cioq")));
        // A fat tree needs its arity: the schema rejects what the reader rejects.
        assert!(!names("topology", "oneOf").contains(&json!("fat-tree")));
    }

    #[test]
    fn defaults_are_what_the_reader_takes() {
        let root: Value = serde_json::from_str(&schema(Kinds::built_in())).unwrap();
        let link = &root["properties"]["link"]["properties"];
        assert_eq!(link["rate"]["default"], "100 Gbps");
        assert_eq!(
            link["class"]["additionalProperties"]["additionalProperties"],
            false
        );
        assert_eq!(
            root["properties"]["measure"]["properties"]["epochs"]["default"],
            200
        );
    }
}
