//! Any datagram is refused, or holds reports that survive JSON, and those of v0.5 the way out and in again.
#![no_main]

use hostint::collector::decode;
use hostint::model::{Record, Report};
use hostint::wire::report_v05;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|datagram: &[u8]| {
    let Ok(group) = decode(datagram) else {
        return;
    };
    let is_beside = group.notice.is_some();
    assert!(!group.reports.is_empty() || !group.refused.is_empty() || is_beside);
    assert!(group.reports.len() <= 1024);
    for report in &group.reports {
        assert_eq!(report.sequence, group.sequence);
        reads_back(report);
    }
    if datagram[0] >> 4 == 0 && !is_beside {
        is_sent_again(datagram, &group.reports[0]);
    }
});

/// The line of a report makes a report with the same line.
fn reads_back(report: &Report) {
    let record = Record::new(report, None);
    let mut line = Vec::new();
    record.append_line(&mut line).unwrap();
    let read = Record::read_line(&line).unwrap();
    assert_eq!(read, record);
    assert_eq!(Record::new(&read.report().unwrap(), None), record);
}

fn is_sent_again(datagram: &[u8], report: &Report) {
    let mut emitted = Vec::new();
    report_v05::emit(report, &mut emitted);
    // An extended drop-summary (6) of a flow that Host-INT's (3) can name is sent as Host-INT's.
    match (datagram[0] & 0x0f, emitted[0] & 0x0f) {
        (6, 3) => {}
        (read, written) => {
            assert_eq!(written, read);
            assert_eq!(emitted.len(), datagram.len());
        }
    }
    assert_eq!(report_v05::decode(&emitted).as_ref(), Ok(report));
}
