/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/counters/diagnosis.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/counters/user_mode.h"
#include "core/kernel/files.h"
#include "core/kernel/kernel.h"

#define CAP_SYS_ADMIN_BIT 21
#define CAP_PERFMON_BIT	  38

/* Returns the number behind "NAME:" in /proc/self/status. */
static unsigned long long status_field(const char *status, const char *name, int radix)
{
	const char *at = strstr(status, name);

	return at ? strtoull(at + strlen(name), NULL, radix) : 0;
}

void pm_permissions_get(struct pm_permissions *permissions)
{
	char status[4096];
	int64_t paranoid = 2;
	unsigned long long caps;

	*permissions = (struct pm_permissions){.paranoid = 2};
	if (!pm_file_number("/proc/sys/kernel/perf_event_paranoid", &paranoid)) {
		permissions->paranoid = (int)paranoid;
		permissions->paranoid_known = true;
	}
	if (pm_file_text("/proc/self/status", status, sizeof(status)) > 0) {
		caps = status_field(status, "\nCapEff:", 16);
		permissions->perfmon =
			caps >> CAP_PERFMON_BIT & 1 || caps >> CAP_SYS_ADMIN_BIT & 1;
		permissions->seccomp = status_field(status, "\nSeccomp:", 10) != 0;
	}
}

static const char *words(int error, char *buffer, size_t size)
{
	return strerror_r(-error, buffer, size); /* GNU's: thread-safe */
}

/* Begins the message: "event 'cycles' on the calling thread" */
static void subject(struct pm_diag *diag, int error, const struct pm_event *event,
		    pid_t tid, int cpu)
{
	if (tid == 0)
		pm_diag_set(diag, error, "event '%s' on the calling thread", event->name);
	else if (tid > 0)
		pm_diag_set(diag, error, "event '%s' on thread %d", event->name,
			    (int)tid);
	else
		pm_diag_set(diag, error, "event '%s' on CPU %d", event->name, cpu);
}

static const char filtered[] = ": a system call filter (seccomp) forbids "
			       "perf_event_open; run the container with a "
			       "profile that allows perf_event_open";

static void no_call(struct pm_diag *diag)
{
	struct pm_permissions have;

	/* The setting exists if the kernel has the call. */
	pm_permissions_get(&have);
	pm_diag_add(diag, "%s",
		    have.seccomp && have.paranoid_known
			    ? filtered
			    : ": the kernel has no perf_event_open(2), or a system call "
			      "filter (seccomp) hides it");
}

/* Returns the highest level of kernel.perf_event_paranoid that permits the event. Levels
 * 3 and 4 are from a distribution's patch. */
static int permitted_up_to(const struct pm_event *event, pid_t tid)
{
	if (tid < 0)
		return 0;
	if (event->attr.type == PERF_TYPE_TRACEPOINT && event->attr.sample_type)
		return -1;
	return event->attr.exclude_kernel ? 2 : 1;
}

/* Returns whether even the least is refused: a software event of thread TID in user
 * mode. */
