/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of calls, and the file that perfmon reads it from. */
#include "functions.h"

#include "pub_tool_clientstate.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_vki.h"

#define EVENTS PM_EXACT_EVENT_COUNT
/* More nodes are not made: a call from the last ones counts in its caller. */
#define NODES_MOST 4000000

struct node {
	UInt parent;   /* 0: a root */
	UInt function; /* of a root its number among the roots */
	ULong visits;
	ULong of[EVENTS];
};

struct root {
	UInt node;
	Int lwp;
	Bool gone; /* not of this process: its parent's, before the fork */
	HChar name[16];
};

/* What calling a function from a node leads to. */
struct step {
	UInt node, function, to;
};

static const HChar *folder;
static HChar *file; /* the last one that was written */
static struct node *nodes;
static UInt node_count, node_room;
static struct root *roots;
static UInt root_count, root_room;
static struct step *steps;
static UInt step_count, step_room; /* room is a power of two */
static ULong lost;		   /* calls that have no node */

Bool pm_tree_on, pm_tree_regions, pm_tree_stacks;

Bool pm_tree_option(const HChar *argument)
{
	if VG_STR_CLO (argument, "--tree", folder) {
		pm_tree_on = True;
		return True;
	}
	return False;
}

/* The folder has an absolute path. */
void pm_tree_begin(void)
{
	pm_tree_mark();
	if (!pm_functions_on || pm_tree_on)
		return;
	VG_(fmsg)("--function needs --tree=FOLDER\n");
	VG_(exit)(1);
}

static UInt new_node(UInt parent, UInt function)
{
	struct node *node;

	if (node_count + 1 >= node_room) {
		node_room = node_room ? 2 * node_room : 1024;
		nodes = VG_(realloc)("perfmon.nodes", nodes,
				     node_room * sizeof(nodes[0]));
	}
	node = &nodes[++node_count];
	VG_(memset)(node, 0, sizeof(*node));
	node->parent = parent;
	node->function = function;
	return node_count;
}

static void read_name(struct root *root, Int lwp)
{
	HChar path[64], name[sizeof(root->name)];
	SysRes opened;
	Int i, n;

	VG_(sprintf)(path, "/proc/self/task/%d/comm", lwp);
	opened = VG_(open)(path, VKI_O_RDONLY, 0);
	if (sr_isError(opened))
		return;
	n = VG_(read)((Int)sr_Res(opened), name, sizeof(name) - 1);
	VG_(close)((Int)sr_Res(opened));
	if (n <= 0)
		return;
	name[n] = '\0';
	for (i = 0; i < n; i++)
		if (name[i] == '\n')
			name[i] = i + 1 < n ? '?' : '\0';
	VG_(strcpy)(root->name, name);
}

UInt pm_tree_root(Int lwp)
{
	struct root *root;

	if (root_count >= root_room) {
		root_room = root_room ? 2 * root_room : 16;
		roots = VG_(realloc)("perfmon.roots", roots,
				     root_room * sizeof(roots[0]));
	}
	root = &roots[root_count];
	VG_(memset)(root, 0, sizeof(*root));
	root->node = new_node(0, root_count);
	root->lwp = lwp;
	nodes[root->node].visits = 1;
	root_count++;
	return root->node;
}

void pm_tree_name(UInt node, Int lwp)
{
	read_name(&roots[nodes[node].function], lwp);
}

/* --- calls ---------------------------------------------------------------------------- */

static struct step *place_of(UInt node, UInt function)
{
	UInt i = node * 2654435761u ^ function * 40503u;

	for (i &= step_room - 1; steps[i].node; i = (i + 1) & (step_room - 1))
		if (steps[i].node == node && steps[i].function == function)
			break;
	return &steps[i];
}

static void grow_steps(void)
{
	struct step *old = steps;
	UInt i, room = step_room;

	if (2 * step_count < room)
		return;
	step_room = room ? 2 * room : 4096;
	steps = VG_(calloc)("perfmon.steps", step_room, sizeof(steps[0]));
	for (i = 0; i < room; i++)
		if (old[i].node)
			*place_of(old[i].node, old[i].function) = old[i];
	VG_(free)(old);
}

/* Returns the open node of FUNCTION at NODE or above it, or 0. */
static UInt open_node(UInt node, UInt function)
{
	while (nodes[node].parent && nodes[node].function != function)
		node = nodes[node].parent;
	return nodes[node].parent ? node : 0;
}

UInt pm_tree_call(UInt node, UInt function)
{
	struct step *step;
	UInt to;

	grow_steps();
	step = place_of(node, function);
	if (step->node) {
		nodes[step->to].visits++;
		return step->to;
	}
	to = open_node(node, function);
	if (!to && node_count >= NODES_MOST) {
		lost++;
		return node;
	}
	if (!to)
		to = new_node(node, function);
	step->node = node;
	step->function = function;
	step->to = to;
	step_count++;
	nodes[to].visits++;
	return to;
}

void pm_tree_charge(UInt node, const ULong *counts, ULong *last)
{
	UInt i;

	for (i = 0; i < EVENTS; i++) {
		nodes[node].of[i] += counts[i] - last[i];
		last[i] = counts[i];
	}
}

