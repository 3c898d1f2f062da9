/* gdb's remote protocol on the functional chip: a script of packets is sent, what comes back is compared; and random
 * and damaged packets, which must do no harm. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/func/gdb/gdb.h"
#include "tests/unit/func_fixture.h"

enum { ENTRY = 0x80001000u, GM = 0x80002000u, MAX_TEXT = 65536 };

/* Both cores: x5 counts up from 0, x6 = GM, the count is stored there; 0x80001014 is the end of the loop. */
static const uint32_t counting[] = {
    0x80002337, /* lui t1, 0x80002 */
    0x00000293, /* li t0, 0 */
    0x00128293, /* 1: addi t0, t0, 1 */
    0x00532023, /* sw t0, 0(t1) */
    0x00032383, /* lw t2, 0(t1) */
    0xff5ff06f, /* j 1b */
};

/* Core 0 writes 7 to EXIT; core 1 ends. */
static const uint32_t ending[] = {
    0xf14022f3, /* csrr t0, mhartid */
    0x00029a63, /* bnez t0, 1f */
    0x02000337, /* lui t1, 0x2000 */
    0x00700393, /* li t2, 7 */
    0x40732e23, /* sw t2, 0x41c(t1) */
    0x0000006f, /* j . */
    0x10500073, /* 1: wfi */
    0x0000006f, /* j . */
};

static void open_program(fixture *f, const uint32_t *words, size_t bytes) {
    open_fixture(f, 1);
    CU_ASSERT_EQUAL(xpu_func_driver.write(f->device, ENTRY, words, bytes), 0);
}

/* Sends '$packet#sum' for each packet; "^C": an interrupt; "...": the client waits for more to come, it does not hang
 * up. */
static int send_packets(int to, const char *const *packets) {
    for (; *packets; packets++) {
        char text[256];
        if (strcmp(*packets, "...") == 0) return 1;
        uint8_t sum = 0;
        for (const char *c = *packets; *c; c++) sum = (uint8_t)(sum + (uint8_t)*c);
        int length = strcmp(*packets, "^C") == 0 ? snprintf(text, sizeof text, "\003")
                                                 : snprintf(text, sizeof text, "$%s#%02x", *packets, sum);
        CU_ASSERT_EQUAL(write(to, text, (size_t)length), length);
    }
    return 0;
}

/* The packets that came, separated by blanks, without acknowledgements and sums. */
static void read_replies(int from, char *text) {
    char bytes[MAX_TEXT];
    size_t length = 0;
    ssize_t got;
    while ((got = read(from, bytes + length, sizeof bytes - 1 - length)) > 0) length += (size_t)got;
    *text = 0;
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != '$') continue;
        size_t end = i + 1;
        while (end < length && bytes[end] != '#') end++;
        if (*text) strcat(text, " ");
        strncat(text, bytes + i + 1, end - i - 1);
        i = end + 2;
    }
}

/* Starts the program, sends the packets, runs, and gives the replies; how the run ended. */
static xpurt_event converse(fixture *f, const char *const *packets, char *text) {
    int pair[2];
    xpurt_event event;
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(xpu_gdb_attach(f->func, pair[0], pair[0]));
    CU_ASSERT_EQUAL(xpu_func_driver.start(f->device, ENTRY), 0);
    if (!send_packets(pair[1], packets)) shutdown(pair[1], SHUT_WR);
    CU_ASSERT_EQUAL(xpu_func_driver.run(f->device, 300000, &event), 0);
    read_replies(pair[1], text);
    close(pair[1]);
    return event;
}

static void expect(const uint32_t *words, size_t bytes, const char *const *packets, xpurt_event_kind kind,
                   const char *expected) {
    fixture f;
    char text[MAX_TEXT];
    open_program(&f, words, bytes);
    xpurt_event event = converse(&f, packets, text);
    CU_ASSERT_EQUAL(event.kind, kind);
    if (strcmp(text, expected) != 0) printf("\n  got      %s\n  expected %s\n", text, expected);
    CU_ASSERT_STRING_EQUAL(text, expected);
    close_fixture(&f);
}
#define EXPECT(words, kind, expected, ...)                                                                             \
    expect(words, sizeof words, (const char *const[]){"QStartNoAckMode", __VA_ARGS__, NULL}, kind, "OK " expected)

static void registers(void) {
    EXPECT(counting, XPURT_EVENT_BUDGET, "T05thread:1; 00000000 OK 78563412 00100080 OK 0000c03f 40000000 E01 E01", "?",
           "p6", "P6=78563412", "p6", "p20", "P21=0000c03f", "p21", "p4a", "p1000", "P6=12");
}

