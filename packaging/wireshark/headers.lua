-- INT shim and metadata headers of v0.5, Host-INT, v1.0 and v2.x: measured first, then shown.

return function(fields, tools, metadata)
    local M = {}
    local f, h, put, band = fields.f, fields.h, tools.put, tools.band

    local HOSTINT_TYPE, HOSTINT_BITMAP = 3, 0xcc00
    -- In reports, whose hops may tell their queues.
    local HOSTINT_BITMAP_WITH_QUEUE = 0xdc00
    local HOSTINT_DOMAIN = 0x4849

    -- The bytes that each carrier adds before the metadata header, and behind the stack of v0.5.
    local SHIM = { l4 = 4, gpe = 4, gre = 4, geneve = 0, report = 4 }
    local TAIL = { l4 = 4, gpe = 0, gre = 0, geneve = 0, report = 0 }

    local function problem(block, text)
        block.problems[#block.problems + 1] = text
    end

    local function measure_v05(block, tvb, at, md)
        block.hostint = block.shim == 4 and tvb(at, 1):uint() == HOSTINT_TYPE and block.carrier ~= "gpe"
        -- Host-INT leaves the shim's second byte 0; hostint has flags there, but not in reports.
        local told = block.hostint and block.carrier == "l4" and tvb(at + 1, 1):uint() ~= 0
        block.name = told and "hostint" or block.hostint and "Host-INT" or "v0.5"
        block.ins_cnt = band(tvb(md + 1, 1):uint(), 0x1f)
        block.hops = tvb(md + 3, 1):uint()
        block.items = metadata.items(metadata.V05, block.bitmap)
        block.stack = md + 8
        block.hop_bytes = 4 * block.ins_cnt
        block.stop = at + 4 * block.length
        block.tail = TAIL[block.carrier]
        block.sequence = block.hostint and 4 or 0
        local words = (8 + block.shim + block.tail + block.sequence + block.hops * block.hop_bytes) / 4
        if block.ins_cnt ~= metadata.bytes(block.items) / 4 then
            problem(block, string.format("instruction count %d, but the bitmap has %d bits", block.ins_cnt, metadata.bytes(block.items) / 4))
        end
        if block.length ~= words then
            problem(block, string.format("length is %d words, it is %d with %s", block.length, words, tools.count(block.hops, "hop")))
        end
        local with_queue = block.carrier == "report" and block.bitmap == HOSTINT_BITMAP_WITH_QUEUE
        if block.hostint and block.bitmap ~= HOSTINT_BITMAP and not with_queue then
            problem(block, "Host-INT's bitmap is 0xcc00")
        elseif not block.hostint and block.hops > tvb(md + 2, 1):uint() then
            problem(block, "more hops than allowed")
        end
    end

    -- v1.0 and v2.x MD: the bytes of each hop; in v2.x also words of the source alone at the stack's end.
    local function measure_stack(block)
        local bytes = block.stop - block.stack
        local baseline = metadata.bytes(block.items)
        if bytes < 0 then
            problem(block, "length has no room for the metadata header")
            bytes = 0
        end
        block.source_only = 0
        if block.domain == HOSTINT_DOMAIN then
            for mask, size in pairs({ [0x8000] = 4, [0x4000] = 4, [0x2000] = 8, [0x1000] = 4 }) do
                block.source_only = block.source_only + (band(block.ds_instruction, mask) ~= 0 and size or 0)
            end
            block.ends_with_tail = band(block.ds_instruction, 0x1000) ~= 0
        end
        if block.hop_bytes < baseline then
            problem(block, string.format("%d words per hop, but the bitmap needs %d", block.hop_bytes / 4, baseline / 4))
        elseif block.hop_bytes > baseline and (block.domain or 0) == 0 then
            problem(block, string.format("%d words per hop, but the bitmap has only %d", block.hop_bytes / 4, baseline / 4))
        end
        if block.hop_bytes == 0 or bytes < block.source_only then
            block.hops, block.source_only = 0, bytes
        else
            block.hops = math.floor((bytes - block.source_only) / block.hop_bytes)
            block.source_only = bytes - block.hops * block.hop_bytes
        end
        if block.source_only > 0 and (block.domain or 0) == 0 then
            problem(block, string.format("stack of %d bytes is no multiple of %d per hop", bytes, block.hop_bytes))
        end
    end

    local function measure_v10(block, tvb, at, md)
        block.name = "v1.0"
        block.hop_bytes = 4 * band(tvb(md + 2, 1):uint(), 0x1f)
        block.items = metadata.items(metadata.V10, block.bitmap)
        block.stack = md + 8
        block.stop = at + 4 * block.length
        measure_stack(block)
    end

    local function measure_v20(block, tvb, at, md)
        block.domain = tvb(md + 6, 2):uint()
        block.ds_instruction = tvb(md + 8, 2):uint()
        block.items = metadata.items(metadata.V20, block.bitmap)
        block.stack = md + 12
        block.stop = at + block.shim + 4 * block.length
        block.mx = block.type == 3
        block.name = block.mx and "v2.1 MX" or block.gpe_code == 0x80 and "v2.0 MD" or "v2.x MD"
        if block.gpe_code == 0x82 and not block.mx or block.option_class == 0x0103 and not block.mx then
            block.name = "v2.1 MD"
        end
        if block.mx then
            block.hops, block.hop_bytes, block.source_only = 0, 0, math.max(block.stop - block.stack, 0)
            if block.stop < block.stack then
                problem(block, "length has no room for the metadata header")
            end
        else
            block.hop_bytes = 4 * band(tvb(md + 2, 1):uint(), 0x1f)
            measure_stack(block)
        end
    end

    -- Measures the INT headers at `at`, or returns the reason why there are none. `about` has the carrier's facts:
    -- carrier, option_length (Geneve, words), option_class, gpe_code.
    function M.measure(tvb, at, about)
        local shim = SHIM[about.carrier]
        local md = at + shim
        if tvb:len() < md + 8 then
            return nil, "too short for INT headers"
        end
        local block = {
            carrier = about.carrier, gpe_code = about.gpe_code, option_class = about.option_class, shim = shim,
            problems = {}, at = at, md = md,
        }
        local first = tvb(at, 1):uint()
        block.version = math.floor(tvb(md, 1):uint() / 16)
        block.bitmap = tvb(md + 4, 2):uint()
        if block.version > 2 then
            return nil, "INT version " .. block.version
        elseif block.version == 2 and tvb:len() < md + 12 then
            return nil, "too short for INT headers"
        end
        if about.carrier == "geneve" then
            block.length, block.type = about.option_length, about.option_type
        else
            block.length = tvb(at + (block.version == 2 and 1 or 2), 1):uint()
            block.type = block.version == 2 and math.floor(first / 16) or first
        end
        local measure = ({ [0] = measure_v05, measure_v10, measure_v20 })[block.version]
        measure(block, tvb, at, md)
        if not block.hostint and (block.type < 1 or block.type > (block.version == 2 and 3 or 2)) then
            problem(block, "type " .. block.type)
        end
        block.stop = math.max(block.stop, block.stack)
        block.reported_stop = block.stop
        if block.stop > tvb:reported_len() then
            problem(block, string.format("INT of %d bytes, %d are left", block.stop - at, tvb:reported_len() - at))
        end
        block.stop = math.min(block.stop, tvb:len())
        return block
    end

    -- Checks bits that a packet without INT would hardly have right: for places where only a mark announces INT.
    function M.strict(tvb, block)
        local at, md = block.at, block.md
        if #block.problems > 0 then
            return false
        elseif block.version == 2 then
            local reserved = block.mx and tvb(md, 4):uint() % 0x8000000 or band(tvb(md, 4):uint(), 0x01ffe000)
            return band(tvb(at, 1):uint(), 0x03) == 0 and reserved == 0 and block.bitmap ~= 0
        elseif block.version == 1 then
            return tvb(at + 1, 1):uint() == 0 and band(tvb(md, 4):uint(), 0x01ffe000) == 0 and tvb(md + 6, 2):uint() == 0
                and block.bitmap ~= 0
        end
        local flags_good = block.hostint and band(tvb(at + 1, 1):uint(), 0x10) == 0 or tvb(at + 1, 1):uint() == 0
        return flags_good and tvb(md, 1):uint() % 16 < 15 and tvb(md + 6, 2):uint() == 0 and block.hops > 0
            and block.bitmap ~= 0
    end

    -- Two of shim header, metadata header and bitmap are Host-INT's: damaged rather than something else.
    function M.damaged(tvb, at)
        if tvb:len() < at + 12 then
            return false
        end
        local score = 0
        for _, good in ipairs({
            tvb(at, 1):uint() == HOSTINT_TYPE and tvb(at + 2, 1):uint() == 9,
            tvb(at + 4, 4):uint() == 0x00040201,
            tvb(at + 8, 2):uint() == HOSTINT_BITMAP,
        }) do
            score = score + (good and 1 or 0)
        end
        return score >= 2
    end

    local function show_shim_hostint(tree, tvb, at)
        local flags = tvb(at + 1, 1)
        local value = flags:uint()
        put(tree, h.checksum_counts_tail, flags, band(value, 0x80) ~= 0)
        put(tree, h.has_dscp, flags, band(value, 0x40) ~= 0)
        put(tree, h.has_budget, flags, band(value, 0x20) ~= 0)
        tools.reserved(tree, h.flags_reserved, flags, band(value, 0x10))
        local code = band(value, 0x0f)
        put(tree, h.age_code, flags, code)
        if code > 0 then
            tools.computed(tree, h.age_ms, math.ceil(2 ^ (code - 1) * 2 ^ 24 / 1e6))
        end
        put(tree, f.length, tvb(at + 2, 1))
        if band(value, 0x40) ~= 0 then
            put(tree, f.original_dscp, tvb(at + 3, 1), math.floor(tvb(at + 3, 1):uint() / 4))
        else
            tools.reserved(tree, f.shim_reserved, tvb(at + 3, 1), tvb(at + 3, 1):uint())
        end
    end

    local function show_shim_old(tree, tvb, block)
        local at = block.at
        tools.reserved(tree, f.shim_reserved, tvb(at + 1, 1), tvb(at + 1, 1):uint())
        put(tree, f.length, tvb(at + 2, 1))
        local last = tvb(at + 3, 1)
        if block.carrier == "gpe" then
            put(tree, f.gpe_next, last)
        elseif block.version == 1 then
            put(tree, f.original_dscp, last, math.floor(last:uint() / 4))
            tools.reserved(tree, f.shim_reserved, last, last:uint() % 4)
        else
            tools.reserved(tree, f.shim_reserved, last, last:uint())
        end
    end

    local function show_shim_v20(tree, tvb, block)
        local at = block.at
        local first, last = tvb(at, 1):uint(), tvb(at + 2, 2)
        if block.carrier == "l4" then
            block.npt = math.floor(first / 4) % 4
            put(tree, f.npt, tvb(at, 1), block.npt)
            tools.reserved(tree, f.shim_reserved, tvb(at, 1), first % 4)
        elseif block.carrier == "gre" then
            put(tree, f.g, tvb(at, 1), band(first, 8) ~= 0)
            tools.reserved(tree, f.shim_reserved, tvb(at, 1), first % 8)
        else
            tools.reserved(tree, f.shim_reserved, tvb(at, 1), first % 16)
        end
        put(tree, f.length, tvb(at + 1, 1))
        if block.carrier == "gre" then
            put(tree, f.gre_next, last)
        elseif block.carrier == "gpe" then
            put(tree, f.g, tvb(at + 2, 1), tvb(at + 2, 1):uint() >= 128)
            tools.reserved(tree, f.shim_reserved, tvb(at + 2, 1), tvb(at + 2, 1):uint() % 128)
            put(tree, f.gpe_next, tvb(at + 3, 1))
        elseif block.npt == 1 then
            put(tree, f.original_dport, last)
        elseif block.npt == 2 then
            tools.reserved(tree, f.shim_reserved, tvb(at + 2, 1), tvb(at + 2, 1):uint())
            put(tree, f.original_proto, tvb(at + 3, 1))
        else
            tools.reserved(tree, f.shim_reserved, tvb(at + 2, 1), tvb(at + 2, 1):uint())
            put(tree, f.original_dscp, tvb(at + 3, 1), math.floor(tvb(at + 3, 1):uint() / 4))
            tools.reserved(tree, f.shim_reserved, tvb(at + 3, 1), tvb(at + 3, 1):uint() % 4)
        end
    end

    local function show_shim(tree, tvb, block)
        if block.shim == 0 then
            return
        end
        local shim = tree:add(tvb(block.at, 4), "Shim header")
        local first = tvb(block.at, 1)
        local item = put(shim, f.type, first, block.type)
        if block.hostint then
            item:set_text("Type: Host-INT (3)")
            show_shim_hostint(shim, tvb, block.at)
        elseif block.version < 2 then
            show_shim_old(shim, tvb, block)
        else
            show_shim_v20(shim, tvb, block)
        end
    end

    local function flag(tree, field, range, mask)
        local set = band(range:uint(), mask) ~= 0
        return put(tree, field, range, set), set
    end

    local function show_header(tree, tvb, block)
        local md = block.md
        local header = tree:add(tvb(md, block.stack - md), "Metadata header, " .. (block.hostint and "v0.5" or block.name))
        local byte = tvb(md, 1)
        put(header, f.ver, byte, block.version)
        local e_mask = block.version == 2 and 4 or 1
        if block.version < 2 then
            put(header, f.rep, byte, math.floor(byte:uint() / 4) % 4)
            flag(header, f.c, byte, 2)
        else
            flag(header, f.d, byte, 8)
        end
        if not block.mx then
            local item, set = flag(header, f.e, byte, e_mask)
            if set then
                tools.warn(item, "hop_limit", "a hop had to leave its metadata out, the hop limit was reached")
            end
        end
        if block.version > 0 and not block.mx then
            local range = block.version == 1 and tvb(md + 1, 1) or byte
            local item, set = flag(header, f.m, range, block.version == 1 and 0x80 or 2)
            if set then
                tools.warn(item, "mtu", "a hop had to leave its metadata out, the packet would have exceeded the MTU")
            end
        end
        if block.version == 0 then
            tools.reserved(header, f.reserved, tvb(md + 1, 1), math.floor(tvb(md + 1, 1):uint() / 32))
            put(header, f.ins_cnt, tvb(md + 1, 1), block.ins_cnt)
            put(header, f.max_hop_cnt, tvb(md + 2, 1))
            put(header, f.total_hop_cnt, tvb(md + 3, 1))
        elseif block.mx then
            tools.reserved(header, f.reserved, tvb(md, 4), tvb(md, 4):uint() % 0x8000000)
        else
            local mask = block.version == 1 and 0x7fe0 or 0x1ffe0
            local range = block.version == 1 and tvb(md + 1, 2) or tvb(md, 3)
            tools.reserved(header, f.reserved, range, band(range:uint(), mask))
            put(header, f.hop_ml, tvb(md + 2, 1), band(tvb(md + 2, 1):uint(), 0x1f))
            put(header, f.remaining_hop_cnt, tvb(md + 3, 1))
        end
        metadata.show_bitmap(header, fields.bits.int, tvb(md + 4, 2), block.items)
        if block.version < 2 then
            tools.reserved(header, f.reserved, tvb(md + 6, 2), tvb(md + 6, 2):uint())
            return
        end
        put(header, f.domain_id, tvb(md + 6, 2))
        put(header, f.ds_instruction, tvb(md + 8, 2))
        put(header, f.ds_flags, tvb(md + 10, 2))
        if block.domain == HOSTINT_DOMAIN then
            local flags = tvb(md + 10, 2):uint()
            put(header, h.age_code, tvb(md + 11, 1), flags % 16)
            tools.reserved(header, f.reserved, tvb(md + 10, 2), flags - flags % 16)
            if flags % 16 > 0 then
                tools.computed(header, h.age_ms, math.ceil(2 ^ (flags % 16 - 1) * 2 ^ 24 / 1e6))
            end
        end
    end

    local function show_hop(tree, tvb, block, number, at)
        local from_end = block.hops - number
        local whose = block.hops == 1 and "Source" or number == 1 and "Newest hop" or from_end == 0 and "Oldest hop" or "Hop"
        local hop = tree:add(tvb(at, math.min(block.hop_bytes, block.stop - at)), whose)
        local items = block.items
        local extra = block.hop_bytes / 4 - metadata.bytes(items) / 4
        if extra > 0 and block.version == 2 then
            -- The domain's words stand before the checksum complement, which is always last.
            local list, last = {}, nil
            for _, item in ipairs(items) do
                if item.mask == 1 then last = item else list[#list + 1] = item end
            end
            for _, item in ipairs(metadata.domain_words(extra)) do
                list[#list + 1] = item
            end
            list[#list + 1] = last
            items = list
        end
        local _, seen = metadata.show(hop, fields.node.int, tvb, at, block.stop, items)
        if seen.node_id then
            hop:append_text(", node " .. seen.node_id:uint())
        end
        if seen.hop_latency then
            hop:append_text(", hop latency " .. tools.duration(seen.hop_latency:uint()))
        end
        return seen
    end

    local function show_source_only(tree, tvb, block, at)
        local stop = math.min(at + block.source_only, block.stop)
        if stop - at < 4 then
            return
        end
        local own = tree:add(tvb(at, stop - at), "Domain-specific words of the source")
        if block.domain ~= HOSTINT_DOMAIN or block.mx then
            metadata.show(own, fields.node.int, tvb, at, stop, metadata.domain_words((stop - at) / 4))
            return
        end
        local function word(mask, size, show)
            if band(block.ds_instruction, mask) ~= 0 and at + size <= stop then
                show()
                at = at + size
            end
        end
        word(0x8000, 4, function()
            put(own, h.sequence, tvb(at, 4))
            block.number = tvb(at, 4):uint()
        end)
        word(0x4000, 4, function() put(own, h.backlog, tvb(at, 4)) end)
        word(0x2000, 8, function()
            put(own, h.base, tvb(at, 4))
            put(own, h.size, tvb(at + 4, 2))
            put(own, h.count, tvb(at + 6, 2))
            block.segments = tvb(at + 6, 2):uint()
        end)
        word(0x1000, 4, function()
            local tail = own:add(tvb(at, 4), "Tail, makes up for the checksum")
            put(tail, h.tail1, tvb(at, 2))
            put(tail, h.tail2, tvb(at + 2, 2))
        end)
    end

    local function show_tail(tree, tvb, block, at)
        if at + 4 > block.stop then
            return
        end
        local tail = tree:add(tvb(at, 4), "Tail")
        if block.hostint and not block.over_udp then
            put(tail, h.tail1, tvb(at, 2))
            put(tail, h.tail2, tvb(at + 2, 2))
            local counted = tvb(block.at + 1, 1):uint() >= 128
            tail:append_text(counted and ", makes up for the checksum" or ", does not count in the checksum")
            return
        end
        block.tail_proto = tvb(at, 1):uint()
        put(tail, f.tail_proto, tvb(at, 1))
        if block.hostint then
            tools.reserved(tail, f.tail_reserved, tvb(at + 1, 3), tvb(at + 1, 3):uint())
        else
            block.tail_dport = tvb(at + 1, 2):uint()
            put(tail, f.tail_dport, tvb(at + 1, 2))
            put(tail, f.tail_dscp, tvb(at + 3, 1))
        end
    end

    -- Newest minus oldest ingress timestamp.
    local function latency(newest, oldest)
        local new, old = newest and newest.ingress_ts, oldest and oldest.ingress_ts
        if not new or not old or new:len() ~= old:len() then
            return nil
        elseif new:len() == 4 then
            return tools.signed32(new:uint() - old:uint())
        end
        return (new:int64() - old:int64()):tonumber()
    end

    local function stack(tree, tvb, block)
        local at, newest, oldest, whole = block.stack, nil, nil, true
        if block.hops > 0 and at < block.stop then
            local top = tree:add(tvb(at, math.min(block.hops * block.hop_bytes, block.stop - at)),
                "Metadata stack, " .. tools.count(block.hops, "hop") .. (block.hops > 1 and ", newest first" or ""))
            for number = 1, block.hops do
                if at + block.hop_bytes > block.stop or block.hop_bytes == 0 then
                    tools.warn(top, "short", "the metadata stack ends too early")
                    whole = false
                    break
                end
                oldest = show_hop(top, tvb, block, number, at)
                newest = newest or oldest
                at = at + block.hop_bytes
            end
        end
        if not whole then
            return
        end
        block.newest, block.oldest = newest, oldest
        if block.hops > 1 then
            block.latency = latency(newest, oldest)
        end
        if (block.source_only or 0) > 0 then
            show_source_only(tree, tvb, block, at)
        end
        if block.hostint and at + 4 <= block.stop then
            put(tree, h.sequence, tvb(at, 4))
            block.number = tvb(at, 4):uint()
            at = at + 4
        end
        if (block.tail or 0) > 0 then
            show_tail(tree, tvb, block, at)
        end
    end

    -- Nodes, sequence number and latency.
    local function sentence(block)
        local parts = {}
        local function node(seen)
            return seen and seen.node_id and tostring(seen.node_id:uint())
        end
        local from, to = node(block.oldest), node(block.newest)
        if block.hops > 1 and from and to then
            parts[1] = "nodes " .. from .. " to " .. to
        elseif from then
            parts[1] = "node " .. from
        end
        if block.number then
            parts[#parts + 1] = "packet " .. block.number .. " of its flow"
        end
        if (block.segments or 0) > 1 then
            parts[#parts + 1] = tools.count(block.segments, "segment")
        end
        if block.latency then
            parts[#parts + 1] = "latency " .. tools.duration(block.latency)
        elseif block.hops > 1 then
            parts[#parts + 1] = tools.count(block.hops, "hop")
        end
        if #block.problems > 0 then
            parts[#parts + 1] = "malformed"
        end
        return table.concat(parts, ", ")
    end

    -- The text for the info column, after the packet's own.
    function M.note(block)
        local words = sentence(block)
        if #words == 0 then
            return " [INT " .. block.name .. "]"
        end
        return (block.number and " [INT: " or " [INT " .. block.name .. ": ") .. words .. "]"
    end

    -- Shows measured headers; returns the tree item, which the carrier may extend.
    function M.show(tree, tvb, block, found)
        local from = block.from or block.at
        local top = tree:add(fields.int, tvb(from, math.max(block.stop - from, 1)), "In-band Network Telemetry")
        if block.marker then
            put(top, f.marker, tvb(block.marker, 8), tvb(block.marker, 8):uint64())
        end
        if block.option_class then
            local at = block.at - 4
            put(top, f.option_class, tvb(at, 2))
            put(top, f.option_type, tvb(at + 2, 1))
            tools.reserved(top, f.shim_reserved, tvb(at + 3, 1), math.floor(tvb(at + 3, 1):uint() / 32))
            put(top, f.option_length, tvb(at + 3, 1), tvb(at + 3, 1):uint() % 32)
        end
        show_shim(top, tvb, block)
        show_header(top, tvb, block)
        stack(top, tvb, block)
        tools.computed(top, f.version, block.name)
        tools.computed(top, f.carrier, found)
        tools.computed(top, f.hops, block.hops)
        if block.latency then
            tools.computed(top, f.latency, Int64.new(block.latency), " (" .. tools.duration(block.latency) .. ")")
        end
        for _, text in ipairs(block.problems) do
            tools.warn(top, "length", "INT is malformed: " .. text)
        end
        local words = sentence(block)
        top:set_text("In-band Network Telemetry, " .. block.name .. " " .. found .. (#words > 0 and ": " .. words or ""))
        return top
    end

    return M
end
