//! A reported packet shows its own flow and the flows inside its tunnels.

use hostint::model::{FirstHeader, FlowKey, Packet, Vlans};
use hostint::wire::packet;

const MAC: [u8; 12] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];

fn ipv4(last: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(20 + payload.len()).unwrap();
    let mut out = vec![0x45, 0];
    out.extend(length.to_be_bytes());
    out.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    out.extend([10, 0, 0, last, 10, 0, 1, last]);
    out.extend(payload);
    out
}

fn ipv6(last: u8, next: u8, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(payload.len()).unwrap();
    let mut out = vec![0x60, 0, 0, 0];
    out.extend(length.to_be_bytes());
    out.extend([next, 64]);
    for side in [1, 2] {
        out.extend([
            0x20, 1, 0x0d, 0xb8, side, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last,
        ]);
    }
    out.extend(payload);
    out
}

fn udp(dport: u16, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(8 + payload.len()).unwrap();
    let mut out = vec![0x9c, 0x40];
    out.extend(dport.to_be_bytes());
    out.extend(length.to_be_bytes());
    out.extend([0, 0]);
    out.extend(payload);
    out
}

fn tcp(dport: u16) -> Vec<u8> {
    let mut out = vec![0xc0, 0];
    out.extend(dport.to_be_bytes());
    out.extend([0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x18, 0, 1, 0, 0, 0, 0]);
    out
}

fn ethernet(tags: &[u16], ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let mut out = MAC.to_vec();
    for tag in tags {
        out.extend([0x81, 0]);
        out.extend(tag.to_be_bytes());
    }
    out.extend(ether_type.to_be_bytes());
    out.extend(payload);
    out
}

fn v4(last: u8, protocol: u8, sport: u16, dport: u16) -> Option<FlowKey> {
    Some(FlowKey {
        src: [10, 0, 0, last].into(),
        dst: [10, 0, 1, last].into(),
        sport,
        dport,
        protocol,
        vlans: Vlans::NONE,
    })
}

fn v6(last: u8, protocol: u8, sport: u16, dport: u16) -> Option<FlowKey> {
    Some(FlowKey {
        src: format!("2001:db8:100::{last:x}").parse().unwrap(),
        dst: format!("2001:db8:200::{last:x}").parse().unwrap(),
        ..v4(last, protocol, sport, dport)?
    })
}

fn in_vlans(flow: Option<FlowKey>, outer: u16, inner: u16) -> Option<FlowKey> {
    let vlans = Vlans { outer, inner };
    flow.map(|flow| FlowKey { vlans, ..flow })
}

fn read(frame: &[u8]) -> Packet {
    packet::read(FirstHeader::Ethernet, frame, true)
}

