//! Records about TCP connections, as the programs write them, become samples.

use crate::datapath::abi::{
    bytes_of_all, flow_key, read_from, tcp_field, tcp_option_off, tcp_record, tcp_record_flag,
};
use crate::model::{
    CongestionControl, CongestionPhase, FlowKey, HeldUp, OptionFigures, OptionOff, TcpFigures,
    TcpPhase, TcpSample, WorstHop, WorstSample,
};

/// From here on a slow-start threshold is none.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// What turns the kernel's units into those of samples.
#[derive(Clone, Copy, Debug)]
pub struct RecordUnits {
    pub tick_ns: u64,
    /// The time since the Unix epoch, less that of the monotonic clock.
    pub wall_offset: u64,
}

fn flow_of(record: &tcp_record) -> FlowKey {
    let key = read_from::<flow_key>(bytes_of_all(&record.flow));
    FlowKey::from(&key.unwrap_or_default())
}

fn option_of(record: &tcp_record) -> OptionFigures {
    let state = &record.option;
    let worst = &state.worst;
    let sample = WorstHop::from_echo(worst.value, worst.hop_speed, worst.latency);
    OptionFigures {
        requests: state.requests,
        samples: state.samples,
        echoes: state.echoes,
        no_room: state.no_room,
        off: match tcp_option_off(state.off.into()) {
            tcp_option_off::TCP_OPTION_TIMED_OUT => Some(OptionOff::Timeout),
            _ => None,
        },
        worst: sample.map(|sample| WorstSample {
            sample,
            age_ns: record.now_ns.saturating_sub(state.worst_ns),
            node: None,
        }),
    }
}

impl RecordUnits {
    fn wall(self, monotonic_ns: u64) -> u64 {
        monotonic_ns.wrapping_add(self.wall_offset)
    }

    fn ticks_us(self, ticks: u32) -> u64 {
        u64::from(ticks) * self.tick_ns / 1000
    }

    pub fn sample(self, record: &tcp_record) -> TcpSample {
        let begun = (record.begun_ns != 0).then_some(record.begun_ns);
        let has = |field: tcp_field| record.has & field.0 != 0;
        TcpSample {
            flow: flow_of(record),
            time_ns: self.wall(record.now_ns),
            begun_ns: begun.map(|ns| self.wall(ns)),
            cgroup: has(tcp_field::TCP_HAS_CGROUP).then_some(record.cgroup),
            socket: record.socket,
            monotonic_ns: record.now_ns,
            begun_monotonic_ns: begun,
            class: record.class,
            tcp: self.figures(record),
            option: has(tcp_field::TCP_HAS_OPTION).then(|| option_of(record)),
        }
    }

    fn figures(self, record: &tcp_record) -> TcpFigures {
        use tcp_field as F;
        let has = |field: F| record.has & field.0 != 0;
        let is = |flag: tcp_record_flag| record.flags & flag.0 != 0;
        let known = |value: u32| (value != 0).then_some(value);
        let limited = |rate: u64| (rate != u64::MAX).then_some(rate);
        TcpFigures {
            state: TcpPhase(record.state),
            congestion_state: CongestionPhase(record.ca_state),
            congestion_control: CongestionControl(record.congestion),
            srtt_us: known(record.srtt_us),
            rttvar_us: known(record.srtt_us).map(|_| record.rttvar_us),
            min_rtt_us: (record.min_rtt_us != u32::MAX).then_some(record.min_rtt_us),
            rto_us: self.ticks_us(record.rto_ticks),
            cwnd_segments: record.cwnd,
            ssthresh_segments: (record.ssthresh < INFINITE_SSTHRESH).then_some(record.ssthresh),
            mss_bytes: record.mss,
            packets_out: record.packets_out,
            sacked_out: record.sacked_out,
            lost_out: record.lost_out,
            retrans_out: record.retrans_out,
            total_retrans: record.total_retrans,
            segments_out: record.segments_out,
            data_segments_out: record.data_segments_out,
            delivered: record.delivered,
            delivered_ce: has(F::TCP_HAS_DELIVERED_CE).then_some(record.delivered_ce),
            dsack_dups: has(F::TCP_HAS_DSACK).then_some(record.dsack_dups),
            reord_seen: has(F::TCP_HAS_REORD_SEEN).then_some(record.reord_seen),
            rto_count: has(F::TCP_HAS_RTO_COUNT).then_some(record.rto_count),
            timeouts_in_a_row: record.retransmits,
            bytes_sent: record.bytes_sent,
            bytes_acked: record.bytes_acked,
            bytes_received: record.bytes_received,
            bytes_retrans: has(F::TCP_HAS_BYTES_RETRANS).then_some(record.bytes_retrans),
            delivery_rate_bytes_s: (record.rate_bytes_s != 0).then_some(record.rate_bytes_s),
            pacing_rate_bytes_s: limited(record.pacing_bytes_s),
            max_pacing_rate_bytes_s: limited(record.pacing_most_bytes_s),
            held_up: has(F::TCP_HAS_CHRONO).then(|| HeldUp {
                busy_us: self.ticks_us(record.busy_ticks),
                receiver_us: self.ticks_us(record.receiver_ticks),
                buffer_us: self.ticks_us(record.buffer_ticks),
            }),
            notsent_bytes: record.notsent_bytes,
            unread_bytes: record.unread_bytes,
            host_queue_bytes: record.host_queue_bytes,
            snd_wnd_bytes: record.snd_wnd,
            send_buffer_bytes: record.send_buffer_bytes,
            cwnd_limited: is(tcp_record_flag::TCP_CWND_LIMITED),
            app_limited: is(tcp_record_flag::TCP_APP_LIMITED),
            delivery_rate_app_limited: is(tcp_record_flag::TCP_RATE_APP),
            waits_for_room: is(tcp_record_flag::TCP_NO_ROOM),
            paced: is(tcp_record_flag::TCP_PACED),
            ecn: is(tcp_record_flag::TCP_ECN),
            window_scaled: is(tcp_record_flag::TCP_WINDOW_SCALED),
            sack: is(tcp_record_flag::TCP_SACK),
            timestamps: is(tcp_record_flag::TCP_TIMESTAMPS),
        }
    }
}
