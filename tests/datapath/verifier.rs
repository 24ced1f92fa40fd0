//! The kernel accepts every program in every configuration, within an instruction budget.

mod root {
    use std::mem::MaybeUninit;
    use std::os::fd::AsFd;

    use hostint::datapath::abi::drop_object::DropSkelBuilder;
    use hostint::datapath::abi::host_times_object::HostTimesSkelBuilder;
    use hostint::datapath::abi::namespace_walk_object::NamespaceWalkSkelBuilder;
    use hostint::datapath::abi::option_room_object::OptionRoomSkelBuilder;
    use hostint::datapath::abi::passage_object::PassageSkelBuilder;
    use hostint::datapath::abi::peer_object::PeerSkelBuilder;
    use hostint::datapath::abi::queue_object::QueueSkelBuilder;
    use hostint::datapath::abi::renew_object::RenewSkelBuilder;
    use hostint::datapath::abi::sink_object::SinkSkelBuilder;
    use hostint::datapath::abi::source_object::SourceSkelBuilder;
    use hostint::datapath::abi::source_object::types::rodata;
    use hostint::datapath::abi::tcp_walk_object::TcpWalkSkelBuilder;
    use hostint::datapath::abi::transit_object::TransitSkelBuilder;
    use hostint::datapath::abi::transit_sent_object::TransitSentSkelBuilder;
    use hostint::datapath::demo_loss::DemoLoss;
    use hostint::datapath::host::host_times;
    use hostint::datapath::kernel::probe::{Features, has_packet_stamps};
    use hostint::datapath::kernel::{kernel_parts, namespaces};
    use hostint::datapath::postcards::drop_reasons::reported_by_tracepoint;
    use hostint::datapath::postcards::passages;
    use hostint::datapath::postcards::queues;
    use hostint::datapath::source::head_room;
    use hostint::model::KernelPart;
    use hostint::os::netns;
    use hostint_testing::program_info;
    use libbpf_rs::skel::{OpenSkel, SkelBuilder};
    use libbpf_rs::{ProgramMut, ProgramType};

    use crate::stack_depth;

    /// What the verifier may walk at most, of the million that it would. That of 6.1 walks most: 133,898 of the sink.
    const BUDGET: u32 = 150_000;

    /// Kernels before 6.8 count a chain's stack as strictly as the test does, and what they then leave of a program is not what
    /// the test can count.
    fn counts_stack_strictly() -> bool {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("Linux has it");
        let mut numbers = release
            .split('.')
            .map_while(|part| part.parse::<u32>().ok());
        let version = (numbers.next(), numbers.next());
        version < (Some(6), Some(8))
    }

    fn check(name: &str, program: &impl AsFd) {
        let info = program_info::of(program);
        // 0 before 5.16, which does not say.
        let walked = info.verified_insns;
        let is_compiled = info.jited_prog_len > 0;
        let stack = stack_depth::deepest(&program_info::instructions(program), is_compiled);
        println!("{name}: {walked} instructions verified, {stack} bytes of stack");
        assert!(
            stack <= stack_depth::LIMIT || counts_stack_strictly(),
            "{name}: {stack} bytes of stack in a chain of calls, of which old kernels allow {}",
            stack_depth::LIMIT
        );
        assert!(
            walked <= BUDGET,
            "{name}: {walked} instructions verified, {BUDGET} are the budget"
        );
    }

    /// All features that this kernel has, all but one, and none.
    fn combinations() -> Vec<Features> {
        let have = Features::probe();
        let none = Features {
            tai_clock: false,
            check_mtu: false,
            kernel_ctx: false,
            xdp_frags: false,
            coarse_clock: false,
            kernel_reads: false,
            nic_stamps: false,
            socket_storage: false,
            blinding: false,
            atomics: false,
            home_cpus: false,
        };
        let mut all = vec![have, none];
        let without: [fn(&mut Features); 8] = [
            |features| features.tai_clock = false,
            |features| features.check_mtu = false,
            |features| features.kernel_ctx = false,
            |features| features.xdp_frags = false,
            |features| features.coarse_clock = false,
            |features| features.kernel_reads = false,
            |features| features.atomics = false,
            |features| features.home_cpus = false,
        ];
        for leave_out in without {
            let mut features = have;
            leave_out(&mut features);
            if !all.contains(&features) {
                all.push(features);
            }
        }
        all
    }

