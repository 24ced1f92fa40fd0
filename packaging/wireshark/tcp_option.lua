-- TCP option 114, as TCP-INT 0.4 has it: hops on the path fill in a request, and the receiver echoes it.

return function(fields, tools)
    local M = {}
    local o = fields.o
    local put = tools.put

    local LENGTH = 12
    local SPEEDS = { 10, 25, 40, 50, 100, 200, 400 }

    -- What a hop says of itself: its queue, or the free bandwidth of its link.
    local function state(value)
        if value >= 128 then
            return string.format("queue of %d bytes", (value - 128) * 8192)
        end
        return string.format("%d Gbit/s free", 127 - value)
    end

    local function link(code)
        return SPEEDS[code] and string.format(" (%d Gbit/s)", SPEEDS[code]) or " (unknown)"
    end

    local function request(tree, tvb)
        local key, speed = math.floor(tvb(2, 1):uint() / 16), tvb(2, 1):uint() % 16
        local value, hop, units = tvb(3, 1):uint(), tvb(4, 1):uint(), tvb(5, 3):uint()
        put(tree, o.key, tvb(2, 1), key, key == 15 and " (each packet)" or string.format(" (one packet of %d)", 2 ^ key))
        put(tree, o.speed, tvb(2, 1), speed, link(speed))
        put(tree, o.value, tvb(3, 1), value, hop > 0 and string.format(" (%s)", state(value)) or "")
        put(tree, o.ttl, tvb(4, 1))
        put(tree, o.latency, tvb(5, 3), UInt64(units) * 256)
        return hop > 0 and string.format("worst hop has TTL %d: %s", hop, state(value)) or "no hop filled it in"
    end

    -- The latency is little endian. From 0x8000 on its other bits count units of 65,536 ns.
    local function echo(tree, tvb)
        local value, hop, speed = tvb(8, 1):uint(), math.floor(tvb(9, 1):uint() / 16), tvb(9, 1):uint() % 16
        local latency = tvb(10, 2):le_uint()
        local ns = latency < 0x8000 and latency * 256 or (latency - 0x8000) * 65536
        put(tree, o.echo_value, tvb(8, 1), value, hop > 0 and string.format(" (%s)", state(value)) or "")
        put(tree, o.echo_hop, tvb(9, 1), hop)
        put(tree, o.echo_speed, tvb(9, 1), speed, link(speed))
        put(tree, o.echo_latency, tvb(10, 2), UInt64(ns))
        return hop > 0 and string.format("; echo of hop %d: %s", hop, state(value)) or ""
    end

    local function show(tvb, _, tree)
        if tvb:len() < 2 then
            return 0
        end
        local top = tree:add(fields.option, tvb())
        put(top, o.kind, tvb(0, 1))
        local length = put(top, o.length, tvb(1, 1))
        if tvb(1, 1):uint() ~= LENGTH or tvb:len() < LENGTH then
            tools.warn(length, "length", "the option's length is not 12")
            return tvb:len()
        end
        top:set_text("TCP-INT: " .. request(top, tvb) .. echo(top, tvb))
        return tvb:len()
    end

    function M.dissect(tvb, pinfo, tree)
        return tools.guarded(tree, show, tvb, pinfo, tree) or tvb:len()
    end

    return M
end
