//! Any sequence of numbers is followed without losing count.
#![no_main]

use hostint::collector::Numbering;
use libfuzzer_sys::fuzz_target;

// Per arrival: a step from the number before, small ones in one byte, or any number in five.
fuzz_target!(|input: &[u8]| {
    let mut numbering = Numbering::default();
    let mut number = 0_u32;
    let mut arrivals = 0;
    let mut bytes = input;
    while let [step, rest @ ..] = bytes {
        bytes = rest;
        number = match (step, rest) {
            (0x80, [a, b, c, d, rest @ ..]) => {
                bytes = rest;
                u32::from_be_bytes([*a, *b, *c, *d])
            }
            _ => number.wrapping_add_signed(i32::from(*step as i8)),
        };
        let before = numbering.counts();
        numbering.arrived(number);
        arrivals += 1;
        let counts = numbering.counts();
        assert_eq!(counts.received, arrivals);
        assert!(counts.duplicates + counts.late + counts.stale <= arrivals);
        assert!(counts.restarts * 3 <= arrivals);
        // One arrival tells of at most so many losses, and takes back at most one.
        assert!(counts.lost <= before.lost + (1 << 24));
        assert!(counts.lost + 1 >= before.lost);
    }
});
