//! A parcel on its way: the groups of its rows that the server has not answered for yet.

use std::io;

use super::row_binary::packed_rows;
use super::row_group::RowGroup;
use crate::engines::clock::now_ns;
use crate::engines::{Accepted, Parcel, Trouble};

/// What is left of a parcel. A group that the server took, or refused for good, is not sent again.
pub(super) struct PendingParcel {
    number: u64,
    /// The last one is next.
    groups: Vec<RowGroup>,
    /// The rows of that group, once they were made.
    packed: Option<PackedRows>,
    refused: Accepted,
}

/// Rows of one INSERT.
pub(super) struct PackedRows {
    /// The number of the first report, by which the rows are told from all others of the run.
    pub(super) first: u64,
    rows: usize,
    pub(super) group: RowGroup,
    pub(super) bytes: Vec<u8>,
}

impl PendingParcel {
    pub(super) fn new(parcel: &Parcel) -> Self {
        let has_rows = |group: &RowGroup| group.entries(parcel).next().is_some();
        Self {
            number: parcel.number,
            groups: RowGroup::ALL.into_iter().rev().filter(has_rows).collect(),
            packed: None,
            refused: Accepted::default(),
        }
    }

    pub(super) fn is_of(&self, parcel: &Parcel) -> bool {
        self.number == parcel.number
    }

    /// Returns the rows that are next: the same ones until they are answered for.
    pub(super) fn next(&mut self, parcel: &Parcel) -> io::Result<Option<&PackedRows>> {
        let Some(group) = self.groups.last() else {
            return Ok(None);
        };
        if self.packed.is_none() {
            self.packed = Some(PackedRows::new(parcel, *group)?);
        }
        Ok(self.packed.as_ref())
    }

    /// The server took the rows that were next.
    pub(super) fn taken(&mut self) {
        self.groups.pop();
        self.packed = None;
    }

    /// The server will never take them.
    pub(super) fn refused(&mut self, why: String) {
        self.refused.refused += self.packed.as_ref().map_or(0, |packed| packed.rows);
        self.refused.why = Some(why);
        self.taken();
    }

    /// Returns what became of the whole parcel.
    pub(super) fn outcome(self, parcel: &Parcel) -> Result<Accepted, Trouble> {
        match self.refused {
            Accepted {
                refused,
                why: Some(why),
            } if refused == parcel.len() => Err(Trouble::Refused(why)),
            accepted => Ok(accepted),
        }
    }
}

impl PackedRows {
    fn new(parcel: &Parcel, group: RowGroup) -> io::Result<Self> {
        let entries = || group.entries(parcel);
        Ok(Self {
            first: entries().next().map_or(0, |entry| entry.number),
            rows: entries().count(),
            group,
            bytes: packed_rows(parcel.run(), entries(), &group.columns(), now_ns())?,
        })
    }
}
