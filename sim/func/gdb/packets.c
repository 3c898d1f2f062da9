/* Packets to and from gdb. */
#include "sim/func/gdb/packets.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "sim/func/gdb/breaks.h"

enum { INTERRUPT = 3, LOOK = 100 /* milliseconds between two questions whether to stop */ };

int xpu_gdb_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

size_t xpu_gdb_bytes(const char *text, uint8_t *bytes, size_t room) {
    size_t count = 0;
    while (count < room && xpu_gdb_digit(text[0]) >= 0 && xpu_gdb_digit(text[1]) >= 0) {
        bytes[count++] = (uint8_t)(xpu_gdb_digit(text[0]) << 4 | xpu_gdb_digit(text[1]));
        text += 2;
    }
    return count;
}

void xpu_gdb_put(xpu_gdb_reply *reply, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int got = vsnprintf(reply->text + reply->length, sizeof reply->text - reply->length, format, args);
    va_end(args);
    if (got > 0) reply->length += (size_t)got;
    if (reply->length > XPU_GDB_PACKET) reply->length = XPU_GDB_PACKET;
}

void xpu_gdb_put_hex(xpu_gdb_reply *reply, const void *bytes, size_t length) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < length && reply->length + 2 <= XPU_GDB_PACKET; i++) {
        uint8_t byte = ((const uint8_t *)bytes)[i];
        reply->text[reply->length++] = digits[byte >> 4];
        reply->text[reply->length++] = digits[byte & 15];
    }
    reply->text[reply->length] = 0;
}

void xpu_gdb_hang_up(xpu_gdb *gdb) {
    if (gdb->out >= 0 && gdb->out != gdb->in) close(gdb->out);
    if (gdb->in >= 0) close(gdb->in);
    if (gdb->listening >= 0) close(gdb->listening);
    gdb->in = gdb->out = gdb->listening = -1;
}

static void send_bytes(xpu_gdb *gdb, const char *bytes, size_t length) {
    while (length && gdb->out >= 0) {
        ssize_t sent = send(gdb->out, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == ENOTSOCK) sent = write(gdb->out, bytes, length);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) {
            xpu_gdb_detach(gdb);
            return;
        }
        bytes += sent;
        length -= (size_t)sent;
    }
}

void xpu_gdb_send(xpu_gdb *gdb, const xpu_gdb_reply *reply) {
    char end[4];
    uint8_t sum = 0;
    for (size_t i = 0; i < reply->length; i++) sum = (uint8_t)(sum + (uint8_t)reply->text[i]);
    snprintf(end, sizeof end, "#%02x", sum);
    send_bytes(gdb, "$", 1);
    send_bytes(gdb, reply->text, reply->length);
    send_bytes(gdb, end, 3);
}

/* Waits until there is something to read or accept; 0: the run shall end before. */
static int await(const xpu_gdb *gdb, int file) {
    struct pollfd waiting = {file, POLLIN, 0};
    while (!xpu_func_stopped(gdb->func)) {
        int ready = poll(&waiting, 1, LOOK);
        if (ready > 0 || (ready < 0 && errno != EINTR)) return 1;
    }
    return 0;
}

/* The next byte; -1: the client is gone. */
static int next_byte(xpu_gdb *gdb) {
    if (gdb->input_at == gdb->input_count) {
        ssize_t got;
        if (!await(gdb, gdb->in)) return -1;
        do got = read(gdb->in, gdb->input, sizeof gdb->input);
        while (got < 0 && errno == EINTR);
        if (got <= 0) return -1;
        gdb->input_at = 0;
        gdb->input_count = (size_t)got;
    }
    return gdb->input[gdb->input_at++];
}

int xpu_gdb_next_packet(xpu_gdb *gdb, char *packet, size_t *length) {
    for (;;) {
        char sent[3] = "";
        uint8_t sum = 0, wanted;
        int c;
        size_t count = 0;
        while ((c = next_byte(gdb)) >= 0 && c != '$')
            if (c == '-' && !gdb->no_ack) xpu_gdb_send(gdb, &gdb->last);
        while (c >= 0 && (c = next_byte(gdb)) >= 0 && c != '#') {
            sum = (uint8_t)(sum + c);
            if (count <= XPU_GDB_PACKET) packet[count++] = (char)c;
        }
        for (int i = 0; i < 2 && c >= 0; i++) sent[i] = (char)(c = next_byte(gdb));
        if (c < 0) return -1;
        int good = count <= XPU_GDB_PACKET && xpu_gdb_bytes(sent, &wanted, 1) == 1 && wanted == sum;
        if (!gdb->no_ack) send_bytes(gdb, good ? "+" : "-", 1);
        if (!good) continue;
        packet[count] = 0;
        *length = count;
        return 0;
    }
}

void xpu_gdb_answer_call(xpu_gdb *gdb) {
    int yes = 1;
    if (gdb->listening < 0) return;
    while (await(gdb, gdb->listening)) {
        gdb->in = accept(gdb->listening, NULL, NULL);
        if (gdb->in >= 0 || errno != EINTR) break;
    }
    close(gdb->listening);
    gdb->listening = -1;
    gdb->out = gdb->in;
    if (gdb->in >= 0) setsockopt(gdb->in, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

int xpu_gdb_is_interrupted(xpu_gdb *gdb) {
    struct pollfd poll_in = {gdb->in, POLLIN, 0};
    if (gdb->input_at < gdb->input_count) return gdb->input[gdb->input_at] == INTERRUPT && next_byte(gdb) >= 0;
    if (poll(&poll_in, 1, 0) <= 0) return 0;
    int c = next_byte(gdb);
    if (c < 0) {
        xpu_gdb_detach(gdb);
        xpu_gdb_hang_up(gdb);
    } else if (c != INTERRUPT) {
        gdb->input_at--;
    }
    return c == INTERRUPT;
}
