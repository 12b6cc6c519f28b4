/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gzip's format (RFC 1952) of stored blocks (RFC 1951, 3.2.4). A profile of a thousand paths has
 * some ten kilobytes, which are not worth a library that compresses.
 */
#include "cli/export/export.h"

#define BLOCK_MAX 65535u

static void put_number(struct pm_out *out, uint32_t number, uint32_t bytes)
{
	for (; bytes; bytes--, number >>= 8)
		pm_out_format(out, "%c", (int)(number & 0xff));
}

static uint32_t crc_of(uint32_t crc, const char *text, size_t size)
{
	crc = ~crc;
	while (size--) {
		crc ^= (unsigned char)*text++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
	}
	return ~crc;
}

static void put_block(struct pm_out *out, const char *text, uint32_t size, bool last)
{
	put_number(out, last, 1);
	put_number(out, size, 2);
	put_number(out, ~size, 2);
	pm_out_bytes(out, text, size);
}

void export_gzip_begin(struct export_gzip *gzip, struct pm_out *out)
{
	/* Deflated, without a name or a time, written on an unknown system. */
	static const char head[10] = "\x1f\x8b\x08\0\0\0\0\0\0\xff";

	*gzip = (struct export_gzip){.out = out};
	pm_out_bytes(out, head, sizeof(head));
}

int export_gzip_print(void *argument, const char *text, size_t size)
{
	struct export_gzip *gzip = argument;

	gzip->crc = crc_of(gzip->crc, text, size);
	gzip->size += (uint32_t)size;
	while (size) {
		uint32_t part = size < BLOCK_MAX ? (uint32_t)size : BLOCK_MAX;

		put_block(gzip->out, text, part, false);
		text += part;
		size -= part;
	}
	return gzip->out->error;
}

void export_gzip_end(struct export_gzip *gzip)
{
	put_block(gzip->out, "", 0, true);
	put_number(gzip->out, gzip->crc, 4);
	put_number(gzip->out, gzip->size, 4);
}
