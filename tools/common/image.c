#include "tools/common/image.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>
#include <png.h>

#include "base/file.h"

enum { MAX_FILE_BYTES = 1 << 28 };

typedef struct {
    xpu_arena *arena;
    const uint8_t *bytes;
    size_t length;
    const char *name;
    xpu_image *image;
    xpu_diags *diags;
} source;

static xpu_status damaged(const source *s, const char *kind, const char *why) {
    return xpu_error(s->diags, XPU_EUSAGE, s->name, "image-format", NULL,
                     xpu_printf(s->arena, "the %s picture is damaged", kind), why,
                     "write the picture again, or convert it to PNG");
}

/* Takes memory for the pixels. */
static xpu_status set_size(const source *s, int64_t width, int64_t height) {
    if (width < 1 || height < 1 || width > XPU_IMAGE_MAX_SIDE || height > XPU_IMAGE_MAX_SIDE ||
        width * height > XPU_IMAGE_MAX_PIXELS) {
        return xpu_error(s->diags, XPU_EUSAGE, s->name, "image-size", NULL, "the picture is too large, or empty",
                         xpu_printf(s->arena, "it has %lld x %lld pixels; %d x %d and 2^26 in all are the limits",
                                    (long long)width, (long long)height, XPU_IMAGE_MAX_SIDE, XPU_IMAGE_MAX_SIDE),
                         "scale it down first");
    }
    s->image->width = (int)width;
    s->image->height = (int)height;
    s->image->rgb = xpu_alloc(s->arena, (size_t)width * (size_t)height * 3);
    return XPU_OK;
}

/* ---- BMP: uncompressed, 8 (palette), 24 or 32 bits a pixel ---- */

static uint32_t little(const uint8_t *bytes, int count) {
    uint32_t value = 0;
    for (int i = 0; i < count; i++) value |= (uint32_t)bytes[i] << (8 * i);
    return value;
}

typedef struct {
    uint32_t pixels, header, bits, compression, colours;
    int64_t width, height;
    int top_down;
} bmp;

static const char *read_bmp_header(const source *s, bmp *b) {
    if (s->length < 54) return "it ends within its header";
    const uint8_t *h = s->bytes + 14;
    b->pixels = little(s->bytes + 10, 4);
    b->header = little(h, 4);
    b->width = (int32_t)little(h + 4, 4);
    b->height = (int32_t)little(h + 8, 4);
    b->bits = little(h + 14, 2);
    b->compression = little(h + 16, 4);
    b->colours = little(h + 32, 4);
    b->top_down = b->height < 0;
    if (b->top_down) b->height = -b->height;
    if (b->header < 40 || b->header > s->length - 14) return "its header has no such size";
    if (b->bits != 8 && b->bits != 24 && b->bits != 32) return "pixels of 8, 24 and 32 bits are supported";
    int is_plain = b->compression == 0 || (b->compression == 3 && b->bits == 32);
    if (!is_plain) return "it is compressed";
    if (b->compression == 3 &&
        (s->length < 66 || little(h + 40, 4) != 0xff0000 || little(h + 44, 4) != 0xff00 || little(h + 48, 4) != 0xff)) {
        return "its masks of colours are not those of blue, green, red in this order";
    }
    if (b->bits == 8 && (b->colours == 0 || b->colours > 256)) b->colours = 256;
    if (b->bits == 8 && 14 + (uint64_t)b->header + (uint64_t)4 * b->colours > s->length)
        return "its palette is cut off";
    return NULL;
}

static xpu_status read_bmp(const source *s) {
    bmp b;
    const char *problem = read_bmp_header(s, &b);
    if (problem) return damaged(s, "BMP", problem);
    xpu_status status = set_size(s, b.width, b.height);
    if (status != XPU_OK) return status;
    size_t width = (size_t)b.width, height = (size_t)b.height, bytes = b.bits / 8, row = (width * bytes + 3) / 4 * 4;
    if (b.pixels > s->length || row * height > s->length - b.pixels) {
        return damaged(s, "BMP", "its pixels are cut off");
    }
    const uint8_t *palette = s->bytes + 14 + b.header;
    for (size_t y = 0; y < height; y++) {
        const uint8_t *from = s->bytes + b.pixels + (b.top_down ? y : height - 1 - y) * row;
        uint8_t *to = s->image->rgb + y * width * 3;
        for (size_t x = 0; x < width; x++, from += bytes, to += 3) {
            const uint8_t *bgr = from;
            if (bytes == 1) {
                if (*from >= b.colours) return damaged(s, "BMP", "a pixel is outside of its palette");
                bgr = palette + (size_t)4 * *from;
            }
            for (int i = 0; i < 3; i++) to[i] = bgr[2 - i];
        }
    }
    return XPU_OK;
}

