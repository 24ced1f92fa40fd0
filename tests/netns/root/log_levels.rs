//! Log levels: --log-level and its variable select lines by severity, and -v names each request to the kernel.

use hostint_testing::netns::Lab;
use hostint_testing::places;

/// Lines of each level, of the sink's daemon and of the source's attach.
const WARNING: &str = "no --lease-key";
const INFO: &str = "source attached to a0 (tc, tcx)";
const DEBUG: [&str; 8] = [
    "this host's pins are in ",
    "kernel features: ",
    "map source_flows: to be pinned at ",
    "loaded program source_tc (id ",
    "attached program source_tc (id ",
    " to a0 (tcx egress)",
    "/links/source-tc@a0",
    "writing the settings of the source on a0",
];

struct Case {
    name: &'static str,
    variable: Option<&'static str>,
    flags: &'static str,
    info: bool,
    debug: bool,
}

const CASES: [Case; 8] = [
    Case {
        name: "info is the default",
        variable: None,
        flags: "",
        info: true,
        debug: false,
    },
    Case {
        name: "info can be asked for",
        variable: None,
        flags: "--log-level info",
        info: true,
        debug: false,
    },
    Case {
        name: "warning leaves out info",
        variable: None,
        flags: "--log-level warning",
        info: false,
        debug: false,
    },
    Case {
        name: "error leaves out warnings too",
        variable: None,
        flags: "--log-level error",
        info: false,
        debug: false,
    },
    Case {
        name: "debug names requests to the kernel",
        variable: None,
        flags: "--log-level debug",
        info: true,
        debug: true,
    },
    Case {
        name: "-v is debug",
        variable: None,
        flags: "-v",
        info: true,
        debug: true,
    },
    Case {
        name: "the variable sets the level",
        variable: Some("debug"),
        flags: "",
        info: true,
        debug: true,
    },
    Case {
        name: "-v wins over the variable",
        variable: Some("error"),
        flags: "--verbose",
        info: true,
        debug: true,
    },
];

#[test]
fn lines_are_written_up_to_the_level() {
    let lab = Lab::new();
    for case in CASES {
        let line = format!("source attach --dev a0 --node-id 1 --force {}", case.flags);
        let args: Vec<&str> = line.split_whitespace().collect();
        let mut command = lab.a.command(places::hostint(), &args);
        if let Some(level) = case.variable {
            command.env("HOSTINT_LOG_LEVEL", level);
        }
        let output = command.output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{}: {err}", case.name);
        assert_eq!(err.contains(INFO), case.info, "{}: {err}", case.name);
        for part in DEBUG {
            assert_eq!(
                err.contains(part),
                case.debug,
                "{}: {part}: {err}",
                case.name
            );
        }
        lab.a.hostint("source detach");
    }
}

#[test]
fn a_daemon_says_what_its_level_allows() {
    let lab = Lab::new();
    const ATTACHED: &str = "sink attached to a0";
    for (flags, ready, attached) in [
        ("", ATTACHED, true),
        ("--log-level warning", WARNING, false),
    ] {
        let mut daemon = lab
            .a
            .start(&format!("sink --dev a0 --node-id 1 {flags}"), ready);
        assert_eq!(daemon.end(), Some(0), "{flags}");
        let err = daemon.stderr();
        assert!(err.contains(WARNING), "{flags}: {err}");
        assert_eq!(err.contains(ATTACHED), attached, "{flags}: {err}");
        lab.a.hostint("sink detach --now");
    }
}
