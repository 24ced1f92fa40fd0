//! A rule of the watchlist, as a table of the config file.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::mistake::{Fault, fault, item_fault};
use super::place::place;
use crate::model::{
    DEFAULT_PRIORITY, PortRange, RuleHost, Transport, WatchAction, WatchPurpose, WatchRule,
};

/// A table's rules, and what they are for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FileRules {
    /// Two if the table names addresses at either end.
    pub rules: Vec<WatchRule>,
    pub purposes: Vec<WatchPurpose>,
}

/// The purposes of a rule that names none.
const USUAL_PURPOSES: [WatchPurpose; 2] = [WatchPurpose::Int, WatchPurpose::Tcp];

/// A rule's keys. A packet must match one value of each list; a key that is left out matches all packets.
#[derive(Args, Clone, Debug, Default)]
pub struct WatchOptions {
    /// What the rule is for: int (packets that a source tags), tcp (connections that hostint tcp reports), postcards (packets
    /// that hostint postcards times) [default: int,tcp]
    #[arg(long = "for", value_name = "WHAT", value_delimiter = ',', value_parser = purposes())]
    pub purposes: Vec<WatchPurpose>,

    /// A name for the traffic
    #[arg(long, value_name = "NAME", value_parser = parse_class)]
    pub class: Option<String>,

    /// The action on matching packets: watch or exclude [default: watch]
    #[arg(long, value_name = "ACTION", value_parser = actions())]
    pub action: Option<WatchAction>,

    /// Of the rules that match a packet, the one with the highest priority decides [default: 100]
    #[arg(long, value_name = "N")]
    pub priority: Option<u16>,

    /// Sources of packets: names, addresses, prefixes
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub from: Vec<String>,

    /// Destinations of packets: names, addresses, prefixes
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub to: Vec<String>,

    /// Sources or destinations of packets: names, addresses, prefixes; stands for two rules, with from and with to
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub either: Vec<String>,

    /// tcp or udp
    #[arg(long, value_name = "PROTOCOL", value_delimiter = ',', value_parser = protocols())]
    pub protocol: Vec<Transport>,

    /// Source ports: 443 or 8000-8099
    #[arg(long, value_name = "PORT", value_delimiter = ',')]
    pub from_port: Vec<PortRange>,

    /// Destination ports: 443 or 8000-8099
    #[arg(long, value_name = "PORT", value_delimiter = ',')]
    pub to_port: Vec<PortRange>,

    /// DSCP values
    #[arg(long, value_name = "DSCP", value_delimiter = ',', value_parser = clap::value_parser!(u8).range(0..=63))]
    pub dscp: Vec<u8>,

    /// Interfaces by which packets leave
    #[arg(long, value_name = "DEV", value_delimiter = ',')]
    pub dev: Vec<String>,

    /// Tag packets even if no sink answers; takes compat or encap in [source]
    #[arg(long = "static", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub fixed: Option<bool>,

    /// Tag these flows whatever the budget of [source] allows
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub always: Option<bool>,

    /// Watch one in this many flows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub one_flow_in: Option<u32>,

    /// Tag one in this many packets
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub one_packet_in: Option<u32>,
}

fn actions() -> impl TypedValueParser<Value = WatchAction> {
    PossibleValuesParser::new(["watch", "exclude"]).map(|name| match &*name {
        "exclude" => WatchAction::Exclude,
        _ => WatchAction::Watch,
    })
}

fn purposes() -> impl TypedValueParser<Value = WatchPurpose> {
    let names = WatchPurpose::EACH.map(|(name, _)| name);
    PossibleValuesParser::new(names).map(|given| {
        let mut named = WatchPurpose::EACH.into_iter();
        let found = named.find(|(name, _)| *name == given);
        found.map_or(WatchPurpose::Int, |(_, purpose)| purpose)
    })
}

fn protocols() -> impl TypedValueParser<Value = Transport> {
    PossibleValuesParser::new(["tcp", "udp"]).map(|name| match &*name {
        "udp" => Transport::Udp,
        _ => Transport::Tcp,
    })
}

