//! What the kernel tells in files is read right: names of its functions, and counters of losses without a packet.

use hostint::os::container::is_filtered;
use hostint::os::kallsyms::search;
use hostint::os::kernel_counters::{conntrack, listening};

#[test]
fn an_address_has_the_function_that_it_lies_in() {
    // Modules stand behind the kernel, and lines are in no order.
    let file = "\
ffffffff81000000 T _text
ffffffff81002000 t nf_hook_slow
ffffffff81001000 T ip_forward
ffffffff81001800 D a_variable
ffffffffc0000000 t nft_do_chain\t[nf_tables]
no line
";
    for (address, name) in [
        (0xffff_ffff_8100_0000, Some("_text")),
        (0xffff_ffff_8100_0fff, Some("_text")),
        (0xffff_ffff_8100_1900, Some("ip_forward")),
        (0xffff_ffff_8100_2001, Some("nf_hook_slow")),
        (0xffff_ffff_c000_0123, Some("nft_do_chain")),
        (0x1000, None),
    ] {
        let found = search(file.as_bytes(), &[address]).unwrap().unwrap();
        assert_eq!(found, [name.map(str::to_owned)], "{address:#x}");
    }
    let all = [0x1000, 0xffff_ffff_8100_0001, 0xffff_ffff_8100_2001];
    let found = search(file.as_bytes(), &all).unwrap().unwrap();
    let names: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
    assert_eq!(names, [None, Some("_text"), Some("nf_hook_slow")]);
}

#[test]
fn a_process_whose_calls_a_profile_judges_says_so() {
    for (status, filtered) in [
        ("Name:\thostint\nSeccomp:\t2\nSeccomp_filters:\t1\n", true),
        ("Name:\thostint\nSeccomp:\t0\nSeccomp_filters:\t0\n", false),
        ("Seccomp:\t1\n", false),
        ("Seccomp_filters:\t2\n", false),
        ("", false),
    ] {
        assert_eq!(is_filtered(status), filtered, "{status:?}");
    }
}

#[test]
fn hidden_addresses_are_no_names() {
    let file = "0000000000000000 T _text\n0000000000000000 T ip_forward\n";
    assert_eq!(search(file.as_bytes(), &[0xffff]).unwrap(), None);
}

#[test]
fn an_overflow_counts_once() {
    let file = "\
TcpExt: SyncookiesSent ListenOverflows ListenDrops
TcpExt: 3 18 25
IpExt: InNoRoutes
IpExt: 7
";
    let found = listening(file);
    assert_eq!(
        found,
        [("ListenOverflows", None, 18), ("OtherListenDrops", None, 7)]
    );
    assert_eq!(listening("IpExt: InNoRoutes\nIpExt: 7\n"), []);
}

#[test]
fn connection_tracking_is_summed_over_cpus() {
    let file = "\
entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop icmp_error
00000001  00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 0000000a 00000001 00000000 00000000
00000001  00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000006 00000002 00000003 00000000
";
    assert_eq!(
        conntrack(file),
        [
            ("conntrack_insert_failed", None, 16),
            ("conntrack_drop", None, 3),
            ("conntrack_early_drop", None, 3),
        ]
    );
}
