//! The state of a host's TCP connection, as the schema has it.

use prost::Message;

use crate::model::{
    Limit, LimitedTimes, OptionFigures, OptionOff, TcpFigures, TcpReport, WorstSample,
};

#[derive(Clone, PartialEq, Message)]
pub struct ConnectionMessage {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(string, tag = "2")]
    pub why: String,
    #[prost(string, tag = "3")]
    pub limited: String,
    #[prost(message, optional, tag = "4")]
    pub limited_us: Option<LimitedTimesMessage>,
    #[prost(uint64, tag = "5")]
    pub samples: u64,
    #[prost(fixed64, tag = "6")]
    pub time_ns: u64,
    #[prost(fixed64, optional, tag = "7")]
    pub begun_ns: Option<u64>,
    #[prost(uint64, optional, tag = "8")]
    pub cgroup: Option<u64>,
    #[prost(string, tag = "9")]
    pub state: String,
    #[prost(string, tag = "10")]
    pub congestion_control: String,
    #[prost(uint32, optional, tag = "11")]
    pub srtt_us: Option<u32>,
    #[prost(uint32, optional, tag = "12")]
    pub rttvar_us: Option<u32>,
    #[prost(uint32, optional, tag = "13")]
    pub min_rtt_us: Option<u32>,
    #[prost(uint32, tag = "14")]
    pub cwnd_segments: u32,
    #[prost(uint32, tag = "15")]
    pub mss_bytes: u32,
    #[prost(uint32, tag = "16")]
    pub segments_out: u32,
    #[prost(uint32, tag = "17")]
    pub data_segments_out: u32,
    #[prost(uint32, tag = "18")]
    pub total_retrans: u32,
    #[prost(uint32, optional, tag = "19")]
    pub dsack_dups: Option<u32>,
    #[prost(uint32, optional, tag = "20")]
    pub rto_count: Option<u32>,
    #[prost(uint32, optional, tag = "21")]
    pub delivered_ce: Option<u32>,
    #[prost(uint64, tag = "22")]
    pub bytes_sent: u64,
    #[prost(uint64, tag = "23")]
    pub bytes_acked: u64,
    #[prost(uint64, tag = "24")]
    pub bytes_received: u64,
    #[prost(uint64, optional, tag = "25")]
    pub delivery_rate_bytes_s: Option<u64>,
    #[prost(uint32, tag = "26")]
    pub notsent_bytes: u32,
    #[prost(uint32, tag = "27")]
    pub unread_bytes: u32,
    #[prost(uint32, tag = "28")]
    pub host_queue_bytes: u32,
    #[prost(string, tag = "29")]
    pub congestion_state: String,
    #[prost(uint64, tag = "30")]
    pub rto_us: u64,
    #[prost(uint32, optional, tag = "31")]
    pub ssthresh_segments: Option<u32>,
    #[prost(uint32, tag = "32")]
    pub packets_out: u32,
    #[prost(uint32, tag = "33")]
    pub sacked_out: u32,
    #[prost(uint32, tag = "34")]
    pub lost_out: u32,
    #[prost(uint32, tag = "35")]
    pub retrans_out: u32,
    #[prost(uint32, tag = "36")]
    pub delivered: u32,
    #[prost(uint32, optional, tag = "37")]
    pub reord_seen: Option<u32>,
    #[prost(uint32, tag = "38")]
    pub timeouts_in_a_row: u32,
    #[prost(uint64, optional, tag = "39")]
    pub bytes_retrans: Option<u64>,
    #[prost(uint64, optional, tag = "40")]
    pub pacing_rate_bytes_s: Option<u64>,
    #[prost(uint64, optional, tag = "41")]
    pub max_pacing_rate_bytes_s: Option<u64>,
    #[prost(uint64, optional, tag = "42")]
    pub busy_us: Option<u64>,
    #[prost(uint64, optional, tag = "43")]
    pub receiver_limited_us: Option<u64>,
    #[prost(uint64, optional, tag = "44")]
    pub buffer_limited_us: Option<u64>,
    #[prost(uint32, tag = "45")]
    pub snd_wnd_bytes: u32,
    #[prost(uint32, tag = "46")]
    pub send_buffer_bytes: u32,
    #[prost(bool, tag = "47")]
    pub cwnd_limited: bool,
    #[prost(bool, tag = "48")]
    pub app_limited: bool,
    #[prost(bool, tag = "49")]
    pub delivery_rate_app_limited: bool,
    #[prost(bool, tag = "50")]
    pub waits_for_room: bool,
    #[prost(bool, tag = "51")]
    pub paced: bool,
    #[prost(bool, tag = "52")]
    pub ecn: bool,
    #[prost(bool, tag = "53")]
    pub window_scaled: bool,
    #[prost(bool, tag = "54")]
    pub sack: bool,
    #[prost(bool, tag = "55")]
    pub timestamps: bool,
    #[prost(string, optional, tag = "56")]
    pub class: Option<String>,
    #[prost(message, optional, tag = "57")]
    pub option: Option<OptionMessage>,
}

