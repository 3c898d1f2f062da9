#include "base/zip.h"

#include <string.h>
#include <zlib.h>

enum {
    LOCAL = 0x04034b50, /* signatures */
    CENTRAL = 0x02014b50,
    END = 0x06054b50,
    END64_LOCATOR = 0x07064b50,
    LOCAL_BYTES = 30, /* fixed parts of the records */
    CENTRAL_BYTES = 46,
    END_BYTES = 22,
    LOCATOR_BYTES = 20,
    MAX_COMMENT = 0xffff,
    STORED = 0,
    DEFLATED = 8,
    ENCRYPTED = 1,          /* bit of the flags */
    UTF8_NAME = 1 << 11,    /* bit of the flags */
    MAX_RATIO = 1032,       /* of deflate: 258 bytes from 2 bits */
    INPUT_BUFFER = 64 << 10 /* packed bytes read at a time */
};

static uint16_t get16(const unsigned char *at) {
    return (uint16_t)(at[0] | at[1] << 8);
}

static uint32_t get32(const unsigned char *at) {
    return get16(at) | (uint32_t)get16(at + 2) << 16;
}

static xpu_status zip_error(const xpu_bytes *bytes, const char *entry, const char *why, xpu_diags *diags) {
    char where[128];
    if (entry) snprintf(where, sizeof where, "entry '%.100s'", entry);
    xpu_error(diags, XPU_EIO, bytes->name, "npz-zip", entry ? where : NULL, "the archive cannot be read", why,
              "write it with numpy.savez or numpy.savez_compressed");
    return XPU_EIO;
}

xpu_status xpu_bytes_read(const xpu_bytes *bytes, uint64_t offset, void *buffer, size_t length, xpu_diags *diags) {
    if (bytes->file) return xpu_file_read(bytes->file, offset, buffer, length, diags);
    if (offset > bytes->size || length > bytes->size - offset) {
        return zip_error(bytes, NULL, "the data ends too early", diags);
    }
    if (length) memcpy(buffer, bytes->memory + offset, length);
    return XPU_OK;
}

/* The end record at the end of the archive, into `end`, and its offset. */
static xpu_status find_end(xpu_arena *arena, const xpu_bytes *bytes, unsigned char end[END_BYTES], uint64_t *offset,
                           xpu_diags *diags) {
    size_t length = bytes->size < END_BYTES + MAX_COMMENT ? (size_t)bytes->size : END_BYTES + MAX_COMMENT;
    unsigned char *tail = xpu_alloc(arena, length);
    if (xpu_bytes_read(bytes, bytes->size - length, tail, length, diags) != XPU_OK) return XPU_EIO;
    for (size_t comment = 0; comment + END_BYTES <= length; comment++) {
        size_t at = length - END_BYTES - comment;
        if (get32(tail + at) != END || get16(tail + at + 20) != comment) continue;
        memcpy(end, tail + at, END_BYTES);
        *offset = bytes->size - length + at;
        if (at >= LOCATOR_BYTES && get32(tail + at - LOCATOR_BYTES) == END64_LOCATOR) {
            return zip_error(bytes, NULL, "it is a ZIP64 archive, which is not supported", diags);
        }
        return XPU_OK;
    }
    return zip_error(bytes, NULL, "it has no central directory: it is cut short or no ZIP archive", diags);
}

/* Why the entry cannot be read, or NULL. */
static const char *entry_problem(const xpu_zip *zip, const xpu_zip_entry *entry, const unsigned char *record) {
    if (strlen(entry->name) != get16(record + 28)) return "its name holds a NUL byte";
    if (get16(record + 8) & ENCRYPTED) return "it is encrypted";
    if (get16(record + 34) != 0) return "it is on another disk";
    if (entry->packed == UINT32_MAX || entry->size == UINT32_MAX || entry->header == UINT32_MAX) {
        return "it uses ZIP64, which is not supported";
    }
    if (entry->method != STORED && entry->method != DEFLATED) return "it is neither stored nor deflated";
    if (entry->method == STORED && entry->packed != entry->size) return "it is stored, but its two sizes differ";
    if (entry->size / MAX_RATIO > entry->packed) return "its size is larger than its data can yield";
    if (entry->header > zip->directory || zip->directory - entry->header < LOCAL_BYTES + (uint64_t)entry->packed) {
        return "it lies outside the archive";
    }
    return NULL;
}

