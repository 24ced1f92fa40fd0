//! The INT source forgets idle flows, but open TCP connections only after hours, or when the table fills.

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use std::net::Ipv4Addr;

    use hostint::datapath::abi::{flow_key, lease_way, source_flow};
    use hostint::datapath::kernel::maps::Map;
    use hostint::datapath::sink::sweeper::SourceSweeper;
    use hostint_testing::frame::Frame;
    use hostint_testing::packets::{tcp, udp};
    use hostint_testing::programs::source::{Options, Source};

    const SECOND_NS: u64 = 1_000_000_000;
    const IDLE_NS: u64 = 120 * SECOND_NS;
    const HOUR_NS: u64 = 3_600 * SECOND_NS;
    const FIN: u8 = 1;
    const SYN: u8 = 2;
    const RST: u8 = 4;
    const ACK: u8 = 16;

    fn source(flows: u32) -> Source {
        let mut source = Source::load_watching_nothing(&Options {
            tunnel: true,
            flows,
            ..Options::default()
        });
        source.watch_leased(Ipv4Addr::UNSPECIFIED, 0);
        let key = source.model.look(&udp().bytes()).expect("may be tagged");
        source.set_ways(&key, lease_way::WAY_TCP_GPE.0 | lease_way::WAY_UDP_GPE.0);
        source
    }

    fn connection(port: u16) -> Frame {
        tcp().ports(port, 80).payload(0)
    }

    /// Walks over the whole table, as if the time after the last packet were this.
    fn sweep(sweeper: &mut SourceSweeper, source: &Source, after_ns: u64) -> u64 {
        let mut removed = 0;
        loop {
            let flows: Map<flow_key, source_flow> = Map::of(source.flows_map()).expect("as built");
            let now_ns = source.clock.now_ns() + after_ns;
            let step = sweeper
                .step_over(flows, now_ns, IDLE_NS)
                .expect("runs as root");
            removed += step.removed;
            if step.end {
                return removed;
            }
        }
    }

    #[test]
    fn an_open_connection_outlives_its_keep_alives() {
        let source = source(1_024);
        let cases: [(&str, &[Frame], bool); 7] = [
            ("a datagram", &[udp()], false),
            ("an open connection", &[connection(1).segment(1, SYN)], true),
            (
                "one that sent FIN",
                &[
                    connection(2).segment(1, SYN),
                    connection(2).segment(2, FIN | ACK),
                ],
                false,
            ),
            (
                "one that was reset",
                &[connection(3).segment(1, SYN), connection(3).segment(2, RST)],
                false,
            ),
            (
                "one that began before its lease",
                &[connection(4).segment(9, ACK)],
                false,
            ),
            (
                "the next connection of the same ports",
                &[
                    connection(5).segment(1, SYN),
                    connection(5).segment(2, FIN | ACK),
                    connection(5).segment(99, SYN),
                ],
                true,
            ),
            (
                "one that the guard untagged",
                &[0; 4].map(|_| connection(6).segment(1, SYN)),
                false,
            ),
        ];
        let mut sweeper = SourceSweeper::default();
        for (name, frames, stays) in cases {
            for frame in frames {
                source.run(&frame.bytes());
            }
            let key = source
                .model
                .look(&frames[0].bytes())
                .expect("may be tagged");
            assert_eq!(
                sweep(&mut sweeper, &source, 100 * SECOND_NS),
                0,
                "{name}: not idle yet"
            );
            sweep(&mut sweeper, &source, 2 * HOUR_NS);
            assert_eq!(source.knows(&key), stays, "{name}: after two hours");
            sweep(&mut sweeper, &source, 3 * HOUR_NS);
            assert!(!source.knows(&key), "{name}: after three hours");
        }
    }

    #[test]
    fn a_table_that_fills_forgets_idle_connections_first() {
        let source = source(100);
        let mut sweeper = SourceSweeper::default();
        for port in 0..75 {
            source.run(&connection(port).segment(1, SYN).bytes());
        }
        for _ in 0..2 {
            assert_eq!(sweep(&mut sweeper, &source, HOUR_NS), 0, "three quarters");
        }
        source.run(&connection(75).segment(1, SYN).bytes());
        sweep(&mut sweeper, &source, HOUR_NS);
        assert_eq!(sweep(&mut sweeper, &source, HOUR_NS), 76, "and one more");
    }
}