static bool refuses_least(pid_t tid)
{
	struct perf_event_attr attr =
		pm_user_mode_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	int fd = pm_kernel_perf_event_open(&attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		pm_kernel_close(fd);
	return fd == -EACCES || fd == -EPERM || fd == -ENOSYS;
}

bool pm_diagnosis_is_shut(void)
{
	return refuses_least(0);
}

static const char other_user[] = ": not permitted: you need the same user as the thread, "
				 "or CAP_PERFMON and CAP_SYS_PTRACE";

static void denied(struct pm_diag *diag, const struct pm_event *event, pid_t tid)
{
	struct pm_permissions have;
	int needed = permitted_up_to(event, tid), reached;
	bool shut = pm_diagnosis_is_shut();

	pm_permissions_get(&have);
	/* Level 2 permits the least. If that fails at level 2, something else refuses
	 * it. */
	reached = shut && needed < 2 ? 2 : needed;
	if (have.seccomp && (have.perfmon || have.paranoid <= reached)) {
		pm_diag_add(diag, "%s", filtered);
	} else if (!shut && tid > 0 && refuses_least(tid)) {
		pm_diag_add(diag, "%s", other_user);
	} else if (!have.perfmon && have.paranoid > reached) {
		pm_diag_add(diag,
			    ": not permitted while kernel.perf_event_paranoid is %d%s",
			    have.paranoid, have.paranoid_known ? "" : " (assumed)");
		if (have.paranoid > 2)
			pm_diag_add(diag, ", which forbids users every event");
		if (have.paranoid == 2 && needed == 1 && !event->kernel_only)
			pm_diag_add(diag,
				    "; user mode alone (modifier ':u') is allowed, or");
		else
			pm_diag_add(diag, ";");
		pm_diag_add(diag,
			    " ask an administrator for sysctl "
			    "kernel.perf_event_paranoid=%d or for CAP_PERFMON",
			    needed);
	} else if (tid > 0 && !shut) {
		pm_diag_add(diag, "%s", other_user);
	} else {
		pm_diag_add(
			diag,
			": not permitted, although kernel.perf_event_paranoid is %d: "
			"a security module, lockdown or a container forbids the event",
			have.paranoid);
	}
}

static void no_descriptor(struct pm_diag *diag)
{
	uint64_t soft = 0, hard = 0;

	if (pm_kernel_getrlimit(RLIMIT_NOFILE, &soft, &hard)) {
		pm_diag_add(diag, ": too few file descriptors left (RLIMIT_NOFILE)");
		return;
	}
	pm_diag_add(diag, ": too few file descriptors left: RLIMIT_NOFILE is %" PRIu64,
		    soft);
	if (hard > soft)
		pm_diag_add(diag, "; the limit may be raised to %" PRIu64 " (ulimit -n)",
			    hard);
	else
		pm_diag_add(diag, "; close some, count fewer events, or ask for a higher "
				  "limit");
}

static void no_pmu(struct pm_diag *diag, int error, const struct pm_event *event, int cpu)
{
	char text[64];

	if (error == -ENODEV && cpu >= 0)
		pm_diag_add(diag, ": CPU %d is offline or has no such PMU", cpu);
	else if (event->hardware)
		pm_diag_add(diag,
			    ": no PMU of this machine counts the event (%s). Virtual "
			    "machines often expose no counters. Software events such as "
			    "task-clock still work, and 'perfmon run --exact' counts "
			    "instructions",
			    words(error, text, sizeof(text)));
	else
		pm_diag_add(diag, ": this kernel does not count the event (%s)",
			    words(error, text, sizeof(text)));
}

/* Returns whether the machine can have no CPU of this number. */
static bool is_no_cpu(int cpu)
{
	char text[400];
	const char *last;

	if (cpu < 0 ||
	    pm_file_text("/sys/devices/system/cpu/possible", text, sizeof(text)) <= 0)
		return false;
	/* Such as "0-7" or "0,2-3". */
	last = strpbrk(text, "-,");
	for (const char *at = last; at; at = strpbrk(at + 1, "-,"))
		last = at;
	return cpu > strtol(last ? last + 1 : text, NULL, 10);
}

static void invalid(struct pm_diag *diag, const struct pm_event *event, pid_t tid,
		    int cpu)
{
	if (is_no_cpu(cpu))
		pm_diag_add(diag, ": this machine has no such CPU");
	else if (pm_event_is_blind(event))
		pm_diag_add(diag, ": the event happens in the kernel alone, which the "
				  "modifiers exclude; remove 'u', or add 'k'");
	else if (event->topdown == PM_TOPDOWN_METRIC)
		pm_diag_add(diag,
			    ": a topdown metric needs slots in the same group and with "
			    "the same modifiers; write '{slots,%s}'. A virtual machine "
			    "may have slots and no metrics",
			    event->name);
	else if (event->uncore && tid >= 0)
		pm_diag_add(diag, ": the kernel counts this event per CPU or package, "
				  "not per thread; use a CPU-wide session");
	else if (event->in_explicit_group)
		pm_diag_add(diag, ": the hardware cannot count all events of the {group} "
				  "together; use smaller groups");
	else
		pm_diag_add(diag,
			    ": the kernel rejects this encoding (type %u, config 0x%llx) "
			    "or a modifier",
			    event->attr.type, (unsigned long long)event->attr.config);
}

int pm_diagnosis_open(struct pm_diag *diag, int error, const struct pm_event *event,
		      pid_t tid, int cpu)
{
	char text[64];

	if (!diag)
		return error;
	if (tid >= 0)
		cpu = -1;
	subject(diag, error, event, tid, cpu);
	switch (-error) {
	case EACCES:
	case EPERM:
		denied(diag, event, tid);
		break;
	case ENOSYS:
		no_call(diag);
		break;
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		if (error == -EOPNOTSUPP && pm_event_mode_is_ignored(event)) {
			pm_diag_add(diag, ": this machine cannot count user mode alone; "
					  "count the kernel too (modifier ':uk')");
			break;
		}
		no_pmu(diag, error, event, cpu);
		break;
	case EINVAL:
		invalid(diag, event, tid, cpu);
		break;
	case EMFILE:
		no_descriptor(diag);
		break;
	case ENFILE:
		pm_diag_add(diag,
			    ": the machine's table of open files is full (fs.file-max)");
		break;
	case ESRCH:
		pm_diag_add(diag, ": no such thread");
		break;
	case ENOSPC:
		pm_diag_add(
			diag,
			": all hardware breakpoints (or slots for the event) are in use");
		break;
	case EBUSY:
		pm_diag_add(diag, ": another user holds the PMU exclusively");
		break;
	case E2BIG:
		pm_diag_add(diag, ": this kernel is too old for a feature of the event");
		break;
	default:
		pm_diag_add(diag, ": %s", words(error, text, sizeof(text)));
		break;
	}
	return error;
}

void pm_diagnosis_page(struct pm_diag *diag, int error, const struct pm_event *event)
{
	uint64_t soft = 0, hard = 0;
	int64_t kb = 0;
	char text[64];

	pm_diag_set(diag, error, "cannot map the page of event '%s'", event->name);
	if (error != -EPERM && error != -ENOMEM) {
		pm_diag_add(diag, " (%s)", words(error, text, sizeof(text)));
	} else {
		pm_diag_add(diag, ": locked memory is used up");
		if (!pm_file_number("/proc/sys/kernel/perf_event_mlock_kb", &kb))
			pm_diag_add(diag, ", kernel.perf_event_mlock_kb is %" PRId64, kb);
		if (!pm_kernel_getrlimit(RLIMIT_MEMLOCK, &soft, &hard)) {
			if (soft == RLIM_INFINITY)
				pm_diag_add(diag, ", RLIMIT_MEMLOCK is unlimited");
			else
				pm_diag_add(diag, ", RLIMIT_MEMLOCK is %" PRIu64 " kB",
					    soft / 1024);
		}
		pm_diag_add(diag, "; raise either, or count in fewer threads at once");
	}
	pm_diag_add(diag, "; reads use a system call");
}

void pm_diagnosis_user_read(struct pm_diag *diag, const struct pm_event *event)
{
	int64_t access;

	pm_diag_set(diag, -EOPNOTSUPP,
		    "event '%s' can be counted, but not read in user space", event->name);
	if (!pm_file_number("/proc/sys/kernel/perf_user_access", &access) && !access)
		pm_diag_add(diag, ": kernel.perf_user_access is 0; an administrator can "
				  "set it to 1");
	else if (!pm_file_number("/sys/bus/event_source/devices/cpu/rdpmc", &access) &&
		 !access)
		pm_diag_add(diag, ": /sys/bus/event_source/devices/cpu/rdpmc is 0; an "
				  "administrator can write 1 to it");
	else
		pm_diag_add(diag, ": this kernel does not grant it");
}

void pm_diagnosis_starved(struct pm_diag *diag, const char *label)
{
	pm_diag_set(diag, -EBUSY,
		    "event '%s' never got a counter: the NMI watchdog or another monitor "
		    "may hold the counters",
		    label);
}

void pm_diagnosis_user_mode(struct pm_diag *diag, const char *what)
{
	struct pm_permissions have;

	pm_permissions_get(&have);
	pm_diag_set(diag, -EACCES,
		    "%s: kernel.perf_event_paranoid is %d; to count the kernel too, ask "
		    "an administrator for sysctl kernel.perf_event_paranoid=1 or for "
		    "CAP_PERFMON",
		    what, have.paranoid);
}