    #[test]
    fn the_sink_loads() {
        for features in combinations() {
            let mut object = MaybeUninit::uninit();
            let mut open = SinkSkelBuilder::default().open(&mut object).unwrap();
            let constants = open.maps.rodata_data.as_deref_mut().unwrap();
            constants.have_tai_clock = features.tai_clock;
            constants.have_coarse_clock = features.coarse_clock;
            constants.have_home_cpus = features.atomics && features.home_cpus;
            constants.have_check_mtu = features.check_mtu;
            constants.have_xdp_frags = features.xdp_frags;
            open.progs.sink.set_autoload(features.atomics);
            open.progs.sink_tc.set_autoload(features.atomics);
            open.progs.sink_locked.set_autoload(!features.atomics);
            open.progs.sink_tc_locked.set_autoload(!features.atomics);
            open.progs.sink_sweep.set_autoload(features.atomics);
            open.progs.sink_sweep_locked.set_autoload(!features.atomics);
            let skel = open
                .load()
                .unwrap_or_else(|err| panic!("{features:?}: {err}"));
            if features.atomics {
                check("sink", &skel.progs.sink);
                check("sink_tc", &skel.progs.sink_tc);
            } else {
                check("sink_locked", &skel.progs.sink_locked);
                check("sink_tc_locked", &skel.progs.sink_tc_locked);
            }
            let (name, sweep) = match features.atomics {
                true => ("sink_sweep", &skel.progs.sink_sweep),
                false => ("sink_sweep_locked", &skel.progs.sink_sweep_locked),
            };
            check(name, sweep);
            assert_no_xdp(name, sweep);
        }
    }

    #[test]
    fn the_peer_loads() {
        for features in combinations() {
            let mut object = MaybeUninit::uninit();
            let mut open = PeerSkelBuilder::default().open(&mut object).unwrap();
            let constants = open.maps.rodata_data.as_deref_mut().unwrap();
            constants.have_check_mtu = features.check_mtu;
            let skel = open
                .load()
                .unwrap_or_else(|err| panic!("{features:?}: {err}"));
            check("source_peer", &skel.progs.source_peer);
        }
    }

    #[test]
    fn the_transit_hop_loads() {
        for features in combinations() {
            for only_allowed in [false, true] {
                let mut object = MaybeUninit::uninit();
                let mut open = TransitSkelBuilder::default().open(&mut object).unwrap();
                let constants = open.maps.rodata_data.as_deref_mut().unwrap();
                constants.have_tai_clock = features.tai_clock;
                constants.have_check_mtu = features.check_mtu;
                constants.have_kernel_ctx = features.kernel_ctx;
                constants.have_kernel_reads = features.kernel_reads;
                constants.only_allowed = only_allowed;
                constants.notes_departures = only_allowed;
                constants.carriers = if only_allowed { 47 } else { 3 };
                constants.md_tos_mask = 0xfc;
                constants.md_tos_value = 0x5c;
                constants.md_port = 1;
                let skel = open
                    .load()
                    .unwrap_or_else(|err| panic!("{features:?}: {err}"));
                check("transit_in", &skel.progs.transit_in);
                check("transit_out", &skel.progs.transit_out);
            }
        }
    }

    #[test]
    fn what_measures_waits_loads() {
        for features in combinations() {
            let mut object = MaybeUninit::uninit();
            let mut open = TransitSentSkelBuilder::default().open(&mut object).unwrap();
            let constants = open.maps.rodata_data.as_deref_mut().unwrap();
            constants.have_tai_clock = features.tai_clock;
            constants.times_options = true;
            let skel = open
                .load()
                .unwrap_or_else(|err| panic!("{features:?}: {err}"));
            check("transit_sent", &skel.progs.transit_sent);
        }
    }

    fn lacks(part: KernelPart) -> bool {
        kernel_parts::missing().iter().any(|(one, _)| *one == part)
    }

    #[test]
    fn what_measures_waits_in_hosts_loads() {
        for features in combinations() {
            let mut object = MaybeUninit::uninit();
            let mut open = HostTimesSkelBuilder::default().open(&mut object).unwrap();
            let constants = open.maps.rodata_data.as_deref_mut().unwrap();
            constants.have_tai_clock = features.tai_clock;
            let found = match host_times::try_to_load() {
                // It takes tcx, which came with 6.6.
                Err(_) if lacks(KernelPart::Tcx) => return,
                found => found.expect("loads as root"),
            };
            host_times::choose_programs(&mut open, found.tried.without(found.refused));
            let skel = open
                .load()
                .unwrap_or_else(|err| panic!("{features:?}: {err}"));
            check("host_sent", &skel.progs.host_sent);
            check("host_in", &skel.progs.host_in);
            check("host_copied", &skel.progs.host_copied);
            if found.gives(KernelPart::SendBufferWaits) {
                check("host_written", &skel.progs.host_written);
            }
            if found.gives(KernelPart::DatagramWaits) {
                check("host_queued", &skel.progs.host_queued);
                check("host_received", &skel.progs.host_received);
            }
        }
    }

