/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/code/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/code/dw.h"

#ifdef HAVE_LIBDWFL
struct pm_code_file {
	const struct pm_dw *dw;
	Dwfl *dwfl;
	Dwfl_Module *module;
};

struct pm_code_file *pm_code_open(const char *path, uint64_t base)
{
	const struct pm_dw *dw = pm_dw_load();
	struct pm_code_file *file = dw ? calloc(1, sizeof(*file)) : NULL;

	if (!file)
		return NULL;
	file->dw = dw;
	file->dwfl = pm_dw_begin(dw);
	if (file->dwfl) {
		file->module =
			dw->dwfl_report_elf(file->dwfl, path, path, -1, base, true);
		dw->dwfl_report_end(file->dwfl, NULL, NULL);
	}
	if (file->module)
		return file;
	pm_code_close(file);
	return NULL;
}

void pm_code_close(struct pm_code_file *file)
{
	if (file && file->dwfl)
		file->dw->dwfl_end(file->dwfl);
	free(file);
}

void pm_code_build_id(const struct pm_code_file *file, char text[PM_CODE_BUILD_ID])
{
	const unsigned char *bytes = NULL;
	GElf_Addr at, bias;
	int length;

	/* The id is not known before. */
	file->dw->dwfl_module_getelf(file->module, &bias);
	length = file->dw->dwfl_module_build_id(file->module, &bytes, &at);
	pm_elf_build_id_text(bytes, length > 0 ? (size_t)length : 0, text);
}

/* Returns the line of the code at ADDRESS, or 0. Of several at the place where a part of a function
 * begins the first is that of the construct. */
static unsigned int line_of(const struct pm_code_file *file, uint64_t address)
{
	const struct pm_dw *dw = file->dw;
	Dwfl_Line *line = dw->dwfl_module_getsrc(file->module, address);
	Dwarf_Die *unit = line ? dw->dwfl_linecu(line) : NULL;
	Dwarf_Addr at = 0, other = 0;
	size_t count = 0;
	int number = 0;

	if (!unit || !dw->dwfl_lineinfo(line, &at, &number, NULL, NULL, NULL) ||
	    dw->dwfl_getsrclines(unit, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		line = dw->dwfl_onesrcline(unit, i);
		if (line && dw->dwfl_lineinfo(line, &other, &number, NULL, NULL, NULL) &&
		    other == at)
			break;
	}
	return number > 0 ? (unsigned int)number : 0;
}

void pm_code_look_up(const struct pm_code_file *file, uint64_t address,
		     struct pm_code *code)
{
	GElf_Sym symbol;
	GElf_Off inside;
	const char *name = file->dw->dwfl_module_addrinfo(file->module, address, &inside,
							  &symbol, NULL, NULL, NULL);

	if (name && GELF_ST_TYPE(symbol.st_info) == STT_FUNC) {
		code->symbol = strdup(name);
		code->inside = inside;
	}
	code->line = line_of(file, address);
}
#else
struct pm_code_file *pm_code_open(const char *path, uint64_t base)
{
	(void)path;
	(void)base;
	return NULL;
}

void pm_code_close(struct pm_code_file *file)
{
	(void)file;
}

void pm_code_build_id(const struct pm_code_file *file, char text[PM_CODE_BUILD_ID])
{
	(void)file;
	text[0] = '\0';
}

void pm_code_look_up(const struct pm_code_file *file, uint64_t address,
		     struct pm_code *code)
{
	(void)file;
	(void)address;
	(void)code;
}
#endif

void pm_code_name(const struct pm_code *code, const char *kind, char *name, size_t size)
{
	static const char mark[] = "._omp_fn.";
	const char *symbol = code->symbol, *number = strstr(symbol, mark);
	char *function =
		number ? strndup(symbol, (size_t)(number - symbol)) : strdup(symbol);
	char *written = function ? pm_dw_written(function) : NULL;
	const char *text = written ? written : function ? function : symbol;
	int room = (int)size - 48;

	number = number ? number + strlen(mark) : "";
	if (code->line)
		snprintf(name, size, "%.*s:%u (%s)", room, text, code->line, kind);
	else if (*number)
		snprintf(name, size, "%.*s (%s %.*s)", room, text, kind,
			 (int)strspn(number, "0123456789"), number);
	else if (code->inside)
		snprintf(name, size, "%.*s+0x%llx (%s)", room, text,
			 (unsigned long long)code->inside, kind);
	else
		snprintf(name, size, "%.*s (%s)", room, text, kind);
	free(written);
	free(function);
}
