/* Runs the programs of c.rs, and prints what they compute. */
#include "accel.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static accel_program *loaded(const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  accel_program *program = accel_load(path);
  if (!program) {
    printf("%s\n", accel_error());
    exit(1);
  }
  return program;
}

static void numbers(double *x, size_t n) {
  for (size_t k = 0; k < n; k++) x[k] = (double)(k % 17) * 0.25 - 1;
}

/* A value and a gradient, in memory of this function, and in new memory. */
static void regression(const char *folder) {
  accel_program *program = loaded(folder, "regression");
  accel_column types[4];
  size_t arguments = accel_arguments(program, types, 4), results = accel_results(program, NULL, 0);
  printf("%zu arguments, the first one of %zu dimensions, %zu results\n", arguments, types[0].rank, results);
  double data[30 * 4], y[30], x[4], value, gradient[4];
  numbers(data, 30 * 4);
  numbers(y, 30);
  numbers(x, 4);
  accel_column given[] = {
      {ACCEL_F64, 2, {30, 4}, data}, {ACCEL_F64, 1, {30}, y}, {ACCEL_F64, 1, {4}, x}};
  accel_column found[] = {{ACCEL_F64, 0, {0}, &value}, {ACCEL_F64, 1, {4}, gradient}};
  if (accel_run(program, given, 3, found, 2)) printf("%s\n", accel_error());
  printf("%.17g", value);
  for (int k = 0; k < 4; k++) printf(" %.17g", gradient[k]);
  printf("\n");
  accel_column made[] = {{ACCEL_F64, 0, {0}, NULL}, {ACCEL_F64, 1, {0}, NULL}};
  if (accel_run(program, given, 3, made, 2)) printf("%s\n", accel_error());
  printf("%d\n", made[1].extents[0] == 4 && !memcmp(made[1].data, gradient, sizeof gradient) &&
                     !memcmp(made[0].data, &value, sizeof value));
  free(made[0].data);
  free(made[1].data);

  /* What is wrong is an error. */
  given[1].extents[0] = 29;
  accel_status status = accel_run(program, given, 3, found, 2);
  printf("%d %s\n", status == ACCEL_SHAPE, accel_error());
  given[1].extents[0] = 30;
  given[1].type = ACCEL_F32;
  status = accel_run(program, given, 3, found, 2);
  printf("%d %s\n", status == ACCEL_TYPE, accel_error());
  given[1].type = ACCEL_F64;
  status = accel_run(program, given, 2, found, 2);
  printf("%d %s\n", status == ACCEL_TYPE, accel_error());
  found[1].extents[0] = 3;
  status = accel_run(program, given, 3, found, 2);
  printf("%d %s\n", status == ACCEL_SHAPE, accel_error());
  found[1].extents[0] = 4;
  found[1].data = x;
  status = accel_run(program, given, 3, found, 2);
  printf("%d\n", status == ACCEL_TYPE);
  found[1].data = (char *)gradient + 1;
  status = accel_run(program, given, 3, found, 2);
  printf("%d\n", status == ACCEL_TYPE);
  accel_free(program);
}

/* Arrays of pairs are two columns; a list of unknown length. */
static void pairs(const char *folder) {
  accel_program *program = loaded(folder, "pairs");
  float x[] = {3, -1, 2, 5};
  unsigned char keep[] = {1, 1, 0, 1};
  accel_column given[] = {{ACCEL_F32, 1, {4}, x}, {ACCEL_BOOL, 1, {4}, keep}};
  accel_column found[] = {{ACCEL_F32, 1, {0}, NULL}, {ACCEL_I64, 1, {0}, NULL}};
  if (accel_run(program, given, 2, found, 2)) printf("%s\n", accel_error());
  for (size_t k = 0; k < found[0].extents[0]; k++)
    printf("%g %lld ", ((float *)found[0].data)[k], (long long)((int64_t *)found[1].data)[k]);
  printf("\n");
  free(found[0].data);
  free(found[1].data);
  keep[2] = 7;
  accel_status status = accel_run(program, given, 2, found, 2);
  printf("%d %s\n", status == ACCEL_TYPE, accel_error());
  keep[2] = 1;
  given[1].extents[0] = 3;
  status = accel_run(program, given, 2, found, 2);
  printf("%d %s\n", status == ACCEL_SHAPE, accel_error());
  accel_free(program);
}

/* A program that is part of this one. */
static void embedded(const char *folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/element", folder);
  FILE *file = fopen(path, "rb");
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  char *bytes = malloc(size);
  rewind(file);
  if (fread(bytes, 1, size, file) != size) exit(1);
  fclose(file);
  accel_program *program = accel_embedded(bytes, size);
  double x[3] = {1, 2, 4}, y = 0;
  int64_t k = 2;
  accel_column given[] = {{ACCEL_F64, 1, {3}, x}, {ACCEL_I64, 0, {0}, &k}}, found = {ACCEL_F64, 0, {0}, &y};
  accel_status status = accel_run(program, given, 2, &found, 1);
  printf("%d %g\n", status == ACCEL_OK, y);
  k = 3;
  status = accel_run(program, given, 2, &found, 1);
  printf("%d %s\n", status == ACCEL_INDEX, accel_error());
  accel_free(program);
}

int main(int count, char **words) {
  if (count != 2) return 2;
  printf("%d\n", accel_threads(2) == ACCEL_OK);
  regression(words[1]);
  pairs(words[1]);
  embedded(words[1]);
  printf("%d %d\n", accel_load("/nonexistent") == NULL, accel_run(NULL, NULL, 0, NULL, 0) == ACCEL_TYPE);
  accel_free(NULL);
  return 0;
}
