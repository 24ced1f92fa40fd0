//! One run of a program in the kernel renews many leases, as a plain model of the table does.

/// These need CAP_BPF.
mod root {
    use std::collections::HashMap;
    use std::net::IpAddr;

    use hostint::datapath::abi::source_lease;
    use hostint::datapath::host::serial::Serial;
    use hostint::datapath::kernel::maps::Map;
    use hostint::datapath::lease::leases::{LeaseEntry, Leases};
    use hostint::datapath::lease::renewal::Renewal;
    use hostint::model::{
        AddressPair, ClockState, Encapsulations, Lease, LeaseAnswer, LeaseCounts, LeaseState,
        Marks, NodeId, PathProof, ProbeForms, SinkClock, TunnelObstacle, Ways,
    };
    use libbpf_rs::{MapHandle, MapType, libbpf_sys};

    use hostint_testing::random::Random;

    fn pair(n: u8) -> AddressPair {
        let v4 = |a, b| IpAddr::from([192, 0, a, b]);
        let v6 = |a: u8| IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, a.into()]);
        let (source, dest) = match n % 2 {
            0 => (v4(2, 1), v4(3, n)),
            _ => (v6(255), v6(n)),
        };
        AddressPair { source, dest }
    }

    fn table() -> (Leases, Renewal) {
        let options = libbpf_sys::bpf_map_create_opts {
            sz: size_of::<libbpf_sys::bpf_map_create_opts>() as _,
            map_flags: libbpf_sys::BPF_F_NO_PREALLOC,
            ..Default::default()
        };
        let map = MapHandle::create(
            MapType::Hash,
            Some("source_leases"),
            32,
            size_of::<source_lease>() as u32,
            65_536,
            &options,
        );
        let map = map.expect("made as root");
        let options = libbpf_sys::bpf_map_create_opts {
            map_flags: 0,
            ..options
        };
        let serial = MapHandle::create(
            MapType::Array,
            Some("source_leases_serial"),
            4,
            4,
            1,
            &options,
        );
        let serial = Map::new(serial.expect("made as root")).expect("has these sizes");
        let leases = Leases::of(
            Map::new(map).expect("keys and values have these sizes"),
            Serial::of(serial),
        );
        let renewal = Renewal::load(&leases).expect("loads as root");
        assert!(renewal.is_for(&leases), "it knows its table");
        (leases, renewal)
    }

    fn any_answer(random: &mut Random) -> LeaseAnswer {
        LeaseAnswer {
            instance: random.next(),
            node: NodeId(random.u32()),
            encapsulations: Encapsulations::from_bits(random.u32() as u16),
            marks: Marks {
                tos_value: random.u8(),
                tos_mask: random.u8(),
                extension_port: random.u16(),
            },
            clock: ClockState::from_bits(random.u8()),
            mtu: random.u16(),
            tai_offset_s: random.u16().cast_signed(),
            software: (random.u8(), random.u8()),
            answered_ns: 0,
        }
    }

    fn any_lease(random: &mut Random) -> Lease {
        let addr = pair(random.u8()).dest;
        Lease {
            state: random.pick(&LeaseState::all(addr)),
            until_ns: random.next(),
            answered_ns: random.next(),
            answer: random.chance(0.8).then(|| any_answer(random)),
            rtt_ns: random.u32(),
            clock: random.chance(0.8).then(|| SinkClock {
                raw_ns: random.next() | 1,
                ahead_ns: random.next().cast_signed(),
                less_ns: random.next(),
                more_ns: random.next(),
                drift_ppb: random.u32(),
            }),
            proof: PathProof {
                ways: Ways::from_bits(random.u32()),
                eaten: ProbeForms::from_bits(random.u8()),
                tos_changed: random.u8(),
                longest: random.u16(),
                stack: random.u8(),
                reads_items: random.one_in(2),
                udp_superpackets: random.one_in(2),
                option_114: random.chance(0.5),
                vouched_ns: random.next(),
                proved_ns: random.next(),
                distrusted: random.chance(0.5),
                untold: random.chance(0.5),
                asked_shift: random.below(17) as u8,
                obstacle: TunnelObstacle::from_number(random.below(6) as u8),
            },
        }
    }

    fn any_entry(random: &mut Random) -> LeaseEntry {
        LeaseEntry {
            lease: any_lease(random),
            named: random.chance(0.5),
            wanted_ns: random.next(),
            counts: LeaseCounts {
                tagged: [random.next(), random.next(), random.next()],
                fallen: random.next(),
                unseen_turns: random.next() as u32,
            },
        }
    }

    /// What renewing is to do, and how many it finds.
    fn renew(
        model: &mut HashMap<AddressPair, LeaseEntry>,
        renewed: &[(AddressPair, Lease)],
    ) -> u32 {
        let mut known = 0;
        for (pair, lease) in renewed {
            if let Some(entry) = model.get_mut(pair) {
                let of = |lease: &Lease| (lease.proof.vouched_ns, lease.proof.ways);
                if of(&entry.lease) != of(lease) {
                    entry.counts.unseen_turns = 0;
                }
                entry.lease = *lease;
                known += 1;
            }
        }
        known
    }

    fn assert_same(leases: &Leases, model: &HashMap<AddressPair, LeaseEntry>, name: &str) {
        let mut there = HashMap::new();
        leases
            .for_each(|pair, entry| {
                there.insert(pair, entry);
            })
            .expect("the table is read");
        assert_eq!(&there, model, "{name}");
    }

    #[test]
    fn each_lease_is_renewed_and_nothing_else_changes() {
        struct Case {
            name: &'static str,
            there: Vec<u8>,
            renewed: Vec<u8>,
        }
        let case = |name, there: &[u8], renewed: &[u8]| Case {
            name,
            there: there.to_vec(),
            renewed: renewed.to_vec(),
        };
        let first = |count| (0..count).collect::<Vec<u8>>();
        let cases = [
            case("none of none", &[], &[]),
            case("none of one", &[1], &[]),
            case("the only one", &[1], &[1]),
            case("one of many", &first(9), &[4]),
            case("one that was removed stays away", &[1, 3], &[2]),
            case("those around it are renewed", &[1, 3], &[1, 2, 3]),
            case("of two answers the later one counts", &[1], &[1, 1]),
            case("as many as one run takes", &first(24), &first(24)),
            case("one more", &first(25), &first(25)),
            case("many runs", &first(250), &first(200)),
        ];
        let (leases, renewal) = table();
        let mut random = Random::seeded(1);
        for Case {
            name,
            there,
            renewed,
        } in cases
        {
            let mut model = HashMap::new();
            for n in 0..=255 {
                leases.remove(&pair(n)).unwrap();
            }
            for n in there {
                let entry = any_entry(&mut random);
                leases.set(&pair(n), &entry).unwrap();
                model.insert(pair(n), entry);
            }
            let renewed: Vec<_> = renewed
                .into_iter()
                .map(|n| (pair(n), any_lease(&mut random)))
                .collect();
            let expected = renew(&mut model, &renewed);
            assert_eq!(renewal.renew(&renewed).unwrap(), expected, "{name}");
            assert_same(&leases, &model, name);
        }
    }

    #[test]
    fn whatever_comes_in_between_the_table_is_as_the_model_says() {
        let (mut random, seed) = Random::from_env();
        println!("seed {seed}");
        let (leases, renewal) = table();
        let mut model = HashMap::new();
        for round in 0..3_000 {
            let one = pair(random.u8());
            match random.below(4) {
                0 => {
                    let entry = any_entry(&mut random);
                    leases.set(&one, &entry).unwrap();
                    model.insert(one, entry);
                }
                1 => {
                    let was = model.remove(&one).is_some();
                    assert_eq!(leases.remove(&one).unwrap(), was, "round {round}");
                }
                2 => {
                    leases.name(&one).unwrap();
                    let entry = model.entry(one).or_insert(LeaseEntry {
                        lease: Lease::default(),
                        named: true,
                        wanted_ns: 0,
                        counts: LeaseCounts::default(),
                    });
                    entry.named = true;
                }
                _ => {
                    let count = random.below(60);
                    let renewed: Vec<_> = (0..count)
                        .map(|_| (pair(random.u8()), any_lease(&mut random)))
                        .collect();
                    let expected = renew(&mut model, &renewed);
                    assert_eq!(renewal.renew(&renewed).unwrap(), expected, "round {round}");
                }
            }
            assert_same(&leases, &model, &format!("round {round}"));
        }
    }

    #[test]
    fn another_table_needs_another_program() {
        let ((one, for_one), (other, _)) = (table(), table());
        assert!(for_one.is_for(&one), "its own");
        assert!(!for_one.is_for(&other), "the other");
    }
}
