/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the text of a placement into its CPUs. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/topology/placement.h"

#define STEPS_MAX 8
#define LIST_TEXT 160

/* `cpu`: the kernel's numbers, not a level of the tree. */
#define STEP_CPU PM_LEVELS

/* A step such as "core:0-3". */
struct step {
	struct pm_slice text;
	int level; /* enum pm_level or STEP_CPU */
	bool all;
	struct pm_cpus indexes;
	uint32_t most; /* size of the choice in the fullest parent */
	bool chosen;   /* one of them was chosen */
};

struct parse {
	const char *text;
	struct pm_topology *topology;
	struct perfmon_placement *placement;
	struct pm_diag *diag;
	struct pm_slice part; /* being parsed */
	struct pm_cpus asked; /* its CPUs */
};

__attribute__((format(printf, 4, 5))) static int
complain(struct parse *p, int err, struct pm_slice bad, const char *format, ...)
{
	char reason[512];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	return pm_diag_set(p->diag, err, "place '%s', '%s' at character %zu: %s",
			   pm_slice_quote(pm_slice_of(p->text)).text,
			   pm_slice_quote(bad).text, (size_t)(bad.at - p->text) + 1,
			   reason);
}

static int no_memory(struct parse *p)
{
	return pm_diag_set(p->diag, -ENOMEM, "no memory for the place '%s'",
			   pm_slice_quote(pm_slice_of(p->text)).text);
}

static int parse_list(struct parse *p, struct pm_slice text, struct pm_cpus *set,
		      const char *what)
{
	struct pm_slice bad = text;
	int err = text.length ? pm_cpus_parse_list(set, text, &bad) : -EINVAL;

	if (err == -ENOMEM)
		return no_memory(p);
	if (err == -ERANGE)
		return complain(p, err, bad, "no CPU has a number above %u", PM_CPUS_MAX);
	if (!err)
		return 0;
	if (!bad.length)
		bad = p->part;
	return complain(p, err, bad, "expects %s such as 0-3,8 ('+' joins parts)", what);
}

/* Parses "0x1,,0x3": words of 32 bits, the highest first. A single word may have any
 * length. */
static int parse_mask(struct parse *p)
{
	struct pm_slice rest = p->part, word;
	bool single = !memchr(p->part.at, ',', p->part.length);
	unsigned int words = 1;

	for (size_t i = 0; i < p->part.length; i++)
		words += p->part.at[i] == ',';
	while (rest.at) {
		unsigned int base;

		word = pm_slice_cut(rest, ',', &rest);
		base = 32 * --words;
		if (!word.length && (rest.at || words == 0) && !single)
			continue;
		if (word.length < 3 || word.at[0] != '0' ||
		    pm_char_lower(word.at[1]) != 'x' || (!single && word.length > 10))
			return complain(p, -EINVAL, word.length ? word : p->part,
					"expects hexadecimal words such as 0x3,0xff; "
					"several words have at most 8 digits each");
		for (size_t i = 2; i < word.length; i++) {
			size_t digit = word.length - 1 - i;
			uint64_t value;

			if (pm_slice_hex((struct pm_slice){word.at + i, 1}, &value))
				return complain(p, -EINVAL, word,
						"'%c' is not a hexadecimal digit",
						word.at[i]);
			for (unsigned int bit = 0; bit < 4; bit++)
				if (value >> bit & 1 &&
				    pm_cpus_add(&p->asked,
						base + 4 * (unsigned int)digit + bit))
					return no_memory(p);
		}
	}
	return 0;
}

/* Finds the groups of STEP's level that lie inside CONTEXT, by logical index. */
static int inside(struct parse *p, int level, const struct pm_cpus *context,
		  struct pm_cpus *groups)
{
	uint32_t last = PM_GROUP_NONE;

	pm_cpus_each (cpu, context) {
		uint32_t group = pm_topology_group_of(p->topology, cpu, level);

		if (group == last || group == PM_GROUP_NONE)
			continue;
		last = group;
		if (!pm_cpus_within(pm_topology_group_cpus(p->topology, level, group),
				    context))
			continue;
		if (pm_cpus_add(groups, group))
			return -ENOMEM;
	}
	return 0;
}

static int walk(struct parse *p, struct step *steps, size_t count,
		const struct pm_cpus *context);

