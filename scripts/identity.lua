-- identity: each record goes to the default output as it came, headers and timestamp too.
--
--   moontide run scripts/identity.lua --in orders --out copy -b localhost:9092 -g copy
return function(rec)
    return rec
end
