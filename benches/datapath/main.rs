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
mod throughput;
mod transit;
mod watchlist;
mod ways;

const SECTIONS: [(&str, fn()); 22] = [
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
    // cargo bench adds --bench
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|name| name != "--bench")
        .collect();
    let unknown = wanted
        .iter()
        .find(|name| SECTIONS.iter().all(|(section, _)| section != name));
    if let Some(name) = unknown {
        let sections = SECTIONS.map(|(section, _)| section).join(", ");
        eprintln!("no section {name}; there are {sections}");
        std::process::exit(2);
    }
    for (name, run) in SECTIONS {
        let by_itself = wanted.is_empty() && !name.starts_with("profile");
        if name == "steps" || by_itself || wanted.iter().any(|section| section == name) {
            run();
        }
    }
}
