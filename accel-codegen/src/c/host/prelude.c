// The functions that the host program's statements call. A function that can fail returns 1 or -1 and writes a fault record.

#define COLD static __attribute__((cold, noinline))
#define HELPER static __attribute__((noinline))
// The host program is cold. What only cold functions call would be, too.
#define HOT static __attribute__((hot, noinline))

// Writes a record with `lists` lists of extents of this rank; the caller writes the second one.
COLD int bad_lists(run *r, i64 kind, const i64 *extents, i64 rank, i64 lists) {
    const bool is_short = 3 + lists * rank > RECORD_LENGTH;
    r->fault[0] = is_short ? SHORT : kind;
    r->fault[1] = r->site;
    r->fault[2] = is_short ? kind : rank;
    for (i64 k = 0; k < rank && !is_short; k++) r->fault[3 + k] = extents[k];
    return !is_short;
}

COLD int bad(run *r, i64 kind, const i64 *extents, i64 rank) {
    bad_lists(r, kind, extents, rank, 1);
    return 1;
}

// In place of a kernel without which the program was compiled: NOTE [Ways on demand].
COLD int no_way(const array *arrays, const task *t, i64 *fault) {
    fault[0] = WAY;
    fault[1] = fault[2] = 0;
    return 1;
}

// The number of elements; -1 if an extent is too large, or if the product of all extents except zeros is too large.
HELPER i64 size(const i64 *extents, i64 rank) {
    u64 n = 1;
    bool none = 0;
    for (i64 k = 0; k < rank; k++) {
        none |= extents[k] == 0;
        if (extents[k] > MAX_EXTENT) return -1;
        if (extents[k] != 0 && __builtin_mul_overflow(n, (u64)extents[k], &n)) return -1;
    }
    return n > MAX_SIZE ? -1 : none ? 0 : (i64)n;
}

HELPER i64 checked_size(run *r, const i64 *extents, i64 rank) {
    const i64 n = size(extents, rank);
    if (n < 0) bad(r, MEMORY, extents, rank);
    return n;
}

// Whether these are not possible extents.
HELPER int wrong(run *r, const i64 *extents, i64 rank) {
    bool large = 0;
    for (i64 k = 0; k < rank; k++) {
        if (extents[k] < 0) return bad(r, NEGATIVE, extents, rank);
        large |= extents[k] > MAX_EXTENT;
    }
    return large ? bad(r, MEMORY, extents, rank) : 0;
}

// Releases an array's reference to a column, if it still has one.
HELPER void drop(run *r, i64 c) {
    block *b = r->blocks[c];
    if (b && --b->count == 0) r->calls->release(r, b);
}

// Moves the block of a column to another one, or shares it.
HELPER void hand(run *r, i64 to, i64 from) {
    block *b = r->blocks[to] = r->blocks[from];
    r->columns[to] = b->data;
}

HELPER void share(run *r, i64 to, i64 from) {
    hand(r, to, from);
    r->blocks[to]->count++;
}

// Makes memory for n elements of an array with these extents.
HELPER int make(run *r, i64 c, i64 n, i64 element, const i64 *extents, i64 rank) {
    block *b = r->calls->allocate(r, n, element);
    if (!b) return bad(r, MEMORY, extents, rank);
    r->blocks[c] = b;
    r->columns[c] = b->data;
    return 0;
}

// The same, in place of a column of an array with the extents `old_extents` after its last use, if nobody else has it.
HELPER int over(run *r, i64 c, i64 n, i64 element, const i64 *extents, i64 rank, i64 old, const i64 *old_extents) {
    bool same = r->blocks[old]->count == 1;
    for (i64 k = 0; k < rank; k++) same &= extents[k] == old_extents[k];
    if (!same) return make(r, c, n, element, extents, rank);
    hand(r, c, old);
    r->blocks[old] = 0;
    return 0;
}

// Makes a column that starts with the elements of another one. With `last`, this is the last use of the other one.
HELPER int from(run *r, i64 c, i64 n, i64 element, const i64 *extents, i64 rank, i64 old, bool last) {
    if (last && r->blocks[old]->count == 1) {
        hand(r, c, old);
        r->blocks[old] = 0;
        return 0;
    }
    if (make(r, c, n, element, extents, rank)) return 1;
    __builtin_memcpy(r->columns[c], r->columns[old], n * element);
    return 0;
}

