//! The programs' cost that no machine's load changes, the instructions that are verified and those that are loaded, is as
//! committed. (Bytes of machine code differ from boot to boot.)
//!
//! A change that makes them grow is to be seen in review: HOSTINT_BLESS=1 writes the file anew.

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use std::fmt::Write;
    use std::mem::MaybeUninit;
    use std::path::Path;

    use hostint::datapath::abi::host_times_object::HostTimesSkelBuilder;
    use hostint::datapath::abi::peer_object::PeerSkelBuilder;
    use hostint::datapath::abi::renew_object::RenewSkelBuilder;
    use hostint::datapath::abi::sink_object::SinkSkelBuilder;
    use hostint::datapath::abi::source_object::SourceSkelBuilder;
    use hostint::datapath::abi::transit_object::TransitSkelBuilder;
    use hostint::datapath::abi::transit_sent_object::TransitSentSkelBuilder;
    use hostint::datapath::host::host_times;
    use hostint::datapath::kernel::probe::Features;
    use hostint::model::KernelPart;
    use libbpf_rs::ProgramMut;
    use libbpf_rs::skel::{OpenSkel, SkelBuilder};

    fn line(out: &mut String, name: &str, program: &ProgramMut<'_>) {
        let info = hostint_testing::program_info::of(program);
        let (verified, loaded) = (info.verified_insns, info.xlated_prog_len / 8);
        writeln!(out, "{name:<28} {verified:>7} {loaded:>6}").expect("a string has room");
    }

    /// Numbers of another kernel or compiler say nothing about a change of ours.
    fn setting() -> String {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("Linux has it");
        let kernel: Vec<&str> = release.split('.').take(2).collect();
        let clang = std::process::Command::new(env!("HOSTINT_CLANG"))
            .arg("-dumpversion")
            .output()
            .expect("what built the programs is there");
        let clang = String::from_utf8_lossy(&clang.stdout).into_owned();
        let clang = clang.split('.').next().unwrap_or_default();
        let machine = std::env::consts::ARCH;
        format!("kernel {}, clang {clang}, {machine}", kernel.join("."))
    }

    fn sink(out: &mut String, nic: bool) {
        let mut object = MaybeUninit::uninit();
        let mut open = SinkSkelBuilder::default().open(&mut object).unwrap();
        let features = Features::probe();
        let constants = open.maps.rodata_data.as_deref_mut().unwrap();
        constants.have_tai_clock = features.tai_clock;
        constants.have_coarse_clock = features.coarse_clock;
        constants.have_home_cpus = features.home_cpus;
        constants.have_xdp_frags = features.xdp_frags;
        constants.nic_stamps = nic;
        open.progs.sink_nic_by_metadata.set_autoload(nic);
        let skel = open.load().expect("loads as root");
        if nic {
            // What is bound to a device cannot be loaded here: that one calls the driver besides.
            line(
                out,
                "sink_nic_by_metadata",
                &skel.progs.sink_nic_by_metadata,
            );
            return;
        }
        line(out, "sink", &skel.progs.sink);
        line(out, "sink_tc", &skel.progs.sink_tc);
        line(out, "sink_sweep", &skel.progs.sink_sweep);
    }

    fn source(out: &mut String, name: &str, encapsulation: u32, superpackets: u32) {
        let mut object = MaybeUninit::uninit();
        let mut open = SourceSkelBuilder::default().open(&mut object).unwrap();
        let features = Features::probe();
        let constants = open.maps.rodata_data.as_deref_mut().unwrap();
        constants.have_tai_clock = features.tai_clock;
        constants.have_coarse_clock = features.coarse_clock;
        constants.have_check_mtu = features.check_mtu;
        constants.have_kernel_ctx = features.kernel_ctx;
        constants.have_kernel_reads = features.kernel_reads;
        constants.encapsulation = encapsulation;
        constants.superpackets = superpackets;
        let skel = open.load().expect("loads as root");
        line(out, &format!("source_tc {name}"), &skel.progs.source_tc);
        if encapsulation == 2 {
            line(out, "source_xdp", &skel.progs.source_xdp);
        }
    }

    fn peer(out: &mut String) {
        let mut object = MaybeUninit::uninit();
        let mut open = PeerSkelBuilder::default().open(&mut object).unwrap();
        let constants = open.maps.rodata_data.as_deref_mut().unwrap();
        constants.have_check_mtu = Features::probe().check_mtu;
        let skel = open.load().expect("loads as root");
        line(out, "source_peer", &skel.progs.source_peer);
    }

    fn renew(out: &mut String) {
        let mut object = MaybeUninit::uninit();
        let open = RenewSkelBuilder::default().open(&mut object).unwrap();
        let skel = open.load().expect("loads as root");
        line(out, "renew_leases", &skel.progs.renew_leases);
    }

    fn transit(out: &mut String) {
        let mut object = MaybeUninit::uninit();
        let mut open = TransitSkelBuilder::default().open(&mut object).unwrap();
        let features = Features::probe();
        let constants = open.maps.rodata_data.as_deref_mut().unwrap();
        constants.have_tai_clock = features.tai_clock;
        constants.have_check_mtu = features.check_mtu;
        constants.have_kernel_ctx = features.kernel_ctx;
        constants.have_kernel_reads = features.kernel_reads;
        let skel = open.load().expect("loads as root");
        line(out, "transit_in", &skel.progs.transit_in);
        line(out, "transit_out", &skel.progs.transit_out);
    }

    fn waits(out: &mut String) {
        let mut object = MaybeUninit::uninit();
        let mut open = TransitSentSkelBuilder::default().open(&mut object).unwrap();
        let constants = open.maps.rodata_data.as_deref_mut().unwrap();
        constants.have_tai_clock = Features::probe().tai_clock;
        let skel = open.load().expect("loads as root");
        line(out, "transit_sent", &skel.progs.transit_sent);
    }

    fn host_times(out: &mut String) {
        let mut object = MaybeUninit::uninit();
        let mut open = HostTimesSkelBuilder::default().open(&mut object).unwrap();
        let constants = open.maps.rodata_data.as_deref_mut().unwrap();
        constants.have_tai_clock = Features::probe().tai_clock;
        let found = host_times::try_to_load().expect("loads as root");
        host_times::choose_programs(&mut open, found.tried.without(found.refused));
        let skel = open.load().expect("loads as root");
        line(out, "host_sent", &skel.progs.host_sent);
        line(out, "host_in", &skel.progs.host_in);
        line(out, "host_copied", &skel.progs.host_copied);
        if found.gives(KernelPart::SendBufferWaits) {
            line(out, "host_written", &skel.progs.host_written);
        }
        if found.gives(KernelPart::DatagramWaits) {
            line(out, "host_queued", &skel.progs.host_queued);
            line(out, "host_received", &skel.progs.host_received);
        }
    }

    #[test]
    fn programs_have_the_size_that_was_committed() {
        let mut now = format!(
            "{}\n{:<28} {:>7} {:>6}\n",
            setting(),
            "program",
            "verified",
            "loaded"
        );
        sink(&mut now, false);
        sink(&mut now, true);
        source(&mut now, "over-tcp-udp", 1, 0);
        source(&mut now, "over-tcp-udp, encap", 1, 1);
        source(&mut now, "extension-udp", 2, 0);
        source(&mut now, "vxlan-gpe", 3, 1);
        source(&mut now, "ioam", 7, 1);
        source(&mut now, "int-md", 6, 1);
        peer(&mut now);
        renew(&mut now);
        transit(&mut now);
        waits(&mut now);
        host_times(&mut now);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/instructions.txt");
        if std::env::var_os("HOSTINT_BLESS").is_some() {
            std::fs::write(&path, &now).expect("the file can be written");
        }
        let committed = std::fs::read_to_string(&path).expect("the file is there");
        if committed.lines().next() != now.lines().next() {
            println!(
                "committed for {:?}, so not compared:\n{now}",
                committed.lines().next()
            );
            return;
        }
        assert_eq!(
            now, committed,
            "not what was committed (if it is meant so: HOSTINT_BLESS=1 cargo test --test datapath instructions)"
        );
    }
}
