//! hostint's report of the state of a host's TCP connection (NProto 13).

use super::class_name;
use super::cursor::Cursor;
use super::error::DecodeError;
use super::report_extended::{decode_flow, emit_flow};
use super::report_header::HEADER_BYTES;
use super::{report_identity, report_option};
use crate::model::{
    CongestionControl, CongestionPhase, ConnectionReport, HeldUp, Limit, LimitedTimes,
    MOST_CLASS_BYTES, NodeId, TcpFigures, TcpNews, TcpPhase, TcpReport, TcpSample,
};

/// The longest name of a congestion control.
const MOST_CONGESTION_BYTES: usize = 15;

/// Fields that may have no value. One without has zeros.
mod has {
    pub const BEGUN: u16 = 1;
    pub const CGROUP: u16 = 2;
    pub const SRTT: u16 = 4;
    pub const MIN_RTT: u16 = 8;
    pub const SSTHRESH: u16 = 16;
    pub const DELIVERED_CE: u16 = 32;
    pub const DSACK_DUPS: u16 = 64;
    pub const REORD_SEEN: u16 = 128;
    pub const RTO_COUNT: u16 = 256;
    pub const BYTES_RETRANS: u16 = 512;
    pub const DELIVERY_RATE: u16 = 1024;
    pub const PACING_RATE: u16 = 2048;
    pub const MAX_PACING_RATE: u16 = 4096;
    pub const HELD_UP: u16 = 8192;
    /// Of TCP option 114, behind the names.
    pub const OPTION: u16 = 16384;
    pub const ALL: u16 = 32767;
}

/// The states of a connection that are true or false, by their bits.
fn flags(tcp: &mut TcpFigures) -> [&mut bool; 9] {
    [
        &mut tcp.cwnd_limited,
        &mut tcp.delivery_rate_app_limited,
        &mut tcp.app_limited,
        &mut tcp.ecn,
        &mut tcp.window_scaled,
        &mut tcp.sack,
        &mut tcp.timestamps,
        &mut tcp.paced,
        &mut tcp.waits_for_room,
    ]
}

/// What is read of a report, whose fields follow each other.
struct Reader<'a> {
    cursor: Cursor<'a>,
    has: u16,
}

impl Reader<'_> {
    fn word(&mut self, what: &'static str) -> Result<u32, DecodeError> {
        self.cursor.u32(what)
    }

    fn long(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        self.cursor.u64(what)
    }

    fn word_if(&mut self, bit: u16, what: &'static str) -> Result<Option<u32>, DecodeError> {
        let word = self.word(what)?;
        if self.has & bit != 0 {
            return Ok(Some(word));
        }
        self.cursor.check(what, 4, word, 0)?;
        Ok(None)
    }

    fn long_if(&mut self, bit: u16, what: &'static str) -> Result<Option<u64>, DecodeError> {
        let high = self.word(what)?;
        let low = self.word(what)?;
        if self.has & bit != 0 {
            return Ok(Some(u64::from(high) << 32 | u64::from(low)));
        }
        self.cursor.check(what, 8, high | low, 0)?;
        Ok(None)
    }
}

