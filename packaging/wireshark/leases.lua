-- hostint's lease messages: the payload of an ICMP echo request and its reply.

return function(fields, tools, ip, tags, options)
    local M = {}
    local h, put, band = fields.h, tools.put, tools.band

    local MAGIC, VERSION, FULL, SHORT = 0x68696e74, 2, 200, 64
    local ENCAPSULATIONS = { "over-tcp-udp", "extension-udp", "vxlan-gpe", "int-md" }
    M.FORMS = { [0] = "over-tcp-udp", "extension-udp", "vxlan-gpe", "stray", "int-md", "ioam", "options" }
    local FORMS, STRAY, MD = M.FORMS, 3, 4

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

    -- The names of the encapsulations among capabilities.
    local function named(capabilities)
        local names = {}
        for i, name in ipairs(ENCAPSULATIONS) do
            names[#names + 1] = band(capabilities, 2 ^ (i - 1)) ~= 0 and name or nil
        end
        names[#names + 1] = band(capabilities, 128) ~= 0 and "ioam" or nil
        return table.concat(names, ", ")
    end

    local function show_witness(answer, tvb, flags, stripped)
        local value = tvb(flags, 4):uint()
        local item = put(answer, h.lease_flags, tvb(flags, 4))
        put(item, h.lease_astray, tvb(flags, 4), band(value, 1) ~= 0)
        put(item, h.lease_untold, tvb(flags, 4), band(value, 2) ~= 0)
        put(answer, h.lease_digest, tvb(flags + 4, 4))
        for i, field in ipairs({ "lease_stripped_over", "lease_stripped_extension", "lease_stripped_gpe" }) do
            put(answer, h[field], tvb(stripped + 4 * i - 4, 4))
        end
        put(answer, h.lease_lost, tvb(stripped + 12, 4))
        return band(value, 1) ~= 0
    end

    local function show_full_question(tree, tvb)
        local is_v4 = tvb(16, 12):bytes():tohex():upper() == "00000000000000000000FFFF"
        put(tree, is_v4 and h.lease_src4 or h.lease_src6, is_v4 and tvb(28, 4) or tvb(16, 16))
        M.time(tree, tvb, 32, "lease_asked", "lease_asked_time")
        put(tree, h.lease_source_node, tvb(40, 4))
        put(tree, h.lease_source_capabilities, tvb(44, 4), nil, " (" .. named(tvb(44, 4):uint()) .. ")")
        put(tree, h.lease_round, tvb(48, 8))
        local address = tostring(is_v4 and tvb(28, 4):ipv4() or tvb(16, 16):ipv6())
        return string.format("node %d: may I tag packets of %s?", tvb(40, 4):uint(), address)
    end

    local function show_full_answer(answer, tvb)
        put(answer, h.lease_instance, tvb(64, 8))
        put(answer, h.lease_sink_node, tvb(72, 4))
        local names = named(tvb(76, 4):uint())
        put(answer, h.lease_capabilities, tvb(76, 4), nil, " (" .. names .. ")")
        local astray = show_witness(answer, tvb, 80, 112)
        put(answer, h.lease_mark, tvb(88, 1))
        put(answer, h.lease_mask, tvb(89, 1))
        put(answer, h.lease_clock, tvb(90, 1), tvb(90, 1):uint() % 128)
        put(answer, h.lease_clock_synchronised, tvb(90, 1), tvb(90, 1):uint() >= 128)
        put(answer, h.lease_port, tvb(92, 2))
        put(answer, h.lease_mtu, tvb(94, 2), nil, tvb(94, 2):uint() == 0 and " (not known)" or nil)
        put(answer, h.lease_tai, tvb(96, 2))
        put(answer, h.lease_software, tvb(98, 2), string.format("%d.%d", tvb(98, 1):uint(), tvb(99, 1):uint()))
        M.time(answer, tvb, 104, "lease_answered", "lease_answered_time")
        for form = 0, 4 do
            -- The probes of int-md have no place of their own: they are behind the 32 lowest bits of stray packets.
            local bits, arrived = tvb(128 + 16 * math.min(form, STRAY), 16), 0
            for i = 0, 15 do
                local of_stray = i >= 4 and i <= 7
                local byte = form >= STRAY and of_stray ~= (form == STRAY) and 0 or bits(i, 1):uint()
                while byte > 0 do
                    arrived, byte = arrived + byte % 2, math.floor(byte / 2)
                end
            end
            put(answer, h.lease_arrived, bits, arrived, " of " .. FORMS[form])
            if form < MD then
                put(answer, h.lease_tos_changed, tvb(100 + form, 1), nil, " of " .. FORMS[form])
            end
        end
        return string.format("node %d: %s (%s)", tvb(72, 4):uint(), astray and "no lease, tagged packets go astray" or "granted", names)
    end

    -- Shows a message; returns its kind, a sentence, and the bytes that say so.
    local function show(top, tvb, pinfo)
        local length = tvb:len()
        local full = length == FULL
        local tag_at = full and 56 or 16
        local question = top:add(tvb(0, tag_at + 8), full and "Question" or "Short question")
        put(question, h.lease_magic, tvb(0, 4))
        put(question, h.lease_version, tvb(4, 4))
        put(question, h.lease_nonce, tvb(8, 8))
        local asks = full and show_full_question(question, tvb) or "renew the lease"
        local tag = put(question, h.lease_question_tag, tvb(tag_at, 8))
        local _, version = ip.header(pinfo)
        local src, dst = ip.addresses(version)
        if options.lease_key and src then
            M.check(tag, tvb(tag_at, 8):uint64(), tvb(0, tag_at):bytes(), src, dst)
        end
        local room = tvb(tag_at + 8, length - tag_at - 8)
        if room:bytes():tohex():match("^0+$") then
            return "question", "Lease question: " .. asks, room
        end
        local answer = top:add(room, "Answer")
        local says = full and show_full_answer(answer, tvb)
        if not full then
            says = show_witness(answer, tvb, 24, 32) and "no lease, tagged packets go astray" or "renewed"
            M.time(answer, tvb, 48, "lease_answered", "lease_answered_time")
        end
        local answer_tag = put(answer, h.lease_answer_tag, tvb(length - 8, 8))
        if tvb(length - 8, 8):bytes():tohex():upper() == "FFFFFFFFFFFFFFFF" then
            tools.warn(answer_tag, "forged", "the sink found a wrong tag: keys differ, or NAT is on the way")
            return "refusal", "Lease refused: wrong tag", room
        end
        if options.lease_key then
            M.check(answer_tag, tvb(length - 8, 8):uint64(), (tvb(0, length - 8):bytes()))
        end
        return "answer", "Lease answer of " .. says:gsub("^no lease", "a sink: no lease"):gsub("^renewed", "a sink: renewed"), room
    end

    -- True if the payload of an ICMP echo is a lease message.
    function M.heuristic(tvb, pinfo, tree)
        local length = tvb:len()
        if (length ~= FULL and length ~= SHORT) or tvb:reported_len() ~= length then
            return false
        elseif tvb(0, 4):uint() ~= MAGIC or tvb(4, 4):uint() ~= VERSION then
            return false
        end
        local top = tree:add(fields.lease, tvb(), "hostint lease")
        local kind, sentence, room = show(top, tvb, pinfo)
        put(top, h.lease_kind, room, kind):set_generated()
        top:append_text(": " .. sentence)
        pinfo.cols.protocol = "hostint"
        pinfo.cols.info = sentence
        return true
    end

    return M
end
