//! The table of incidents: what happens, with which figures, in which network, and a sentence.

use std::collections::BTreeMap;

const TABLE: &str = include_str!("incidents.txt");

/// A line of the table.
#[derive(Clone, Debug)]
pub struct Line {
    pub sentence: &'static str,
    pub kind: &'static str,
    pub figures: Figures,
    pub hosts: usize,
    pub racks: usize,
    pub flows: bool,
    pub clocks: bool,
}

/// Figures by name: shares, nanoseconds, seconds, or numbers.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    numbers: BTreeMap<&'static str, f64>,
    words: BTreeMap<&'static str, &'static str>,
}

impl Figures {
    pub fn has(&self, name: &str) -> bool {
        self.words.contains_key(name)
    }

    pub fn word(&self, name: &str) -> Option<&'static str> {
        self.words.get(name).copied()
    }

    pub fn get(&self, name: &str) -> Option<f64> {
        self.numbers.get(name).copied()
    }

    pub fn or(&self, name: &str, otherwise: f64) -> f64 {
        self.get(name).unwrap_or(otherwise)
    }

    fn note(&mut self, text: &'static str) {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        self.words.insert(name, value);
        let units = [("%", 0.01), ("us", 1e3), ("ms", 1e6), ("", 1.0)];
        let number = units.iter().find_map(|(unit, size)| {
            let digits = value.strip_suffix(unit)?;
            Some(digits.parse::<f64>().ok()? * size)
        });
        if let Some(number) = number {
            self.numbers.insert(name, number);
        }
    }
}

fn line(text: &'static str) -> Line {
    let mut columns = text.split('|').map(str::trim);
    let mut column = || {
        columns
            .next()
            .unwrap_or_else(|| panic!("{text}: three columns"))
    };
    let (what, network, sentence) = (column(), column(), column());
    let mut words = what.split_whitespace();
    let kind = words.next().unwrap();
    let mut figures = Figures::default();
    words.for_each(|word| figures.note(word));
    let mut words = network.split_whitespace();
    let size = words.next().and_then(|size| size.split_once('/'));
    let (hosts, racks) = size.unwrap_or_else(|| panic!("{text}: hosts/racks"));
    let left_out: Vec<&str> = words.collect();
    Line {
        sentence,
        kind,
        figures,
        hosts: hosts.parse().unwrap(),
        racks: racks.parse().unwrap(),
        flows: !left_out.contains(&"no-flows"),
        clocks: !left_out.contains(&"no-clocks"),
    }
}

/// The lines of the table.
pub fn table() -> Vec<Line> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    lines.map(line).collect()
}
