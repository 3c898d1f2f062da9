#include "picture.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>
#include <png.h>

static const char hint[] = "write the picture again as PNG or JPEG";

picture picture_make(int width, int height) {
    return (picture){width, height, malloc((size_t)width * (size_t)height * 3)};
}

static int damaged(file_error *error, const char *kind, const char *why) {
    return file_fails(error, 2, "picture-format", "the picture is damaged", hint, "%s: %s", kind, why);
}

static int make(int64_t width, int64_t height, picture *p, file_error *error) {
    if (width < 1 || height < 1 || width > PICTURE_MAX_SIDE || height > PICTURE_MAX_SIDE ||
        width * height > PICTURE_MAX_PIXELS)
        return file_fails(error, 2, "picture-size", "the picture is too large, or empty", "scale it down first",
                          "it has %lld x %lld pixels; a side of %d and %d in all are the limits", (long long)width,
                          (long long)height, PICTURE_MAX_SIDE, PICTURE_MAX_PIXELS);
    *p = picture_make((int)width, (int)height);
    if (p->rgb) return 0;
    return file_fails(error, 3, "memory", "there is not enough memory", "a smaller picture", "%lld x %lld pixels",
                      (long long)width, (long long)height);
}

/* ---- PNG ---- */

static int read_png(const uint8_t *bytes, size_t size, picture *p, file_error *error) {
    static const png_color white = {255, 255, 255};
    png_image png = {.version = PNG_IMAGE_VERSION};
    int status = png_image_begin_read_from_memory(&png, bytes, size) ? make(png.width, png.height, p, error)
                                                                     : damaged(error, "PNG", png.message);
    png.format = PNG_FORMAT_RGB;
    if (!status && !png_image_finish_read(&png, &white, p->rgb, 0, NULL)) status = damaged(error, "PNG", png.message);
    png_image_free(&png);
    return status;
}

/* ---- JPEG ---- */

enum { LEAST_SCANS = 12, MOST_SCANNED = 1 << 28 }; /* pixels in all scans; 10 scans are usual */

typedef struct {
    struct jpeg_error_mgr manager; /* the first member */
    jmp_buf failed;
    char message[JMSG_LENGTH_MAX];
} jpeg_problem;

static void on_error(j_common_ptr info) {
    jpeg_problem *problem = (jpeg_problem *)info->err;
    info->err->format_message(info, problem->message);
    longjmp(problem->failed, 1);
}

static void on_message(j_common_ptr info) {
    (void)info;
}

/* The library fills up a picture that is cut off, and only warns. */
static void on_warning(j_common_ptr info, int level) {
    if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) on_error(info);
}

/* A small file can have very many scans, each over all pixels. */
static void count_scans(j_common_ptr info) {
    j_decompress_ptr jpeg = (j_decompress_ptr)info;
    int64_t pixels = (int64_t)jpeg->image_width * jpeg->image_height;
    if (jpeg->input_scan_number <= LEAST_SCANS || jpeg->input_scan_number * pixels <= MOST_SCANNED) return;
    jpeg_problem *problem = (jpeg_problem *)info->err;
    snprintf(problem->message, sizeof problem->message, "it has too many scans");
    longjmp(problem->failed, 1);
}

/* The steps that the library leaves by longjmp on an error. */
static int decode_jpeg(struct jpeg_decompress_struct *jpeg, const uint8_t *bytes, size_t size, picture *p,
                       file_error *error) {
    jpeg_mem_src(jpeg, bytes, (unsigned long)size);
    jpeg_read_header(jpeg, TRUE);
    int status = make(jpeg->image_width, jpeg->image_height, p, error);
    if (status) return status;
    jpeg->out_color_space = JCS_RGB;
    jpeg->dct_method = JDCT_ISLOW;
    jpeg_start_decompress(jpeg);
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = p->rgb + (size_t)jpeg->output_scanline * jpeg->output_width * 3;
        jpeg_read_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_decompress(jpeg);
    return 0;
}

