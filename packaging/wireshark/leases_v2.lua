-- hostint's lease messages of version 2, and the probes that prove a lease's path.

return function(fields, tools, ip, leases, options)
    local M = {}
    local h, put, band = fields.h, tools.put, tools.band

    local FULL, SHORT = 200, 64
    local PROBE_MAGIC, PROBE_LENGTH, INT_BLOCK, MD_BLOCK = 0x68696e70, 24, 36, 48
    local ENCAPSULATIONS = { "over-tcp-udp", "extension-udp", "vxlan-gpe", "int-md" }
    local FORMS = { [0] = "over-tcp-udp", "extension-udp", "vxlan-gpe", "stray", "int-md", "ioam" }
    local STRAY, MD = 3, 4

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
        leases.time(tree, tvb, 32, "lease_asked", "lease_asked_time")
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
        leases.time(answer, tvb, 112, "lease_answered", "lease_answered_time")
        for form = 0, 4 do
            -- The probes of int-md have no place of their own: they are behind the 32 lowest bits of stray packets.
            local bits, arrived = tvb(136 + 16 * math.min(form, STRAY), 16), 0
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

    -- Shows a message of version 2; returns its kind and a sentence, or nil if it has another length.
    function M.show(top, tvb, pinfo)
        local length = tvb:len()
        if length ~= FULL and length ~= SHORT then
            return nil
        end
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
            leases.check(tag, tvb(tag_at, 8):uint64(), tvb(0, tag_at):bytes(), src, dst)
        end
        local room = tvb(tag_at + 8, length - tag_at - 8)
        if room:bytes():tohex():match("^0+$") then
            return "question", "Lease question 2: " .. asks, room
        end
        local answer = top:add(room, "Answer")
        local says = full and show_full_answer(answer, tvb)
        if not full then
            says = show_witness(answer, tvb, 24, 32) and "no lease, tagged packets go astray" or "renewed"
            leases.time(answer, tvb, 48, "lease_answered", "lease_answered_time")
        end
        local answer_tag = put(answer, h.lease_answer_tag, tvb(length - 8, 8))
        if tvb(length - 8, 8):bytes():tohex():upper() == "FFFFFFFFFFFFFFFF" then
            tools.warn(answer_tag, "forged", "the sink found a wrong tag: keys differ, or NAT is on the way")
            return "refusal", "Lease 2 refused: wrong tag", room
        end
        if options.lease_key then
            leases.check(answer_tag, tvb(length - 8, 8):uint64(), (tvb(0, length - 8):bytes()))
        end
        return "answer", "Lease answer 2 of " .. says:gsub("^no lease", "a sink: no lease"):gsub("^renewed", "a sink: renewed"), room
    end

    local function show_probe(tvb, at, pinfo, tree)
        local probe = tvb(at, PROBE_LENGTH):tvb()
        local top = tree:add(fields.lease, tvb(at), "hostint probe of a path")
        put(top, h.probe_path_magic, probe(0, 4))
        put(top, h.probe_path_version, probe(4, 1))
        put(top, h.probe_path_form, probe(5, 1))
        put(top, h.probe_path_number, probe(6, 1))
        put(top, h.probe_path_tos, probe(7, 1))
        put(top, h.probe_path_round, probe(8, 8))
        local tag = put(top, h.probe_path_tag, probe(16, 8))
        local _, version = ip.header(pinfo)
        local src, dst = ip.addresses(version)
        if options.lease_key and src then
            leases.check(tag, probe(16, 8):uint64(), probe(0, 16):bytes(), src, dst)
        end
        local form = FORMS[probe(5, 1):uint()] or "unknown form"
        local sentence = string.format("Probe %d of %s", probe(6, 1):uint(), form)
        top:append_text(": " .. sentence)
        pinfo.cols.protocol = "hostint"
        pinfo.cols.info = sentence
        return true
    end

    -- Where a probe begins in the payload of UDP or TCP: at once, or behind an INT block whose mark was lost.
    local function place(tvb)
        for _, at in ipairs({ 0, INT_BLOCK, MD_BLOCK }) do
            if tvb:len() >= at + PROBE_LENGTH and tvb(at, 4):uint() == PROBE_MAGIC then
                return at
            end
        end
    end

    -- True if the payload is a probe.
    function M.probe(tvb, pinfo, tree)
        local at = place(tvb)
        return at and show_probe(tvb, at, pinfo, tree) or false
    end

    local plain = DissectorTable.get("udp.port"):get_dissector(4790)
    M.plain = plain

    -- UDP to the port of VXLAN-GPE: a probe, or what it was taken for without this dissector.
    function M.port(tvb, pinfo, tree)
        return M.probe(tvb, pinfo, tree) and tvb:len() or nil
    end

    function M.pass(tvb, pinfo, tree)
        return tools.pass(plain or Dissector.get("data"), tvb, pinfo, tree)
    end

    return M
end
