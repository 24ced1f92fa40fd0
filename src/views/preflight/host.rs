//! The kernel, this process's privileges, and the clock.

use crate::model::preflight::{BpffsFacts, Finding, HostFacts, version};
use crate::model::{KERNEL_PARTS, KernelPart, Surroundings, Without};

/// One finding for each fact.
pub fn judge_host(facts: &HostFacts) -> Vec<Finding> {
    let mut found = vec![kernel(facts), capabilities(facts)];
    found.extend(profile(facts));
    found.push(bpffs(&facts.bpffs, facts.surroundings));
    found.extend(cgroups(facts));
    found.extend(programs(facts));
    found.extend(parts(facts));
    if !facts.jit {
        found.push(
            Finding::note(
                "jit",
                "BPF programs are interpreted, which is several times slower",
            )
            .advise("sysctl net.core.bpf_jit_enable=1"),
        );
    }
    if facts.unprivileged_bpf {
        found.push(
            Finding::note(
                "unprivileged",
                "any user may load BPF programs, which hostint does not need",
            )
            .advise("sysctl kernel.unprivileged_bpf_disabled=2"),
        );
    }
    if let Some(mode) = facts.lockdown.as_ref().filter(|mode| *mode != "none") {
        found.push(match mode.as_str() {
            "confidentiality" => Finding::note(
                "lockdown",
                "confidentiality: programs may not read kernel memory",
            )
            .advise("check that the programs load (above); otherwise boot with lockdown=integrity"),
            mode => Finding::ok("lockdown", format!("{mode}, which does no harm")),
        });
    }
    found.extend(clock(facts));
    found
}

fn kernel(facts: &HostFacts) -> Finding {
    let release = &facts.release;
    if version(release).is_some_and(|version| version < (5, 10)) {
        return Finding::fail("kernel", format!("Linux {release}"))
            .advise("hostint needs 5.10 or newer");
    }
    if !facts.btf {
        return Finding::fail(
            "kernel",
            format!("Linux {release} without BTF (/sys/kernel/btf/vmlinux)"),
        )
        .advise("use a kernel with CONFIG_DEBUG_INFO_BTF=y");
    }
    Finding::ok("kernel", format!("Linux {release} with BTF"))
}

fn capabilities(facts: &HostFacts) -> Finding {
    let missing = facts.missing_capabilities.join(", ");
    if missing.is_empty() {
        return Finding::ok(
            "capabilities",
            "CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON, CAP_NET_RAW",
        );
    }
    let place = facts.surroundings;
    let give = place.give_capabilities(&facts.missing_capabilities, facts.is_root);
    let on_machine = place == Surroundings::Machine;
    if missing == "CAP_NET_RAW" {
        return Finding::note(
            "capabilities",
            "no CAP_NET_RAW: hostint cannot ask for leases, only --static destinations work",
        )
        .advise(match on_machine {
            true => "run as root, or add the capability".to_owned(),
            false => give,
        });
    }
    Finding::fail("capabilities", format!("missing {missing}")).advise(match on_machine {
        true => "run as root, or see PRIVILEGES in hostint-sink(8)".to_owned(),
        false => give,
    })
}

fn profile(facts: &HostFacts) -> Option<Finding> {
    let refusal = "the seccomp profile of this process refuses bpf(), which loads programs";
    let finding = Finding::fail("seccomp", refusal).advise(facts.surroundings.allow_bpf());
    facts.profile_refuses_bpf.then_some(finding)
}

/// Only a container that runs beside other sockets of its host has less than it could.
fn cgroups(facts: &HostFacts) -> Option<Finding> {
    let show = facts.surroundings.show("/sys/fs/cgroup")?;
    let finding = Finding::note(
        "cgroup",
        "this container sees its own control group alone: options of TCP (--encap tcp-option, tcp --option) and \
         --local reach no socket outside, and containers have no names",
    );
    facts.own_cgroups.then(|| finding.advise(show))
}

