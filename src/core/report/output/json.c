/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/output/json.h"

#include "core/report/output/escape.h"

void pm_json_key(struct pm_json *j, const char *name)
{
	if (!j->first)
		pm_out_text(j->out, ",");
	j->first = false;
	if (!name)
		return;
	pm_out_json(j->out, name);
	pm_out_text(j->out, ":");
}

void pm_json_begin(struct pm_json *j, const char *name, const char *bracket)
{
	pm_json_key(j, name);
	pm_out_text(j->out, bracket);
	j->first = true;
}

bool pm_json_begin_known(struct pm_json *j, const char *name, const void *there)
{
	if (there)
		pm_json_begin(j, name, "{");
	else
		pm_json_null(j, name);
	return there;
}

void pm_json_begin_line(struct pm_json *j)
{
	pm_json_key(j, NULL);
	pm_out_text(j->out, "\n{");
	j->first = true;
}

void pm_json_close(struct pm_json *j, const char *bracket)
{
	pm_out_text(j->out, bracket);
	j->first = false;
}

void pm_json_string(struct pm_json *j, const char *name, const char *value)
{
	pm_json_key(j, name);
	pm_out_json(j->out, value);
}

void pm_json_number(struct pm_json *j, const char *name, uint64_t value)
{
	pm_json_key(j, name);
	pm_out_format(j->out, "%llu", (unsigned long long)value);
}

void pm_json_signed(struct pm_json *j, const char *name, int64_t value)
{
	pm_json_key(j, name);
	pm_out_format(j->out, "%lld", (long long)value);
}

void pm_json_null(struct pm_json *j, const char *name)
{
	pm_json_key(j, name);
	pm_out_text(j->out, "null");
}

void pm_json_bool(struct pm_json *j, const char *name, bool value)
{
	pm_json_key(j, name);
	pm_out_text(j->out, value ? "true" : "false");
}

void pm_json_real(struct pm_json *j, const char *name, double value, bool known)
{
	pm_json_key(j, name);
	if (known)
		pm_out_double(j->out, value);
	else
		pm_out_text(j->out, "null");
}

void pm_json_known(struct pm_json *j, const char *name, uint64_t value, bool known)
{
	if (known)
		pm_json_number(j, name, value);
	else
		pm_json_null(j, name);
}

void pm_json_text(struct pm_json *j, const char *name, const char *value, bool known)
{
	if (known)
		pm_json_string(j, name, value);
	else
		pm_json_null(j, name);
}
