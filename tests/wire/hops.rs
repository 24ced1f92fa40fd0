//! Reports of the time that packets take through a host are read and written back, and nothing else is taken for one.

use hostint::collector::decode;
use hostint_testing::report_samples;

fn datagrams() -> Vec<Vec<u8>> {
    report_samples::host_hops()
        .iter()
        .map(report_samples::datagram)
        .collect()
}

#[test]
fn a_flow_that_is_told_is_the_flow_that_is_read() {
    for (told, datagram) in report_samples::host_hops().iter().zip(datagrams()) {
        assert_eq!(decode(&datagram).unwrap().reports, vec![told.clone()]);
    }
}

#[test]
fn the_bytes_are_those_of_the_manual() {
    let frame = [
        &[11, 0x20, 0, 1, 0, 0, 0, 9][..],
        &1_700_000_002_u32.to_be_bytes(),
        &[0, 0, 0, 2, 15, 6, 0, 0],
        &[0, 0, 0, 2, 0, 0, 0, 3],
        &1_700_000_000_123_456_789_u64.to_be_bytes(),
        &1_700_000_001_123_456_789_u64.to_be_bytes(),
        &70_u64.to_be_bytes(),
        &100_000_u64.to_be_bytes(),
        &12_345_u32.to_be_bytes(),
        &9_000_u32.to_be_bytes(),
        &1_000_000_u32.to_be_bytes(),
        // the flow, and before NAT
        &[1, 0, 6, 0, 192, 0, 0, 80, 0, 0, 0, 0],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 198, 51, 100, 2],
        &[1, 0, 6, 0, 192, 0, 0, 80, 0, 0, 0, 0],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 7],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 198, 51, 100, 2],
        // a tunnel, with its own flow
        &[3, 0, 0, 0],
        &4_242_u32.to_be_bytes(),
        &[1, 0, 17, 0, 0xc7, 0x38, 0x12, 0xb5, 0, 0, 0, 0],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 203, 0, 113, 1],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 203, 0, 113, 2],
        b"\x04eth0\x04eth1",
        b"\x13podman/4f2a91c07be3\x0anetns/blue\0",
    ]
    .concat();
    let mut told = datagrams()[0].clone();
    told[1] |= 0x20;
    assert_eq!(told, frame);
}

#[test]
fn what_is_cut_or_goes_on_is_refused() {
    for datagram in datagrams() {
        for len in 0..datagram.len() {
            assert!(decode(&datagram[..len]).is_err(), "{len} bytes");
        }
        assert!(decode(&[&datagram[..], &[0]].concat()).is_err());
        for (at, what) in [(16, "flags"), (17, "reasons"), (18, "reserved bytes")] {
            let mut changed = datagram.clone();
            changed[at] |= 0x80;
            assert!(decode(&changed).is_err(), "unknown {what}");
        }
    }
}
