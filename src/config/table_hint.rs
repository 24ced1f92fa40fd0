//! What was probably meant by a name that stands outside of tables and is none of theirs.

use super::catalogue::tables_with;
use super::table::nearest;
use super::table_name::{TABLES, shown_table};

pub(super) fn hint_for(name: &str) -> String {
    match (nearest(name, TABLES.into_iter()), tables_with(name)) {
        (Some(near), _) => format!("did you mean {}?", shown_table(near)),
        (None, Some(tables)) => format!("it belongs to {tables}"),
        (None, None) => {
            "expected [run], [sink], [source], [transit], [postcards], [tcp], [collect], [names], [[limits]], [[queue]] or [[watch]]"
                .to_owned()
        }
    }
}
