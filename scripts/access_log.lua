-- access_log: lines of a web server's log in the common format; requests that failed go to `server-errors` with the
-- host as key, the others as "METHOD PATH STATUS BYTES" to the default output. Other lines are dead letters.
--
--   moontide run scripts/access_log.lua --in access --out requests -b localhost:9092 -g access \
--       -X errors.dead.letter.queue.topic.name=access-bad
local LINE = '^(%S+) %S+ %S+ %[[^%]]+%] "(%u+) (%S+)[^"]*" (%d%d%d) (%S+)'

return function(rec, ctx)
    local host, method, path, status, bytes = (rec.value or ""):match(LINE)
    if host == nil then
        ctx.dead_letter("no line of an access log")
    end
    local value = method .. " " .. path:gsub("%?.*$", "") .. " " .. status .. " " .. (tonumber(bytes) or 0)
    if tonumber(status) >= 500 then
        ctx:emit("server-errors", { key = host, value = value })
    else
        ctx:forward { key = host, value = value }
    end
end