void pm_tree_forked(UInt node)
{
	UInt i;

	for (i = 1; i <= node_count; i++) {
		nodes[i].visits = 0;
		VG_(memset)(nodes[i].of, 0, sizeof(nodes[i].of));
	}
	for (i = 0; i < root_count; i++)
		roots[i].gone = True;
	for (; nodes[node].parent; node = nodes[node].parent)
		nodes[node].visits = 1;
	nodes[node].visits = 1;
	roots[nodes[node].function].gone = False;
	roots[nodes[node].function].lwp = VG_(gettid)();
	lost = 0;
}

/* --- output --------------------------------------------------------------------------- */

static HChar buffer[1 << 16];
static Int used, output = -1;
static Bool failed;

static void flush(void)
{
	Int done = 0;

	while (done < used && !failed) {
		Int n = VG_(write)(output, buffer + done, used - done);

		failed = n <= 0;
		done += n;
	}
	used = 0;
}

static void line(const HChar *format, ...) PRINTF_CHECK(1, 2);
static void line(const HChar *format, ...)
{
	va_list arguments;

	if (used > (Int)sizeof(buffer) - 8192)
		flush();
	va_start(arguments, format);
	used += (Int)VG_(vsnprintf)(buffer + used, 8000, format, arguments);
	va_end(arguments);
}

static void write_counts(const ULong *counts)
{
	UInt i;

	for (i = 0; i < EVENTS; i++)
		if (pm_counted >> i & 1)
			line(" %llu", counts[i]);
	line("\n");
}

static void write_nodes(void)
{
	UInt i;

	for (i = 0; i < root_count; i++) {
		if (!roots[i].name[0] && !roots[i].gone)
			read_name(&roots[i], roots[i].lwp);
		line("thread %u %d %d %s\n", roots[i].node, roots[i].lwp, roots[i].gone,
		     roots[i].name);
	}
	for (i = 1; i <= node_count; i++) {
		line("node %u %u %llu", nodes[i].parent,
		     nodes[i].parent ? nodes[i].function : 0, nodes[i].visits);
		write_counts(nodes[i].of);
	}
}

static void write_all(const HChar *why, const ULong *total)
{
	HChar program[1000];
	UInt i;

	VG_(strncpy)(program, VG_(args_the_exename), sizeof(program) - 1);
	program[sizeof(program) - 1] = '\0';
	for (i = 0; program[i]; i++)
		if (program[i] == '\n')
			program[i] = '?';
	line("perfmon functions 1\nprocess %d %d %s %s\n", VG_(getpid)(), VG_(getppid)(),
	     why, program);
	for (i = 0; i < EVENTS; i++)
		if (pm_counted >> i & 1)
			line("event %s\n", pm_event_names[i]);
	pm_names_write(line);
	write_nodes();
	line("regions %d\nstacks %d\nlost %llu\ntotal", pm_tree_regions, pm_tree_stacks,
	     lost);
	write_counts(total);
	line("complete\n");
	flush();
}

static HChar *mark_name(void)
{
	HChar *name = VG_(malloc)("perfmon.mark", VG_(strlen)(folder) + 64);

	VG_(sprintf)(name, "%s/%d.begun", folder, VG_(getpid)());
	return name;
}

/* Where the folder cannot be reached any more, nobody will miss the process. */
void pm_tree_mark(void)
{
	HChar *name;
	SysRes made;

	if (!pm_tree_on)
		return;
	name = mark_name();
	made = VG_(open)(name, VKI_O_WRONLY | VKI_O_CREAT, 0600);
	if (!sr_isError(made))
		VG_(close)((Int)sr_Res(made));
	VG_(free)(name);
}

static void remove_mark(void)
{
	HChar *name = mark_name();

	VG_(unlink)(name);
	VG_(free)(name);
}

/* Creates a file in the folder: a process that calls exec leaves several. */
static SysRes create(void)
{
	SysRes made;
	Int n;

	file = VG_(realloc)("perfmon.file", file, VG_(strlen)(folder) + 64);
	for (n = 0; n < 10000; n++) {
		VG_(sprintf)(file, "%s/%d.%d", folder, VG_(getpid)(), n);
		made = VG_(open)(file, VKI_O_WRONLY | VKI_O_CREAT | VKI_O_EXCL, 0600);
		if (!sr_isError(made) || sr_Err(made) != VKI_EEXIST)
			break;
	}
	return made;
}

void pm_tree_write(const HChar *why, const ULong *total)
{
	SysRes made;

	if (!pm_tree_on)
		return;
	made = create();
	if (sr_isError(made)) {
		VG_(umsg)
		("the counts of functions cannot be written to '%s': error %lu\n", file,
		 sr_Err(made));
		return;
	}
	output = (Int)sr_Res(made);
	failed = False;
	write_all(why, total);
	VG_(close)(output);
	if (failed)
		VG_(umsg)
	("the counts of functions cannot be written to '%s': is the disk full?\n", file);
	else if (!VG_(strcmp)(why, "end")) remove_mark();
}

void pm_tree_remove(void)
{
	if (pm_tree_on && file)
		VG_(unlink)(file);
}
