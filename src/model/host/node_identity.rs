//! The identity of a node: its name, its labels and its version, as the node itself tells them.

use std::collections::BTreeMap;

use crate::model::{KernelParts, NodeId};

/// The longest text of each kind, in bytes, and the most labels. Longer ones are cut where they are reported, and
/// refused where they are read.
pub const MOST_NAME_BYTES: usize = 128;
pub const MOST_VERSION_BYTES: usize = 32;
pub const MOST_LABELS: usize = 8;
pub const MOST_LABEL_KEY_BYTES: usize = 32;
pub const MOST_LABEL_BYTES: usize = 64;
/// The most interfaces, and the longest name that Linux gives one.
pub const MOST_INTERFACES: usize = 32;
pub const MOST_INTERFACE_BYTES: usize = 15;

/// What a node reports about itself. A name is for people: it never stands for the node's ID.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct NodeIdentity {
    pub node: NodeId,
    /// The seconds until the node tells this again. After three such periods without a report it counts as silent.
    pub period_s: u16,
    pub name: String,
    pub version: String,
    /// Labels such as rack, zone and role.
    pub labels: BTreeMap<String, String>,
    /// The names of its interfaces, by the low 16 bits of their indices, which are the ports of its packets.
    pub interfaces: BTreeMap<u16, String>,
    /// The parts of the kernel that its daemons asked for in vain.
    pub lacks: KernelParts,
}

/// The text without what could move a cursor, change a direction of writing or pretend to be another line.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if is_plain(c) { c } else { '\u{fffd}' })
        .collect()
}

/// True for a character that shows as itself and leaves those around it alone.
pub fn is_plain(c: char) -> bool {
    let hidden = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    !c.is_control() && !hidden
}
