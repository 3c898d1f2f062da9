/* Packets to and from gdb. */
#ifndef XPU_SIM_FUNC_GDB_PACKETS_H
#define XPU_SIM_FUNC_GDB_PACKETS_H

#include "sim/func/gdb/state.h"

/* Adds to a packet; what does not fit is cut. */
void xpu_gdb_put(xpu_gdb_reply *reply, const char *format, ...) __attribute__((format(printf, 2, 3)));
void xpu_gdb_put_hex(xpu_gdb_reply *reply, const void *bytes, size_t length);

/* The value of a hexadecimal digit, or -1. */
int xpu_gdb_digit(char c);
/* Pairs of hexadecimal digits; how many bytes, at most `room`. */
size_t xpu_gdb_bytes(const char *text, uint8_t *bytes, size_t room);

/* Waits for a client if there has been none. */
void xpu_gdb_answer_call(xpu_gdb *gdb);
void xpu_gdb_hang_up(xpu_gdb *gdb);

void xpu_gdb_send(xpu_gdb *gdb, const xpu_gdb_reply *reply);
/* Reads a packet of at most XPU_GDB_PACKET bytes and a 0 behind it; -1: the client is gone. */
int xpu_gdb_next_packet(xpu_gdb *gdb, char *packet, size_t *length);
/* Ctrl-C: a byte between packets. */
int xpu_gdb_is_interrupted(xpu_gdb *gdb);

#endif
