/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The variables of the environment one by one, and what is noted of bad ones. */
#ifndef PM_SETTINGS_VARIABLES_H
#define PM_SETTINGS_VARIABLES_H

#include "core/settings/options.h"
#include "core/text/text.h"

/* How much of a bad VALUE a sentence quotes, by "%.*s". */
#define PM_QUOTED(value) pm_text_cut(value, 200), value

/* The value of NAME; NULL if it has none, or an empty one. */
const char *pm_variable(const char *name);

/* A copy of it; NULL: it has none, or *ERR becomes -ENOMEM. */
char *pm_variable_copy(const char *name, int *err);

/*
 * Values that the program sets for itself. pm_variable() gives such a value where the
 * environment has none: the user of the program wins.
 */

/* Finds the setting NAME, a variable without its prefix in any case, and checks VALUE ("" is
 * none) as the environment's is checked. Returns the setting's number; -EINVAL, with a
 * sentence: there is no such setting, or the environment's would have a note; -ENOMEM. */
int pm_setting_check(const char *name, const char *value, struct pm_diag *diag);

/* The two parts of this: returns the number of the setting NAME in a spelling that COMPARE accepts,
 * or -EINVAL with a similar name in LIKE; and has pm_variable() find VALUE alone, for the calling
 * thread, until VALUE is NULL. */
int pm_setting_find(const char *name, int (*compare)(const char *a, const char *b),
		    struct pm_suggestion *like);
void pm_setting_try(int number, const char *value);

/* Sets setting NUMBER to VALUE from now on. Returns 0 or -ENOMEM. One thread at a time;
 * other threads may look up variables meanwhile. */
int pm_setting_set(int number, const char *value);

/* The index of NAME's value in CHOICES ("" ends them), or FALLBACK with a note. */
int pm_variable_choice(struct pm_options *options, const char *name,
		       const char *const *choices, int fallback);

/* 0 or 1, or FALLBACK with a note. */
bool pm_variable_truth(struct pm_options *options, const char *name, bool fallback);

/* NAME's value between MIN and MAX, or FALLBACK. Only decimal digits are a number. */
uint64_t pm_variable_bounded(struct pm_options *options, const char *name, uint64_t min,
			     uint64_t max, uint64_t fallback);

/* Another program's variable: whether NAME has a number for *VALUE. Nothing is noted. */
bool pm_variable_number(const char *name, int *value);

/* Notes variables of the library's prefix that it does not have: before all other notes. */
void pm_variables_check(struct pm_options *options);

/*
 * The parts of pm_options_read() in files of their own, in the order of the calls. *ERR
 * becomes -ENOMEM if a value had to be dropped.
 */

/* PERFMON_OUTPUT and PERFMON_PROFILE. The rank and the format must be known. */
void pm_options_read_output(struct pm_options *options, int *err);
void pm_options_read_profile(struct pm_options *options, int *err);

/* PERFMON_ONLY, _SKIP, _DEPTH, _MIN_MEAN and _STEPS. The stride must be known. */
void pm_options_read_filters(struct pm_options *options, int *err);

#endif
