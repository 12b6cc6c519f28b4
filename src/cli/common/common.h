/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Code that the subcommands share: messages and exit statuses, output that replaces a
 * file when it is complete, terminals, the files that a user names, and those of the
 * command itself. */
#ifndef PM_CLI_COMMON_COMMON_H
#define PM_CLI_COMMON_COMMON_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/profile/profile.h"
#include "core/report/output/escape.h"
#include "core/report/output/file.h"
#include "core/report/output/row.h"
#include "core/text/diag.h"
#include "core/topology/topology.h"

/* --- complain.c: messages ----------------------------------------------------------- */

/* Exit statuses: 0, or one of these. */
#define CLI_FAILED 1 /* the request could not be fulfilled */
#define CLI_USAGE  2 /* the request makes no sense */

/* Prints "perfmon COMMAND: ..." and a newline to stderr. */
__attribute__((format(printf, 2, 3))) void cli_complain(const char *command,
							const char *format, ...);

/* Prints such a message. Returns STATUS. */
#define cli_fail(status, ...) (cli_complain(__VA_ARGS__), (status))

/* Prints that there is no memory. Returns CLI_FAILED. */
int cli_no_memory(const char *command);

/* Where the notes about a result go. */
struct cli_notes {
	void (*take)(void *argument, const char *note);
	void *argument;
};

/* Makes a note. */
__attribute__((format(printf, 2, 3))) void cli_note(const struct cli_notes *to,
						    const char *format, ...);

/* Takes notes below a table, in lines that fit the terminal. ARGUMENT is a struct cli_note_list. */
struct cli_note_list {
	struct pm_out *out;
	bool begun;
};
void cli_note_put(void *argument, const char *note);

/* A sink of reports. FILE is a FILE of stdio. */
int cli_print(void *file, const char *text, size_t size);

/* Ends a command that prints. Returns STATUS, or CLI_FAILED if stdout could not take all
 * of the output. */
int cli_finish(const char *command, int status);

/* --- options.c: options ------------------------------------------------------------- */

/* The options of a subcommand, as a table. */
struct cli_option {
	const char *name; /* --name; the letter is in the table of letters */
	const char *
		value; /* used instead of an argument; NULL: the option takes one, unless it has a flag */
	bool optional;	   /* with a value: an argument may follow, as in --name=1% */
	bool *flag;	   /* set to true */
	const char **text; /* set to the argument, if not NULL */
	/* Set to the argument's index in CHOICES: "text, json". */
	unsigned int *choice;
	const char *choices;
	/* Handles the argument. Returns 0, or an exit status after a message. */
	int (*take)(const char *command, const struct cli_option *option,
		    const char *text);
	void *to; /* for `take` */
};

struct cli_command {
	const char *name;
	const char *help;
	bool options_first; /* the first argument that is no option begins a command */
	const struct cli_option *options; /* the last has no name; --help is added */
};

/* Returns -1 to continue with the arguments from optind on, or the exit status. */
int cli_options_read(const struct cli_command *command, int argc, char **argv);

/* For options: sets the struct pm_metrics * in TO from the last such option. */
int cli_take_metrics(const char *command, const struct cli_option *option,
		     const char *text);

/* For options: sets the const char * in TO to a level of a machine. */
int cli_take_level(const char *command, const struct cli_option *option,
		   const char *text);

/* --- child.c: commands -------------------------------------------------------------- */

/* A command that runs as a child: fork, exec, signals, and how it ended. */
struct cli_child {
	pid_t pid; /* 0: none */
	/* A socket: a byte starts the child's exec, which closes the other end, or fails and
	 * sends its errno. */
	int link;
	int status; /* as in wait4(2) */
	uint64_t user_ns, system_ns;
};

struct cli_child_how {
	/* Descriptors for standard input, output and error, -1: the caller's; NULL: all are. */
	const int *standard;
	int death_signal;   /* the command gets it if this process dies; 0: none */
	void (*undo)(void); /* is called in the child before its exec; or NULL */
};

/* Returns the variable NAME, or NULL if it is not set or empty. */
const char *cli_variable(const char *name);
/* Sets the variable NAME for commands. Returns 0, or CLI_FAILED after a message of COMMAND. */
int cli_variable_set(const char *command, const char *name, const char *text);
/* Adds TEXT to what the variable has, with SEPARATOR between. */
int cli_variable_add(const char *command, const char *name, const char *separator,
		     const char *text);

