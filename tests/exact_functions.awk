# SPDX-License-Identifier: LGPL-2.1-or-later
# Checks a report (-f csv) of tests/programs/exact_functions: the path of each function, its visits, and the
# thousands of instructions that a visit has of its own. A visit takes some more to begin, to call
# and to end, so MORE of them are allowed; of a path marked * as many as the C library takes.
BEGIN {
	FS = ","
	if (!more)
		more = 90
	all = "(program);all"
	want(all ";leaf", 2, 1)
	want(all ";recurse", 5, 2)
	want(all ";even", 3, 1)
	want(all ";even;odd", 3, 1)
	want(all ";tail_of_tail", 1, 1)
	want(all ";tail_of_tail;tail", 1, 1)
	want(all ";tail_of_tail;tail;leaf", 1, 1)
	want(all ";jumps", 1, 2, "*")
	want(all ";jumps;deep", 4, 1, "*")
	want(all ";jumps;leaf", 1, 1)
	want(all ";catches", 1, 3, "*")
	want(all ";catches;throws", 9, 1, "*")
	want(all ";catches;leaf", 1, 1)
	signals(all ";signals_here")
	signals(all ";signals_below")
	signals("(program);signals_above")
	want("(program);thread", 2, 1)
	want("(program);thread;leaf", 2, 1)
	want(all ";shapes::Circle::area(int) const", 1, 1)
	want(all ";shapes::Circle::area(double) const", 1, 2)
	want(all ";shapes::Circle::operator()() const", 1, 1)
	want(all ";void shapes::scale<int>(int)", 1, 1)
	want(all ";void shapes::scale<double>(double)", 1, 1)
}
function signals(path) {
	want(path, 1, 2, "*")
	want(path ";returns", 1, 1)
	want(path ";returns;leaf", 1, 1)
	want(path ";leaves", 1, 1, "*")
	want(path ";leaves;leaf", 1, 1)
	want(path ";leaf", 1, 1)
}
function want(path, visits, thousands, mark) {
	visits_of[path] = visits
	own[path] = thousands * 1000
	library[path] = mark == "*"
}
{ sub(/\r$/, ""); gsub(/"/, "") }
NR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	next
}
$at["thread"] == "all" && $at["id"] != "" {
	path = $at["path"]
	visits = $at["visits"]
	count = $at["exact::instructions.exclusive"]
	sum += count
	if (path == "(program)")
		total = $at["exact::instructions"]
	if (!(path in visits_of))
		next
	found[path] = 1
	least = own[path] * visits_of[path]
	most = library[path] ? least + 100000 : least + more * visits
	# The unwinder of C++ counts where it is called from, and it takes many.
	if (path ~ /throws$/)
		most = least + 10000000
	if (visits != visits_of[path] || count < least || count > most) {
		print path ": " visits " visits, " count " instructions of its own: " visits_of[path] \
			" and " least " to " most " are right"
		wrong = 1
	}
}
END {
	for (path in visits_of)
		if (!(path in found)) {
			print path ": not in the report"
			wrong = 1
		}
	if (!total || sum != total) {
		print "all exclusive values are " sum ", the total is " total
		wrong = 1
	}
	exit wrong
}
