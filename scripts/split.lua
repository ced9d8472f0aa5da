-- split: one record of several lines becomes a record a line, with its number in a header; empty lines are left out.
--
--   moontide run scripts/split.lua --in batches --out lines -b localhost:9092 -g split
return function(rec, ctx)
    local number = 0
    for line in (rec.value or ""):gmatch("[^\r\n]+") do
        number = number + 1
        ctx:forward { key = rec.key, value = line, headers = { { "line", tostring(number) } } }
    end
end