/// TCP option 114 of a connection.
#[derive(Clone, PartialEq, Message)]
pub struct OptionMessage {
    #[prost(uint32, tag = "1")]
    pub requests: u32,
    #[prost(uint32, tag = "2")]
    pub samples: u32,
    #[prost(uint32, tag = "3")]
    pub echoes: u32,
    #[prost(uint32, tag = "4")]
    pub no_room: u32,
    #[prost(string, optional, tag = "5")]
    pub off: Option<String>,
    #[prost(message, optional, tag = "6")]
    pub worst: Option<WorstHopMessage>,
}

/// What the worst hop reported.
#[derive(Clone, PartialEq, Message)]
pub struct WorstHopMessage {
    #[prost(uint32, tag = "1")]
    pub hop: u32,
    #[prost(uint32, optional, tag = "2")]
    pub link_gbit_s: Option<u32>,
    #[prost(uint32, optional, tag = "3")]
    pub queue_bytes: Option<u32>,
    #[prost(uint32, optional, tag = "4")]
    pub free_gbit_s: Option<u32>,
    #[prost(uint64, tag = "5")]
    pub latency_ns: u64,
    #[prost(uint64, tag = "6")]
    pub age_ns: u64,
    #[prost(uint32, optional, tag = "7")]
    pub node: Option<u32>,
}

impl From<OptionFigures> for OptionMessage {
    fn from(option: OptionFigures) -> Self {
        Self {
            requests: option.requests,
            samples: option.samples,
            echoes: option.echoes,
            no_room: option.no_room,
            off: option.off.map(|off| match off {
                OptionOff::Timeout => "timeout".to_owned(),
            }),
            worst: option.worst.map(WorstHopMessage::from),
        }
    }
}

impl From<WorstSample> for WorstHopMessage {
    fn from(worst: WorstSample) -> Self {
        let hop = worst.sample;
        Self {
            hop: hop.hop.into(),
            link_gbit_s: hop.link_gbit_s,
            queue_bytes: hop.queue_bytes,
            free_gbit_s: hop.free_gbit_s,
            latency_ns: hop.latency_ns,
            age_ns: worst.age_ns,
            node: worst.node.map(|node| node.0),
        }
    }
}

/// Times in microseconds.
#[derive(Clone, PartialEq, Message)]
pub struct LimitedTimesMessage {
    #[prost(uint64, tag = "1")]
    pub application: u64,
    #[prost(uint64, tag = "2")]
    pub receiver: u64,
    #[prost(uint64, tag = "3")]
    pub send_buffer: u64,
    #[prost(uint64, tag = "4")]
    pub host_queue: u64,
    #[prost(uint64, tag = "5")]
    pub path: u64,
    #[prost(uint64, tag = "6")]
    pub unknown: u64,
}

