//! Clocks of hosts: intervals that hold in simulated worlds, false stamps found, estimates.

mod answers;
mod estimates;
mod mesh;
mod own_clock;
mod pairs;
mod reports;
mod stated;
mod steady_wall;
mod told;
mod world;
