# SPDX-License-Identifier: LGPL-2.1-or-later
#
# awk -f printed.awk FILE...: what reaches a printer of text and is neither a constant nor
# a cell, a line each. A name must go through pm_out_plain(), pm_out_name(), pm_out_json() or
# pm_out_csv() instead. A printer is pm_out_text(), pm_out_bytes(), pm_out_format() with %s,
# and stdio. Clean is
#   - a literal, a macro in capitals, ?: of what is clean, an entry of a static const table;
#   - an array of char in a function, if all that is written into it is clean;
#   - a variable, if all that is assigned to it is clean; a parameter, if all callers pass
#     what is clean; a call, if all that the function returns is clean;
#   - what pm_cell_...() wrote, and what the lists below name.
# This reads the form that clang-format gives: a function begins with "{" and ends with "}"
# in the first column.

BEGIN {
	id = "[A-Za-z_0-9]"
	# Printers: which argument is the format or, with "text", the text.
	format["pm_out_format"] = 2
	format["printf"] = 1
	format["fprintf"] = 2
	text["pm_out_text"] = 2
	text["pm_out_bytes"] = 2
	text["pm_out_plural"] = 3
	text["fputs"] = 1
	text["puts"] = 1
	# Writers into their first argument.
	format["snprintf"] = 3
	text["strcpy"] = text["strcat"] = text["stpcpy"] = text["memcpy"] = 2
	# Functions of others that write nothing, or nothing foreign, or return nothing foreign.
	split("strlen strcmp strncmp strchr strrchr strftime strspn strcspn", list, " ")
	for (i in list)
		reads[list[i]] = 1
	split("strerror strsignal", list, " ")
	for (i in list)
		constant[list[i]] = 1
	# What this cannot follow, by its file or folder: the sinks of whole outputs, and pages,
	may("cli/common/output.c", "text page rest")
	may("cli/export/gzip.c", "text")
	# ... names of subcommands, and fields of tables that are constant,
	may("cli/common/complain.c", "command")
	may("cli/common/options.c", "command->help")
	may("core/report/", "event->erratum->effect event->erratum->number event->erratum->document")
	may("core/report/", "lost[i].text")
	# ... what this machine's kernel and libpfm4 call themselves and their events,
	may("cli/list/", "info->name info->pmu info->alias info->unit info->description")
	may("cli/info/info.c", "what")
	# ... levels and numbers of places, and lists of CPUs,
	may("core/report/", "group->name group->cpus")
	# ... cells, and what went through an escape,
	may("core/report/", "field->marks row->on row->off")
	may("cli/top/", "out.buffer watch->what")
}
function may(folder, names,  i, list) {
	split(names, list, " ")
	for (i in list)
		listed[folder, list[i]] = 1
}
function is_listed(e, f,  place) {
	place = file[f]
	sub(/^(.*\/)?src\//, "", place)
	do {
		if ((place, e) in listed)
			return 1
	} while (sub(/[^\/]+\/?$/, "", place) && place != "")
	return 0
}

# --- reading: literals become @N@, comments and directives go -------------------------

function strip(line,  out, at, c) {
	while (line != "") {
		if (comment) {
			at = index(line, "*/")
			if (!at)
				return out
			line = substr(line, at + 2)
			comment = 0
			continue
		}
		if (!match(line, /["']|\/\*/))
			return out line
		at = RSTART
		c = substr(line, at, 1)
		out = out substr(line, 1, at - 1)
		line = substr(line, at)
		if (c == "/") {
			comment = 1
			line = substr(line, 3)
		} else if (c == "\"") {
			match(line, /^"([^"\\]|\\.)*"/)
			literal[++literals] = substr(line, 2, RLENGTH - 2)
			out = out "@" literals "@"
			line = substr(line, RLENGTH + 1)
		} else {
			match(line, /^'([^'\\]|\\.)+'/)
			out = out "0"
			line = substr(line, RLENGTH + 1)
		}
	}
	return out
}
function begin_function(  n, k, list, name) {
	gsub(/__attribute__\(\([^)]*(\([^)]*\))?[^)]*\)\)/, "", head)
	if (!match(head, /[A-Za-z_0-9]+\(/))
		return
	f = ++functions
	file[f] = FILENAME
	name = substr(head, RSTART, RLENGTH - 1)
	called[f] = name
	# Of two static ones with a name, the one in the same file is meant.
	by_name[FILENAME, name] = f
	if (head !~ /^static/)
		by_name[name] = f
	n = split(arguments(head, RSTART + RLENGTH - 1), list, SUBSEP)
	for (k = 1; k <= n; k++) {
		name = list[k]
		sub(/\[.*/, "", name)
		sub(/^.*[^A-Za-z_0-9]/, "", name)
		parameter[f, name] = k
		named[f, k] = name
		type[f, name] = list[k]
	}
}
FNR == 1 {
	head = ""
	f = comment = directive = 0
}
{
	line = strip($0)
	if (directive || line ~ /^[ \t]*#/) {
		directive = line ~ /\\$/
		next
	}
	if (line ~ /static const .*[A-Za-z_0-9]\[/ || line ~ /^[\t]*} [a-z_]+\[.*\] = {/) {
		name = line
		sub(/\[.*/, "", name)
		sub(/^.*[^A-Za-z_0-9]/, "", name)
		table[FILENAME, name] = 1
	}
	if (line ~ /^{/) {
		begin_function()
	} else if (line ~ /^}/) {
		f = 0
		head = ""
	} else if (f) {
		starts[f, length(body[f])] = FNR
		body[f] = body[f] line " "
	} else {
		head = line == "" || line ~ /;$/ ? "" : head line " "
	}
}

# --- expressions --------------------------------------------------------------------------

function trim(s) {
	gsub(/[ \t]+/, " ", s)
	sub(/^ /, "", s)
	sub(/ $/, "", s)
	return s
}
# Where the parenthesis at AT is closed.
function closed(s, at,  depth, c) {
	for (; at <= length(s); at++) {
		c = substr(s, at, 1)
		if (c ~ /[([{]/)
			depth++
		else if (c ~ /[])}]/ && !--depth)
			return at
	}
	return at
}
# S up to the first of STOPS outside of parentheses, or to where they close.
function until(s, stops,  at, c) {
	for (at = 1; at <= length(s); at++) {
		c = substr(s, at, 1)
		if (c ~ /[([{]/)
			at = closed(s, at)
		else if (index(stops, c) || c ~ /[])}]/)
			break
	}
	return substr(s, 1, at - 1)
}
# The arguments in the parentheses at AT, with SUBSEP between.
function arguments(s, at,  one, all, rest) {
	rest = substr(s, at + 1, closed(s, at) - at - 1)
	while (rest != "") {
		one = until(rest, ",")
		all = all (all == "" ? "" : SUBSEP) trim(one)
		rest = substr(rest, length(one) + 2)
	}
	return all
}
# The function that a call of NAME in F means.
function meant(name, f) {
	return (file[f], name) in by_name ? by_name[file[f], name] : by_name[name]
}
# E is BASE, or begins at or behind it.
function based(e, base) {
	sub(/^[&*(]+/, "", e)
	return index(e, base) == 1 && substr(e, length(base) + 1, 1) !~ /[A-Za-z_0-9(]/
}
function is_clean(e, f,  part, rest, at, name, k) {
	e = trim(e)
	while (e ~ /^\(/ && closed(e, 1) == length(e))
		e = trim(substr(e, 2, length(e) - 2))
	part = until(e, "?")
	if (part != e) {
		rest = substr(e, length(part) + 2)
		# The ":" of this "?": each "?" between has one of its own.
		for (at = 1; (part = until(substr(rest, at), "?:")) != substr(rest, at); ) {
			at += length(part) + 1
			k += substr(rest, at - 1, 1) == "?" ? 1 : -1
			if (k < 0)
				break
		}
		return is_clean(substr(rest, 1, at - 2), f) && is_clean(substr(rest, at), f)
	}
	if (e ~ /^(@[0-9]+@|[A-Z][A-Z0-9_]*|PRI[a-zA-Z0-9]+| )+$/ || e == "NULL")
		return 1
	if (match(e, /^[A-Za-z_0-9]+\(/) && closed(e, RLENGTH) == length(e)) {
		name = substr(e, 1, RLENGTH - 1)
		return name ~ /^pm_cell_/ || name in constant || returns_clean(meant(name, f))
	}
	sub(/^[*&]+/, "", e)
	match(e, /^[A-Za-z_0-9]+/)
	return variable_clean(substr(e, 1, RLENGTH), substr(e, RLENGTH + 1), f)
}
function returns_clean(f,  rest, e) {
	if (!f)
		return 0
	if (f in returned)
		return returned[f]
	returned[f] = 1
	rest = body[f]
	while (match(rest, /(^|[^A-Za-z_0-9])return /)) {
		rest = substr(rest, RSTART + RLENGTH)
		e = until(rest, ";")
		returned[f] = returned[f] && is_clean(e, f)
	}
	return returned[f]
}
function variable_clean(base, rest, f,  declared, ok) {
	if ((file[f], base) in table)
		return 1
	if (is_listed(base rest, f))
		return 1
	match(body[f], "struct pm_cell [^;]*" base)
	if (rest ~ /^(\.|->)(text|marks)/ && (RSTART || type[f, base] ~ /struct pm_cell /))
		return 1
	if (rest ~ /^(\[[^]]*\])*(\.|->)/)
		return 0
	if ((f, base) in known)
		return known[f, base]
	known[f, base] = 1 # in a ring
	declared = match(body[f], "char ([^;()]*[ *])?" base "[^A-Za-z_0-9(]")
	ok = declared || (f, base) in parameter
	ok = ok && assigned_clean(base, f) && written_clean(base, f)
	if (ok && (f, base) in parameter && type[f, base] ~ /const char/)
		ok = passed_clean(f, parameter[f, base])
	return known[f, base] = ok
}
function assigned_clean(base, f,  rest) {
	rest = body[f]
	while (match(rest, "(^|[^A-Za-z_0-9.>])" base " = ")) {
		rest = substr(rest, RSTART + RLENGTH)
		if (!is_clean(until(rest, ",;"), f))
			return 0
	}
	return 1
}
function passed_clean(callee, k,  g, rest, list, any) {
	for (g = 1; g <= functions; g++) {
		if (meant(called[callee], g) != callee)
			continue
		rest = body[g]
		while (match(rest, "(^|[^A-Za-z_0-9])" called[callee] "\\(")) {
			rest = substr(rest, RSTART + RLENGTH - 1)
			split(arguments(rest, 1), list, SUBSEP)
			any = 1
			if (!is_clean(list[k], g))
				return 0
		}
	}
	return any
}
# What is written into BASE by calls in F.
function written_clean(base, f,  rest, name, n, k, list, h) {
	if (match(body[f], "[*]" id "+ = " base "[,;]"))
		return 0
	rest = body[f]
	while (match(rest, /[A-Za-z_0-9]+\(/)) {
		name = substr(rest, RSTART, RLENGTH - 1)
		rest = substr(rest, RSTART + RLENGTH - 1)
		n = split(arguments(rest, 1), list, SUBSEP)
		for (k = 1; k <= n; k++)
			if (based(list[k], base) && !call_clean(name, list, n, k, f))
				return 0
	}
	return 1
}
function call_clean(name, list, n, k, f,  h) {
	if (name ~ /^(if|while|for|switch|return|sizeof)$/ || name ~ /^pm_(cell|out)_/ || name in reads)
		return 1
	if (name in format || name in text)
		return k > 1 || unclean(name, list, n, f) == ""
	h = meant(name, f)
	if (!h)
		return 0
	return type[h, named[h, k]] ~ /const char \*[^*]*$/ || written_clean(named[h, k], h)
}

# --- printers -------------------------------------------------------------------------------

# The conversions of a format: "s" for strings, "d" for what else takes an argument.
function conversions(e,  s, all, at, one) {
	e = trim(e)
	if (until(e, "?") != e)
		e = until(substr(e, index(e, "?") + 1), ":")
	while (match(e, /@[0-9]+@|PRI[a-zA-Z0-9]+/)) {
		one = substr(e, RSTART, RLENGTH)
		s = s (one ~ /^@/ ? literal[substr(one, 2, RLENGTH - 2)] : "d")
		e = substr(e, RSTART + RLENGTH)
	}
	gsub(/%%/, "", s)
	while (match(s, /%[-+ #0-9.*hlzjt]*[a-zA-Z]/)) {
		one = substr(s, RSTART, RLENGTH)
		s = substr(s, RSTART + RLENGTH)
		for (at = gsub(/[*]/, "", one); at > 0; at--)
			all = all "d"
		all = all (one ~ /s$/ ? "s" : "d")
	}
	return all
}
# The first argument of a call of NAME that is not clean.
function unclean(name, list, n, f,  at, kinds, k) {
	at = name in text ? text[name] : format[name]
	if (!is_clean(list[at], f))
		return list[at]
	if (name in text)
		return ""
	kinds = conversions(list[at])
	for (k = 1; k <= length(kinds); k++)
		if (substr(kinds, k, 1) == "s" && !is_clean(list[at + k], f))
			return list[at + k]
	return ""
}
function line_of(f, at,  i) {
	for (i = at; i >= 0; i--)
		if ((f, i) in starts)
			return starts[f, i]
}
END {
	for (f = 1; f <= functions; f++) {
		rest = body[f]
		while (match(rest, /[A-Za-z_0-9]+\(/)) {
			name = substr(rest, RSTART, RLENGTH - 1)
			at = length(body[f]) - length(rest) + RSTART - 1
			rest = substr(rest, RSTART + RLENGTH - 1)
			if (name !~ /^(pm_out_(text|bytes|format)|f?printf|f?puts)$/)
				continue
			n = split(arguments(rest, 1), list, SUBSEP)
			e = unclean(name, list, n, f)
			if (e == "")
				continue
			while (match(e, /@[0-9]+@/))
				e = substr(e, 1, RSTART - 1) "\"" literal[substr(e, RSTART + 1, RLENGTH - 2)] "\"" substr(e, RSTART + RLENGTH)
			print file[f] ":" line_of(f, at) ": " name "() of " e
		}
	}
}