/*
 * Makes each run of a command read standard input from the same place: call it before the first run, and
 * cli_input_again() before each later one. Returns false if the input is a pipe or a socket.
 */
bool cli_input_begin(void);
void cli_input_again(void);

/* Blocks the signals that are passed on to commands, and SIGCHLD. Other calls than the first do
 * nothing. */
void cli_child_signals_begin(void);

/* Restores the usual effect of signals, after the last command has ended. Drops pending signals that
 * a terminal sent to all, which were meant for the command. */
void cli_child_signals_end(void);

/* Forks a child, which waits for cli_child_release(). Returns 0 or a negative errno. */
int cli_child_fork(struct cli_child *child, char **command,
		   const struct cli_child_how *how);

/* Starts the command. Returns 0 when it is being executed, or the negative errno of
 * execvp(). */
int cli_child_release(struct cli_child *child);

/* Ends a child that was not released. */
void cli_child_drop(struct cli_child *child);

enum cli_wake { CLI_WAKE_END, CLI_WAKE_SIGNAL, CLI_WAKE_TIME };

/*
 * Waits until the child has ended (its status and times are then set), a signal asks for
 * an end and there is no child, or CLOCK_MONOTONIC is DEADLINE_NS (0: never). Passes
 * signals on to the child.
 */
enum cli_wake cli_child_wait(struct cli_child *child, uint64_t deadline_ns);

/* Says that COMMAND cannot run NAME, for the negative errno ERR. Returns the status that a shell would
 * have. */
int cli_child_cannot_run(const char *command, const char *name, int err);

/* Returns the status that a shell would have: 0 to 255, 128 + n for signal n. */
int cli_child_exit_status(int status);

/*
 * cli_child_run() - runs COMMAND as a child, which dies with this process, and passes signals on to
 * it. STANDARD is as in struct cli_child_how. Returns 0 with its STATUS as waitpid(2) gives it; or
 * -errno if it could not be run: -EINTR after a signal of the user's, which cli_child_interrupt()
 * has.
 */
int cli_child_run(char **command, const int *standard, int *status);

/* Returns the process ID of the command that ran last. */
pid_t cli_child_pid(void);

/* Returns the signal that asked this process to end since cli_child_signals_begin(); 0: none. */
int cli_child_interrupt(void);

/* Ends as a command with this STATUS did: by its signal, or returns its exit status. */
int cli_child_end_as(int status);

/* Returns the time of CLOCK_MONOTONIC. */
uint64_t cli_now_ns(void);

/* --- folder.c: folders -------------------------------------------------------------- */

/*
 * Finds the folder with FILE, which access(2) allows as MODE says: BUILT, below the folder of this
 * command's file in the tree that it was built in; else the one that was configured as FOLDER, in an
 * installed tree that may be anywhere (DESTDIR), by the way from the folder of commands; else FOLDER.
 */
bool cli_folder_find(const char *built, const char *folder, const char *file, int mode,
		     char path[PATH_MAX]);

/* Makes a folder of COMMAND's for WHAT ("the counts") below TMPDIR. A process of the command may change
 * its directory, so that the path is absolute. Returns it, or NULL after a message. */
char *cli_folder_make(const char *command, const char *what);

/* Removes FOLDER and all in it. NULL is allowed. */
void cli_folder_remove(const char *folder);

/* Returns whether FOLDER has no file, but for hidden ones. */
bool cli_folder_is_empty(const char *folder);

/* Returns the path of PROFILE in the existing FOLDER in the form of PERFMON_PROFILE, or NULL without
 * memory. free(3) it. */
char *cli_profile_in(const char *folder, const char *profile);

/* --- sources.c: sources ------------------------------------------------------------- */

/* Sources of profiles: files, directories of files, and running processes. Functions that
 * return int return 0, or an exit status after a message. */

struct cli_source {
	char *name; /* as given: a path or a PID */
	pid_t pid;  /* 0: a file */
};

struct cli_sources {
	const char *command; /* for messages */
	size_t count;
	struct cli_source *at;
};

/*
 * Adds a file, or the profiles in a directory in the order of the numbers in their names.
 */
int cli_sources_add_path(struct cli_sources *sources, const char *path);
/* For options: adds a process, by its PID, to the struct cli_sources in TO. */
int cli_take_pid(const char *command, const struct cli_option *option, const char *text);
void cli_sources_free(struct cli_sources *sources);

