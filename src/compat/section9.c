/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Section 9's perfmon2 calls, on top of section 10's. */
#include <errno.h>
#include <limits.h>

#include "compat/compat.h"
#include "core/api/export.h"
#include "core/api/export_struct.h"
#include "core/kernel/kernel.h"
#include "perfmon/perfmon2_section9.h"

/* From here on the names are section 10's, as everywhere in src/compat. */
#undef pfarg_pmc
#undef pfarg_pmd
#undef pfm_write_pmcs
#undef pfm_write_pmds
#undef pfm_load_context
#undef pfm_unload_context
#undef pfm_start
#undef pfm_stop
#undef pfm_read_pmds

PM_EXPORT int pfm_section9_create_session(const struct pfarg_section9_ctx *ctx,
					  const char *smpl_name, void *smpl_arg,
					  size_t arg_size)
{
	if (!ctx || ctx->flags & PFM_FL_SMPL_FMT || ctx->flags > INT_MAX ||
	    ctx->reserved1 || !pm_is_zero(ctx->reserved, sizeof(ctx->reserved)))
		return pm2_result(-EINVAL);
	return pfm_create_context_args((int)ctx->flags |
					       (smpl_name ? PFM_FL_SMPL_FMT : 0),
				       smpl_name, smpl_arg, arg_size);
}

/* --- vectors ------------------------------------------------------------------------ */

/*
 * Enters the session of FD and returns zeroed memory for N elements of section 10's form:
 * FEW, if that is enough. Otherwise returns NULL and sets *ERR to a negative errno, or
 * *CONTEXT to NULL and errno if there is no session.
 */
static void *enter(int fd, const void *from, int n, void *few, size_t element,
		   struct pm2_context **context, int *err)
{
	void *copies;

	*context = pm2_context_enter(fd, PM2_CALL);
	*err = -1;
	if (!*context)
		return NULL;
	*err = 0;
	if (!from)
		*err = pm_diag_set(&(*context)->diag, -EINVAL, "the vector is NULL");
	else if (n < 1)
		*err = pm_diag_set(&(*context)->diag, -EINVAL,
				   "the vector has %d elements: expects 1 to %d", n,
				   PERFMON_SESSION_VECTOR_MAX);
	else if (n > PERFMON_SESSION_VECTOR_MAX)
		*err = pm_diag_set(&(*context)->diag, -E2BIG,
				   "a vector of %d elements is longer than %d", n,
				   PERFMON_SESSION_VECTOR_MAX);
	if (*err)
		return NULL;
	copies = pm2_vector(*context, few, (size_t)n, element);
	*err = copies ? 0 : -ENOMEM;
	return copies;
}

static int leave(struct pm2_context *context, int err, const void *few, void *copies)
{
	pm2_vector_free(copies, few);
	return context ? pm2_context_leave(context, err) : -1;
}

PM_EXPORT int pfm_section9_write_pmcs(int fd, struct pfarg_section9_pmc *pmcs, int n)
{
	struct pfarg_pmc few[PM2_FEW], *copies;
	struct pm2_context *context;
	int i, err;

	copies = enter(fd, pmcs, n, few, sizeof(few[0]), &context, &err);
	for (i = 0; i < n && !err; i++) {
		copies[i].reg_num = pmcs[i].reg_num;
		copies[i].reg_flags = pmcs[i].reg_flags;
		copies[i].reg_value = pmcs[i].reg_value;
		copies[i].reg_reserved2[0] =
			pmcs[i].reserved1 ||
			!pm_is_zero(pmcs[i].reserved, sizeof(pmcs[i].reserved));
	}
	err = err ?: pm2_pmcs_write(context, copies, (size_t)n * sizeof(copies[0]));
	return leave(context, err, few, copies);
}

/* Writes or reads PMDS. */
static int transfer_pmds(int fd, struct pfarg_section9_pmd *pmds, int n, bool write)
{
	struct pfarg_pmd few[PM2_FEW], *copies;
	struct pm2_context *context;
	size_t size = (size_t)n * sizeof(few[0]);
	int i, err;

	copies = enter(fd, pmds, n, few, sizeof(few[0]), &context, &err);
	for (i = 0; i < n && !err; i++) {
		copies[i].reg_num = pmds[i].reg_num;
		copies[i].reg_value = pmds[i].reg_value;
		copies[i].reg_reserved2[0] =
			!pm_is_zero(pmds[i].reserved, sizeof(pmds[i].reserved));
	}
	if (!err)
		err = write ? pm2_pmds_write(context, copies, size)
			    : pm2_pmds_read(context, copies, size);
	for (i = 0; i < n && !err && !write; i++)
		pmds[i].reg_value = copies[i].reg_value;
	return leave(context, err, few, copies);
}

PM_EXPORT int pfm_section9_write_pmds(int fd, struct pfarg_section9_pmd *pmds, int n)
{
	return transfer_pmds(fd, pmds, n, true);
}

PM_EXPORT int pfm_section9_read_pmds(int fd, struct pfarg_section9_pmd *pmds, int n)
{
	return transfer_pmds(fd, pmds, n, false);
}

/* --- attaching and counting --------------------------------------------------------- */

/* Checks the rules that section 9 has in addition to section 10. */
static int check_load(struct pm2_context *context, const struct pfarg_section9_load *load)
{
	int cpu;

	if (!load)
		return pm_diag_set(&context->diag, -EINVAL, "there is no target");
	if (load->reserved1 || !pm_is_zero(load->reserved, sizeof(load->reserved)))
		return pm_diag_set(&context->diag, -EINVAL, "a reserved field is not 0");
	if (load->target > INT_MAX)
		return pm_diag_set(&context->diag, -EINVAL, "there is no target %u",
				   load->target);
	cpu = context->is_cpu ? pm_kernel_cpu() : -1;
	if (cpu >= 0 && cpu != (int)load->target)
		return pm_diag_set(&context->diag, -EINVAL,
				   "the calling thread runs on CPU %d, not on CPU %u: "
				   "move it there with sched_setaffinity(2)",
				   cpu, load->target);
	return 0;
}

PM_EXPORT int pfm_section9_load_context(int fd, const struct pfarg_section9_load *load)
{
	struct pm2_context *context = pm2_context_enter(fd, PM2_CALL_TO_LOAD);
	int err;

	if (!context)
		return -1;
	err = check_load(context, load);
	return pm2_context_leave(context, err ?: pm2_load(context, (int)load->target));
}

PM_EXPORT int pfm_section9_unload_context(int fd)
{
	return pfm_unload_context(fd, 0);
}

PM_EXPORT int pfm_section9_start(int fd)
{
	return pfm_start(fd, 0);
}

PM_EXPORT int pfm_section9_stop(int fd)
{
	return pfm_stop(fd, 0);
}
