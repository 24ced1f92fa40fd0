//! The real binary on real traffic between network namespaces.

mod exchange;
#[path = "../support/line.rs"]
mod line;
#[path = "../support/netns.rs"]
mod netns;

mod root {
    mod field;
    mod gro;
    mod lifecycle;
    mod loss;
    mod offloads;
    mod options;
    mod peer;
    mod reports;
    mod stage;
    mod superpackets;
    mod traffic;
}