static int walk_cpus(struct parse *p, struct step *steps, size_t count,
		     const struct pm_cpus *context)
{
	struct pm_cpus chosen = {0};
	int err = pm_cpus_copy(&chosen, context);

	if (!err && !steps->all)
		pm_cpus_and(&chosen, &steps->indexes);
	steps->chosen |= pm_cpus_next(&chosen, 0) >= 0;
	if (!err)
		err = walk(p, steps + 1, count - 1, &chosen);
	pm_cpus_free(&chosen);
	return err;
}

/* Adds the CPUs that STEPS choose inside CONTEXT (NULL: the machine) to p->asked. */
static int walk(struct parse *p, struct step *steps, size_t count,
		const struct pm_cpus *context)
{
	struct pm_cpus groups = {0};
	uint32_t found = 0, number = 0;
	int err = 0;

	if (!count)
		return pm_cpus_or(&p->asked, context);
	if (steps->level == STEP_CPU)
		return walk_cpus(p, steps, count,
				 context ? context : &p->topology->present);
	if (context)
		err = inside(p, steps->level, context, &groups);
	found = context ? pm_cpus_count(&groups)
			: p->topology->levels[steps->level].count;
	if (!context && found)
		err = pm_cpus_add_range(&groups, 0, found - 1);
	if (found > steps->most)
		steps->most = found;
	if (!err)
		pm_cpus_each (group, &groups) {
			if (err ||
			    !(steps->all || pm_cpus_has(&steps->indexes, number++)))
				continue;
			steps->chosen = true;
			err = walk(
				p, steps + 1, count - 1,
				pm_topology_group_cpus(p->topology, steps->level, group));
		}
	pm_cpus_free(&groups);
	return err;
}

static int parse_step(struct parse *p, struct pm_slice text, struct step *step)
{
	struct pm_slice indexes, name = pm_slice_cut(text, ':', &indexes);

	step->text = text;
	step->level = pm_slice_is(name, "cpu") ? STEP_CPU : pm_level_find(name);
	if (step->level < 0)
		return complain(p, -EINVAL, text.length ? text : p->part,
				"'%s' is not one of all, cpu, " PM_LEVEL_NAMES,
				pm_slice_quote(name).text);
	step->all = !indexes.at || pm_slice_is(indexes, "all");
	return step->all ? 0
			 : parse_list(p, indexes.length ? indexes : text, &step->indexes,
				      "numbers");
}

static int nothing_chosen(struct parse *p, const struct step *step, bool first)
{
	enum pm_level have[PM_LEVELS];
	char names[128] = "";
	size_t used = 0;

	if (step->level == STEP_CPU)
		return complain(p, -ENODEV, step->text, "no such CPU%s",
				first ? "" : " in the level before");
	if (p->topology->levels[step->level].count)
		return complain(p, -ENODEV, step->text,
				"selects nothing: %s has %u of level '%s', numbered "
				"from 0",
				first ? "this machine" : "the level before", step->most,
				pm_level_name(step->level));
	for (unsigned int i = 0, n = pm_topology_levels(p->topology, have); i < n; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
					 i ? ", " : "", pm_level_name(have[i]));
	return complain(
		p, -ENODEV, step->text,
		"selects nothing: this machine has no level '%s'%s; it has %s%s%s",
		pm_level_name(step->level),
		p->topology->plain ? " visible without hwloc" : "", names,
		p->topology->why_plain ? "; " : "",
		p->topology->why_plain ? p->topology->why_plain : "");
}

static int parse_path(struct parse *p)
{
	struct step steps[STEPS_MAX] = {0};
	struct pm_slice rest = p->part;
	size_t count = 0;
	int err = 0;

	while (!err && rest.at) {
		struct pm_slice text = pm_slice_cut(rest, '.', &rest);

		if (count == STEPS_MAX)
			err = complain(p, -EINVAL, text, "more than %d levels deep",
				       STEPS_MAX);
		else
			err = parse_step(p, text, &steps[count++]);
	}
	if (!err) {
		err = walk(p, steps, count, NULL);
		if (err)
			err = no_memory(p);
	}
	for (size_t i = 0; !err && i < count; i++)
		if (!steps[i].chosen)
			err = nothing_chosen(p, &steps[i], i == 0);
	for (size_t i = 0; i < count; i++)
		pm_cpus_free(&steps[i].indexes);
	return err;
}

