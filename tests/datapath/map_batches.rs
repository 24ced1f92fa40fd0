//! Whole kernel maps are read in batches: each entry is visited once, however many share a hash bucket.

mod root {
    use std::collections::BTreeMap;

    use hostint::datapath::kernel::maps::Map;
    use hostint_testing::refusing_kernel::{Refused, under};
    use libbpf_rs::{MapHandle, MapType, libbpf_sys};

    struct Case {
        name: &'static str,
        entries: u32,
        capacity: u32,
        batch: usize,
    }

    fn map(capacity: u32) -> Map<u32, u64> {
        let options = libbpf_sys::bpf_map_create_opts {
            sz: size_of::<libbpf_sys::bpf_map_create_opts>() as _,
            ..Default::default()
        };
        let handle = MapHandle::create(
            MapType::Hash,
            Some("map_batches"),
            size_of::<u32>() as u32,
            size_of::<u64>() as u32,
            capacity,
            &options,
        );
        Map::new(handle.unwrap()).unwrap()
    }

    /// A map has as many buckets as entries at most: of a thousand entries some surely share theirs.
    const CASES: [Case; 6] = [
        Case {
            name: "an empty map",
            entries: 0,
            capacity: 16,
            batch: 4,
        },
        Case {
            name: "one batch holds all",
            entries: 100,
            capacity: 128,
            batch: 1024,
        },
        Case {
            name: "several batches",
            entries: 1000,
            capacity: 1024,
            batch: 64,
        },
        Case {
            name: "a bucket holds more than a batch of one",
            entries: 1000,
            capacity: 1024,
            batch: 1,
        },
        Case {
            name: "a bucket holds more than a batch of two",
            entries: 1000,
            capacity: 1024,
            batch: 2,
        },
        Case {
            name: "a bucket holds more than the whole first batch",
            entries: 20_000,
            capacity: 32_768,
            batch: 1,
        },
    ];

    #[test]
    fn each_entry_is_visited_once() {
        for case in CASES {
            let map = map(case.capacity);
            for key in 0..case.entries {
                map.set(&key, &(u64::from(key) * 3)).unwrap();
            }
            let visited = visited(&map, case.batch);
            let expected = (0..case.entries).map(|key| (key, vec![u64::from(key) * 3]));
            assert_eq!(visited, expected.collect(), "{}", case.name);
            let no_batches = [Refused::Command(libbpf_sys::BPF_MAP_LOOKUP_BATCH)];
            let by_keys = under(&no_batches, || self::visited(&map, case.batch));
            assert_eq!(by_keys, visited, "{}, key by key", case.name);
        }
    }

    fn visited(map: &Map<u32, u64>, batch: usize) -> BTreeMap<u32, Vec<u64>> {
        let mut visited: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        map.for_each_in_batches(batch, |key, value| {
            visited.entry(key).or_default().push(value);
        })
        .unwrap();
        visited
    }

    #[test]
    fn a_map_that_changes_meanwhile_has_an_end() {
        let map = map(1024);
        for key in 0..1000 {
            map.set(&key, &0).unwrap();
        }
        let no_batches = [Refused::Command(libbpf_sys::BPF_MAP_LOOKUP_BATCH)];
        let mut visits = 0;
        under(&no_batches, || {
            // The kernel begins again behind each key that is gone.
            map.for_each_in_batches(1, |key, _| {
                visits += 1;
                map.remove(&key).unwrap();
                map.set(&(key + 1000), &0).unwrap();
            })
            .unwrap();
        });
        assert!((1..=2048).contains(&visits), "{visits}");
    }
}
