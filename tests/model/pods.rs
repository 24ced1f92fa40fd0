//! A pod has an address for its time, and nothing is named on a guess.

use std::net::IpAddr;

use hostint::model::{
    FlowKey, FlowPods, FlowTime, PodBook, PodName, PodNews, PodsOf, SeenPod, Span, Vlans,
};

const S: u64 = 1_000_000_000;
const A: &str = "10.0.0.1";
const B: &str = "10.0.0.2";

fn pod(name: &str, addresses: &[&str], since_s: u64) -> SeenPod {
    SeenPod {
        uid: format!("uid-{name}"),
        digest: None,
        name: PodName {
            namespace: "shop".into(),
            pod: name.into(),
            workload: name.split('-').next().unwrap().into(),
            workload_kind: "Deployment".into(),
        },
        addresses: addresses.iter().map(|one| one.parse().unwrap()).collect(),
        since_ns: Some(since_s * S),
    }
}

fn seen(pod: SeenPod) -> PodNews {
    PodNews::Seen(Box::new(pod))
}

fn gone(name: &str) -> PodNews {
    PodNews::Gone(format!("uid-{name}"))
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn at(book: &PodBook, text: &str, s: u64) -> Option<String> {
    let found = book.at(address(text), FlowTime::at(s * S));
    found.map(|name| name.pod.clone())
}

/// The news, each with its second.
fn book(news: Vec<(u64, PodNews)>) -> PodBook {
    let mut book = PodBook::default();
    for (s, news) in news {
        book.take(news, s * S);
    }
    book
}

#[test]
fn an_address_has_the_name_of_the_pod_that_had_it_then() {
    let web = || pod("web-1", &[A], 100);
    let db = |since_s| pod("db-1", &[A], since_s);
    for (sentence, news, second, name) in [
        (
            "while it is there",
            vec![(110, seen(web()))],
            200,
            Some("web-1"),
        ),
        (
            "before it was told, and after it began",
            vec![(110, seen(web()))],
            105,
            Some("web-1"),
        ),
        ("before it began", vec![(110, seen(web()))], 99, None),
        (
            "a report that comes soon after it went",
            vec![(110, seen(web())), (300, gone("web-1"))],
            310,
            Some("web-1"),
        ),
        (
            "later",
            vec![(110, seen(web())), (300, gone("web-1"))],
            320,
            None,
        ),
        (
            "while it was there, told afterwards",
            vec![(110, seen(web())), (300, gone("web-1"))],
            200,
            Some("web-1"),
        ),
        (
            "nothing was heard for a long time",
            vec![(110, seen(web()))],
            110 + 361,
            None,
        ),
        (
            "something else was heard",
            vec![(110, seen(web())), (400, PodNews::Current)],
            700,
            Some("web-1"),
        ),
        (
            "its successor",
            vec![
                (110, seen(web())),
                (300, gone("web-1")),
                (302, seen(db(301))),
            ],
            320,
            Some("db-1"),
        ),
        (
            "the time between both",
            vec![
                (110, seen(web())),
                (300, gone("web-1")),
                (302, seen(db(301))),
            ],
            305,
            None,
        ),
        (
            "well before",
            vec![
                (110, seen(web())),
                (300, gone("web-1")),
                (302, seen(db(301))),
            ],
            290,
            Some("web-1"),
        ),
        (
            "a successor long after it",
            vec![
                (110, seen(web())),
                (200, gone("web-1")),
                (302, seen(db(301))),
            ],
            302,
            Some("db-1"),
        ),
        (
            "a successor that is told before its end",
            vec![
                (110, seen(web())),
                (302, seen(db(301))),
                (305, gone("web-1")),
            ],
            330,
            Some("db-1"),
        ),
        (
            "its own late news do not give it back",
            vec![(110, seen(web())), (302, seen(db(301))), (303, seen(web()))],
            330,
            Some("db-1"),
        ),
        (
            "it is told after its successor",
            vec![(302, seen(db(301))), (303, seen(web()))],
            330,
            Some("db-1"),
        ),
        (
            "it ends, and its pod is kept",
            vec![(110, seen(web())), (300, seen(pod("web-1", &[], 100)))],
            330,
            None,
        ),
        (
            "a list without it",
            vec![(110, seen(web())), (300, PodNews::Listed(Vec::new()))],
            200,
            None,
        ),
        (
            "up to the last word before that list",
            vec![
                (110, seen(web())),
                (190, PodNews::Current),
                (300, PodNews::Listed(Vec::new())),
            ],
            200,
            Some("web-1"),
        ),
        (
            "a list with it",
            vec![(110, seen(web())), (300, PodNews::Listed(vec![web()]))],
            330,
            Some("web-1"),
        ),
        (
            "a clock behind that of the server",
            vec![(90, seen(web()))],
            95,
            Some("web-1"),
        ),
    ] {
        assert_eq!(at(&book(news), A, second).as_deref(), name, "{sentence}");
    }
}

#[test]
fn a_flow_is_one_pods_from_its_begin_to_its_end() {
    let news = vec![
        (110, seen(pod("web-1", &[A], 100))),
        (300, gone("web-1")),
        (302, seen(pod("db-1", &[A], 301))),
        (5000, PodNews::Current),
    ];
    let book = book(news);
    for (sentence, begun_s, last_s, name) in [
        ("of the first", 150, 250, Some("web-1")),
        (
            "its last report comes in the second one's time",
            150,
            305,
            Some("web-1"),
        ),
        ("it began with the second", 302, 305, Some("db-1")),
        ("it goes on for long in both", 150, 1000, None),
        ("it began before both", 10, 250, Some("web-1")),
        ("it was over before both", 10, 90, None),
    ] {
        let time = FlowTime {
            last_ns: last_s * S,
            begun_ns: Some(begun_s * S),
        };
        let found = book.at(address(A), time).map(|name| name.pod.as_str());
        assert_eq!(found, name, "{sentence}");
    }
}

#[test]
fn a_flow_of_which_hours_are_left_keeps_the_name_of_its_pod() {
    let book = book(vec![
        (110, seen(pod("web-1", &[A], 100))),
        (300, gone("web-1")),
    ]);
    let found = |last_s: u64| {
        let time = FlowTime {
            last_ns: last_s * S,
            begun_ns: Some(150 * S),
        };
        book.at(address(A), time).is_some()
    };
    assert!(found(3600), "the end of the hour of its last report");
    assert!(!found(4000), "it goes on, and the pod does not");
}

#[test]
fn pods_have_several_addresses_or_none() {
    let both = pod("web-1", &[A, "2001:db8::1"], 100);
    let mut book = book(vec![
        (110, seen(both)),
        (111, seen(pod("agent-1", &[], 100))),
    ]);
    assert_eq!(at(&book, "2001:db8::1", 200).as_deref(), Some("web-1"));
    book.take(seen(pod("web-1", &[B], 100)), 210 * S);
    assert_eq!(
        (at(&book, A, 240), at(&book, B, 240)),
        (None, Some("web-1".into()))
    );
    let name = |host_name| book.called(host_name).map(|name| name.pod.as_str());
    assert_eq!(
        name("pod/uid-agent-1"),
        Some("agent-1"),
        "by the uid that its host tells"
    );
    assert_eq!(
        (name("uid-agent-1"), name("docker/uid-agent-1")),
        (None, None)
    );
}

#[test]
fn a_static_pod_is_known_by_its_digest_and_goes_with_it() {
    let mut with = pod("etcd-1", &[], 100);
    with.digest = Some("0123".into());
    let mut book = book(vec![(110, PodNews::Listed(vec![with.clone()]))]);
    assert_eq!(
        book.called("pod/0123").map(|name| name.pod.as_str()),
        Some("etcd-1")
    );
    // Another run takes over what this one left.
    let mut next = PodBook::of(book.take_changed(), book.current_ns());
    next.take(PodNews::Listed(vec![with]), 120 * S);
    assert_eq!(next.present(), 1);
    next.take(PodNews::Listed(Vec::new()), 130 * S);
    assert_eq!(next.present(), 0);
    assert!(next.take_changed().iter().all(|period| !period.is_open()));
    next.forget(1000 * S);
    assert!(next.is_empty());
}

#[test]
fn the_next_run_ends_what_went_meanwhile() {
    let first = vec![pod("web-1", &[A], 100), pod("db-1", &[B], 100)];
    let mut before = book(vec![(110, PodNews::Listed(first)), (200, PodNews::Current)]);
    let mut next = PodBook::of(before.take_changed(), before.current_ns());
    assert_eq!(
        at(&next, A, 250).as_deref(),
        Some("web-1"),
        "until it is known better"
    );
    next.take(PodNews::Listed(vec![pod("db-1", &[B], 100)]), 900 * S);
    assert_eq!(
        at(&next, A, 210).as_deref(),
        Some("web-1"),
        "the last word of the run before"
    );
    assert_eq!((at(&next, A, 250), at(&next, A, 1000)), (None, None));
    assert_eq!(at(&next, B, 1000).as_deref(), Some("db-1"));
}

#[test]
fn both_ends_of_a_flow_have_names_by_what_is_asked() {
    let book = book(vec![(110, seen(pod("web-1", &[A], 100)))]);
    let flow = |src: &str, dst: &str| FlowKey {
        src: address(src),
        dst: address(dst),
        sport: 1,
        dport: 2,
        protocol: 6,
        vlans: Vlans::NONE,
    };
    let text = |src, dst, of| FlowPods::of(&book, &flow(src, dst), FlowTime::at(200 * S)).text(of);
    for (src, dst, of, expected) in [
        (A, A, PodsOf::Pod, Some("shop/web-1 -> shop/web-1")),
        (A, B, PodsOf::Workload, Some("shop/web -> -")),
        (B, A, PodsOf::Namespace, Some("- -> shop")),
        (B, B, PodsOf::Pod, None),
    ] {
        assert_eq!(text(src, dst, of).as_deref(), expected, "{src} {dst}");
    }
    let within = |since_s, until_s| {
        let span = Span {
            since_ns: since_s * S,
            until_ns: until_s * S,
        };
        book.within(address(A), span).count()
    };
    assert_eq!(
        (within(0, 100), within(0, 101), within(500, 600)),
        (0, 1, 1)
    );
}
