//! The kernel accepts every program in every configuration, within an instruction budget.

mod root {
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd, AsRawFd};

    use hostint::datapath::abi::sink_object::SinkSkelBuilder;
    use hostint::datapath::abi::source_object::SourceSkelBuilder;
    use hostint::datapath::probe::Features;
    use libbpf_rs::libbpf_sys;
    use libbpf_rs::skel::{OpenSkel, SkelBuilder};

    /// What the verifier may walk at most: a tenth of what it would.
    const BUDGET: u32 = 100_000;

    /// Instructions that the verifier walked; 0 before 5.16, which does not say.
    fn verified(program: &impl AsFd) -> u32 {
        let mut info: libbpf_sys::bpf_prog_info = unsafe { std::mem::zeroed() };
        let mut len = size_of_val(&info) as u32;
        let fd = program.as_fd().as_raw_fd();
        let result = unsafe { libbpf_sys::bpf_prog_get_info_by_fd(fd, &mut info, &mut len) };
        assert_eq!(result, 0);
        info.verified_insns
    }

    fn check(name: &str, program: &impl AsFd) {
        let walked = verified(program);
        println!("{name}: {walked} instructions verified");
        assert!(
            walked <= BUDGET,
            "{name}: {walked} instructions verified, {BUDGET} are the budget"
        );
    }

    /// Every combination of features that this kernel can provide.
    fn combinations() -> Vec<Features> {
        let have = Features::probe();
        let choices = |has: bool| if has { vec![true, false] } else { vec![false] };
        let mut all = Vec::new();
        for tai_clock in choices(have.tai_clock) {
            for check_mtu in choices(have.check_mtu) {
                for kernel_ctx in choices(have.kernel_ctx) {
                    all.push(Features {
                        tai_clock,
                        check_mtu,
                        kernel_ctx,
                    });
                }
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
            let skel = open
                .load()
                .unwrap_or_else(|err| panic!("{features:?}: {err}"));
            check("sink", &skel.progs.sink);
            check("sink_sweep", &skel.progs.sink_sweep);
        }
    }

    #[test]
    fn the_source_loads_in_each_encapsulation() {
        for features in combinations() {
            for encapsulation in [1, 2] {
                let mut object = MaybeUninit::uninit();
                let mut open = SourceSkelBuilder::default().open(&mut object).unwrap();
                let constants = open.maps.rodata_data.as_deref_mut().unwrap();
                constants.have_tai_clock = features.tai_clock;
                constants.have_check_mtu = features.check_mtu;
                constants.have_kernel_ctx = features.kernel_ctx;
                constants.encapsulation = encapsulation;
                let skel = open.load().unwrap_or_else(|err| {
                    panic!("{features:?}, encapsulation {encapsulation}: {err}")
                });
                check("source_tc", &skel.progs.source_tc);
                check("source_xdp", &skel.progs.source_xdp);
            }
        }
    }
}
