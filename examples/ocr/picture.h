/* Pictures: read from JPEG and PNG files, written as PNG, drawn on. */
#ifndef OCR_PICTURE_H
#define OCR_PICTURE_H

#include <stddef.h>
#include <stdint.h>

#include "examples/common/file.h"

enum { PICTURE_MAX_SIDE = 16384, PICTURE_MAX_PIXELS = 1 << 26 };

typedef struct {
    int width, height;
    uint8_t *rgb; /* [height][width][3]; malloc'd, the owner's to free */
} picture;

/* Memory for the pixels, which are not set; NULL in *p.rgb where it is short. */
picture picture_make(int width, int height);

/* Reads a file, whose kind its content says. What is transparent is white. Returns 0 or an exit code (2: the file's
 * form or size, 3: it cannot be read); *p is empty then. */
int picture_read(const char *path, picture *p, file_error *error);

/* The same of a file's bytes. */
int picture_decode(const uint8_t *bytes, size_t size, picture *p, file_error *error);

/* Writes a PNG file, which is whole or not there. Returns 0 or errno. */
int picture_write(const char *path, const picture *p);

/* A line `thick` pixels wide between two points, in pixels from the top left corner; what is outside is left out. */
void picture_draw_line(picture *p, double x0, double y0, double x1, double y1, double thick, const uint8_t rgb[3]);

#endif
