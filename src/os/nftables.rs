//! The chains of nftables that drop packets, as `nft -j list ruleset` lists them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::process::{Command, Stdio};

use serde_json::Value;

/// A chain on a hook.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Chain {
    pub family: String,
    pub table: String,
    pub name: String,
    pub hook: String,
    /// The chain drops packets that no rule accepts.
    pub drops_by_policy: bool,
    /// The number of rules that drop or reject, in the chain and in chains that it jumps to.
    pub drops: usize,
}

/// Runs the program nft and returns its chains.
pub fn chains() -> io::Result<Vec<Chain>> {
    let output = Command::new("nft")
        .args(["-j", "list", "ruleset"])
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let first = said.lines().next().unwrap_or("nft failed").to_owned();
        return Err(io::Error::other(first));
    }
    parse(&output.stdout)
}

/// Family, table and name.
type ChainKey = (String, String, String);

#[derive(Default)]
struct ChainRules {
    drops: usize,
    jumps: Vec<String>,
}

/// Returns the chains on hooks in a JSON ruleset.
pub fn parse(json: &[u8]) -> io::Result<Vec<Chain>> {
    let ruleset: Value = serde_json::from_slice(json)?;
    let entries = ruleset["nftables"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut rules: BTreeMap<ChainKey, ChainRules> = BTreeMap::new();
    for rule in entries.iter().filter_map(|entry| entry.get("rule")) {
        let key = (
            text(&rule["family"]),
            text(&rule["table"]),
            text(&rule["chain"]),
        );
        let of = rules.entry(key).or_default();
        of.drops += usize::from(drops(&rule["expr"]));
        jumps(&rule["expr"], &mut of.jumps);
    }
    let mut found = Vec::new();
    for chain in entries.iter().filter_map(|entry| entry.get("chain")) {
        let Some(hook) = chain["hook"].as_str() else {
            continue;
        };
        let (family, table, name) = (
            text(&chain["family"]),
            text(&chain["table"]),
            text(&chain["name"]),
        );
        found.push(Chain {
            drops: drops_below(&rules, &(family.clone(), table.clone(), name.clone())),
            drops_by_policy: chain["policy"] == "drop",
            hook: hook.to_owned(),
            family,
            table,
            name,
        });
    }
    Ok(found)
}

/// Counts the rules that drop in a chain and in all chains that it leads to.
fn drops_below(rules: &BTreeMap<ChainKey, ChainRules>, from: &ChainKey) -> usize {
    let mut seen = BTreeSet::new();
    let mut next = vec![from.2.clone()];
    let mut sum = 0;
    while let Some(name) = next.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        if let Some(of) = rules.get(&(from.0.clone(), from.1.clone(), name)) {
            sum += of.drops;
            next.extend(of.jumps.iter().cloned());
        }
    }
    sum
}

/// True if an expression drops or rejects. A verdict may stand anywhere in it, for example in a verdict map.
fn drops(expression: &Value) -> bool {
    match expression {
        Value::Array(parts) => parts.iter().any(drops),
        Value::Object(parts) => parts
            .iter()
            .any(|(name, part)| name == "drop" || name == "reject" || drops(part)),
        _ => false,
    }
}

fn jumps(expression: &Value, found: &mut Vec<String>) {
    match expression {
        Value::Array(parts) => parts.iter().for_each(|part| jumps(part, found)),
        Value::Object(parts) => {
            for (name, part) in parts {
                if let ("jump" | "goto", Some(target)) = (name.as_str(), part["target"].as_str()) {
                    found.push(target.to_owned());
                }
                jumps(part, found);
            }
        }
        _ => {}
    }
}

/// Returns the loaded tables of legacy iptables, or none if the kernel does not list them.
pub fn legacy_tables() -> Vec<String> {
    ["ip_tables_names", "ip6_tables_names"]
        .into_iter()
        .filter_map(|name| std::fs::read_to_string(format!("/proc/thread-self/net/{name}")).ok())
        .flat_map(|names| names.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}