/* ---- PNG ---- */

/* The file without texts and suggested palettes, of which libpng unpacks up to 8 MB from each chunk. */
static source without_texts(const source *s) {
    static const char *const dropped[] = {"tEXt", "zTXt", "iTXt", "sPLT"};
    enum { SIGNATURE = 8, AROUND = 12 /* length, type and checksum */ };
    uint8_t *kept = xpu_alloc(s->arena, s->length);
    size_t at = s->length < SIGNATURE ? s->length : SIGNATURE, to = at;
    memcpy(kept, s->bytes, at);
    while (at < s->length) {
        const uint8_t *chunk = s->bytes + at;
        size_t left = s->length - at, size = left;
        if (left >= AROUND) {
            size_t data = (size_t)chunk[0] << 24 | (size_t)chunk[1] << 16 | (size_t)chunk[2] << 8 | chunk[3];
            if (data <= left - AROUND) size = data + AROUND;
        }
        int drop = 0;
        for (size_t i = 0; left >= AROUND && i < sizeof dropped / sizeof *dropped; i++) {
            drop |= memcmp(chunk + 4, dropped[i], 4) == 0;
        }
        if (!drop) memcpy(kept + to, chunk, size);
        to += drop ? 0 : size;
        at += size;
    }
    source plain = *s;
    plain.bytes = kept;
    plain.length = to;
    return plain;
}

static xpu_status read_png(const source *file) {
    const source plain = without_texts(file), *s = &plain;
    png_image png;
    memset(&png, 0, sizeof png);
    png.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&png, s->bytes, s->length)) {
        return damaged(s, "PNG", xpu_strdup(s->arena, png.message));
    }
    png.format = PNG_FORMAT_RGB;
    int64_t width = png.width, height = png.height;
    if (width > XPU_IMAGE_MAX_SIDE || height > XPU_IMAGE_MAX_SIDE || width * height > XPU_IMAGE_MAX_PIXELS) {
        png_image_free(&png);
        return set_size(s, width, height);
    }
    png_image_free(&png); /* so that nothing is lost where memory is short */
    xpu_status status = set_size(s, width, height);
    if (status != XPU_OK) return status;
    memset(&png, 0, sizeof png);
    png.version = PNG_IMAGE_VERSION;
    const png_color white = {255, 255, 255};
    int good = png_image_begin_read_from_memory(&png, s->bytes, s->length);
    png.format = PNG_FORMAT_RGB;
    good = good && png_image_finish_read(&png, &white, s->image->rgb, 0, NULL);
    const char *problem = good ? NULL : xpu_strdup(s->arena, png.message);
    png_image_free(&png);
    return good ? XPU_OK : damaged(s, "PNG", problem);
}

/* ---- JPEG ---- */

enum { LEAST_SCANS = 12, MOST_SCANNED = 1 << 28 }; /* pixels in all scans; 10 scans are usual */

typedef struct {
    struct jpeg_error_mgr manager; /* the first member */
    jmp_buf failed;
    char message[JMSG_LENGTH_MAX];
} jpeg_problem;

static void on_jpeg_error(j_common_ptr info) {
    jpeg_problem *problem = (jpeg_problem *)info->err;
    info->err->format_message(info, problem->message);
    longjmp(problem->failed, 1);
}

static void on_jpeg_message(j_common_ptr info) {
    (void)info;
}

/* The library fills up a picture that is cut off, and only warns. */
static void on_jpeg_warning(j_common_ptr info, int level) {
    if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) on_jpeg_error(info);
}

/* A small file can have very many scans, each over all pixels. */
static void count_scans(j_common_ptr info) {
    j_decompress_ptr jpeg = (j_decompress_ptr)info;
    int64_t pixels = (int64_t)jpeg->image_width * jpeg->image_height, most = pixels ? MOST_SCANNED / pixels : 0;
    if (jpeg->input_scan_number <= LEAST_SCANS || jpeg->input_scan_number <= most) return;
    jpeg_problem *problem = (jpeg_problem *)info->err;
    snprintf(problem->message, sizeof problem->message, "it has too many scans");
    longjmp(problem->failed, 1);
}

