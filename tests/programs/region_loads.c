/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Knows nothing of perfmon; loads and unloads a library that uses regions, five times,
 * and calls it from a thread as well. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void *call(void *work)
{
	((void (*)(int))work)(2);
	return NULL;
}

int main(int count, char **arguments)
{
	if (count < 2)
		return 2;
	for (int i = 0; i < 5; i++) {
		void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
		pthread_t thread;
		void *work;

		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		work = dlsym(library, "plugin_work");
		call(work);
		if (pthread_create(&thread, NULL, call, work) ||
		    pthread_join(thread, NULL))
			return 1;
		dlclose(library);
	}
#if defined(__SANITIZE_THREAD__)
	return 0; /* the sanitizer's own thread would never let the process end */
#else
	/* What the library has left in this thread ends here, too. */
	pthread_exit(NULL);
#endif
}
