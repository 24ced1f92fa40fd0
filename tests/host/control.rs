//! The control socket's requests are parsed, and who may ask or change is decided by user and group.

use std::sync::Arc;

use hostint::control::*;

fn query() -> Query {
    Query {
        form: Form::Json,
        flows: 10,
        peers: 10,
        sort: "loss".to_owned(),
        all: false,
    }
}

#[test]
fn requests_are_read_as_they_are_written() {
    for request in [
        Request::Status(query()),
        Request::Status(Query {
            form: Form::Text,
            flows: 0,
            peers: 65_536,
            sort: "latency".to_owned(),
            all: true,
        }),
        Request::Reload,
    ] {
        let line = request.to_line().unwrap();
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert_eq!(Request::parse(&line), Ok(request));
    }
}

#[test]
fn requests_by_hand_need_no_more_than_the_question() {
    for (line, expected) in [
        (r#"{"ask":"status"}"#, Request::Status(query())),
        (
            r#" {"ask": "status", "flows": 3} "#,
            Request::Status(Query {
                flows: 3,
                ..query()
            }),
        ),
        (r#"{"ask":"recent"}"#, Request::Recent),
        (r#"{"change":"reload"}"#, Request::Reload),
    ] {
        assert_eq!(Request::parse(line.as_bytes()), Ok(expected), "{line}");
    }
}

#[test]
fn what_is_no_request_is_refused_with_the_reason() {
    for (line, words) in [
        ("", "a JSON object"),
        ("status", "a JSON object"),
        ("[]", "either ask or change"),
        ("\u{0}\u{1}", "a JSON object"),
        (r#"{"ask":"status""#, "a JSON object"),
        (r#"{"ask":"status","flows":-1}"#, "a JSON object"),
        (r#"{"ask":"status","flow":1}"#, "unknown field `flow`"),
        ("{}", "either ask or change"),
        (
            r#"{"ask":"status","change":"reload"}"#,
            "either ask or change",
        ),
        (
            r#"{"ask":"shadow"}"#,
            "cannot be asked for: shadow (try status or recent)",
        ),
        (
            r#"{"change":"status"}"#,
            "cannot be done: status (try reload)",
        ),
    ] {
        let said = Request::parse(line.as_bytes()).unwrap_err().to_string();
        assert!(said.contains(words), "{line}: {said}");
    }
    let deep = "[".repeat(4000);
    assert!(Request::parse(deep.as_bytes()).is_err());
}

#[test]
fn members_ask_and_only_root_changes() {
    const GROUP: u32 = 990;
    let rights = |group| Rights { daemon: 500, group };
    let peer = |uid, groups: &[u32]| Caller {
        pid: 1,
        uid,
        groups: groups.to_vec(),
    };
    let (member, none) = (Some(GROUP), None);
    for (sentence, rights, peer, ask, change) in [
        ("root", rights(none), peer(0, &[0]), Ok(()), Ok(())),
        (
            "the daemon's own user",
            rights(none),
            peer(500, &[500]),
            Ok(()),
            Err(NotAllowed::MayNotChange),
        ),
        (
            "a member",
            rights(member),
            peer(1000, &[1000, GROUP]),
            Ok(()),
            Err(NotAllowed::MayNotChange),
        ),
        (
            "a stranger",
            rights(member),
            peer(1000, &[1000, 0]),
            Err(NotAllowed::MayNotAsk),
            Err(NotAllowed::MayNotChange),
        ),
        (
            "anybody, where there is no group",
            rights(none),
            peer(1000, &[1000, GROUP]),
            Err(NotAllowed::MayNotAsk),
            Err(NotAllowed::MayNotChange),
        ),
    ] {
        let asked = rights.check(&peer, &Request::Status(query()));
        assert_eq!(asked, ask, "{sentence} asks");
        let asked = rights.check(&peer, &Request::Recent);
        assert_eq!(asked, ask, "{sentence} asks for counters");
        assert_eq!(
            rights.check(&peer, &Request::Reload),
            change,
            "{sentence} changes"
        );
    }
}

#[test]
fn no_user_but_root_takes_all_places() {
    let places: Arc<ClientPlaces> = Arc::default();
    let (member, another) = (1000, 1001);
    let mut held: Vec<_> = (0..4).map(|_| places.take(member).unwrap()).collect();
    assert_eq!(places.take(member).unwrap_err(), NoPlace::UserHasItsShare);
    held.push(places.take(0).unwrap());
    held.extend((0..3).map(|_| places.take(another).unwrap()));
    for uid in [member, another, 0] {
        let refused = places.take(uid).unwrap_err();
        assert_eq!(refused, NoPlace::Full, "user {uid}, all places are taken");
    }
    held.swap_remove(0);
    assert_eq!(
        places.take(member).map(|_| ()),
        Ok(()),
        "one of its own is free"
    );
    held.clear();
    held.extend((0..8).map(|_| places.take(0).unwrap()));
    assert_eq!(places.take(0).unwrap_err(), NoPlace::Full);
}
