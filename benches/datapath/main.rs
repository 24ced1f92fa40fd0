//! What INT costs on this machine: `cargo bench --bench datapath -- [SECTION]...`, as root. Without a section all run but
//! the profiles, which need perf. The machine's own steps are told first in any case.

mod cost;
mod curve;
mod drops;
mod flows;
mod frames;
mod host_times;
mod lab;
mod latency;
mod leases;
mod loss;
mod memory;
mod option;
mod parallel;
mod parts;
mod postcards;
mod profile;
mod programs;
mod rate;
mod requests;
mod rounds;
mod senders;
mod steps;
mod superpackets;
mod throughput;
mod transit;
mod watchlist;
mod ways;

use hostint_testing::wanted::Wanted;

const SECTIONS: [(&str, fn()); 23] = [
    ("steps", steps::run),
    ("ways", ways::run),
    ("flows", flows::run),
    ("cost", cost::run),
    ("host-times", host_times::run),
    ("loss", loss::run),
    ("transit", transit::run),
    ("rate", rate::run),
    ("parallel", parallel::run),
    ("throughput", throughput::run),
    ("superpackets", superpackets::run),
    ("latency", latency::run),
    ("short", requests::short),
    ("requests", requests::run),
    ("budget", requests::budget),
    ("option", option::run),
    ("curve", curve::run),
    ("watchlist", watchlist::run),
    ("leases", leases::run_all),
    ("drops", drops::run),
    ("postcards", postcards::run),
    ("profile", profile::run),
    ("profile-short", requests::profile),
];

fn main() {
    let wanted = Wanted::of(SECTIONS.iter().map(|(name, _)| *name));
    for (name, run) in SECTIONS {
        let by_itself = wanted.are_all() && !name.starts_with("profile");
        if name == "steps" || by_itself || wanted.name(name) {
            run();
        }
    }
}
