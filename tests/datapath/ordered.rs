//! On arm64 an atomic whose result is not used orders nothing. The mark by which a CPU keeps others from a flow's numbers
//! must order what is read and written while it is set, so the programs set and clear it by the other kind. A serial grows
//! after its table was changed and is read before the table is, so a flow that knows the new number knows the new table.

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use std::mem::{MaybeUninit, offset_of};

    use hostint::datapath::abi::renew_object::RenewSkelBuilder;
    use hostint::datapath::abi::sink_object::SinkSkelBuilder;
    use hostint::datapath::abi::source_object::SourceSkelBuilder;
    use hostint::datapath::abi::{encapsulation, sink_flow};
    use hostint::datapath::kernel::probe::Features;
    use hostint_testing::program_info::instructions;
    use libbpf_rs::ProgramMut;
    use libbpf_rs::skel::{OpenSkel, SkelBuilder};

    /// An atomic on 32 bits: class STX, mode ATOMIC, size W.
    const ATOMIC_WORD: u8 = 0xc3;
    /// What its immediate value has if its result is used.
    const FETCH: i32 = 1;
    const ADD: i32 = 0;
    const OR: i32 = 0x40;
    const AND: i32 = 0x50;

    /// The atomics of a program on the word with the mark.
    fn on_mark(program: &ProgramMut<'_>) -> Vec<i32> {
        let mark = offset_of!(sink_flow, awaited) as i16;
        let all = instructions(program).into_iter();
        let atomics =
            all.filter(|one| one[0] == ATOMIC_WORD && i16::from_ne_bytes([one[2], one[3]]) == mark);
        let immediate = |one: [u8; 8]| i32::from_ne_bytes([one[4], one[5], one[6], one[7]]);
        atomics.map(immediate).collect()
    }

    #[test]
    fn the_mark_of_a_busy_record_is_ordered() {
        let mut object = MaybeUninit::uninit();
        let mut open = SinkSkelBuilder::default().open(&mut object).unwrap();
        open.progs.sink_sweep_locked.set_autoload(true);
        let skel = open.load().expect("loads as root");
        let programs = &skel.progs;
        for (name, program) in [
            ("sink", &programs.sink),
            ("sink_tc", &programs.sink_tc),
            ("sink_sweep", &programs.sink_sweep),
        ] {
            let found = on_mark(program);
            for operation in [OR, AND] {
                assert!(found.contains(&(operation | FETCH)), "{name}: {found:x?}");
            }
            let is_ordered = |one: &i32| one & FETCH != 0;
            assert!(found.iter().all(is_ordered), "{name}: {found:x?}");
        }
        // Kernels before 5.12 take numbers under the lock alone, and refuse a program that has such an instruction.
        assert_eq!(on_mark(&programs.sink_sweep_locked), [0; 0]);
    }

    /// A program looks at a table behind a fence: an atomic on a word that is no mark. It advances a serial by an atomic on
    /// a map's first word.
    fn assert_ordered(name: &str, program: &ProgramMut<'_>, looks: bool, changes: bool) {
        let mark = offset_of!(sink_flow, awaited) as i16;
        let all = instructions(program);
        let has = |operation: i32, is_at: &dyn Fn(i16) -> bool| {
            let is_it = |one: &[u8; 8]| {
                one[0] == ATOMIC_WORD
                    && i32::from_ne_bytes([one[4], one[5], one[6], one[7]]) == operation | FETCH
                    && is_at(i16::from_ne_bytes([one[2], one[3]]))
            };
            all.iter().any(is_it)
        };
        assert_eq!(has(OR, &|at| at != mark), looks, "{name}: the fence");
        assert_eq!(has(ADD, &|at| at == 0), changes, "{name}: the change");
    }

    fn assert_unordered(name: &str, program: &ProgramMut<'_>) {
        let all = instructions(program).into_iter();
        let fetching = all.filter(|one| one[0] == ATOMIC_WORD && one[4] & 1 != 0);
        assert_eq!(fetching.count(), 0, "{name} runs where there are none");
    }

    #[test]
    fn serials_are_ordered() {
        let mut object = MaybeUninit::uninit();
        let mut open = SinkSkelBuilder::default().open(&mut object).unwrap();
        open.progs.sink_locked.set_autoload(true);
        let skel = open.load().expect("loads as root");
        assert_ordered("sink", &skel.progs.sink, true, true);
        assert_ordered("sink_tc", &skel.progs.sink_tc, true, true);
        assert_unordered("sink_locked", &skel.progs.sink_locked);
        let mut object = MaybeUninit::uninit();
        let mut open = SourceSkelBuilder::default().open(&mut object).unwrap();
        open.progs.source_tc_locked.set_autoload(true);
        // At XDP there is no other.
        let constants = open.maps.rodata_data.as_deref_mut().unwrap();
        constants.encapsulation = encapsulation::ENCAP_EXTENSION_UDP.0;
        constants.have_check_mtu = Features::probe().check_mtu;
        let skel = open.load().expect("loads as root");
        assert_ordered("source_tc", &skel.progs.source_tc, true, false);
        assert_ordered("source_xdp", &skel.progs.source_xdp, true, false);
        assert_unordered("source_tc_locked", &skel.progs.source_tc_locked);
        let mut object = MaybeUninit::uninit();
        let mut open = RenewSkelBuilder::default().open(&mut object).unwrap();
        open.progs.renew_leases_locked.set_autoload(true);
        let skel = open.load().expect("loads as root");
        assert_ordered("renew_leases", &skel.progs.renew_leases, false, true);
        assert_unordered("renew_leases_locked", &skel.progs.renew_leases_locked);
    }
}
