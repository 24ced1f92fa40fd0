//! What hostint asks of the operating system.

pub mod clock;
pub mod ethtool;
pub mod netdev;
pub mod netns;
pub mod resolve;
pub mod rtnetlink;
pub mod signals;