/* Adds the CPUs of the part to the placement. At least one must be usable. */
static int add_part(struct parse *p)
{
	struct pm_topology *topology = p->topology;
	struct pm_cpus good = {0};
	char names[LIST_TEXT], allowed[LIST_TEXT];
	int err = pm_cpus_copy(&good, &p->asked);

	if (!err) {
		pm_cpus_and(&good, &topology->online);
		pm_cpus_print(&p->asked, names, sizeof(names));
		if (pm_cpus_next(&p->asked, 0) < 0)
			err = complain(p, -ENODEV, p->part, "has no CPU");
		else if (!pm_cpus_intersect(&p->asked, &topology->present))
			err = complain(p, -ENODEV, p->part,
				       "selects nothing: this machine's CPUs are %s",
				       pm_cpus_print(&topology->present, allowed,
						     sizeof(allowed)));
		else if (pm_cpus_next(&good, 0) < 0)
			err = complain(p, -ENODEV, p->part,
				       "selects nothing: offline (CPUs %s)", names);
		else if (!pm_cpus_intersect(&good, &topology->allowed))
			err = complain(p, -ENODEV, p->part,
				       "selects nothing: this process may not run on "
				       "CPUs %s (the cgroup allows %s)",
				       names,
				       pm_cpus_print(&topology->allowed, allowed,
						     sizeof(allowed)));
		else
			pm_cpus_and(&good, &topology->allowed);
		if (!err)
			err = pm_cpus_or(&p->placement->cpus, &good);
		if (!err)
			err = pm_cpus_or(&p->placement->dropped, &p->asked);
	}
	pm_cpus_free(&good);
	return err == -ENOMEM ? no_memory(p) : err;
}

static int parse_part(struct parse *p)
{
	int err;

	pm_cpus_clear(&p->asked);
	if (pm_slice_is(p->part, "all"))
		err = pm_cpus_copy(&p->asked, &p->topology->present) ? no_memory(p) : 0;
	else if (pm_slice_starts(p->part, "0x"))
		err = parse_mask(p);
	else if (pm_char_is_digit(*p->part.at))
		err = parse_list(p, p->part, &p->asked, "CPU numbers");
	else
		err = parse_path(p);
	return err ? err : add_part(p);
}

static int parse_parts(struct parse *p)
{
	const char *at = p->text, *plus = NULL;
	bool any = false;
	int err;

	for (;;) {
		while (pm_char_is_blank(*at))
			at++;
		if (*at == '+' && (plus || !any))
			return complain(p, -EINVAL, (struct pm_slice){at, 1},
					"no place before '+'");
		if (*at == '+') {
			plus = at++;
			continue;
		}
		if (!*at)
			break;
		p->part.at = at;
		while (*at && *at != '+' && !pm_char_is_blank(*at))
			at++;
		p->part.length = (size_t)(at - p->part.at);
		err = parse_part(p);
		if (err)
			return err;
		plus = NULL;
		any = true;
	}
	if (plus)
		return complain(p, -EINVAL, (struct pm_slice){plus, 1},
				"no place after '+'");
	if (!any)
		return pm_diag_set(
			p->diag, -EINVAL,
			"an empty place names no CPU; write 'all' for all CPUs");
	pm_cpus_and_not(&p->placement->dropped, &p->placement->cpus);
	return 0;
}

int pm_placement_parse(const char *text, struct perfmon_placement **out,
		       struct pm_diag *diag)
{
	struct parse p = {.text = text, .diag = diag};
	int err;

	if (strnlen(text, PM_PLACEMENT_TEXT_MAX + 1) > PM_PLACEMENT_TEXT_MAX)
		return pm_diag_set(diag, -E2BIG, "place '%s': longer than %d characters",
				   pm_slice_quote((struct pm_slice){text, 40}).text,
				   PM_PLACEMENT_TEXT_MAX);
	p.placement = calloc(1, sizeof(*p.placement));
	err = p.placement ? pm_topology_get(&p.placement->topology, diag) : no_memory(&p);
	if (!err) {
		p.topology = p.placement->topology;
		p.placement->text = strdup(text);
		err = p.placement->text ? parse_parts(&p) : no_memory(&p);
	}
	pm_cpus_free(&p.asked);
	if (err)
		pm_placement_free(p.placement);
	else
		*out = p.placement;
	return err;
}

void pm_placement_free(struct perfmon_placement *placement)
{
	if (!placement)
		return;
	pm_topology_put(placement->topology);
	pm_cpus_free(&placement->cpus);
	pm_cpus_free(&placement->dropped);
	free(placement->text);
	free(placement);
}
