//! The real binary on real traffic between network namespaces.

mod exchange;
#[path = "../support/line.rs"]
mod line;
#[path = "../support/netns.rs"]
mod netns;

mod root {
    mod lifecycle;
    mod loss;
    mod options;
    mod reports;
    mod traffic;
}
