//! The metrics of all roles of a host as one text: each family once, and no series twice.

use std::collections::BTreeSet;

use hostint::views::metrics::agent::text_of_roles;
use hostint::views::metrics::joined::JoinedMetrics;

const SINK: &str = "# HELP hostint_build_info 1\n# TYPE hostint_build_info gauge\nhostint_build_info{version=\"1\"} 1\n\
    # HELP up seconds\n# TYPE up gauge\nup 3\n\
    # HELP only what it has alone\n# TYPE only counter\nonly{dev=\"a b\"} 1\n";
const TCP: &str = "# HELP hostint_build_info 1\n# TYPE hostint_build_info gauge\nhostint_build_info{version=\"1\"} 1\n\
    # HELP up seconds\n# TYPE up gauge\nup{x=\"y\"} 4\n";

#[test]
fn each_family_is_there_once_and_shared_series_say_whose_they_are() {
    let mut joined = JoinedMetrics::default();
    let (sink, tcp) = (("sink", SINK.to_owned()), ("tcp", TCP.to_owned()));
    let both = joined.text(&[sink.clone(), tcp]);
    let expected = "# HELP hostint_build_info 1\n# TYPE hostint_build_info gauge\nhostint_build_info{version=\"1\"} 1\n\
        # HELP up seconds\n# TYPE up gauge\nup{role=\"sink\"} 3\nup{role=\"tcp\",x=\"y\"} 4\n\
        # HELP only what it has alone\n# TYPE only counter\nonly{dev=\"a b\"} 1\n";
    assert_eq!(both, expected);
    let alone = joined.text(&[sink]);
    assert!(
        alone.contains("up{role=\"sink\"} 3\n"),
        "a series keeps its name when another role ends: {alone}"
    );
}

#[test]
fn joined_texts_of_real_daemons_have_no_series_twice() {
    let pages = [
        ("agent", text_of_roles([("sink", true)].into_iter())),
        ("sink", crate::metrics::sink_page()),
        ("collect", crate::metrics::collect_page()),
        ("postcards", crate::metrics::postcards_page()),
    ];
    let text = JoinedMetrics::default().text(&pages);
    let mut known = BTreeSet::new();
    for line in text.lines() {
        let series = line.rsplit_once(' ').unwrap().0;
        assert!(known.insert(series), "twice: {line}");
    }
    let lines = |text: &str| text.lines().filter(|line| !line.starts_with('#')).count();
    let all: usize = pages.iter().map(|(_, page)| lines(page)).sum();
    let joined = lines(&text);
    assert!(
        joined > all - 10,
        "{joined} of {all}: only the host's own are once"
    );
}
