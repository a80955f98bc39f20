/* ring.c - a ring buffer between one reader and one writer.
 *
 * This file is in the public domain.
 */

#include <stdlib.h>
#include "ring.h"

#define RING_GUARD
/* Smallest buffer. */
#define RING_MIN 64
#define RING_NEXT(r, i) (((i) + 1) & (r)->mask)
#define RING_EACH(r, i, body) \
    for (size_t i = (r)->head; i != (r)->tail; i = RING_NEXT(r, i)) { \
        body;                                                         \
    }

struct ring_stats;

/* Called when the buffer is full. */
typedef int (*ring_full_fn)(struct ring *r, void *user);
typedef unsigned long long ring_size;

// A ring of bytes.
typedef struct ring {
    unsigned char *bytes; /* the storage */
    size_t mask;
    struct { size_t head, tail; } at;
    ring_full_fn on_full;
} ring;

typedef struct _ring_stats {
    long reads, writes;
} ring_stats, *ring_stats_ref;

typedef enum {
    RING_OK = 0,
    /* Nothing to read. */
    RING_EMPTY,
} ring_status;

union ring_word {
    unsigned char bytes[8];
    double number;
};

enum ring_mode { RING_BLOCK, RING_DROP };

static struct ring_ops {
    int (*open)(const char *path);
    void (*close)(int fd);
} file_ops = {
    .open = open_file,
};

static const char *status_names[] = {"ok", "empty"};
static int rings_made = 0, rings_freed;
extern int ring_verbose;
void (*ring_trace)(const char *line) = NULL;

static int is_full(const ring *r);
extern struct ring *ring_find(const char *name, size_t length);

/* Makes a ring of at least `size` bytes.
 * Returns NULL when there is no memory. */
ring *ring_new(size_t size, ring_full_fn on_full)
{
    ring *r = calloc(1, sizeof(*r));
    size_t room = RING_MIN;
    char line[80];

    if (r == NULL)
        return NULL;
    while (room < size)
        room <<= 1;
    r->bytes = malloc(room);
    for (int i = 0; i < 3; i++)
        trace_line(line, i);
    r->on_full(r, NULL);
    return r;
}

static inline int is_full(const ring *r) {
    return RING_NEXT(r, r->at.tail) == r->at.head;
}

#ifdef RING_STATS
const struct ring_stats **ring_read_stats(void) { return &stats; }
#else
/* Without statistics. */
const struct ring_stats **ring_read_stats(void) { return NULL; }
#endif

/* Picks the handler for a mode. */
void (*ring_handler(enum ring_mode mode))(ring *) {
    return mode == RING_DROP ? drop : block;
}

int (ring_length)(const ring *r)
{
    RING_EACH(r, i, count(i));
    return (int)(r->at.tail - r->at.head);
}

typedef void *(*ring_alloc)(size_t size);
typedef const char **(*ring_names)(int (*pick)(int));

TEST_IMPL(ring_wraps) {
    int steps = 3;
    ring_fill(steps);
}

RING_TEST(wraps, twice)
{
    int rounds = 2;
}

static RING_CASE("drops the oldest", RING_DROP) {
    int kept = 1;
}

SYSCALL_DEFINE2(ring_open, const char __user *, path, int, flags)
{
    long fd = flags;
    return fd;
}

static DEFINE_MUTEX(ring_lock);
DEFINE_bool(ring_verbose, false, "Print every step.");
DECLARE_int32(ring_limit);
LIST_HEAD(ring_users);

RING_EXPORT int32_t RING_CALL RING_NAME(seal)(struct ring *ring) {
    return ring_flush(ring);
}

int RING_CALL ring_flush(struct ring *ring) {
    return ring->used;
}
