//! Any file is read as a capture to its end or to the damage, and the same in small pieces.
#![no_main]

use std::io::Read;

use hostint::collector::capture::Capture;
use hostint::collector::captured_options::CapturedOptions;
use hostint::collector::{datagram, decode};
use hostint::views::captured_option::CapturedLine;
use libfuzzer_sys::fuzz_target;

/// Gives a few bytes at a time.
struct Pieces<'a>(&'a [u8]);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = buffer.len().min(7).min(self.0.len());
        self.0.read(&mut buffer[..size])
    }
}

/// Times and sizes of the packets, and whether the end was one.
fn read(reader: impl Read) -> (Vec<(u64, usize)>, bool) {
    let mut capture = Capture::new(reader);
    let mut packets = Vec::new();
    let mut options = CapturedOptions::default();
    loop {
        let packet = match capture.next_packet() {
            Ok(Some(packet)) => packet,
            Ok(None) => {
                check(options);
                return (packets, true);
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return (packets, false);
            }
        };
        if let Ok(found) = datagram::find(&packet, &[32766]) {
            assert!(found.payload.len() + 8 <= packet.bytes.len());
            let _ = decode(found.payload);
        }
        options.see(&packet);
        packets.push((packet.time_ns, packet.bytes.len()));
    }
}

/// Connections tell no more than their segments.
fn check(mut options: CapturedOptions) {
    let counts = options.counts();
    for told in options.take() {
        assert!(told.filled <= told.requests && told.requests <= counts.segments);
        assert!(told.samples <= told.echoes && told.echoes <= counts.segments);
        let named: u64 = told.hops.iter().map(|hop| hop.samples).sum();
        assert_eq!(named, told.samples);
        assert!(!CapturedLine(&told).to_string().is_empty());
    }
}

fuzz_target!(|file: &[u8]| {
    let whole = read(file);
    assert!(whole.0.iter().map(|(_, bytes)| bytes).sum::<usize>() <= file.len());
    assert_eq!(read(Pieces(file)), whole);
});
