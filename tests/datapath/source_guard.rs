//! The INT source untags TCP connections whose tagged packets come to nothing.

use std::cell::Cell;

use hostint::datapath::abi::{
    flow_form, flow_left, lease_way, source_counter, source_flow, source_lease,
};
use hostint_testing::frame::Frame;
use hostint_testing::model::{Encapsulation, Key};
use hostint_testing::packets::{tcp, tcp6};
use hostint_testing::programs::clock::coarse_ns;
use hostint_testing::programs::source::{Hook, Options, Source};
use hostint_testing::source_cases::{passes, run};

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// A connection in vxlan-gpe, or in extension-udp at XDP, whose SYN had this sequence number.
struct Connection {
    source: Source,
    hook: Hook,
    frame: Frame,
    key: Key,
    /// When the flow's time stopped.
    stopped_ns: Cell<u64>,
}

const ISN: u32 = u32::MAX - 50; // numbers wrap soon

impl Connection {
    fn new(options: &Options, hook: Hook, frame: Frame) -> Self {
        let source = Source::load_asking(options);
        let key = source.model.look(&frame.bytes()).expect("may be tagged");
        source.set_ways(
            &key,
            lease_way::WAY_TCP_GPE.0 | lease_way::WAY_TCP_EXTENSION.0,
        );
        Self {
            source,
            hook,
            frame,
            key,
            stopped_ns: Cell::new(coarse_ns()),
        }
    }

    /// Sends a segment. Returns whether it was tagged.
    fn send(&self, seq: u32, flags: u8, payload: usize) -> bool {
        self.stop_time();
        let frame = self.frame.clone().segment(ISN.wrapping_add(seq), flags);
        let bytes = frame.payload(payload).bytes();
        let ran = run(&self.source, self.hook, &bytes);
        // The program read the clock before.
        self.stopped_ns.set(coarse_ns());
        assert_eq!(ran.verdict, passes(self.hook), "it passes in any case");
        ran.bytes != bytes
    }

    fn begin(&self) {
        assert!(self.send(0, SYN, 0), "the SYN is tagged");
        assert!(self.send(1, ACK, 0), "the ACK is tagged");
    }

    fn flow(&self) -> source_flow {
        self.source.flow(&self.key).expect("is known")
    }

    /// Moves the times of the flow by this number of units of 2^20 ns.
    fn move_times(&self, units: i32) {
        let moved = |at: u32| at.wrapping_add_signed(units);
        self.source.change_flow(&self.key, |flow| {
            flow.tcp_end_at = moved(flow.tcp_end_at);
        });
    }

    /// As if the flow had done everything so much earlier.
    fn wait_ms(&self, ms: u64) {
        self.move_times(-1 - ((ms * 1_000_000) >> 20) as i32);
        self.source
            .change_flow(&self.key, |flow| flow.leased_ns = 0);
    }

    /// However long the test takes from one segment to the next, the flow's time stands still but for `wait_ms`.
    fn stop_time(&self) {
        let passed = (coarse_ns() - self.stopped_ns.get()) >> 20;
        if passed > 0 && self.source.flow(&self.key).is_some() {
            self.move_times(passed as i32);
        }
    }

    fn guarded(&self) -> u64 {
        self.source.counters()[source_counter::COUNT_SOURCE_GUARDED.0 as usize].0
    }

    fn fallen(&self) -> u64 {
        self.source.lease(&self.key).expect("is there").fallen
    }

    fn left(&self) -> Option<u32> {
        let flow = self.flow();
        (u32::from(flow.form) == flow_form::FLOW_UNTAGGED.0).then_some(flow.left.into())
    }
}

