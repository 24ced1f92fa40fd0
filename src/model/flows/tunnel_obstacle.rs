//! What keeps packets to a peer out of tunnels.

use crate::model::interned_name::InternedName;

/// Nothing shows that packets of both directions pass outside of a tunnel whose conversation began in it, for one of these
/// reasons.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum TunnelObstacle {
    #[default]
    None,
    /// No daemon at the sink's host sends strays, and none arrived yet.
    Unattended,
    /// A firewall drops strays to the sink's host.
    DropsTo,
    /// A firewall drops strays from the sink's host.
    DropsFrom,
    DropsBoth,
    /// Strays from the sink's host arrive from another address.
    Translates,
}

impl TunnelObstacle {
    /// All obstacles, each at the place of its number in the kernel's table.
    pub const ALL: [Self; 6] = [
        Self::None,
        Self::Unattended,
        Self::DropsTo,
        Self::DropsFrom,
        Self::DropsBoth,
        Self::Translates,
    ];

    /// The obstacle of a number in the kernel's table.
    pub fn from_number(number: u8) -> Self {
        let known = Self::ALL.get(usize::from(number));
        known.copied().unwrap_or_default()
    }

    /// Its number in the kernel's table.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Its name in JSON; `None` if there is no obstacle.
    pub fn name(self) -> Option<InternedName> {
        match self {
            Self::None => None,
            Self::Unattended => Some("unattended"),
            Self::DropsTo => Some("drops_to"),
            Self::DropsFrom => Some("drops_from"),
            Self::DropsBoth => Some("drops_both"),
            Self::Translates => Some("translates"),
        }
    }
}
