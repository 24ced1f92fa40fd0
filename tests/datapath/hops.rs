//! Packets that are forwarded get a stamp, as a plain model says; all others keep what they have, and none is changed.

use std::mem::MaybeUninit;

use hostint::datapath::abi::passage_object::{PassageSkel, PassageSkelBuilder};
use hostint::datapath::abi::{bytes_of, hop_counter, hop_settings};
use hostint::datapath::kernel::hooks::occupants;
use hostint::datapath::kernel::probe::{Features, has_packet_stamps};
use hostint::datapath::postcards::passages::{PassagePlan, PassagePrograms};
use hostint::os::{clock, netdev, netns};
use hostint_testing::frame::Frame;
use hostint_testing::netns::{Lab, await_that};
use hostint_testing::packets::{tcp, udp, udp6};
use hostint_testing::programs::source::TCX_NEXT;
use hostint_testing::programs::{read_counters, set, zero_counters};
use hostint_testing::random::{Random, env_number};
use libbpf_rs::ProgramInput;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};

const MARK: u32 = 0x15;
const MARK_MASK: u64 = 63;
/// Where a context has the time.
const TSTAMP: usize = 152;

/// The verdict of a plain model.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Model {
    Stamped,
    Left(hop_counter),
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use hop_counter as count;

    fn load() -> PassageSkel<'static> {
        let object = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = PassageSkelBuilder::default().open(object).unwrap();
        let constants = open.maps.rodata_data.as_deref_mut().unwrap();
        constants.have_kernel_ctx = Features::probe().kernel_ctx;
        constants.have_kernel_reads = Features::probe().kernel_reads;
        let skel = open.load().unwrap();
        let settings = hop_settings {
            until_ns: u64::MAX,
            mark: MARK,
            ..Default::default()
        };
        set(&skel.maps.hop_settings, bytes_of(&0_u32), &settings);
        skel
    }

    /// Runs a packet that carries `stamp` through the program at ingress; what it carries then.
    fn arrive(skel: &PassageSkel<'_>, frame: &[u8], stamp: u64, sentence: &str) -> u64 {
        let mut context = [0_u8; 192];
        context[TSTAMP..TSTAMP + 8].copy_from_slice(&stamp.to_ne_bytes());
        let mut left = context;
        let mut out = vec![0; frame.len() + 256];
        let input = ProgramInput {
            data_in: Some(frame),
            data_out: Some(&mut out),
            context_in: Some(&mut context),
            context_out: Some(&mut left),
            ..ProgramInput::default()
        };
        let ran = skel.progs.hop_in.test_run(input);
        let ran = ran.unwrap_or_else(|err| panic!("{sentence}, {} bytes: {err}", frame.len()));
        assert_eq!(ran.return_value.cast_signed(), TCX_NEXT, "{sentence}");
        assert_eq!(
            ran.data.as_deref(),
            Some(frame),
            "{sentence}: no byte is changed"
        );
        u64::from_ne_bytes(left[TSTAMP..TSTAMP + 8].try_into().unwrap())
    }

    fn counted(skel: &PassageSkel<'_>) -> Vec<u64> {
        let all = read_counters(&skel.maps.hop_counters, count::COUNT_HOP_MAX.0);
        all.iter().map(|(packets, _)| *packets).collect()
    }

    fn check(skel: &PassageSkel<'_>, sentence: &str, frame: &Frame, model: Model) {
        zero_counters(&skel.maps.hop_counters, count::COUNT_HOP_MAX.0);
        let before = clock::monotonic_ns();
        let receive_time = 1_700_000_000_000_000_000;
        let stamp = arrive(skel, &frame.bytes(), receive_time, sentence);
        let after = clock::monotonic_ns();
        let index = match model {
            Model::Stamped => {
                assert_eq!(stamp & MARK_MASK, u64::from(MARK), "{sentence}");
                let about = before - MARK_MASK..after + MARK_MASK;
                assert!(about.contains(&stamp), "{sentence}: {about:?} {stamp}");
                count::COUNT_HOP_STAMPED
            }
            Model::Left(why) => {
                assert_eq!(stamp, receive_time, "{sentence}");
                why
            }
        };
        let counts = counted(skel);
        assert_eq!(counts[index.0 as usize], 1, "{sentence}: {counts:?}");
        assert_eq!(counts.iter().sum::<u64>(), 1, "{sentence}: {counts:?}");
    }

    /// A packet to the router m itself, on its way to `target`.
    fn via_m(frame: Frame) -> Frame {
        frame.destination([0; 6]).from([10, 9, 1, 1])
    }

    #[test]
    fn forwarded_packets_are_stamped_and_no_others() {
        use Model::{Left, Stamped};
        if !has_packet_stamps() {
            return;
        }
        let lab = Lab::new();
        lab.m.sh("ip link set lo up");
        let skel = load();
        let far = || via_m(udp()).to([10, 9, 2, 1]);
        let cases = [
            ("a datagram to b", far(), Stamped),
            ("a segment to b", via_m(tcp()).to([10, 9, 2, 1]), Stamped),
            (
                "another protocol",
                via_m(udp()).to([10, 9, 2, 1]).protocol(253),
                Stamped,
            ),
            ("IP options", far().ip_options(8), Stamped),
            (
                "a datagram to the router",
                via_m(udp()).to([10, 9, 1, 2]),
                Left(count::COUNT_HOP_NOT_FORWARDED),
            ),
            (
                "a group",
                via_m(udp()).to([224, 0, 0, 251]),
                Left(count::COUNT_HOP_NOT_FORWARDED),
            ),
            (
                "no route",
                via_m(udp()).to([203, 0, 113, 1]),
                Left(count::COUNT_HOP_NOT_FORWARDED),
            ),
            (
                "a frame to another host",
                far().destination([2, 0, 0, 0, 0, 9]),
                Left(count::COUNT_HOP_NOT_FORWARDED),
            ),
            (
                "IPv6, which is not forwarded",
                udp6().destination([0; 6]),
                Left(count::COUNT_HOP_NOT_FORWARDED),
            ),
            ("NTP", far().ports(40000, 123), Left(count::COUNT_HOP_CLOCK)),
            (
                "an answer of NTP",
                far().ports(123, 40000),
                Left(count::COUNT_HOP_CLOCK),
            ),
            (
                "PTP events",
                far().ports(319, 319),
                Left(count::COUNT_HOP_CLOCK),
            ),
            ("PTP", far().ports(320, 320), Left(count::COUNT_HOP_CLOCK)),
            (
                "TCP to the port of NTP",
                via_m(tcp()).to([10, 9, 2, 1]).ports(40000, 123),
                Stamped,
            ),
            (
                "a first fragment",
                far().more_fragments(),
                Left(count::COUNT_HOP_UNREAD),
            ),
            (
                "a later fragment",
                far().fragment_offset(8),
                Left(count::COUNT_HOP_UNREAD),
            ),
            (
                "ARP",
                far().ethertype(0x0806),
                Left(count::COUNT_HOP_UNREAD),
            ),
        ];
        lab.m.enter(|| {
            for (sentence, frame, model) in cases {
                check(&skel, sentence, &frame, model);
            }
        });
    }

    #[test]
    fn without_a_daemon_nothing_is_stamped() {
        if !has_packet_stamps() {
            return;
        }
        let lab = Lab::new();
        let skel = load();
        let settings = hop_settings {
            until_ns: clock::monotonic_ns() - 1,
            mark: MARK,
            ..Default::default()
        };
        set(&skel.maps.hop_settings, bytes_of(&0_u32), &settings);
        let frame = via_m(udp()).to([10, 9, 2, 1]).bytes();
        let stamp = lab.m.enter(|| arrive(&skel, &frame, 0, "no daemon"));
        assert_eq!((stamp, counted(&skel).iter().sum::<u64>()), (0, 0));
    }

    #[test]
    fn no_byte_of_any_frame_is_changed() {
        if !has_packet_stamps() {
            return;
        }
        let skel = load();
        let (mut random, seed) = Random::from_env();
        for number in 0..env_number("HOSTINT_TEST_FRAMES", 2_000) {
            let base = [udp(), tcp(), udp6()][number as usize % 3].clone();
            let mut bytes = base.destination([0; 6]).payload(64).bytes();
            for _ in 0..random.below(4) {
                let at = 12 + random.below(bytes.len() - 12);
                bytes[at] = random.u8();
            }
            // The kernel runs no program on less than an IPv6 header.
            bytes.truncate(54 + random.below(bytes.len() - 53));
            arrive(&skel, &bytes, 0, &format!("seed {seed}, frame {number}"));
        }
    }

    #[test]
    fn programs_are_attached_for_as_long_as_they_live() {
        if !has_packet_stamps() {
            return;
        }
        let ours = || {
            let (found, _) = occupants(netdev::index_of("lo").unwrap(), None).unwrap();
            let mut names: Vec<String> = found.into_iter().map(|one| one.name).collect();
            names.retain(|name| name.starts_with("hop_"));
            names.len()
        };
        let plan = PassagePlan {
            sockets: None,
            netns: netns::inode().unwrap(),
            rules: None,
            step: std::time::Duration::ZERO,
            hold: std::time::Duration::ZERO,
            max_new_flows: 1,
            tunnels: Default::default(),
            extension_port: 33122,
        };
        await_that("no program is attached yet", || ours() == 0);
        let mut programs = PassagePrograms::start(16, &plan).unwrap();
        programs.add(netdev::index_of("lo").unwrap()).unwrap();
        assert_eq!(ours(), 2);
        assert_eq!(programs.totals().unwrap().missed, 0);
        drop(programs);
        // A process that another test starts may have a copy of their descriptors until it runs.
        await_that("no program is attached", || ours() == 0);
    }
}
