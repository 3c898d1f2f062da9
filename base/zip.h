/*
 * ZIP archives as .npz uses them (PKWARE APPNOTE 6.3.10, sections 4.3 and 4.4): entries stored or deflated, one disk,
 * no encryption, below 4 GiB (no ZIP64). Lengths are checked against the archive before memory is taken, data against
 * its CRC. Every problem is [npz-zip].
 */
#ifndef XPU_BASE_ZIP_H
#define XPU_BASE_ZIP_H

#include "base/file.h"

/* What an archive is read from: a file, or bytes in memory where `file` is NULL. */
typedef struct {
    const xpu_file *file;
    const unsigned char *memory;
    uint64_t size;
    const char *name; /* the file in messages */
} xpu_bytes;

xpu_status xpu_bytes_read(const xpu_bytes *bytes, uint64_t offset, void *buffer, size_t length, xpu_diags *diags);

typedef struct {
    const char *name;
    uint16_t method; /* 0 stored, 8 deflated */
    uint32_t crc;
    uint32_t packed, size; /* bytes in the archive; bytes of the entry */
    uint32_t header;       /* offset of its local header */
} xpu_zip_entry;

typedef struct {
    const xpu_bytes *bytes; /* the caller's */
    uint64_t directory;     /* offset of the central directory: data ends below it */
    XPU_ARRAY(xpu_zip_entry) entries;
} xpu_zip;

/* Reads the central directory. Names are unique and hold no NUL byte, but are otherwise as hostile as the file. */
xpu_status xpu_zip_open(xpu_arena *arena, const xpu_bytes *bytes, xpu_zip *zip, xpu_diags *diags);

/* One entry, read from its beginning to its end. NULL with a diagnostic on failure. */
typedef struct xpu_zip_stream xpu_zip_stream;
xpu_zip_stream *xpu_zip_entry_open(xpu_arena *arena, const xpu_zip *zip, const xpu_zip_entry *entry, xpu_diags *diags);

/* Exactly `length` bytes. After the entry's last byte the call also checks CRC and end of the packed data. */
xpu_status xpu_zip_entry_read(xpu_zip_stream *stream, void *buffer, size_t length, xpu_diags *diags);

/* Writing: stored entries, fixed time stamps, so the same input gives the same bytes. */
typedef struct xpu_zip_writer xpu_zip_writer;
xpu_zip_writer *xpu_zip_writer_new(xpu_arena *arena, xpu_output *output, const char *path, xpu_diags *diags);

/* Begins an entry; the caller then writes exactly `size` bytes with this CRC-32 to the output. `name` is kept. */
xpu_status xpu_zip_writer_begin(xpu_zip_writer *writer, const char *name, uint32_t crc, uint64_t size);
xpu_status xpu_zip_writer_finish(xpu_zip_writer *writer);

/* CRC-32 of `data` continued from `crc` (0 at the beginning). */
uint32_t xpu_crc32(uint32_t crc, const void *data, size_t length);

#endif
