//! A server that speaks the API: pods come, change and go, and requests fail in each way.

use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hostint::cluster::{ApiNews, ApiServer, RetryPace, follow};
use hostint::model::{FlowTime, PodBook, PodNews};
use hostint_testing::kmock::{Fault, Kmock, pod};
use hostint_testing::scratch::Folder;

const START: &str = "2026-01-02T03:04:05Z";
const LATE: Duration = Duration::from_secs(60);

/// What follows a server, and the book of what it was told.
struct Following {
    server: Kmock,
    account: Folder,
    told: Receiver<ApiNews>,
    book: PodBook,
    troubles: Vec<String>,
    lists: usize,
}

fn now_ns() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos() as u64
}

impl Following {
    fn start(server: Kmock) -> Self {
        let account = Folder::create();
        let (tell, told) = channel();
        let api = ApiServer::new(&server.url, account.path());
        let pace = RetryPace {
            first: Duration::from_millis(5),
            longest: Duration::from_millis(20),
        };
        thread::spawn(move || follow(&api, pace, &mut |news| tell.send(news).is_ok()));
        Self {
            server,
            account,
            told,
            book: PodBook::default(),
            troubles: Vec::new(),
            lists: 0,
        }
    }

    fn await_that(&mut self, sentence: &str, is_so: impl Fn(&Self) -> bool) {
        while !is_so(self) {
            match self.told.recv_timeout(LATE) {
                Ok(ApiNews::Pods(news)) => {
                    self.lists += usize::from(matches!(news, PodNews::Listed(_)));
                    self.book.take(news, now_ns());
                }
                Ok(ApiNews::Trouble(why)) => self.troubles.push(why),
                Err(_) => panic!(
                    "{sentence}: not within {LATE:?}, troubles: {:?}",
                    self.troubles
                ),
            }
        }
    }

    fn at(&self, address: &str) -> Option<String> {
        let address: IpAddr = address.parse().unwrap();
        let found = self.book.at(address, FlowTime::at(now_ns()));
        found.map(ToString::to_string)
    }

    fn await_at(&mut self, sentence: &str, address: &str, name: Option<&str>) {
        self.await_that(sentence, |it| it.at(address).as_deref() == name);
    }
}

#[test]
fn pods_are_listed_in_parts_and_watched() {
    let server = Kmock::start();
    for n in 0..1234 {
        server.put(pod(
            "shop",
            &format!("web-5d-{n}"),
            &format!("10.0.{}.{}", n / 256, n % 256),
            START,
        ));
    }
    let mut it = Following::start(server);
    it.await_that("all are listed", |it| it.book.present() == 1234);
    assert_eq!(it.at("10.0.4.209").as_deref(), Some("shop/web-5d-1233"));
    let lists = it
        .server
        .targets()
        .iter()
        .filter(|target| !target.contains("watch"))
        .count();
    assert_eq!(lists, 3, "500 in each part");
    it.server.put(pod("shop", "db-0", "10.1.0.1", START));
    it.await_at("one comes", "10.1.0.1", Some("shop/db-0"));
    it.server.put(pod("shop", "db-0", "10.1.0.2", START));
    it.await_at("its address changes", "10.1.0.2", Some("shop/db-0"));
    it.server.delete("shop", "db-0");
    it.await_that("it goes", |it| it.book.present() == 1234);
    let watch = it
        .server
        .targets()
        .into_iter()
        .find(|target| target.contains("watch"))
        .unwrap();
    for part in [
        "resourceVersion=",
        "allowWatchBookmarks=true",
        "timeoutSeconds=",
    ] {
        assert!(watch.contains(part), "{watch}");
    }
}

#[test]
fn whatever_fails_in_a_watch_nothing_is_missed_and_nothing_is_left() {
    for (sentence, fault) in [
        ("the version is too old", Fault::GoneEvent),
        (
            "the connection is cut in the middle of an event",
            Fault::CutInEvent,
        ),
        ("the watch ends in order", Fault::End),
        ("what comes is no event", Fault::Garbage),
        ("an event of a kind that comes later", Fault::Unheard),
    ] {
        let server = Kmock::start();
        server.put(pod("a", "old-1-x", "10.0.0.1", START));
        let mut it = Following::start(server);
        it.await_at(sentence, "10.0.0.1", Some("a/old-1-x"));
        let waits = it.server.clone();
        it.await_that(sentence, |_| waits.watches() > 0);
        it.server.spoil_watches(&[fault]);
        it.server.put(pod("a", "new-1-x", "10.0.0.2", START));
        it.server.delete("a", "old-1-x");
        it.await_at(sentence, "10.0.0.2", Some("a/new-1-x"));
        it.await_that(sentence, |it| it.book.present() == 1);
        let is_garbage = fault == Fault::Garbage;
        assert_eq!(
            !it.troubles.is_empty(),
            is_garbage,
            "{sentence}: {:?}",
            it.troubles
        );
        let lists_again = [Fault::GoneEvent, Fault::Garbage].contains(&fault);
        assert_eq!(it.lists, 1 + usize::from(lists_again), "{sentence}");
    }
}

