-- Protocols, fields and expert infos: one definition of each name that a display filter can use.
--
-- Wireshark runs every file of a plugin folder; all but hostint.lua only return a table and have no effect alone.

return function()
    local DEC, HEX = base.DEC, base.HEX

    local M = {
        int = Proto("int", "In-band Network Telemetry"),
        lookup = Proto("int_lookup", "Search for In-band Network Telemetry"),
        afterwards = Proto("int_afterwards", "In-band Network Telemetry in packets that were cut"),
        gpe = Proto("int_gpe", "INT over VXLAN-GPE"),
        gre = Proto("int_gre", "INT over GRE"),
        geneve = Proto("int_geneve", "INT in Geneve options"),
        report = Proto("int_report", "Telemetry Report"),
        lease = Proto("hostint", "hostint"),
        option = Proto("tcp_int", "TCP option 114 (TCP-INT)"),
        probed = Proto("hostint_probe", "hostint's probes at the port of VXLAN-GPE"),
    }

    local TYPES = { [1] = "hop-by-hop (INT-MD)", [2] = "destination", [3] = "INT-MX" }
    local PROTOCOLS = {
        [1] = "ICMP", [4] = "IPv4", [6] = "TCP", [17] = "UDP", [41] = "IPv6", [47] = "GRE", [50] = "ESP", [51] = "AH",
        [58] = "ICMPv6", [132] = "SCTP",
    }
    local GPE_NEXT = {
        [1] = "IPv4", [2] = "IPv6", [3] = "Ethernet", [4] = "NSH", [5] = "INT v0.5, or MPLS", [8] = "INT v1.0",
        [0x80] = "INT v2.0", [0x82] = "INT v2.1",
    }
    local NPT = { [0] = "DSCP or probe marker", [1] = "original UDP destination port follows", [2] = "original IP protocol follows" }
    local REPLICATION = { [0] = "none", [1] = "each port of a LAG", [2] = "each ECMP next hop", [3] = "both" }
    M.DROP_REASONS = {
        [0] = "unknown", [25] = "IP version", [26] = "TTL zero", [29] = "no route", [30] = "IP header length",
        [31] = "IP checksum", [55] = "port or VLAN mapping", [71] = "traffic manager", [80] = "ACL deny", [89] = "no bridge entry",
        [180] = "encapsulation failed", [181] = "decapsulation failed", [182] = "checksum", [183] = "IP options",
        [184] = "source not authorised",
    }
    M.PROTOCOLS = PROTOCOLS
    local NPROTO = {
        [0] = "Ethernet", [1] = "drop header, Ethernet", [2] = "switch-local header, Ethernet", [3] = "Host-INT drop summary",
        [4] = "Host-INT latency", [5] = "hostint extended latency", [6] = "hostint extended drop summary",
        [8] = "hostint path summary", [10] = "hostint drops of a host", [11] = "hostint hops through a host", [12] = "hostint queue of a host", [13] = "hostint TCP connection", [14] = "hostint group summary", [15] = "hostint framed report",
    }
    local NPROT = { [0] = "Ethernet", [1] = "IPv4", [2] = "IPv6" }
    local REP_TYPES = { [0] = "inner only", [1] = "INT", [2] = "IOAM" }
    local IN_TYPES = { [0] = "nothing", [1] = "TLVs", [2] = "domain-specific data", [3] = "Ethernet", [4] = "IPv4", [5] = "IPv6" }
    local TLV_TYPES = { [0] = "domain-specific data", [1] = "Ethernet", [2] = "IPv4", [3] = "IPv6" }
    -- Why a source did not tag packets, or that it did, by the numbers of its counters.
    local MISSED = {
        [0] = "tagged",
        [4] = "fragment", [5] = "may_fragment", [6] = "ip_options", [7] = "vlan", [8] = "too_long", [9] = "superpacket",
        [14] = "group_address", [15] = "table_full", [16] = "no_checksum_state", [17] = "cannot_resize", [18] = "undone",
        [21] = "no_lease", [24] = "not_sampled", [25] = "began_before_lease", [27] = "unproved", [28] = "left", [29] = "guarded", [30] = "signed",
        [31] = "no_option", [32] = "budget",
    }
    local UNMEASURED = { [14] = "untracked", [15] = "bad_segment", [26] = "new_flow_limited", [39] = "damaged" }
    local CLOCKS = { [0] = "unknown", [1] = "TAI clock of the kernel", [2] = "monotonic clock and offset", [3] = "network card" }

    local function bool(name, label, mask)
        if mask then
            return ProtoField.bool(name, label, 16, nil, mask)
        end
        return ProtoField.bool(name, label, base.NONE)
    end
    local function u8(name, label, how, values) return ProtoField.uint8(name, label, how or DEC, values) end
    local function u16(name, label, how, values) return ProtoField.uint16(name, label, how or DEC, values) end
    local function u24(name, label) return ProtoField.uint24(name, label, DEC) end
    local function u32(name, label, how) return ProtoField.uint32(name, label, how or DEC) end
    local function u64(name, label, how) return ProtoField.uint64(name, label, how or DEC) end
    local function time(name, label) return ProtoField.absolute_time(name, label, base.UTC) end

    -- A node's own metadata: the same words in INT headers (int.) and in reports (int_report.).
    local function node_fields(prefix)
        return {
            node_id = u32(prefix .. ".node_id", "Node ID"),
            ingress_port = u16(prefix .. ".ingress_port", "Ingress port"),
            egress_port = u16(prefix .. ".egress_port", "Egress port"),
            hop_latency = u32(prefix .. ".hop_latency", "Hop latency (unit of the device, mostly ns)"),
            queue_id = u8(prefix .. ".queue_id", "Queue ID"),
            queue_occupancy = u24(prefix .. ".queue_occupancy", "Queue occupancy (bytes, cells or packets, as the device counts)"),
            ingress_ts = u64(prefix .. ".ingress_ts", "Ingress timestamp (ns)"),
            egress_ts = u64(prefix .. ".egress_ts", "Egress timestamp (ns)"),
            congestion_queue_id = u8(prefix .. ".congestion_queue_id", "Congested queue ID"),
            queue_congestion = u24(prefix .. ".queue_congestion", "Queue congestion status"),
            l2_ingress_port = u32(prefix .. ".l2_ingress_port", "Level 2 ingress port"),
            l2_egress_port = u32(prefix .. ".l2_egress_port", "Level 2 egress port"),
            tx_utilization = u32(prefix .. ".tx_utilization", "Egress port TX utilization (unit of the device)"),
            buffer_id = u8(prefix .. ".buffer_id", "Buffer ID"),
            buffer_occupancy = u24(prefix .. ".buffer_occupancy", "Buffer occupancy (bytes, cells or packets, as the device counts)"),
            reserved_word = u32(prefix .. ".reserved_word", "Word of a reserved instruction bit", HEX),
            checksum_complement = u32(prefix .. ".checksum_complement", "Checksum complement", HEX),
            ds_word = u32(prefix .. ".ds_word", "Domain-specific word", HEX),
            drop_queue_id = u8(prefix .. ".drop_queue_id", "Queue ID of the drop"),
            drop_reason = u8(prefix .. ".drop_reason", "Drop reason", DEC, M.DROP_REASONS),
            drop_pad = u16(prefix .. ".drop_pad", "Padding", HEX),
        }
    end

    local function bitmap_fields(prefix, label)
        return {
            bitmap = u16(prefix, label, HEX),
            [0x8000] = bool(prefix .. ".node_id", "Node ID", 0x8000),
            [0x4000] = bool(prefix .. ".ports", "Ingress and egress port", 0x4000),
            [0x2000] = bool(prefix .. ".hop_latency", "Hop latency", 0x2000),
            [0x1000] = bool(prefix .. ".queue", "Queue ID and occupancy", 0x1000),
            [0x0800] = bool(prefix .. ".ingress_ts", "Ingress timestamp", 0x0800),
            [0x0400] = bool(prefix .. ".egress_ts", "Egress timestamp", 0x0400),
            [0x0200] = bool(prefix .. ".bit6", "Level 2 ports (v0.5: queue congestion)", 0x0200),
            [0x0100] = bool(prefix .. ".tx_utilization", "Egress port TX utilization", 0x0100),
            [0x0080] = bool(prefix .. ".buffer", "Buffer ID and occupancy", 0x0080),
            [0x007e] = bool(prefix .. ".reserved", "Reserved", 0x007e),
            [0x0001] = bool(prefix .. ".bit15", "Checksum complement (in reports: queue and drop reason)", 0x0001),
        }
    end

    M.node = { int = node_fields("int"), report = node_fields("int_report") }
    M.bits = { int = bitmap_fields("int.bitmap", "Instruction bitmap"), report = bitmap_fields("int_report.md_bits", "Metadata bits") }

    M.f = {
        -- the whole INT part
        version = ProtoField.string("int.version", "Version"),
        carrier = ProtoField.string("int.carrier", "Found"),
        block_length = u16("int.block_length", "Bytes of INT, headers added for it included"),
        hops = u8("int.hops", "Hops in the metadata stack"),
        latency = ProtoField.int64("int.latency_ns", "Latency, newest hop's ingress less oldest hop's (ns)", DEC),
        checksum = ProtoField.string("int.checksum_status", "L4 checksum with INT"),
        original_ip_length = u16("int.original.ip_length", "IP length without INT (bytes; of IPv6 the payload)"),
        original_udp_length = u16("int.original.udp_length", "UDP length without INT (bytes)"),
        original_tcp_payload = u16("int.original.tcp_payload", "TCP payload without INT (bytes)"),
        original_checksum = u16("int.original.checksum", "L4 checksum without INT", HEX),
        -- shim
        type = u8("int.shim.type", "Type", DEC, TYPES),
        shim_reserved = u16("int.shim.reserved", "Reserved", HEX),
        length = u8("int.shim.length", "Length (words of 4 bytes)"),
        npt = u8("int.shim.npt", "Next protocol type", DEC, NPT),
        original_dport = u16("int.shim.original_dport", "Original destination port"),
        original_dscp = u8("int.shim.original_dscp", "Original DSCP", HEX),
        original_proto = u8("int.shim.original_proto", "Original IP protocol", DEC, PROTOCOLS),
        g = bool("int.shim.g", "Outer header was added or changed for INT (G)"),
        gpe_next = u8("int.shim.next_protocol", "Next protocol", HEX, GPE_NEXT),
        gre_next = u16("int.shim.next_ethertype", "Next protocol (EtherType)", HEX),
        marker = u64("int.probe_marker", "Probe marker", HEX),
        option_class = u16("int.geneve.class", "Geneve option class", HEX),
        option_type = u8("int.geneve.type", "Geneve option type", DEC),
        option_length = u8("int.geneve.length", "Geneve option length (words of 4 bytes)"),
        -- metadata header
        ver = u8("int.ver", "Ver"),
        rep = u8("int.rep", "Replication requested", DEC, REPLICATION),
        c = bool("int.c", "Copy (C)"),
        d = bool("int.d", "Sink discards the packet (D)"),
        e = bool("int.e", "Hop limit was exceeded (E)"),
        m = bool("int.m", "Metadata omitted because of the MTU (M)"),
        reserved = u32("int.reserved", "Reserved", HEX),
        ins_cnt = u8("int.ins_cnt", "Instruction count (words of 4 bytes per hop)"),
        max_hop_cnt = u8("int.max_hop_cnt", "Most hops allowed"),
        total_hop_cnt = u8("int.total_hop_cnt", "Hops that added metadata"),
        hop_ml = u8("int.hop_ml", "Per-hop metadata length (words of 4 bytes)"),
        remaining_hop_cnt = u8("int.remaining_hop_cnt", "Hops still allowed"),
        domain_id = u16("int.domain_id", "Domain-specific ID", HEX, { [0] = "default", [0x4849] = "hostint" }),
        ds_instruction = u16("int.ds_instruction", "Domain-specific instruction", HEX),
        ds_flags = u16("int.ds_flags", "Domain-specific flags", HEX),
        -- v0.5 tail
        tail_proto = u8("int.tail.proto", "Original IP protocol", DEC, PROTOCOLS),
        tail_dport = u16("int.tail.dport", "Original destination port"),
        tail_dscp = u8("int.tail.dscp", "Original DSCP, or reserved", HEX),
        tail_reserved = u8("int.tail.reserved", "Reserved", HEX),
    }

    M.h = {
        sequence = u32("hostint.sequence", "Sequence number in the flow"),
        checksum_counts_tail = bool("hostint.flags.tail_in_checksum", "L4 checksum counts the tail as it is"),
        has_dscp = bool("hostint.flags.dscp", "Original DSCP is told"),
        has_budget = bool("hostint.flags.budget", "Max hops is a budget"),
        flags_reserved = u8("hostint.flags.reserved", "Reserved flags", HEX),
        age_code = u8("hostint.flow_age_code", "Flow age code"),
        age_ms = u32("hostint.flow_age_ms", "The numbering began less than so long ago (ms)"),
        tail1 = u16("hostint.tail.word1", "Tail, first word", HEX),
        tail2 = u16("hostint.tail.word2", "Tail, second word", HEX),
        backlog = u32("hostint.backlog_bytes", "Source's root queue (bytes)"),
        queue_packets = u32("hostint.queue_packets", "Source's root queue (packets)"),
        base = u32("hostint.segment_base", "First segment's TCP sequence number or IPv4 ID"),
        size = u16("hostint.segment_size", "Payload of each segment but the last (bytes)"),
        count = u16("hostint.segments", "Segments of the superpacket"),
        -- reports
        source_node = u32("hostint.source_node", "Source's node ID"),
        sink_node = u32("hostint.sink_node", "Sink's node ID"),
        source_port = u16("hostint.source_port", "Source's port (interface index)"),
        sink_port = u16("hostint.sink_port", "Sink's port (interface index)"),
        made = time("hostint.made", "Report made"),
        gap_time = time("hostint.gap_time", "Arrival of the packet before the first gap"),
        gap_seq = u32("hostint.gap_seq", "Last sequence number before the first gap"),
        lost = u32("hostint.lost", "Lost packets"),
        first = u64("hostint.totals.first_ns", "First packet (ns since the Unix epoch)"),
        last = u64("hostint.totals.last_ns", "Last packet (ns since the Unix epoch)"),
        total_packets = u64("hostint.totals.packets", "Packets"),
        total_bytes = u64("hostint.totals.bytes", "Bytes"),
        reordered = u64("hostint.totals.reordered", "Reordered"),
        duplicates = u64("hostint.totals.duplicates", "Duplicates"),
        late = u64("hostint.totals.late", "Too late to be told from duplicates"),
        restarts64 = u64("hostint.totals.all_restarts", "Restarts of the numbering"),
        recovered = u64("hostint.totals.recovered", "Lost packets that arrived later"),
        all_lost = u64("hostint.totals.declared_lost", "Packets declared lost"),
        period = u64("hostint.period_ns", "Period of summaries (ns)"),
        class = ProtoField.string("hostint.class", "Class"),
        lost_squares = ProtoField.bytes("hostint.squares.lost", "Sum over flows: packets that never arrived, squared"),
        lost_sent_squares = ProtoField.bytes("hostint.squares.lost_sent", "Sum over flows: packets that never arrived, times packets sent"),
        sent_squares = ProtoField.bytes("hostint.squares.sent", "Sum over flows: packets sent, squared"),
        sub_kind = u8("hostint.sub_kind", "Sub-kind"),
        frame_length = u16("hostint.frame_length", "Length"),
        steps = u8("hostint.latency.steps", "Slots for each power of two"),
        first_slot = ProtoField.int16("hostint.latency.from", "First slot", base.DEC),
        end_slot = ProtoField.int16("hostint.latency.to", "End of the slots", base.DEC),
        pairs = u16("hostint.latency.slots", "Slots with packets"),
        samples = u64("hostint.latency.samples", "Latencies"),
        sum_high = u64("hostint.latency.sum_high", "Sum (ns), high 64 bits"),
        sum_low = u64("hostint.latency.sum_low", "Sum (ns), low 64 bits"),
        least = ProtoField.int64("hostint.latency.least", "Least (ns)", base.DEC),
        greatest = ProtoField.int64("hostint.latency.greatest", "Greatest (ns)", base.DEC),
        path_layout = u8("hostint.path.layout", "Layout"),
        path_hops = u8("hostint.path.hops", "Transit hops"),
        path_segments = u16("hostint.path.segments", "Segments told"),
        path_place = u8("hostint.path.place", "Place in the path"),
        coverage_period = u16("hostint.coverage.period_s", "Period of coverage (s)"),
        coverage_pairs = u16("hostint.coverage.pairs", "Pairs and classes"),
        coverage_reserved = u8("hostint.coverage.reserved", "Reserved", HEX),
        missed_reason = u8("hostint.coverage.reason", "Reason", DEC, MISSED),
        unmeasured_reason = u8("hostint.coverage.reason_of_sink", "Reason", DEC, UNMEASURED),
        missed_packets = u64("hostint.coverage.packets", "Packets"),
        missed_bytes = u64("hostint.coverage.bytes", "Bytes, in the order of the packets"),
        clock_node = u32("hostint.evidence.node", "Node whose clocks these are"),
        clock_kernel = u64("hostint.evidence.kernel", "Kernel", HEX),
        clock_stated_error = u32("hostint.evidence.stated_error_ns", "Error of the clock, as its time daemon states it (ns)"),
        clock_readings = u8("hostint.evidence.readings", "Readings of clocks"),
        clock_peers = u8("hostint.evidence.peers", "Peers"),
        clock = u8("hostint.clock", "Clock that stamps packets", DEC, CLOCKS),
        clock_synchronised = bool("hostint.clock_synchronised", "Clock is synchronised"),
        clock_told = bool("hostint.clock_told", "Report tells of the clock"),
        layout = u8("hostint.flow.layout", "Layout"),
        flow_ipv6 = bool("hostint.flow.ipv6", "Addresses are IPv6"),
        flow_queue = bool("hostint.flow.queue_known", "Source's queue is known"),
        flow_hop_queues = bool("hostint.flow.hop_queues", "Hops tell their queues"),
        flow_hop_bytes = bool("hostint.flow.hop_queues_in_bytes", "Queues of hops are in bytes"),
        flow_flags_reserved = u8("hostint.flow.reserved", "Reserved", HEX),
        flow_proto = u8("hostint.flow.proto", "IP protocol", DEC, PROTOCOLS),
        flow_sport = u16("hostint.flow.sport", "Source port"),
        flow_dport = u16("hostint.flow.dport", "Destination port"),
        flow_outer_vlan = u16("hostint.flow.outer_vlan", "Outer VLAN ID"),
        flow_inner_vlan = u16("hostint.flow.inner_vlan", "Inner VLAN ID"),
        flow_src4 = ProtoField.ipv4("hostint.flow.src", "Source address"),
        flow_dst4 = ProtoField.ipv4("hostint.flow.dst", "Destination address"),
        flow_src6 = ProtoField.ipv6("hostint.flow.src6", "Source address"),
        flow_dst6 = ProtoField.ipv6("hostint.flow.dst6", "Destination address"),
        -- probes
        probe_magic = u32("hostint.probe.magic", "Magic", HEX),
        probe_version = u8("hostint.probe.version", "Version"),
        probe_kind = u8("hostint.probe.kind", "Kind", DEC, { "question", "answer" }),
        probe_queue = u8("hostint.probe.queue_percent", "Collector's queue (% full)"),
        probe_reserved = u32("hostint.probe.reserved", "Reserved", HEX),
        probe_nonce = u64("hostint.probe.nonce", "Nonce", HEX),
        probe_node = u32("hostint.probe.node", "Sink's node ID"),
        probe_run = u64("hostint.probe.run", "Collector's run", HEX),
        -- leases
        lease_kind = ProtoField.string("hostint.lease", "Lease message"),
        lease_magic = u32("hostint.lease.magic", "Magic", HEX),
        lease_version = u32("hostint.lease.version", "Version"),
        lease_nonce = u64("hostint.lease.nonce", "Nonce", HEX),
        lease_src4 = ProtoField.ipv4("hostint.lease.src", "Source address of the packets to be tagged"),
        lease_src6 = ProtoField.ipv6("hostint.lease.src6", "Source address of the packets to be tagged"),
        lease_asked = u64("hostint.lease.asked_ns", "Source's clock (ns since the Unix epoch)"),
        lease_asked_time = time("hostint.lease.asked", "Source's clock"),
        lease_source_node = u32("hostint.lease.source_node", "Source's node ID"),
        lease_reserved = u32("hostint.lease.reserved", "Reserved", HEX),
        lease_question_tag = u64("hostint.lease.question_tag", "Question tag (SipHash-2-4)", HEX),
        lease_instance = u64("hostint.lease.instance", "Instance", HEX),
        lease_sink_node = u32("hostint.lease.sink_node", "Sink's node ID"),
        lease_mark = u8("hostint.lease.mark", "Mark in the ToS byte", HEX),
        lease_mask = u8("hostint.lease.mask", "Mark's mask in the ToS byte", HEX),
        lease_clock = u8("hostint.lease.clock", "Sink's clock", DEC, CLOCKS),
        lease_clock_synchronised = bool("hostint.lease.clock_synchronised", "Sink's clock is synchronised"),
        lease_port = u16("hostint.lease.extension_port", "Extension port"),
        lease_mtu = u16("hostint.lease.mtu", "MTU (bytes)"),
        lease_tai = ProtoField.int16("hostint.lease.tai_offset_s", "TAI - UTC (s)", DEC),
        lease_software = ProtoField.string("hostint.lease.software", "Software"),
        lease_answered = u64("hostint.lease.answered_ns", "Sink's clock (ns since the Unix epoch)"),
        lease_answered_time = time("hostint.lease.answered", "Sink's clock"),
        lease_source_capabilities = u32("hostint.lease.source_capabilities", "Capabilities of the source", HEX),
        lease_round = u64("hostint.lease.round", "Round of probes", HEX),
        lease_capabilities = u32("hostint.lease.capabilities", "Capabilities of the sink", HEX),
        lease_flags = u32("hostint.lease.flags", "Flags", HEX),
        lease_astray = bool("hostint.lease.astray", "Tagged packets go astray: no lease"),
        lease_untold = bool("hostint.lease.untold", "Counts are withheld"),
        lease_digest = u32("hostint.lease.digest", "Digest", HEX),
        lease_stripped_over = u32("hostint.lease.stripped_over_tcp_udp", "Packets stripped of over-tcp-udp"),
        lease_stripped_extension = u32("hostint.lease.stripped_extension_udp", "Packets stripped of extension-udp"),
        lease_stripped_gpe = u32("hostint.lease.stripped_vxlan_gpe", "Packets stripped of vxlan-gpe"),
        lease_lost = u32("hostint.lease.lost", "Packets lost"),
        lease_arrived = u8("hostint.lease.arrived", "Probes that arrived"),
        lease_tos_changed = u8("hostint.lease.tos_changed", "Bits of the ToS byte that the path changed", HEX),
        -- probes of a lease's path
        probe_path_magic = u32("hostint.path_probe.magic", "Magic", HEX),
        probe_path_version = u8("hostint.path_probe.version", "Version"),
        probe_path_form = u8("hostint.path_probe.form", "Form", DEC, { [0] = "over-tcp-udp", [1] = "extension-udp", [2] = "vxlan-gpe", [3] = "stray TCP segment", [4] = "int-md", [5] = "ioam" }),
        probe_path_number = u8("hostint.path_probe.number", "Number"),
        probe_path_tos = u8("hostint.path_probe.tos", "ToS byte as it was sent", HEX),
        probe_path_round = u64("hostint.path_probe.round", "Round", HEX),
        probe_path_tag = u64("hostint.path_probe.tag", "Tag (SipHash-2-4)", HEX),
        lease_answer_tag = u64("hostint.lease.answer_tag", "Answer tag (SipHash-2-4)", HEX),
    }

    M.r = {
        version = u8("int_report.version", "Ver"),
        nproto = u8("int_report.nproto", "Next protocol (NProto)", DEC, NPROTO),
        nprot = u8("int_report.nprot", "Next protocol (NProt)", DEC, NPROT),
        d = bool("int_report.d", "Packet was dropped (D)"),
        q = bool("int_report.q", "Congested queue (Q)"),
        f = bool("int_report.f", "Tracked flow (F)"),
        i = bool("int_report.i", "Intermediate report of a transit node (I)"),
        reserved = u32("int_report.reserved", "Reserved", HEX),
        hw_id = u8("int_report.hw_id", "Hardware ID"),
        sequence = u32("int_report.sequence", "Report sequence number"),
        time = time("int_report.time", "Time of the report"),
        time_s = u32("int_report.time_s", "Seconds since the Unix epoch"),
        length = u16("int_report.length", "Length (words of 4 bytes)"),
        group_node = u32("int_report.group_node_id", "Reporting node ID"),
        rep_type = u8("int_report.rep_type", "Report type", DEC, REP_TYPES),
        in_type = u8("int_report.in_type", "Inner type", DEC, IN_TYPES),
        md_length = u8("int_report.md_length", "Metadata length (words of 4 bytes)"),
        rep_md_bits = u8("int_report.rep_md_bits", "Metadata bits", HEX),
        domain_id = u16("int_report.domain_id", "Domain-specific ID", HEX, { [0] = "default", [0x4849] = "hostint" }),
        ds_md_bits = u16("int_report.ds_md_bits", "Domain-specific metadata bits", HEX),
        ds_md_status = u16("int_report.ds_md_status", "Domain-specific metadata status", HEX),
        tlv_type = u8("int_report.tlv.type", "Type", DEC, TLV_TYPES),
        tlv_reserved = u8("int_report.tlv.reserved", "Reserved", HEX),
        tlv_length = u8("int_report.tlv.length", "Length (words of 4 bytes)"),
        tlv_template = u16("int_report.tlv.template", "Template", HEX),
        data = ProtoField.bytes("int_report.data", "Data"),
        padding = ProtoField.bytes("int_report.padding", "Padding behind the quoted packet"),
        quoted_ip_length = u16("int_report.quoted.ip_length", "IP length that the packet had (bytes)"),
        quoted_missing = u16("int_report.quoted.missing", "Bytes of the packet that are not quoted"),
    }

    M.o = {
        kind = u8("tcp_int.kind", "Kind"),
        length = u8("tcp_int.length", "Length"),
        key = u8("tcp_int.key", "Which packets hops are to fill in"),
        speed = u8("tcp_int.speed", "Link of the worst hop"),
        value = u8("tcp_int.value", "Worst hop"),
        ttl = u8("tcp_int.ttl", "TTL or hop limit at the worst hop"),
        latency = u64("tcp_int.latency_ns", "Latency of all hops (ns)"),
        echo_value = u8("tcp_int.echo.value", "Echo: worst hop"),
        echo_hop = u8("tcp_int.echo.hop", "Echo: number of the worst hop"),
        echo_speed = u8("tcp_int.echo.speed", "Echo: link of the worst hop"),
        echo_latency = u64("tcp_int.echo.latency_ns", "Echo: latency of all hops (ns)"),
    }

    local function expert_info(name, text, group, severity)
        return ProtoExpert.new(name, text, group, severity)
    end
    local MALFORMED, PROTOCOL = expert.group.MALFORMED, expert.group.PROTOCOL
    M.e = {
        length = expert_info("int.expert.length", "Lengths disagree", MALFORMED, expert.severity.ERROR),
        short = expert_info("int.expert.short", "Ends too early", MALFORMED, expert.severity.ERROR),
        header = expert_info("int.expert.header", "Header is wrong", MALFORMED, expert.severity.WARN),
        reserved = expert_info("int.expert.reserved", "Reserved bits are set", PROTOCOL, expert.severity.NOTE),
        hop_limit = expert_info("int.expert.hop_limit", "A hop had to leave its metadata out: hop limit (E)", PROTOCOL, expert.severity.NOTE),
        mtu = expert_info("int.expert.mtu", "A hop had to leave its metadata out: MTU (M)", PROTOCOL, expert.severity.NOTE),
        checksum = expert_info("int.expert.checksum", "Wrong L4 checksum", expert.group.CHECKSUM, expert.severity.ERROR),
        tag = expert_info("hostint.expert.tag", "Wrong tag of a lease message", expert.group.CHECKSUM, expert.severity.WARN),
        lost = expert_info("int.expert.lost", "Packets were lost", expert.group.SEQUENCE, expert.severity.WARN),
        dropped = expert_info("int.expert.dropped", "A packet was dropped", expert.group.SEQUENCE, expert.severity.WARN),
        forged = expert_info("int.expert.forged", "The sink found a wrong tag: keys differ, or NAT is on the way", expert.group.SECURITY, expert.severity.WARN),
        failed = expert_info("int.expert.failed", "The dissector gave up here", PROTOCOL, expert.severity.WARN),
    }

    local function all(...)
        local list = {}
        for _, set in ipairs({ ... }) do
            for _, field in pairs(set) do
                list[#list + 1] = field
            end
        end
        return list
    end

    M.int.fields = all(M.f, M.node.int, M.bits.int)
    M.int.experts = all(M.e)
    M.report.fields = all(M.r, M.node.report, M.bits.report)
    M.lease.fields = all(M.h)
    M.option.fields = all(M.o)
    return M
end
