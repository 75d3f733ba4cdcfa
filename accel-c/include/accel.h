/* Runs compiled programs of accel, which are in files: bundles, which `accel::bundle::save` of Rust has written.
 *
 * An argument or a result of a program is one array, or several ones from left to right. Here, an array is a list of columns, one for each
 * number in its elements: an array of `(f64, i64)` is two columns with the same extents. The elements of a column are one
 * after the other, the last index varying fastest.
 *
 * Functions may be called from several threads at the same time, also with the same program. They do not end the process: whatever goes
 * wrong is the code of an error, and `accel_error` tells more. A loaded file is machine code, so it must belong to the user or to the
 * administrator, and nobody else may write to it.
 *
 *     accel_program *program = accel_load("squares.accel");
 *     double x[3] = {1, 2, 3}, y[3];
 *     accel_column argument = {ACCEL_F64, 1, {3}, x}, result = {ACCEL_F64, 1, {3}, y};
 *     if (!program || accel_run(program, &argument, 1, &result, 1)) puts(accel_error());
 *     accel_free(program);
 */
#ifndef ACCEL_H
#define ACCEL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The types of elements: `bool` is one byte, 0 or 1. */
typedef enum accel_type {
  ACCEL_BOOL,
  ACCEL_I8,
  ACCEL_I16,
  ACCEL_I32,
  ACCEL_I64,
  ACCEL_U8,
  ACCEL_U16,
  ACCEL_U32,
  ACCEL_U64,
  ACCEL_F32,
  ACCEL_F64
} accel_type;

/* What a function returns. */
typedef enum accel_status {
  ACCEL_OK,
  /* The program is not what was expected: no file, other types, other processors, another version. */
  ACCEL_BUNDLE,
  /* An argument of another type, or a pointer that cannot be one. */
  ACCEL_TYPE,
  /* Extents that do not fit. */
  ACCEL_SHAPE,
  /* An index out of bounds. */
  ACCEL_INDEX,
  /* An integer division by zero. */
  ACCEL_DIVISION,
  /* There is not enough memory. */
  ACCEL_MEMORY,
  /* Anything else. */
  ACCEL_OTHER
} accel_status;

/* The largest number of dimensions of an array. */
#define ACCEL_RANKS 8

/* A column. */
typedef struct accel_column {
  accel_type type;
  size_t rank;
  /* The extents, outermost first; those from `rank` on mean nothing. */
  size_t extents[ACCEL_RANKS];
  /* Its elements, aligned as the type demands. */
  void *data;
} accel_column;

/* A compiled program. */
typedef struct accel_program accel_program;

/* The program in a file; NULL after an error. */
accel_program *accel_load(const char *path);

/* The program in `size` bytes, which are part of the caller's program and stay where they are; NULL after an error. They are code, which
 * runs with all rights of the process: only the caller knows that nobody has changed them. */
accel_program *accel_embedded(const void *bytes, size_t size);

/* Frees a program. It must not be running. NULL is allowed. */
void accel_free(accel_program *program);

/* The numbers of columns of the arguments and of the results of a program. The types and the ranks of the first `room` ones go to
 * `columns`, which may be NULL if `room` is 0. */
size_t accel_arguments(const accel_program *program, accel_column *columns, size_t room);
size_t accel_results(const accel_program *program, accel_column *columns, size_t room);

/* Runs a program. Arguments are only read. A result with `data` goes there if it has these extents, and otherwise it is an error. If
 * `data` is NULL, the result gets memory, which the caller has to `free`, and its extents are set. After an error, no result has new memory,
 * and what is in `data` means nothing. Memory of results must not be that of an argument or of another result. */
accel_status accel_run(const accel_program *program, const accel_column *arguments, size_t argument_count, accel_column *results,
                       size_t result_count);

/* What the last function that failed in this thread has to tell. It is there until the next failure in this thread. */
const char *accel_error(void);

/* The number of threads of parallel work, before the first program runs. By default, there are as many as processors. */
accel_status accel_threads(size_t count);

#ifdef __cplusplus
}
#endif

#endif
