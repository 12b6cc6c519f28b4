/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The environment, read in this one place. perfmon-environment(7) has the variables and
 * their values. A value that cannot be used is quoted in a note and the default stands in
 * for it, or the bound that it exceeds: nothing measured is lost over a typing error. An
 * empty value is an unset one. In a set-user-ID program every variable is ignored. A
 * variable of another name with the same prefix is named in a note.
 *
 * A path that has / at its end, or leads to a folder, is that folder: the file in it is
 * perfmon.%r.profile, without a rank perfmon.%p.profile, and of reports perfmon.%r.txt and
 * so on. To a path of a file .%r is added if there is a rank, and neither %r nor %p.
 */
#ifndef PM_SETTINGS_OPTIONS_H
#define PM_SETTINGS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/diag.h"

enum pm_output { PM_OUTPUT_STDERR, PM_OUTPUT_STDOUT, PM_OUTPUT_NONE, PM_OUTPUT_PATH };

/* The formats of reports: X(CONSTANT, "name", "suffix of files", writer, text), where
 * report/formats.h declares pm_report_WRITER(), and lines of TEXT fit a terminal. */
#define PM_FORMATS_ALL(X)                                                                \
	X(TEXT, "text", "txt", text, true) /* the call tree */                           \
	X(FLAT, "flat", "txt", text, true) /* text, by region */                         \
	X(JSON, "json", "json", json, false)                                             \
	X(CSV, "csv", "csv", csv, false)

enum pm_format {
#define PM_FORMAT_CONSTANT(constant, name, suffix, writer, text) PM_FORMAT_##constant,
	PM_FORMATS_ALL(PM_FORMAT_CONSTANT)
#undef PM_FORMAT_CONSTANT
		PM_FORMATS /* how many there are */
};

#define PM_OPTIONS_NOTES 16

/* One visit in so many of a region is measured; NAME NULL: of all other regions. */
struct pm_option_stride {
	char *name;
	uint32_t stride;
};
#define PM_STRIDE_MAX 1000000000u
#define PM_DEPTH_MAX  256u

/* Bounds, and what is taken if nobody says. The kernel allows pages up to
 * kernel.perf_event_mlock_kb, and calls up to kernel.perf_event_max_stack, which is the
 * real upper bound (127 where it cannot be read). */
#define PM_SAMPLE_PAGES_MIN	1u
#define PM_SAMPLE_PAGES_DEFAULT 64u
#define PM_SAMPLE_PAGES_MAX	65536u
#define PM_CALL_DEPTH_MIN	1u
#define PM_CALL_DEPTH_DEFAULT	127u
#define PM_CALL_DEPTH_MAX	65535u /* attr.sample_max_stack has 16 bits */
#define PM_MIN_PERIOD_MIN	1u
#define PM_MIN_PERIOD_DEFAULT	1u
#define PM_MIN_PERIOD_MAX	(UINT64_C(1) << 62)

struct pm_options {
	char *events; /* NULL unless both are false */
	bool events_auto;
	bool events_none;
	enum pm_output output;
	char *output_path;   /* of PM_OUTPUT_PATH: a template for pm_options_expand() */
	char *output_whole;  /* the same for the report of all ranks; NULL: the same */
	bool output_folder;  /* the path's folder is made if it is missing */
	bool output_unasked; /* the user has not chosen the place: rank 0 prints it */
	bool output_asked;   /* PERFMON_OUTPUT is set, if only to auto */
	enum pm_format format;
	char *profile_path; /* a template too; NULL: a memfd */
	bool profile_folder;
	bool arm;
	bool fence;
	bool arguments;
	bool debug;
	bool keep_threads;
	char *level;	    /* NULL: none; not checked here */
	double stride_auto; /* share of the time that measuring may take; 0: not asked */
	uint32_t stride_count; /* with neither each visit is measured */
	struct pm_option_stride *strides;
	char *only, *skip;  /* lists of patterns; NULL: none */
	uint32_t depth;	    /* PM_DEPTH_MAX: all levels */
	double min_mean_ns; /* 0: none */
	char *steps;	    /* a list of patterns; NULL: none */
	bool subtract_bias;
	uint32_t top;	       /* paths that text shows; 0: all */
	char *run_notes;       /* the text, for pm_run_note_next(); NULL: none */
	char *groups;	       /* names of groups of events; NULL: none */
	char *metrics;	       /* the text; NULL: the built-in ones */
	uint32_t sample_pages; /* a power of two */
	uint32_t call_depth;
	uint64_t min_period;
	int rank;  /* -1: no launcher */
	int ranks; /* 0: not known */
	uint32_t note_count;
	uint32_t
		unknown_count; /* of the notes, the first are of variables of no meaning */
	char *notes[PM_OPTIONS_NOTES]; /* a sentence for each value that was refused */
};

/*
 * pm_options_read() - fills OPTIONS from the environment. Copies what it keeps, so that
 * a later setenv() changes nothing; relative paths are made absolute, so that a later
 * chdir() changes nothing either. Always leaves a usable OPTIONS; returns 0, or -ENOMEM
 * (with DIAG) when a value had to be dropped for want of memory.
 */
int pm_options_read(struct pm_options *options, struct pm_diag *diag);

/* The events of the environment as it is now; NULL: auto or none. */
const char *pm_options_events(void);

/* The groups of the environment as it is now; NULL: none. */
const char *pm_options_groups(void);

/* Adds a sentence about a value that was refused, if there is room. */
__attribute__((format(printf, 2, 3))) void pm_options_note(struct pm_options *options,
							   const char *format, ...);

/* Sets the options of an empty environment. */
void pm_options_default(struct pm_options *options);

/* pm_options_stride() - the stride of the region called NAME; 1: each visit; 0: one that
 * keeps measuring below stride_auto. */
uint32_t pm_options_stride(const struct pm_options *options, const char *name);

/* Returns whether the region called NAME is left out. Calls no malloc. */
bool pm_options_leave_out(const struct pm_options *options, const char *name);

/* Returns whether the visits of the region called NAME are kept by steps. Calls no malloc. */
bool pm_options_has_steps(const struct pm_options *options, const char *name);

/* Returns whether OPTIONS leave any visit out. */
bool pm_options_filter(const struct pm_options *options);

/* A number for all strides of OPTIONS: others have another one, but by rare accident. */
uint32_t pm_options_stride_hash(const struct pm_options *options);

/* Frees what OPTIONS holds; it may be read or freed again. */
void pm_options_free(struct pm_options *options);

/* Returns the suffix of FORMAT's files, without the dot. */
const char *pm_format_suffix(enum pm_format format);

/*
 * pm_options_expand() - TEMPLATE with %p (pid), %r (rank; 0 without a launcher), %h
 * (host) and %% replaced, in BUFFER. Returns the length, -EINVAL for another %,
 * -ENAMETOOLONG if it does not fit. A "/" in HOST becomes "_".
 */
int pm_options_expand(const char *template, int pid, int rank, const char *host,
		      char *buffer, size_t size);

/* pm_options_make_folder() - makes the folder of the file PATH: 0, also if it is there, or
 * what mkdir(2) gave, or -ENOMEM. */
int pm_options_make_folder(const char *path);

/* Test hook: looks up a variable; secure_getenv by default. */
extern char *(*pm_options_getenv)(const char *name);

#endif
