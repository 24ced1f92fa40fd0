-- Telemetry reports of v0.5, v1.0 and v2.0, as the standard has them.

return function(fields, tools, metadata, quotes, own, probes)
    local M = {}
    local r, node, put, band = fields.r, fields.node.report, tools.put, tools.band

    local function flag(tree, field, range, mask)
        local set = band(range:uint(), mask) ~= 0
        return put(tree, field, range, set), set
    end

    local function dropped(item, set)
        if set then
            tools.warn(item, "dropped", "the quoted packet was dropped")
        end
    end

    local function ports_and_queue(tree, tvb, at)
        put(tree, node.node_id, tvb(at, 4))
        put(tree, node.ingress_port, tvb(at + 4, 2))
        put(tree, node.egress_port, tvb(at + 6, 2))
        put(tree, node.queue_id, tvb(at + 8, 1))
        return tvb(at, 4):uint(), tvb(at + 8, 1):uint()
    end

    local function reason_name(value)
        return string.format("%s (%d)", fields.DROP_REASONS[value] or "reason", value)
    end

    -- v0.5, NProto 0: the packet alone.
    local function plain_v05()
        return 12, "Report about %s"
    end

    local function drop_v05(tvb, tree)
        local header = tree:add(tvb(12, 12), "Drop header")
        local id, queue = ports_and_queue(header, tvb, 12)
        local reason = tvb(21, 1):uint()
        put(header, node.drop_reason, tvb(21, 1))
        tools.reserved(header, node.drop_pad, tvb(22, 2), tvb(22, 2):uint())
        return 24, string.format("Node %d dropped %%s: %s, queue %d", id, reason_name(reason):gsub("%%", "%%%%"), queue)
    end

    local function local_v05(tvb, tree)
        local header = tree:add(tvb(12, 16), "Switch-local header")
        local id, queue = ports_and_queue(header, tvb, 12)
        put(header, node.queue_occupancy, tvb(21, 3))
        put(header, node.egress_ts, tvb(24, 4))
        local through = tools.signed32(tvb(24, 4):uint() - tvb(8, 4):uint())
        return 28, string.format("Node %d forwarded %%s in %s, queue %d at %d", id, tools.duration(through), queue, tvb(21, 3):uint())
    end

    local KINDS = { [0] = { 12, plain_v05 }, { 24, drop_v05 }, { 28, local_v05 } }

    local function dissect_v05(tvb, pinfo, top)
        local kind = tvb(0, 1):uint() % 16
        local header = top:add(tvb(0, 12), "Fixed header")
        put(header, r.version, tvb(0, 1), 0)
        put(header, r.nproto, tvb(0, 1), kind)
        local item, drop = flag(header, r.d, tvb(1, 1), 0x80)
        flag(header, r.q, tvb(1, 1), 0x40)
        flag(header, r.f, tvb(1, 1), 0x20)
        if own.KINDS[kind] then
            tools.reserved(header, r.reserved, tvb(1, 1), tvb(1, 1):uint() % 32)
            own.show_clock(header, tvb)
            tools.reserved(header, r.reserved, tvb(3, 1), math.floor(tvb(3, 1):uint() / 64))
        else
            tools.reserved(header, r.reserved, tvb(1, 3), band(tvb(1, 3):uint(), 0x1fffc0))
        end
        put(header, r.hw_id, tvb(3, 1), tvb(3, 1):uint() % 64)
        put(header, r.sequence, tvb(4, 4))
        if own.KINDS[kind] then
            put(header, r.time_s, tvb(8, 4))
            tools.computed(header, r.time, NSTime.new(tvb(8, 4):uint(), 0))
            return own.KINDS[kind](tvb, pinfo, top, M.quoted)
        end
        put(header, node.ingress_ts, tvb(8, 4))
        dropped(item, drop)
        local size, show = table.unpack(KINDS[kind] or {})
        if not size then
            tools.warn(top, "header", "unknown kind of report: NProto " .. kind)
            return "Telemetry report of unknown kind " .. kind
        elseif tvb:len() < size then
            tools.warn(top, "short", string.format("a report of this kind has at least %d bytes, this one %d", size, tvb:len()))
            return "Telemetry report, cut short"
        end
        local at, sentence = show(tvb, top)
        local quoted = at < tvb:len() and tvb(at):tvb()
        if not quoted then
            return sentence:format("a packet")
        end
        local padding = kind == 2 and quotes.padding(quoted) or 0
        if padding > 0 then
            put(top, r.padding, quoted(quoted:len() - padding))
            quoted = quoted(0, quoted:len() - padding):tvb()
        end
        M.quoted[#M.quoted + 1] = { quoted, "eth" }
        return sentence:format(quotes.flow(quoted, "eth"))
    end

    local V10_INNER = { [0] = "eth", "ipv4", "ipv6" }

    local function dissect_v10(tvb, pinfo, top)
        if tvb:len() < 16 then
            tools.warn(top, "short", "the report header has 16 bytes, this one " .. tvb:len())
            return "Telemetry report v1.0, cut short"
        end
        local words = tvb(0, 1):uint() % 16
        local kind, bits = math.floor(tvb(1, 1):uint() / 32), math.floor(tvb(1, 2):uint() / 128) % 64
        local items = metadata.items(metadata.REPORT10, bits)
        local header = top:add(tvb(0, math.min(math.max(16, 4 * words), tvb:len())), "Report header")
        put(header, r.version, tvb(0, 1), 1)
        local length = put(header, r.length, tvb(0, 1), words)
        put(header, r.nprot, tvb(1, 1), kind)
        put(header, r.rep_md_bits, tvb(1, 2), bits, " (" .. metadata.names(items) .. ")")
        tools.reserved(header, r.reserved, tvb(2, 1), band(tvb(2, 1):uint(), 0x7e) / 2)
        local item, drop = flag(header, r.d, tvb(2, 1), 0x01)
        dropped(item, drop)
        flag(header, r.q, tvb(3, 1), 0x80)
        flag(header, r.f, tvb(3, 1), 0x40)
        put(header, r.hw_id, tvb(3, 1), tvb(3, 1):uint() % 64)
        put(header, node.node_id, tvb(4, 4))
        put(header, r.sequence, tvb(8, 4))
        put(header, node.ingress_ts, tvb(12, 4))
        local need = 4 + metadata.bytes(items) / 4
        if words ~= need then
            tools.warn(length, "length", string.format("length is %d words, the metadata bits need %d", words, need))
        end
        local stop = math.min(math.max(16, 4 * words), tvb:len())
        local _, seen = metadata.show(header, node, tvb, 16, stop, items)
        local inner = V10_INNER[kind]
        local about = "a packet"
        if not inner then
            tools.warn(top, "header", "unknown kind of packet: NProt " .. kind)
        elseif stop < tvb:len() then
            local quoted = tvb(stop):tvb()
            about = quotes.flow(quoted, inner)
            M.quoted[#M.quoted + 1] = { quoted, inner }
        end
        local id = tvb(4, 4):uint()
        if seen.drop_reason then
            return string.format("Node %d dropped %s: %s, queue %d", id, about, reason_name(seen.drop_reason:uint()), seen.drop_queue_id:uint())
        end
        return string.format("Node %d reports %s%s", id, about,
            seen.queue_occupancy and string.format(", queue %d at %d", seen.queue_id:uint(), seen.queue_occupancy:uint()) or "")
    end

    local IN_KINDS = { [3] = "eth", [4] = "ipv4", [5] = "ipv6" }
    local TLV_KINDS = { "eth", "ipv4", "ipv6" }

    local function show_tlvs(tree, tvb, at, stop)
        local about
        while at + 4 <= stop do
            local kind, words = math.floor(tvb(at, 1):uint() / 16), tvb(at + 1, 1):uint()
            local last = math.min(at + 4 + 4 * words, stop)
            local tlv = tree:add(tvb(at, last - at), "TLV")
            put(tlv, r.tlv_type, tvb(at, 1), kind)
            tools.reserved(tlv, r.tlv_reserved, tvb(at, 1), tvb(at, 1):uint() % 16)
            local length = put(tlv, r.tlv_length, tvb(at + 1, 1))
            put(tlv, r.tlv_template, tvb(at + 2, 2))
            if at + 4 + 4 * words > stop then
                tools.warn(length, "length", "the TLV is longer than its report")
            end
            if last > at + 4 then
                if TLV_KINDS[kind] then
                    local quoted = tvb(at + 4, last - at - 4):tvb()
                    about = about or quotes.flow(quoted, TLV_KINDS[kind])
                    M.quoted[#M.quoted + 1] = { quoted, TLV_KINDS[kind] }
                else
                    put(tlv, r.data, tvb(at + 4, last - at - 4))
                end
            end
            at = last
        end
        return about
    end

    local function show_main(tree, tvb, at, stop, md_words)
        if at + 8 > stop then
            tools.warn(tree, "short", "the report's main contents end too early")
            return stop, {}
        end
        local bitmap = tvb(at, 2):uint()
        local items = metadata.items(metadata.REPORT20, bitmap)
        metadata.show_bitmap(tree, fields.bits.report, tvb(at, 2), items)
        put(tree, r.domain_id, tvb(at + 2, 2))
        put(tree, r.ds_md_bits, tvb(at + 4, 2))
        put(tree, r.ds_md_status, tvb(at + 6, 2))
        local ours = tvb(at + 2, 2):uint() == own.DOMAIN
        if ours then
            own.show_status(tree, tvb(at + 6, 2))
        end
        local md_stop = math.min(at + 8 + 4 * md_words, stop)
        local extra = md_words - metadata.bytes(items) / 4
        if extra < 0 or (extra > 0 and tvb(at + 4, 2):uint() == 0) then
            tools.warn(tree, "length", string.format("%d words of metadata, the bits need %d", md_words, metadata.bytes(items) / 4))
        end
        local next_at, seen = metadata.show(tree, node, tvb, at + 8, md_stop, items)
        if ours then
            next_at, seen.lost = own.show_words(tree, tvb, next_at, md_stop, tvb(at + 4, 2):uint())
        end
        metadata.show(tree, node, tvb, next_at, md_stop, metadata.domain_words(math.max(0, (md_stop - next_at) / 4)))
        return md_stop, seen
    end

    local function individual(tvb, at, top, number)
        local rep_type, in_type = math.floor(tvb(at, 1):uint() / 16), tvb(at, 1):uint() % 16
        local words, md_words = tvb(at + 1, 1):uint(), tvb(at + 2, 1):uint()
        local stop = words == 255 and tvb:len() or at + 4 + 4 * words
        local whole = stop <= tvb:len()
        stop = math.min(stop, tvb:len())
        local one = top:add(tvb(at, stop - at), "Individual report " .. number)
        put(one, r.rep_type, tvb(at, 1), rep_type)
        put(one, r.in_type, tvb(at, 1), in_type)
        local length = put(one, r.length, tvb(at + 1, 1), words, words == 255 and " (up to the datagram's end)" or nil)
        if not whole then
            tools.warn(length, "length", "the report is longer than its datagram")
        end
        put(one, r.md_length, tvb(at + 2, 1))
        local item, drop = flag(one, r.d, tvb(at + 3, 1), 0x80)
        dropped(item, drop)
        local _, congested = flag(one, r.q, tvb(at + 3, 1), 0x40)
        flag(one, r.f, tvb(at + 3, 1), 0x20)
        local _, intermediate = flag(one, r.i, tvb(at + 3, 1), 0x10)
        tools.reserved(one, r.reserved, tvb(at + 3, 1), tvb(at + 3, 1):uint() % 16)
        local inner, seen = at + 4, {}
        if rep_type == 1 then
            inner, seen = show_main(one, tvb, at + 4, stop, md_words)
        elseif rep_type > 2 then
            tools.warn(one, "header", "unknown type of report: " .. rep_type)
        end
        local about
        if inner < stop then
            if IN_KINDS[in_type] and rep_type < 2 then
                local quoted = tvb(inner, stop - inner):tvb()
                about = quotes.flow(quoted, IN_KINDS[in_type])
                M.quoted[#M.quoted + 1] = { quoted, IN_KINDS[in_type] }
            elseif in_type == 1 and rep_type < 2 then
                about = show_tlvs(one, tvb, inner, stop)
            else
                put(one, r.data, tvb(inner, stop - inner))
            end
        end
        local words_of = rep_type == 2 and "reports (IOAM) " or drop and "dropped " or intermediate and "passes on (intermediate) " or "reports "
        local sentence = words_of .. (about or "a packet")
        if seen.lost then
            sentence = "saw " .. seen.lost .. ": " .. (about or "a packet")
        elseif seen.drop_reason then
            sentence = sentence .. ": " .. reason_name(seen.drop_reason:uint())
        elseif seen.queue_occupancy then
            sentence = sentence .. string.format(", %squeue %d at %d", congested and "congested " or "", seen.queue_id:uint(), seen.queue_occupancy:uint())
        end
        one:append_text(": " .. sentence)
        return stop, sentence
    end

    local function dissect_v20(tvb, pinfo, top)
        local header = top:add(tvb(0, 8), "Group header")
        put(header, r.version, tvb(0, 1), 2)
        put(header, r.hw_id, tvb(0, 2), math.floor(tvb(0, 2):uint() / 64) % 64)
        put(header, r.sequence, tvb(1, 3), tvb(1, 3):uint() % 0x400000)
        put(header, r.group_node, tvb(4, 4))
        local id = tvb(4, 4):uint()
        local at, number, sentences = 8, 0, {}
        while at + 4 <= tvb:len() do
            number = number + 1
            local sentence
            at, sentence = individual(tvb, at, top, number)
            sentences[number] = sentence
        end
        if at < tvb:len() then
            tools.warn(top, "short", "bytes behind the last report: " .. tvb:len() - at)
        end
        if number == 1 then
            return string.format("Node %d %s", id, sentences[1])
        end
        return string.format("%s of node %d: it %s", tools.count(number, "report"), id, table.concat(sentences, "; it "))
    end

    local VERSIONS = { [0] = { "v0.5", 12, dissect_v05 }, { "v1.0", 16, dissect_v10 }, { "v2.0", 8, dissect_v20 } }

    function M.dissect(tvb, pinfo, tree)
        if tvb:len() < 1 then
            return 0
        end
        local known = VERSIONS[math.floor(tvb(0, 1):uint() / 16)]
        if not known then
            return probes.dissect(tvb, pinfo, tree)
        end
        local name, least, show = table.unpack(known)
        pinfo.cols.protocol = "INT report"
        local top = tree:add(fields.report, tvb(), "Telemetry Report " .. name)
        M.quoted = {}
        local sentence
        if tvb:len() < least then
            tools.warn(top, "short", string.format("a report header has %d bytes, here are %d", least, tvb:len()))
            sentence = "Telemetry report " .. name .. ", cut short"
        else
            sentence = tools.guarded(top, show, tvb, pinfo, top) or "Telemetry report " .. name .. ", malformed"
        end
        top:append_text(": " .. sentence)
        pinfo.cols.info = sentence
        for _, quote in ipairs(M.quoted) do
            quotes.show(quote[1], quote[2], pinfo, tree)
        end
        pinfo.cols.protocol = "INT report"
        pinfo.cols.info = sentence
        return tvb:len()
    end

    return M
end
