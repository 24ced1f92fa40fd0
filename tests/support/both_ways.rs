//! Comparisons of what a program leaves behind on its general way and on its straight one.

use std::collections::BTreeMap;
use std::fmt::Debug;

use hostint::datapath::abi::{Abi, bytes_of};

use crate::programs::Content;

/// Both records of a flow are the same, byte by byte, or there is none.
pub fn assert_same_records<T: Abi + Debug>(
    [general, straight]: [Option<T>; 2],
    sentence: &dyn Fn() -> String,
) {
    let bytes = |record: &Option<T>| record.as_ref().map(|record| bytes_of(record).to_vec());
    assert!(
        bytes(&general) == bytes(&straight),
        "{}: the record is\n{straight:?}\ninstead of\n{general:?}",
        sentence()
    );
}

/// Both sets of tables have the same content.
pub fn assert_same_tables(
    [general, straight]: [BTreeMap<&'static str, Content>; 2],
    sentence: &dyn Fn() -> String,
) {
    for (name, content) in &general {
        assert!(content == &straight[name], "{}: {name}", sentence());
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
