//! The host's clock: an alarm rings whenever it is set, and the error that its operator states is believed.

/// These need CAP_SYS_TIME. They say that the clock is synchronised, and set it by a nanosecond and back.
mod root {
    use std::sync::{Mutex, PoisonError};

    use hostint::os::clock_alarm::ClockAlarm;
    use hostint_testing::boot_id::with_another_boot_id;
    use hostint_testing::kernel_clock::{Synchronised, set_by};
    use hostint_testing::load::Load;
    use hostint_testing::netns::{Daemon, Lab, await_that_or};
    use hostint_testing::scratch::Folder;
    use serde_json::Value;

    /// All namespaces have one clock.
    static CLOCK: Mutex<()> = Mutex::new(());

    #[test]
    fn each_setting_of_the_clock_rings_once() {
        let _clock = CLOCK.lock().unwrap_or_else(PoisonError::into_inner);
        let alarm = ClockAlarm::new().unwrap();
        let late = ClockAlarm::new().unwrap();
        assert!(!alarm.was_set(), "nobody has set it yet");
        for (ns, turn) in [(1, "forwards"), (-1, "backwards")] {
            set_by(ns);
            assert!(alarm.was_set(), "{turn}");
            assert!(!alarm.was_set(), "{turn}: it was told already");
        }
        assert!(late.was_set(), "two settings that cancel each other out");
        assert!(
            !ClockAlarm::new().unwrap().was_set(),
            "only settings since it began"
        );
    }

    /// A latency of all lines that have one with a bound.
    struct Latency {
        raw_ns: i64,
        corrected_ns: i64,
        error_ns: i64,
        bound_ns: [i64; 2],
    }

    fn latencies(collect: &Daemon) -> Vec<Latency> {
        let lines = collect.stdout();
        let lines = lines
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let bounded = lines.filter_map(|line| {
            Some(Latency {
                raw_ns: line["latency_ns"].as_i64()?,
                corrected_ns: line["latency_corrected_ns"].as_i64()?,
                error_ns: line["latency_error_ns"].as_i64()?,
                bound_ns: [
                    line["latency_bound_ns"][0].as_i64()?,
                    line["latency_bound_ns"][1].as_i64()?,
                ],
            })
        });
        bounded.collect()
    }

    #[test]
    fn an_error_that_operators_state_is_believed() {
        const STATED_NS: i64 = 100;
        let _clock = CLOCK.lock().unwrap_or_else(PoisonError::into_inner);
        let _daemon = Synchronised::declare();
        let lab = Lab::new();
        let folder = Folder::create();
        let mut collect = lab
            .b
            .start("collect --json --listen 10.9.2.1", "collecting");
        // Both hosts have one clock, so what is stated is true. They may not know that they do.
        let other = with_another_boot_id(&folder, &lab.b.binary);
        let told = "--collector 10.9.2.1 --report-period 100ms --clock-error 100ns";
        let _a = lab.a.leasing_sink(&format!("--dev a0 --node-id 1 {told}"));
        let _b = lab
            .b
            .with_binary(other)
            .leasing_sink(&format!("--dev b0 --node-id 2 {told}"));
        lab.a.hostint("source attach --dev a0");
        lab.a.hostint("source add-dest 10.9.2.1");
        let load = Load::start(&lab.a, &lab.b, "10.9.1.1", "10.9.2.1");
        let is_believed = |one: &Latency| one.error_ns <= 2 * STATED_NS;
        await_that_or(
            || {
                latencies(&collect)
                    .iter()
                    .filter(|one| is_believed(one))
                    .count()
                    >= 10
            },
            || {
                let errors = latencies(&collect).into_iter().map(|one| one.error_ns);
                format!("errors: {:?}", errors.collect::<Vec<_>>())
            },
        );
        drop(load);
        for host in [&lab.a, &lab.b] {
            let clock = &host.status()["clock"];
            assert_eq!(clock["stated_error_ns"], STATED_NS, "{clock}");
        }
        assert_eq!(collect.end(), Some(0));
        for one in latencies(&collect).iter().filter(|one| is_believed(one)) {
            let off_ns = (one.corrected_ns - one.raw_ns).abs();
            assert!(off_ns <= 2 * STATED_NS, "{off_ns}");
            let [low, high] = one.bound_ns;
            assert!((low..=high).contains(&one.corrected_ns), "{low} to {high}");
            let width_ns = high - low;
            assert!(width_ns > 4 * STATED_NS, "packets alone: {width_ns}");
        }
    }
}
