//! Names on the watchlist follow DNS.

use hostint_testing::netns::{Lab, await_that};

use crate::exchange::exchange_udp;
use crate::name_server::NameServer;

#[test]
fn a_name_that_moves_is_followed_and_one_that_is_lost_stays() {
    let lab = Lab::new();
    lab.b.sh("ip addr add 10.9.2.7/24 dev b0");
    let names = NameServer::start(&lab.a, &[[10, 9, 2, 1]]);
    let a = lab.a.sink("--dev a0 --node-id 1");
    let _b = lab.b.sink("--dev b0 --node-id 2");
    lab.a.hostint("source attach --dev a0");
    lab.a
        .hostint("source add-dest --static host-r.example.org.");
    let from = lab.a.udp("10.9.1.1:5000");
    let old = lab.b.udp("10.9.2.1:6000");
    let new = lab.b.udp("10.9.2.7:6000");
    exchange_udp(&from, &old, 5, 100);
    exchange_udp(&from, &new, 5, 100);
    assert_eq!(lab.a.count("source", "tagged"), 5);

    names.set(&[[10, 9, 2, 7]]);
    let rules = || lab.a.hostint("source rules");
    await_that("the name means the new address", || {
        rules().contains("host-r.example.org. (10.9.2.7)")
    });
    exchange_udp(&from, &old, 5, 100);
    exchange_udp(&from, &new, 5, 100);
    assert_eq!(lab.a.count("source", "tagged"), 10);
    assert!(a.stderr().contains("is 10.9.2.7 now"), "{}", a.stderr());

    names.set(&[]);
    await_that("the loss is told", || {
        a.stderr()
            .contains("cannot find host-r.example.org. any more, so it stays 10.9.2.7")
    });
    exchange_udp(&from, &new, 5, 100);
    assert_eq!(lab.a.count("source", "tagged"), 15);
}
