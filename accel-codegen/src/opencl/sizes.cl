static i64 times(i64 a, i64 b) { return a * b; }
static i64 room(i64 bytes) { return (bytes + 63) & -64; }