/* The vector registers: 64 bytes each, and all registers at once. */
static void vectors(void) {
    fixture f;
    char text[MAX_TEXT], value[160] = "P4c=";
    for (unsigned i = 0; i < XPU_VLEN_BYTES; i++) snprintf(value + 4 + 2 * i, 3, "%02x", i);
    open_program(&f, counting, sizeof counting);
    converse(&f, (const char *const[]){value, "p4c", "g", NULL}, text);
    CU_ASSERT_EQUAL(strncmp(text, "OK ", 3), 0);
    CU_ASSERT_EQUAL(strncmp(text + 3, value + 4, 128), 0);
    CU_ASSERT_EQUAL(strlen(text), 3 + 128 + 1 + 2 * (4 * 76 + 32 * 64));
    CU_ASSERT_EQUAL(memcmp(text + 132 + 2 * 4 * 76, value + 4, 128), 0);
    close_fixture(&f);
}

/* LM by the own address of the core that Hg chose; counters; and what there is of a range that ends too early. */
static void memory(void) {
    EXPECT(counting, XPURT_EVENT_BUDGET, "37230080 OK 00aabb00 OK 007d4100 E0e E0e OK OK 5a 5a 00 00000000 E01 00",
           "m80001000,4", "M80003001,2:aabb", "m80003000,4", "X80003001,2:}]A", "m80003000,4", "m0,4",
           "M2000000,4:01000000", "Hg2", "M10000010,1:5a", "m10000010,1", "m11100010,1", "m11000010,1", "m2000000,4",
           "M80003001,2:aa", "m80ffffff,2");
}

/* Breakpoints stop every core, before the instruction; going on passes them. A changed instruction is executed. */
static void breakpoints(void) {
    EXPECT(counting, XPURT_EVENT_BUDGET,
           "PacketSize=4000;qXfer:features:read+;vContSupported+;QStartNoAckMode+;swbreak+ OK "
           "T05swbreak:;thread:1; 08100080 00000000 T05swbreak:;thread:2; 08100080 00000000 "
           "T05swbreak:;thread:1; 01000000 OK E01 E01  OK OK T05swbreak:;thread:2; 62000000",
           "qSupported:swbreak+", "Z0,80001008,4", "c", "p20", "p5", "c", "p20", "p5", "c", "p5", "z0,80001008,4",
           "Z0,80001003,4", "Z0,90000000,4", "Z9,80001008,4", "M80001008,4:93822206", "Z0,80001014,4", "c", "p5");
}

/* Others stand still during a step, whatever they may do. */
static void steps(void) {
    EXPECT(counting, XPURT_EVENT_BUDGET,
           "T05thread:1; 04100080 T05thread:1; T05thread:2; 04100080 T05thread:1; 0c100080 vCont;c;C;s;S E01 E01 OK "
           "T05thread:2; 08100080 T05thread:2; 04100080 QC2 OK E01 m1,2 l",
           "s", "p20", "s", "vCont;s:2", "p20", "vCont;s:1;c", "p20", "vCont?", "vCont;x", "vCont;s:7", "Hc2", "s",
           "p20", "s80001000", "p20", "qC", "T2", "T3", "qfThreadInfo", "qsThreadInfo");
}

/* Core 0 waits for counter 3, to which core 1 adds: alone it comes no further, with core 1 it does. */
static void steps_that_wait(void) {
    static const uint32_t waiting[] = {
        0x02000337, /* lui t1, 0x2000 */
        0x00100393, /* li t2, 1 */
        0xf14022f3, /* csrr t0, mhartid */
        0x00029863, /* bnez t0, 1f */
        0x10732623, /* sw t2, 0x10c(t1): WAIT_VALUE[3] */
        0x20c32283, /* lw t0, 0x20c(t1): WAIT[3] */
        0x40732e23, /* sw t2, 0x41c(t1): EXIT */
        0x00732623, /* 1: sw t2, 0xc(t1): COUNTER[3] */
        0x10500073, /* wfi */
    };
    EXPECT(waiting, XPURT_EVENT_ENDED, "OK T05thread:1; T05thread:1; 14100080 T05thread:1; 18100080 01000000 W01",
           "Z0,80001014,4", "c", "vCont;s:1", "p20", "vCont;s:1;c", "p20", "m200000c,4", "c", "...");
}

