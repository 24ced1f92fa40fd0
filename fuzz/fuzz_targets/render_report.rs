//! Any report, and any refusal, has a one-line text and a one-line JSON form.
#![no_main]

use hostint::collector::decode;
use hostint::model::{Arrival, DropReasons, LatencyClocks, NodeNames, Record};
use hostint::report::LogLine;
use hostint::views::text::TextLine;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|datagram: &[u8]| {
    let group = match decode(datagram) {
        Ok(group) => group,
        Err(error) => {
            let _ = error.to_string();
            return;
        }
    };
    for error in &group.refused {
        assert!(!error.to_string().contains('\n'));
    }
    let reasons = DropReasons::profile("int-host-reporter").unwrap();
    let arrival = Some(Arrival {
        exporter: ([192, 0, 2, 1], 1).into(),
        received_ns: u64::from(group.sequence) << 20,
    });
    for report in &group.reports {
        let text = TextLine {
            report,
            arrival,
            reasons: &reasons,
            names: &NodeNames::NONE,
            clocks: LatencyClocks::Unknown,
        };
        for line in [LogLine(report).to_string(), text.to_string()] {
            assert!(!line.contains('\n'));
        }
        let mut json = Vec::new();
        let record = Record::new(report, arrival).with_names(&reasons);
        assert!(record.append_line(&mut json).is_ok());
        assert_eq!(
            json.iter().position(|byte| *byte == b'\n'),
            Some(json.len() - 1)
        );
    }
});