/// Reads a whole datagram whose fixed header announces the state of a connection.
pub(super) fn decode(datagram: &[u8], time_s: u32) -> Result<ConnectionReport, DecodeError> {
    let mut cursor = Cursor::new(datagram);
    cursor.array::<HEADER_BYTES>("report header")?;
    let node = NodeId(cursor.u32("node ID")?);
    let why = numbered(&mut cursor, "news of a connection", "0 to 4")?;
    let limited = numbered(&mut cursor, "limit of a connection", "0 to 5")?;
    let state = TcpPhase(cursor.u8("state of a connection")?).by_name();
    let congestion_state = CongestionPhase(cursor.u8("state of congestion control")?).by_name();
    let mut tcp = TcpFigures {
        state,
        congestion_state,
        ..TcpFigures::default()
    };
    read_flags(&mut cursor, &mut tcp)?;
    let has = fields(&mut cursor)?;
    let mut reader = Reader { cursor, has };
    let id = reader.long("number of the connection")?;
    let time_ns = reader.long("time of the state")?;
    let begun_ns = reader.long_if(has::BEGUN, "beginning of the connection")?;
    let cgroup = reader.long_if(has::CGROUP, "cgroup")?;
    let samples = reader.long("samples")?;
    let times = limited_times(&mut reader)?;
    read_longs(&mut reader, &mut tcp)?;
    read_words(&mut reader, &mut tcp)?;
    let cursor = &mut reader.cursor;
    tcp.timeouts_in_a_row = cursor.u8("timeouts in a row")?;
    let [a, b, c] = cursor.array("reserved bytes of a connection")?;
    cursor.check("reserved bytes of a connection", 3, (a | b | c).into(), 0)?;
    let (flow, _) = decode_flow(cursor, 0)?;
    tcp.congestion_control = congestion_control(cursor)?;
    let class = class(cursor)?;
    let option = (has & has::OPTION != 0).then(|| report_option::decode(cursor));
    let option = option.transpose()?;
    cursor.end("connection report", "no more than its fields")?;
    let sample = TcpSample {
        flow,
        time_ns,
        begun_ns,
        cgroup,
        socket: 0,
        monotonic_ns: 0,
        begun_monotonic_ns: None,
        class: 0,
        tcp,
        option,
    };
    Ok(ConnectionReport {
        time_s,
        node,
        connection: TcpReport {
            id,
            why,
            limited,
            class,
            times,
            samples,
            sample,
        },
    })
}

fn read_flags(cursor: &mut Cursor<'_>, tcp: &mut TcpFigures) -> Result<(), DecodeError> {
    let bits = cursor.u16("flags of a connection")?;
    let known = flags(tcp).len();
    cursor.check(
        "unknown flags of a connection",
        2,
        (bits >> known).into(),
        0,
    )?;
    for (bit, flag) in flags(tcp).into_iter().enumerate() {
        *flag = bits >> bit & 1 != 0;
    }
    Ok(())
}

/// Reads which fields have a value.
fn fields(cursor: &mut Cursor<'_>) -> Result<u16, DecodeError> {
    let has = cursor.u16("fields of a connection")?;
    cursor.check(
        "unknown fields of a connection",
        2,
        (has & !has::ALL).into(),
        0,
    )?;
    Ok(has)
}

fn limited_times(reader: &mut Reader<'_>) -> Result<LimitedTimes, DecodeError> {
    let mut times = LimitedTimes::default();
    for limit in Limit::ALL {
        times.add(limit, reader.long("limited time")?);
    }
    Ok(times)
}

/// A value that has a number on the wire.
trait Numbered: Sized {
    fn of(number: u8) -> Option<Self>;
}

impl Numbered for TcpNews {
    fn of(number: u8) -> Option<Self> {
        Self::from_number(number)
    }
}

impl Numbered for Limit {
    fn of(number: u8) -> Option<Self> {
        Self::from_number(number)
    }
}

fn numbered<T: Numbered>(
    cursor: &mut Cursor<'_>,
    what: &'static str,
    expected: &'static str,
) -> Result<T, DecodeError> {
    let found = cursor.u8(what)?;
    T::of(found).ok_or(DecodeError::Kind {
        what,
        found,
        expected,
    })
}

fn read_longs(from: &mut Reader<'_>, tcp: &mut TcpFigures) -> Result<(), DecodeError> {
    tcp.bytes_sent = from.long("bytes sent")?;
    tcp.bytes_acked = from.long("bytes acknowledged")?;
    tcp.bytes_received = from.long("bytes received")?;
    tcp.bytes_retrans = from.long_if(has::BYTES_RETRANS, "bytes retransmitted")?;
    tcp.delivery_rate_bytes_s = from.long_if(has::DELIVERY_RATE, "delivery rate")?;
    tcp.pacing_rate_bytes_s = from.long_if(has::PACING_RATE, "pacing rate")?;
    tcp.max_pacing_rate_bytes_s = from.long_if(has::MAX_PACING_RATE, "greatest pacing rate")?;
    let busy_us = from.long_if(has::HELD_UP, "busy time")?;
    let receiver_us = from.long_if(has::HELD_UP, "receiver-limited time")?;
    let buffer_us = from.long_if(has::HELD_UP, "buffer-limited time")?;
    tcp.held_up = busy_us.map(|busy_us| HeldUp {
        busy_us,
        receiver_us: receiver_us.unwrap_or_default(),
        buffer_us: buffer_us.unwrap_or_default(),
    });
    tcp.rto_us = from.long("retransmission timeout")?;
    Ok(())
}

