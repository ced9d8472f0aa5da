--[[
soak_work: a script slower than its input. It reads each value, sends it on, and takes `ms` for it; a record of the
key `stuck` takes an hour, one of the key `failing` always fails.
]]
local tide = require "moontide"

local M = { params = { ms = { type = "number", required = true, min = 0 } } }

function M.process(rec, ctx)
    if rec.key == "stuck" then
        tide.sleep("1h")
    elseif rec.key == "failing" then
        error("this key always fails")
    end
    tide.sleep(ctx.config.ms)
    if rec.value:find("not in it", 1, true) then
        return
    end
    return rec
end

return M
