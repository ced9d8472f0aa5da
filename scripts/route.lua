-- route: each record to the topic of its kind, by the header `type`; what no topic is meant for goes to `other`.
--
--   moontide run scripts/route.lua --in events -b localhost:9092 -g route
local TOPICS = { order = "orders", payment = "payments", refund = "payments" }

return function(rec, ctx)
    local kind = rec.headers:get("type")
    local topic = TOPICS[kind or ""] or "other"
    ctx:emit(topic, { key = rec.key, value = rec.value, headers = rec.headers })
end