impl From<LimitedTimes> for LimitedTimesMessage {
    fn from(times: LimitedTimes) -> Self {
        Self {
            application: times.of(Limit::Application),
            receiver: times.of(Limit::Receiver),
            send_buffer: times.of(Limit::SendBuffer),
            host_queue: times.of(Limit::HostQueue),
            path: times.of(Limit::Path),
            unknown: times.of(Limit::Unknown),
        }
    }
}

impl ConnectionMessage {
    /// What holds of the connection or does not, and nothing else.
    fn of_flags(tcp: &TcpFigures) -> Self {
        Self {
            cwnd_limited: tcp.cwnd_limited,
            app_limited: tcp.app_limited,
            delivery_rate_app_limited: tcp.delivery_rate_app_limited,
            waits_for_room: tcp.waits_for_room,
            paced: tcp.paced,
            ecn: tcp.ecn,
            window_scaled: tcp.window_scaled,
            sack: tcp.sack,
            timestamps: tcp.timestamps,
            ..Self::default()
        }
    }
}

impl From<TcpReport> for ConnectionMessage {
    fn from(report: TcpReport) -> Self {
        let (sample, tcp) = (&report.sample, &report.sample.tcp);
        Self {
            id: report.id,
            why: report.why.name().to_owned(),
            limited: report.limited.name().to_owned(),
            limited_us: Some(LimitedTimesMessage::from(report.times)),
            samples: report.samples,
            time_ns: sample.time_ns,
            begun_ns: sample.begun_ns,
            cgroup: sample.cgroup,
            state: tcp.state.name().to_owned(),
            congestion_control: tcp.congestion_control.name().to_owned(),
            congestion_state: tcp.congestion_state.name().to_owned(),
            timeouts_in_a_row: tcp.timeouts_in_a_row.into(),
            busy_us: tcp.held_up.map(|times| times.busy_us),
            receiver_limited_us: tcp.held_up.map(|times| times.receiver_us),
            buffer_limited_us: tcp.held_up.map(|times| times.buffer_us),
            srtt_us: tcp.srtt_us,
            rttvar_us: tcp.rttvar_us,
            min_rtt_us: tcp.min_rtt_us,
            cwnd_segments: tcp.cwnd_segments,
            mss_bytes: tcp.mss_bytes,
            segments_out: tcp.segments_out,
            data_segments_out: tcp.data_segments_out,
            total_retrans: tcp.total_retrans,
            dsack_dups: tcp.dsack_dups,
            rto_count: tcp.rto_count,
            delivered_ce: tcp.delivered_ce,
            bytes_sent: tcp.bytes_sent,
            bytes_acked: tcp.bytes_acked,
            bytes_received: tcp.bytes_received,
            delivery_rate_bytes_s: tcp.delivery_rate_bytes_s,
            notsent_bytes: tcp.notsent_bytes,
            unread_bytes: tcp.unread_bytes,
            host_queue_bytes: tcp.host_queue_bytes,
            rto_us: tcp.rto_us,
            ssthresh_segments: tcp.ssthresh_segments,
            packets_out: tcp.packets_out,
            sacked_out: tcp.sacked_out,
            lost_out: tcp.lost_out,
            retrans_out: tcp.retrans_out,
            delivered: tcp.delivered,
            reord_seen: tcp.reord_seen,
            bytes_retrans: tcp.bytes_retrans,
            pacing_rate_bytes_s: tcp.pacing_rate_bytes_s,
            max_pacing_rate_bytes_s: tcp.max_pacing_rate_bytes_s,
            snd_wnd_bytes: tcp.snd_wnd_bytes,
            send_buffer_bytes: tcp.send_buffer_bytes,
            class: report.class,
            option: sample.option.map(OptionMessage::from),
            ..Self::of_flags(tcp)
        }
    }
}
