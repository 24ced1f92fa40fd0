//! A demo whose daemon fails ends at once with the daemon's own words, and leaves nothing behind.

mod root {
    use std::process::Command;

    use hostint_testing::harness::{run, text};
    use hostint_testing::places;

    struct Case {
        what: &'static str,
        script: &'static str,
        /// How the arguments of the daemon begin that fails.
        fails: &'static str,
        /// It says that it is ready, and ends when the demo has gone on.
        later: bool,
        last_line: &'static str,
    }

    const CASES: [Case; 5] = [
        Case {
            what: "a sink that does not start",
            script: "demo-drops.sh",
            fails: "sink",
            later: false,
            last_line: "hostint sink in namespace hostint-drops-right ended by itself, with exit code 3",
        },
        Case {
            what: "a sink that ends while the demo goes on",
            script: "demo-drops.sh",
            fails: "sink --dev eth0 --node-id 2",
            later: true,
            last_line: "hostint sink in namespace hostint-drops-right ended by itself, with exit code 3",
        },
        Case {
            what: "a collector that ends while the demo waits for leases",
            script: "demo-path.sh",
            fails: "collect",
            later: true,
            last_line: "hostint collect in namespace hostint-path-right ended by itself, with exit code 3",
        },
        Case {
            what: "a transit hop that does not start",
            script: "demo-path.sh",
            fails: "transit",
            later: false,
            last_line: "hostint transit in namespace hostint-path-first ended by itself, with exit code 3",
        },
        Case {
            what: "a host whose connections are not watched",
            script: "demo-tcp.sh",
            fails: "tcp",
            later: false,
            last_line: "hostint tcp in namespace hostint-tcp-client ended by itself, with exit code 3",
        },
    ];

    /// Runs a demo where its names of namespaces, its files and its processes are its own, and then lists what is left of them.
    const ALONE: &str = "
        mount -t tmpfs tmpfs /run
        mkdir /run/netns /run/tmp
        TMPDIR=/run/tmp \"$@\"
        code=$?
        ls /run/netns /run/tmp | grep -v -e '^/run/' -e '^$'
        for process in /proc/[0-9]*; do
            [ \"$process\" = /proc/1 ] || tr '\\0' ' ' <$process/cmdline
        done
        exit $code";

    #[test]
    fn a_daemon_that_fails_ends_the_demo() {
        assert!(
            nix::unistd::geteuid().is_root(),
            "needs root (try: sudo make test)"
        );
        let tests = places::repository().join("tests");
        for case in CASES {
            let what = case.what;
            let mut demo = Command::new("unshare");
            demo.args(["--net", "--mount", "--pid", "--fork", "--kill-child"])
                .args(["--mount-proc", "bash", "-c", ALONE, "alone"])
                .arg(tests.join(case.script))
                .arg(tests.join("cli/failing_hostint.sh"))
                .env("FAILS", case.fails)
                .env("LATER", if case.later { "1" } else { "" });
            let output = run(demo);
            let (told, err) = (text(&output.stdout), text(&output.stderr));
            assert_eq!(output.status.code(), Some(1), "{what}\n{told}{err}");
            let role = case.fails.split(' ').next().unwrap();
            let sentence = format!("hostint: cannot run the {role}: the kernel refuses it");
            assert!(
                err.contains(&sentence),
                "{what}: its words are missing\n{err}"
            );
            let last = format!("== the demo failed: {}", case.last_line);
            assert!(err.lines().last().unwrap().contains(&last), "{what}\n{err}");
            let after = told.lines().last().unwrap_or_default();
            assert!(
                after.contains("== "),
                "{what}: the demo left this behind: {after}"
            );
        }
    }
}