fn every_connection() -> Vec<Connection> {
    let auto = Options {
        tunnel: true,
        ..Options::default()
    };
    let old_kernel = Options {
        kernel_ctx: false,
        atomics: false,
        ..auto
    };
    let extension = Options {
        encapsulation: Encapsulation::ExtensionUdp,
        ..Options::default()
    };
    vec![
        Connection::new(&auto, Hook::Tc, tcp()),
        Connection::new(&auto, Hook::Tc, tcp6().tcp_options(12)),
        Connection::new(&old_kernel, Hook::Tc, tcp()),
        Connection::new(&extension, Hook::Tc, tcp6()),
        Connection::new(&extension, Hook::Xdp, tcp()),
    ]
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn what_had_been_sent_when_a_connection_stalls_is_repeated_untagged() {
        for c in every_connection() {
            c.begin();
            for segment in 0..5 {
                assert!(c.send(1 + 100 * segment, ACK, 100), "new data");
            }
            c.wait_ms(200);
            for segment in 0..5 {
                assert!(!c.send(1 + 100 * segment, ACK, 100), "repeated");
            }
            assert!(c.send(501, ACK, 0), "an acknowledgement is tagged");
            assert!(c.send(501, ACK, 100), "and so is new data");
            assert_eq!((c.left(), c.guarded(), c.fallen()), (None, 5, 0));
        }
    }

    #[test]
    fn a_connection_that_stalls_again_without_an_acknowledged_tagged_byte_stays_untagged() {
        for pair_arrives in [false, true] {
            for c in every_connection() {
                if pair_arrives {
                    vouch_for_the_pair(&c);
                }
                c.begin();
                assert!(c.send(1, ACK, 100), "new data");
                c.wait_ms(200);
                assert!(!c.send(1, ACK, 100), "the first stall");
                assert!(c.send(101, ACK, 100), "what only goes tagged");
                c.wait_ms(200);
                assert!(!c.send(101, ACK, 100), "none of it was acknowledged");
                assert_eq!(c.left(), Some(flow_left::LEFT_GUARD.0));
                assert!(!c.send(201, ACK, 100), "for good");
                let fallen = u64::from(!pair_arrives);
                assert_eq!((c.guarded(), c.fallen()), (3, fallen));
            }
        }
    }

    #[test]
    fn a_connection_stays_tagged_however_often_it_stalls_while_tagged_bytes_are_acknowledged() {
        for c in every_connection() {
            c.begin();
            let mut seq = 1;
            for _ in 0..10 {
                assert!(c.send(seq, ACK, 100), "this segment is acknowledged");
                assert!(c.send(seq + 100, ACK, 100), "this one is lost");
                c.wait_ms(200);
                assert!(!c.send(seq + 100, ACK, 100), "repeated by a timeout");
                seq += 200;
            }
            assert_eq!((c.left(), c.guarded(), c.fallen()), (None, 10, 0));
        }
    }

    #[test]
    fn a_connection_without_progress_since_its_second_timeout_stays_untagged() {
        for c in every_connection() {
            vouch_for_the_pair(&c);
            c.begin();
            assert!(c.send(1, ACK, 100), "new data");
            for ms in [200, 300] {
                c.wait_ms(ms);
                assert!(!c.send(1, ACK, 100), "{ms} ms later");
                assert_eq!(c.left(), None, "it may be chance");
            }
            c.wait_ms(100);
            for n in 0..5 {
                assert!(!c.send(1 + 100 * n, ACK, 100), "for good");
            }
            let left = Some(flow_left::LEFT_GUARD.0);
            assert_eq!((c.left(), c.fallen(), c.guarded()), (left, 0, 7));
        }
    }

    #[test]
    fn the_same_data_three_times_in_a_row_is_no_progress() {
        for c in every_connection() {
            c.begin();
            for segment in 0..5 {
                assert!(c.send(1 + 100 * segment, ACK, 100), "new data");
            }
            for segment in 0..5 {
                assert!(
                    c.send(1 + 100 * segment, ACK, 100),
                    "each is repeated once, and fast"
                );
            }
            assert!(c.send(401, ACK, 100), "the second time in a row");
            assert!(!c.send(401, ACK, 100), "the third");
            assert_eq!(c.flow().stalled, 1);
        }
    }

    #[test]
    fn new_data_is_progress() {
        for c in every_connection() {
            c.begin();
            for segment in 0..20 {
                assert!(c.send(1 + 100 * segment, ACK, 100), "new data");
                assert!(c.send(1 + 100 * segment, ACK, 100), "repeated");
                assert!(c.send(1 + 100 * segment, ACK, 100), "twice");
                assert!(c.send(1 + 100 * segment, ACK, 101), "with a byte more");
            }
            assert_eq!(c.guarded(), 0);
        }
    }

    /// As the daemon does when the sink's counts show that packets of the pair arrive.
    fn vouch_for_the_pair(c: &Connection) {
        let lease = c.source.lease(&c.key).expect("is there");
        let vouched = source_lease {
            vouched_ns: u64::MAX,
            ..lease
        };
        c.source.write_lease(&c.key, &vouched);
    }

    #[test]
    fn a_repeated_syn_goes_untagged_and_so_does_its_connection() {
        for (pair_arrives, flags) in [
            (false, SYN),
            (false, SYN | ACK),
            (true, SYN),
            (true, SYN | ACK),
        ] {
            let name = format!("flags {flags}, others of the pair arrive: {pair_arrives}");
            for c in every_connection() {
                if pair_arrives {
                    vouch_for_the_pair(&c);
                }
                assert!(c.send(0, flags, 0), "{name}: the first");
                c.wait_ms(1_000);
                assert!(!c.send(0, flags, 0), "{name}: the second");
                let given_up = Some(flow_left::LEFT_GUARD.0);
                assert_eq!(c.left(), given_up, "{name}: for good");
                for n in 0..5 {
                    c.wait_ms(600);
                    assert!(
                        !c.send(1 + 100 * n, ACK, 100),
                        "{name}: firewalls saw it begin"
                    );
                }
                assert_eq!(c.left(), Some(flow_left::LEFT_GUARD.0), "{name}: for good");
                let fallen = u64::from(!pair_arrives);
                assert_eq!((c.fallen(), c.guarded()), (fallen, 6), "{name}");
                assert!(c.send(5_000, flags, 0), "{name}: the next connection");
            }
        }
    }

    #[test]
    fn a_connection_with_the_ports_of_an_earlier_one_repeats_nothing() {
        for flags in [SYN, SYN | ACK] {
            for c in every_connection() {
                c.begin();
                assert!(c.send(1, FIN | ACK, 0), "the end of the earlier one");
                // Numbers before and behind those of the earlier one, which data would repeat.
                for begin in [5_000, u32::MAX - 5_000] {
                    assert!(c.send(begin, flags, 0), "the SYN of the next one");
                    assert!(c.send(begin.wrapping_add(1), ACK, 100), "its data");
                    let flow = c.flow();
                    assert_eq!((flow.repeats, flow.stalled, flow.open), (0, 0, 1));
                }
                assert_eq!(c.guarded(), 0);
            }
        }
    }

    #[test]
    fn a_repeated_fin_is_data() {
        for c in every_connection() {
            c.begin();
            assert!(c.send(1, ACK, 10), "data");
            assert!(c.send(11, FIN | ACK, 0), "a FIN");
            c.wait_ms(200);
            assert!(!c.send(11, FIN | ACK, 0), "again, by a timeout");
        }
    }

    #[test]
    fn what_carries_no_data_or_asks_whether_the_other_side_lives_is_no_repetition() {
        let cases = [
            ("an acknowledgement", 101, ACK, 0),
            ("a window update", 101, ACK, 0),
            ("a keep-alive without data", 100, ACK, 0),
            ("a keep-alive of one byte", 100, ACK, 1),
            ("a probe of a closed window", 100, ACK, 0),
            ("a reset", 50, RST | ACK, 0),
        ];
        for c in every_connection() {
            c.begin();
            assert!(c.send(1, ACK, 100), "data");
            for (name, seq, flags, payload) in cases {
                for _ in 0..5 {
                    c.wait_ms(75_000);
                    assert!(c.send(seq, flags, payload), "{name}");
                }
            }
            assert_eq!(c.guarded(), 0);
        }
    }

    #[test]
    fn a_repeated_superpacket_is_a_repetition() {
        let c = &every_connection()[0];
        c.begin();
        assert!(c.send(1, ACK, 3_000), "as one packet");
        c.wait_ms(200);
        let frame = tcp()
            .segment(ISN.wrapping_add(1), ACK)
            .payload(3_000)
            .bytes();
        c.source.zero_counters();
        assert_eq!(c.source.run_superpacket(&frame, 1_000, 3).bytes, frame);
        // Those that are skipped are no business of the guard.
        assert_eq!(c.guarded(), 0);
        let encap = Options {
            tunnel: true,
            superpackets: hostint::datapath::abi::superpackets::SUPER_ENCAP,
            ..Options::default()
        };
        let c = Connection::new(&encap, Hook::Tc, tcp());
        c.begin();
        c.send(1, ACK, 3_000);
        c.wait_ms(200);
        assert_eq!(c.source.run_superpacket(&frame, 1_000, 3).bytes, frame);
        assert_eq!(c.guarded(), 3, "three segments");
    }

    #[test]
    fn a_connection_is_open_until_it_sends_fin_or_rst() {
        for end in [FIN | ACK, RST, RST | ACK] {
            for c in every_connection() {
                c.begin();
                c.send(1, ACK, 100);
                assert_eq!(c.flow().open, 1, "it may be idle for long");
                c.send(101, end, 0);
                assert_eq!(c.flow().open, 0, "it is over");
                c.send(9_000, SYN, 0);
                assert_eq!(c.flow().open, 1, "the next connection");
            }
        }
    }
}
