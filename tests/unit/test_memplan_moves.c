/* Places in time: what a plan does, its file, what the validator finds, problems at random, and too little memory. */
#include "memplan/moves.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "memplan/file.h"
#include "tests/unit/bench.h"
#include "tests/unit/memplan.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

/* w comes to SM while b runs; x makes room for it, and comes back while e runs; z is computed anew from k. */
static const char PROBLEM[] =
    "{\"levels\": [{\"name\": \"SM\", \"bytes\": 4096, \"bytes_per_cycle\": 64, \"latency\": 4},\n"
    "  {\"name\": \"GM\", \"bytes\": 65536, \"bytes_per_cycle\": 4, \"latency\": 10}],\n"
    " \"steps\": [{\"name\": \"a\", \"cycles\": 1000}, {\"name\": \"b\", \"cycles\": 1000}, {\"name\": \"c\", "
    "\"cycles\": 300},\n"
    "  {\"name\": \"d\", \"cycles\": 300}, {\"name\": \"e\", \"cycles\": 3000}, {\"name\": \"f\", \"cycles\": 100},\n"
    "  {\"name\": \"g\", \"cycles\": 50}],\n"
    " \"buffers\": [\n"
    "  {\"name\": \"w\", \"bytes\": 2048, \"first\": 0, \"last\": 3, \"kind\": \"weight\", \"home\": \"GM\",\n"
    "   \"uses\": [[2, 2048]]},\n"
    "  {\"name\": \"x\", \"bytes\": 2500, \"first\": 0, \"last\": 5, \"uses\": [[0, 2500], [5, 2500]]},\n"
    "  {\"name\": \"k\", \"bytes\": 64, \"first\": 0, \"last\": 6, \"uses\": [[0, 64]], \"levels\": [\"SM\"]},\n"
    "  {\"name\": \"z\", \"bytes\": 1500, \"first\": 1, \"last\": 6, \"uses\": [[1, 1500], [6, 1500]],\n"
    "   \"anew\": {\"cycles\": 20, \"operands\": [\"k\"]}},\n"
    "  {\"name\": \"y\", \"bytes\": 1000, \"first\": 1, \"last\": 2, \"uses\": [[1, 1000], [2, 1000]]}]}\n";

static const char *write_text(bench *b, const char *name, const char *text) {
    const char *path = xpu_path_join(b->arena, b->folder, name);
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(b->arena, path, text, strlen(text), &b->diags), XPU_OK);
    return path;
}

static void read_problem(bench *b, xpu_memplan_problem *problem) {
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_read(b->arena, write_text(b, "p.json", PROBLEM), 0, problem, &b->diags), XPU_OK);
}

static xpu_memplan_moves *plan_problem(bench *b, xpu_memplan_problem *problem) {
    xpu_memplan_moves *moves;
    read_problem(b, problem);
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_make_moves(b->arena, problem, NULL, &moves, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_memplan_check_moves(b->arena, problem, moves, &b->diags), XPU_OK);
    return moves;
}

static void check_text(bench *b) {
    xpu_memplan_problem problem;
    const xpu_memplan_moves *moves = plan_problem(b, &problem);
    expect_text("moves", xpu_memplan_moves_text(b->arena, &problem, moves),
                "5782 cycles, 10048 bytes cross GM; without moves 6244 and 4048\n"
                "  w: GM to SM, layer 1 'b', there until layer 2 'c'\n"
                "  x: GM to SM, layer 4 'e', there until layer 5 'f'\n"
                "  z: GM to SM, layers 4 'e' to 5 'f', there until layer 6 'g'\n");
}
static void text(void) {
    with_bench(check_text);
}

