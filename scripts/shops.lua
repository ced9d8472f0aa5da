-- shops: the table of enrich.lua; by the key of a record.
return {
    s1 = { city = "Lyon", region = "south" },
    s2 = { city = "Lille", region = "north" },
}
