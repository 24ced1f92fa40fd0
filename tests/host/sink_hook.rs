//! The hook that suits an interface, and how its reason is told.

use hostint::config::SinkHook::{self, Tc, Xdp};
use hostint::datapath::kernel::hook_choice::{HookFacts, WhyHook};

fn card() -> HookFacts {
    HookFacts {
        has_tcx: Some(true),
        is_card: true,
        native_xdp: true,
        ..HookFacts::default()
    }
}

fn veth() -> HookFacts {
    HookFacts {
        has_tcx: Some(true),
        kind: Some("veth".to_owned()),
        native_xdp: true,
        ..HookFacts::default()
    }
}

#[test]
fn software_interfaces_take_tc_and_network_cards_xdp() {
    type Case = (&'static str, HookFacts, SinkHook, WhyHook);
    let occupied = Some("another program holds this hook".to_owned());
    let cases: [Case; 12] = [
        ("a network card", card(), Xdp, WhyHook::NetworkCard),
        (
            "a network card of a router",
            HookFacts {
                forwards: true,
                ..card()
            },
            Xdp,
            WhyHook::NetworkCard,
        ),
        (
            "a driver without native XDP",
            HookFacts {
                native_xdp: false,
                ..card()
            },
            Tc,
            WhyHook::NoNativeXdp,
        ),
        (
            "a card with an XDP program of another tool",
            HookFacts {
                occupant: occupied.clone(),
                ..card()
            },
            Tc,
            WhyHook::Occupied,
        ),
        ("a veth", veth(), Tc, WhyHook::Software),
        (
            "loopback",
            HookFacts {
                kind: None,
                native_xdp: false,
                ..veth()
            },
            Tc,
            WhyHook::Software,
        ),
        (
            "a veth of a host that forwards",
            HookFacts {
                forwards: true,
                ..veth()
            },
            Xdp,
            WhyHook::Forwards,
        ),
        (
            "a veth on a kernel without tcx",
            HookFacts {
                has_tcx: Some(false),
                ..veth()
            },
            Xdp,
            WhyHook::NoTcx,
        ),
        (
            "a veth of which too little is known",
            HookFacts {
                has_tcx: None,
                ..veth()
            },
            Xdp,
            WhyHook::NoTcx,
        ),
        (
            "a card on a kernel that refuses XDP",
            HookFacts {
                xdp_refused: true,
                ..card()
            },
            Tc,
            WhyHook::NoXdp,
        ),
        (
            "a veth that has a sink at XDP",
            HookFacts {
                attached: Some(Xdp),
                ..veth()
            },
            Xdp,
            WhyHook::AsBefore,
        ),
        (
            "a card that has a sink at tc",
            HookFacts {
                attached: Some(Tc),
                ..card()
            },
            Tc,
            WhyHook::AsBefore,
        ),
    ];
    for (sentence, facts, hook, why) in cases {
        assert_eq!(facts.choose(), (hook, why), "{sentence}");
        assert!(!facts.sentence("eth0", why).is_empty(), "{sentence}");
    }
}

#[test]
fn a_hook_is_described_with_its_interface() {
    let slow = HookFacts {
        native_xdp: false,
        ..card()
    };
    for (facts, hook, text) in [
        (
            veth(),
            Tc,
            "a software interface (veth), where superpackets arrive whole",
        ),
        (
            veth(),
            Xdp,
            "a software interface (veth), where tc costs bulk TCP less",
        ),
        (card(), Xdp, "a network card"),
        (card(), Tc, "a network card"),
        (slow, Tc, "a network card without native XDP"),
    ] {
        assert_eq!(facts.describe(hook), text);
    }
}
