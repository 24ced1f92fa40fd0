-- Packets quoted in reports: passed to the normal dissectors, although their ends may be missing.

return function(fields, tools, options)
    local M = {}
    local r = fields.r

    local by_kind = {
        eth = Dissector.get("eth_withoutfcs"), ipv4 = Dissector.get("ip"), ipv6 = Dissector.get("ipv6"),
    }
    local VLAN = { [0x8100] = true, [0x88a8] = true }
    local KIND = { [0x0800] = "ipv4", [0x86dd] = "ipv6" }

    -- Where the IP header begins in a quote of this kind, and which one it is.
    local function ip_at(tvb, kind)
        if kind ~= "eth" then
            return 0, kind
        end
        local at = 12
        while tvb:len() >= at + 2 do
            local found = tvb(at, 2):uint()
            if not VLAN[found] then
                return at + 2, KIND[found]
            end
            at = at + 4
        end
        return nil
    end

    local function ip_length(tvb, at, kind)
        if kind == "ipv4" and tvb:len() >= at + 20 then
            return tvb(at + 2, 2):uint()
        elseif kind == "ipv6" and tvb:len() >= at + 40 then
            return tvb(at + 4, 2):uint() + 40
        end
        return nil
    end

    local function port(tvb, at)
        return tvb:len() >= at + 4 and tvb(at, 2):uint(), tvb:len() >= at + 4 and tvb(at + 2, 2):uint()
    end

    -- "udp 192.0.2.1:40000 > 198.51.100.2:5001", as far as it is readable.
    function M.flow(tvb, kind)
        local at, ip = ip_at(tvb, kind)
        if not at or not ip or not ip_length(tvb, at, ip) then
            return "a packet"
        end
        local protocol, src, dst, l4, form
        if ip == "ipv4" then
            protocol, src, dst = tvb(at + 9, 1):uint(), tvb(at + 12, 4):ipv4(), tvb(at + 16, 4):ipv4()
            l4, form = at + tvb(at, 1):uint() % 16 * 4, "%s:%d"
        else
            protocol, src, dst = tvb(at + 6, 1):uint(), tvb(at + 8, 16):ipv6(), tvb(at + 24, 16):ipv6()
            l4, form = at + 40, "[%s]:%d"
        end
        return M.named(protocol, tostring(src), tostring(dst), form, port(tvb, l4))
    end

    function M.named(protocol, src, dst, form, sport, dport)
        local name = (fields.PROTOCOLS[protocol] or "protocol " .. protocol):lower()
        if (protocol == 6 or protocol == 17) and sport then
            src, dst = form:format(src, sport), form:format(dst, dport)
        end
        return name .. " " .. src .. " > " .. dst
    end

    -- The quote with the IP length of the quoted part, so that the dissectors do not consider it malformed.
    local function cut(tvb, at, kind, length)
        local bytes = tvb:range(0, tvb:len()):bytes()
        local there = bytes:len() - at
        if kind == "ipv4" then
            local checksum = tools.get16(bytes, at + 10) + length + 0xffff - there
            tools.set16(bytes, at + 10, tools.fold(checksum))
            tools.set16(bytes, at + 2, there)
        else
            tools.set16(bytes, at + 4, there - 40)
        end
        return bytes:tvb("Quoted packet, IP length cut")
    end

    -- int-host-reporter leaves up to 7 bytes of its ring buffer behind its sample.
    function M.padding(tvb)
        local at, kind = ip_at(tvb, "eth")
        local length = at and kind and ip_length(tvb, at, kind)
        if not length then
            return 0
        end
        local sample = math.min(at + length, 128)
        local padding = tvb:len() - sample
        return padding > 0 and padding < 8 and padding == (-(44 + sample)) % 8 and padding or 0
    end

    local STATE = { "src", "dst", "net_src", "net_dst", "dl_src", "dl_dst", "src_port", "dst_port" }

    -- Dissects a quote; addresses, ports and columns stay those of the report.
    function M.show(tvb, kind, pinfo, tree)
        if tvb:len() == 0 then
            return
        end
        local saved = {}
        for _, name in ipairs(STATE) do
            saved[name] = pinfo[name]
        end
        local at, ip = ip_at(tvb, kind)
        local length = at and ip and ip_length(tvb, at, ip)
        local top = tree:add(tvb(), "Quoted packet: " .. M.flow(tvb, kind))
        local whole = tvb
        if length and length > tvb:len() - at then
            local missing = length - (tvb:len() - at)
            tools.computed(top, r.quoted_ip_length, length)
            tools.computed(top, r.quoted_missing, missing)
            top:append_text(string.format(", %s of it not quoted", tools.count(missing, "byte")))
            whole = cut(tvb, at, ip, length)
        end
        tools.quoting = tools.quoting + 1
        if options.quotes and tools.quoting <= 4 then
            tools.call(by_kind[kind], whole, pinfo, tree)
        end
        tools.quoting = tools.quoting - 1
        for _, name in ipairs(STATE) do
            pcall(function() pinfo[name] = saved[name] end)
        end
        pcall(function() pinfo.cols.info:clear_fence() end)
        pcall(function() pinfo.cols.protocol:clear_fence() end)
    end

    return M
end