    /// A kernel that tells all three values accepts the programs for kernels that tell fewer.
    #[test]
    fn what_sees_drops_loads() {
        let mut object = MaybeUninit::uninit();
        let mut open = DropSkelBuilder::default().open(&mut object).unwrap();
        // Kernels before 5.17 tell no reason, those before 6.11 no socket.
        let told = reported_by_tracepoint().expect("the kernel describes its tracepoint");
        open.progs.see_drop_with_reason.set_autoload(told >= 3);
        open.progs.see_drop_with_socket.set_autoload(told >= 4);
        let skel = open.load().unwrap_or_else(|err| panic!("{err}"));
        let programs = [
            (
                "see_drop_without_reason",
                2,
                &skel.progs.see_drop_without_reason,
            ),
            ("see_drop_with_reason", 3, &skel.progs.see_drop_with_reason),
            ("see_drop_with_socket", 4, &skel.progs.see_drop_with_socket),
        ];
        for (name, _, program) in programs.iter().filter(|(_, needs, _)| *needs <= told) {
            check(name, *program);
        }
    }

    #[test]
    fn what_times_packets_loads_where_they_can_carry_a_stamp() {
        if !has_packet_stamps() {
            let refused = passages::try_to_load().unwrap_err().to_string();
            assert!(refused.contains("takes Linux 5.18"), "{refused}");
            return;
        }
        for features in combinations() {
            let mut object = MaybeUninit::uninit();
            let mut open = PassageSkelBuilder::default().open(&mut object).unwrap();
            let constants = open.maps.rodata_data.as_deref_mut().unwrap();
            constants.have_kernel_ctx = features.kernel_ctx;
            constants.have_kernel_reads = features.kernel_reads;
            let skel = open
                .load()
                .unwrap_or_else(|err| panic!("{features:?}: {err}"));
            check("hop_in", &skel.progs.hop_in);
            check("hop_queue", &skel.progs.hop_queue);
            check("hop_out", &skel.progs.hop_out);
            check("hop_socket", &skel.progs.hop_socket);
        }
    }

    /// By bytes it is one program, by time two.
    #[test]
    fn what_watches_queues_loads() {
        let found = queues::try_to_load().expect("loads as root");
        for by_time in [false, true] {
            let mut object = MaybeUninit::uninit();
            let mut open = QueueSkelBuilder::default().open(&mut object).unwrap();
            // Linux 5.15 brought its tracepoint.
            if by_time && !found.gives(KernelPart::QueueEntries) {
                return;
            }
            open.progs.queue_in.set_autoload(by_time);
            let skel = open.load().unwrap_or_else(|err| panic!("{err}"));
            check("queue_out", &skel.progs.queue_out);
            if by_time {
                check("queue_in", &skel.progs.queue_in);
            }
        }
    }

    #[test]
    fn what_walks_over_namespaces_loads() {
        let mut object = MaybeUninit::uninit();
        let open = NamespaceWalkSkelBuilder::default()
            .open(&mut object)
            .unwrap();
        let skel = open.load().unwrap_or_else(|err| panic!("{err}"));
        check("walk_namespaces", &skel.progs.walk_namespaces);
        let living = namespaces::living().unwrap_or_else(|err| panic!("{err}"));
        let own = netns::id().unwrap();
        assert!(living.contains(&own), "{own} of this process: {living:?}");
    }

    #[test]
    fn what_reads_connections_loads() {
        let mut object = MaybeUninit::uninit();
        let mut open = TcpWalkSkelBuilder::default().open(&mut object).unwrap();
        // An iterator can change sockets from Linux 6.0 on, and read what programs keep for them from 5.11 on.
        let features = Features::probe();
        open.progs
            .adopt_connections
            .set_autoload(features.kernel_ctx);
        let constants = open.maps.rodata_data.as_deref_mut().unwrap();
        constants.reads_options = features.coarse_clock;
        let skel = open.load().unwrap_or_else(|err| panic!("{err}"));
        check("walk_connections", &skel.progs.walk_connections);
        check("see_connection", &skel.progs.see_connection);
        check("mind_option", &skel.progs.mind_option);
    }

    #[test]
    fn what_makes_room_for_options_loads() {
        let mut object = MaybeUninit::uninit();
        let mut open = OptionRoomSkelBuilder::default().open(&mut object).unwrap();
        // An iterator can change sockets from Linux 6.0 on.
        let features = Features::probe();
        open.progs.room_for_open.set_autoload(features.kernel_ctx);
        let constants = open.maps.rodata_data.as_deref_mut().unwrap();
        constants.have_coarse_clock = features.coarse_clock;
        let skel = open.load().unwrap_or_else(|err| panic!("{err}"));
        check("option_room", &skel.progs.option_room);
    }

