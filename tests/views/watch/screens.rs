//! Every screen is compared with the copy in tests/golden/watch, which a person has read.
//!
//! `HOSTINT_BLESS=1 cargo test --test views watch` writes tests/golden/watch/ anew. Read it as somebody in need would.

use std::collections::BTreeMap;
use std::path::Path;

use hostint::model::{FlowKey, FlowStatus, HostName, HostStatus, NameOrigin, NodeId, Tally, Vlans};
use hostint::views::metrics;
use hostint::views::watch::KeyPress;
use hostint_testing::status_samples::{nothing, postcards};
use ratatui::style::{Color, Modifier};

use super::host::{Viewer, flow, sink, source};
use super::paths::{host, told, way};

/// Three flows after so many seconds, of which the second loses.
fn few(second: u64) -> HostStatus {
    let mut long = flow(3, 500 * second, 0, 20);
    long.flow = FlowKey {
        src: "2001:db8:1:2:3:4:5:6".parse().unwrap(),
        dst: "2001:db8:6:5:4:3:2:1".parse().unwrap(),
        vlans: Vlans {
            outer: 100,
            inner: 4095,
        },
        ..long.flow
    };
    sink(vec![
        flow(1, 100_000 + 1000 * second, 0, 12),
        flow(2, 4000 * second, 40 * second, 15),
        long,
    ])
}

fn many(second: u64) -> HostStatus {
    let flows: Vec<FlowStatus> = (1..=400)
        .map(|n: u16| {
            let packets = 1000 + u64::from(n) * 10 * second;
            let lost = if n.is_multiple_of(7) {
                u64::from(n) * second / 20
            } else {
                0
            };
            flow(n, packets, lost, 10 + usize::from(n % 9))
        })
        .collect();
    sink(flows)
}

/// A source that knows the names of hosts.
fn named(second: u64) -> HostStatus {
    let name = |node, name: &str, contested| HostName {
        node: NodeId(node),
        name: name.to_owned(),
        origin: NameOrigin::Told,
        contested,
    };
    HostStatus {
        names: vec![name(1, "web-3", false), name(2, "storage-17", true)],
        ..source(500 * second)
    }
}

fn seen(width: u16, height: u16, host: fn(u64) -> HostStatus) -> Viewer {
    let mut viewer = Viewer::new(width, height);
    for second in 1..=5 {
        viewer.see(host(second));
        viewer.buffer();
    }
    viewer
}

/// A host with postcards alone, which drops ten packets a second.
fn of_postcards(second: u64) -> HostStatus {
    let mut told = postcards();
    if let Some(drops) = &mut told.drops {
        drops.totals.seen += 10 * second;
    }
    HostStatus {
        postcards: Some(told),
        ..nothing()
    }
}

/// A flow whose packets changed from one path to another, which is slower, in second 4.
fn changed_way(second: u64) -> HostStatus {
    let quick = 1_000 * second.min(3);
    let slow = 1_000 * second.saturating_sub(3);
    let mut paths = vec![way(&[28673], &[(2_000, quick), (9_000, quick / 10)])];
    if slow > 0 {
        let in_hops = [(12_000, slow), (60_000, slow / 10)];
        paths.push(way(&[28673, 28674], &in_hops));
    }
    host(second, paths)
}

fn screens() -> BTreeMap<&'static str, String> {
    let mut all = BTreeMap::new();
    let mut add = |name, mut viewer: Viewer| drop(all.insert(name, viewer.screen()));
    let after = |mut viewer: Viewer, keys: &str| {
        viewer.type_keys(keys);
        viewer
    };
    let detail = |mut viewer: Viewer| {
        viewer.press(KeyPress::Enter);
        viewer.see(few(6));
        viewer.buffer();
        viewer.see(few(7));
        viewer
    };
    add("empty", seen(80, 24, |_| nothing()));
    add("no_flows", seen(80, 24, |_| sink(Vec::new())));
    add("few", seen(140, 24, few));
    add("few_narrow", seen(60, 15, few));
    add("few_huge", seen(300, 24, few));
    add("many", seen(140, 40, many));
    add("many_narrow", seen(60, 15, many));
    add("filter", after(seen(100, 24, many), "/udp node:4"));
    add(
        "filter_fits_nothing",
        after(seen(100, 24, many), "/carrier pigeon"),
    );
    add("sorted_by_p99", after(seen(100, 24, many), "sss"));
    add("detail", detail(seen(140, 40, few)));
    add("detail_with_table", detail(seen(140, 60, few)));
    add("detail_narrow", detail(seen(60, 15, few)));
    add("way", after(seen(140, 40, changed_way), "w"));
    add("way_narrow", after(seen(60, 24, changed_way), "w"));
    let mut with_history = after(seen(140, 40, changed_way), "w");
    with_history.see_told(1, changed_way(6), Some(told()));
    add("way_told", with_history);
    add("counters", after(seen(100, 24, few), "2"));
    add("counters_narrow", after(seen(60, 15, few), "2"));
    add("source_only", seen(100, 24, |second| source(500 * second)));
    add("peers", after(seen(100, 24, |_| source(0)), "3"));
    add("peers_narrow", after(seen(60, 15, |_| source(0)), "3"));
    add("peers_named", after(seen(140, 24, named), "3"));
    add("peers_filter", after(seen(100, 24, named), "3/storage"));
    add("why", after(seen(60, 15, |_| source(0)), "4"));
    add("drops", seen(100, 24, of_postcards));
    add("hops", after(seen(140, 24, of_postcards), "6"));
    add("queues", after(seen(140, 24, of_postcards), "7"));
    add("queues_narrow", after(seen(60, 15, of_postcards), "7"));
    add("drops_filter", after(seen(100, 24, of_postcards), "5/nft"));
    add("help", after(seen(60, 15, few), "?"));
    add("paused", after(seen(80, 24, few), "p"));
    let mut failed = seen(80, 24, few);
    failed
        .watch
        .fail("cannot read the state of this host: the daemon is gone".to_owned());
    add("failed", failed);
    let mut ascii = Viewer::with(100, 30, false, false);
    for second in 1..=5 {
        ascii.see(few(second));
        ascii.buffer();
    }
    add("ascii", detail(ascii));
    let mut ascii = Viewer::with(100, 40, false, false);
    ascii.see(changed_way(1)).type_keys("w");
    for second in 2..=5 {
        ascii.see_told(1, changed_way(second), (second == 5).then(told));
    }
    add("way_ascii", ascii);
    all
}

