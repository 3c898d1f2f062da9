# Cuts the processes of an RTLIL file into small ones: connections, one process per switch and 32 of its signals, one
# per register. Yosys' proc walks a process once for each signal in it: one with thousands does not end.
# The logic stays the same: the Verilog front end gives a variable set with `=` another name in each switch, and sets
# that in all cases of this switch and nowhere else. What is set with `<=` ($0...) keeps its name on all levels: these
# stay together, in one process with all switches.
function root(x) {
    while (up[x] != x) x = up[x]
    return x
}
# The signals that line n sets, which stay together
function signals(n, f, i, x) {
    split(lines[n], f, " ")
    if (f[2] != "{") i = 2; else i = 3
    do {
        if (f[i] ~ /^[\\$]/) {
            if (!(f[i] in up)) up[f[i]] = f[i]
            if (x) up[root(f[i])] = root(x); else x = f[i]
        }
    } while (f[2] == "{" && f[++i] != "}")
    owner[n] = x
}
function show_switch(from, n, r, groups, filled, g) {
    split("", up); split("", owner); split("", group)
    groups = 1; filled = 0
    for (n = from; n <= last; n++) if (lines[n] ~ /^ *assign /) signals(n)
    for (n = from; n <= last; n++) if (n in owner) {
        r = root(owner[n])
        if (!(r in group)) {
            if (filled++ == 32) { groups++; filled = 1 }
            group[r] = groups
        }
        owner[n] = group[r]
    }
    for (g = 1; g <= groups; g++) {
        print "  process " name "$" ++count
        for (n = from; n <= last; n++) if (!(n in owner) || owner[n] == g) print lines[n]
        print "    end\n  end"
    }
}
function show_kept(n, f, i) {
    print "  process " name "$" ++count
    for (n = 1; n <= tops; n++) {
        split(top[n], f, " ")
        if ((f[2] == "{" ? f[3] : f[2]) in kept) print top[n]
        else { sub(/assign/, "connect", top[n]); later[++laters] = top[n] }
    }
    for (n = 1; n <= trees; n++) print tree[n]
    print "  end"
    for (n = 1; n <= laters; n++) print later[n]
}
!inside && /^ *attribute / { attributes = attributes $0 "\n"; next }
!inside && /^  process / {
    inside = 1; name = $2; attributes = writes = ""; depth = last = tops = trees = laters = 0; split("", kept)
    next
}
!inside { printf "%s", attributes; attributes = ""; print; next }
/^ *attribute / || /^ *assign \{ \} \{ \}$/ || /^ *update \$memwr\$/ { next } # memwr says it, too
/^ *assign / && !depth { top[++tops] = $0; next }
/^ *assign / && ($2 == "{" ? $3 : $2) ~ /^\$0/ {
    tree[++trees] = $0
    for (i = 2; i == 2 || ($2 == "{" && $i != "}"); i++) if ($i ~ /^\$0/) kept[$i]
    next
}
/^ *switch / { first[++depth] = last + 1 }
/^ *(switch|case|end)/ && depth { tree[++trees] = $0 }
/^ *end$/ && depth { show_switch(first[depth]); last = first[depth--] - 1; next }
/^ *sync / { sync = $0; next }
/^ *update / { print "  process " name "$" ++count "\n" sync "\n" $0 "\n  end"; next }
/^ *memwr / { writes = writes $0 "\n"; next }
/^ *end$/ { show_kept(); if (writes) printf "  process %s\n%s\n%s  end\n", name, sync, writes; inside = 0; next }
{ lines[++last] = $0 }