static void watches(void) {
    EXPECT(counting, XPURT_EVENT_BUDGET,
           "OK T05watch:80002000;thread:1; 10100080 OK OK T05rwatch:80002002;thread:1; 14100080 OK OK "
           "T05awatch:80002000;thread:2; T05awatch:80002000;thread:1; OK OK T02thread:1;",
           "Z2,80002000,4", "c", "p20", "z2,80002000,4", "Z3,80002002,1", "c", "p20", "z3,80002002,1", "Z4,80002000,4",
           "c", "c", "z4,80002000,4", "Z2,80002004,4", "c", "^C");
}

static void ends(void) {
    EXPECT(ending, XPURT_EVENT_ENDED, "W07", "c", "...");
    EXPECT(ending, XPURT_EVENT_FAULT, "OK T04thread:1; 10100080 X04", "M80001010,4:00000000", "c", "p20", "c");
    expect(ending, sizeof ending, (const char *const[]){"k", NULL}, XPURT_EVENT_FAULT, "");
    EXPECT(ending, XPURT_EVENT_FAULT, "OK", "vKill;1");
    EXPECT(counting, XPURT_EVENT_BUDGET, "OK OK", "Z0,80001008,4", "D");
    EXPECT(counting, XPURT_EVENT_BUDGET, "T02thread:1; E01 1  ", "c", "^C", "m", "qAttached", "unknown", "!");
}

/* The first line of "monitor state", and what a thread does. */
static void states(void) {
    fixture f;
    char text[MAX_TEXT];
    const char *line = "core 0: pc 0x80001000, 0 instructions, layer 0, runs";
    open_program(&f, counting, sizeof counting);
    converse(&f, (const char *const[]){"qThreadExtraInfo,1", "qRcmd,7374617465", NULL}, text);
    CU_ASSERT_EQUAL(strlen(text) > 2 * strlen(line) + 1, 1);
    for (size_t i = 0; i < strlen(line); i++) {
        char pair[3];
        snprintf(pair, sizeof pair, "%02x", (unsigned)line[i]);
        CU_ASSERT_EQUAL(strncmp(text + 2 * i, pair, 2), 0);
        CU_ASSERT_EQUAL(strncmp(text + 2 * (strlen(line) + i) + 1, pair, 2), 0);
    }
    close_fixture(&f);
}

/* The description names every register that p takes, in pieces as gdb asks for them. */
static void description(void) {
    fixture f;
    char text[MAX_TEXT];
    open_program(&f, counting, sizeof counting);
    converse(&f,
             (const char *const[]){"qXfer:features:read:target.xml:0,3f00", "qXfer:features:read:target.xml:3f00,3f00",
                                   "qXfer:features:read:target.xml:ffffff,10", NULL},
             text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "<reg name=\"v31\" bitsize=\"512\" regnum=\"107\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "</target>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, " E01"));
    close_fixture(&f);
}

/* ---- over TCP ---- */

static void *run_device(void *context) {
    xpurt_event *event = malloc(sizeof *event);
    xpu_func_driver.run(context, 100000, event);
    return event;
}

static void over_tcp(void) {
    fixture f;
    xpu_func_options with_gdb = {.gdb_port = 0}, without = {0};
    char text[MAX_TEXT];
    void *result;
    pthread_t thread;
    struct sockaddr_in address = {.sin_family = AF_INET};
    open_program(&f, ending, sizeof ending);
    const xpu_gdb *gdb = xpu_gdb_listen(f.func, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(gdb);
    CU_ASSERT_EQUAL(xpu_func_driver.start(f.device, ENTRY), 0);
    with_gdb.gdb_port = xpu_gdb_port(gdb);
    xpu_func_configure(&with_gdb);
    CU_ASSERT_PTR_NULL(xpu_func_driver.create(&fixture_chip, &f.diags)); /* the port is in use */
    xpu_func_configure(&without);
    address.sin_port = htons((uint16_t)with_gdb.gdb_port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, run_device, f.device), 0);
    int to = socket(AF_INET, SOCK_STREAM, 0);
    CU_ASSERT_EQUAL(connect(to, (struct sockaddr *)&address, sizeof address), 0);
    send_packets(to, (const char *const[]){"?", "c", NULL});
    read_replies(to, text);
    CU_ASSERT_STRING_EQUAL(text, "T05thread:1; W07");
    pthread_join(thread, &result);
    CU_ASSERT_EQUAL(((xpurt_event *)result)->kind, XPURT_EVENT_ENDED);
    free(result);
    close(to);
    close_fixture(&f);
}

/* ---- damage; XPU_GDB_SEED=N chooses another sequence ---- */

enum { ROUNDS = 600, PACKETS = 40 };