/* Reads the profile as it is now. Returns 0 or a negative errno, with DIAG. */
int cli_source_read(const struct cli_source *source, struct pm_snapshot **out,
		    struct pm_diag *diag);

/* --- texts.c: texts by number ------------------------------------------------------- */

/* Texts below numbers, each once, numbered from 0 in the order of their first use. */
struct cli_text {
	uint32_t number, above;
	bool used; /* for a format of perfmon export */
	char *text;
};
struct cli_texts {
	struct cli_text **entries;
	uint32_t count;
	void *root; /* of tsearch(3) */
};

/* Returns TEXT below number ABOVE, which is added if it is new, or NULL without memory. TEXT is
 * copied. */
struct cli_text *cli_texts_add(struct cli_texts *texts, uint32_t above, const char *text);
void cli_texts_free(struct cli_texts *texts);

/* --- machine.c: the machine of a profile -------------------------------------------- */

/*
 * Returns this machine if SNAPSHOT was made on it since its last start, else NULL.
 * Profiles of other machines name at most their kinds of CPU. The machine is read once,
 * and stays.
 */
const struct pm_machine *cli_machine_of(const struct pm_snapshot *snapshot);

/* --- resolve.c: names of regions ---------------------------------------------------- */

/*
 * Names of regions that were not known when the program ran: a profile has the file of their code and the
 * place in it (perfmon_region_code()), and the file's symbols and debug information tell the name. A file
 * whose build id is another one is not asked.
 */

/* An option, which may be repeated: looks for files of code and of debug information in this folder, too.
 * Without memory it is ignored. */
int cli_take_debug_dir(const char *command, const struct cli_option *option,
		       const char *text);
#define CLI_OPTION_DEBUG_DIR                                                             \
	{                                                                                \
		"debug-dir", .take = cli_take_debug_dir                                  \
	}
#define CLI_HELP_DEBUG_DIR                                                               \
	"      --debug-dir DIR   names of code that the run could not name: look for "   \
	"debug\n"                                                                        \
	"                        information and programs in this folder, too; may be\n" \
	"                        repeated\n"

/* Gives regions of SNAPSHOT the names that are found now. Regions that get one name are one from then
 * on. Without memory names stay as they are. A note of SNAPSHOT says whose stay for another reason than that
 * nothing tells them. */
void cli_resolve(struct pm_snapshot *snapshot);

/* --- output.c: output --------------------------------------------------------------- */

/* The output of a command: standard output, or a file, which replaces an older one when
 * it is complete. */
struct cli_output {
	const char *command;
	char *path; /* NULL: standard output */
	struct pm_report_file file;
	bool empty_first;  /* the file is emptied before the first text */
	bool made;	   /* the file is new and still empty */
	struct pm_out out; /* to the file */
};

/*
 * Begins output to PATH (NULL, "-": standard output). In a folder, or if PATH ends with /, the
 * file is perfmon-COMMAND.SUFFIX. A symbolic link is followed where the kernel would follow
 * it. Returns 0, or CLI_FAILED after a message.
 */
int cli_output_begin(struct cli_output *output, const char *command, const char *path,
		     const char *suffix);

/* Does the same, but writes to the file itself, which others may read while it grows. Its
 * older text is removed before the first new text, or stays with APPEND. */
int cli_output_grow(struct cli_output *output, const char *command, const char *path,
		    const char *suffix, bool append);

/* A sink that writes to the file at once. ARGUMENT is the struct cli_output. */
int cli_output_write(void *argument, const char *text, size_t size);

/* A sink of reports. ARGUMENT is the struct cli_output. */
int cli_output_print(void *argument, const char *text, size_t size);

/* Ends the output; ERR is the report's result. Returns the exit status after a message.
 * cli_finish() reports errors of standard output. */
int cli_output_end(struct cli_output *output, int err);

/* Writes PAGE, a text of HTML, up to its "@DATA@", or what is BEHIND that. */
void cli_page_put(struct pm_out *out, const char *page, bool behind);

/* A sink of JSON that stands in a script element of a page. ARGUMENT is the struct pm_out of the
 * page. */
int cli_page_print(void *argument, const char *text, size_t size);

/* Writes as many of the LENGTH bytes of TEXT, which has no NUL, as pm_out_plain() takes
 * at once. Returns how many. */
