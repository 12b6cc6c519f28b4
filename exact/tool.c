/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A Valgrind tool that counts the instructions and other events of each thread, and lets
 * the program read its own counts (src/arch/exact.h) while it runs.
 *
 * Valgrind runs one thread at a time. Translated code adds to counts at fixed addresses.
 * These are the counts of the running thread, and are exchanged when Valgrind changes
 * threads.
 */
#include "counts.h"
#include "decode.h"
#include "functions.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_clreq.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#define EVENTS PM_EXACT_EVENT_COUNT

/* A variable of Valgrind: whether to explain each instruction that Valgrind does not
 * know, and so each counter read. */
extern Bool VG_(clo_sigill_diag);
/* Moves a descriptor out of the program's reach and sets close-on-exec. */
extern Int VG_(safe_fd)(Int fd);
/* Returns the number of threads that have begun and not ended. */
extern Int VG_(count_living_threads)(void);

struct counts {
	ULong of[EVENTS];
};

const HChar *const pm_event_names[] = {
#define NAME(event, name, text) name,
	PM_EXACT_EVENTS(NAME)
#undef NAME
};

static struct pm_exact self = {sizeof(self), PM_EXACT_VERSION, EVENTS, 0};

/* --- threads ------------------------------------------------------------------------ */

static ThreadId current = VG_INVALID_THREADID; /* the owner of pm_count */
static struct counts *saved;		       /* by thread, for those that do not run */
static struct counts ended;		       /* the sum of ended threads */
static struct counts inherited;		       /* the parent's counts at a fork */

static void add(struct counts *sum, const ULong *counts)
{
	UInt i;

	for (i = 0; i < EVENTS; i++)
		sum->of[i] += counts[i];
}

static void runs(ThreadId tid, ULong blocks)
{
	if (tid == current)
		return;
	if (current != VG_INVALID_THREADID)
		VG_(memcpy)(&saved[current], pm_count, sizeof(saved[0]));
	VG_(memcpy)(pm_count, &saved[tid], sizeof(saved[0]));
	VG_(memset)(&saved[tid], 0, sizeof(saved[0]));
	current = tid;
	if (pm_tree_on)
		pm_functions_runs(tid);
}

static const ULong *counts_of(ThreadId tid)
{
	return tid == current ? pm_count : saved[tid].of;
}

static void ends(ThreadId tid)
{
	if (pm_tree_on)
		pm_functions_ends(tid);
	if (tid != current) {
		add(&ended, saved[tid].of);
		VG_(memset)(&saved[tid], 0, sizeof(saved[0]));
		return;
	}
	add(&ended, pm_count);
	VG_(memset)(pm_count, 0, sizeof(saved[0]));
	current = VG_INVALID_THREADID;
}

/* The forking thread is the child's only thread and keeps its counts. The totals of the
 * child begin at the fork. */
static void forked(ThreadId tid)
{
	VG_(memset)(saved, 0, VG_N_THREADS * sizeof(saved[0]));
	VG_(memset)(&ended, 0, sizeof(ended));
	VG_(memcpy)(&inherited, pm_count, sizeof(inherited));
	if (pm_tree_on)
		pm_functions_forked(tid);
	pm_tree_mark();
}

/* Sums the counts of the process since its exec or fork. */
static void total(struct counts *sum)
{
	UInt i;

	*sum = ended;
	add(sum, pm_count);
	for (i = 0; i < VG_N_THREADS; i++)
		add(sum, saved[i].of);
	for (i = 0; i < EVENTS; i++)
		sum->of[i] -= inherited.of[i];
}

/* --- options ------------------------------------------------------------------------ */

static const HChar *events = "instructions";
static const HChar *totals;
static Int totals_fd = -1;

static Bool option(const HChar *argument)
{
	if (VG_STR_CLO(argument, "--events", events) ||
	    VG_STR_CLO(argument, "--totals", totals))
		return True;
	return pm_names_option(argument) || pm_tree_option(argument);
}

