-- INT in tunnels: between VXLAN-GPE or GRE and their payload, and in Geneve options.

return function(fields, tools, headers, options)
    local M = {}

    local gpe = DissectorTable.get("vxlan.next_proto")
    local gre = DissectorTable.get("gre.proto")
    local ethertype = DissectorTable.get("ethertype")
    local geneve = DissectorTable.get("udp.port"):get_dissector(6081)
    local data = Dissector.get("data")
    local GPE_CODES = { [0x05] = 0, [0x08] = 1, [0x80] = 2, [0x82] = 2 }
    -- The previous dissectors of these next protocols: 5 is MPLS as well.
    local before = {}
    for code in pairs(GPE_CODES) do
        before[code] = gpe:get_dissector(code)
    end
    M.GPE_CODES, M.before, M.plain_geneve = GPE_CODES, before, geneve

    function M.pass_gpe(tvb, pinfo, tree)
        return tools.pass(before[pinfo.match_uint] or data, tvb, pinfo, tree)
    end

    function M.pass_geneve(tvb, pinfo, tree)
        return tools.pass(geneve, tvb, pinfo, tree)
    end

    local function finish(pinfo, block, taken, rest, tree)
        if taken == 0 and rest then
            tools.call(data, rest, pinfo, tree)
        end
        pinfo.cols.info:append(headers.note(block))
    end

    function M.gpe(tvb, pinfo, tree)
        local code = pinfo.match_uint
        local block, why = headers.measure(tvb, 0, { carrier = "gpe", gpe_code = code })
        local expected = block and block.version == GPE_CODES[code]
        if before[code] and not (expected and headers.strict(tvb, block)) then
            return M.pass_gpe(tvb, pinfo, tree)
        elseif not block then
            local item = tree:add(fields.int, tvb(), "In-band Network Telemetry over VXLAN-GPE")
            tools.warn(item, "header", why)
            return tvb:len()
        end
        tools.depth = tools.depth + 1
        local top = headers.show(tree, tvb, block, "over VXLAN-GPE")
        if not expected then
            tools.warn(top, "header", string.format("next protocol 0x%02x announces INT of version %d", code, GPE_CODES[code]))
        end
        tools.computed(top, fields.f.block_length, block.stop)
        local rest, taken = nil, 0
        if block.stop < tvb:len() and tools.depth <= 8 then
            rest = tools.rest(tvb, block.stop, "Packet behind INT")
            taken = tools.try(gpe, tvb(3, 1):uint(), rest, pinfo, tree)
        end
        finish(pinfo, block, taken, rest, tree)
        tools.depth = tools.depth - 1
        return tvb:len()
    end

    function M.gre(tvb, pinfo, tree)
        local block = headers.measure(tvb, 0, { carrier = "gre" })
        if not block or block.version ~= 2 then
            return 0
        end
        tools.depth = tools.depth + 1
        local top = headers.show(tree, tvb, block, "over GRE")
        tools.computed(top, fields.f.block_length, block.stop)
        local rest, taken = nil, 0
        if block.stop < tvb:len() and tools.depth <= 8 then
            rest = tools.rest(tvb, block.stop, "Packet behind INT")
            local next_protocol = tvb(2, 2):uint()
            taken = tools.try(gre, next_protocol, rest, pinfo, tree)
            taken = taken > 0 and taken or tools.try(ethertype, next_protocol, rest, pinfo, tree)
        end
        finish(pinfo, block, taken, rest, tree)
        tools.depth = tools.depth - 1
        return tvb:len()
    end

    -- The INT options of a Geneve header, measured.
    local function geneve_options(tvb)
        local list = {}
        if tvb:len() < 8 then
            return list
        end
        local at, stop = 8, math.min(8 + tvb(0, 1):uint() % 64 * 4, tvb:len())
        while at + 4 <= stop do
            local class, length = tvb(at, 2):uint(), tvb(at + 3, 1):uint() % 32
            if options.geneve_classes[class] and at + 4 + 4 * length <= stop then
                local block = headers.measure(tvb, at + 4, {
                    carrier = "geneve", option_class = class, option_length = length, option_type = tvb(at + 2, 1):uint() % 128,
                })
                if block and (class == 0x0103 or #block.problems == 0) then
                    list[#list + 1] = block
                end
            end
            at = at + 4 + 4 * length
        end
        return list
    end

    -- Wireshark knows no table of Geneve options, so this looks first and Geneve's own dissector follows.
    function M.geneve(tvb, pinfo, tree)
        local blocks = geneve_options(tvb)
        for _, block in ipairs(blocks) do
            block.from = block.at - 4
            local top = headers.show(tree, tvb, block, "in a Geneve option")
            tools.computed(top, fields.f.block_length, block.stop - block.from)
        end
        local used = M.pass_geneve(tvb, pinfo, tree)
        for _, block in ipairs(blocks) do
            pinfo.cols.info:append(headers.note(block))
        end
        return used
    end

    return M
end
