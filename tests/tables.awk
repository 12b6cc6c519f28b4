# SPDX-License-Identifier: LGPL-2.1-or-later
#
# objdump -tr OBJECT... | awk -f tables.awk: "OBJECT NAME TARGET" for each pointer in a constant
# object NAME, by the relocations of .data.rel.ro and .rodata. A TARGET that begins with
# ".text" is a function of the same file.

function hex(text,  i, n) {
	for (i = 1; i <= length(text); i++)
		n = 16 * n + index("0123456789abcdef", substr(text, i, 1)) - 1
	return n
}
/^[^ ].*:     file format / {
	object = $1
	sub(/:$/, "", object)
	count = 0
	where = ""
	next
}
/^[0-9a-f]+ .* O \.(data\.rel\.ro|rodata)/ {
	for (i = 2; $i != "O"; i++)
		;
	section[++count] = $(i + 1)
	first[count] = hex($1)
	size[count] = hex($(i + 2))
	name[count] = $NF
	sub(/\..*/, "", name[count])
	next
}
/^RELOCATION RECORDS FOR/ {
	where = substr($4, 2, length($4) - 3)
	next
}
where ~ /^\.(data\.rel\.ro|rodata)/ && $3 ~ /^(\.text|[a-zA-Z_])/ {
	sub(/[+-]0x.*/, "", $3)
	for (i = 1; i <= count; i++)
		if (section[i] == where && hex($1) >= first[i] && hex($1) < first[i] + size[i])
			print object, name[i], $3
}