#[test]
fn requests_that_are_refused_are_made_again() {
    for (sentence, fault, said) in [
        ("gone", Fault::Gone, None),
        ("broken", Fault::Broken, Some("HTTP status 500")),
        (
            "forbidden",
            Fault::Forbidden,
            Some("may not list and watch pods"),
        ),
        ("closed", Fault::Close, Some("")),
    ] {
        let server = Kmock::start();
        server.put(pod("a", "p-1-x", "10.0.0.1", START));
        server.spoil_lists(&[fault, fault]);
        server.spoil_watches(&[fault]);
        let mut it = Following::start(server);
        it.await_at(sentence, "10.0.0.1", Some("a/p-1-x"));
        it.server.put(pod("a", "q-1-x", "10.0.0.2", START));
        it.await_at(sentence, "10.0.0.2", Some("a/q-1-x"));
        match said {
            Some(said) => assert!(
                it.troubles.iter().any(|why| why.contains(said)),
                "{sentence}: {:?}",
                it.troubles
            ),
            None => assert!(it.troubles.is_empty(), "{sentence}: {:?}", it.troubles),
        }
    }
}

#[test]
fn a_version_that_expired_in_the_middle_of_a_list_begins_it_anew() {
    let server = Kmock::start();
    for n in 0..600 {
        server.put(pod(
            "a",
            &format!("p-1-{n}"),
            &format!("10.0.{}.{}", n / 256, n % 256),
            START,
        ));
    }
    server.spoil_lists(&[Fault::End, Fault::Gone]);
    let mut it = Following::start(server);
    it.await_that("all are listed", |it| it.book.present() == 600);
    assert_eq!(it.lists, 1, "no part of a list is taken for one");
}

#[test]
fn what_happened_while_the_server_was_away_is_made_up_for() {
    let server = Kmock::start();
    server.put(pod("a", "stays-1-x", "10.0.0.1", START));
    server.put(pod("a", "goes-1-x", "10.0.0.2", START));
    let mut it = Following::start(server);
    let waits = it.server.clone();
    it.await_that("it watches", |it| {
        it.book.present() == 2 && waits.watches() > 0
    });
    it.server
        .spoil_watches(&[Fault::CutInEvent, Fault::Broken, Fault::Broken]);
    it.server.put(pod("a", "comes-1-x", "10.0.0.3", START));
    it.server.delete("a", "goes-1-x");
    it.server.compact();
    it.await_at("one came", "10.0.0.3", Some("a/comes-1-x"));
    it.await_that("one went", |it| it.book.present() == 2);
    assert_eq!(it.at("10.0.0.1").as_deref(), Some("a/stays-1-x"));
}

#[test]
fn a_token_is_read_again_when_it_rotates() {
    let server = Kmock::start();
    server.expect_token("first");
    server.put(pod("a", "p-1-x", "10.0.0.1", START));
    let mut it = Following::start(server);
    fs::write(it.account.file("token"), "first\n").unwrap();
    it.await_at("the token is taken", "10.0.0.1", Some("a/p-1-x"));
    it.troubles.clear();
    it.server.expect_token("second");
    it.server.spoil_watches(&[Fault::End]);
    it.server.put(pod("a", "q-1-x", "10.0.0.2", START));
    it.await_that("the old one is refused", |it| {
        it.troubles
            .iter()
            .any(|why| why.contains("the token is not accepted"))
    });
    fs::write(it.account.file("token"), "second\n").unwrap();
    it.await_at("the new one is taken", "10.0.0.2", Some("a/q-1-x"));
}

#[test]
fn a_bookmark_says_that_nothing_else_happened() {
    let mut it = Following::start(Kmock::start());
    it.await_that("there is none", |it| it.lists == 1);
    let before = it.book.current_ns();
    it.server.bookmark();
    let waits = it.server.clone();
    it.await_that("it is told", |it| {
        it.book.current_ns() > before && waits.watches() > 0
    });
    it.server.bookmark();
    it.server.spoil_watches(&[Fault::End]);
    it.server.put(pod("a", "p-1-x", "10.0.0.1", START));
    it.await_at("it goes on", "10.0.0.1", Some("a/p-1-x"));
    assert_eq!(it.lists, 1);
}

#[test]
fn of_a_thousand_pods_that_come_and_go_none_is_missed_and_none_is_left() {
    let server = Kmock::start();
    let mut it = Following::start(server.clone());
    it.await_that("there is none", |it| it.lists == 1);
    let faults = [
        Fault::CutInEvent,
        Fault::GoneEvent,
        Fault::End,
        Fault::Garbage,
        Fault::Unheard,
    ];
    let mut periods = BTreeMap::new();
    for n in 0..1000 {
        if n % 20 == 0 {
            server.spoil_watches(&[faults[n / 20 % faults.len()]]);
        }
        // Ten addresses, each of which a hundred pods have one after the other.
        let (name, address) = (format!("p-1-{n}"), format!("10.0.0.{}", n % 10));
        server.put(pod("a", &name, &address, START));
        if n % 333 == 0 {
            server.compact();
        }
        it.await_at("it is named", &address, Some(&format!("a/{name}")));
        if n >= 5 {
            server.delete("a", &format!("p-1-{}", n - 5));
        }
        for period in it.book.take_changed() {
            periods.insert((period.uid.to_string(), period.address), period);
        }
    }
    (995..1000).for_each(|n| server.delete("a", &format!("p-1-{n}")));
    it.await_that("none is left", |it| it.book.present() == 0);
    for period in it.book.take_changed() {
        periods.insert((period.uid.to_string(), period.address), period);
    }
    assert_eq!(periods.len(), 2 * 1000, "by its uid, and by its address");
    assert!(periods.values().all(|period| !period.is_open()));
    it.book.forget(u64::MAX);
    assert!(it.book.is_empty());
}
