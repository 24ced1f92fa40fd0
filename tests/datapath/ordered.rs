//! On arm64 an atomic whose result is not used orders nothing. The mark by which a CPU keeps others from a flow's numbers
//! must order what is read and written while it is set, so the programs set and clear it by the other kind.

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use std::mem::{MaybeUninit, offset_of};

    use hostint::datapath::abi::sink_flow;
    use hostint::datapath::abi::sink_object::SinkSkelBuilder;
    use hostint_testing::program_info::instructions;
    use libbpf_rs::ProgramMut;
    use libbpf_rs::skel::{OpenSkel, SkelBuilder};

    /// An atomic on 32 bits: class STX, mode ATOMIC, size W.
    const ATOMIC_WORD: u8 = 0xc3;
    /// What its immediate value has if its result is used.
    const FETCH: i32 = 1;
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
}
