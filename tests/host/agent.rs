//! When the agent starts a role, starts it again, or lets it be.

use std::time::{Duration, Instant};

use hostint::config::Role;
use hostint::daemon::agent::{Ended, Leave, Part, RoleWork, STANDS_STILL, SinkSeen, State};

const SECOND: Duration = Duration::from_secs(1);

/// A part whose process has begun.
fn begun(role: Role, work: RoleWork, now: Instant) -> Part {
    let mut part = Part::new(role, work, now);
    assert!(part.is_due(SinkSeen::Serves, now), "it is due at once");
    part.note_start(now);
    part
}

#[test]
fn what_a_process_says_and_how_it_ends_decide_what_becomes_of_its_role() {
    let failed = |seconds: u64| Ended::Failed(SECOND * seconds as u32);
    for (sentence, work, code, ended, settled_as) in [
        (
            "a daemon that a command detached",
            RoleWork::Serve,
            Some(0),
            Ended::Alone,
            "sink has ended",
        ),
        (
            "a daemon that failed",
            RoleWork::Serve,
            Some(1),
            failed(1),
            "sink FAILED, is started again",
        ),
        (
            "a daemon that was killed",
            RoleWork::Serve,
            None,
            failed(1),
            "sink FAILED, is started again",
        ),
        (
            "a daemon with wrong settings",
            RoleWork::Serve,
            Some(2),
            Ended::Refused,
            "sink is REFUSED by its settings",
        ),
        (
            "a daemon for which this host is nothing",
            RoleWork::Serve,
            Some(3),
            failed(1),
            "sink FAILED, is started again",
        ),
        (
            "a source that was attached",
            RoleWork::Attach,
            Some(0),
            Ended::Well,
            "sink is attached",
        ),
        (
            "a source whose interface is not there yet",
            RoleWork::Attach,
            Some(1),
            failed(1),
            "sink FAILED, is started again",
        ),
        (
            "programs that were taken off",
            RoleWork::Detach,
            Some(0),
            Ended::Well,
            "sink is attached",
        ),
        (
            "programs that were not there",
            RoleWork::Detach,
            Some(3),
            Ended::Well,
            "sink is attached",
        ),
    ] {
        let now = Instant::now();
        let mut part = begun(Role::Sink, work, now);
        assert!(!part.is_settled(), "{sentence}: nothing is known yet");
        assert_eq!(part.note_end(code, now), ended, "{sentence}");
        assert!(part.is_settled(), "{sentence}: it is known now");
        assert_eq!(part.said(), settled_as, "{sentence}");
        let again = matches!(ended, Ended::Failed(_));
        assert!(
            !part.is_due(SinkSeen::Serves, now),
            "{sentence}: not at once"
        );
        assert_eq!(
            part.is_due(SinkSeen::Serves, now + SECOND),
            again,
            "{sentence}: again"
        );
    }
}

#[test]
fn the_pause_before_a_start_doubles_up_to_a_minute_and_is_short_again_after_a_minute_of_work() {
    let mut now = Instant::now();
    let mut part = begun(Role::Tcp, RoleWork::Serve, now);
    for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
        let pause = SECOND * seconds;
        assert_eq!(part.note_end(Some(1), now), Ended::Failed(pause));
        assert!(
            !part.is_due(SinkSeen::Not, now + pause - SECOND / 2),
            "{seconds}"
        );
        now += pause;
        assert!(part.is_due(SinkSeen::Not, now), "{seconds}");
        part.note_start(now);
        part.note_message("READY=1", now);
        now += SECOND * 30;
    }
    now += SECOND * 31;
    assert_eq!(part.note_end(None, now), Ended::Failed(SECOND));
}

