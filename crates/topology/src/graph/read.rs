//! Reader of the plain-text description; reports all mistakes together.

use std::collections::HashMap;

use netloom_catalog::no_name;
use netloom_units::{Port, SwitchId};

use crate::{Builder, Structure, Topology};

/// A mistake: the line, counted from 1, and the message.
pub type Mistake = (usize, String);

/// Builds the fabric described by a text, or returns every mistake.
pub fn parse(text: &str) -> Result<Topology, Vec<Mistake>> {
    let mut reader = Reader::default();
    for (number, line) in text.lines().enumerate() {
        let statement = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = statement.split_whitespace().collect();
        reader.line = number + 1;
        if let Err(message) = reader.statement(&words) {
            reader.mistakes.push((reader.line, message));
        }
    }
    reader.finish()
}

/// One end of a cable whose port is not known yet.
#[derive(Clone, Copy)]
struct Socket {
    switch: usize,
    port: Option<u16>,
}

enum Cable {
    Link(Socket, Socket),
    Nic(Socket),
}

struct Switch {
    name: String,
    /// Line of its first appearance.
    line: usize,
    declared: Option<u16>,
    used: Vec<bool>,
}

impl Switch {
    fn n_ports(&self) -> u16 {
        self.declared.unwrap_or(self.used.len() as u16)
    }

    fn take(&mut self, port: u16) -> Result<(), String> {
        let (name, index) = (&self.name, usize::from(port));
        if self.declared.is_some_and(|n| port >= n) {
            let n = self.n_ports();
            return Err(format!(
                "`{name}` has {n} ports, counted from 0; there is no port {port}"
            ));
        }
        if self.used.len() <= index {
            self.used.resize(index + 1, false);
        }
        match std::mem::replace(&mut self.used[index], true) {
            true => Err(format!("port {port} of `{name}` already has a cable")),
            false => Ok(()),
        }
    }

    fn take_any(&mut self) -> Result<u16, String> {
        let free = self
            .used
            .iter()
            .position(|&used| !used)
            .unwrap_or(self.used.len());
        let limit = usize::from(self.declared.unwrap_or(u16::MAX));
        if free >= limit {
            return Err(format!(
                "`{}` has no free port: all {limit} have a cable",
                self.name
            ));
        }
        self.take(free as u16)?;
        Ok(free as u16)
    }
}

#[derive(Default)]
struct Reader {
    line: usize,
    switches: Vec<Switch>,
    switch_ids: HashMap<String, usize>,
    nics: Vec<String>,
    nic_lines: HashMap<String, usize>,
    classes: Vec<String>,
    cables: Vec<(usize, Cable, u8)>,
    mistakes: Vec<Mistake>,
}

impl Reader {
    fn statement(&mut self, words: &[&str]) -> Result<(), String> {
        if let Some((word, why)) = words.iter().find_map(|word| Some((word, no_name(word)?))) {
            return Err(format!("expected a name, found {word:?}: {why}"));
        }
        match *words {
            [] => Ok(()),
            ["switch", name] => self.switch(name, None),
            ["switch", name, "ports", n] => {
                let n = n
                    .parse()
                    .map_err(|_| format!("expected a number of ports, found `{n}`"))?;
                self.switch(name, Some(n))
            }
            ["class", name] => self.class(name).map(|_| ()),
            ["link", a, b] => self.link(a, b, "switch"),
            ["link", a, b, "class", class] => self.link(a, b, class),
            ["nic", name, at] => self.nic(name, at, "host"),
            ["nic", name, at, "class", class] => self.nic(name, at, class),
            ["switch", ..] => Err("expected `switch NAME` or `switch NAME ports N`".into()),
            ["class", ..] => Err("expected `class NAME`".into()),
            ["link", ..] => Err("expected `link A[:port] B[:port] [class NAME]`".into()),
            ["nic", ..] => Err("expected `nic NAME SWITCH[:port] [class NAME]`".into()),
            [other, ..] => {
                let known = ["switch", "link", "nic", "class"];
                let near = netloom_catalog::nearest(other, known);
                let help = near.map_or("use switch, link, nic or class".to_owned(), |near| {
                    format!("did you mean `{near}`?")
                });
                Err(format!("unknown statement `{other}`; {help}"))
            }
        }
    }

    /// Returns the switch of a name. A new name creates a switch.
    fn known(&mut self, name: &str) -> Result<usize, String> {
        plain(name)?;
        let (line, switches) = (self.line, &mut self.switches);
        let id = *self.switch_ids.entry(name.to_owned()).or_insert_with(|| {
            switches.push(Switch {
                name: name.to_owned(),
                line,
                declared: None,
                used: vec![],
            });
            switches.len() - 1
        });
        Ok(id)
    }

    fn switch(&mut self, name: &str, ports: Option<u16>) -> Result<(), String> {
        let (before, id) = (self.switches.len(), self.known(name)?);
        if id < before {
            let line = self.switches[id].line;
            return Err(format!(
                "`{name}` is already used in line {line}; declare it before its use"
            ));
        }
        self.switches[id].declared = ports;
        Ok(())
    }

