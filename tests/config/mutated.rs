//! Config files with random damage cause no panic, and every message about them names a line.

use std::path::Path;

use hostint::config::File;

/// `HOSTINT_LONG=1000000` is the long run.
fn files() -> u64 {
    std::env::var("HOSTINT_LONG").map_or(20_000, |count| count.parse().unwrap())
}

/// xorshift64*: the same files each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 33) as usize % limit.max(1)
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

const SEEDS: [&str; 4] = [
    include_str!("../../packaging/hostint.toml"),
    "[sink]\ndev = [\"eth1\", \"eth2\"]\nnode-id = 2\nhook = \"xdp\"\nencap = [\"vxlan-gpe\"]\ndscp-value = 0x01\n\
     latency-buckets = [\"5us\", \"10us\"]\ncollector = \"[::1]:5\"\nstrict = true\nloss-timeout = \"200ms\"\n\
     [source]\nhook = \"xdp\"\nmtu = 1500\nsuperpackets = \"skip\"\ncompat = \"host-int\"\n\
     [collect]\nlisten = [\"[::]:32766\", \"127.0.0.1\"]\njson = false\n",
    "[[watch]]\nclass = \"a-b\"\naction = \"exclude\"\nfrom = [\"10.1.0.0/16\", \"host-a\"]\nto-port = [443, \"80-90\"]\n\
     [[watch]]\nto = \"2001:db8::/64\"\ndscp = [0, 46]\none-flow-in = 10\nstatic = true\nprotocol = \"udp\"\n",
    "[sink]\nallow = [\n  \"10.0.0.0/8\",\n]\nreport-log = '''/var/log/x\n'''\n[watch]\n[[watch.from]]\na.b.c = {d = 1}\n",
];

const WORDS: [&str; 42] = [
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    ",",
    ".",
    "\n",
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "#",
    "\\",
    "\\u0000",
    "\u{feff}",
    "\0",
    "é",
    "\r\n",
    "-",
    "0x",
    "1e999",
    "inf",
    "nan",
    "true",
    "9223372036854775808",
    "-1",
    "1979-05-27T07:32:00Z",
    "[sink]\n",
    "[source]\n",
    "[[watch]]\n",
    "node-id",
    "dev",
    "latency-buckets",
    "\"5us\"",
    "lease-key",
    "sink.node-id = 1\n",
    "watch = []\n",
    "\"\" = 1\n",
    "--help",
];

fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    let at = random.below(bytes.len() + 1);
    let end = (at + random.below(24)).min(bytes.len());
    match random.below(7) {
        0 => {
            bytes.splice(at..at, random.pick(&WORDS).bytes());
        }
        1 => {
            bytes.splice(at..end, random.pick(&WORDS).bytes());
        }
        2 => {
            bytes.drain(at..end);
        }
        3 => {
            let copy = bytes[at..end].to_vec();
            let to = random.below(bytes.len() + 1);
            bytes.splice(to..to, copy);
        }
        4 => bytes.truncate(at),
        5 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.next() as u8;
            }
        }
        _ => {
            // Digits are where numbers and times go wrong.
            if let Some(digit) = bytes[at..].iter_mut().find(|byte| byte.is_ascii_digit()) {
                *digit = b'0' + random.below(10) as u8;
            }
        }
    }
}

#[test]
fn no_file_panics_and_every_message_has_a_line() {
    let mut random = Random(0x0005_eed0_c0f1_9f11);
    let (mut fine, mut said) = (0_u64, 0);
    for number in 0..files() {
        let seed = *random.pick(&SEEDS);
        let from = random.below(seed.len());
        // All of a short one, or some of the long one.
        let from = seed[..from].rfind('\n').filter(|_| seed.len() > 2000);
        let mut bytes = seed.as_bytes()[from.unwrap_or(0)..].to_vec();
        bytes.truncate(2000);
        for _ in 0..random.below(6) {
            mutate(&mut random, &mut bytes);
        }
        let (file, mut mistakes) = File::parse(Path::new("F"), &bytes);
        file.check_tables(&mut mistakes);
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
        for mistake in &mistakes {
            let line = mistake.to_string();
            let shown = String::from_utf8_lossy(&bytes);
            assert!(
                mistake.line.is_some_and(|line| (1..=lines).contains(&line)),
                "file {number}: {line}\n{shown}"
            );
            assert!(line.starts_with("F:"), "file {number}: {line}\n{shown}");
            assert!(
                !line.contains('\n') && !mistake.message.is_empty(),
                "file {number}: {line}\n{shown}"
            );
        }
        fine += u64::from(mistakes.is_empty());
        said += mistakes.len() as u64;
    }
    // Neither all nor none of them is wrong, else nothing was tried.
    assert!(
        fine > files() / 50 && said > files(),
        "{fine} fine, {said} mistakes"
    );
}