size_t cli_plain_part(struct pm_out *out, const char *text, size_t length);

/* --- terminal.c: terminals ---------------------------------------------------------- */

/* The terminal: pager, colours, and lines that fit. All of it is off if standard output
 * is not a terminal, so that programs and files get plain text with complete lines. */

/* Checks standard output once, before a pager replaces it. Colours also need TERM to be
 * set and not "dumb", and NO_COLOR to be unset or empty. */
bool cli_is_terminal(void);

/* Makes the functions below use FD instead of standard output. */
void cli_terminal_use(int fd);

/* Returns the number of columns (COLUMNS, the terminal's, or 80), or 0 without a
 * terminal. */
unsigned int cli_columns(void);

enum cli_style {
	CLI_PLAIN,  /* ends any other style */
	CLI_STRONG, /* a heading */
	CLI_FAINT,  /* additional help */
	CLI_GOOD,
	CLI_BAD,
};

/* Returns the text that turns STYLE on, or "" without colours. */
const char *cli_style(enum cli_style style);
/* Sets the style of ROW's next texts. */
void cli_style_row(struct pm_row *row, enum cli_style style);

/* Writes TEXT in STYLE, as plain text, from COLUMN (the cursor's) on, broken between words so
 * that it fits; further lines begin at the same column. Ends with a newline. */
void cli_put_wrapped(struct pm_out *out, size_t column, enum cli_style style,
		     const char *text);

/* Shows that DONE of ALL are done, by a bar on standard error if that is a terminal; NOUN names
 * them. Draws at most ten times a second, and not before a quarter of a second has passed. */
void cli_progress(size_t done, size_t all, const char *noun);

/* Removes the bar, before anything else is written. */
void cli_progress_end(void);

/*
 * On a terminal, sends all further output through $PAGER, by default `less -FRX`, which
 * ends by itself if the text fits the screen. An empty PAGER and `cat` mean no pager. If
 * the pager cannot be run, the text is printed without it. cli_finish() waits for the
 * pager. A pager that is left early is not an error.
 */
void cli_pager_begin(void);

/* For cli_finish(): waits for the pager. Returns false if there was none. */
bool cli_pager_end(void);

/* --- json_read.c: reading JSON ------------------------------------------------------ */

/*
 * Reads JSON that this command wrote, from its begin to its end. After an error `bad` is set, and
 * all functions return at once, so that a caller looks at it once, at the end.
 */

/* The rest of a text that ends with NUL. */
struct cli_json {
	const char *at;
	unsigned int depth;
	bool first; /* no part of the array or object has been taken */
	bool bad;   /* not JSON, or not what the caller expects: reading stops */
	bool no_memory;
	char name[32]; /* the last member's; "" if it is longer */
};

/* Reads the whole file PATH, with a NUL behind it. Returns 0 or a negative errno, -ENOTSUP for what is
 * not a regular file. free(3) *TEXT in both cases. */
int cli_json_file(const char *path, char **text);

/* Set `bad`, and `no_memory`. Return false. */
bool cli_json_fail(struct cli_json *j);
bool cli_json_no_memory(struct cli_json *j);

/* Return the next character behind blanks, and whether there is one. */
char cli_json_peek(struct cli_json *j);
bool cli_json_more(struct cli_json *j);

/* Take C, or the characters of WORD, if they are next. */
bool cli_json_take(struct cli_json *j, char c);
bool cli_json_word(struct cli_json *j, const char *word);

/* Take a value: a string (free(3) it; NULL after an error), a number (NAN for null), a truth
 * value, or any. */
char *cli_json_string(struct cli_json *j);
double cli_json_number(struct cli_json *j);
bool cli_json_bool(struct cli_json *j);
/* Takes the string of a member into that of TEXTS whose name is among the COUNT NAMES, in place of an
 * older one. Returns false if none is. */
bool cli_json_text(struct cli_json *j, const char *name, const char *const *names,
		   size_t count, char **texts);
void cli_json_skip(struct cli_json *j);

/*
 * An array or an object: begin at BRACKET, then take its parts. cli_json_next() returns false behind END.
 * cli_json_member() returns the name of the next member, which is there until the next one is taken, or
 * NULL at the end of the object.
 */
bool cli_json_begin(struct cli_json *j, char bracket);
bool cli_json_next(struct cli_json *j, char end);
const char *cli_json_member(struct cli_json *j);

#endif
