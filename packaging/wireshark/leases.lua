-- hostint's lease messages: the payload of an ICMP echo request and its reply.

return function(fields, tools, ip, tags, options)
    local M = {}
    local h, put, band = fields.h, tools.put, tools.band

    local MAGIC, LENGTH = 0x68696e74, 96
    local ENCAPSULATIONS = { { 1, "lease_over", "over-tcp-udp" }, { 2, "lease_extension", "extension-udp" }, { 8, "lease_gpe", "vxlan-gpe" } }

    function M.time(tree, tvb, at, number, human)
        put(tree, fields.h[number], tvb(at, 8))
        local ns = tvb(at, 8):uint64()
        local second = UInt64(1000000000)
        tools.computed(tree, fields.h[human], NSTime.new((ns / second):tonumber(), (ns % second):tonumber()))
    end

    local function mapped(address)
        if address:len() == 16 then
            return address
        end
        local bytes = ByteArray.new("00000000000000000000ffff")
        bytes:append(address)
        return bytes
    end

    -- Whether a tag matches the key in the preferences; the addresses are those of the request, in either order.
    function M.check(item, tag, bytes, src, dst)
        local good = false
        for _, ends in ipairs(src and { { src, dst }, { dst, src } } or { {} }) do
            local all = ByteArray.new()
            all:append(bytes)
            for _, address in ipairs(ends) do
                all:append(mapped(address))
            end
            good = good or tags.tag(options.lease_key, all) == tag
        end
        item:append_text(good and " (good)" or " (wrong, or of another key)")
        if not good then
            tools.warn(item, "tag", "the tag is wrong, or of another key than that in the preferences")
        end
    end

    local function show_question(tree, tvb, pinfo)
        local question = tree:add(tvb(0, 56), "Question")
        put(question, h.lease_magic, tvb(0, 4))
        local version = put(question, h.lease_version, tvb(4, 4))
        if tvb(4, 4):uint() ~= 1 then
            tools.warn(version, "header", "this dissector knows version 1 only")
        end
        put(question, h.lease_nonce, tvb(8, 8))
        local is_v4 = tvb(16, 12):bytes():tohex():upper() == "00000000000000000000FFFF"
        put(question, is_v4 and h.lease_src4 or h.lease_src6, is_v4 and tvb(28, 4) or tvb(16, 16))
        M.time(question, tvb, 32, "lease_asked", "lease_asked_time")
        put(question, h.lease_source_node, tvb(40, 4))
        tools.reserved(question, h.lease_reserved, tvb(44, 4), tvb(44, 4):uint())
        local tag = put(question, h.lease_question_tag, tvb(48, 8))
        local _, version = ip.header(pinfo)
        local src, dst = ip.addresses(version)
        if options.lease_key and src then
            M.check(tag, tvb(48, 8):uint64(), tvb(0, 48):bytes(), src, dst)
        end
        return tvb(40, 4):uint(), tostring(is_v4 and tvb(28, 4):ipv4() or tvb(16, 16):ipv6())
    end

    local function show_answer(tree, tvb)
        local answer = tree:add(tvb(56, 40), "Answer")
        put(answer, h.lease_instance, tvb(56, 8))
        put(answer, h.lease_sink_node, tvb(64, 4))
        local encapsulations = tvb(68, 1)
        local names = {}
        local list = put(answer, h.lease_encapsulations, encapsulations)
        for _, known in ipairs(ENCAPSULATIONS) do
            local set = band(encapsulations:uint(), known[1]) ~= 0
            put(list, h[known[2]], encapsulations, set)
            names[#names + 1] = set and known[3] or nil
        end
        list:append_text(" (" .. table.concat(names, ", ") .. ")")
        tools.reserved(answer, h.lease_reserved, encapsulations, band(encapsulations:uint(), 0xf4))
        local value, mask = tvb(69, 1):uint(), tvb(70, 1):uint()
        put(answer, h.lease_mark, tvb(69, 1), nil, string.format(" (DSCP 0x%02x)", math.floor(value / 4)))
        put(answer, h.lease_mask, tvb(70, 1), nil, string.format(" (DSCP 0x%02x)", math.floor(mask / 4)))
        put(answer, h.lease_clock, tvb(71, 1), tvb(71, 1):uint() % 128)
        put(answer, h.lease_clock_synchronised, tvb(71, 1), tvb(71, 1):uint() >= 128)
        put(answer, h.lease_port, tvb(72, 2))
        put(answer, h.lease_mtu, tvb(74, 2), nil, tvb(74, 2):uint() == 0 and " (not known)" or nil)
        put(answer, h.lease_tai, tvb(76, 2))
        put(answer, h.lease_software, tvb(78, 2), string.format("%d.%d", tvb(78, 1):uint(), tvb(79, 1):uint()))
        M.time(answer, tvb, 80, "lease_answered", "lease_answered_time")
        local tag = put(answer, h.lease_answer_tag, tvb(88, 8))
        return tvb(64, 4):uint(), table.concat(names, ", "), tag
    end

    local function show_version_2(tvb, pinfo, tree)
        local top = tree:add(fields.lease, tvb(), "hostint lease")
        local kind, sentence, room = M.version_2.show(top, tvb, pinfo)
        put(top, h.lease_kind, room, kind):set_generated()
        top:append_text(": " .. sentence)
        pinfo.cols.protocol = "hostint"
        pinfo.cols.info = sentence
        return true
    end

    -- True if the payload of an ICMP echo is a lease message.
    function M.heuristic(tvb, pinfo, tree)
        if tvb:len() < 8 or tvb:reported_len() ~= tvb:len() or tvb(0, 4):uint() ~= MAGIC then
            return false
        elseif tvb(4, 4):uint() == 2 and (tvb:len() == 200 or tvb:len() == 64) then
            return show_version_2(tvb, pinfo, tree)
        elseif tvb:len() ~= LENGTH then
            return false
        end
        local top = tree:add(fields.lease, tvb(), "hostint lease")
        local source, address = show_question(top, tvb, pinfo)
        local zeros = tvb(56, 40):bytes():tohex():match("^0+$")
        local sentence
        if zeros then
            put(top, h.lease_kind, tvb(56, 40), "question"):set_generated()
            sentence = string.format("Lease question of node %d: may I tag packets of %s?", source, address)
        else
            local sink, names, tag = show_answer(top, tvb)
            if tvb(88, 8):bytes():tohex():upper() == "FFFFFFFFFFFFFFFF" then
                put(top, h.lease_kind, tvb(56, 40), "refusal"):set_generated()
                tools.warn(tag, "forged", "node " .. sink .. " found a wrong tag: keys differ, or NAT is on the way")
                sentence = string.format("Lease refused by node %d to node %d: wrong tag", sink, source)
            else
                put(top, h.lease_kind, tvb(56, 40), "answer"):set_generated()
                if options.lease_key then
                    M.check(tag, tvb(88, 8):uint64(), (tvb(0, 88):bytes()))
                end
                sentence = string.format("Lease answer of node %d to node %d: tag packets of %s (%s)", sink, source, address, names)
            end
        end
        top:append_text(": " .. sentence)
        pinfo.cols.protocol = "hostint"
        pinfo.cols.info = sentence
        return true
    end

    return M
end