static int read_jpeg(const uint8_t *bytes, size_t size, picture *p, file_error *error) {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_progress_mgr progress = {.progress_monitor = count_scans};
    jpeg_problem problem;
    jpeg.err = jpeg_std_error(&problem.manager);
    problem.manager.error_exit = on_error;
    problem.manager.output_message = on_message;
    problem.manager.emit_message = on_warning;
    int status;
    if (setjmp(problem.failed)) {
        status = damaged(error, "JPEG", problem.message);
    } else {
        jpeg_create_decompress(&jpeg);
        jpeg.progress = &progress;
        status = decode_jpeg(&jpeg, bytes, size, p, error);
    }
    jpeg_destroy_decompress(&jpeg);
    return status;
}

/* ---- files ---- */

int picture_decode(const uint8_t *bytes, size_t size, picture *p, file_error *error) {
    static const uint8_t png[] = {0x89, 'P', 'N', 'G'}, jpeg[] = {0xff, 0xd8, 0xff};
    *p = (picture){0};
    *error = (file_error){0};
    int status;
    if (size >= sizeof png && memcmp(bytes, png, sizeof png) == 0)
        status = read_png(bytes, size, p, error);
    else if (size >= sizeof jpeg && memcmp(bytes, jpeg, sizeof jpeg) == 0)
        status = read_jpeg(bytes, size, p, error);
    else
        status = file_fails(error, 2, "picture-format", "this is no picture that can be read", hint,
                            "it begins neither as PNG nor as JPEG");
    if (status) free(p->rgb);
    if (status) *p = (picture){0};
    return status;
}

int picture_read(const char *path, picture *p, file_error *error) {
    const char *why = NULL;
    size_t size;
    *p = (picture){0};
    *error = (file_error){0};
    uint8_t *bytes = file_read(path, &size, &why);
    if (!bytes) return file_fails(error, 3, "io-read", "the picture cannot be read", "a PNG or JPEG file", "%s", why);
    int status = picture_decode(bytes, size, p, error);
    free(bytes);
    return status;
}

int picture_write(const char *path, const picture *p) {
    size_t length = strlen(path) + sizeof ".new";
    char *fresh = malloc(length);
    if (!fresh) return ENOMEM;
    snprintf(fresh, length, "%s.new", path);
    png_image png = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB};
    png.width = (png_uint_32)p->width;
    png.height = (png_uint_32)p->height;
    errno = 0;
    FILE *file = fopen(fresh, "wb");
    int failure = file ? 0 : errno;
    if (file) {
        int written = png_image_write_to_stdio(&png, file, 0, p->rgb, 0, NULL);
        if (fclose(file) || !written || rename(fresh, path)) failure = errno ? errno : EIO;
        if (failure) remove(fresh);
    }
    free(fresh);
    return failure;
}

/* ---- drawing ---- */

static int within(double value, int end) {
    return value < 0 ? 0 : value > end ? end : (int)value;
}

void picture_draw_line(picture *p, double x0, double y0, double x1, double y1, double thick, const uint8_t rgb[3]) {
    double dx = x1 - x0, dy = y1 - y0, square = dx * dx + dy * dy, half = thick / 2;
    int left = within(fmin(x0, x1) - half, p->width), right = within(fmax(x0, x1) + half + 1, p->width);
    int top = within(fmin(y0, y1) - half, p->height), bottom = within(fmax(y0, y1) + half + 1, p->height);
    for (int y = top; y < bottom; y++) {
        for (int x = left; x < right; x++) {
            double px = x + 0.5 - x0, py = y + 0.5 - y0, at = square > 0 ? (px * dx + py * dy) / square : 0;
            at = fmin(fmax(at, 0), 1);
            if (hypot(px - at * dx, py - at * dy) > half) continue;
            memcpy(p->rgb + 3 * ((size_t)y * (size_t)p->width + (size_t)x), rgb, 3);
        }
    }
}