    fn class(&mut self, name: &str) -> Result<u8, String> {
        if self.classes.is_empty() {
            self.classes.push("host".to_owned());
        }
        let at = self
            .classes
            .iter()
            .position(|c| c == name)
            .unwrap_or_else(|| {
                self.classes.push(name.to_owned());
                self.classes.len() - 1
            });
        u8::try_from(at).map_err(|_| "expected at most 256 classes of cables".to_owned())
    }

    fn socket(&mut self, text: &str) -> Result<Socket, String> {
        let (name, port) = match text.split_once(':') {
            None => (text, None),
            Some((name, port)) => {
                let number = port
                    .parse()
                    .map_err(|_| format!("expected a port number, found `{port}`"))?;
                (name, Some(number))
            }
        };
        let switch = self.known(name)?;
        Ok(Socket { switch, port })
    }

    /// Stated ports are taken at once, so that the second of two equal ones is the mistake.
    fn take_stated(&mut self, socket: Socket) -> Result<(), String> {
        match socket.port {
            Some(port) => self.switches[socket.switch].take(port),
            None => Ok(()),
        }
    }

    fn link(&mut self, a: &str, b: &str, class: &str) -> Result<(), String> {
        let (a, b) = (self.socket(a)?, self.socket(b)?);
        if a.switch == b.switch {
            let name = &self.switches[a.switch].name;
            return Err(format!("`{name}` is linked to itself"));
        }
        let class = self.class(class)?;
        self.take_stated(a)?;
        self.take_stated(b)?;
        self.cables.push((self.line, Cable::Link(a, b), class));
        Ok(())
    }

    fn nic(&mut self, name: &str, at: &str, class: &str) -> Result<(), String> {
        plain(name)?;
        if let Some(line) = self.nic_lines.insert(name.to_owned(), self.line) {
            return Err(format!(
                "NIC `{name}` already has a cable, in line {line}; a NIC has one port"
            ));
        }
        let socket = self.socket(at)?;
        let class = self.class(class)?;
        self.take_stated(socket)?;
        self.nics.push(name.to_owned());
        self.cables.push((self.line, Cable::Nic(socket), class));
        Ok(())
    }

    fn resolve(&mut self, socket: Socket) -> Result<(SwitchId, Port), String> {
        let port = match socket.port {
            Some(port) => port,
            None => self.switches[socket.switch].take_any()?,
        };
        Ok((SwitchId(socket.switch as u32), Port(port)))
    }

    fn finish(mut self) -> Result<Topology, Vec<Mistake>> {
        enum Placed {
            Link((SwitchId, Port), (SwitchId, Port), u8),
            Nic((SwitchId, Port), u8),
        }
        let mut placed = vec![];
        for (line, cable, class) in std::mem::take(&mut self.cables) {
            let result = match cable {
                Cable::Link(a, b) => self
                    .resolve(a)
                    .and_then(|a| self.resolve(b).map(|b| Placed::Link(a, b, class))),
                Cable::Nic(at) => self.resolve(at).map(|at| Placed::Nic(at, class)),
            };
            match result {
                Ok(cable) => placed.push(cable),
                Err(message) => self.mistakes.push((line, message)),
            }
        }
        if self.switches.is_empty() {
            self.mistakes
                .push((self.line.max(1), "there is no switch".into()));
        } else if self.nic_lines.is_empty() {
            self.mistakes
                .push((self.line.max(1), "there is no NIC".into()));
        }
        if !self.mistakes.is_empty() {
            self.mistakes.sort_by_key(|&(line, _)| line);
            return Err(self.mistakes);
        }
        if self.classes.is_empty() {
            self.classes.push("host".into());
        }
        let mut builder = Builder::new(self.classes);
        for switch in &self.switches {
            builder.switch(switch.n_ports());
        }
        for cable in placed {
            match cable {
                Placed::Link(a, b, class) => builder.connect(a, b, class),
                Placed::Nic(at, class) => {
                    builder.nic(at, class);
                }
            }
        }
        let names = self.switches.iter().map(|s| s.name.clone()).collect();
        builder.names(names, self.nics);
        let topology = builder.finish(Structure::Plain);
        // Switches out of reach of the first one are reported at their first appearance.
        let distances = topology.distances(SwitchId(0));
        let apart: Vec<Mistake> = (self.switches.iter().zip(&distances))
            .filter(|(_, distance)| distance.is_none())
            .map(|(s, _)| {
                let first = &self.switches[0].name;
                (
                    s.line,
                    format!("no path between `{first}` and `{}`", s.name),
                )
            })
            .collect();
        match apart.is_empty() {
            true => Ok(topology),
            false => Err(apart),
        }
    }
}

fn plain(name: &str) -> Result<(), String> {
    match name.is_empty() || name.contains(':') {
        true => Err(format!("expected a name without `:`, found `{name}`")),
        false => Ok(()),
    }
}
