//! Any report, and any refusal, has a one-line text and a one-line JSON form.
#![no_main]

use hostint::collector::decode;
use hostint::model::{Arrival, LogLine, Record};
use hostint::views::text::TextLine;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|datagram: &[u8]| {
    let report = match decode(datagram) {
        Ok(report) => report,
        Err(error) => {
            let _ = error.to_string();
            return;
        }
    };
    let arrival = Arrival {
        exporter: ([192, 0, 2, 1], 1).into(),
        received_ns: u64::from(report.observation.timestamp) << 20,
    };
    let text = TextLine {
        report: &report,
        arrival,
    };
    for line in [LogLine(&report).to_string(), text.to_string()] {
        assert!(!line.contains('\n'));
    }
    let mut json = Vec::new();
    assert!(
        Record::new(&report, Some(arrival))
            .append_line(&mut json)
            .is_ok()
    );
    assert_eq!(
        json.iter().position(|byte| *byte == b'\n'),
        Some(json.len() - 1)
    );
});
