# SPDX-License-Identifier: LGPL-2.1-or-later
#
# awk -f rooms.awk src/rooms EDGES: what breaks the table of rooms, a line each. An edge is
# "include FILE HEADER" or "symbol FILE FILE NAME", of files below src/; "file FILE" and
# "upward NAME" name the files that there are, and what fastpath/ may call upward. "table FILE
# NAME STRUCT HEADER" is a constant table of functions of a struct that HEADER declares; where
# that is another room's, this room can call upward through it: "wanted STRUCT" allows that.

function room(file) {
	sub(/\/[^\/]*$/, "", file)
	return file
}
function face(header,  own, name) {
	own = room(header)
	name = substr(header, length(own) + 2)
	if (own in faces)
		return index(" " faces[own] " ", " " name " ") > 0
	sub(/.*\//, "", own)
	return name == own ".h"
}

FNR == NR {
	if (/^#/ || !NF)
		next
	split($0, column, / \| /)
	name = column[1]
	if (match(name, / \(.*\)/)) {
		faces[substr(name, 1, RSTART - 1)] = substr(name, RSTART + 2, RLENGTH - 3)
		name = substr(name, 1, RSTART - 1)
	}
	known[name] = 1
	known["perfmon"] = 1
	split(column[2], used, " ")
	for (i in used) {
		if (used[i] == "-")
			continue
		if (!(used[i] in known) || used[i] == name)
			print "src/rooms: " name " names " used[i] ", which does not stand above it"
		may[name, used[i]] = 1
	}
	next
}
$1 == "upward" {
	upward[$2] = 1
	next
}
$1 == "wanted" {
	wanted[$2] = 1
	next
}
$1 == "table" {
	if (room($2) == room($5))
		next
	met[$4] = 1
	if (!($4 in wanted))
		print $2 " has a table of struct " $4 " (" $3 "), through which " room($5) " can call upward: tests/tables does not have it"
	next
}
$1 == "file" {
	if (!(room($2) in known))
		print $2 " is in no room of src/rooms"
	next
}
{
	from = room($2)
	to = room($3)
	if ($1 == "symbol" && from == "fastpath" && to ~ /^core\/regions/ && $4 in upward)
		next
	if (from != to && !($1 == "symbol" && $4 ~ /^(perfmon|pfm)_/ && (from, "perfmon") in may)) {
		if (!((from, to) in may))
			print $2 " uses " $3 ($4 ? " (" $4 ")" : "") ", but " from " may not use " to
		else if ($1 == "include" && !face($3))
			print $2 " includes " $3 ", which is not the face of " to
	}
	edge[$2 " " $3] = 1
}
# Rings: what is left when those files are taken out, again and again, that need no other
# that is left, and then those that no other needs.
function peel(from, to,  e, pair, f, i, j, n, count, by, user, free, last) {
	for (e in edge) {
		split(e, pair, " ")
		if (pair[1] in gone || pair[2] in gone)
			continue
		count[pair[from]]++
		by[pair[to]] = by[pair[to]] " " pair[from]
	}
	for (f in files)
		if (!(f in gone) && !count[f])
			free[++last] = f
	for (i = 1; i <= last; i++) {
		gone[free[i]] = 1
		n = split(by[free[i]], user, " ")
		for (j = 1; j <= n; j++)
			if (!--count[user[j]])
				free[++last] = user[j]
	}
}
END {
	for (e in wanted)
		if (!(e in met))
			print "tests/tables has struct " e ", of which no room fills a table in that another declares"
	for (e in edge) {
		split(e, pair, " ")
		files[pair[1]] = files[pair[2]] = 1
	}
	peel(1, 2)
	peel(2, 1)
	for (e in edge) {
		split(e, pair, " ")
		if (!(pair[1] in gone) && !(pair[2] in gone))
			print "a ring of files: " pair[1] " needs " pair[2]
	}
}
