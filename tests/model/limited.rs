//! What limits a sender follows from the difference of two states of its socket.

use hostint::model::{
    FlowKey, HeldUp, Limit, LimitedTimes, TcpFigures, TcpInterval, TcpSample, Vlans,
};

/// A second in which the sender was busy all the time, and congestion control let it send more.
fn busy_second() -> TcpInterval {
    TcpInterval {
        elapsed_us: 1_000_000,
        has_times: true,
        busy_us: 1_000_000,
        srtt_us: Some(10_000),
        host_queue_us: Some(0),
        ..TcpInterval::default()
    }
}

#[test]
fn the_largest_share_decides_and_the_end_tells_the_network_apart() {
    let cases: [(&str, TcpInterval, Limit); 25] = [
        (
            "the kernel does not tell, but packets wait at a hop of the path",
            TcpInterval {
                is_hop_busy: true,
                notsent_bytes: 1,
                ..busy_second()
            },
            Limit::Path,
        ),
        (
            "packets wait at a hop, but the application has nothing more to send",
            TcpInterval {
                is_hop_busy: true,
                is_app_limited: true,
                ..busy_second()
            },
            Limit::Application,
        ),
        (
            "packets wait at a hop, and the receiver's window is full",
            TcpInterval {
                is_hop_busy: true,
                receiver_us: 500_000,
                ..busy_second()
            },
            Limit::Receiver,
        ),
        (
            "nothing was sent",
            TcpInterval {
                busy_us: 0,
                ..busy_second()
            },
            Limit::Application,
        ),
        (
            "data was on the way for less than half of the time",
            TcpInterval {
                busy_us: 400_000,
                is_window_full: true,
                ..busy_second()
            },
            Limit::Application,
        ),
        (
            "the receiver's window was full for half of the time",
            TcpInterval {
                receiver_us: 500_000,
                is_window_full: true,
                lost: 5,
                ..busy_second()
            },
            Limit::Receiver,
        ),
        (
            "the receiver's window was full for half of the time, and nothing was sent in the other half",
            TcpInterval {
                busy_us: 500_000,
                receiver_us: 500_000,
                ..busy_second()
            },
            Limit::Receiver,
        ),
        (
            "the send buffer was too small for half of the time",
            TcpInterval {
                buffer_us: 600_000,
                ..busy_second()
            },
            Limit::SendBuffer,
        ),
        (
            "no share is half: a third each",
            TcpInterval {
                busy_us: 667_000,
                receiver_us: 333_000,
                is_window_full: true,
                ..busy_second()
            },
            Limit::Unknown,
        ),
        (
            "the congestion window was full",
            TcpInterval {
                is_window_full: true,
                notsent_bytes: 100_000,
                ..busy_second()
            },
            Limit::Path,
        ),
        (
            "segments were lost, and the window was open again at the end",
            TcpInterval {
                lost: 1,
                ..busy_second()
            },
            Limit::Path,
        ),
        (
            "routers marked segments",
            TcpInterval {
                marked: 3,
                ..busy_second()
            },
            Limit::Path,
        ),
        (
            "congestion control paces what waits",
            TcpInterval {
                is_paced: true,
                notsent_bytes: 100_000,
                ..busy_second()
            },
            Limit::Path,
        ),
        (
            "it is paced, but nothing waits",
            TcpInterval {
                is_paced: true,
                ..busy_second()
            },
            Limit::Unknown,
        ),
        (
            "the own queues need half of the round trip for what they hold",
            TcpInterval {
                host_queue_us: Some(5_000),
                is_window_full: true,
                ..busy_second()
            },
            Limit::HostQueue,
        ),
        (
            "the own queues need less than half of the round trip",
            TcpInterval {
                host_queue_us: Some(4_999),
                is_window_full: true,
                ..busy_second()
            },
            Limit::Path,
        ),
        (
            "the rate of delivery is not known, so the own queue's time is not",
            TcpInterval {
                host_queue_us: None,
                is_window_full: true,
                ..busy_second()
            },
            Limit::Path,
        ),
        (
            "the application gives just as much as the network takes",
            TcpInterval {
                is_app_limited: true,
                ..busy_second()
            },
            Limit::Application,
        ),
        (
            "the application was behind once, but data waits now",
            TcpInterval {
                is_app_limited: true,
                notsent_bytes: 1,
                ..busy_second()
            },
            Limit::Unknown,
        ),
        (
            "all that the send buffer holds is on the way, and the application waits for room",
            TcpInterval {
                waits_for_room: true,
                is_app_limited: true,
                lost: 1,
                ..busy_second()
            },
            Limit::SendBuffer,
        ),
        (
            "the application waits for room, but the congestion window is full, too",
            TcpInterval {
                waits_for_room: true,
                is_window_full: true,
                ..busy_second()
            },
            Limit::Path,
        ),
        (
            "the kernel does not count times",
            TcpInterval {
                has_times: false,
                is_window_full: true,
                ..busy_second()
            },
            Limit::Unknown,
        ),
        (
            "the interval is shorter than a few ticks",
            TcpInterval {
                elapsed_us: 49_999,
                busy_us: 49_999,
                is_window_full: true,
                ..busy_second()
            },
            Limit::Unknown,
        ),
        (
            "busy for one tick more than the interval is long",
            TcpInterval {
                busy_us: 1_004_000,
                is_window_full: true,
                ..busy_second()
            },
            Limit::Path,
        ),
        (
            "limited for one tick more than the interval is long",
            TcpInterval {
                busy_us: 1_004_000,
                receiver_us: 1_004_000,
                ..busy_second()
            },
            Limit::Receiver,
        ),
    ];
    let wrong: Vec<String> = cases
        .iter()
        .filter(|(_, interval, limit)| interval.limit() != *limit)
        .map(|(sentence, interval, limit)| {
            format!("{sentence}: {limit} expected, {} found", interval.limit())
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_interval_is_the_difference_of_two_samples() {
    let mut before = sample();
    before.monotonic_ns = 5_000_000_000;
    before.tcp.total_retrans = 10;
    before.tcp.dsack_dups = Some(4);
    before.tcp.delivered_ce = Some(1);
    before.tcp.held_up = Some(times(3_000_000, 1_000_000, 500_000));
    let mut now = before;
    now.monotonic_ns = 6_000_000_000;
    now.tcp.total_retrans = 15;
    now.tcp.dsack_dups = Some(6);
    now.tcp.delivered_ce = Some(3);
    now.tcp.held_up = Some(times(3_900_000, 1_600_000, 600_000));
    now.tcp.host_queue_bytes = 2_000;
    now.tcp.delivery_rate_bytes_s = Some(1_000_000);
    let interval = TcpInterval::between(&before, &now);
    let expected = TcpInterval {
        elapsed_us: 1_000_000,
        has_times: true,
        busy_us: 900_000,
        receiver_us: 600_000,
        buffer_us: 100_000,
        lost: 3,
        marked: 2,
        host_queue_us: Some(2_000),
        ..interval
    };
    assert_eq!(interval, expected);
}

fn sample() -> TcpSample {
    TcpSample {
        flow: FlowKey {
            src: "192.0.2.1".parse().unwrap(),
            dst: "198.51.100.2".parse().unwrap(),
            sport: 40000,
            dport: 443,
            protocol: 6,
            vlans: Vlans::NONE,
        },
        time_ns: 0,
        begun_ns: None,
        cgroup: None,
        socket: 1,
        monotonic_ns: 0,
        begun_monotonic_ns: None,
        class: 0,
        tcp: TcpFigures::default(),
        option: None,
    }
}

fn times(busy_us: u64, receiver_us: u64, buffer_us: u64) -> HeldUp {
    HeldUp {
        busy_us,
        receiver_us,
        buffer_us,
    }
}

#[test]
fn times_that_fell_tell_nothing() {
    let mut before = sample();
    before.tcp.held_up = Some(times(9_000_000, 9_000_000, 0));
    let mut now = before;
    now.monotonic_ns = 1_000_000_000;
    now.tcp.held_up = Some(times(1_000, 1_000, 0));
    assert_eq!(TcpInterval::between(&before, &now).limit(), Limit::Unknown);
}

#[test]
fn a_life_is_limited_by_what_took_half_of_it() {
    let mut life = LimitedTimes::default();
    assert_eq!(life.most(), Limit::Unknown, "nothing is known yet");
    life.add(Limit::Receiver, 3_000);
    life.add(Limit::Path, 2_000);
    assert_eq!(life.most(), Limit::Receiver);
    life.add(Limit::Application, 2_000);
    assert_eq!(life.most(), Limit::Unknown, "no limit took half of it");
}
