-- count: how often each key was seen, told at every record. The counts live in the worker's own state,
-- which is right for one thread a task only, and are lost at the end.
local counts = {}

return function(rec)
    local key = rec.key
    local count = (counts[key] or 0) + 1
    counts[key] = count
    rec.value = tostring(count)
    return rec
end
