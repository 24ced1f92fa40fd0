//! What the view of TCP connections needs: the kernel's walk over sockets.

use crate::model::preflight::{Finding, TcpFacts};

/// What is missing is a failure only where the config file wants the view.
pub fn judge_tcp(facts: &TcpFacts) -> Finding {
    match &facts.programs {
        None => Finding::note(
            "tcp",
            "not tried, because that takes CAP_BPF and CAP_PERFMON",
        )
        .advise("run as root"),
        Some(Ok(())) => Finding::ok("tcp", "sockets can be read"),
        Some(Err(why)) => {
            let found = format!("the kernel refuses the programs that read sockets: {why}");
            let finding = match facts.wanted {
                true => Finding::fail("tcp", found),
                false => Finding::note("tcp", found),
            };
            finding.advise("hostint tcp needs Linux 5.9 with CONFIG_DEBUG_INFO_BTF=y")
        }
    }
}
