//! Sets of parts of the kernel: those that a process tried, and those that are missing.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::interned_name::{self, InternedName};
use crate::model::{KERNEL_PARTS, KernelPart, PartFacts, Without};

/// Some of the parts.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct KernelParts(u64);

impl KernelParts {
    /// Those whose bits are set; bits of later versions are left out.
    pub fn from_bits(bits: u64) -> Self {
        Self(bits & ((1 << KERNEL_PARTS.len()) - 1))
    }

    pub fn bits(self) -> u64 {
        self.0
    }

    /// Returns true if it was not one of them before.
    pub fn insert(&mut self, part: KernelPart) -> bool {
        let before = self.0;
        self.0 |= part.bit();
        self.0 != before
    }

    pub fn contains(self, part: KernelPart) -> bool {
        self.0 & part.bit() != 0
    }

    /// Those of either.
    pub fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// These without those.
    pub fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    pub fn iter(self) -> impl Iterator<Item = &'static PartFacts> {
        KERNEL_PARTS
            .iter()
            .filter(move |row| self.contains(row.part))
    }
}

/// What a process found out about the parts that it asks for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct PartsFound {
    pub tried: KernelParts,
    /// Those of them that the kernel lacks or refuses.
    pub refused: KernelParts,
}

impl PartsFound {
    /// True if the part was asked for, and the kernel gives it.
    pub fn gives(self, part: KernelPart) -> bool {
        self.tried.contains(part) && !self.refused.contains(part)
    }

    /// Adds what was found later, or by another process of the host.
    pub fn add(&mut self, later: Self) {
        self.refused = self.refused.without(later.tried).and(later.refused);
        self.tried = self.tried.and(later.tried);
    }
}

impl FromIterator<KernelPart> for KernelParts {
    fn from_iter<I: IntoIterator<Item = KernelPart>>(parts: I) -> Self {
        let mut all = Self::default();
        for part in parts {
            all.insert(part);
        }
        all
    }
}

/// A part that a role asked for in vain, as `hostint status` tells it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct KernelLack {
    #[serde(deserialize_with = "interned_name::one")]
    pub part: InternedName,
    /// The figures that are missing without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "interned_name::maybe")]
    pub missing: Option<InternedName>,
    /// What is done instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "interned_name::maybe")]
    pub instead: Option<InternedName>,
}

impl From<&PartFacts> for KernelLack {
    fn from(row: &PartFacts) -> Self {
        let (missing, instead) = match row.without {
            Without::Missing(figures) => (Some(figures), None),
            Without::Replaced(how) => (None, Some(how)),
            Without::CannotRun => (None, None),
        };
        Self {
            part: row.name,
            missing,
            instead,
        }
    }
}

impl KernelParts {
    /// These, as a status tells them.
    pub fn lacks(self) -> Vec<KernelLack> {
        self.iter().map(KernelLack::from).collect()
    }
}

impl fmt::Display for KernelLack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "without {}, which this kernel lacks or refuses,",
            self.part
        )?;
        match (self.missing, self.instead) {
            (Some(figures), _) => write!(f, " hostint does not know {figures}"),
            (None, Some(how)) => write!(f, " {how}"),
            (None, None) => Ok(()),
        }
    }
}

impl PartFacts {
    /// What it means that the kernel lacks or refuses this.
    pub fn sentence(&self) -> String {
        let without = KernelLack::from(self);
        match self.without {
            Without::CannotRun => format!("{without} {} cannot run", self.roles),
            _ => without.to_string(),
        }
    }
}
