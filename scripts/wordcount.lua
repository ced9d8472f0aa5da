-- wordcount: lines in, words out. For each word of a line one record goes to the default output: the word
-- is the key, the number of times it stands in the line is the value, so that the sum over a key is its
-- count. Records with one key go to one partition.
--
--   moontide run scripts/wordcount.lua --in lines --out counts -b localhost:9092 -g wordcount
local function process(rec, ctx)
    local counts, words = {}, {}
    for word in (rec.value or ""):gmatch("%a+") do
        word = word:lower()
        if not counts[word] then
            words[#words + 1] = word
        end
        counts[word] = (counts[word] or 0) + 1
    end
    for i = 1, #words do
        ctx:forward { key = words[i], value = tostring(counts[words[i]]) }
    end
end

return { version = "1", process = process }