/* Only the size where `rgb` is NULL, else the pixels. 0 with problem->message. */
static int decode_jpeg(const source *s, jpeg_problem *problem, int *width, int *height, uint8_t *rgb) {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_progress_mgr progress = {.progress_monitor = count_scans};
    jpeg.err = jpeg_std_error(&problem->manager);
    problem->manager.error_exit = on_jpeg_error;
    problem->manager.output_message = on_jpeg_message;
    problem->manager.emit_message = on_jpeg_warning;
    jpeg_create_decompress(&jpeg);
    if (setjmp(problem->failed)) {
        jpeg_destroy_decompress(&jpeg);
        return 0;
    }
    jpeg_mem_src(&jpeg, s->bytes, (unsigned long)s->length);
    jpeg_read_header(&jpeg, TRUE);
    *width = (int)jpeg.image_width;
    *height = (int)jpeg.image_height;
    if (rgb) {
        jpeg.progress = &progress;
        jpeg.out_color_space = JCS_RGB;
        jpeg.dct_method = JDCT_ISLOW;
        jpeg_start_decompress(&jpeg);
        while (jpeg.output_scanline < jpeg.output_height) {
            JSAMPROW row = rgb + (size_t)jpeg.output_scanline * jpeg.output_width * 3;
            jpeg_read_scanlines(&jpeg, &row, 1);
        }
        jpeg_finish_decompress(&jpeg);
    }
    jpeg_destroy_decompress(&jpeg);
    return 1;
}

static xpu_status read_jpeg(const source *s) {
    jpeg_problem problem;
    int width, height;
    problem.message[0] = '\0';
    if (!decode_jpeg(s, &problem, &width, &height, NULL)) {
        return damaged(s, "JPEG", xpu_escape(s->arena, problem.message, 200));
    }
    xpu_status status = set_size(s, width, height);
    if (status != XPU_OK) return status;
    if (!decode_jpeg(s, &problem, &width, &height, s->image->rgb)) {
        return damaged(s, "JPEG", xpu_escape(s->arena, problem.message, 200));
    }
    return XPU_OK;
}

/* ---- reading ---- */

xpu_status xpu_image_parse(xpu_arena *arena, const void *bytes, size_t length, const char *name, xpu_image *image,
                           xpu_diags *diags) {
    static const uint8_t png[] = {0x89, 'P', 'N', 'G'}, jpeg[] = {0xff, 0xd8, 0xff};
    source s = {arena, bytes, length, name, image, diags};
    if (length >= 2 && memcmp(bytes, "BM", 2) == 0) return read_bmp(&s);
    if (length >= sizeof png && memcmp(bytes, png, sizeof png) == 0) return read_png(&s);
    if (length >= sizeof jpeg && memcmp(bytes, jpeg, sizeof jpeg) == 0) return read_jpeg(&s);
    return xpu_error(diags, XPU_EUSAGE, name, "image-format", NULL, "the file is no picture that can be read",
                     "its first bytes are none of BMP, PNG or JPEG", "convert it to one of them");
}

xpu_status xpu_image_read(xpu_arena *arena, const char *path, xpu_image *image, xpu_diags *diags) {
    size_t length;
    void *bytes = xpu_file_read_all(arena, path, MAX_FILE_BYTES, &length, diags);
    return bytes ? xpu_image_parse(arena, bytes, length, path, image, diags) : xpu_diags_status(diags);
}

/* ---- scaling ---- */

/* For each target position the first source position and the weights of those from there on. */
typedef struct {
    int taps, *first;
    float *weights; /* taps for each position */
} filter;

static filter make_filter(xpu_arena *arena, int from, int to) {
    double scale = (double)from / to, reach = scale > 1 ? scale : 1;
    filter f = {.taps = (int)(2 * reach) + 2};
    f.first = XPU_NEW_ARRAY(arena, int, to);
    f.weights = XPU_NEW_ARRAY(arena, float, (size_t)to *(size_t)f.taps);
    for (int i = 0; i < to; i++) {
        double centre = (i + 0.5) * scale, sum = 0;
        int first = (int)(centre - reach + 0.5);
        if (first < 0) first = 0;
        float *out = f.weights + (size_t)i * (size_t)f.taps;
        f.first[i] = first;
        for (int pass = 0; pass < 2; pass++) {
            for (int t = 0; t < f.taps && first + t < from; t++) {
                double distance = (first + t + 0.5 - centre) / reach,
                       weight = 1 - (distance < 0 ? -distance : distance);
                if (weight <= 0) continue;
                if (pass == 0)
                    sum += weight;
                else
                    out[t] = (float)(weight / sum);
            }
        }
    }
    return f;
}

/* One row of the picture in the target's width. */
static void scale_across(const xpu_image *image, const filter *across, int y, int width, float *row) {
    const uint8_t *from = image->rgb + (size_t)y * (size_t)image->width * 3;
    memset(row, 0, (size_t)width * 3 * sizeof *row);
    for (int x = 0; x < width; x++) {
        for (int t = 0; t < across->taps && across->first[x] + t < image->width; t++) {
            float weight = across->weights[(size_t)x * (size_t)across->taps + (size_t)t];
            const uint8_t *in = from + (size_t)(across->first[x] + t) * 3;
            for (int c = 0; c < 3; c++) row[3 * x + c] += weight * (float)in[c];
        }
    }
}

