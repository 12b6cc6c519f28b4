# SPDX-License-Identifier: LGPL-2.1-or-later
# What completes the command in shells, where they look for it below a prefix. Another place:
# make install bashcompletiondir=DIR zshcompletiondir=DIR.
if HAVE_COMMAND
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = completion/perfmon
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = completion/_perfmon
endif
