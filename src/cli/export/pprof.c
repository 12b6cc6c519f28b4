/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pprof's format: a message of protocol buffers (profile.proto of github.com/google/pprof), in
 * gzip's format. A path is a sample, and its regions are the functions of the sample's stack. A
 * number of a name or text is that of its entry in the table of strings, which stands at the
 * end.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/export/export.h"
#include "core/report/model/times.h"
#include "core/text/bytes.h"

/* The fields of profile.proto, and the wire types of protocol buffers. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS = 10,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
	/* A type has a name and a unit, a label has a key and a text. */
	FIRST_TEXT = 1,
	SECOND_TEXT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LOCATION_ID = 1,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	VARINT = 0,
	BYTES = 2
};

static void put_varint(struct pm_bytes *m, uint64_t value)
{
	unsigned char byte;

	do {
		byte = (unsigned char)(value > 0x7f ? value | 0x80 : value);
		pm_bytes_add(m, &byte, 1);
	} while (value >>= 7);
}

static void put_field(struct pm_bytes *m, uint32_t field, uint64_t value)
{
	put_varint(m, field << 3 | VARINT);
	put_varint(m, value);
}

static void put_bytes(struct pm_bytes *m, uint32_t field, const void *bytes, size_t size)
{
	put_varint(m, field << 3 | BYTES);
	put_varint(m, size);
	pm_bytes_add(m, bytes, size);
}

/* Adds INNER, a message inside of M, which is empty then. */
static void put_inner(struct pm_bytes *m, uint32_t field, struct pm_bytes *inner)
{
	put_bytes(m, field, inner->data, inner->used);
	m->failed |= inner->failed;
	pm_bytes_free(inner);
}

/* Writes M, which is empty then. Returns 0 or -ENOMEM. */
static int flush(struct export_job *job, struct pm_bytes *m)
{
	int err = m->failed ? -ENOMEM : 0;

	if (!err)
		pm_out_bytes(&job->inner, (const char *)m->data, m->used);
	pm_bytes_free(m);
	return err;
}

/* Returns the number of TEXT as plain text. */
static uint64_t string(struct export_job *job, struct pm_bytes *m, const char *text)
{
	struct cli_text *entry = *text ? export_add_plain(&job->table, 0, text)
				       : cli_texts_add(&job->table, 0, text);

	m->failed |= !entry;
	return entry ? entry->number : 0;
}

/* Writes a type or a label. */
static void put_texts(struct export_job *job, struct pm_bytes *m, uint32_t field,
		      const char *first, const char *second)
{
	struct pm_bytes inner = {.used = 0};

	put_field(&inner, FIRST_TEXT, string(job, &inner, first));
	put_field(&inner, SECOND_TEXT, string(job, &inner, second));
	put_inner(m, field, &inner);
}

/* Writes the unit of event E, whose values are whole numbers: its scale is part of the unit. */
static void put_event_type(struct export_job *job, struct pm_bytes *m,
			   const struct pm_report_event *event)
{
	const struct perfmon_profile_counter *counter = event->first;
	char unit[100];

	if (!*counter->unit)
		snprintf(unit, sizeof(unit), "count");
	else if (counter->scale == 1)
		snprintf(unit, sizeof(unit), "%.60s",
			 strcmp(counter->unit, "ns") ? counter->unit : "nanoseconds");
	else
		snprintf(unit, sizeof(unit), "x %g %.60s", counter->scale, counter->unit);
	put_texts(job, m, PROFILE_SAMPLE_TYPE, event->name, unit);
}

static void put_types(struct export_job *job, const struct export_profile *profile,
		      struct pm_bytes *m)
{
	const struct pm_report_model *model = profile->model;
	struct export_weight weight;
	const char *first = export_column(model, 0, &weight), *name;

	for (uint32_t c = 0; (name = export_column(model, c, &weight)); c++) {
		if (weight.kind == EXPORT_TIME)
			put_texts(job, m, PROFILE_SAMPLE_TYPE, name, "nanoseconds");
		else
			put_event_type(job, m, &model->events[weight.index]);
	}
	put_texts(job, m, PROFILE_SAMPLE_TYPE, "visits", "count");
	/* Otherwise pprof shows the last one first. */
	put_field(m, PROFILE_DEFAULT_TYPE, string(job, m, first ? first : "visits"));
}

/* Writes what readers show above their tables. */
static int put_head(struct export_job *job, const struct export_profile *profile)
{
	const struct pm_snapshot *s = profile->snapshot;
	struct pm_bytes m = {.used = 0};

	string(job, &m, ""); /* number 0 is the empty text */
	put_types(job, profile, &m);
	put_field(&m, PROFILE_TIME_NS, s->header.begin_realtime_ns);
	put_field(&m, PROFILE_DURATION_NS, (uint64_t)pm_report_duration(s));
	put_field(&m, PROFILE_COMMENT,
		  string(job, &m,
			 "Regions of perfmon " PACKAGE_VERSION
			 ": a sample is all visits of a path."));
	if (profile->model->exact)
		put_field(&m, PROFILE_COMMENT, string(job, &m, PM_REPORT_EXACT));
	return flush(job, &m);
}