// The size of a row of a list, whose extents become those of the row. A list with rows of other extents is a fault.
HELPER i64 row_size(run *r, i64 rows, i64 *list, const i64 *row, i64 rank) {
    bool other = 0;
    for (i64 k = 0; k < rank; k++) {
        if (rows == 0) list[k + 1] = row[k];
        other |= list[k + 1] != row[k];
    }
    if (!other) return size(row, rank);
    if (bad_lists(r, ROWS, list + 1, rank, 2)) {
        for (i64 k = 0; k < rank; k++) r->fault[3 + rank + k] = row[k];
    }
    return -1;
}

// The number of rows for which full lists get memory, of at most this many.
HELPER i64 more_rows(i64 room, i64 most) {
    const i64 more = room ? 2 * room : 16;
    return more < most ? more : most;
}

// Makes memory for this number of rows of size n in a column of a list, and keeps the rows that there are: the first ones, or with
// `right` the last ones.
HELPER int grow(run *r, i64 c, i64 rows, i64 room, i64 n, i64 element, i64 *extents, i64 rank, bool right) {
    block *old = r->blocks[c];
    extents[0] = room;
    const i64 all = checked_size(r, extents, rank);
    if (all < 0 || make(r, c, all, element, extents, rank)) return 1;
    extents[0] = rows;
    __builtin_memcpy((char *)r->columns[c] + (right ? room - rows : 0) * n * element, old->data, rows * n * element);
    if (--old->count == 0) r->calls->release(r, old);
    return 0;
}

// A column in a state: its position and those of its array's extents in the tables, and of the extents in the tape.
typedef struct { i64 column, extents, rank, first, element; } place;

#define SLOT(bytes) (((bytes) + 7) & ~7LL)

// Offers the columns to a tape.
HELPER int keep(run *r, i64 number, const place *p, i64 n) {
    tape *const t = r->tapes + number;
    bool slow = t->count == t->room;
    if (!slow) {
        for (i64 k = 0; k < n; k++) {
            for (i64 d = 0; d < p[k].rank; d++) slow |= r->extents[p[k].extents + d] != t->extents[p[k].first + d];
        }
    }
    if (slow) return r->calls->keep(r, number);
    char *to = t->data + t->count++ * t->size;
    for (i64 k = 0; k < n; k++) {
        __builtin_memcpy(to, r->columns[p[k].column], t->bytes[k]);
        to += SLOT(t->bytes[k]);
    }
    return 0;
}

// Defines the columns as those of the last state of a tape until `at`. Returns its number; -1 is a failure.
HELPER i64 recall(run *r, i64 number, const place *p, i64 n, i64 at) {
    tape *const t = r->tapes + number;
    bool slow = t->count == 0 || at != t->count - 1;
    if (!slow) {
        for (i64 k = 0; k < n; k++) slow |= p[k].rank && t->blocks[k]->count != 1;
    }
    if (slow) return r->calls->recall(r, number, at);
    const char *from = t->data + --t->count * t->size;
    for (i64 k = 0; k < n; k++) {
        if (p[k].rank) {
            // The tape has the other reference, so that nobody writes to the block or releases it.
            block *b = r->blocks[p[k].column] = t->blocks[k];
            r->columns[p[k].column] = b->data;
            b->count = 2;
            for (i64 d = 0; d < p[k].rank; d++) r->extents[p[k].extents + d] = t->extents[p[k].first + d];
        }
        __builtin_memcpy(r->columns[p[k].column], from, t->bytes[k]);
        from += SLOT(t->bytes[k]);
    }
    return at;
}

// Calls a kernel for n positions, each of which takes about `cost` operations; see `ranges` for `width`.
HELPER int positions(run *r, function *f, i64 width, i64 n, i64 cost, const i64 *extents) {
    const task t = { 0, n, 0, 0, 0, extents, 0 };
    i64 work;
    const bool large = __builtin_mul_overflow(n, cost, &work) || work >= SMALL;
    return large ? r->calls->ranges(r, f, width, n, cost, extents) : f(r->arrays, &t, r->fault);
}

typedef int rows_callback(run *, i64 to, function *const *, i64 rows, i64 len, i64 cost, const i64 *extents);

// Processes n rows. The first function processes those of a small operation. `all` can process a larger one, if there is such a kernel and it
// does not refuse (-1). Otherwise a callback does, with the other functions.
HELPER int all_rows(
    run *r, rows_callback *callback, i64 to, function *all, function *const *f, i64 n, i64 len, i64 cost, const i64 *extents
) {
    const task t = { 0, n, 0, 0, len, extents, 0 };
    i64 work;
    const bool large = __builtin_mul_overflow(n * (len ? len : 1), cost, &work) || work >= SMALL;
    if (!large) return f[0](r->arrays, &t, r->fault);
    const int done = all ? all(r->arrays, &t, r->fault) : -1;
    return done >= 0 ? done : callback(r, to, f, n, len, cost, extents);
}