static void usage(void)
{
	UInt i;

	VG_(printf)
	("    --events=NAME,NAME...     what is counted [instructions]\n"
	 "    --totals=FILE             append the counts of each process to FILE\n"
	 "    --tree=FOLDER             write the tree of calls of each process to a "
	 "file there\n"
	 "    --function=PATTERN        functions that the tree has; may be given again\n"
	 "    --functions=yes           all of them\n"
	 "  events:\n");
	for (i = 0; i < EVENTS; i++)
		VG_(printf)("    %s\n", pm_event_names[i]);
}

static void debug_usage(void)
{
	VG_(printf)("    (none)\n");
}

/* Returns the event with the LENGTH bytes at NAME, or EVENTS if there is none. */
static UInt find(const HChar *name, SizeT length)
{
	UInt i;

	for (i = 0; i < EVENTS; i++) {
		if (VG_(strlen)(pm_event_names[i]) == length &&
		    !VG_(strncmp)(pm_event_names[i], name, length))
			break;
	}
	return i;
}

static void choose_events(void)
{
	const HChar *at = events;

	for (;;) {
		SizeT length = 0;
		UInt event;

		while (at[length] && at[length] != ',')
			length++;
		event = find(at, length);
		if (event == EVENTS) {
			VG_(fmsg)
			("--events: '%.*s' is no event of this tool. "
			 "See valgrind --tool=perfmon --help\n",
			 (int)length, at);
			VG_(exit)(1);
		}
		pm_counted |= 1u << event;
		at += length;
		if (!*at)
			break;
		at++;
	}
	self.counted = pm_counted;
}

/* --- totals of processes ------------------------------------------------------------- */

/*
 * Appends a line to the file: WHAT, the process, its counts, and its program. The
 * program's name shows that the counts before it are complete. The line begins with a
 * newline, because a full disk may have cut the line before.
 */
static void tell(const HChar *what)
{
	HChar line[EVENTS * 40 + 600], *at;
	struct counts sum;
	UInt i, length;
	Int written;

	if (totals_fd < 0)
		return;
	length = VG_(sprintf)(line, "\n%s %d", what, VG_(getpid)());
	total(&sum);
	for (i = 0; i < EVENTS; i++) {
		if (pm_counted >> i & 1)
			length += VG_(sprintf)(line + length, " %s=%llu",
					       pm_event_names[i], sum.of[i]);
	}
	at = line + length;
	length += VG_(snprintf)(at, 500, " %s", VG_(args_the_exename));
	for (; *at; at++)
		if (*at == '\n')
			*at = '?';
	line[length++] = '\n';
	written = VG_(write)(totals_fd, line, (Int)length);
	if (written != (Int)length)
		VG_(umsg)
	("the totals cannot be written to '%s': error %d\n", totals,
	 written < 0 ? -written : VKI_ENOSPC);
}

/* Writes the tree of calls of the process. */
static void tell_tree(const HChar *why)
{
	struct counts sum;

	if (!pm_tree_on)
		return;
	pm_functions_charge();
	total(&sum);
	pm_tree_write(why, sum.of);
}

/* Opens the file at the start, because the program may change its directory, its root
 * and its user. If the program put a FIFO in its place, the open does not wait for a
 * reader. */
static void open_totals(void)
{
	SysRes file;

	if (!totals)
		return;
	file = VG_(open)(
		totals, VKI_O_WRONLY | VKI_O_CREAT | VKI_O_APPEND | VKI_O_NONBLOCK, 0600);
	if (sr_isError(file)) {
		VG_(fmsg)
		("--totals: '%s' cannot be written: error %lu\n", totals, sr_Err(file));
		VG_(exit)(1);
	}
	totals_fd = VG_(safe_fd)((Int)sr_Res(file));
}

static Bool is_exec(UInt number)
{
	return number == __NR_execve || number == __NR_execveat;
}

/* Valgrind would crash. One entry of its table of threads is never used. */
static void check_threads(void)
{
	if ((UInt)VG_(count_living_threads)() + 1 < VG_N_THREADS)
		return;
	VG_(umsg)
	("the program creates its thread %u: exact counts of one process are limited to "
	 "%u "
	 "threads at a time\n",
	 VG_N_THREADS, VG_N_THREADS - 1);
	VG_(exit)(1);
}

static void before_call(ThreadId tid, UInt number, UWord *arguments, UInt n)
{
	if (is_exec(number)) {
		tell("exec");
		tell_tree("exec");
	}
	if (number == __NR_clone && arguments[0] & VKI_CLONE_THREAD)
		check_threads();
}

