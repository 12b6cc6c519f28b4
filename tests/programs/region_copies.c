/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads a library that uses regions three times, each time with a libperfmon of its
 * own. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments)
{
	if (count < 2)
		return 2;
	for (int i = 1; i <= 3; i++) {
		void *library = dlmopen(LM_ID_NEWLM, arguments[1], RTLD_NOW);

		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			return 77;
		}
		((void (*)(int))dlsym(library, "plugin_work"))(i);
	}
	return 0;
}