    #[test]
    fn what_renews_leases_loads() {
        let mut object = MaybeUninit::uninit();
        let mut open = RenewSkelBuilder::default().open(&mut object).unwrap();
        let atomics = Features::probe().atomics;
        open.progs.renew_leases.set_autoload(atomics);
        open.progs.renew_leases_locked.set_autoload(!atomics);
        let skel = open.load().unwrap_or_else(|err| panic!("{err}"));
        let (name, program) = match atomics {
            true => ("renew_leases", &skel.progs.renew_leases),
            false => ("renew_leases_locked", &skel.progs.renew_leases_locked),
        };
        check(name, program);
        assert_no_xdp(name, program);
    }

    #[test]
    fn what_loses_packets_of_a_demo_loads() {
        let loss = DemoLoss::load([5000, 7000], 100).unwrap_or_else(|err| panic!("{err}"));
        assert_eq!(loss.dropped().unwrap(), 0);
    }

    #[test]
    fn what_reads_the_head_room_of_devices_loads() {
        const LOOPBACK: u32 = 1;
        let bytes = head_room::of_udp(LOOPBACK).unwrap_or_else(|err| panic!("{err}"));
        assert_eq!(bytes, Some(2), "as an interface without wishes has it");
    }

    /// Kernels before 5.18 change their own code, with interrupts to all CPUs, whenever an XDP program is run by hand.
    fn assert_no_xdp(name: &str, program: &ProgramMut<'_>) {
        assert_eq!(program.prog_type(), ProgramType::SchedCls, "{name}");
    }

    /// Loads the source's programs as `set` says, and those for kernels without atomics where there are none.
    fn check_source(features: Features, set: impl Fn(&mut rodata), sentence: &str) {
        let mut object = MaybeUninit::uninit();
        let mut open = SourceSkelBuilder::default().open(&mut object).unwrap();
        let constants = open.maps.rodata_data.as_deref_mut().unwrap();
        constants.have_tai_clock = features.tai_clock;
        constants.have_coarse_clock = features.coarse_clock;
        constants.have_check_mtu = features.check_mtu;
        constants.have_kernel_ctx = features.kernel_ctx;
        constants.have_kernel_reads = features.kernel_reads;
        set(constants);
        open.progs.source_tc.set_autoload(features.atomics);
        open.progs.source_xdp.set_autoload(features.atomics);
        open.progs.source_tc_locked.set_autoload(!features.atomics);
        open.progs.source_xdp_locked.set_autoload(!features.atomics);
        let skel = open
            .load()
            .unwrap_or_else(|err| panic!("{features:?}, {sentence}: {err}"));
        if features.atomics {
            check("source_tc", &skel.progs.source_tc);
            check("source_xdp", &skel.progs.source_xdp);
        } else {
            check("source_tc_locked", &skel.progs.source_tc_locked);
            check("source_xdp_locked", &skel.progs.source_xdp_locked);
        }
    }

    #[test]
    fn the_source_loads_in_each_encapsulation() {
        for features in combinations() {
            for (encapsulation, superpackets, full_checksum, without_queue) in [
                (1, 0, false, false),
                (1, 1, false, false),
                (1, 2, false, false),
                (1, 3, false, false),
                (1, 0, true, false),
                (2, 0, false, false),
                (2, 2, false, false),
                (3, 1, false, false),
                (3, 1, false, true),
                (7, 0, false, false),
                (7, 1, false, false),
                (6, 0, false, false),
                (6, 1, false, false),
                (6, 1, false, true),
            ] {
                let set = |constants: &mut rodata| {
                    constants.encapsulation = encapsulation;
                    constants.superpackets = superpackets;
                    constants.full_checksum = full_checksum;
                    // Without a budget much of the program is never reached.
                    constants.max_hops = 8;
                    constants.without_queue = without_queue;
                };
                let sentence = format!(
                    "encapsulation {encapsulation}, superpackets {superpackets}, without queue: {without_queue}"
                );
                check_source(features, set, &sentence);
            }
        }
    }

    #[test]
    fn the_source_loads_on_both_sides_of_a_staging_pair() {
        for features in combinations() {
            for encapsulation in [1, 2, 3, 6] {
                for (name, superpackets, pair, redirect) in
                    [("before", 3, 7, 0), ("behind", 0, 0, 7)]
                {
                    let set = |constants: &mut rodata| {
                        constants.encapsulation = encapsulation;
                        constants.superpackets = superpackets;
                        constants.stage_ifindex = pair;
                        constants.stage_peer = pair;
                        constants.redirect_ifindex = redirect;
                    };
                    check_source(
                        features,
                        set,
                        &format!("encapsulation {encapsulation}, {name}"),
                    );
                }
            }
        }
    }
}
