//! Interfaces that hostint makes and sets up look as intended to other tools.

mod root {
    use std::process::Command;

    use hostint::os::route_events::{LinkNow, RouteEvent, RouteEvents};
    use hostint::os::{ethtool, netdev, rtnetlink};
    use nix::sched::{CloneFlags, unshare};
    use serde_json::Value;

    /// This thread, and what it starts, in a network namespace of its own.
    fn enter_new_namespace() {
        unshare(CloneFlags::CLONE_NEWNET).unwrap();
    }

    fn run(line: &str) -> String {
        let output = Command::new("sh").args(["-ec", line]).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn link(dev: &str) -> Value {
        let listed: Value =
            serde_json::from_str(&run(&format!("ip -d -j link show {dev}"))).unwrap();
        listed[0].clone()
    }

    #[test]
    fn a_veth_pair_comes_with_its_names_and_mtu_and_goes_as_a_whole() {
        enter_new_namespace();
        rtnetlink::add_veth("left", "right", 65_535).unwrap();
        for (dev, peer) in [("left", "right"), ("right", "left")] {
            let link = link(dev);
            assert_eq!(link["linkinfo"]["info_kind"], "veth", "{dev}");
            assert_eq!(link["link"], peer, "{dev}");
            assert_eq!(link["mtu"], 65_535, "{dev}");
        }
        let again = rtnetlink::add_veth("left", "other", 1_500).unwrap_err();
        assert_eq!(again.raw_os_error(), Some(nix::libc::EEXIST));
        let index = netdev::index_of("left").unwrap();
        rtnetlink::remove(index).unwrap();
        assert!(netdev::index_of("left").is_err() && netdev::index_of("right").is_err());
        let gone = rtnetlink::remove(index).unwrap_err();
        assert_eq!(gone.raw_os_error(), Some(nix::libc::ENODEV));
    }

    #[test]
    fn changed_routes_and_links_are_told() {
        enter_new_namespace();
        rtnetlink::add_veth("left", "right", 1_500).unwrap();
        run(
            "ip addr add 10.0.0.1/24 dev left; ip addr add fd00::1/64 dev left nodad
             ip link set right up; ip link set left up; ip route add 10.9.0.0/16 via 10.0.0.2",
        );
        let events = RouteEvents::listen().unwrap();
        let told = |line: &str| {
            run(line);
            let mut told = Vec::new();
            events.take(|event| told.push(event)).unwrap();
            told
        };
        let v4 = RouteEvent::Prefix([10, 9, 0, 0].into(), 16);
        let v6 = RouteEvent::Prefix("fd09::".parse().unwrap(), 32);
        let all = RouteEvent::Prefix([0; 4].into(), 0);
        for (line, event) in [
            ("ip route add default via 10.0.0.2", all),
            ("ip route replace 10.9.0.0/16 via 10.0.0.3", v4),
            ("ip route del 10.9.0.0/16", v4),
            ("ip -6 route add fd09::/32 via fd00::2", v6),
            ("ip -6 route del fd09::/32", v6),
            ("ip rule add to 10.9.0.0/16 lookup 7", RouteEvent::Anything),
            (
                "ip nexthop add id 5 via 10.0.0.2 dev left",
                RouteEvent::Anything,
            ),
        ] {
            assert!(told(line).contains(&event), "{line}");
            assert!(!told("true").contains(&event), "{line}: told twice");
        }
        let link = LinkNow {
            index: netdev::index_of("left").unwrap(),
            runs: true,
            mtu: 1_400,
        };
        let shorter = told("ip link set left mtu 1400");
        assert!(shorter.contains(&RouteEvent::Link(link)), "{shorter:?}");
        let down = RouteEvent::Link(LinkNow {
            runs: false,
            ..link
        });
        let down_told = told("ip link set left down");
        assert!(down_told.contains(&down), "{down_told:?}");
    }

    #[test]
    fn a_pair_without_ipv6_comes_up_without_addresses() {
        enter_new_namespace();
        rtnetlink::add_veth("left", "right", 1_500).unwrap();
        for dev in ["left", "right"] {
            netdev::disable_ipv6(dev).unwrap();
        }
        for dev in ["left", "right"] {
            rtnetlink::set_up(netdev::index_of(dev).unwrap()).unwrap();
        }
        for dev in ["left", "right"] {
            let flags = link(dev)["flags"].to_string();
            assert!(flags.contains("\"UP\""), "{dev}: {flags}");
            assert_eq!(run(&format!("ip -o addr show {dev}")), "", "{dev}");
        }
    }

    #[test]
    fn gso_max_segs_is_read_and_set() {
        enter_new_namespace();
        rtnetlink::add_veth("left", "right", 1_500).unwrap();
        let index = netdev::index_of("left").unwrap();
        for segments in [1, 100, 65_535] {
            rtnetlink::set_gso_max_segs(index, segments).unwrap();
            assert_eq!(rtnetlink::gso_max_segs(index).unwrap(), segments);
            assert_eq!(link("left")["gso_max_segs"], segments);
        }
        let gone = rtnetlink::gso_max_segs(9_999).unwrap_err();
        assert_eq!(gone.raw_os_error(), Some(nix::libc::ENODEV));
    }

    #[test]
    fn features_are_read_and_turned_off_by_name() {
        enter_new_namespace();
        rtnetlink::add_veth("left", "right", 1_500).unwrap();
        run("ethtool -K left gro on >/dev/null");
        let state = |name| ethtool::feature("left", name).unwrap();
        assert!(state(ethtool::GRO) && state("tx-tcp-segmentation"));
        assert!(state("tx-udp-segmentation") && state("tx-checksum-ip-generic"));

        ethtool::turn_off("left", |name| name.ends_with("-segmentation")).unwrap();
        assert!(!state("tx-tcp-segmentation") && !state("tx-udp-segmentation"));
        assert!(state(ethtool::GRO) && state("tx-checksum-ip-generic"));
        let shown = run("ethtool -k left");
        assert!(shown.contains("tx-tcp6-segmentation: off"), "{shown}");

        ethtool::turn_off("left", |name| name == ethtool::GRO).unwrap();
        assert!(!state(ethtool::GRO) && !state("no such feature"));
    }

    #[test]
    fn a_veth_is_told_from_other_interfaces() {
        enter_new_namespace();
        run("ip link add br0 type bridge");
        rtnetlink::add_veth("left", "right", 1_500).unwrap();
        assert!(ethtool::is_veth("left").unwrap());
        for dev in ["br0", "lo"] {
            assert!(!ethtool::is_veth(dev).unwrap(), "{dev}");
        }
        assert!(ethtool::is_veth("missing").is_err());
        assert!(ethtool::is_veth("a name that is too long").is_err());
    }
}
