/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "hooks/mpi/libraries.h"

const char *const mpi_libraries[] = {
	/* of Fortran first: they need those of C */
	"libmpi_usempif08.so.40", "libmpi_mpifh.so.40",
	"libmpi.so.40",		  "libmpichfort.so.12",
	"libmpifort.so.12",	  "libmpi.so.12",
	"libmpich.so.12",	  NULL};

static struct mpi_any any;

static int not_begun(int *over)
{
	*over = 0;
	return 0;
}

static int is_over(int *over)
{
	*over = 1;
	return 0;
}

static void *find(const char *name)
{
	return original_find(NULL, name, mpi_libraries);
}

/* Finds an object. A program may have a copy of it, which is then the only one in use. */
static intptr_t find_object(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	return (intptr_t)(found ? found : find(name));
}

static bool find_functions(void)
{
	bool all = true;

#define FUNCTION(name, parameters)                                                       \
	any.name = (int(*) parameters)find("PMPI_" #name);                               \
	all = all && any.name;
	MPI_ANY_FUNCTIONS(FUNCTION)
#undef FUNCTION
	return all;
}

static void set_constants(bool is_open_mpi)
{
#define CONSTANT(name, object, number)                                                   \
	any.name = is_open_mpi ? find_object(object) : (intptr_t)(number);
	MPI_ANY_CONSTANTS(CONSTANT)
#undef CONSTANT
	any.status_ignore = is_open_mpi ? 0 : 1;
	any.any_source = is_open_mpi ? -1 : -2;
}

/* Returns whether the program is built for the common ABI of MPI 5, whose handles are others. */
static bool is_common(void)
{
	void *handle = dlopen("libmpi_abi.so.0", RTLD_LAZY | RTLD_NOLOAD);

	if (handle)
		dlclose(handle);
	return handle != NULL;
}

/* Returns whether this is MPICH or a relative, which have the same numbers, and a word takes the
 * handles that they write: its low bytes come first. */
static bool is_mpich(void)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && find("MPIR_Dup_fn") != NULL;
}

static void look(void)
{
	bool is_open_mpi;

	/* One name first: most programs that a program starts know no MPI. */
	if (!find("PMPI_Finalized") || !find_functions()) {
		any.Finalized = not_begun;
		return;
	}
	is_open_mpi = find_object("ompi_mpi_comm_world") != 0;
	set_constants(is_open_mpi);
	if (is_common() || (!is_open_mpi && !is_mpich()))
		any.Finalized = is_over;
}

/* Looks again until MPI is there: a program may load it late. */
const struct mpi_any *mpi_any(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool found;

	/* Pairs with the release below: the calls that were found are complete. */
	if (__atomic_load_n(&found, __ATOMIC_ACQUIRE))
		return &any;
	pthread_mutex_lock(&lock);
	if (!found) {
		look();
		/* Pairs with the acquire above. */
		__atomic_store_n(&found, any.Finalize != NULL, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return &any;
}
