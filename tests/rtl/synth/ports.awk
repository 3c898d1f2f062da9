# Memories of 1024 bits and more in an RTLIL file, a line of a table each: words, bits of a word, ports that read and write.
/^  memory / {
    bits = 1
    for (i = 2; i < NF; i++) if ($i == "width") bits = $(i + 1); else if ($i == "size") words = $(i + 1)
    if (words * bits >= 1024) { size[$NF] = words; width[$NF] = bits }
}
/^  cell \$mem(rd|wr)/ { port = substr($2, 5, 2) }
/^ *parameter \\MEMID / { name = $3; gsub(/"/, "", name); sub(/^\\\\/, "\\", name); ports[name, port]++ }
END {
    for (name in size)
        printf "| `%s` | `%s` | %d | %d | %d | %d |\n", unit, substr(name, 2), size[name], width[name],
            ports[name, "rd"], ports[name, "wr"] | "LC_ALL=C sort"
}
