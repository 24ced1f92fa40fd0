-- Wireshark and tshark: INT headers, telemetry reports, and hostint's lease messages and probes. See hostint-wire(7), hostint-reports(7) and hostint-leases(7).
--
-- Install by copying or linking this folder into Wireshark's folder of personal Lua plugins
-- (Help > About > Folders, mostly ~/.local/lib/wireshark/plugins), or use it once: tshark -X lua_script:hostint.lua

if rawget(_G, "hostint_dissector") then
    return -- linked and given with -X: once is enough
end
rawset(_G, "hostint_dissector", true)

local folder = debug.getinfo(1, "S").source:gsub("^@", ""):match("^(.*[/\\])") or ""
local function part(name, ...)
    local load, why = loadfile(folder .. name .. ".lua")
    assert(load, "hostint's dissector needs all files of its folder: " .. tostring(why))
    return load()(...)
end

local fields = part("fields")
local tools = part("tools", fields)
local metadata = part("metadata", fields, tools)
local headers = part("headers", fields, tools, metadata)

-- The marks that the carriers look for, from the preferences.
local options = { int_ports = {}, extension_ports = {}, geneve_classes = {} }
local ip = part("ip")
local transport = part("transport", fields, tools, headers, ip, options)
local tunnels = part("tunnels", fields, tools, headers, options)
local quotes = part("quotes", fields, tools, options)
local own_reports = part("hostint_reports", fields, tools, headers, quotes)
local probes = part("probes", fields, tools)
local reports = part("reports", fields, tools, metadata, quotes, own_reports, probes)
local leases = part("leases", fields, tools, ip, part("tags"), options)

local tcp_option = part("tcp_option", fields, tools)
local path_probes = part("path_probes", fields, tools, ip, leases, options)

local prefs, report_prefs, lease_prefs = fields.int.prefs, fields.report.prefs, fields.lease.prefs
prefs.dscp = Pref.bool("INT in TCP and UDP by DSCP", true, "Look for INT in TCP and UDP packets whose DSCP has the mark")
prefs.dscp_value = Pref.string("DSCP mark", "0x01", "The DSCP that marks packets with INT, of the mask's bits")
prefs.dscp_mask = Pref.string("DSCP mask", "0x01", "The bits of the DSCP that are looked at")
prefs.extension_ports = Pref.range("extension-udp ports", "33122", "UDP ports that announce INT before the original TCP or UDP header", 65535)
prefs.ports = Pref.range("INT ports", "51966", "UDP ports (of v0.5, TCP as well) that announce INT; none is assigned", 65535)
prefs.marker = Pref.string("Probe marker", "494e5450524f4245", "Eight bytes in hexadecimal that announce INT behind the TCP or UDP header; empty: none")
prefs.gre_types = Pref.range("GRE protocol types", "34997", "GRE protocol types that announce INT; none is assigned (34997 is 0x88b5)", 65535)
prefs.geneve_classes = Pref.range("Geneve option classes", "171,259", "Geneve option classes of INT: 0x0103, before v2.1 none was assigned", 65535)
report_prefs.quotes = Pref.bool("Dissect quoted packets", true, "Without this the packets that reports quote stay out of the analysis of TCP streams")
report_prefs.ports = Pref.range("Report ports", "32766", "UDP ports of telemetry reports; none is assigned", 65535)
lease_prefs.key = Pref.string("Lease key", string.rep("0", 32), "The key of lease messages, 32 hexadecimal digits, to check their tags; without a key hostint uses zeros; empty: tags are not checked")

-- The numbers of a range such as "1-3,5".
local function numbers(text)
    local set = {}
    for from, to in tostring(text):gmatch("(%d+)%-?(%d*)") do
        for number = tonumber(from), math.min(tonumber(to) or tonumber(from), 65535) do
            set[number] = true
        end
    end
    return set
end

