//! A webhook gets its texts in order, waits for nobody, and says what was not taken.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use hostint::engines::webhook::{WEBHOOK_PATIENCE, Webhook};
use hostint_testing::http_server::{HttpServer, Reply};
use hostint_testing::netns::await_that;

type Outcomes = Arc<Mutex<Vec<Result<(), String>>>>;

fn start(url: &str) -> (Webhook, Outcomes) {
    let outcomes = Outcomes::default();
    let log = Arc::clone(&outcomes);
    let delivered = Box::new(move |outcome| log.lock().unwrap().push(outcome));
    (Webhook::start(url, delivered).unwrap(), outcomes)
}

fn await_outcomes(outcomes: &Outcomes, count: usize) -> Vec<Result<(), String>> {
    await_that("the deliveries end", || {
        outcomes.lock().unwrap().len() >= count
    });
    outcomes.lock().unwrap().clone()
}

#[test]
fn one_that_works_gets_each_text_once_and_in_order() {
    let server = HttpServer::taking(Vec::new());
    let (webhook, outcomes) = start(&server.url);
    for number in 0..3 {
        webhook.send(format!("{{\"number\":{number}}}").into_bytes());
    }
    assert_eq!(await_outcomes(&outcomes, 3), [Ok(()), Ok(()), Ok(())]);
    let seen = server.seen();
    let bodies: Vec<_> = seen
        .iter()
        .map(|one| String::from_utf8_lossy(&one.body))
        .collect();
    assert_eq!(
        bodies,
        ["{\"number\":0}", "{\"number\":1}", "{\"number\":2}"]
    );
    assert_eq!(seen[0].header("content-type"), Some("application/json"));
}

#[test]
fn one_that_answers_500_is_not_asked_again_with_the_same_text() {
    let server = HttpServer::taking(vec![Reply::status(500, "not today")]);
    let (webhook, outcomes) = start(&server.url);
    webhook.send(b"{}".to_vec());
    webhook.send(b"{}".to_vec());
    let found = await_outcomes(&outcomes, 2);
    let why = found[0].as_ref().unwrap_err();
    assert!(why.contains("500 not today"), "{why}");
    assert_eq!(found[1], Ok(()), "the next one is taken");
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn one_that_hangs_holds_nothing_up_and_is_given_up() {
    let server = HttpServer::start(|_| Reply::Hang);
    let (webhook, outcomes) = start(&server.url);
    webhook.send(b"{}".to_vec());
    await_that("it is asked", || !server.seen().is_empty());
    let begun = Instant::now();
    // One is with the receiver, 16 wait, and of the others nobody waits for.
    (0..20).for_each(|_| webhook.send(b"{}".to_vec()));
    assert!(begun.elapsed() < WEBHOOK_PATIENCE, "nothing waited");
    let given_up = await_outcomes(&outcomes, 4);
    assert!(given_up.iter().all(Result::is_err), "{given_up:?}");
    let why = given_up[0].as_ref().unwrap_err();
    assert!(why.contains("16 others wait"), "{why}");
    let given_up = await_outcomes(&outcomes, 5);
    let why = given_up[4].as_ref().unwrap_err();
    assert!(why.contains("cannot deliver"), "{why}");
}
