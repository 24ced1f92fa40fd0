-- INT in TCP and UDP, found by DSCP mark, probe marker or destination port; the packet is then dissected without it.

return function(fields, tools, headers, ip, options)
    local M = {}
    local f = fields.f

    local TCP, UDP = 6, 17
    local BASE = { [TCP] = 20, [UDP] = 8 }
    local CHECKSUM_AT = { [TCP] = 16, [UDP] = 6 }
    local ip_protocols = DissectorTable.get("ip.proto")
    local udp_ports = DissectorTable.get("udp.port")
    local plain = { [TCP] = ip_protocols:get_dissector(TCP), [UDP] = ip_protocols:get_dissector(UDP) }
    local data = Dissector.get("data")

    local function marked(dscp)
        return options.dscp and (not dscp or tools.band(dscp, options.mask) == tools.band(options.value, options.mask))
    end

    -- Where INT may begin: behind the first 20 bytes of TCP (Host-INT) or behind the options (v0.5), behind UDP's 8.
    local function places(tvb, protocol)
        if protocol == UDP then
            return { 8 }
        end
        local header = math.floor(tvb(12, 1):uint() / 16) * 4
        return header > 20 and { 20, header } or { 20 }
    end

    -- Returns a measured block in this segment, and how it was found; or a damaged one, which stays in place.
    local function find(tvb, protocol, dscp)
        local dport = tvb(2, 2):uint()
        if protocol == UDP and (options.int_ports[dport] or options.extension_ports[dport]) then
            return nil
        end
        for _, at in ipairs(places(tvb, protocol)) do
            local from = at
            local marker = options.marker and tvb:len() >= at + 8 and tvb(at, 8):bytes():tohex():lower() == options.marker
            if marker then
                at = at + 8
            end
            if marker or marked(dscp) or (protocol == TCP and options.int_ports[dport]) then
                local block = headers.measure(tvb, at, { carrier = "l4" })
                if block and headers.strict(tvb, block) then
                    block.from, block.marker = from, marker and from or nil
                    local by_port = protocol == TCP and options.int_ports[dport] and block.version == 0
                    return block, marker and "by probe marker" or by_port and "by port" or "by DSCP mark", by_port
                elseif block and block.hostint and headers.damaged(tvb, at) then
                    return nil, block
                end
            end
        end
        return nil
    end

    local function pseudo_sum(version, protocol, length)
        local src, dst = ip.addresses(version)
        if not src then
            return nil
        end
        return tools.sum(src, 0, src:len(), tools.sum(dst, 0, dst:len(), protocol + length))
    end

    -- The checksum on the wire: good, bad, left to the network card, or unknown.
    local function checksum_status(tvb, protocol, block, version)
        local bytes = tvb:range(0, tvb:len()):bytes()
        local field = tools.get16(bytes, CHECKSUM_AT[protocol])
        if protocol == UDP and field == 0 then
            return "not used"
        elseif tools.quoting > 0 or tvb:len() < tvb:reported_len() then
            return "unverified, the packet is cut short"
        end
        local pseudo = pseudo_sum(version, protocol, tvb:len())
        if not pseudo then
            return "unverified"
        end
        local tail = (block.hostint or block.ends_with_tail) and block.stop - 4
        if block.hostint and tvb(block.at + 1, 1):uint() < 128 then
            tools.set16(bytes, tail, 0)
            tools.set16(bytes, tail + 2, 0)
        end
        if tools.fold(tools.sum(bytes, 0, bytes:len(), pseudo)) == 0xffff then
            return "good"
        end
        local original = tools.fold(pseudo - (block.stop - block.from))
        local waiting = field == tools.fold(pseudo)
            or tail and (tools.get16(bytes, tail) == original or tools.get16(bytes, tail + 2) == original)
        return waiting and "unfinished, left to the network card" or "bad"
    end

    -- The segment as it was before INT: lengths and checksum right again, in bytes of its own.
    local function without(tvb, protocol, block, port)
        local bytes = tvb:range(0, tvb:len()):bytes()
        local cut = block.reported_stop - block.from
        local removed = bytes:subset(block.from, block.stop - block.from)
        local rest = ByteArray.new()
        rest:append(bytes:subset(0, block.from))
        if block.stop < bytes:len() then
            rest:append(bytes:subset(block.stop, bytes:len() - block.stop))
        end
        local missing = tvb:reported_len() - math.max(tvb:len(), block.reported_stop)
        local check = tools.get16(bytes, CHECKSUM_AT[protocol])
        local used = protocol == TCP or check ~= 0
        if block.hostint and removed:len() == cut and tvb(block.at + 1, 1):uint() < 128 then
            tools.set16(removed, cut - 4, 0)
            tools.set16(removed, cut - 2, 0)
        end
        local difference = protocol == UDP and 2 * cut or cut
        local restored = tools.sum(removed, 0, removed:len(), check + difference)
        if port then
            restored = restored + tools.get16(bytes, 2) + 0xffff - port
            tools.set16(rest, 2, port)
        end
        restored = tools.fold(restored)
        if protocol == UDP then
            tools.set16(rest, 4, math.max(tools.get16(bytes, 4) - cut, 8))
            restored = restored == 0 and 0xffff or restored
        end
        if used and removed:len() == cut then
            tools.set16(rest, CHECKSUM_AT[protocol], restored)
        end
        return rest, missing, used and restored or 0
    end

    -- In a quote that ends early, lengths are reduced to the quoted part; otherwise the dissectors would call it malformed.
    local function fit(bytes, protocol)
        local there = bytes:len()
        if protocol == UDP and there >= 8 and tools.get16(bytes, 4) > there then
            tools.set16(bytes, 4, there)
        elseif protocol == TCP and there >= 20 and math.floor(bytes:get_index(12) / 16) * 4 > there then
            bytes:set_index(12, math.floor(there / 4) * 16 + bytes:get_index(12) % 16)
        end
        return bytes
    end

    local function original_ip_length(top, added, version)
        local wire = ip.length(version)
        if wire and wire > added then
            tools.computed(top, f.original_ip_length, wire - added, " (on the wire " .. wire .. ")")
        end
    end

    local function explain(top, tvb, protocol, block, version, rest, missing, checksum)
        local cut = block.reported_stop - block.from
        tools.computed(top, f.block_length, cut)
        original_ip_length(top, cut, version)
        if protocol == UDP then
            tools.computed(top, f.original_udp_length, tools.get16(rest, 4), " (on the wire " .. tvb(4, 2):uint() .. ")")
        else
            local payload = rest:len() + missing - math.floor(tvb(12, 1):uint() / 16) * 4
            if payload >= 0 then
                tools.computed(top, f.original_tcp_payload, payload)
            end
        end
        if block.stop < block.reported_stop then
            return
        end
        tools.computed(top, f.original_checksum, checksum, string.format(" (on the wire 0x%04x)", tvb(CHECKSUM_AT[protocol], 2):uint()))
        local status = checksum_status(tvb, protocol, block, version)
        local item = tools.computed(top, f.checksum, status)
        if status == "bad" then
            tools.warn(item, "checksum", "wrong L4 checksum of the packet with INT")
        end
    end

    local function dissect(tvb, pinfo, tree, protocol)
        if tvb:len() < BASE[protocol] then
            return tools.pass(plain[protocol], tvb, pinfo, tree)
        end
        local dscp, version = ip.header(pinfo)
        local block, found, by_port = find(tvb, protocol, dscp)
        if not block then
            if found then
                headers.show(tree, tvb, found, "in " .. (protocol == TCP and "TCP" or "UDP") .. ", not what a sink takes for INT")
            end
            if tools.quoting > 0 then
                local bytes = fit(tvb:range(0, tvb:len()):bytes(), protocol)
                if bytes ~= tvb:range(0, tvb:len()):bytes() then
                    tvb = bytes:tvb("Quoted segment, lengths cut")
                end
            end
            return tools.pass(plain[protocol], tvb, pinfo, tree)
        end
        local where = "in " .. (protocol == TCP and "TCP" or "UDP") .. " " .. found
        local top = headers.show(tree, tvb, block, where)
        local rest, missing, checksum = without(tvb, protocol, block, by_port and block.tail_dport)
        explain(top, tvb, protocol, block, version, rest, missing, checksum)
        if tools.quoting > 0 then
            fit(rest, protocol)
            missing = 0
        elseif missing > 0 then
            top:append_text(string.format(" (%s not captured, 0 below)", tools.count(missing, "byte")))
        end
        tools.depth = tools.depth + 1
        tools.call(plain[protocol], tools.padded(rest, missing, "Segment without INT"), pinfo, tree)
        tools.depth = tools.depth - 1
        pinfo.cols.info:append(headers.note(block))
        return tvb:len()
    end

    function M.pass(tvb, pinfo, tree)
        return tools.pass(plain[pinfo.match_uint], tvb, pinfo, tree)
    end

    -- TCP and UDP behind IP: to the original dissector unless INT is there.
    function M.lookup(tvb, pinfo, tree)
        local protocol = pinfo.match_uint
        if not plain[protocol] then
            return 0
        elseif tools.depth > 8 then
            return M.pass(tvb, pinfo, tree)
        end
        return dissect(tvb, pinfo, tree, protocol)
    end

    -- After withdrawal: shows INT behind a packet that was dissected as if there were none.
    function M.afterwards(tvb, pinfo, tree)
        for protocol in pairs(plain) do
            local at = ip.only_segment(protocol)
            if at and at + BASE[protocol] <= tvb:len() then
                local segment = tvb(at):tvb()
                local block, found = find(segment, protocol, (ip.header(pinfo)))
                if block then
                    local where = "in " .. (protocol == TCP and "TCP" or "UDP") .. " " .. found
                    local top = headers.show(tree, segment, block, where)
                    top:append_text(" (dissected above as if it were none, for packets of this capture were cut)")
                    pinfo.cols.info:append(headers.note(block))
                end
            end
        end
    end

    -- Puts the original dissectors back.
    function M.withdraw()
        for protocol, dissector in pairs(plain) do
            ip_protocols:add(protocol, dissector)
        end
    end

    -- UDP whose destination port announces INT: the port of INT (v0.5 to v2.1) or that of extension-udp.
    function M.port(tvb, pinfo, tree)
        local extension = options.extension_ports[pinfo.dst_port]
        if not extension and not options.int_ports[pinfo.dst_port] then
            return 0
        end
        local block = headers.measure(tvb, 0, { carrier = "l4" })
        if not block or (#block.problems > 0 and not (block.hostint and headers.damaged(tvb, 0))) then
            return 0
        elseif #block.problems == 0 and not headers.strict(tvb, block) and not block.hostint then
            return 0
        end
        tools.depth = tools.depth + 1
        block.over_udp = block.hostint
        local top = headers.show(tree, tvb, block, extension and "extension-udp" or "in UDP by port")
        local added = block.stop + ((block.hostint or block.npt == 2) and 8 or 0)
        tools.computed(top, f.block_length, added)
        original_ip_length(top, added, select(2, ip.header(pinfo)))
        local used = tvb:len()
        if block.stop < tvb:len() and tools.depth <= 8 then
            local rest = tools.rest(tvb, block.stop, "Packet behind INT")
            local proto = block.hostint and block.tail_proto or block.npt == 2 and tvb(3, 1):uint()
            local port = block.npt == 1 and tvb(2, 2):uint() or block.tail_dport
            local taken = 0
            if proto then
                taken = tools.try(ip_protocols, proto, rest, pinfo, tree)
            elseif port then
                pinfo.dst_port = port
                pinfo.cols.info = string.format("%d → %d Len=%d", pinfo.src_port, port, rest:len())
                -- The lower port comes first, as in Wireshark's UDP dissector.
                for _, number in ipairs({ math.min(port, pinfo.src_port), math.max(port, pinfo.src_port) }) do
                    if taken == 0 and udp_ports:get_dissector(number) then
                        taken = tools.try(udp_ports, number, rest, pinfo, tree)
                    end
                end
            end
            if taken == 0 then
                tools.call(data, rest, pinfo, tree)
            end
        end
        pinfo.cols.info:append(headers.note(block))
        tools.depth = tools.depth - 1
        return used
    end

    return M
end