/* Writes the function of NAME, and its location, if they are new. Returns their number. */
static uint64_t location(struct export_job *job, struct pm_bytes *m, const char *name)
{
	struct pm_bytes inner = {.used = 0}, line = {.used = 0};
	struct cli_text *entry = export_add_plain(&job->table, 0, name);

	m->failed |= !entry;
	if (!entry || entry->used)
		return entry ? entry->number : 0;
	entry->used = true;
	put_field(&inner, FUNCTION_ID, entry->number);
	put_field(&inner, FUNCTION_NAME, entry->number);
	put_inner(m, PROFILE_FUNCTION, &inner);
	put_field(&line, LINE_FUNCTION, entry->number);
	put_field(&inner, LOCATION_ID, entry->number);
	put_inner(&inner, LOCATION_LINE, &line);
	put_inner(m, PROFILE_LOCATION, &inner);
	return entry->number;
}

/* Adds a label for each state and mark of the value of EVENT that a reader has to know. */
static void put_marks(struct export_job *job, struct pm_bytes *sample, const char *name,
		      const struct pm_value *value)
{
	char text[256];

	if (value->state != PM_COUNTED) {
		put_texts(job, sample, SAMPLE_LABEL, "not counted", name);
		return;
	}
	for (uint32_t mark = 1; mark && mark <= value->marks; mark <<= 1) {
		if (!(value->marks & mark & EXPORT_MARKS))
			continue;
		snprintf(text, sizeof(text), "%s: %s", name, pm_report_mark_name(mark));
		put_texts(job, sample, SAMPLE_LABEL, "mark", text);
	}
}

static void put_values(struct export_job *job, struct export_profile *profile,
		       const struct pm_report_tree *tree, uint32_t n,
		       struct pm_bytes *sample)
{
	struct pm_bytes values = {.used = 0};
	struct export_weight weight;
	const char *name;

	for (uint32_t c = 0; (name = export_column(tree->model, c, &weight)); c++) {
		struct pm_value value = export_weigh(tree, n, &weight, true);

		put_varint(&values, export_whole(profile, tree, n, &weight, true));
		/* Another run alone may have visited the path. */
		if (pm_path(tree, n)->visits.entered || !pm_path(tree, n)->threads.count)
			put_marks(job, sample, name, &value);
	}
	if (!pm_path(tree, n)->threads.count)
		put_texts(job, sample, SAMPLE_LABEL, "not counted", "visits");
	put_varint(&values, pm_path(tree, n)->visits.ended);
	put_inner(sample, SAMPLE_VALUE, &values);
}

static void put_process(struct export_job *job, const struct export_profile *profile,
			struct pm_bytes *sample)
{
	const struct perfmon_profile_header *header = &profile->snapshot->header;
	char text[400];
	int used = snprintf(text, sizeof(text), "%.120s, pid %u on %.120s",
			    header->program, header->pid, header->host);

	if (header->rank >= 0)
		snprintf(text + used, sizeof(text) - (size_t)used, ", rank %d",
			 header->rank);
	put_texts(job, sample, SAMPLE_LABEL, "process", text);
}

int export_pprof(struct pm_out *out, struct export_profile *profile,
		 struct export_job *job)
{
	const struct pm_report_tree *tree = profile->tree;
	int err = 0;

	if (profile->first) {
		export_gzip_begin(&job->gzip, out);
		job->inner = (struct pm_out){.sink = export_gzip_print,
					     .argument = &job->gzip};
		err = put_head(job, profile);
	}
	for (uint32_t n = pm_path_next(tree, 0); n && !err; n = pm_path_next(tree, n)) {
		struct pm_bytes m = {.used = 0}, sample = {.used = 0},
				stack = {.used = 0};

		for (uint32_t up = n; up; up = pm_path(tree, up)->parent)
			put_varint(&stack, location(job, &m, pm_path_name(tree, up)));
		put_inner(&sample, SAMPLE_LOCATION, &stack);
		put_values(job, profile, tree, n, &sample);
		if (profile->thread)
			put_texts(job, &sample, SAMPLE_LABEL, "thread", profile->thread);
		if (job->profiles > 1)
			put_process(job, profile, &sample);
		put_inner(&m, PROFILE_SAMPLE, &sample);
		err = flush(job, &m);
	}
	return err;
}

int export_pprof_end(struct pm_out *out, struct export_job *job)
{
	struct pm_bytes m = {.used = 0};
	int err = 0;

	(void)out;
	for (uint32_t i = 0; i < job->notes.count; i++)
		put_field(&m, PROFILE_COMMENT,
			  string(job, &m, job->notes.entries[i]->text));
	err = flush(job, &m);
	for (uint32_t i = 0; !err && i < job->table.count; i++) {
		const char *text = job->table.entries[i]->text;

		put_bytes(&m, PROFILE_STRING, text, strlen(text));
		err = flush(job, &m);
	}
	/* An error of the sink is in OUT, too. */
	if (!err && !pm_out_end(&job->inner))
		export_gzip_end(&job->gzip);
	return err;
}
