# SPDX-License-Identifier: LGPL-2.1-or-later
# The tool for exact counts: a program of its own, with none of the library's flags, since it
# runs without libc. In a folder with what Valgrind needs to run it, built as installed.

EXACT_INNER = exact/counts.h exact/decode.h exact/functions.h
EXACT_CODE = exact/counts.c exact/flops.c exact/functions.c exact/names.c exact/tool.c exact/tree.c
EXTRA_DIST += exact/COPYING exact/README.md $(EXACT_INNER) $(EXACT_CODE)

if HAVE_VALGRIND
exactdir = $(libexecdir)/perfmon/valgrind
EXACT_TOOL = exact/valgrind/perfmon-@VALGRIND_ARCH@-linux
EXACT_OBJECTS = exact/counts.o exact/flops.o exact/functions.o exact/names.o exact/tool.o \
	exact/tree.o
EXACT_FILES = default.supp vgpreload_core-@VALGRIND_ARCH@-linux.so
EXACT_CFLAGS = -std=gnu11 -O2 -g $(PM_WARN) -Wno-unused-parameter -fno-builtin \
	-fno-stack-protector -fno-pie -fno-strict-aliasing -fomit-frame-pointer \
	-DVGA_@VALGRIND_ARCH@=1 -DVGO_linux=1 -DVGP_@VALGRIND_ARCH@_linux=1 \
	-DVGPV_@VALGRIND_ARCH@_linux_vanilla=1 `echo $(VALGRIND_CFLAGS) | sed 's/-I/-isystem /g'`

all-local: $(EXACT_TOOL)

$(EXACT_OBJECTS): $(EXACT_INNER) src/arch/exact.h src/arch/exact_names.h
exact/counts.o: exact/counts.c
exact/flops.o: exact/flops.c
exact/functions.o: exact/functions.c
exact/names.o: exact/names.c
exact/tool.o: exact/tool.c
exact/tree.o: exact/tree.c
$(EXACT_OBJECTS):
	$(AM_V_CC)$(MKDIR_P) exact && \
		$(CC) $(EXACT_CFLAGS) -c -o $@ $(srcdir)/$(@:.o=.c)

$(EXACT_TOOL): $(EXACT_OBJECTS)
	$(AM_V_CCLD)$(MKDIR_P) exact/valgrind && \
		$(CC) -static -no-pie -nodefaultlibs -nostartfiles -Wl,-u,_start \
		-Wl,-Ttext-segment=@VALGRIND_ADDRESS@ -o $@ $(EXACT_OBJECTS) \
		@VALGRIND_LIBDIR@/libcoregrind-@VALGRIND_ARCH@-linux.a \
		@VALGRIND_LIBDIR@/libvex-@VALGRIND_ARCH@-linux.a -lgcc \
		@VALGRIND_LIBDIR@/libgcc-sup-@VALGRIND_ARCH@-linux.a && \
		for file in $(EXACT_FILES); do \
			ln -sf @VALGRIND_FILES@/$$file exact/valgrind/$$file || exit; \
		done

install-exec-local: $(EXACT_TOOL)
	$(MKDIR_P) "$(DESTDIR)$(exactdir)"
	$(INSTALL_PROGRAM) $(EXACT_TOOL) "$(DESTDIR)$(exactdir)"
	for file in $(EXACT_FILES); do \
		ln -sf @VALGRIND_FILES@/$$file "$(DESTDIR)$(exactdir)/$$file" || exit; \
	done

uninstall-local:
	for file in perfmon-@VALGRIND_ARCH@-linux $(EXACT_FILES); do \
		rm -f "$(DESTDIR)$(exactdir)/$$file"; \
	done

CLEANFILES += $(EXACT_OBJECTS)
clean-local:
	rm -rf exact/valgrind
endif
