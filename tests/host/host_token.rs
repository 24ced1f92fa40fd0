//! Of several daemons one alone has the token of its host: the one with the first claim, and another one when that ends.

use hostint::os::host_token::{Claim, HostToken};

/// What each of three daemons does in a turn.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// It takes the token with this claim, and has it or not.
    Takes(usize, Claim, bool),
    Ends(usize),
}

use Claim::{First, Second};
use Turn::{Ends, Takes};

#[test]
fn one_has_it_at_a_time() {
    let cases: [(&str, &[Turn]); 5] = [
        (
            "the first that comes keeps it",
            &[
                Takes(0, Second, true),
                Takes(1, Second, false),
                Takes(0, Second, true),
            ],
        ),
        (
            "one with the first claim comes later",
            &[
                Takes(0, Second, true),
                Takes(1, First, true),
                Takes(0, Second, false),
                Takes(1, First, true),
            ],
        ),
        (
            "of two with the first claim one has it",
            &[
                Takes(0, First, true),
                Takes(1, First, false),
                Takes(2, Second, false),
            ],
        ),
        (
            "another one takes it when that ends",
            &[
                Takes(0, First, true),
                Takes(1, Second, false),
                Ends(0),
                Takes(1, Second, true),
            ],
        ),
        (
            "a claim may change",
            &[
                Takes(0, First, true),
                Takes(0, Second, true),
                Takes(1, First, true),
                Takes(0, Second, false),
            ],
        ),
    ];
    for (index, (sentence, turns)) in cases.into_iter().enumerate() {
        let name = format!("test/{}/{index}", std::process::id());
        let mut held: [Option<HostToken>; 3] = [None, None, None];
        for turn in turns {
            match *turn {
                Takes(who, claim, has) => {
                    held[who] = HostToken::take(&name, claim, held[who].take()).unwrap();
                    assert_eq!(held[who].is_some(), has, "{sentence}: {turn:?}");
                }
                Ends(who) => held[who] = None,
            }
        }
    }
}