#[test]
fn a_role_says_what_its_process_says_and_is_killed_if_that_stands_still() {
    let now = Instant::now();
    let mut part = begun(Role::Collect, RoleWork::Serve, now);
    assert_eq!(part.said(), "collect begins");
    part.note_message("STATUS=1 exporter; 5 reports", now);
    assert_eq!(part.state, State::Begins, "it is not ready by that");
    part.note_message("READY=1", now);
    assert_eq!(part.said(), "collect: 1 exporter; 5 reports");
    let late = now + STANDS_STILL - SECOND;
    part.note_message("WATCHDOG=1", late);
    assert!(!part.stands_still(late + STANDS_STILL));
    assert!(part.stands_still(late + STANDS_STILL + SECOND));
    part.note_end(None, late);
    assert!(
        !part.stands_still(late + STANDS_STILL * 9),
        "there is nothing to kill"
    );
}

#[test]
fn what_shares_a_node_id_with_a_sink_waits_for_it() {
    let now = Instant::now();
    for (sentence, role, work, due) in [
        (
            "a source beside a sink needs one that serves",
            Role::Source,
            RoleWork::Attach,
            [false, false, true],
        ),
        (
            "a source of its own waits for one that begins",
            Role::Source,
            RoleWork::Serve,
            [true, false, true],
        ),
        (
            "so does a transit hop",
            Role::Transit,
            RoleWork::Serve,
            [true, false, true],
        ),
        (
            "all others wait for nothing",
            Role::Collect,
            RoleWork::Serve,
            [true; 3],
        ),
    ] {
        let part = Part::new(role, work, now);
        let sinks = [SinkSeen::Not, SinkSeen::Changes, SinkSeen::Serves];
        assert_eq!(sinks.map(|sink| part.is_due(sink, now)), due, "{sentence}");
    }
}

#[test]
fn a_reload_starts_what_has_ended_and_asks_what_runs() {
    let now = Instant::now();
    let mut runs = begun(Role::Sink, RoleWork::Serve, now);
    runs.note_message("READY=1", now);
    assert!(runs.note_reload(now), "its daemon is asked");
    let mut attached = begun(Role::Source, RoleWork::Attach, now);
    attached.note_end(Some(0), now);
    assert!(!attached.note_reload(now));
    assert!(
        attached.is_due(SinkSeen::Serves, now),
        "it is attached anew"
    );
    let mut refused = begun(Role::Tcp, RoleWork::Serve, now);
    refused.note_end(Some(2), now);
    assert!(!refused.note_reload(now));
    assert!(
        refused.is_due(SinkSeen::Serves, now),
        "the file may be right now"
    );
}

#[test]
fn a_role_that_is_not_wanted_leaves_as_it_was_decided() {
    let now = Instant::now();
    let runs = |role| begun(role, RoleWork::Serve, now);
    let waits = |role, work| Part::new(role, work, now);
    for (sentence, mut part, leave, needs_end, detaches) in [
        (
            "a sink that runs ends, then its programs are taken off",
            runs(Role::Sink),
            Leave::IsDetached,
            true,
            true,
        ),
        (
            "a source that a sink looks after from now on ends, and its programs stay",
            runs(Role::Source),
            Leave::Ends,
            true,
            false,
        ),
        (
            "connections need nothing but their end",
            runs(Role::Tcp),
            Leave::Ends,
            true,
            false,
        ),
        (
            "postcards that wait for their next start just go",
            waits(Role::Postcards, RoleWork::Serve),
            Leave::Ends,
            false,
            false,
        ),
        (
            "a source that waits for its next start is taken off at once",
            waits(Role::Source, RoleWork::Attach),
            Leave::IsDetached,
            false,
            true,
        ),
    ] {
        part.note_unwanted(leave, now);
        if needs_end {
            assert!(!part.is_gone(), "{sentence}: its process has to end first");
            // However it ends, it is not started again.
            assert_eq!(part.note_end(Some(1), now), Ended::Well, "{sentence}");
        }
        assert_eq!(part.work == RoleWork::Detach, detaches, "{sentence}");
        if detaches {
            assert!(part.is_due(SinkSeen::Changes, now), "{sentence}: at once");
            part.note_start(now);
            assert_eq!(part.note_end(Some(1), now), Ended::Failed(SECOND));
            assert!(!part.is_gone(), "{sentence}: it is tried again");
            part.note_start(now);
            assert_eq!(part.note_end(Some(0), now), Ended::Well, "{sentence}");
        }
        assert!(part.is_gone(), "{sentence}");
    }
}
