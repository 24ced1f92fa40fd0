//! Keys move, sort, filter and leave the full-screen view.

use std::time::Duration;

use hostint::views::watch::{Act, KeyPress};

use super::host::{Viewer, flow, sink, source};

/// Flows 1 to 9; flow n gets n * 100 packets a second, and loses n in a thousand.
fn viewer() -> Viewer {
    let mut viewer = Viewer::new(140, 24);
    for second in 1..=2 {
        let flows =
            (1..=9).map(|n| flow(n, second * 100 * u64::from(n), second * u64::from(n), 12));
        viewer.see(sink(flows.collect()));
        viewer.buffer();
    }
    viewer
}

fn chosen(viewer: &mut Viewer) -> String {
    let buffer = viewer.buffer();
    let reversed = ratatui::style::Modifier::REVERSED;
    let rows = 4..buffer.area.height - 1;
    let row = rows
        .clone()
        .find(|y| buffer[(130, *y)].modifier.contains(reversed))
        .unwrap_or_else(|| panic!("nothing is chosen"));
    (0..20).map(|x| buffer[(x, row)].symbol()).collect()
}

#[test]
fn flows_are_sorted_by_each_column_both_ways() {
    let mut viewer = viewer();
    // Each has the same share of loss: what moves most comes first.
    assert_eq!(viewer.ports()[0], 40_009);
    viewer.type_keys("<");
    assert!(viewer.screen().contains("▾pkt/s"));
    assert_eq!(viewer.ports()[0], 40_009);
    viewer.type_keys("r");
    assert!(viewer.screen().contains("▴pkt/s"));
    assert_eq!(viewer.ports()[0], 40_001);
    // Round once, whatever is there: nothing is lost of the list.
    for _ in 0..17 {
        viewer.type_keys("s");
        assert_eq!(viewer.ports().len(), 9);
    }
    assert!(viewer.screen().contains("▾pkt/s"), "and back");
}

#[test]
fn flows_without_a_figure_come_last_both_ways() {
    let mut viewer = Viewer::new(140, 24);
    let host = |second: u64| {
        sink(vec![
            flow(1, 5, 0, 12),
            flow(2, 100 * second, second, 12),
            flow(3, 10 * second, 0, 12),
        ])
    };
    viewer.see(host(1)).see(host(2));
    assert_eq!(viewer.ports(), [40_002, 40_003, 40_001]);
    viewer.type_keys("r");
    assert_eq!(viewer.ports(), [40_003, 40_002, 40_001]);
}

#[test]
fn a_filter_keeps_flows_with_all_its_words() {
    for (text, ports) in [
        ("/:40003 ", &[40_003][..]),
        ("/UDP node:2", &[40_005, 40_001]),
        ("/10.9 tcp", &[40_009, 40_006, 40_003]),
        ("/no such flow", &[]),
    ] {
        let mut viewer = viewer();
        viewer.type_keys(text);
        assert_eq!(viewer.ports(), ports, "{text}");
        viewer.press(KeyPress::Enter);
        assert_eq!(viewer.ports(), ports, "{text} is kept");
        viewer.press(KeyPress::Escape);
        assert_eq!(viewer.ports().len(), 9, "{text} is dropped");
    }
    let mut viewer = viewer();
    viewer.type_keys("/q40003");
    assert_eq!(viewer.ports().len(), 0, "keys are characters");
    for _ in 0..6 {
        viewer.press(KeyPress::Backspace);
    }
    assert_eq!(viewer.ports().len(), 9);
}

#[test]
fn the_cursor_follows_whom_it_was_put_on() {
    let mut viewer = viewer();
    assert!(chosen(&mut viewer).contains(":40009"), "the first");
    viewer.press(KeyPress::Down);
    assert!(chosen(&mut viewer).contains(":40008"));
    viewer.type_keys("r");
    assert!(chosen(&mut viewer).contains(":40008"), "wherever it goes");
    viewer.press(KeyPress::End);
    viewer.press(KeyPress::PageUp);
    assert!(chosen(&mut viewer).contains(":40009"));
    viewer.press(KeyPress::Home);
    viewer.see(sink(vec![flow(4, 1000, 0, 12), flow(9, 1800, 18, 12)]));
    assert!(
        chosen(&mut viewer).contains(":40004"),
        "the one that is first now"
    );
}

#[test]
fn a_chosen_flow_that_goes_leaves_the_cursor_where_it_is() {
    let mut viewer = viewer();
    viewer.press(KeyPress::End);
    viewer.press(KeyPress::Enter);
    assert!(viewer.screen().contains("last interval"));
    viewer.see(sink(Vec::new()));
    assert!(viewer.screen().contains("this flow is gone"));
    viewer.press(KeyPress::Escape);
    assert!(viewer.screen().contains("no flow has arrived yet"));
}

#[test]
fn pace_and_pause() {
    let mut viewer = viewer();
    let mut paces = Vec::new();
    for key in ["+", "+", "-", "-", "-", "-", "-", "-"] {
        viewer.type_keys(key);
        paces.push(viewer.watch.interval.as_millis());
    }
    assert_eq!(paces, [2000, 5000, 2000, 1000, 500, 200, 100, 100]);
    viewer.watch.interval = Duration::from_millis(700);
    assert_eq!(viewer.press(KeyPress::Char('+')), Act::Refresh);
    assert_eq!(viewer.watch.interval.as_millis(), 1000);
    assert_eq!(viewer.press(KeyPress::Char(' ')), Act::Nothing);
    assert!(viewer.watch.paused && viewer.screen().contains("PAUSED"));
    assert_eq!(viewer.press(KeyPress::Char('p')), Act::Refresh, "at once");
    assert!(!viewer.watch.paused);
}

#[test]
fn keys_lead_everywhere_and_out() {
    let mut viewer = viewer();
    for (keys, words) in [
        ("2", "sequence numbers declared lost"),
        ("3", "no source here"),
        ("4", "no counter shows"),
        ("1", "udp 10.9.0.1:40001"),
        ("?", "column; reverse"),
        ("x", "udp 10.9.0.1:40001"),
    ] {
        viewer.type_keys(keys);
        let screen = viewer.screen();
        assert!(screen.contains(words), "{keys}: {screen}");
    }
    for words in [
        "/s            in all",
        "no source here",
        "no counter shows",
        "flow   ",
    ] {
        viewer.press(KeyPress::Tab);
        assert!(viewer.screen().contains(words), "{words}");
    }
    viewer.press(KeyPress::BackTab);
    assert!(viewer.screen().contains("no counter shows"));
    assert_eq!(viewer.press(KeyPress::Char('q')), Act::Quit);
}

#[test]
fn a_host_that_only_sends_shows_its_counters_unless_somebody_chose() {
    let mut viewer = Viewer::new(100, 24);
    viewer.see(source(1));
    assert!(viewer.screen().contains("INT inserted"));
    viewer.type_keys("1");
    viewer.see(source(2));
    assert!(viewer.screen().contains("no sink here"));
}