fn read_words(from: &mut Reader<'_>, tcp: &mut TcpFigures) -> Result<(), DecodeError> {
    tcp.srtt_us = from.word_if(has::SRTT, "smoothed round-trip time")?;
    tcp.rttvar_us = from.word_if(has::SRTT, "variation of the round-trip time")?;
    tcp.min_rtt_us = from.word_if(has::MIN_RTT, "least round-trip time")?;
    tcp.cwnd_segments = from.word("congestion window")?;
    tcp.ssthresh_segments = from.word_if(has::SSTHRESH, "slow-start threshold")?;
    tcp.mss_bytes = from.word("segment size")?;
    tcp.packets_out = from.word("segments on the way")?;
    tcp.sacked_out = from.word("segments acknowledged out of order")?;
    tcp.lost_out = from.word("segments taken for lost")?;
    tcp.retrans_out = from.word("retransmitted segments on the way")?;
    tcp.total_retrans = from.word("retransmitted segments")?;
    tcp.data_segments_out = from.word("data segments sent")?;
    tcp.segments_out = from.word("segments sent")?;
    tcp.delivered = from.word("segments delivered")?;
    tcp.delivered_ce = from.word_if(has::DELIVERED_CE, "segments delivered with a mark")?;
    tcp.dsack_dups = from.word_if(has::DSACK_DUPS, "segments that arrived twice")?;
    tcp.reord_seen = from.word_if(has::REORD_SEEN, "reorderings")?;
    tcp.rto_count = from.word_if(has::RTO_COUNT, "timeouts")?;
    tcp.notsent_bytes = from.word("bytes not sent")?;
    tcp.unread_bytes = from.word("bytes not read")?;
    tcp.host_queue_bytes = from.word("bytes in the host's queues")?;
    tcp.snd_wnd_bytes = from.word("receiver's window")?;
    tcp.send_buffer_bytes = from.word("send buffer")?;
    Ok(())
}

fn congestion_control(cursor: &mut Cursor<'_>) -> Result<CongestionControl, DecodeError> {
    let what = "name of the congestion control";
    let length = cursor.u8(what)?;
    let offset = cursor.offset();
    let bytes = cursor.take(what, length.into())?;
    let name = str::from_utf8(bytes)
        .ok()
        .and_then(CongestionControl::named);
    name.ok_or(DecodeError::Text { what, offset })
}

fn class(cursor: &mut Cursor<'_>) -> Result<Option<String>, DecodeError> {
    let length = cursor.u8("class")?;
    class_name::take(cursor, length)
}

/// The bits of the fields that have a value.
fn present(sample: &TcpSample) -> u16 {
    let tcp = &sample.tcp;
    let fields = [
        (has::BEGUN, sample.begun_ns.is_some()),
        (has::CGROUP, sample.cgroup.is_some()),
        (has::SRTT, tcp.srtt_us.is_some()),
        (has::MIN_RTT, tcp.min_rtt_us.is_some()),
        (has::SSTHRESH, tcp.ssthresh_segments.is_some()),
        (has::DELIVERED_CE, tcp.delivered_ce.is_some()),
        (has::DSACK_DUPS, tcp.dsack_dups.is_some()),
        (has::REORD_SEEN, tcp.reord_seen.is_some()),
        (has::RTO_COUNT, tcp.rto_count.is_some()),
        (has::BYTES_RETRANS, tcp.bytes_retrans.is_some()),
        (has::DELIVERY_RATE, tcp.delivery_rate_bytes_s.is_some()),
        (has::PACING_RATE, tcp.pacing_rate_bytes_s.is_some()),
        (has::MAX_PACING_RATE, tcp.max_pacing_rate_bytes_s.is_some()),
        (has::HELD_UP, tcp.held_up.is_some()),
        (has::OPTION, sample.option.is_some()),
    ];
    let set = fields.into_iter().filter(|(_, is_there)| *is_there);
    set.fold(0, |bits, (bit, _)| bits | bit)
}

