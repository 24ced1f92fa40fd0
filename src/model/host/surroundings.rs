//! Where hostint runs, which decides what a person can try when something is withheld.

/// The profile of system calls that containers of hostint need, in the packages.
const PROFILE: &str = "/usr/share/hostint/seccomp.json";

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Surroundings {
    /// A machine, physical or virtual.
    #[default]
    Machine,
    /// A container of podman, Docker or the like.
    Container,
    /// A container of Kubernetes.
    Pod,
}

impl Surroundings {
    /// What gives a process these capabilities; `root` says whether it is root.
    pub fn give_capabilities(self, missing: &[String], root: bool) -> String {
        let names = missing.iter().map(|one| one.trim_start_matches("CAP_"));
        let (user, flags) = match self {
            Self::Machine => return "sudo".to_owned(),
            Self::Container => (
                "--user 0 ",
                names
                    .map(|name| format!("--cap-add {name}"))
                    .collect::<Vec<_>>()
                    .join(" "),
            ),
            Self::Pod => (
                "securityContext.runAsUser: 0 and ",
                format!(
                    "securityContext.capabilities.add: [{}]",
                    names.collect::<Vec<_>>().join(", ")
                ),
            ),
        };
        format!("{}{flags}", if root { "" } else { user })
    }

    /// What shows a container a file or folder of its host; `None` on a machine.
    pub fn show(self, path: &str) -> Option<String> {
        match self {
            Self::Machine => None,
            Self::Container => Some(format!("--volume {path}:{path}")),
            Self::Pod => Some(format!("a hostPath volume of {path}")),
        }
    }

    /// What gives a container a folder that it may write; `None` on a machine.
    pub fn give_folder(self, path: &str) -> Option<String> {
        match self {
            Self::Machine => None,
            Self::Container => Some(format!("--volume {path}:{path}, or --tmpfs {path}")),
            Self::Pod => Some(format!("a hostPath or emptyDir volume at {path}")),
        }
    }

    /// What makes the seccomp profile allow what hostint asks of the kernel.
    pub fn allow_bpf(self) -> String {
        match self {
            Self::Machine => {
                "SystemCallFilter=bpf in the unit, or what else limits system calls".to_owned()
            }
            Self::Container => format!("--security-opt seccomp={PROFILE}"),
            Self::Pod => {
                format!("a seccompProfile of type Localhost with hostint's profile, {PROFILE}")
            }
        }
    }
}
