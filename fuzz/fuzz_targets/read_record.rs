//! Any line is refused, or is a report whose own line makes the same report.
#![no_main]

use hostint::collector::LineReader;
use hostint::model::{DropReasons, NodeNames, Record};
use hostint::report::LogLine;
use hostint::views::text::TextLine;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    let reasons = DropReasons::default();
    let mut lines = LineReader::new(file);
    while let Ok(Some(line)) = lines.next_line() {
        let Ok(record) = Record::read_line(line) else {
            continue;
        };
        let arrival = record.arrival();
        let report = match record.report() {
            Ok(report) => report,
            Err(error) => {
                let _ = error.to_string();
                continue;
            }
        };
        let made = Record::new(&report, arrival);
        let mut again = Vec::new();
        assert!(made.append_line(&mut again).is_ok());
        let read = Record::read_line(&again).unwrap();
        assert_eq!(read, made);
        assert_eq!(Record::new(&read.report().unwrap(), arrival), made);
        let text = TextLine {
            report: &report,
            arrival,
            reasons: &reasons,
            names: &NodeNames::NONE,
            clocks: record.clocks(),
        };
        for line in [LogLine(&report).to_string(), text.to_string()] {
            assert!(!line.contains('\n'));
        }
    }
});