/* A packet, mostly of a kind that exists, with numbers that are mostly reasonable. */
static size_t random_packet(fixture *f, char *text) {
    static const char *const kinds[] = {"?",
                                        "g",
                                        "G%s",
                                        "p%x",
                                        "P%x=%s",
                                        "m%x,%x",
                                        "M%x,%x:%s",
                                        "X%x,%x:%s",
                                        "Z%x,%x,%x",
                                        "z%x,%x,%x",
                                        "Hg%x",
                                        "Hc%x",
                                        "T%x",
                                        "vCont;s:%x;c",
                                        "vCont;c",
                                        "vCont?",
                                        "s%x",
                                        "c",
                                        "S%x;%x",
                                        "C%x",
                                        "qSupported:%s",
                                        "qXfer:features:read:target.xml:%x,%x",
                                        "qThreadExtraInfo,%x",
                                        "qRcmd,%s",
                                        "qfThreadInfo",
                                        "vCont;s:%x;c:%x;S%x:%x",
                                        "%s",
                                        "q%s",
                                        "v%s",
                                        "QStartNoAckMode"};
    static const uint32_t numbers[] = {0,          1,          2,          3,          4,         8,
                                       64,         0x1000,     ENTRY,      ENTRY + 8,  GM,        0x10000000,
                                       0x11000000, 0x20000000, 0x02000000, 0x7fffffff, 0xffffffff};
    const char *kind = kinds[draw(f, sizeof kinds / sizeof *kinds)];
    size_t length = 0;
    for (; *kind; kind++) {
        if (*kind != '%') {
            text[length++] = *kind;
        } else if (*++kind == 'x') {
            uint32_t number = draw(f, 4) ? numbers[draw(f, sizeof numbers / sizeof *numbers)] : draw(f, UINT32_MAX);
            length += (size_t)snprintf(text + length, 16, "%x", number);
        } else {
            uint32_t count = draw(f, 8) ? draw(f, 32) : draw(f, 20000);
            for (uint32_t i = 0; i < count; i++)
                text[length++] = draw(f, 8) ? "0123456789abcdef"[draw(f, 16)] : (char)draw(f, 256);
        }
    }
    for (uint32_t i = draw(f, 4) ? 0 : draw(f, 8); i > 0 && length; i--)
        text[draw(f, (uint32_t)length)] = (char)draw(f, 256);
    return length;
}

static void write_random(fixture *f, FILE *to) {
    static char text[65536];
    for (unsigned i = 0; i < PACKETS; i++) {
        size_t length = random_packet(f, text);
        uint8_t sum = 0;
        for (size_t k = 0; k < length; k++) sum = (uint8_t)(sum + (uint8_t)text[k]);
        if (draw(f, 50) == 0) fputc((int)draw(f, 256), to);
        fputc('$', to);
        fwrite(text, 1, length, to);
        fprintf(to, "#%02x\003", draw(f, 30) ? sum : draw(f, 256));
    }
}

static void damage(void) {
    fixture f;
    const char *given = getenv("XPU_GDB_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 15;
    printf("(seed %llu) ", (unsigned long long)seed);
    open_fixture(&f, seed);
    for (unsigned round = 0; round < ROUNDS; round++) {
        FILE *packets = tmpfile();
        xpurt_event event;
        CU_ASSERT_PTR_NOT_NULL_FATAL(packets);
        write_random(&f, packets);
        fflush(packets);
        rewind(packets);
        xpu_gdb *gdb = xpu_gdb_attach(f.func, dup(fileno(packets)), open("/dev/null", O_WRONLY));
        CU_ASSERT_PTR_NOT_NULL_FATAL(gdb);
        xpu_func_driver.write(f.device, ENTRY, counting, sizeof counting);
        CU_ASSERT_EQUAL(xpu_func_driver.start(f.device, ENTRY), 0);
        CU_ASSERT_EQUAL(xpu_func_driver.run(f.device, 2000000, &event), 0);
        CU_ASSERT(event.kind == XPURT_EVENT_BUDGET || event.kind == XPURT_EVENT_FAULT);
        xpu_gdb_free(gdb);
        fclose(packets);
    }
    close_fixture(&f);
}

XPU_TEST_MAIN("gdb", {"registers", registers}, {"vectors", vectors}, {"memory", memory}, {"breakpoints", breakpoints},
              {"steps", steps}, {"steps that wait", steps_that_wait}, {"watchpoints", watches}, {"ends", ends},
              {"states", states}, {"description", description}, {"over TCP", over_tcp}, {"damage", damage})
