//! Maps of another version of hostint, as an upgrade finds them.

use hostint::datapath::abi::ABI_VERSION;

use crate::netns::Host;

/// Makes a host's maps those of another version: what starts next takes over from it.
pub fn make_other_version(host: &Host) {
    let maps = host.pins().join(format!("maps-v{ABI_VERSION}"));
    std::fs::rename(&maps, maps.with_file_name("maps-v99")).unwrap();
}