/// Parses a class, whose name other programs use: in metrics and labels.
fn parse_class(text: &str) -> Result<String, String> {
    let first = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let rest = |c: char| first(c) || matches!(c, '.' | '_' | '-');
    if text.len() <= 31 && text.starts_with(first) && text.chars().all(rest) {
        return Ok(text.to_owned());
    }
    Err(
        "a class is 1 to 31 of a-z, 0-9, '.', '_' and '-', beginning with a letter or digit"
            .to_owned(),
    )
}

fn places(key: &'static str, texts: &[String], faults: &mut Vec<Fault>) -> Vec<RuleHost> {
    let mut found = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        match place(text) {
            Ok(place) => found.push(place),
            Err(why) => faults.push(item_fault(key, i, format!("cannot use {text}: {why}"))),
        }
    }
    found
}

/// What is given for either end stands in place of both.
fn check_either(
    either: &[RuleHost],
    (from, to): (&[RuleHost], &[RuleHost]),
    faults: &mut Vec<Fault>,
) {
    for (key, given) in [("from", from), ("to", to)] {
        if !either.is_empty() && !given.is_empty() {
            faults.push(fault(
                &["either", key],
                format!("either stands for from and for to (try to leave {key} out)"),
            ));
        }
    }
}

/// Refuses the first place whose packets a source never tags.
fn check_taggable(key: &'static str, given: &[RuleHost], faults: &mut Vec<Fault>) {
    let why = |place: &RuleHost| {
        let mut all = place.prefixes.iter().filter_map(|one| one.why_untagged());
        all.next()
    };
    let mut wrong = given.iter().enumerate();
    if let Some((i, why)) = wrong.find_map(|(i, one)| Some((i, why(one)?))) {
        let said = format!("cannot use {}: it is {why}", given[i].text);
        faults.push(item_fault(key, i, said));
    }
}

impl WatchOptions {
    /// Checks everything and fills in defaults.
    ///
    /// # Errors
    /// All faults.
    pub fn check(self) -> Result<FileRules, Vec<Fault>> {
        let mut faults = Vec::new();
        let action = self.action.unwrap_or_default();
        let fixed = self.fixed.unwrap_or(false);
        if action == WatchAction::Exclude {
            self.check_excluding(&mut faults);
        }
        let from = places("from", &self.from, &mut faults);
        let to = places("to", &self.to, &mut faults);
        let either = places("either", &self.either, &mut faults);
        check_either(&either, (&from, &to), &mut faults);
        let is_of_int = self.purposes.is_empty() || self.purposes.contains(&WatchPurpose::Int);
        if is_of_int && action == WatchAction::Watch {
            check_taggable("to", &to, &mut faults);
            check_taggable("either", &either, &mut faults);
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let rule = WatchRule {
            class: self.class,
            action,
            priority: self.priority.unwrap_or(DEFAULT_PRIORITY),
            from,
            to,
            protocols: self.protocol,
            from_ports: self.from_port,
            to_ports: self.to_port,
            dscp: self.dscp,
            devs: self.dev,
            fixed,
            one_flow_in: self.one_flow_in.unwrap_or_default(),
            one_packet_in: self.one_packet_in.unwrap_or_default(),
            always: self.always.unwrap_or(false),
            from_file: true,
        };
        let rules = match either.is_empty() {
            true => vec![rule],
            false => vec![
                WatchRule {
                    from: either.clone(),
                    ..rule.clone()
                },
                WatchRule { to: either, ..rule },
            ],
        };
        Ok(FileRules {
            rules,
            purposes: match &self.purposes[..] {
                [] => USUAL_PURPOSES.to_vec(),
                named => named.to_vec(),
            },
        })
    }

    /// A rule that excludes packets has no say in how they are tagged.
    fn check_excluding(&self, faults: &mut Vec<Fault>) {
        for (key, given) in [
            ("static", self.fixed.unwrap_or(false)),
            ("always", self.always.unwrap_or(false)),
            ("one-flow-in", self.one_flow_in.is_some()),
            ("one-packet-in", self.one_packet_in.is_some()),
        ] {
            if given {
                faults.push(fault(
                    &[key, "action"],
                    "has no effect with action exclude, which tags no packet (try to leave it out)",
                ));
            }
        }
    }
}