/* [height][width][3] floats of 0..255. Each row of the picture is added to the rows that it is part of. */
static float *resize(xpu_arena *arena, const xpu_image *image, int width, int height) {
    filter across = make_filter(arena, image->width, width), down = make_filter(arena, image->height, height);
    float *row = XPU_NEW_ARRAY(arena, float, (size_t)width * 3);
    float *result = XPU_NEW_ARRAY(arena, float, (size_t)height *(size_t)width * 3);
    int complete = 0;
    for (int y = 0; y < image->height; y++) {
        scale_across(image, &across, y, width, row);
        while (complete < height && down.first[complete] + down.taps <= y) complete++;
        for (int to = complete; to < height && down.first[to] <= y; to++) {
            int tap = y - down.first[to];
            float *out = result + (size_t)to * (size_t)width * 3;
            float weight = down.weights[(size_t)to * (size_t)down.taps + (size_t)tap];
            for (int i = 0; i < 3 * width; i++) out[i] += weight * row[i];
        }
    }
    return result;
}

/* ---- tensors ---- */

typedef struct {
    int channels, channel_dim, width, height;
} input_shape;

static int read_shape(int rank, const int64_t *dims, const xpu_image *image, input_shape *shape) {
    if (rank != 4 || (dims[0] != 1 && dims[0] != -1)) return 0;
    shape->channel_dim = dims[1] == 1 || dims[1] == 3 ? 1 : 3;
    int64_t channels = dims[shape->channel_dim], height = dims[shape->channel_dim == 1 ? 2 : 1];
    int64_t width = dims[shape->channel_dim == 1 ? 3 : 2];
    if (height == -1) height = image->height;
    if (width == -1) width = image->width;
    shape->channels = (int)channels;
    shape->height = (int)height;
    shape->width = (int)width;
    return (channels == 1 || channels == 3) && height >= 1 && width >= 1 && height <= XPU_IMAGE_MAX_SIDE &&
           width <= XPU_IMAGE_MAX_SIDE && height * width <= XPU_IMAGE_MAX_PIXELS;
}

/* Channel `c` of a pixel in the model's order. */
static float channel_of(const float *rgb, const input_shape *shape, const xpu_image_scale *scale, int c) {
    if (shape->channels == 1) return 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2];
    return rgb[scale->is_bgr ? 2 - c : c];
}

xpu_status xpu_image_tensor(xpu_arena *arena, const xpu_image *image, const xpu_image_scale *scale, xpu_dtype dtype,
                            int rank, const int64_t *dims, const char *name, xpu_tensor *tensor, xpu_diags *diags) {
    input_shape shape;
    if ((dtype != XPU_F32 && dtype != XPU_U8) || !read_shape(rank, dims, image, &shape)) {
        return xpu_error(diags, XPU_EUSAGE, NULL, "image-input",
                         xpu_printf(arena, "input '%s'", xpu_escape(arena, name, 100)), "a picture does not fit it",
                         "pictures are for float32 or uint8 inputs [1,3,H,W], [1,1,H,W], [1,H,W,3] or [1,H,W,1]",
                         "give the input as a .npy file (--input)");
    }
    size_t pixels = (size_t)shape.width * (size_t)shape.height, channels = (size_t)shape.channels;
    const float *rgb = resize(arena, image, shape.width, shape.height);
    *tensor = (xpu_tensor){.dtype = dtype, .rank = 4, .dims = {1, shape.height, shape.width, shape.channels}};
    if (shape.channel_dim == 1) {
        tensor->dims[1] = shape.channels;
        tensor->dims[2] = shape.height;
        tensor->dims[3] = shape.width;
    }
    tensor->data = xpu_alloc(arena, xpu_tensor_bytes(tensor));
    for (size_t c = 0; c < channels; c++) {
        for (size_t i = 0; i < pixels; i++) {
            float value = channel_of(rgb + 3 * i, &shape, scale, (int)c);
            size_t at = shape.channel_dim == 1 ? c * pixels + i : i * channels + c;
            if (dtype == XPU_F32) {
                ((float *)tensor->data)[at] = (value / 255.0f - scale->mean[c]) / scale->std[c];
            } else {
                ((uint8_t *)tensor->data)[at] = (uint8_t)(value + 0.5f);
            }
        }
    }
    return XPU_OK;
}

int xpu_image_triple(const char *text, float *values) {
    for (int i = 0; i < 3; i++) {
        char *end;
        values[i] = strtof(text, &end);
        if (end == text || values[i] != values[i] || values[i] - values[i] != 0) return 0;
        if (*end == '\0') {
            for (int k = i + 1; k < 3 && i == 0; k++) values[k] = values[0];
            return i == 0 || i == 2;
        }
        if (*end != ',') return 0;
        text = end + 1;
    }
    return 0;
}
