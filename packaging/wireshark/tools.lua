-- Functions that all files share: adding fields, calling other dissectors, one's complement sums.

return function(fields)
    local M = { quoting = 0, depth = 0, calls = 0 }

    -- Lua 5.2 has a library for it, later ones an operator.
    M.band = bit32 and bit32.band or load("return function(a, b) return a & b end")()

    -- Adds a field with a value of its own, so that one field serves all versions wherever their bits stand.
    function M.put(tree, field, range, value, suffix)
        local item = value == nil and tree:add(field, range) or tree:add(field, range, value)
        if suffix then
            item:append_text(suffix)
        end
        return item
    end

    -- A value that is computed from the packet.
    function M.computed(tree, field, value, suffix)
        local item = tree:add(field, value)
        item:set_generated()
        if suffix then
            item:append_text(suffix)
        end
        return item
    end

    function M.warn(item, kind, text)
        item:add_proto_expert_info(fields.e[kind], text)
    end

    -- Bits that the standard reserves are shown only where they are set.
    function M.reserved(tree, field, range, value)
        if value ~= 0 then
            M.warn(M.put(tree, field, range, value), "reserved", "reserved bits are set")
        end
    end

    -- Errors are caught here: no packet raises a Lua error.
    function M.guarded(tree, body, ...)
        local depth, quoting = M.depth, M.quoting
        local good, result = pcall(body, ...)
        M.depth, M.quoting = depth, quoting
        if good then
            return result
        end
        pcall(function()
            local text = tostring(result):gsub("^.-:%d+: ", "")
            local item = tree:add(fields.int):set_text("In-band Network Telemetry, not understood")
            item:add_proto_expert_info(fields.e.failed, "the packet ends or errs where INT was expected: " .. text)
        end)
        return nil
    end

    -- Passes bytes to another dissector. Malformed content is already marked in the tree.
    function M.call(dissector, tvb, pinfo, tree)
        if not dissector or tvb:len() == 0 then
            return 0
        end
        M.calls = M.calls + 1
        local good, used = pcall(dissector.call, dissector, tvb, pinfo, tree)
        return good and used or tvb:len()
    end

    -- Passes a packet on unmodified. If the capture truncated it, the next dissector may run past its end,
    -- and in Wireshark 4.0 that jumps over Lua, which then never releases this call: after 200 of them Lua refuses to
    -- work. Therefore such calls are counted, and `withdraw` removes Lua from the path before that.
    local LOST_CALLS = 20
    local lost, open = 0, false
    function M.pass(dissector, tvb, pinfo, tree)
        if tvb:len() == tvb:reported_len() then
            return M.call(dissector, tvb, pinfo, tree)
        end
        lost = lost + (open and 1 or 0)
        if lost >= LOST_CALLS and M.withdraw then
            M.withdraw()
            M.withdraw, M.withdrawn = nil, true
        end
        open = true
        local used = M.call(dissector, tvb, pinfo, tree)
        open = false
        return used
    end

    -- The bytes from `from` on, for other dissectors. They need the true length, so bytes that were not captured are filled in.
    function M.rest(tvb, from, name)
        local missing = tvb:reported_len() - tvb:len()
        if from >= tvb:len() then
            return nil
        elseif missing == 0 then
            return tvb(from):tvb()
        end
        return M.padded(tvb(from):bytes(), missing, name)
    end

    function M.padded(bytes, missing, name)
        local at = bytes:len()
        bytes:set_size(at + missing)
        for i = at, at + missing - 1 do
            bytes:set_index(i, 0)
        end
        return bytes:tvb(name .. (missing > 0 and " (what was not captured is 0)" or ""))
    end

    function M.try(tables, key, tvb, pinfo, tree)
        if tvb:len() == 0 then
            return 0
        end
        local good, used = pcall(tables.try, tables, key, tvb, pinfo, tree)
        return good and used or tvb:len()
    end

    -- Folded one's complement sum of 16-bit words; an odd byte at the end is the high one.
    function M.sum(bytes, from, to, start)
        local sum = start or 0
        local i = from
        while i + 1 < to do
            sum = sum + M.get16(bytes, i)
            i = i + 2
        end
        if i < to then
            sum = sum + bytes:get_index(i) * 256
        end
        return sum
    end

    function M.fold(sum)
        while sum > 0xffff do
            sum = sum % 0x10000 + math.floor(sum / 0x10000)
        end
        return sum
    end

    function M.get16(bytes, at)
        return bytes:get_index(at) * 256 + bytes:get_index(at + 1)
    end

    function M.set16(bytes, at, value)
        bytes:set_index(at, math.floor(value / 256))
        bytes:set_index(at + 1, value % 256)
    end

    -- A difference of two 32-bit times, signed: both wrap every 4.3 s.
    function M.signed32(value)
        value = value % 0x100000000
        if value >= 0x80000000 then
            value = value - 0x100000000
        end
        return value
    end

    function M.duration(ns)
        local size = math.abs(ns)
        if size < 10000 then
            return string.format("%d ns", ns)
        elseif size < 10000000 then
            return string.format("%.1f us", ns / 1000)
        elseif size < 10000000000 then
            return string.format("%.1f ms", ns / 1000000)
        end
        return string.format("%.3f s", ns / 1000000000)
    end

    function M.count(number, word)
        return string.format("%d %s%s", number, word, number == 1 and "" or "s")
    end

    return M
end
