// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* This is never loaded. It has an instance of each shared type, so that its BTF gives the user half its definition. */
#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/watch.h"
#include "hostint/wire.h"
#include "hostint/int_option.h"
#include "hostint/ioam.h"
#include "hostint/lease.h"
#include "hostint/lease_table.h"
#include "hostint/astray.h"
#include "hostint/drop.h"
#include "hostint/passage.h"
#include "hostint/namespace.h"
#include "hostint/queue.h"
#include "hostint/task.h"
#include "hostint/tcp.h"
#include "hostint/tunnel.h"
#include "hostint/missed.h"
#include "hostint/source_flow.h"
#include "hostint/sink_flow.h"
#include "hostint/sink_minima.h"
#include "hostint/fine_slots.h"
#include "hostint/sink_path.h"
#include "hostint/unmeasured.h"
#include "hostint/transit.h"
#include "hostint/crossing.h"
#include "hostint/sink_event.h"

char _license[] SEC("license") = "Dual BSD/GPL";

struct flow_key flow_key;
struct host_settings host_settings;
enum share_limit share_limit;
struct sink_settings sink_settings;
struct token_rate token_rate;
struct token_buckets token_buckets;
struct address_pair address_pair;
struct address_key address_key;
struct source_lease source_lease;
struct lease_renewal lease_renewal;
enum lease_table_limit lease_table_limit;
struct sink_grant sink_grant;
struct lease_message lease_message;
struct lease_short_message lease_short_message;
struct lease_probe lease_probe;
struct source_key source_key;
struct source_info source_info;
struct prefix_key prefix_key;
struct watch_key4 watch_key4;
struct watch_key6 watch_key6;
struct watch_place watch_place;
struct watch_node watch_node;
struct watch_edge watch_edge;
struct watch_probe watch_probe;
struct watch_search watch_search;
struct watch_state watch_state;
struct watch_text watch_text;
struct source_flow source_flow;
struct sink_flow sink_flow;
enum sink_flow_shape sink_flow_shape;
enum sink_flow_flag sink_flow_flag;
struct sink_minima sink_minima;
enum sink_minima_shape sink_minima_shape;
struct fine_slots fine_slots;
enum fine_slots_shape fine_slots_shape;
struct sink_path sink_path;
struct path_time_key path_time_key;
struct path_time path_time;
enum sink_path_limit sink_path_limit;
struct unmeasured_key unmeasured_key;
struct unmeasured_counts unmeasured_counts;
struct latency_event latency_event;
struct path_event path_event;
struct loss_event loss_event;
struct gap_event gap_event;
struct counter counter;
struct int_block int_block;
struct gpe_block gpe_block;
enum hostint_limit limit;
enum sink_flag sink_flag;
enum clock_source clock_source;
enum node_origin node_origin;
enum source_hook source_hook;
enum encapsulation encapsulation;
enum superpackets superpackets;
enum event_kind event_kind;
enum event_reason event_reason;
enum sink_counter sink_counter;
enum source_counter source_counter;
enum peer_counter peer_counter;
enum transit_carrier transit_carrier;
enum transit_counter transit_counter;
enum transit_limit transit_limit;
struct transit_info transit_info;
struct transit_gauge transit_gauge;
struct transit_asker transit_asker;
struct transit_postcard transit_postcard;
struct wait_key wait_key;
enum wait_part wait_part;
struct wait_times wait_times;
enum crossing_limit crossing_limit;
enum crossing_place crossing_place;
struct crossing_key crossing_key;
struct crossing crossing;
enum daemon_counter daemon_counter;
enum daemon_shown daemon_shown;
enum int_constant int_constant;
enum int_flag int_flag;
enum gpe_constant gpe_constant;
enum ioam_constant ioam_constant;
enum int_option_constant int_option_constant;
enum int_md_constant int_md_constant;
enum int_md_instruction int_md_instruction;
enum int_mx_constant int_mx_constant;
enum gpe_flag gpe_flag;
enum watch_limit watch_limit;
enum watch_role watch_role;
enum watch_flag watch_flag;
enum watch_test watch_test;
enum lease_state lease_state;
enum lease_constant lease_constant;
enum lease_shape lease_shape;
enum lease_form lease_form;
enum lease_capability lease_capability;
enum lease_flag lease_flag;
enum lease_way lease_way;
struct missed_key missed_key;
struct missed_counts missed_counts;
enum missed_limit missed_limit;
struct astray_count astray_count;
enum astray_limit astray_limit;
enum flow_form flow_form;
enum flow_left flow_left;
struct drop_settings drop_settings;
struct drop_count drop_count;
struct drop_place_key drop_place_key;
struct drop_key drop_key;
struct drop_flow drop_flow;
struct drop_event drop_event;
struct hop_key hop_key;
enum tunnel_kind tunnel_kind;
struct hop_settings hop_settings;
struct hop_passage hop_passage;
struct hop_times hop_times;
struct hop_flow hop_flow;
struct hop_event hop_event;
enum hop_limit hop_limit;
enum hop_setting hop_setting;
enum hop_device hop_device;
enum hop_end hop_end;
enum hop_interface hop_interface;
enum hop_start hop_start;
enum hop_news hop_news;
enum hop_flow_flag hop_flow_flag;
enum hop_event_kind hop_event_kind;
enum hop_counter hop_counter;
struct queue_key queue_key;
struct queue_rule queue_rule;
struct queue_episode queue_episode;
struct queue_state queue_state;
struct queue_event queue_event;
enum queue_limit queue_limit;
enum queue_measure queue_measure;
enum queue_what queue_what;
enum queue_event_kind queue_event_kind;
enum queue_counter queue_counter;
enum drop_limit drop_limit;
enum drop_counter drop_counter;
enum drop_flow_flag drop_flow_flag;
enum drop_event_kind drop_event_kind;
struct namespace_record namespace_record;
struct task_record task_record;
struct tcp_settings tcp_settings;
struct tcp_record tcp_record;
enum tcp_limit tcp_limit;
enum tcp_setting tcp_setting;
enum tcp_record_kind tcp_record_kind;
enum tcp_field tcp_field;
enum tcp_record_flag tcp_record_flag;
enum tcp_counter tcp_counter;
enum tcp_option_off tcp_option_off;