#[test]
fn the_flow_is_the_packets_and_the_inner_flow_the_last_tunnels() {
    let inner = ipv4(7, 6, &tcp(80));
    let inner6 = ipv6(7, 6, &tcp(443));
    let inner_frame = ethernet(&[], 0x0800, &inner);
    let vxlan = [&[8, 0, 0, 0, 0, 0, 1, 0][..], &inner_frame].concat();
    let vxlan_vlan = [
        &[8, 0, 0, 0, 0, 0, 1, 0][..],
        &ethernet(&[7], 0x0800, &inner),
    ]
    .concat();
    let gpe = |next: u8, rest: &[u8]| [&[0x0c, 0, 0, next, 0, 0, 1, 0][..], rest].concat();
    let gtp = |flags: u8, kind: u8, more: &[u8], rest: &[u8]| {
        [&[flags, kind, 0, 0, 0, 0, 0, 1][..], more, rest].concat()
    };
    let geneve = |options: &[u8], ether_type: u16, rest: &[u8]| {
        let [high, low] = ether_type.to_be_bytes();
        let words = u8::try_from(options.len() / 4).unwrap();
        [&[words, 0, high, low, 0, 0, 1, 0], options, rest].concat()
    };
    let gre = |flags: u8, more: &[u8], ether_type: u16, rest: &[u8]| {
        let [high, low] = ether_type.to_be_bytes();
        [&[flags, 0, high, low], more, rest].concat()
    };
    let (tcp80, tcp443) = (v4(7, 6, 0xc000, 80), v6(7, 6, 0xc000, 443));
    let outer = |dport| v4(1, 17, 40000, dport);
    let over_udp =
        |port: u16, payload: &[u8]| ethernet(&[], 0x0800, &ipv4(1, 17, &udp(port, payload)));
    let over_ip = |protocol: u8, payload: &[u8]| ethernet(&[], 0x0800, &ipv4(1, protocol, payload));
    // Hop-by-hop and destination options, of 8 bytes each.
    let options = [
        &[60, 0, 1, 4, 0, 0, 0, 0, 6, 0, 1, 4, 0, 0, 0, 0][..],
        &tcp(80),
    ]
    .concat();
    let fragment = [&[6, 0, 0, 0x10, 0, 0, 0, 1][..], &tcp(80)].concat();
    let first_fragment = [&[6, 0, 0, 1, 0, 0, 0, 1][..], &tcp(80)].concat();
    let authenticated = [&[6, 4][..], &[0; 22], &tcp(80)].concat();
    let cases = [
        ("plain", ethernet(&[], 0x0800, &inner), tcp80, None),
        ("IPv6", ethernet(&[], 0x86dd, &inner6), tcp443, None),
        (
            "a VLAN",
            ethernet(&[7], 0x0800, &inner),
            in_vlans(tcp80, 0, 7),
            None,
        ),
        (
            "two VLANs around IPv6",
            ethernet(&[100, 7], 0x86dd, &inner6),
            in_vlans(tcp443, 100, 7),
            None,
        ),
        (
            "IPv6 extension headers",
            ethernet(&[], 0x86dd, &ipv6(7, 0, &options)),
            v6(7, 6, 0xc000, 80),
            None,
        ),
        (
            "the first fragment of IPv6 has ports that its rest has not",
            ethernet(&[], 0x86dd, &ipv6(7, 44, &first_fragment)),
            v6(7, 6, 0, 0),
            None,
        ),
        (
            "a later fragment of IPv6",
            ethernet(&[], 0x86dd, &ipv6(7, 44, &fragment)),
            v6(7, 6, 0, 0),
            None,
        ),
        (
            "IPsec AH",
            over_ip(51, &authenticated),
            v4(1, 6, 0xc000, 80),
            None,
        ),
        ("VXLAN", over_udp(4789, &vxlan), outer(4789), tcp80),
        (
            "VXLAN at Linux's old port",
            over_udp(8472, &vxlan),
            outer(8472),
            tcp80,
        ),
        (
            "VXLAN around a VLAN",
            over_udp(4789, &vxlan_vlan),
            outer(4789),
            in_vlans(tcp80, 0, 7),
        ),
        (
            "VXLAN-GPE, IPv4",
            over_udp(4790, &gpe(1, &inner)),
            outer(4790),
            tcp80,
        ),
        (
            "VXLAN-GPE, IPv6",
            over_udp(4790, &gpe(2, &inner6)),
            outer(4790),
            tcp443,
        ),
        (
            "VXLAN-GPE, Ethernet",
            over_udp(4790, &gpe(3, &inner_frame)),
            outer(4790),
            tcp80,
        ),
        (
            "VXLAN-GPE, NSH",
            over_udp(4790, &gpe(4, &inner)),
            outer(4790),
            None,
        ),
        (
            "plain VXLAN at the port of GPE",
            over_udp(4790, &vxlan),
            outer(4790),
            tcp80,
        ),
        (
            "GTP-U",
            over_udp(2152, &gtp(0x30, 255, &[], &inner)),
            outer(2152),
            tcp80,
        ),
        (
            "GTP-U with a sequence number",
            over_udp(2152, &gtp(0x32, 255, &[0, 1, 0, 0], &inner6)),
            outer(2152),
            tcp443,
        ),
        (
            "GTP-U with an extension header",
            over_udp(
                2152,
                &gtp(0x34, 255, &[0, 0, 0, 0x85, 1, 0x10, 0, 0], &inner),
            ),
            outer(2152),
            tcp80,
        ),
        (
            "GTP-U with an extension header of no length",
            over_udp(
                2152,
                &gtp(0x34, 255, &[0, 0, 0, 0x85, 0, 0, 0, 0x85], &inner),
            ),
            outer(2152),
            None,
        ),
        (
            "GTP-U echo",
            over_udp(2152, &gtp(0x32, 1, &[0; 4], &[])),
            outer(2152),
            None,
        ),
        (
            "Geneve, Ethernet",
            over_udp(6081, &geneve(&[], 0x6558, &inner_frame)),
            outer(6081),
            tcp80,
        ),
        (
            "Geneve with an option of others, IPv6",
            over_udp(6081, &geneve(&[1, 2, 3, 1, 0, 0, 0, 0], 0x86dd, &inner6)),
            outer(6081),
            tcp443,
        ),
        (
            "GRE",
            over_ip(47, &gre(0, &[], 0x0800, &inner)),
            v4(1, 47, 0, 0),
            tcp80,
        ),
        (
            "GRE with checksum, key and number",
            over_ip(47, &gre(0xb0, &[0; 12], 0x6558, &inner_frame)),
            v4(1, 47, 0, 0),
            tcp80,
        ),
        ("IPv4 in IPv4", over_ip(4, &inner), v4(1, 4, 0, 0), tcp80),
        (
            "IPv6 in IPv4",
            over_ip(41, &inner6),
            v4(1, 41, 0, 0),
            tcp443,
        ),
        (
            "IPv4 in IPv6",
            ethernet(&[], 0x86dd, &ipv6(1, 4, &inner)),
            v6(1, 4, 0, 0),
            tcp80,
        ),
        (
            "a tunnel in a tunnel: the last",
            over_ip(
                47,
                &gre(
                    0,
                    &[],
                    0x0800,
                    &ipv4(2, 17, &udp(2152, &gtp(0x30, 255, &[], &inner))),
                ),
            ),
            v4(1, 47, 0, 0),
            tcp80,
        ),
        ("ARP", ethernet(&[], 0x0806, &[0; 28]), None, None),
    ];
    for (sentence, frame, flow, inner_flow) in cases {
        let packet = read(&frame);
        assert_eq!(
            (packet.flow, packet.inner_flow),
            (flow, inner_flow),
            "{sentence}"
        );
        assert_eq!(packet.int, [], "{sentence}");
        // However it is cut, it never shows another flow than the whole does at that depth.
        for length in 0..frame.len() {
            let cut = read(&frame[..length]);
            assert!(
                cut.flow.is_none() || cut.flow == flow,
                "{sentence} cut to {length}"
            );
        }
    }
}

#[test]
fn tunnels_are_followed_to_a_limit() {
    let mut nested = ipv4(9, 6, &tcp(80));
    for last in (1..9).rev() {
        nested = ipv4(last, 4, &nested);
    }
    let packet = packet::read(FirstHeader::Ipv4, &nested, true);
    assert_eq!(packet.flow, v4(1, 4, 0, 0));
    assert_eq!(packet.inner_flow, v4(5, 4, 0, 0), "and not the ninth");
}

#[test]
fn a_chain_of_int_headers_ends() {
    // Destination headers without an end, each naming the next.
    let header = [2, 0, 3, 5, 0, 1, 0, 0, 0x80, 0, 0, 0];
    let chain: Vec<u8> = header.iter().copied().cycle().take(12 * 100).collect();
    let gpe = [&[0x0c, 0, 0, 5, 0, 0, 1, 0][..], &chain].concat();
    let packet = packet::read(FirstHeader::Ipv4, &ipv4(1, 17, &udp(4790, &gpe)), true);
    assert_eq!(packet.int.len(), 8);
    let found = read(&ethernet(&[], 0x0800, &ipv4(1, 17, &udp(4790, &gpe))));
    assert_eq!(found.int, packet.int);
}