/* A successful exec does not return. A failed exec has executed nothing, so that the
 * counts are those of the line before. */
static void after_call(ThreadId tid, UInt number, UWord *arguments, UInt n, SysRes result)
{
	if (is_exec(number)) {
		tell("noexec");
		pm_tree_remove();
	}
}

/* Returns whether the process ended at an instruction that Valgrind does not know. */
static Bool ends_at_unknown(void)
{
	ThreadId tid = VG_(get_running_tid)();

	return pm_unknown && tid != VG_INVALID_THREADID &&
	       VG_(get_IP)(tid) == pm_unknown &&
	       VG_(am_is_valid_for_client)(pm_unknown, 4, VKI_PROT_READ);
}

static void finished(Int status)
{
	const UChar *byte = (const UChar *)pm_unknown;

	tell("end");
	tell_tree("end");
	if (!ends_at_unknown())
		return;
	tell("unknown");
	VG_(umsg)
	("'%s' ended: Valgrind does not know the instruction at %#lx: %02x %02x %02x "
	 "%02x\n",
	 VG_(args_the_exename), pm_unknown, byte[0], byte[1], byte[2], byte[3]);
	VG_(umsg)("%s\n", PM_UNKNOWN);
}

/* --- the program's questions ---------------------------------------------------------- */

static Bool request(ThreadId tid, UWord *arguments, UWord *answer)
{
	struct counts sum;

	switch (arguments[0]) {
	case PM_EXACT_REQUEST_FIND:
		pm_tree_regions = True;
		*answer = (UWord)&self;
		return True;
	case PM_EXACT_REQUEST_TOTALS:
		*answer = 0;
		if (!VG_(am_is_valid_for_client)(arguments[1], sizeof(sum),
						 VKI_PROT_WRITE))
			return True;
		total(&sum);
		VG_(memcpy)((void *)arguments[1], &sum, sizeof(sum));
		*answer = 1;
		return True;
	default:
		return False;
	}
}

/* --- the beginning ------------------------------------------------------------------- */

static void options_known(void)
{
	const UInt by_block = 1u << PM_EXACT_INSTRUCTIONS | 1u << PM_EXACT_BRANCHES |
			      1u << PM_EXACT_CALLS;

	choose_events();
	open_totals();
	/* Valgrind's translator drops code without use in its block, such as a load,
	 * unless each register must be right at each instruction. */
	if (pm_counted & ~by_block) {
		VG_(clo_vex_control).iropt_register_updates_default =
			VexRegUpdAllregsAtEachInsn;
		VG_(clo_px_file_backed) = VexRegUpdAllregsAtEachInsn;
	}
	/* Valgrind would make one of two conditional branches, and run what stands between them
	 * whether the program comes to it or not. */
	VG_(clo_vex_control).guest_chase = False;
	/* Otherwise the process has the name of the tool, and so have its threads. */
	VG_(prctl)
	(VKI_PR_SET_NAME, (ULong)(Addr)VG_(basename)(VG_(args_the_exename)), 0, 0, 0);
	VG_(clo_sigill_diag) = False;
	saved = VG_(calloc)("perfmon.threads", VG_N_THREADS, sizeof(saved[0]));
	pm_tree_begin();
	if (pm_tree_on)
		pm_functions_begin(counts_of);
}

static void before_options(void)
{
	VG_(details_name)("perfmon");
	VG_(details_version)(NULL);
	VG_(details_description)("counts what a program executes, for libperfmon");
	VG_(details_copyright_author)
	("Copyright (C) the authors of libperfmon. GPL-2.0-or-later.");
	VG_(details_bug_reports_to)("the authors of libperfmon");
	VG_(basic_tool_funcs)(options_known, pm_counts_instrument, finished);
	VG_(needs_command_line_options)(option, usage, debug_usage);
	VG_(needs_client_requests)(request);
	VG_(needs_syscall_wrapper)(before_call, after_call);
	VG_(track_start_client_code)(runs);
	VG_(track_pre_thread_ll_exit)(ends);
	VG_(atfork)(NULL, NULL, forked);
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