local function replace(name, proto, before, now)
    local dissectors = DissectorTable.get(name)
    for number in pairs(before) do
        if not now[number] then dissectors:remove(number, proto) end
    end
    for number in pairs(now) do
        if not before[number] then dissectors:add(number, proto) end
    end
    return now
end

local function both(first, second)
    local set = {}
    for _, one in ipairs({ first, second }) do
        for number in pairs(one) do set[number] = true end
    end
    return set
end

local registered = { udp = {}, gre = {}, report = {} }

local function read_preferences()
    options.dscp = prefs.dscp
    options.value = tonumber(prefs.dscp_value) or 0
    options.mask = tonumber(prefs.dscp_mask) or 0
    options.dscp = options.dscp and options.mask > 0
    options.marker = #prefs.marker == 16 and prefs.marker:lower() or nil
    options.lease_key = lease_prefs.key:match("^%x+$") and #lease_prefs.key == 32 and ByteArray.new(lease_prefs.key) or nil
    options.quotes = report_prefs.quotes
    options.int_ports, options.extension_ports = numbers(prefs.ports), numbers(prefs.extension_ports)
    options.geneve_classes = numbers(prefs.geneve_classes)
    registered.udp = replace("udp.port", fields.int, registered.udp, both(options.int_ports, options.extension_ports))
    registered.gre = replace("gre.proto", fields.gre, registered.gre, numbers(prefs.gre_types))
    registered.report = replace("udp.port", fields.report, registered.report, numbers(report_prefs.ports))
end

-- A dissector in front of another one must always call it.
local function entry(proto, dissect, otherwise)
    function proto.dissector(tvb, pinfo, tree)
        local calls = tools.calls
        local used = tools.guarded(tree, dissect, tvb, pinfo, tree)
        if not used and otherwise and calls == tools.calls then
            used = otherwise(tvb, pinfo, tree)
        end
        return used or otherwise and tvb:len() or 0
    end
end

entry(fields.int, transport.port)
entry(fields.lookup, transport.lookup, transport.pass)
entry(fields.gpe, tunnels.gpe, tunnels.pass_gpe)
entry(fields.gre, tunnels.gre)
entry(fields.geneve, tunnels.geneve, tunnels.pass_geneve)
entry(fields.report, reports.dissect)
entry(fields.probed, path_probes.port, path_probes.pass)
fields.int.prefs_changed = read_preferences
fields.report.prefs_changed = read_preferences
fields.lease.prefs_changed = read_preferences

fields.option.dissector = tcp_option.dissect
DissectorTable.get("tcp.option"):add(114, fields.option)

local ip_protocols = DissectorTable.get("ip.proto")
ip_protocols:add(6, fields.lookup)
ip_protocols:add(17, fields.lookup)
DissectorTable.get("udp.port"):add(6081, fields.geneve)
DissectorTable.get("udp.port"):add(4790, fields.probed)
for code in pairs(tunnels.GPE_CODES) do
    DissectorTable.get("vxlan.next_proto"):add(code, fields.gpe)
end
for _, name in ipairs({ "icmp", "icmpv6" }) do
    fields.lease:register_heuristic(name, function(tvb, pinfo, tree)
        return tools.guarded(tree, leases.heuristic, tvb, pinfo, tree) or false
    end)
end

fields.lease:register_heuristic("tcp", function(tvb, pinfo, tree)
    return pinfo.dst_port == 4790 and tools.guarded(tree, path_probes.probe, tvb, pinfo, tree) or false
end)

-- See tools.pass.
function tools.withdraw()
    transport.withdraw()
    DissectorTable.get("udp.port"):add(6081, tunnels.plain_geneve)
    DissectorTable.get("udp.port"):add(4790, path_probes.plain)
    for code, dissector in pairs(tunnels.before) do
        DissectorTable.get("vxlan.next_proto"):add(code, dissector)
    end
end

function fields.afterwards.dissector(tvb, pinfo, tree)
    if tools.withdrawn then
        tools.guarded(tree, transport.afterwards, tvb, pinfo, tree)
    end
end

register_postdissector(fields.afterwards)
read_preferences()
