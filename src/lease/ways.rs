//! The choice of forms that are probed, by this host's configuration and by what the sink reads.

use super::form_verdicts::{FormVerdict, FormVerdicts};
use super::verdict::{OwnTagging, Tagging};
use crate::model::{Encapsulation, Encapsulations, FullAnswer, ProbeForm, ProbeForms};

/// The encapsulations that the user chose on some interface.
pub(super) fn wished(ours: &OwnTagging) -> Encapsulations {
    let chosen = ours.tagging.iter().filter_map(|sent| sent.explicit);
    chosen.fold(Encapsulations::default(), Encapsulations::with)
}

/// True if the sink reads this encapsulation as this host would send it.
fn is_read(ours: &OwnTagging, answer: &FullAnswer, one: Encapsulation) -> bool {
    let same = |tagging: &Tagging| {
        let (mine, theirs) = (&tagging.marks, &answer.marks);
        match one {
            Encapsulation::OverTcpUdp => {
                (mine.tos_value, mine.tos_mask) == (theirs.tos_value, theirs.tos_mask)
            }
            Encapsulation::ExtensionUdp => mine.extension_port == theirs.extension_port,
            Encapsulation::VxlanGpe | Encapsulation::Ioam | Encapsulation::Options => true,
            // The sink does not tell its mark: probes with another one do not arrive.
            Encapsulation::IntMd => {
                let reads_mode = !tagging.is_mx || answer.capabilities.int_mx();
                tagging.explicit != Some(one)
                    || Some(tagging.int_tos_value) == int_tos_value(ours) && reads_mode
            }
        }
    };
    answer.capabilities.encapsulations().contains(one) && ours.tagging.iter().all(same)
}

/// True if packets of this pair are to be in ioam where it passes: only the user's word makes them so.
fn wants_ioam(ours: &OwnTagging, answer: &FullAnswer, ipv6: bool) -> bool {
    ipv6 && wished(ours).contains(Encapsulation::Ioam) && is_read(ours, answer, Encapsulation::Ioam)
}

/// What an answer says that the results of probes depend on. A sink's clock is steered often, which changes no path.
pub(super) fn depend_on(answer: &FullAnswer) -> impl PartialEq + use<> {
    let encapsulations = answer.capabilities.encapsulations();
    let sink = (answer.instance, answer.software, answer.mtu);
    (
        sink,
        encapsulations,
        answer.marks,
        answer.capabilities.int_mx(),
    )
}

/// The mark of INT-MD of the first interface that has one.
fn int_tos_value(ours: &OwnTagging) -> Option<u8> {
    let mut chosen = ours.tagging.iter();
    let chosen = chosen.find(|tagging| tagging.explicit == Some(Encapsulation::IntMd));
    chosen.map(|tagging| tagging.int_tos_value)
}

/// True while nothing can show whether the answers of the sink's host pass outside of a tunnel, and nothing has: no daemon
/// runs there.
pub(super) fn is_unattended(answer: Option<&FullAnswer>, verdicts: &FormVerdicts) -> bool {
    verdicts.of(ProbeForm::Stray) == FormVerdict::Unasked
        && answer.is_some_and(|answer| !answer.capabilities.strays())
}

/// Returns the forms to be probed. Those that have one place in answers do not go together: options yield to what the user
/// asked for on another interface. extension-udp is only for paths that vxlan-gpe does not pass, unless the user chose
/// it. Stray packets wait until a daemon of the sink's host can send some back: tunnels wait with them.
pub(super) fn wanted(
    ours: &OwnTagging,
    answer: &FullAnswer,
    verdicts: &FormVerdicts,
    ipv6: bool,
) -> ProbeForms {
    let chosen = wished(ours);
    let wishes = |one| chosen.contains(one);
    let is_tunnelling = |sent: &Tagging| sent.explicit != Some(Encapsulation::Options);
    let tunnels = ours.tagging.iter().any(is_tunnelling);
    let ioam = wants_ioam(ours, answer, ipv6);
    let gpe_failed = verdicts.of(ProbeForm::Gpe) == FormVerdict::Failed;
    let reads = |one| is_read(ours, answer, one);
    let gpe = tunnels && reads(Encapsulation::VxlanGpe);
    let over = wishes(Encapsulation::OverTcpUdp) && !ioam && reads(Encapsulation::OverTcpUdp);
    let extension = wishes(Encapsulation::ExtensionUdp) || tunnels && (gpe_failed || !gpe);
    let forms = [
        (ProbeForm::OverUdp, over),
        (
            ProbeForm::Extension,
            extension && reads(Encapsulation::ExtensionUdp),
        ),
        (ProbeForm::Gpe, gpe),
        (
            ProbeForm::IntMd,
            wishes(Encapsulation::IntMd) && reads(Encapsulation::IntMd),
        ),
        (ProbeForm::Ioam, ioam),
        (
            ProbeForm::Options,
            wishes(Encapsulation::Options) && !ioam && !over && reads(Encapsulation::Options),
        ),
        (ProbeForm::Stray, tunnels && answer.capabilities.strays()),
    ];
    let wanted = forms.into_iter().filter(|(_, wanted)| *wanted);
    wanted.map(|(form, _)| form).collect()
}

/// The encapsulations that the sink reads as this host would send them.
pub(super) fn read(ours: &OwnTagging, answer: &FullAnswer) -> Encapsulations {
    let all = Encapsulation::ALL.into_iter();
    all.filter(|one| is_read(ours, answer, *one))
        .fold(Encapsulations::default(), Encapsulations::with)
}
