-- uppercase: values in capital letters; a tombstone stays one.
--
--   printf 'one\ntwo\n' | moontide run scripts/uppercase.lua --in - --out -
return function(rec)
    if rec.value then
        rec.value = rec.value:upper()
    end
    return rec
end