static void check_file(bench *b) {
    xpu_memplan_problem problem;
    xpu_memplan_moves again;
    const xpu_memplan_moves *made = plan_problem(b, &problem);
    const char *path = xpu_path_join(b->arena, b->folder, "plan.json"),
               *second = xpu_path_join(b->arena, b->folder, "again.json"),
               *svg = xpu_path_join(b->arena, b->folder, "plan.svg");
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_write_moves(b->arena, path, &problem, made, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_read_moves(b->arena, path, &problem, &again, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_memplan_check_moves(b->arena, &problem, &again, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL(again.transfer_count, made->transfer_count);
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_write_moves(b->arena, second, &problem, &again, &b->diags), XPU_OK);
    size_t length, other;
    const char *a = xpu_file_read_all(b->arena, path, 1 << 20, &length, &b->diags);
    const char *c = xpu_file_read_all(b->arena, second, 1 << 20, &other, &b->diags);
    CU_ASSERT(length == other && memcmp(a, c, length) == 0);
    CU_ASSERT_EQUAL(xpu_memplan_draw_moves(b->arena, svg, made, &b->diags), XPU_OK);
    const char *drawn = xpu_file_read_all(b->arena, svg, 1 << 20, &length, &b->diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(drawn);
    CU_ASSERT_PTR_NOT_NULL(strstr(drawn, "comes from GM in layer 1 'b'"));
    CU_ASSERT_PTR_NOT_NULL(strstr(drawn, "url(#arrives)"));
}
static void file(void) {
    with_bench(check_file);
}

/* ---- the validator ---- */

static void spoil(xpu_memplan_moves *m, int what) {
    static xpu_memplan_use shares[2];
    xpu_memplan_transfer *t = m->transfers;
    switch (what) {
    case 0: m->stays[t->target].to = t->end; break;
    case 1: m->stays[t->target].from++; break;
    case 2: m->stays[0].level = 7; break;
    case 3: m->stay_count--; break;
    case 4: t->begin = t->end = t->end + 1; break;
    case 5: t->source = t->target; break;
    case 6: t->source = XPU_MEMPLAN_NONE; break;
    case 7: t->source = UINT32_MAX - 1; break;
    case 8: t->target = m->stay_count; break;
    case 9:
        shares[0] = (xpu_memplan_use){t->begin, t->shares[0].bytes - 1};
        t->shares = shares;
        break;
    case 10: t->share_count = 0; break;
    case 11: m->transfer_count--; break;
    case 12: m->cycles[1]++; break;
    case 13: m->cycles[2]--; break;
    case 14: m->all_cycles--; break;
    case 15: m->last_bytes++; break;
    case 16: m->plan.places[0].offset = UINT64_C(1) << 40; break;
    case 17: ((xpu_memplan_buffer *)m->problem.buffers)[0].bytes--; break;
    case 18: m->stays[0].to--; break;
    default: break;
    }
}
static const char *const spoilt[] = {"check-transfer", "check-transfer", "check-stay",     "check-stay",
                                     "check-transfer", "check-transfer", "check-transfer", "check-transfer",
                                     "check-transfer", "check-transfer", "check-transfer", "check-stay",
                                     "check-cycles",   "check-cycles",   "check-cycles",   "check-cycles",
                                     "check-bounds",   "check-stay",     "check-stay"};

static void check_spoilt(bench *b) {
    for (int i = 0; i < (int)(sizeof spoilt / sizeof *spoilt); i++) {
        xpu_memplan_problem problem;
        xpu_memplan_moves *moves = plan_problem(b, &problem);
        CU_ASSERT_FATAL(moves->transfer_count > 0);
        spoil(moves, i);
        CU_ASSERT_EQUAL(xpu_memplan_check_moves(b->arena, &problem, moves, &b->diags), XPU_EBUG);
        const char *said = all_text(b->arena, &b->diags);
        if (!strstr(said, xpu_printf(b->arena, "[%s]", spoilt[i]))) fprintf(stderr, "\nspoilt %d: %s\n", i, said);
        CU_ASSERT_PTR_NOT_NULL(strstr(said, xpu_printf(b->arena, "[%s]", spoilt[i])));
        xpu_diags_clear(&b->diags);
        xpu_diags_init(&b->diags);
    }
}
static void validator(void) {
    with_bench(check_spoilt);
}

/* While w arrives it is read in its home, which takes longer. */
static void check_not_arrived(bench *b) {
    xpu_memplan_problem problem;
    xpu_memplan_moves *moves = plan_problem(b, &problem);
    for (uint32_t i = 0; i < problem.buffer_count; i++) {
        xpu_memplan_use *uses = (xpu_memplan_use *)problem.timeline->traffic[i].uses;
        if (strcmp(problem.buffers[i].name, "w") == 0) uses[0].step = 1;
    }
    CU_ASSERT_EQUAL(xpu_memplan_check_moves(b->arena, &problem, moves, &b->diags), XPU_EBUG);
    CU_ASSERT_PTR_NOT_NULL(strstr(all_text(b->arena, &b->diags), "[check-cycles]"));
}
static void other_uses(void) {
    with_bench(check_not_arrived);
}

/* ---- problems that make no sense ---- */

static void check_wrong(bench *b) {
    static const struct {
        const char *more, *what;
    } rows[] = {{"\"uses\": [[4, 8]]", "a buffer is used while it lives"},
                {"\"uses\": [[1, 8], [1, 8]]", "uses are in order, one of a step"},
                {"\"uses\": [[1, 8]], \"home\": \"XX\"", "there is no such level"},
                {"\"uses\": [[1, 8]], \"home\": \"GM\", \"levels\": [\"SM\"]", "the home is one of its levels"},
                {"\"uses\": [[1]]", "this is no use"},
                {"\"uses\": 3", "an array is expected"},
                {"\"uses\": [[1, 8]], \"anew\": {\"cycles\": 3, \"operands\": [\"q\"]}", "operands are other buffers"},
                {"\"uses\": [[1, 8]], \"anew\": {\"cycles\": 0, \"operands\": []}", "the number is out of range"},
                {"\"uses\": [[1, 8]], \"home\": \"GM\", \"anew\": {\"cycles\": 1, \"operands\": []}",
                 "a constant is never computed"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        xpu_memplan_problem problem;
        xpu_memplan_moves *moves;
        const char *path = write_text(
            b, "wrong.json",
            xpu_printf(b->arena,
                       "{\"levels\": [{\"name\": \"SM\", \"bytes\": 64}, {\"name\": \"GM\", \"bytes\": 64}], \"steps\":"
                       " [{\"cycles\": 1}, {\"cycles\": 2}, {\"cycles\": 3}], \"buffers\": [{\"name\": \"q\","
                       " \"bytes\": 8, \"first\": 0, \"last\": 2, %s}]}",
                       rows[i].more));
        xpu_status status = xpu_memplan_read(b->arena, path, 0, &problem, &b->diags);
        if (status == XPU_OK) status = xpu_memplan_make_moves(b->arena, &problem, NULL, &moves, &b->diags);
        CU_ASSERT(status == XPU_EUSAGE || status == XPU_EMODEL);
        const char *said = all_text(b->arena, &b->diags);
        if (!strstr(said, rows[i].what)) fprintf(stderr, "\n%s: %s\n", rows[i].more, said);
        CU_ASSERT_PTR_NOT_NULL(strstr(said, rows[i].what));
        xpu_diags_clear(&b->diags);
        xpu_diags_init(&b->diags);
    }
    xpu_memplan_problem none = {.levels = levels, .level_count = 3};
    xpu_memplan_moves *moves;
    CU_ASSERT_EQUAL(xpu_memplan_make_moves(b->arena, &none, NULL, &moves, &b->diags), XPU_EMODEL);
    CU_ASSERT_PTR_NULL(moves);
}
static void wrong_problems(void) {
    with_bench(check_wrong);
}

/* ---- at random ---- */

enum { MOST = 40, LINE = 24, RANDOM_PROBLEMS = 400 };

typedef struct {
    xpu_memplan_level levels[3];
    xpu_memplan_buffer buffers[MOST];
    xpu_memplan_traffic traffic[MOST];
    xpu_memplan_use uses[MOST][LINE];
    xpu_memplan_alias aliases[8];
    xpu_memplan_rule rule;
    xpu_memplan_match match;
    xpu_memplan_steps gap;
    uint32_t operand;
    uint64_t cycles[LINE];
    xpu_memplan_timeline line;
} drawn;

static void draw_buffer(drawn *d, uint32_t i) {
    xpu_memplan_buffer *b = &d->buffers[i];
    xpu_memplan_traffic *t = &d->traffic[i];
    *b = (xpu_memplan_buffer){.name = "b", .bytes = 16 * random_below(200), .alignment = 1u << random_below(6)};
    b->first = random_below(LINE - 1);
    b->last = b->first + random_below(LINE - b->first);
    b->level_count = 1 + random_below(3);
    for (uint32_t k = 0; k < b->level_count; k++) b->levels[k] = (uint8_t)(3 - b->level_count + k);
    t->home = random_below(3) ? XPU_MEMPLAN_NONE : 2;
    t->uses = d->uses[i];
    for (uint32_t step = b->first; step <= b->last && random_below(12); step++)
        if (random_below(3) == 0)
            d->uses[i][t->use_count++] = (xpu_memplan_use){step, random_below((uint32_t)b->bytes + 2)};
    if (t->home == XPU_MEMPLAN_NONE && random_below(4) == 0) {
        t->anew_cycles = 1 + random_below(300);
        t->operands = &d->operand;
        t->operand_count = i > 0 && random_below(2);
    }
}

static void draw_problem(drawn *d, xpu_memplan_problem *problem) {
    static const char *const names[] = {"SM", "L3", "GM"};
    *d = (drawn){.rule = {"rule", 2, XPU_MEMPLAN_MUST, 0, 0, 0, 0}};
    for (int i = 0; i < 3; i++)
        d->levels[i] = (xpu_memplan_level){.name = names[i],
                                           .bytes = i == 2 ? 1 << 20 : 2048u << (i + random_below(2)),
                                           .alignment = 1u << random_below(7),
                                           .reserved = 16 * random_below(10),
                                           .bytes_per_cycle = random_below(8) ? 64u >> (2 * i) : 0,
                                           .latency = random_below(30)};
    const uint32_t count = 2 + random_below(MOST - 2);
    for (uint32_t i = 0; i < count; i++) draw_buffer(d, i);
    for (uint32_t i = 0; i < LINE; i++) d->cycles[i] = random_below(600);
    *problem = (xpu_memplan_problem){.levels = d->levels,
                                     .level_count = 3,
                                     .buffers = d->buffers,
                                     .buffer_count = count,
                                     .aliases = d->aliases,
                                     .rules = &d->rule,
                                     .matches = &d->match,
                                     .timeline = &d->line};
    d->line = (xpu_memplan_timeline){d->cycles, LINE, d->traffic};
    d->match.buffer = random_below(count);
    problem->rule_count = problem->match_count = random_below(2);
    for (uint32_t i = 0; i + 1 < count && problem->alias_count < 8; i++) {
        if (d->buffers[i].level_count != d->buffers[i + 1].level_count || random_below(3)) continue;
        d->aliases[problem->alias_count++] = (xpu_memplan_alias){.buffer = i + 1, .other = i};
    }
    xpu_memplan_buffer *last = &d->buffers[count - 1];
    if (last->last - last->first < 4) return;
    d->gap = (xpu_memplan_steps){last->first + 1, last->last - 1};
    last->gaps = &d->gap;
    last->gap_count = random_below(2);
}

static uint32_t moving, anew;

static void run_random(xpu_arena *arena, uint64_t seed, xpu_diags *diags) {
    drawn *d = XPU_NEW(arena, drawn);
    xpu_memplan_problem problem;
    xpu_memplan_moves *moves, *again;
    random_state = seed * 0x9e3779b97f4a7c15;
    draw_problem(d, &problem);
    xpu_status status = xpu_memplan_make_moves(arena, &problem, NULL, &moves, diags);
    CU_ASSERT_EQUAL(status, XPU_OK);
    if (status == XPU_OK) status = xpu_memplan_check_moves(arena, &problem, moves, diags);
    CU_ASSERT_EQUAL(status, XPU_OK);
    if (status != XPU_OK) {
        fprintf(stderr, "\nseed %" PRIu64 ": %s\n", seed, all_text(arena, diags));
        return;
    }
    moving += moves->transfer_count > 0;
    for (uint32_t i = 0; i < moves->transfer_count; i++) anew += moves->transfers[i].source == XPU_MEMPLAN_NONE;
    CU_ASSERT(moves->all_cycles <= moves->still_cycles);
    CU_ASSERT_EQUAL(xpu_memplan_make_moves(arena, &problem, NULL, &again, diags), XPU_OK);
    CU_ASSERT(again->stay_count == moves->stay_count &&
              memcmp(again->stays, moves->stays, moves->stay_count * sizeof *moves->stays) == 0 &&
              memcmp(again->plan.places, moves->plan.places, moves->stay_count * sizeof *moves->plan.places) == 0);
}

static void run_seed(uint64_t seed) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) exit(EXIT_FAILURE);
    xpu_diags_init(&diags);
    run_random(xpu_arena_new(&mem, "test"), seed, &diags);
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

static void at_random(void) {
    const char *count = getenv("XPU_TEST_INSTANCES"); /* the long tests ask for 100,000 of other tests */
    const uint32_t problems = count ? (uint32_t)strtoul(count, NULL, 10) / 20 : RANDOM_PROBLEMS;
    moving = anew = 0;
    for (uint64_t seed = 1; seed <= problems; seed++) run_seed(seed);
    printf("(%" PRIu32 " of %" PRIu32 " with moves, %" PRIu32 " computed anew) ", moving, problems, anew);
    CU_ASSERT(moving > problems / 4 && anew > problems / 100);
}

/* ---- too little memory ---- */

/* Plans with the allocation number `at` failing; 0: none. *made: how many there were. */
static xpu_status plan_with_failure(unsigned long at, unsigned long *made) {
    static drawn d;
    xpu_mem mem;
    xpu_diags diags;
    xpu_memplan_problem problem;
    xpu_memplan_moves *moves;
    random_state = 77;
    draw_problem(&d, &problem);
    xpu_mem_init(&mem);
    xpu_diags_init(&diags);
    xpu_alloc_fail_at(at);
    volatile xpu_status status = XPU_EIO;
    if (setjmp(mem.out_of_memory) == 0) {
        xpu_arena *arena = xpu_arena_new(&mem, "test");
        status = xpu_memplan_make_moves(arena, &problem, NULL, &moves, &diags);
        if (status == XPU_OK) status = xpu_memplan_check_moves(arena, &problem, moves, &diags);
    } else {
        status = XPU_EIO;
    }
    *made = xpu_alloc_fail_at(0);
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
    return status;
}

static void no_memory(void) {
    unsigned long count, made;
    CU_ASSERT_EQUAL(plan_with_failure(0, &count), XPU_OK);
    CU_ASSERT(count > 100);
    const unsigned long step = count / 2000 + 1; /* all of them where they are few */
    for (unsigned long at = 1; at <= count; at += at < 500 ? 1 : step) {
        const xpu_status status = plan_with_failure(at, &made);
        if (status != XPU_EIO) fprintf(stderr, "\nallocation %lu of %lu: %d\n", at, count, (int)status);
        CU_ASSERT_EQUAL(status, XPU_EIO);
    }
}

XPU_TEST_MAIN("places in time", {"text", text}, {"file", file}, {"validator", validator}, {"other uses", other_uses},
              {"wrong problems", wrong_problems}, {"at random", at_random}, {"no memory", no_memory})
