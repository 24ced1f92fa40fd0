//! Golden packets: whole Ethernet frames as hex dumps, and the reports in them.

use hostint::collector;
use hostint::model::Report;

use crate::places::repository;

/// The frame of `tests/golden/NAME.hex`: an offset, then up to sixteen bytes per line.
pub fn frame(name: &str) -> Vec<u8> {
    let path = repository()
        .join("tests/golden")
        .join(format!("{name}.hex"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines()
        .flat_map(|line| line.split_whitespace().skip(1))
        .map(|byte| u8::from_str_radix(byte, 16).unwrap_or_else(|e| panic!("{name}: {byte}: {e}")))
        .collect()
}

/// The UDP payload of a frame without VLAN tag and IPv4 options.
pub fn udp_payload(name: &str) -> Vec<u8> {
    frame(name).split_off(14 + 20 + 8)
}

/// The only report of a datagram.
pub fn decode(datagram: &[u8]) -> Result<Report, collector::DecodeError> {
    let mut group = collector::decode(datagram)?;
    match (group.reports.pop(), group.refused.pop()) {
        (Some(report), None) if group.reports.is_empty() => Ok(report),
        (None, Some(refused)) => Err(refused),
        (last, refused) => panic!("{last:?}, {refused:?} and {group:?}"),
    }
}

/// The names of all frames with reports.
pub fn with_reports() -> Vec<String> {
    let folder = repository().join("tests/golden");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let name = name.strip_suffix(".hex")?;
            [
                "hostint_report",
                "hostint_drop",
                "hostint_flow",
                "ihr_",
                "tr",
            ]
            .iter()
            .any(|first| name.starts_with(first))
            .then(|| name.to_owned())
        })
        .collect();
    names.sort_unstable();
    names
}