/// Appends what follows the fixed header.
pub(super) fn emit(report: &ConnectionReport, out: &mut Vec<u8>) {
    let connection = &report.connection;
    let sample = &connection.sample;
    let mut tcp = sample.tcp;
    out.extend(report.node.0.to_be_bytes());
    out.extend([
        connection.why.number(),
        connection.limited.number(),
        tcp.state.0,
        tcp.congestion_state.0,
    ]);
    let set = flags(&mut tcp).into_iter().enumerate();
    let bits = set.fold(0, |bits, (bit, flag)| bits | u16::from(*flag) << bit);
    out.extend(bits.to_be_bytes());
    out.extend(present(sample).to_be_bytes());
    for long in [
        connection.id,
        sample.time_ns,
        sample.begun_ns.unwrap_or_default(),
        sample.cgroup.unwrap_or_default(),
        connection.samples,
    ] {
        out.extend(long.to_be_bytes());
    }
    for limit in Limit::ALL {
        out.extend(connection.times.of(limit).to_be_bytes());
    }
    emit_longs(&tcp, out);
    emit_words(&tcp, out);
    out.extend([tcp.timeouts_in_a_row, 0, 0, 0]);
    emit_flow(&sample.flow, 0, out);
    report_identity::put(tcp.congestion_control.name(), MOST_CONGESTION_BYTES, out);
    let class = connection.class.as_deref().unwrap_or_default();
    report_identity::put(class, MOST_CLASS_BYTES, out);
    if let Some(option) = &sample.option {
        report_option::emit(option, out);
    }
}

fn emit_longs(tcp: &TcpFigures, out: &mut Vec<u8>) {
    let held_up = tcp.held_up.unwrap_or_default();
    for long in [
        tcp.bytes_sent,
        tcp.bytes_acked,
        tcp.bytes_received,
        tcp.bytes_retrans.unwrap_or_default(),
        tcp.delivery_rate_bytes_s.unwrap_or_default(),
        tcp.pacing_rate_bytes_s.unwrap_or_default(),
        tcp.max_pacing_rate_bytes_s.unwrap_or_default(),
        held_up.busy_us,
        held_up.receiver_us,
        held_up.buffer_us,
        tcp.rto_us,
    ] {
        out.extend(long.to_be_bytes());
    }
}

fn emit_words(tcp: &TcpFigures, out: &mut Vec<u8>) {
    for word in [
        tcp.srtt_us.unwrap_or_default(),
        tcp.srtt_us.and(tcp.rttvar_us).unwrap_or_default(),
        tcp.min_rtt_us.unwrap_or_default(),
        tcp.cwnd_segments,
        tcp.ssthresh_segments.unwrap_or_default(),
        tcp.mss_bytes,
        tcp.packets_out,
        tcp.sacked_out,
        tcp.lost_out,
        tcp.retrans_out,
        tcp.total_retrans,
        tcp.data_segments_out,
        tcp.segments_out,
        tcp.delivered,
        tcp.delivered_ce.unwrap_or_default(),
        tcp.dsack_dups.unwrap_or_default(),
        tcp.reord_seen.unwrap_or_default(),
        tcp.rto_count.unwrap_or_default(),
        tcp.notsent_bytes,
        tcp.unread_bytes,
        tcp.host_queue_bytes,
        tcp.snd_wnd_bytes,
        tcp.send_buffer_bytes,
    ] {
        out.extend(word.to_be_bytes());
    }
}