fn bpffs(facts: &BpffsFacts, place: Surroundings) -> Finding {
    const MOUNT: &str = "mount -t bpf -o mode=700 bpf /sys/fs/bpf";
    if let (None, false, Some(show)) = (&facts.path, facts.mountable, place.show("/sys/fs/bpf")) {
        return Finding::fail(
            "bpffs",
            "this container does not see the BPF file system of its host",
        )
        .advise(show);
    }
    match &facts.path {
        None if facts.refused.is_some() => Finding::fail(
            "bpffs",
            format!(
                "no BPF file system can be used: {}",
                facts.refused.as_deref().unwrap_or_default()
            ),
        )
        .advise(format!("{MOUNT}, or give --bpffs DIR")),
        None if facts.mountable => {
            Finding::note("bpffs", "no BPF file system is mounted; hostint mounts one")
                .advise(MOUNT)
        }
        None => Finding::fail(
            "bpffs",
            "this user sees no BPF file system and cannot mount one",
        )
        .advise(format!("{MOUNT}, as root")),
        Some(path) if facts.read_only => {
            Finding::fail("bpffs", format!("{path} is mounted read-only"))
                .advise(format!("mount -o remount,rw {path}"))
        }
        Some(path) if !facts.writable => {
            Finding::fail("bpffs", format!("{path} is not writable by this user"))
                .advise("run as root, or create a folder hostint there that this user owns")
        }
        Some(path) if facts.open => Finding::note(
            "bpffs",
            format!("{path}, where every user may create folders"),
        )
        .advise(format!("chmod 700 {path}")),
        Some(path) => Finding::ok("bpffs", format!("{path}, writable")),
    }
}

fn programs(facts: &HostFacts) -> Option<Finding> {
    Some(match facts.programs.as_ref()? {
        Ok(()) => Finding::ok("programs", "the kernel accepts the sink's programs"),
        Err(why) => Finding::fail(
            "programs",
            format!("the kernel refuses the sink's programs: {why}"),
        )
        .advise("report this with the kernel's version"),
    })
}

/// One finding for each part that is missing: a failure if a role cannot run without it.
fn parts(facts: &HostFacts) -> Vec<Finding> {
    const CHECK: &str = "kernel-part";
    let Some(missing) = &facts.missing_parts else {
        if facts.profile_refuses_bpf {
            return Vec::new();
        }
        return vec![
            Finding::note(
                CHECK,
                "not tried, because that takes CAP_BPF and CAP_PERFMON",
            )
            .advise("run as root"),
        ];
    };
    if missing.is_empty() {
        let all = KERNEL_PARTS.len();
        return vec![Finding::ok(CHECK, format!("all {all} that hostint uses"))];
    }
    let finding = |(part, why): &(KernelPart, Option<String>)| {
        let row = part.facts();
        let mut found = row.sentence();
        if let Some(why) = why {
            found = format!("{found}: {why}");
        }
        let finding = match row.without {
            Without::CannotRun => Finding::fail(CHECK, found),
            _ => Finding::note(CHECK, found),
        };
        finding.advise(format!(
            "Linux {} or newer has it, unless it is locked down",
            row.since
        ))
    };
    missing.iter().map(finding).collect()
}

fn clock(facts: &HostFacts) -> Vec<Finding> {
    let clock = &facts.clock;
    let mut found = Vec::new();
    found.push(if clock.synchronised {
        Finding::ok(
            "clock",
            format!(
                "synchronised, estimated error {} us, at most {} us",
                clock.estimated_error_us, clock.greatest_error_us
            ),
        )
    } else {
        Finding::note(
            "clock",
            "not synchronised: latencies are wrong by the difference of the hosts' clocks",
        )
        .advise("run chrony, or ptp4l with phc2sys")
    });
    found.push(match clock.tai_offset_s {
        0 => Finding::note(
            "tai",
            "the kernel does not know the TAI offset: a leap second will show as latency",
        )
        .advise("chrony: leapsectz right/UTC"),
        seconds => Finding::ok("tai", format!("{seconds} s ahead of UTC")),
    });
    found
}
