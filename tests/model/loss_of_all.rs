//! The interval of the loss of all flows, by those that a budget left to be measured, holds what all flows lost.

use hostint::model::*;
use hostint_testing::random::Random;

/// How many packets flows have.
#[derive(Clone, Copy, Debug)]
enum Sizes {
    Same,
    Lognormal,
    Pareto,
}

/// Which packets are lost.
#[derive(Clone, Copy, Debug)]
enum Losses {
    /// One in a thousand, whichever.
    Any,
    /// Those of one path in 16, which loses one in fifty; others lose one in ten thousand.
    OnePath,
    /// Of each flow by its own chance: of most hardly any.
    EachItsOwn,
    /// Several at once.
    Bursts,
}

/// A number above 0 and at most 1.
fn unit(random: &mut Random) -> f64 {
    ((random.next() >> 11) as f64 + 1.0) / (1u64 << 53) as f64
}

fn normal(random: &mut Random) -> f64 {
    let (far, turn) = (unit(random), unit(random));
    (-2.0 * far.ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
}

impl Sizes {
    fn packets(self, random: &mut Random) -> u64 {
        let packets = match self {
            Self::Same => 20.0,
            Self::Lognormal => (3.0 + 1.2 * normal(random)).exp(),
            Self::Pareto => 8.0 * unit(random).powf(-1.0 / 1.6),
        };
        packets.clamp(1.0, 1e5) as u64
    }
}

/// How many of the packets are lost, if each is lost by this chance: the distances of losses are drawn.
fn lost(packets: u64, chance: f64, random: &mut Random) -> u64 {
    let mut lost = 0;
    let mut at = 0.0;
    loop {
        at += (unit(random).ln() / (-chance).ln_1p()).floor() + 1.0;
        if at > packets as f64 {
            return lost;
        }
        lost += 1;
    }
}

impl Losses {
    fn of(self, packets: u64, random: &mut Random) -> u64 {
        match self {
            Self::Any => lost(packets, 1e-3, random),
            Self::OnePath if random.next().is_multiple_of(16) => lost(packets, 2e-2, random),
            Self::OnePath => lost(packets, 1e-4, random),
            Self::EachItsOwn => {
                let chance = 1e-3 * normal(random).powi(2);
                lost(packets, chance, random)
            }
            Self::Bursts => {
                let bursts = lost(packets, 3e-4, random);
                (bursts * (1 + random.next() % 5)).min(packets)
            }
        }
    }
}

/// An hour in which this share of flows was measured: if an interval was told, whether it has the loss of all flows.
fn holds(
    share: f64,
    flows: usize,
    (sizes, losses): (Sizes, Losses),
    random: &mut Random,
) -> Option<bool> {
    let (mut all, mut measured) = ((0, 0), (0, 0));
    let mut squares = FlowSquares::default();
    for _ in 0..flows {
        let sent = sizes.packets(random);
        let lost = losses.of(sent, random);
        all = (all.0 + lost, all.1 + sent);
        if unit(random) <= share {
            measured = (measured.0 + lost, measured.1 + sent);
            squares.add(FlowSquares::of_flow(lost, sent));
        }
    }
    let told = LossOfAll::new(share, measured, squares, true);
    let (least, most) = told.least_ppb.zip(told.most_ppb)?;
    let truth = all.0 as f64 / all.1 as f64 * 1e9;
    Some((f64::from(least)..=f64::from(most)).contains(&truth))
}

/// Ten thousand hours of pairs.
#[test]
fn intervals_hold_the_loss_of_all_flows_as_often_as_they_say() {
    const HOURS: usize = 10_000 / 36;
    let random = &mut Random::seeded(45);
    let (mut held, mut told, mut told_none) = (0, 0, 0_u32);
    let mut table = String::new();
    for sizes in [Sizes::Same, Sizes::Lognormal, Sizes::Pareto] {
        for losses in [
            Losses::Any,
            Losses::OnePath,
            Losses::EachItsOwn,
            Losses::Bursts,
        ] {
            for (share, flows) in [(0.5, 3000), (0.125, 8000), (0.03125, 20_000)] {
                let (mut of_these, mut right) = (0, 0);
                for _ in 0..HOURS {
                    let hour = holds(share, flows, (sizes, losses), random);
                    told_none += u32::from(hour.is_none());
                    of_these += u32::from(hour.is_some());
                    right += u32::from(hour == Some(true));
                }
                let percent = 100.0 * f64::from(right) / f64::from(of_these);
                table += &format!("{sizes:?} {losses:?} {share}: {percent:.1} % of {of_these}\n");
                assert!(of_these < 100 || percent >= 88.0, "{table}");
                held += right;
                told += of_these;
            }
        }
    }
    let percent = 100.0 * f64::from(held) / f64::from(told);
    eprintln!("{table}{percent:.2} % of {told}, and {told_none} hours had too few losses to tell");
    assert!((93.0..=97.0).contains(&percent), "{table}{percent:.2} %");
}

#[test]
fn an_interval_is_told_if_enough_flows_lost_packets_alike() {
    let told = |lost: &[u64], share, are_alike| {
        let mut squares = FlowSquares::default();
        lost.iter()
            .for_each(|lost| squares.add(FlowSquares::of_flow(*lost, 100)));
        let counts = (lost.iter().sum(), 100 * lost.len() as u64);
        let told = LossOfAll::new(share, counts, squares, are_alike);
        assert_eq!(told.measured_ppm, (share * 1e6) as u32);
        told.least_ppb.zip(told.most_ppb)
    };
    let some = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0];
    let (least, most) = told(&some, 0.5, true).expect("four flows lost packets");
    assert!(least < 4_000_000 && most > 4_000_000, "{least} {most}");
    let (closer, less_far) = told(&some, 0.9, true).expect("the same of more flows");
    assert!(least < closer && less_far < most, "{closer} {less_far}");
    let (all, alone) = told(&some, 1.0, true).expect("all flows are known");
    assert_eq!((all, alone), (4_000_000, 4_000_000));
    for (lost, are_alike, why) in [
        (&some[..], false, "the shares are not alike"),
        (&[0; 10], true, "nothing was lost"),
        (&[1, 1, 0, 0], true, "two flows lost packets"),
        (&[40, 1, 1, 1, 1, 1], true, "one flow lost nearly all"),
        (&[], true, "nothing was sent"),
    ] {
        assert_eq!(told(lost, 0.5, are_alike), None, "{why}");
    }
}
