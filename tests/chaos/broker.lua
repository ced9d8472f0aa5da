--[[
broker: a Kafka of one's own, by scripts/dev/kafka, on a free port (or KAFKA_PORT), which may be stopped and killed.
]]
local posix = require "posix"

local root = (arg[0]:match("^(.*)/") or ".") .. "/../.."
local kafka = root .. "/scripts/dev/kafka"
local TRIES, RETRY_MS = 20, 300

-- away: false, or the fault that lasts: "STOP", "KILL", "TERM"
local broker = { address = nil, away = false }

local function output_of(command)
    local pipe = io.popen(command)
    local text = pipe:read("*a")
    pipe:close()
    return text
end

local function free_port()
    local probe = "bash -c '(: >/dev/tcp/127.0.0.1/%d) 2>/dev/null || (: >/dev/tcp/127.0.0.1/%d) 2>/dev/null'"
    for port = 31092, 31992, 2 do
        if os.execute(probe:format(port, port + 1)) ~= 0 then
            return tostring(port)
        end
    end
    error("no free port", 0)
end

-- Also when this process dies by a signal, the broker goes with it.
local function guard()
    local wait = "trap '' INT TERM HUP; while kill -0 %d 2>/dev/null; do sleep 1; done; %s wipe"
    broker.guard = posix.spawn({ "sh", "-c", wait:format(posix.pid(), kafka) }, "/dev/null", true)
end

function broker.start()
    local port = os.getenv("KAFKA_PORT")
    posix.setenv("KAFKA_PORT", port and port ~= "" and port or free_port())
    guard()
    broker.address = output_of(kafka .. " start"):match("%S+")
    if not broker.address then
        error("the broker did not come up", 0)
    end
end

-- Ends the broker, whatever state it is in, and removes its data.
function broker.wipe()
    if not broker.guard then
        return
    end
    if broker.away == "STOP" then
        posix.kill(broker.pid, posix.CONT)
    end
    os.execute(kafka .. " wipe")
    posix.kill(broker.guard, posix.KILL)
end

-- Begins a fault, which ends by itself while tick is called: a stop of `ms`, or a restart that long after a signal.
function broker.fault(how, ms, log)
    broker.pid = tonumber(output_of(kafka .. " pid"))
    broker.away, broker.until_ms, broker.log, broker.child, broker.tries = how, posix.now_ms() + ms, log, nil, 0
    posix.kill(broker.pid, posix[how])
end

local function is_gone()
    local file = io.open("/proc/" .. broker.pid .. "/cmdline")
    local text = file and file:read("*a") or ""
    if file then
        file:close()
    end
    return text == ""
end

-- True when the broker is back from a fault.
function broker.tick()
    if broker.away == "STOP" then
        if posix.now_ms() < broker.until_ms then
            return false
        end
        posix.kill(broker.pid, posix.CONT)
    elseif not broker.away or not broker.child and not is_gone() then
        return false
    elseif not broker.child then
        if posix.now_ms() >= broker.until_ms then
            broker.child = posix.spawn({ kafka, "start" }, broker.log)
        end
        return false
    else
        local code = posix.ended(broker.child)
        if not code then
            return false
        elseif code ~= 0 then
            -- threads of the killed one may have its port still
            broker.child, broker.tries, broker.until_ms = nil, broker.tries + 1, posix.now_ms() + RETRY_MS
            if broker.tries > TRIES then
                error("the broker did not come back, see " .. broker.log, 0)
            end
            return false
        end
    end
    broker.away = false
    return true
end

return broker
