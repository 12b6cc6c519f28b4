/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The variables of the environment one by one, and what is noted of bad ones. */
#ifndef PM_SETTINGS_VARIABLES_H
#define PM_SETTINGS_VARIABLES_H

#include "core/settings/options.h"

/* How much of a bad value a sentence quotes. */
#define PM_QUOTED 200

/* The value of NAME; NULL if it has none, or an empty one. */
const char *pm_variable(const char *name);

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

#endif
