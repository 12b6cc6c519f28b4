/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hooks/openmp/lines.h"

#include <stdbool.h>
#include <string.h>

#define SECTION_MAX ((size_t)32 << 20)

/* Bytes that are read in order. What is behind the end reads as 0. */
struct reader {
	const unsigned char *at, *end;
};

static uint64_t fixed(struct reader *reader, size_t size)
{
	uint64_t value = 0;

	if ((size_t)(reader->end - reader->at) < size) {
		reader->at = reader->end;
		return 0;
	}
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(&value, reader->at, size);
#else
	memcpy((char *)&value + sizeof(value) - size, reader->at, size);
#endif
	reader->at += size;
	return value;
}

static void pass(struct reader *reader, uint64_t size)
{
	if ((uint64_t)(reader->end - reader->at) < size)
		reader->at = reader->end;
	else
		reader->at += size;
}

/* LEB128: seven bits a byte, the lowest first. */
static uint64_t number(struct reader *reader, bool is_signed)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	unsigned char byte;

	do {
		byte = (unsigned char)fixed(reader, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && shift < 64 && byte & 0x40)
		value |= ~UINT64_C(0) << shift;
	return value;
}

/* What the header of a unit says about its program. */
struct unit {
	unsigned int step; /* of addresses */
	int line_base;
	unsigned int line_range, first_special;
	unsigned char arguments[256]; /* by opcode */
};

enum {
	EXTENDED = 0,
	COPY = 1,
	ADVANCE_ADDRESS = 2,
	ADVANCE_LINE = 3,
	CONSTANT_ADDRESS = 8,
	FIXED_ADDRESS = 9,
	EXTENDED_END = 1,
	EXTENDED_ADDRESS = 2,
};

/*
 * Runs the program of a unit, which makes the rows of its table. Returns the line of the row
 * at ADDRESS, or 0.
 */
static unsigned int run(const struct unit *unit, struct reader program, uint64_t address)
{
	uint64_t at = 0, line = 1;

	while (program.at < program.end) {
		unsigned int opcode = (unsigned int)fixed(&program, 1), special;
		struct reader extended;
		bool row = false;
		uint64_t size;

		if (opcode >= unit->first_special) {
			special = opcode - unit->first_special;
			at += (uint64_t)(special / unit->line_range) * unit->step;
			line += (uint64_t)((int)(special % unit->line_range) +
					   unit->line_base);
			row = true;
		} else if (opcode == EXTENDED) {
			size = number(&program, false);
			extended = program;
			pass(&program, size);
			extended.end = program.at;
			switch (fixed(&extended, 1)) {
			case EXTENDED_END:
				at = 0;
				line = 1;
				break;
			case EXTENDED_ADDRESS:
				size = (uint64_t)(extended.end - extended.at);
				at = fixed(&extended, size < 8 ? (size_t)size : 8);
				break;
			}
		} else if (opcode == COPY) {
			row = true;
		} else if (opcode == ADVANCE_ADDRESS) {
			at += number(&program, false) * unit->step;
		} else if (opcode == ADVANCE_LINE) {
			line += number(&program, true);
		} else if (opcode == CONSTANT_ADDRESS) {
			at += (uint64_t)((255 - unit->first_special) / unit->line_range) *
			      unit->step;
		} else if (opcode == FIXED_ADDRESS) {
			at += fixed(&program, 2);
		} else {
			for (unsigned int i = 0; i < unit->arguments[opcode]; i++)
				number(&program, false);
		}
		if (row && at == address)
			return (unsigned int)line;
	}
	return 0;
}

/* Reads the header of a unit, which has offsets of WIDTH bytes, and runs its program. */
static unsigned int find_in_unit(struct reader header, size_t width, uint64_t address)
{
	unsigned int version = (unsigned int)fixed(&header, 2);
	struct unit unit = {0};
	struct reader program;

	if (version < 2 || version > 5)
		return 0;
	/* The sizes of addresses and of segment selectors. */
	if (version == 5)
		pass(&header, 2);
	program = header;
	pass(&program, fixed(&program, width));
	pass(&header, width);
	unit.step = (unsigned int)fixed(&header, 1);
	/* How many operations an instruction has: 1. */
	if (version >= 4)
		pass(&header, 1);
	/* Whether rows begin statements. */
	pass(&header, 1);
	unit.line_base = (signed char)fixed(&header, 1);
	unit.line_range = (unsigned int)fixed(&header, 1);
	unit.first_special = (unsigned int)fixed(&header, 1);
	for (unsigned int i = 1; i < unit.first_special; i++)
		unit.arguments[i] = (unsigned char)fixed(&header, 1);
	return unit.line_range && unit.first_special ? run(&unit, program, address) : 0;
}

unsigned int lines_find(const void *section, size_t size, uint64_t address)
{
	struct reader rest = {section, (const unsigned char *)section + size}, unit;
	unsigned int line = 0;

	if (size > SECTION_MAX)
		return 0;
	while (!line && rest.at < rest.end) {
		size_t width = 4;
		uint64_t length = fixed(&rest, 4);

		if (length == 0xffffffff) {
			width = 8;
			length = fixed(&rest, 8);
		}
		unit = rest;
		pass(&rest, length);
		unit.end = rest.at;
		line = find_in_unit(unit, width, address);
	}
	return line;
}