#[test]
fn screens_are_what_was_looked_at() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/watch");
    let screens = screens();
    if std::env::var_os("HOSTINT_BLESS").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        for (name, screen) in &screens {
            std::fs::write(folder.join(format!("{name}.txt")), screen).unwrap();
        }
    }
    let kept = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(kept, screens.len(), "files in {}", folder.display());
    for (name, screen) in &screens {
        let read = std::fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap();
        assert!(
            *screen == read,
            "{name} is not what it was (HOSTINT_BLESS=1 cargo test --test views watch; then look at git diff):\n{screen}"
        );
    }
}

#[test]
fn any_size_can_be_drawn() {
    for width in [1, 10, 19, 20, 40, 59, 60, 80, 133, 250] {
        for height in [1, 3, 4, 5, 8, 15, 24, 45, 120] {
            for host in [few, many, changed_way, |_| source(1), |_| nothing()] {
                let mut viewer = seen(width, height, host);
                for keys in ["1", "2", "3", "4", "?", "?"] {
                    viewer.type_keys(keys);
                }
                viewer.type_keys("1");
                viewer.press(KeyPress::Enter);
                viewer.press(KeyPress::End);
                viewer.type_keys("w");
            }
        }
    }
}

#[test]
fn ascii_terminals_get_ascii() {
    for name in ["ascii", "way_ascii"] {
        let text = &screens()[name];
        assert!(text.is_ascii(), "{text}");
    }
}

#[test]
fn colours_are_few_and_none_where_none_are_wanted() {
    let allowed = [Color::Reset, Color::Red, Color::Green, Color::Cyan];
    for (sentence, colour) in [("16 colours", true), ("NO_COLOR", false)] {
        let mut viewer = Viewer::with(140, 60, colour, true);
        for second in 1..=3 {
            viewer.see(few(second));
        }
        for keys in ["1", "2", "3", "4", "?"] {
            viewer.type_keys(keys);
            let mut colours = 0;
            for cell in &viewer.buffer().content {
                assert!(allowed.contains(&cell.fg), "{sentence}: {:?}", cell.fg);
                assert_eq!(cell.bg, Color::Reset, "{sentence}: the terminal's own");
                colours += usize::from(cell.fg != Color::Reset);
            }
            assert_eq!(colours > 0, colour, "{sentence}, {keys}");
        }
        viewer.press(KeyPress::Escape);
        viewer.type_keys("1");
        let reversed = viewer.buffer().content.iter();
        let reversed = reversed.filter(|cell| cell.modifier.contains(Modifier::REVERSED));
        assert!(
            reversed.count() >= 140,
            "{sentence}: the chosen row stands out"
        );
    }
}

#[test]
fn names_from_elsewhere_cannot_drive_the_terminal() {
    let mut status = source(1);
    let source = status.source.as_mut().unwrap();
    source.attachments[0].dev = "e\x1b[2Jth\r\n".to_owned();
    let mut viewer = Viewer::new(100, 24);
    viewer.see(status);
    for cell in &viewer.buffer().content {
        assert!(!cell.symbol().contains(char::is_control), "{cell:?}");
    }
}

#[test]
fn each_peer_shows_the_encapsulation_of_its_flows() {
    /// Ways, eaten forms, time since the proof, the column's text, and the state in metrics.
    type Case<'a> = (&'a [&'a str], &'a [&'a str], Option<u64>, &'a str, &'a str);
    let cases: [Case<'static>; 6] = [
        (&[], &[], None, "being proved", "proving"),
        (&[], &["vxlan-gpe"], Some(1), "passes nothing", "closed"),
        (
            &["tcp vxlan-gpe", "udp vxlan-gpe"],
            &[],
            Some(1),
            "vxlan-gpe",
            "proved",
        ),
        (
            &["tcp extension-udp", "udp extension-udp"],
            &["vxlan-gpe"],
            Some(1),
            "extension-udp",
            "partly",
        ),
        (
            &["tcp vxlan-gpe", "udp over-tcp-udp"],
            &[],
            Some(1),
            "several",
            "proved",
        ),
        (&["udp over-tcp-udp"], &[], Some(1), "UDP only", "proved"),
    ];
    for (ways, eaten, proved_ago_ns, path, metric) in cases {
        let mut status = source(0);
        let peers = &mut status.source.as_mut().unwrap().peers;
        peers.retain(|peer| peer.state == "granted");
        peers[0].ways = ways.to_vec();
        peers[0].eaten = eaten.to_vec();
        peers[0].proved_ago_ns = proved_ago_ns;
        let page = metrics::text(&metrics::sink::families(&status, &Tally::default(), &[]));
        let series = format!("hostint_source_peer_paths{{state=\"{metric}\"}} 1\n");
        assert!(page.contains(&series), "{ways:?}: {page}");
        let screen = Viewer::new(100, 24).see(status).type_keys("3").screen();
        let line = format!("192.0.2.2       granted       {path:<14} ");
        assert!(screen.contains(&line), "{ways:?}: {screen}");
    }
}