/* Entry names in an open hash table, to find duplicates. */
static int seen_before(const xpu_zip *zip, uint32_t *slots, uint32_t mask, uint32_t index) {
    const char *name = zip->entries.items[index].name;
    uint32_t slot = xpu_crc32(0, name, strlen(name)) & mask;
    for (; slots[slot]; slot = (slot + 1) & mask) {
        if (strcmp(zip->entries.items[slots[slot] - 1].name, name) == 0) return 1;
    }
    slots[slot] = index + 1;
    return 0;
}

static xpu_status read_directory(xpu_arena *arena, xpu_zip *zip, const unsigned char *record, size_t length,
                                 unsigned count, xpu_diags *diags) {
    const xpu_bytes *bytes = zip->bytes;
    uint32_t mask = 15;
    while (mask < 2 * count) mask = mask * 2 + 1;
    uint32_t *slots = XPU_NEW_ARRAY(arena, uint32_t, mask + 1);
    uint64_t used = 0; /* bytes that entries take in the archive; entries that share bytes would exceed it */
    for (unsigned i = 0; i < count; i++) {
        size_t tail = length < CENTRAL_BYTES || get32(record) != CENTRAL
                          ? SIZE_MAX
                          : (size_t)get16(record + 28) + get16(record + 30) + get16(record + 32);
        if (tail == SIZE_MAX || tail > length - CENTRAL_BYTES) {
            return zip_error(bytes, NULL, "its central directory is damaged", diags);
        }
        xpu_zip_entry entry = {
            .name = xpu_strndup(arena, (const char *)record + CENTRAL_BYTES, get16(record + 28)),
            .method = get16(record + 10),
            .crc = get32(record + 16),
            .packed = get32(record + 20),
            .size = get32(record + 24),
            .header = get32(record + 42),
        };
        XPU_PUSH(arena, &zip->entries, entry);
        const char *why = entry_problem(zip, &entry, record);
        if (!why && seen_before(zip, slots, mask, i)) why = "two entries have this name";
        used += LOCAL_BYTES + get16(record + 28) + (uint64_t)entry.packed;
        if (!why && used > zip->directory) why = "entries share their data";
        if (why) return zip_error(bytes, xpu_escape(arena, entry.name, 80), why, diags);
        record += CENTRAL_BYTES + tail;
        length -= CENTRAL_BYTES + tail;
    }
    return length == 0 ? XPU_OK : zip_error(bytes, NULL, "its central directory is damaged", diags);
}

xpu_status xpu_zip_open(xpu_arena *arena, const xpu_bytes *bytes, xpu_zip *zip, xpu_diags *diags) {
    unsigned char end[END_BYTES];
    uint64_t end_offset;
    *zip = (xpu_zip){.bytes = bytes};
    if (find_end(arena, bytes, end, &end_offset, diags) != XPU_OK) return XPU_EIO;
    unsigned count = get16(end + 10);
    uint32_t length = get32(end + 12);
    zip->directory = get32(end + 16);
    if (get16(end + 4) != 0 || get16(end + 6) != 0 || get16(end + 8) != count) {
        return zip_error(bytes, NULL, "it is spread over several disks", diags);
    }
    if (zip->directory + length != end_offset) {
        return zip_error(bytes, NULL, "its central directory is not where its end record says", diags);
    }
    unsigned char *directory = xpu_alloc(arena, length);
    if (xpu_bytes_read(bytes, zip->directory, directory, length, diags) != XPU_OK) return XPU_EIO;
    return read_directory(arena, zip, directory, length, count, diags);
}

struct xpu_zip_stream {
    const xpu_zip *zip;
    const xpu_zip_entry *entry;
    const char *name; /* printable */
    uint64_t offset;  /* of the next packed byte */
    uint32_t packed;  /* packed bytes that are left */
    uint32_t left;    /* bytes of the entry that are left */
    uint32_t crc;
    z_stream inflater;
    unsigned char *input;
};

/* zlib's memory comes from the arena and goes with it. */
static voidpf arena_alloc(voidpf arena, uInt count, uInt size) {
    return xpu_alloc_array(arena, count, size);
}

static void arena_keep(voidpf arena, voidpf block) {
    (void)arena;
    (void)block;
}

