-- The reports that Host-INT (NProto 3 and 4) and hostint (5 to 8, 10 to 15) added to Telemetry Report v0.5.

return function(fields, tools, headers, quotes)
    local M = {}
    local h, put, band = fields.h, tools.put, tools.band

    local FLOW_BYTES, GAP_BYTES = 44, 24

    -- Byte 2 of the fixed header, reserved in the standard, describes the clock of hostint's sink.
    function M.show_clock(tree, tvb)
        local range = tvb(2, 1)
        local value = range:uint()
        put(tree, h.clock_told, range, band(value, 0x10) ~= 0)
        if band(value, 0x10) ~= 0 then
            put(tree, h.clock, range, math.floor(value / 64))
            put(tree, h.clock_synchronised, range, band(value, 0x20) ~= 0)
        end
    end

    local function too_short(tvb, top, size, what)
        if tvb:len() >= size then
            return false
        end
        tools.warn(top, "short", string.format("%s has %d bytes, this one %d", what, size, tvb:len()))
        return true
    end

    local function odd_length(tvb, top, size, what)
        if tvb:len() ~= size then
            tools.warn(top, "length", string.format("%s has %d bytes, this one %d", what, size, tvb:len()))
        end
    end

    local function address(tree, range, ipv6, field4, field6)
        if ipv6 then
            put(tree, field6, range)
            return tostring(range:ipv6())
        end
        local item = put(tree, field4, range(12, 4))
        if range(0, 12):bytes():tohex():upper() ~= "00000000000000000000FFFF" then
            tools.warn(item, "header", "an IPv4 address stands in the form ::ffff:a.b.c.d")
        end
        return tostring(range(12, 4):ipv4())
    end

    local function show_vlan(tree, field, range)
        local item = put(tree, field, range, range:uint() % 4096)
        if range:uint() > 4095 then
            tools.warn(item, "reserved", "reserved bits above the VLAN ID are set")
        end
        return range:uint() % 4096
    end

    -- The flow description of the kinds 5 to 7; returns its text and whether the queue is known.
    local function show_flow(tree, tvb, at, queue_may_be_known)
        local flow = tree:add(tvb(at, FLOW_BYTES), "Flow")
        local flags = tvb(at + 1, 1):uint()
        local ipv6, queue = band(flags, 0x80) ~= 0, band(flags, 0x40) ~= 0
        local layout = put(flow, h.layout, tvb(at, 1))
        if tvb(at, 1):uint() ~= 1 then
            tools.warn(layout, "header", "the layout is 1 as yet")
        end
        put(flow, h.flow_ipv6, tvb(at + 1, 1), ipv6)
        if queue_may_be_known then
            put(flow, h.flow_queue, tvb(at + 1, 1), queue)
            put(flow, h.flow_hop_queues, tvb(at + 1, 1), band(flags, 0x20) ~= 0)
            put(flow, h.flow_hop_bytes, tvb(at + 1, 1), band(flags, 0x10) ~= 0)
        end
        tools.reserved(flow, h.flow_flags_reserved, tvb(at + 1, 1), band(flags, queue_may_be_known and 0x0f or 0x7f))
        local protocol = tvb(at + 2, 1):uint()
        put(flow, h.flow_proto, tvb(at + 2, 1))
        tools.reserved(flow, h.flow_flags_reserved, tvb(at + 3, 1), tvb(at + 3, 1):uint())
        local sport, dport = tvb(at + 4, 2):uint(), tvb(at + 6, 2):uint()
        put(flow, h.flow_sport, tvb(at + 4, 2))
        put(flow, h.flow_dport, tvb(at + 6, 2))
        local outer = show_vlan(flow, h.flow_outer_vlan, tvb(at + 8, 2))
        local inner = show_vlan(flow, h.flow_inner_vlan, tvb(at + 10, 2))
        local src = address(flow, tvb(at + 12, 16), ipv6, h.flow_src4, h.flow_src6)
        local dst = address(flow, tvb(at + 28, 16), ipv6, h.flow_dst4, h.flow_dst6)
        local name = quotes.named(protocol, src, dst, ipv6 and "[%s]:%d" or "%s:%d", sport, dport)
        if inner > 0 then
            name = name .. " in VLAN " .. (outer > 0 and outer .. "/" or "") .. inner
        end
        flow:append_text(": " .. name)
        return name, queue
    end

    -- The INT headers that a latency report ends with.
    local function show_stack(tvb, at, top)
        local block = headers.measure(tvb, at, { carrier = "report" })
        if not block then
            tools.warn(top, "short", "INT headers are missing")
            return "Latency report without INT headers"
        end
        headers.show(top, tvb, block, "in a report")
        if block.reported_stop ~= tvb:len() then
            tools.warn(top, "length", string.format("INT ends at byte %d of the report's %d", block.reported_stop, tvb:len()))
        end
        if not block.oldest then
            return "Latency report, cut short: %s"
        end
        local function node(seen)
            return seen and seen.node_id and tostring(seen.node_id:uint()) or "?"
        end
        local from, to = node(block.oldest), node(block.newest)
        return string.format("Latency %s from node %s to %s: %%s, packet %s of its flow",
            block.latency and tools.duration(block.latency) or "unknown", from, to, block.number or "?")
    end

    -- Whether IP header, L4 header and INT are in their places, without or with the node ID word.
    local function quoted_at(tvb, ip)
        if tvb:len() < ip + 20 or tvb(ip, 1):uint() ~= 0x45 then
            return nil
        end
        local l4 = ({ [6] = 20, [17] = 8 })[tvb(ip + 9, 1):uint()]
        local int = l4 and ip + 20 + l4
        return int and tvb:len() >= int + 12 and tvb(int, 1):uint() == 3 and int or nil
    end

    local function latency(tvb, pinfo, top, quoted)
        local ip = quoted_at(tvb, 16) and 16 or quoted_at(tvb, 12) and 12
        if not ip then
            tools.warn(top, "header", "neither with nor without node ID do IPv4 header, TCP or UDP header and INT fit")
            return "Latency report, malformed"
        end
        if ip == 16 then
            put(top, h.sink_node, tvb(12, 4))
        end
        local int = quoted_at(tvb, ip)
        local packet = tvb(ip, int - ip):tvb()
        quoted[1] = { packet, "ipv4" }
        return show_stack(tvb, int, top):format(quotes.flow(packet, "ipv4"))
    end

    local function extended_latency(tvb, _, top)
        if too_short(tvb, top, 64, "an extended latency report") then
            return "Latency report, cut short"
        end
        local name, known = show_flow(top, tvb, 12, true)
        tools.reserved(top, h.flow_flags_reserved, tvb(56, 1), tvb(56, 1):uint())
        local suffix = not known and " (not known)" or nil
        put(top, h.queue_packets, tvb(56, 4), tvb(57, 3):uint(), suffix)
        put(top, h.backlog, tvb(60, 4), nil, suffix)
        return show_stack(tvb, 64, top):format(name)
    end

    -- The common beginning of both drop summaries; returns the text with a place for the flow's name.
    local function show_gap(tvb, top)
        local gap = top:add(tvb(12, GAP_BYTES), "Loss")
        put(gap, h.source_node, tvb(12, 4))
        put(gap, h.sink_node, tvb(16, 4))
        put(gap, h.source_port, tvb(20, 2))
        put(gap, h.sink_port, tvb(22, 2))
        put(gap, h.gap_time, tvb(24, 4))
        put(gap, h.gap_seq, tvb(28, 4))
        local count = tvb(32, 4):uint()
        local item = put(gap, h.lost, tvb(32, 4))
        local sentence = string.format("%s lost after number %d from node %d to %d", tools.count(count, "packet"),
            tvb(28, 4):uint(), tvb(12, 4):uint(), tvb(16, 4):uint())
        tools.warn(item, "lost", sentence)
        return sentence .. ": %s"
    end

    local function drop_summary(tvb, _, top, quoted)
        if too_short(tvb, top, 56, "a drop summary") then
            return "Drop summary, cut short"
        end
        local udp = tvb(45, 1):uint() == 17
        odd_length(tvb, top, udp and 64 or 76, udp and "a drop summary about UDP" or "a drop summary about TCP")
        local packet = tvb(36):tvb()
        local name = quotes.flow(packet, "ipv4")
        -- Only addresses, protocol and ports are valid in it: the packet is for display, not for dissectors.
        local flow = top:add(tvb(36), "Flow: " .. name .. " (headers made up by the sink)")
        put(flow, h.flow_proto, tvb(45, 1))
        put(flow, h.flow_src4, tvb(48, 4))
        put(flow, h.flow_dst4, tvb(52, 4))
        if tvb:len() >= 60 then
            put(flow, h.flow_sport, tvb(56, 2))
            put(flow, h.flow_dport, tvb(58, 2))
        end
        return show_gap(tvb, top):format(name)
    end

    local function extended_drop_summary(tvb, _, top)
        if too_short(tvb, top, 80, "an extended drop summary") then
            return "Drop summary, cut short"
        end
        odd_length(tvb, top, 80, "an extended drop summary")
        local sentence = show_gap(tvb, top)
        return sentence:format((show_flow(top, tvb, 36, false)))
    end

    local TOTALS_BYTES, DISTRIBUTION_BYTES, SQUARES_BYTES = 88, 48, 48

    -- A number in groups of seven bits, lowest first; returns it and the place behind it, or nil if it does not end.
    local function varint(tvb, at)
        local value, shift = 0, 1
        repeat
            if at >= tvb:len() then
                return nil, at
            end
            local byte = tvb(at, 1):uint()
            value, shift, at = value + byte % 128 * shift, shift * 128, at + 1
        until byte < 128
        return value, at
    end

    -- The greatest value of a slot, in ns.
    local function slot_bound(slot)
        local size = math.abs(slot)
        local shift = math.max(math.floor(size / 32) - 1, 0)
        local first = (size - shift * 32) * 2 ^ shift
        return slot < 0 and -first or first + 2 ^ shift - 1
    end

    -- Returns the place behind the last slot, or nil if the slots are cut short.
    local function show_distribution(tree, tvb, at)
        local all = tree:add(tvb(at), "Distribution of latency")
        put(all, h.steps, tvb(at, 1))
        put(all, h.first_slot, tvb(at + 2, 2))
        put(all, h.end_slot, tvb(at + 4, 2))
        put(all, h.pairs, tvb(at + 6, 2))
        put(all, h.samples, tvb(at + 8, 8))
        put(all, h.sum_high, tvb(at + 16, 8))
        put(all, h.sum_low, tvb(at + 24, 8))
        put(all, h.least, tvb(at + 32, 8))
        put(all, h.greatest, tvb(at + 40, 8))
        local slot, place = tvb(at + 2, 2):int(), at + DISTRIBUTION_BYTES
        for _ = 1, tvb(at + 6, 2):uint() do
            local begin, ahead, count = place, nil, nil
            ahead, place = varint(tvb, place)
            count, place = varint(tvb, place)
            if not ahead or not count then
                tools.warn(all, "short", "the slots are cut short")
                return nil
            end
            slot = slot + ahead
            local bound = slot_bound(slot)
            local text = (bound < 0 and "-" or "") .. tools.duration(math.abs(bound))
            all:add(tvb(begin, place - begin), string.format("up to %s: %.0f packets", text, count))
        end
        all:set_len(place - at)
        return place
    end

    -- Totals and distribution, up to the end; returns the text of packets and losses.
    local function show_totals(top, tvb, at)
        if tvb:len() < at + TOTALS_BYTES + DISTRIBUTION_BYTES then
            tools.warn(top, "short", "the totals are cut short")
            return "cut short"
        end
        local totals = top:add(tvb(at, TOTALS_BYTES), "Totals")
        for place, field in ipairs({ h.period, h.first, h.last, h.total_packets, h.total_bytes, h.all_lost, h.recovered, h.reordered, h.duplicates, h.late, h.restarts64 }) do
            put(totals, field, tvb(at + 8 * place - 8, 8))
        end
        local stop = show_distribution(top, tvb, at + TOTALS_BYTES)
        if stop and stop ~= tvb:len() then
            tools.warn(top, "length", "bytes follow the last slot")
        end
        return string.format("%s packets, %s lost", tostring(tvb(at + 24, 8):uint64()), tostring(tvb(at + 40, 8):uint64()))
    end

    local function group_summary(tvb, _, top)
        if too_short(tvb, top, 21, "a group summary") or too_short(tvb, top, 21 + tvb(20, 1):uint() + SQUARES_BYTES, "a group summary with this class") then
            return "Group summary, cut short"
        end
        local length = tvb(20, 1):uint()
        put(top, h.source_node, tvb(12, 4))
        put(top, h.sink_node, tvb(16, 4))
        local name = "no class"
        if length > 0 then
            put(top, h.class, tvb(21, length))
            name = "class " .. tvb(21, length):string()
        end
        local at = 21 + length
        for place, field in ipairs({ h.lost_squares, h.lost_sent_squares, h.sent_squares }) do
            put(top, field, tvb(at + 16 * place - 16, 16))
        end
        return string.format("Summary of %s from node %d to %d: %s", name, tvb(12, 4):uint(), tvb(16, 4):uint(), show_totals(top, tvb, at + SQUARES_BYTES))
    end

    local PATH_HEAD, PATH_HOP, PATH_END, PLACE_HEAD = 24, 8, 6, 18

    -- Shows the ends and hops of a path; returns its nodes, and the name of each of its segments by place.
    local function show_path(top, tvb, hops)
        local path = top:add(tvb(PATH_HEAD, 2 * PATH_END + PATH_HOP * hops), "Path")
        local nodes = { tostring(tvb(PATH_HEAD, 4):uint()) }
        local places = { [0] = "Whole path" }
        put(path, h.source_node, tvb(PATH_HEAD, 4))
        put(path, h.source_port, tvb(PATH_HEAD + 4, 2))
        for hop = 0, hops - 1 do
            local at = PATH_HEAD + PATH_END + PATH_HOP * hop
            local node = tvb(at, 4):uint()
            places[2 * hop + 1] = string.format("Link from node %s to %d", nodes[#nodes], node)
            places[2 * hop + 2] = "Hop " .. node
            nodes[#nodes + 1] = tostring(node)
            path:add(tvb(at, PATH_HOP), string.format("Hop %d, port %d to %d", node, tvb(at + 4, 2):uint(), tvb(at + 6, 2):uint()))
        end
        local last = PATH_HEAD + PATH_END + PATH_HOP * hops
        put(path, h.sink_node, tvb(last, 4))
        put(path, h.sink_port, tvb(last + 4, 2))
        places[2 * hops + 1] = string.format("Link from node %s to %d", nodes[#nodes], tvb(last, 4):uint())
        nodes[#nodes + 1] = tostring(tvb(last, 4):uint())
        local text = table.concat(nodes, " -> ")
        path:append_text(": " .. text)
        return text, places
    end

    local function path_summary(tvb, _, top)
        local hops = tvb:len() > 13 and tvb(13, 1):uint() or 0
        local at = PATH_HEAD + 2 * PATH_END + PATH_HOP * hops
        if too_short(tvb, top, at, "a path summary with these hops") then
            return "Path summary, cut short"
        end
        local layout = put(top, h.path_layout, tvb(12, 1))
        if tvb(12, 1):uint() ~= 1 then
            tools.warn(layout, "header", "the layout is 1 as yet")
        end
        put(top, h.path_hops, tvb(13, 1))
        put(top, h.path_segments, tvb(14, 2))
        put(top, h.period, tvb(16, 8))
        local nodes, places = show_path(top, tvb, hops)
        for _ = 1, tvb(14, 2):uint() do
            if at + PLACE_HEAD + DISTRIBUTION_BYTES > tvb:len() then
                tools.warn(top, "short", "the segments are cut short")
                return "Path summary, cut short"
            end
            local place = tvb(at, 1):uint()
            local one = top:add(tvb(at), places[place] or "No segment of this path")
            put(one, h.path_place, tvb(at, 1))
            put(one, h.first, tvb(at + 2, 8))
            put(one, h.last, tvb(at + 10, 8))
            local begin = at
            at = show_distribution(one, tvb, at + PLACE_HEAD)
            if not at then
                return "Path summary, cut short"
            end
            one:set_len(at - begin)
        end
        odd_length(tvb, top, at, "a path summary with these segments")
        return string.format("Times of path %s: %s", nodes, tools.count(tvb(14, 2):uint(), "segment"))
    end

    local POSITIONS = { [0] = "", " before the tag", " behind the tag", " between source and sink", " before the strip", " behind the strip" }

    -- Returns the text of a length and a name, and the place behind it.
    local function name_at(tvb, at)
        if at >= tvb:len() or at + 1 + tvb(at, 1):uint() > tvb:len() then
            return nil, at
        end
        local length = tvb(at, 1):uint()
        return length > 0 and tvb(at + 1, length):string() or "", at + 1 + length
    end

    -- Shows the names from a place on. Returns them and the place behind them, or nil if they are cut short.
    local function show_names(tvb, top, place, kinds)
        local names = {}
        for _, kind in ipairs(kinds) do
            local name, behind = name_at(tvb, place)
            if not name then
                tools.warn(top, "short", "the names are cut short")
                return nil, place
            end
            top:add(tvb(place, behind - place), kind .. ": " .. name)
            names[#names + 1], place = name, behind
        end
        return names, place
    end

    -- Shows the flow before NAT and the tunnel of a host's report, as far as it has them, and the names behind. Returns the names, the
    -- place behind them, and a text about the tunnel; or nil if they are cut short.
    local function show_rest(tvb, top, place, has_nat, has_tunnel, kinds)
        local TUNNELS = { "vxlan", "geneve", "gtp-u" }
        local tunnel = ""
        if place + (has_nat and FLOW_BYTES or 0) + (has_tunnel and 8 + FLOW_BYTES or 0) > tvb:len() then
            tools.warn(top, "short", "the flows are cut short")
            return nil, place, tunnel
        end
        if has_nat then
            show_flow(top, tvb, place, false)
            place = place + FLOW_BYTES
        end
        if has_tunnel then
            tunnel = string.format(" in %s %d", TUNNELS[tvb(place, 1):uint()] or "an unknown tunnel", tvb(place + 4, 4):uint())
            show_flow(top:add(tvb(place, 8 + FLOW_BYTES), "Tunnel:" .. tunnel), tvb, place + 8, false)
            place = place + 8 + FLOW_BYTES
        end
        local names
        names, place = show_names(tvb, top, place, kinds)
        return names, place, tunnel
    end

    -- The kinds of names in a host's report, with those of pods behind them.
    local function with_pods(has_pods, kinds)
        if has_pods then
            for _, kind in ipairs({ "Pod behind the input interface", "Pod behind the output interface", "Pod" }) do
                kinds[#kinds + 1] = kind
            end
        end
        return kinds
    end

    local function host_drop(tvb, _, top)
        local LEAST = 108 + FLOW_BYTES
        if too_short(tvb, top, LEAST, "a report of a host's drops") then
            return "Drops of a host, cut short"
        end
        local flags = tvb(16, 1):uint()
        put(top, h.first, tvb(32, 8))
        put(top, h.last, tvb(40, 8))
        put(top, h.total_packets, tvb(48, 8))
        put(top, h.total_bytes, tvb(64, 8))
        local flow = show_flow(top, tvb, 108, false)
        local names, place, tunnel = show_rest(tvb, top, LEAST, band(flags, 4) ~= 0, band(flags, 16) ~= 0,
            with_pods(band(flags, 8) ~= 0, { "Reason", "Function", "Input interface", "Output interface" }))
        if not names then
            return "Drops of a host, cut short"
        end
        odd_length(tvb, top, place, "a report of a host's drops with these names")
        return string.format("Drops of node %d%s: %s%s, %s packets, %s at %s", tvb(12, 4):uint(), POSITIONS[tvb(17, 1):uint()] or "",
            flow, tunnel, tostring(tvb(48, 8):uint64()), names[1], names[2])
    end

    local function host_hop(tvb, _, top)
        local LEAST = 72 + FLOW_BYTES
        if too_short(tvb, top, LEAST, "a report of hops through a host") then
            return "Hops through a host, cut short"
        end
        local flags = tvb(16, 1):uint()
        put(top, h.first, tvb(28, 8))
        put(top, h.last, tvb(36, 8))
        put(top, h.total_packets, tvb(44, 8))
        put(top, h.total_bytes, tvb(52, 8))
        local flow = show_flow(top, tvb, 72, false)
        local names, place, tunnel = show_rest(tvb, top, LEAST, band(flags, 2) ~= 0, band(flags, 8) ~= 0,
            with_pods(band(flags, 4) ~= 0, { "Input interface", "Output interface" }))
        if not names then
            return "Hops through a host, cut short"
        end
        odd_length(tvb, top, place, "a report of hops through a host with these names")
        return string.format("Hops through node %d: %s%s, %s packets, last %d ns", tvb(12, 4):uint(), flow, tunnel,
            tostring(tvb(44, 8):uint64()), tvb(60, 4):uint())
    end

    local function queue_episode(tvb, _, top)
        local LEAST, FLOW = 136, 16 + FLOW_BYTES
        if too_short(tvb, top, LEAST, "a report of a queue") then
            return "Queue, cut short"
        end
        local flows = tvb(17, 1):uint()
        if too_short(tvb, top, LEAST + flows * FLOW, "one with as many flows") then
            return "Queue, cut short"
        end
        put(top, h.first, tvb(60, 8))
        put(top, h.last, tvb(68, 8))
        put(top, h.total_packets, tvb(84, 8))
        put(top, h.total_bytes, tvb(92, 8))
        local place = LEAST
        for _ = 1, flows do
            show_flow(top, tvb, place + 16, false)
            place = place + FLOW
        end
        local names
        names, place = show_names(tvb, top, place, { "Interface" })
        if not names then
            return "Queue, cut short"
        end
        odd_length(tvb, top, place, "a report of a queue with these flows")
        local ended = band(tvb(16, 1):uint(), 2) ~= 0 and "ended" or "goes on"
        return string.format("Queue %d of %s at node %d: episode %s %s, %s packets over", tvb(24, 4):uint(), names[1], tvb(12, 4):uint(),
            tostring(tvb(52, 8):uint64()), ended, tostring(tvb(84, 8):uint64()))
    end

    local function clock_evidence(tvb, top)
        put(top, h.clock_node, tvb(16, 4))
        put(top, h.clock_kernel, tvb(28, 8))
        put(top, h.clock_stated_error, tvb(36, 4))
        local clock = tvb(40, 1):uint()
        put(top, h.clock, tvb(40, 1), clock % 128)
        put(top, h.clock_synchronised, tvb(40, 1), band(clock, 0x80) ~= 0)
        put(top, h.clock_readings, tvb(41, 1))
        put(top, h.clock_peers, tvb(42, 1))
        return string.format("Evidence about clocks of node %d: %d readings, %d peers", tvb(16, 4):uint(), tvb(41, 1):uint(), tvb(42, 1):uint())
    end

    -- The pairs of a source's coverage, or of a sink's, each with a class and counts by reason.
    local function coverage(tvb, top)
        local BY_SINK, TAGGED = 2, 0
        local by_sink = tvb:len() > 32 and band(tvb(32, 1):uint(), BY_SINK) ~= 0
        put(top, by_sink and h.sink_node or h.source_node, tvb(16, 4))
        put(top, h.coverage_period, tvb(20, 2))
        put(top, h.coverage_pairs, tvb(22, 2))
        put(top, h.first, tvb(24, 8))
        local at, packets, all_counts = 32, UInt64(0), 0
        for _ = 1, tvb(22, 2):uint() do
            if at + 8 > tvb:len() or at + 8 + tvb(at + 1, 1):uint() + 9 * tvb(at + 2, 1):uint() > tvb:len() then
                tools.warn(top, "short", "the pairs are cut short")
                return "Coverage, cut short"
            end
            local length, counts = tvb(at + 1, 1):uint(), tvb(at + 2, 1):uint()
            local pair = top:add(tvb(at, 8 + length + 9 * counts), "Packets that were not measured")
            tools.reserved(pair, h.coverage_reserved, tvb(at, 1), band(tvb(at, 1):uint(), 0xfc))
            if band(tvb(at, 1):uint(), BY_SINK) ~= 0 then
                put(pair, h.source_node, tvb(at + 4, 4))
            elseif band(tvb(at, 1):uint(), 1) ~= 0 then
                put(pair, h.sink_node, tvb(at + 4, 4))
            end
            if length > 0 then
                put(pair, h.class, tvb(at + 8, length))
            end
            at = at + 8 + length
            for _ = 1, counts do
                put(pair, by_sink and h.unmeasured_reason or h.missed_reason, tvb(at, 1))
                put(pair, h.missed_packets, tvb(at + 1, 8))
                if by_sink or tvb(at, 1):uint() ~= TAGGED then
                    packets = packets + tvb(at + 1, 8):uint64()
                end
                at = at + 9
            end
            all_counts = all_counts + counts
        end
        -- The bytes of all counts, in their order; versions that count none end before them.
        if at + 8 * all_counts <= tvb:len() then
            for _ = 1, all_counts do
                put(top, h.missed_bytes, tvb(at, 8))
                at = at + 8
            end
        end
        return string.format("Coverage of node %d: %s packets not measured", tvb(16, 4):uint(), tostring(packets))
    end

    local LIMITS = { [0] = "application", "receiver", "send buffer", "host queue", "path", "not known" }
    local NEWS = { [0] = "", "", "", ", ended", ", gone" }

    local OPTION_BYTES = 48

    local function show_option(top, tvb, at)
        local option = top:add(tvb(at, OPTION_BYTES), "TCP option 114")
        for place, name in ipairs({ "Requests", "Answered", "Echoes sent", "Without room" }) do
            option:add(tvb(at + 4 * place - 4, 4), name .. ": " .. tvb(at + 4 * place - 4, 4):uint())
        end
        local hop, has = tvb(at + 17, 1):uint(), tvb(at + 18, 1):uint()
        if tvb(at + 16, 1):uint() == 1 then
            option:add(tvb(at + 16, 1), "Off after a timeout")
        end
        if hop > 0 then
            option:add(tvb(at + 17, 1), "Worst hop: " .. hop)
            for place, name in ipairs({ "Speed of its link (Gbit/s)", "Queue (bytes)", "Free bandwidth (Gbit/s)" }) do
                if math.floor(has / 2 ^ (place - 1)) % 2 == 1 then
                    option:add(tvb(at + 16 + 4 * place, 4), name .. ": " .. tvb(at + 16 + 4 * place, 4):uint())
                end
            end
            option:add(tvb(at + 32, 8), "Latency of all hops (ns): " .. tostring(tvb(at + 32, 8):uint64()))
            option:add(tvb(at + 40, 8), "Time since the request (ns): " .. tostring(tvb(at + 40, 8):uint64()))
        end
    end

    local function connection(tvb, _, top)
        local LEAST = 296 + FLOW_BYTES
        if too_short(tvb, top, LEAST, "a report of a TCP connection") then
            return "State of a TCP connection, cut short"
        end
        local flow = show_flow(top, tvb, 296, false)
        local limit = LIMITS[tvb(17, 1):uint()] or "unknown"
        top:add(tvb(16, 1), "News: " .. tvb(16, 1):uint())
        top:add(tvb(17, 1), "Limited by: " .. limit)
        top:add(tvb(24, 8), "Number of the connection: " .. tostring(tvb(24, 8):uint64()))
        top:add(tvb(120, 8), "Bytes acknowledged: " .. tostring(tvb(120, 8):uint64()))
        top:add(tvb(200, 4), "Smoothed round-trip time (us): " .. tvb(200, 4):uint())
        top:add(tvb(240, 4), "Segments retransmitted: " .. tvb(240, 4):uint())
        top:add(tvb(244, 4), "Data segments sent: " .. tvb(244, 4):uint())
        local names, place = show_names(tvb, top, LEAST, { "Congestion control", "Class" })
        if not names then
            return "State of a TCP connection, cut short"
        end
        local has_option = math.floor(tvb(22, 2):uint() / 0x4000) % 2 == 1
        if has_option then
            if too_short(tvb, top, place + OPTION_BYTES, "a report of a TCP connection with option 114") then
                return "State of a TCP connection, cut short"
            end
            show_option(top, tvb, place)
        end
        odd_length(tvb, top, place + (has_option and OPTION_BYTES or 0), "a report of a TCP connection with these fields")
        return string.format("TCP connection of node %d: %s, limit %s, %d of %d segments retransmitted%s", tvb(12, 4):uint(), flow,
            limit, tvb(240, 4):uint(), tvb(244, 4):uint(), NEWS[tvb(16, 1):uint()] or "")
    end

    local function framed(tvb, _, top)
        if too_short(tvb, top, 16, "a framed report") then
            return "Framed report, cut short"
        end
        put(top, h.sub_kind, tvb(12, 1))
        put(top, h.frame_length, tvb(14, 2))
        odd_length(tvb, top, 16 + tvb(14, 2):uint(), "a framed report of this length")
        if tvb(12, 1):uint() == 3 and not too_short(tvb, top, 32, "a report of coverage") then
            return coverage(tvb, top)
        end
        if tvb(12, 1):uint() == 4 and not too_short(tvb, top, 44, "evidence about clocks") then
            return clock_evidence(tvb, top)
        end
        if tvb(12, 1):uint() == 5 and not too_short(tvb, top, 32, "sums of drops") then
            return string.format("Sums of what node %d dropped: %d", tvb(16, 4):uint(), tvb(22, 2):uint())
        end
        if tvb(12, 1):uint() == 6 and not too_short(tvb, top, 40, "counts of packets that came by") then
            return string.format("Packets that came by node %d, at %s, in %s", tvb(16, 4):uint(), tools.count(tvb(38, 2):uint(), "place"),
                tools.count(tvb(36, 1):uint(), "block"))
        end
        if tvb(12, 1):uint() == 7 and not too_short(tvb, top, 32, "pairs of hosts") then
            return string.format("Pairs of hosts whose TCP option 114 node %d fills in: %d", tvb(16, 4):uint(), tvb(28, 2):uint())
        end
        if tvb(12, 1):uint() ~= 2 or too_short(tvb, top, 28 + FLOW_BYTES, "a flow's summary") then
            return string.format("Framed report of sub-kind %d", tvb(12, 1):uint())
        end
        put(top, h.source_node, tvb(16, 4))
        put(top, h.sink_node, tvb(20, 4))
        put(top, h.source_port, tvb(24, 2))
        put(top, h.sink_port, tvb(26, 2))
        local name = show_flow(top, tvb, 28, false)
        return string.format("Flow summary from node %d to %d: %s, %s", tvb(16, 4):uint(), tvb(20, 4):uint(), name, show_totals(top, tvb, 28 + FLOW_BYTES))
    end

    -- v2.0: the DSMdstatus of hostint's domain, and the words that DSMdBits announce.
    M.DOMAIN = 0x4849

    function M.show_status(tree, range)
        local value = math.floor(range:uint() / 256)
        put(tree, h.clock_told, range(0, 1), band(value, 0x10) ~= 0)
        if band(value, 0x10) ~= 0 then
            put(tree, h.clock, range(0, 1), math.floor(value / 64))
            put(tree, h.clock_synchronised, range(0, 1), band(value, 0x20) ~= 0)
        end
    end

    -- Returns their end, and the text of the loss.
    function M.show_words(tree, tvb, at, stop, bits)
        local sentence
        if band(bits, 0x8000) ~= 0 and at + 4 <= stop then
            put(tree, h.made, tvb(at, 4))
            at = at + 4
        end
        if band(bits, 0x4000) ~= 0 and at + 20 <= stop then
            put(tree, h.source_node, tvb(at, 4))
            put(tree, h.source_port, tvb(at + 4, 2))
            put(tree, h.sink_port, tvb(at + 6, 2))
            put(tree, h.gap_time, tvb(at + 8, 4))
            put(tree, h.gap_seq, tvb(at + 12, 4))
            local item = put(tree, h.lost, tvb(at + 16, 4))
            sentence = string.format("%s lost after number %d from node %d", tools.count(tvb(at + 16, 4):uint(), "packet"),
                tvb(at + 12, 4):uint(), tvb(at, 4):uint())
            tools.warn(item, "lost", sentence)
            at = at + 20
        end
        return at, sentence
    end

    M.KINDS = { [3] = drop_summary, [4] = latency, [5] = extended_latency, [6] = extended_drop_summary, [8] = path_summary, [10] = host_drop, [11] = host_hop, [12] = queue_episode, [13] = connection, [14] = group_summary, [15] = framed }
    return M
end
