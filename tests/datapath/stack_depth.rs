//! The stack of a program and of the functions that it calls fits on each kernel: the oldest ones count most for a function.

use std::collections::{BTreeMap, BTreeSet};

/// What a chain of calls may have.
pub const LIMIT: usize = 512;

/// Kernels before 6.8 round each function's stack up to a multiple of this; later ones to a half of it.
const UNIT: usize = 32;

const FRAME: u8 = 10;

#[derive(Clone, Copy)]
struct Instruction {
    code: u8,
    dst: u8,
    src: u8,
    off: i64,
    imm: i64,
}

impl Instruction {
    fn read(bytes: [u8; 8]) -> Self {
        let [code, registers, off_low, off_high, imm @ ..] = bytes;
        Self {
            code,
            dst: registers & 0xf,
            src: registers >> 4,
            off: i16::from_le_bytes([off_low, off_high]).into(),
            imm: i32::from_le_bytes(imm).into(),
        }
    }

    /// The function that it calls, or hands to a helper, relative to the next instruction. Compiled programs have the distance
    /// of calls in `off`.
    fn callee(self, is_compiled: bool) -> Option<i64> {
        match (self.code, self.src) {
            (0x85, 1) if is_compiled => Some(self.off),
            (0x85, 1) | (0x18, 4) => Some(self.imm),
            _ => None,
        }
    }
}

/// The functions of a program, each by its first instruction: its stack, and those that it calls.
struct Functions(BTreeMap<usize, (usize, BTreeSet<usize>)>);

impl Functions {
    fn of(program: &[[u8; 8]], is_compiled: bool) -> Self {
        let all: Vec<_> = program.iter().copied().map(Instruction::read).collect();
        let called = |(at, one): (usize, &Instruction)| {
            let distance = one.callee(is_compiled)?;
            usize::try_from(at as i64 + 1 + distance).ok()
        };
        let calls: Vec<_> = all.iter().enumerate().map(called).collect();
        let mut starts: BTreeSet<usize> = calls.iter().copied().flatten().collect();
        starts.insert(0);
        let ends = starts.iter().skip(1).copied().chain([all.len()]);
        let functions = starts.iter().zip(ends).map(|(start, end)| {
            let callees = calls[*start..end].iter().copied().flatten();
            (*start, (stack(&all[*start..end]), callees.collect()))
        });
        Self(functions.collect())
    }

    /// The deepest chain of calls from this function on.
    fn depth(&self, start: usize) -> usize {
        let (stack, callees) = &self.0[&start];
        let deepest = callees.iter().map(|callee| self.depth(*callee)).max();
        stack.max(&1).next_multiple_of(UNIT) + deepest.unwrap_or(0)
    }
}

/// The bytes below the frame pointer that a function touches, or whose address it takes.
fn stack(function: &[Instruction]) -> usize {
    let mut deepest = 0;
    // Where registers point to, relative to the frame pointer.
    let mut points = [None::<i64>; 16];
    for one in function {
        points[usize::from(FRAME)] = Some(0);
        let (dst, src) = (usize::from(one.dst), usize::from(one.src));
        let (class, touched) = match one.code & 7 {
            1 => (1, points[src].map(|at| at + one.off)),
            2 | 3 => (2, points[dst].map(|at| at + one.off)),
            class => (class, None),
        };
        let taken = match one.code {
            0xbf => Some(points[src]),
            0x07 => Some(points[dst].map(|at| at + one.imm)),
            _ => None,
        };
        for at in touched.into_iter().chain(taken.flatten()) {
            deepest = deepest.max(usize::try_from(-at).unwrap_or(0));
        }
        match (class, taken) {
            (_, Some(at)) => points[dst] = at,
            // Stores and jumps write no register.
            (2 | 5 | 6, None) => {}
            (_, None) => points[dst] = None,
        }
    }
    deepest
}

/// The stack of a program's deepest chain of calls, as the strictest kernel counts it.
pub fn deepest(program: &[[u8; 8]], is_compiled: bool) -> usize {
    Functions::of(program, is_compiled).depth(0)
}

fn instruction(code: u8, dst: u8, src: u8, off: i16, imm: i32) -> [u8; 8] {
    let [off_low, off_high] = off.to_le_bytes();
    let [a, b, c, d] = imm.to_le_bytes();
    [code, dst | src << 4, off_low, off_high, a, b, c, d]
}

#[test]
fn the_deepest_chain_of_calls_counts() {
    let exit = instruction(0x95, 0, 0, 0, 0);
    let call = |distance: i16| instruction(0x85, 0, 1, distance, 0);
    let store = |off: i16| instruction(0x7b, 10, 1, off, 0);
    let copy = instruction(0xbf, 2, 10, 0, 0);
    let add = |imm: i32| instruction(0x07, 2, 0, 0, imm);
    let callback = [instruction(0x18, 2, 4, 0, 2), [0; 8]];
    for (what, program, expected) in [
        ("no stack at all is one unit", vec![exit], 32),
        ("a store", vec![store(-64), exit], 64),
        (
            "what is no multiple is rounded up",
            vec![store(-65), exit],
            96,
        ),
        ("an address that is taken", vec![copy, add(-200), exit], 224),
        (
            "a store behind such an address",
            vec![copy, add(-8), instruction(0x7b, 2, 1, -100, 0), exit],
            128,
        ),
        (
            "a register that points elsewhere by now",
            vec![copy, instruction(0xb7, 2, 0, 0, 0), add(-200), exit],
            32,
        ),
        (
            "a function that is called",
            vec![store(-448), call(1), exit, store(-64), exit],
            512,
        ),
        (
            "the deeper one of two that are called",
            vec![call(2), call(2), exit, exit, store(-400), exit],
            32 + 416,
        ),
        (
            "a function that a helper calls back",
            [&callback[..], &[exit, store(-96), exit]].concat(),
            32 + 96,
        ),
    ] {
        assert_eq!(deepest(&program, true), expected, "{what}");
    }
}