xpu_zip_stream *xpu_zip_entry_open(xpu_arena *arena, const xpu_zip *zip, const xpu_zip_entry *entry, xpu_diags *diags) {
    const char *printable = xpu_escape(arena, entry->name, 80);
    unsigned char local[LOCAL_BYTES];
    if (xpu_bytes_read(zip->bytes, entry->header, local, sizeof local, diags) != XPU_OK) return NULL;
    size_t name_length = get16(local + 26);
    uint64_t data = entry->header + LOCAL_BYTES + (uint64_t)name_length + get16(local + 28);
    int fits = get32(local) == LOCAL && get16(local + 8) == entry->method && name_length == strlen(entry->name) &&
               data + entry->packed <= zip->directory;
    char *name = xpu_alloc(arena, name_length);
    if (fits && xpu_bytes_read(zip->bytes, entry->header + LOCAL_BYTES, name, name_length, diags) != XPU_OK) {
        return NULL;
    }
    if (!fits || memcmp(name, entry->name, name_length) != 0) {
        zip_error(zip->bytes, printable, "its header contradicts the central directory", diags);
        return NULL;
    }
    xpu_zip_stream *stream = XPU_NEW(arena, xpu_zip_stream);
    *stream = (xpu_zip_stream){zip, entry, printable, data, entry->packed, entry->size, 0, {0}, NULL};
    if (entry->method == DEFLATED) {
        stream->input = xpu_alloc(arena, INPUT_BUFFER);
        stream->inflater.zalloc = arena_alloc;
        stream->inflater.zfree = arena_keep;
        stream->inflater.opaque = arena;
        if (inflateInit2(&stream->inflater, -MAX_WBITS) != Z_OK) xpu_out_of_memory(xpu_arena_mem(arena));
    }
    return stream;
}

/* Inflates exactly `length` bytes, or fewer where the data ends; sets *ended at the end of the deflate stream. */
static xpu_status inflate_part(xpu_zip_stream *stream, unsigned char *buffer, uInt length, int *ended,
                               xpu_diags *diags) {
    z_stream *inflater = &stream->inflater;
    inflater->next_out = buffer;
    inflater->avail_out = length;
    while (!*ended) {
        if (inflater->avail_in == 0 && stream->packed) {
            uInt part = stream->packed < INPUT_BUFFER ? stream->packed : INPUT_BUFFER;
            if (xpu_bytes_read(stream->zip->bytes, stream->offset, stream->input, part, diags) != XPU_OK)
                return XPU_EIO;
            stream->offset += part;
            stream->packed -= part;
            inflater->next_in = stream->input;
            inflater->avail_in = part;
        }
        int result = inflate(inflater, Z_NO_FLUSH);
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
            return zip_error(stream->zip->bytes, stream->name, "its deflated data is damaged", diags);
        }
        *ended = result == Z_STREAM_END;
        if (inflater->avail_out == 0 || (result == Z_BUF_ERROR && inflater->avail_in == 0 && !stream->packed)) break;
    }
    return XPU_OK;
}

static xpu_status read_deflated(xpu_zip_stream *stream, unsigned char *buffer, size_t length, xpu_diags *diags) {
    int ended = 0;
    const xpu_bytes *bytes = stream->zip->bytes;
    if (inflate_part(stream, buffer, (uInt)length, &ended, diags) != XPU_OK) return XPU_EIO;
    if (stream->inflater.avail_out) return zip_error(bytes, stream->name, "its data ends before its size", diags);
    if (stream->left > length) return XPU_OK;
    int more = 0;
    if (!ended) {
        unsigned char byte;
        if (inflate_part(stream, &byte, 1, &ended, diags) != XPU_OK) return XPU_EIO;
        more = stream->inflater.avail_out == 0;
    }
    if (more || !ended || stream->inflater.avail_in || stream->packed) {
        return zip_error(bytes, stream->name, "its data goes on after its size", diags);
    }
    return XPU_OK;
}

xpu_status xpu_zip_entry_read(xpu_zip_stream *stream, void *buffer, size_t length, xpu_diags *diags) {
    const xpu_bytes *bytes = stream->zip->bytes;
    if (length > stream->left) return zip_error(bytes, stream->name, "its data ends before its size", diags);
    if (length == 0) return XPU_OK;
    xpu_status status = XPU_OK;
    if (stream->entry->method == DEFLATED) {
        status = read_deflated(stream, buffer, length, diags);
    } else {
        status = xpu_bytes_read(bytes, stream->offset, buffer, length, diags);
        stream->offset += length;
    }
    if (status != XPU_OK) return status;
    stream->crc = xpu_crc32(stream->crc, buffer, length);
    stream->left -= (uint32_t)length;
    if (stream->left == 0 && stream->crc != stream->entry->crc) {
        return zip_error(bytes, stream->name, "its data does not have the recorded CRC-32", diags);
    }
    return XPU_OK;
}

uint32_t xpu_crc32(uint32_t crc, const void *data, size_t length) {
    return (uint32_t)crc32_z(crc, length ? data : (const void *)"", length);
}

typedef struct {
    const char *name;
    uint32_t crc, size, header;
} written_entry;

