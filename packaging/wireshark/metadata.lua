-- The meaning of the bits of an instruction bitmap in each version, and the words that they announce.

return function(fields, tools)
    local M = {}
    local put = tools.put

    local function missing(range)
        return range:bytes():tohex():match("^[Ff]+$") and " (not available)" or nil
    end

    local function one(name)
        return function(tree, node, range, seen)
            put(tree, node[name], range, nil, missing(range))
            seen[name] = seen[name] or (not missing(range) and range) or nil
        end
    end

    local function pair(first, second, width)
        return function(tree, node, range, seen)
            local suffix = missing(range)
            local low = range:len() - width
            put(tree, node[first], range(0, width), range(0, width):uint(), suffix)
            put(tree, node[second], range(width, low), range(width, low):uint(), suffix)
            seen[first], seen[second] = range(0, width), range(width, low)
        end
    end

    local function drop_word(tree, node, range, seen)
        put(tree, node.drop_queue_id, range(0, 1))
        put(tree, node.drop_reason, range(1, 1))
        seen.drop_queue_id, seen.drop_reason = range(0, 1), range(1, 1)
        tools.reserved(tree, node.drop_pad, range(2, 2), range(2, 2):uint())
    end

    -- A bit, its name in sentences, its bytes, and how to show them.
    local function item(mask, name, size, show)
        return { mask = mask, name = name, size = size, show = show }
    end
    local NODE = item(0x8000, "node ID", 4, one("node_id"))
    local PORTS = item(0x4000, "ports", 4, pair("ingress_port", "egress_port", 2))
    local LATENCY = item(0x2000, "hop latency", 4, one("hop_latency"))
    local QUEUE = item(0x1000, "queue", 4, pair("queue_id", "queue_occupancy", 1))
    local INGRESS, EGRESS = "ingress timestamp", "egress timestamp"
    local IN32, OUT32 = item(0x0800, INGRESS, 4, one("ingress_ts")), item(0x0400, EGRESS, 4, one("egress_ts"))
    local IN64, OUT64 = item(0x0800, INGRESS, 8, one("ingress_ts")), item(0x0400, EGRESS, 8, one("egress_ts"))
    local CONGESTION = item(0x0200, "queue congestion", 4, pair("congestion_queue_id", "queue_congestion", 1))
    local LEVEL2 = item(0x0200, "level 2 ports", 8, pair("l2_ingress_port", "l2_egress_port", 4))
    local UTILIZATION = item(0x0100, "TX utilization", 4, one("tx_utilization"))
    local BUFFER = item(0x0080, "buffer", 4, pair("buffer_id", "buffer_occupancy", 1))
    local COMPLEMENT = item(0x0001, "checksum complement", 4, one("checksum_complement"))
    local DROP = item(0x0001, "queue and reason of the drop", 4, drop_word)

    local function with_reserved(list, from, to)
        local mask = from
        while mask >= to do
            list[#list + 1] = item(mask, "reserved", 4, one("reserved_word"))
            mask = mask / 2
        end
        return list
    end

    local function complete(list, last)
        list[#list + 1] = last
        return list
    end

    M.V05 = with_reserved({ NODE, PORTS, LATENCY, QUEUE, IN32, OUT32, CONGESTION, UTILIZATION }, 0x0080, 0x0001)
    M.V10 = complete(with_reserved({ NODE, PORTS, LATENCY, QUEUE, IN32, OUT32, LEVEL2, UTILIZATION }, 0x0080, 0x0002), COMPLEMENT)
    M.V20 = complete(with_reserved({ NODE, PORTS, LATENCY, QUEUE, IN64, OUT64, LEVEL2, UTILIZATION, BUFFER }, 0x0040, 0x0002), COMPLEMENT)
    M.REPORT20 = complete(with_reserved({ PORTS, LATENCY, QUEUE, IN64, OUT64, LEVEL2, UTILIZATION, BUFFER }, 0x0040, 0x0002), DROP)
    -- The six bits of Telemetry Report v1.0.
    M.REPORT10 = {
        item(0x20, PORTS.name, 4, PORTS.show), item(0x10, LATENCY.name, 4, LATENCY.show), item(0x08, QUEUE.name, 4, QUEUE.show),
        item(0x04, EGRESS, 4, OUT32.show), item(0x02, DROP.name, 4, DROP.show), item(0x01, UTILIZATION.name, 4, UTILIZATION.show),
    }

    -- The items of a bitmap, in the order of their bits.
    function M.items(version, bitmap)
        local list = {}
        for _, candidate in ipairs(version) do
            if tools.band(bitmap, candidate.mask) ~= 0 then
                list[#list + 1] = candidate
            end
        end
        return list
    end

    function M.bytes(items)
        local size = 0
        for _, candidate in ipairs(items) do
            size = size + candidate.size
        end
        return size
    end

    function M.names(items)
        local names, last = {}, nil
        for _, candidate in ipairs(items) do
            if candidate.name ~= last then
                names[#names + 1] = candidate.name
            end
            last = candidate.name
        end
        return #names > 0 and table.concat(names, ", ") or "nothing"
    end

    -- The bitmap, with a line for each bit that is set.
    function M.show_bitmap(tree, bits, range, items)
        local value = range:uint()
        local top = tree:add(bits.bitmap, range):append_text(" (" .. M.names(items) .. ")")
        for _, mask in ipairs({ 0x8000, 0x4000, 0x2000, 0x1000, 0x0800, 0x0400, 0x0200, 0x0100, 0x0080, 0x007e, 0x0001 }) do
            if tools.band(value, mask) ~= 0 then
                top:add(bits[mask], range)
            end
        end
        return top
    end

    -- Shows items from `at` to at most `stop`; returns the end and the values.
    function M.show(tree, node, tvb, at, stop, items)
        local seen = {}
        for _, candidate in ipairs(items) do
            local size = candidate.size
            if at + size > stop then
                break
            end
            candidate.show(tree, node, tvb(at, size), seen)
            at = at + size
        end
        return at, seen
    end

    -- Words that only their domain can interpret.
    function M.domain_words(count)
        local list = {}
        for i = 1, count do
            list[i] = item(0, "domain-specific word", 4, one("ds_word"))
        end
        return list
    end

    return M
end
