//! Each ring of events is whole pages of memory, whatever their size: 4, 16 or 64 KiB.

use std::mem::MaybeUninit;

use hostint::datapath::abi::drop_object::DropSkelBuilder;
use hostint::datapath::abi::passage_object::PassageSkelBuilder;
use hostint::datapath::abi::queue_object::QueueSkelBuilder;
use hostint::datapath::abi::sink_object::SinkSkelBuilder;
use hostint::datapath::abi::tcp_walk_object::TcpWalkSkelBuilder;
use hostint::datapath::abi::transit_object::TransitSkelBuilder;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapType, OpenObject};

const LARGEST_PAGE: u32 = 65_536;

/// The sizes of an object's rings. It is not loaded.
fn rings<'obj>(
    builder: impl SkelBuilder<'obj>,
    object: &'obj mut MaybeUninit<OpenObject>,
) -> Vec<u32> {
    let open = builder.open(object).expect("an object of this build");
    let maps = open.open_object().maps();
    let rings = maps.filter(|map| map.map_type() == MapType::RingBuf);
    rings.map(|map| map.max_entries()).collect()
}

#[test]
fn rings_are_whole_pages() {
    let mut objects = [const { MaybeUninit::uninit() }; 6];
    let [drop, passage, queue, sink, tcp_walk, transit] = &mut objects;
    for (name, rings) in [
        ("drop", rings(DropSkelBuilder::default(), drop)),
        ("passage", rings(PassageSkelBuilder::default(), passage)),
        ("queue", rings(QueueSkelBuilder::default(), queue)),
        ("sink", rings(SinkSkelBuilder::default(), sink)),
        ("tcp_walk", rings(TcpWalkSkelBuilder::default(), tcp_walk)),
        ("transit", rings(TransitSkelBuilder::default(), transit)),
    ] {
        let [bytes] = rings[..] else {
            panic!("{name} has {} rings", rings.len());
        };
        let fits = bytes.is_power_of_two() && bytes.is_multiple_of(LARGEST_PAGE);
        assert!(fits, "the ring of {name} has {bytes} bytes");
    }
}