struct xpu_zip_writer {
    xpu_arena *arena;
    xpu_output *output;
    const char *path;
    xpu_diags *diags;
    uint64_t position; /* bytes of the entries so far */
    uint64_t records;  /* bytes of their records in the central directory */
    XPU_ARRAY(written_entry) entries;
};

static void put16(unsigned char **at, unsigned value) {
    *(*at)++ = (unsigned char)value;
    *(*at)++ = (unsigned char)(value >> 8);
}

static void put32(unsigned char **at, uint32_t value) {
    put16(at, value & 0xffff);
    put16(at, value >> 16);
}

xpu_zip_writer *xpu_zip_writer_new(xpu_arena *arena, xpu_output *output, const char *path, xpu_diags *diags) {
    xpu_zip_writer *writer = XPU_NEW(arena, xpu_zip_writer);
    writer->arena = arena;
    writer->output = output;
    writer->path = path;
    writer->diags = diags;
    return writer;
}

/* What local header and central record have in common: version needed .. extra length. */
static void put_common(unsigned char **at, const written_entry *entry) {
    int ascii = 1;
    for (const char *c = entry->name; *c; c++) ascii &= (unsigned char)*c < 0x80;
    put16(at, 20);                    /* version needed: 2.0 */
    put16(at, ascii ? 0 : UTF8_NAME); /* flags */
    put16(at, STORED);                /* method */
    put16(at, 0);                     /* time: midnight */
    put16(at, 1 << 5 | 1);            /* date: 1980-01-01, the first that there is */
    put32(at, entry->crc);
    put32(at, entry->size); /* packed */
    put32(at, entry->size);
    put16(at, (unsigned)strlen(entry->name));
    put16(at, 0); /* extra field */
}

static xpu_status writer_error(xpu_zip_writer *writer, const char *name, const char *why) {
    const char *where = xpu_printf(writer->arena, "entry '%s'", xpu_escape(writer->arena, name, 80));
    return xpu_error(writer->diags, XPU_EIO, writer->path, "npz-zip", where, "the archive cannot be written", why,
                     "write fewer or smaller arrays into one file");
}

xpu_status xpu_zip_writer_begin(xpu_zip_writer *writer, const char *name, uint32_t crc, uint64_t size) {
    size_t length = strlen(name);
    uint64_t records = writer->records + CENTRAL_BYTES + length;
    if (length > 0xffff) return writer_error(writer, name, "its name has more than 65535 bytes");
    if (writer->entries.count >= 0xfffe) return writer_error(writer, name, "a ZIP archive has at most 65534 entries");
    if (size > UINT32_MAX || writer->position + LOCAL_BYTES + length + size + records >= UINT32_MAX) {
        return writer_error(writer, name, "a ZIP archive without ZIP64 stays below 4 GiB");
    }
    written_entry entry = {name, crc, (uint32_t)size, (uint32_t)writer->position};
    unsigned char header[LOCAL_BYTES], *at = header;
    put32(&at, LOCAL);
    put_common(&at, &entry);
    XPU_PUSH(writer->arena, &writer->entries, entry);
    xpu_output_write(writer->output, header, sizeof header);
    writer->position += sizeof header + length + size;
    writer->records = records;
    return xpu_output_write(writer->output, name, length);
}

xpu_status xpu_zip_writer_finish(xpu_zip_writer *writer) {
    uint64_t directory = writer->position;
    for (uint32_t i = 0; i < writer->entries.count; i++) {
        const written_entry *entry = &writer->entries.items[i];
        unsigned char record[CENTRAL_BYTES], *at = record;
        put32(&at, CENTRAL);
        put16(&at, 3 << 8 | 20); /* made by: Unix, 2.0 */
        put_common(&at, entry);
        put16(&at, 0);                       /* comment */
        put16(&at, 0);                       /* disk */
        put16(&at, 0);                       /* internal attributes */
        put32(&at, (uint32_t)0100644 << 16); /* external attributes: a regular file, rw-r--r-- */
        put32(&at, entry->header);
        xpu_output_write(writer->output, record, sizeof record);
        xpu_output_write(writer->output, entry->name, strlen(entry->name));
        writer->position += sizeof record + strlen(entry->name);
    }
    unsigned char end[END_BYTES], *at = end;
    put32(&at, END);
    put32(&at, 0); /* disks */
    put16(&at, writer->entries.count);
    put16(&at, writer->entries.count);
    put32(&at, (uint32_t)(writer->position - directory));
    put32(&at, (uint32_t)directory);
    put16(&at, 0); /* comment */
    return xpu_output_write(writer->output, end, sizeof end);
}
