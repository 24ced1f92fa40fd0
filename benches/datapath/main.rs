//! What INT costs on this machine: `cargo bench --bench datapath -- [cost] [transit] [rate] [throughput] [latency]
//! [curve] [watchlist] [leases] [profile]`, as root. Without a name all but the profile, which needs perf.

mod cost;
mod curve;
mod frames;
mod lab;
mod latency;
mod leases;
mod profile;
mod programs;
mod rate;
mod rounds;
mod senders;
mod throughput;
mod transit;
mod watchlist;

const SECTIONS: [(&str, fn()); 9] = [
    ("cost", cost::run),
    ("transit", transit::run),
    ("rate", rate::run),
    ("throughput", throughput::run),
    ("latency", latency::run),
    ("curve", curve::run),
    ("watchlist", watchlist::run),
    ("leases", leases::run_all),
    ("profile", profile::run),
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
        eprintln!(
            "no section {name}: cost, transit, rate, throughput, latency, curve, watchlist, leases or profile"
        );
        std::process::exit(2);
    }
    for (name, run) in SECTIONS {
        if (wanted.is_empty() && name != "profile") || wanted.iter().any(|section| section == name)
        {
            run();
        }
    }
}
