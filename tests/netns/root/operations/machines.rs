//! Both hosts without hostint: what administrators do to their interfaces at random.

use hostint_testing::netns::{Host, Lab};
use hostint_testing::random::Random;

pub const DEVICES: [&str; 2] = ["a0", "b0"];

fn either<'a>(lab: &'a Lab, random: &mut Random) -> (&'a Host, &'static str) {
    let side = random.below(2);
    ([&lab.a, &lab.b][side], DEVICES[side])
}

/// The interface gets another address, or loses it.
pub fn readdress(lab: &Lab, random: &mut Random) {
    let (host, dev) = either(lab, random);
    let number = random.below(20);
    let verb = random.pick(&["add", "del"]);
    host.sh(&format!(
        "ip addr {verb} 10.9.9.{number}/32 dev {dev} 2>/dev/null || true"
    ));
}

/// The card's offloads change.
pub fn offload(lab: &Lab, random: &mut Random) {
    let (host, dev) = either(lab, random);
    let state = random.pick(&["on", "off"]);
    let feature = random.pick(&["tx", "gso", "tso", "gro"]);
    host.sh(&format!("ethtool -K {dev} {feature} {state} >/dev/null"));
}
