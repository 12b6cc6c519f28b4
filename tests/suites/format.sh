#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The C files are as .clang-format has them, and their comments as CONTRIBUTING.md wants them.
# No name reaches a printer of text unescaped.
. "$PM_TOP/scripts/suite.sh"

mapfile -t files < <(find src include exact hooks tests bench examples scripts/standin -name '*.[ch]' -o -name '*.hpp' -o -name '*.cc' | sort)
# Each version formats some lines in another way, so that one decides: Debian 12's.
format=
for program in clang-format-14 clang-format; do
	! "$program" --version 2>/dev/null | grep -q 'version 14\.' || { format=$program && break; }
done
if [ -n "$format" ]; then
	try "the ${#files[@]} C files are formatted" "$format" --style=file --dry-run -Werror "${files[@]}" || true
else
	skip "the ${#files[@]} C files are formatted" "Debian 12's clang-format 14 decides, and is not here"
fi

# What fits a line is not closed on the next.
closed() {
	awk 'FNR == 1 { last = "" }
	     last ~ /^[\t ]*\/\* / && last !~ /\*\// && /^[\t ]*\*\/$/ { print FILENAME ":" FNR ": closed on a line of its own" }
	     { last = $0 }' "${files[@]}"
}
try "no comment of one line is closed on the next" nothing closed || true

# --- words: those of tests/words are not used ---------------------------------------------

words() { # FILE...
	perl tests/words.pl tests/words "$@"
}
mapfile -t worded < <(find src include -name '*.[ch]' -o -name '*.hpp' | sort)
try "comments and identifiers use none of the words of tests/words" nothing words "${worded[@]}" || true
mkdir -p "$PM_SUITE_DIR/src"
printf '/* Who hears it. */\nint pm_gate;\nchar *text = "gate";\n' >"$PM_SUITE_DIR/src/words.c"
try "sees a word in a comment and in an identifier" test \
	"$(words "$PM_SUITE_DIR/src/words.c" | sed 's/.*words.c:\([0-9]*\): \([a-z]*\):.*/\1 \2/' | tr '\n' ' ')" = "1 hears 2 gate " || true

# --- printers of text: constants, cells, and what went through an escape -----------------

mapfile -t sources < <(find src -name '*.[ch]' ! -path src/core/report/output/out.c \
	! -path src/core/report/output/escape.c ! -path src/core/report/output/number.c | sort)
printed() { # FILE...
	awk -f tests/printed.awk "${sources[@]}" "$@"
}
try "nothing foreign reaches a printer of text" nothing printed || true

# Each way past the escapes is seen.
planted=$PM_SUITE_DIR/planted.c
is_printed() { # TEXT, and C on stdin
	cat >"$planted"
	prints "$1" printed "$planted"
}
seen() { # TEXT LINE...: in a function
	local text=$1
	shift
	{
		printf 'static void planted(struct pm_out *out, const struct pm_report_event *event)\n{\n'
		printf '\t%s\n' "$@"
		printf '}\n'
	} | is_printed "planted.c:$text"
}
through_a_parameter() {
	is_printed "planted.c:3: pm_out_text() of what" <<-'END'
		static void say(struct pm_out *out, const char *what)
		{
			pm_out_text(out, what);
		}
		void planted(const struct pm_report_tree *tree, struct pm_out *out)
		{
			say(out, "a constant");
			say(out, pm_report_name(tree, 1));
		}
	END
}
is_constant() {
	! seen "" "$@"
}
# shellcheck disable=SC2016 # C
{
	sees "%s of a name" "3: pm_out_format() of event->name" \
		'pm_out_format(out, "%u of %s", 1u, event->name);'
	sees "a name as the text" "3: pm_out_text() of event->name" \
		'pm_out_text(out, event->name);'
	sees "a name on standard output" "3: printf() of event->name" \
		'printf("%*s\n", 20, event->name);'
	sees "a name beside a constant" '3: pm_out_text() of event ?' \
		'pm_out_text(out, event ? event->name : "-");'
	sees "a name in a variable" "5: pm_out_text() of name" \
		'const char *name = "-";' 'name = event->name;' 'pm_out_text(out, name);'
	sees "a name in an array" "5: pm_out_format() of text" \
		'char text[64];' 'snprintf(text, sizeof(text), "%.0f %.40s", 1.0, event->name);' \
		'pm_out_format(out, "about %s", text);'
	sees "a name in a cell" "5: pm_out_text() of cell" \
		'char cell[PM_CELL];' 'strcpy(cell, event->name);' 'pm_out_text(out, cell);'
	try "takes constants and cells" is_constant 'char cell[PM_CELL];' 'pm_cell_time(cell, 1);' \
		'pm_out_format(out, "%s, %s", event ? "yes" : "no", cell);' || true
}
try "sees a name that a caller passes" through_a_parameter || true
