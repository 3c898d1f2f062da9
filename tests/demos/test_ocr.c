/* The steps of the demonstration that reads text in pictures: rectangles around points, boxes in a map, their order,
 * crops and scaling, decoding, files of pictures. */
#include <CUnit/CUnit.h>

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define from_left from_left_of_hull
#include "examples/ocr/rectangle.c"
#undef from_left
#include "examples/common/file.c"
#include "examples/ocr/boxes.c"
#include "examples/ocr/crop.c"
#include "examples/ocr/decode.c"
#define hint picture_hint
#include "examples/ocr/picture.c"
#include "tests/unit/unit.h"

static int is_near(double a, double b, double most) {
    return fabs(a - b) <= most;
}

/* ---- rectangles ---- */

/* A rectangle of this centre, size and angle. */
static rectangle rectangle_at(double x, double y, double width, double height, double angle) {
    rectangle r;
    for (int i = 0; i < 4; i++) {
        double u = (i == 1 || i == 2 ? 0.5 : -0.5) * width, v = (i >= 2 ? 0.5 : -0.5) * height;
        r.corner[i] = (point){x + u * cos(angle) - v * sin(angle), y + u * sin(angle) + v * cos(angle)};
    }
    return r;
}

static void hulls(void) {
    point points[] = {{0, 0}, {2, 0}, {1, 0}, {2, 2}, {1, 1}, {0, 2}, {0, 1}, {0, 0}, {1, 2}};
    CU_ASSERT_EQUAL_FATAL(hull_of(points, 9), 4);
    double area = 0;
    for (int i = 0; i < 4; i++) area += points[i].x * points[(i + 1) % 4].y - points[i].y * points[(i + 1) % 4].x;
    CU_ASSERT_EQUAL(area, 8); /* twice that of 2 x 2, in one direction */
    point line[] = {{3, 3}, {1, 1}, {2, 2}}, one[] = {{5, 5}, {5, 5}};
    CU_ASSERT_EQUAL(hull_of(line, 3), 2);
    CU_ASSERT_EQUAL(hull_of(one, 2), 1);
}

/* Of points within a rectangle at any angle, with its corners, it is found again: its first side is nearest to x. */
static void smallest_rectangles(void) {
    for (int degrees = -44; degrees <= 44; degrees += 4) {
        for (int tall = 0; tall < 2; tall++) {
            double width = tall ? 12 : 40, height = tall ? 30 : 9;
            rectangle wanted = rectangle_at(50, 60, width, height, degrees * M_PI / 180);
            point points[13];
            for (int i = 0; i < 13; i++) {
                const point *a = &wanted.corner[i % 4], *b = &wanted.corner[(i + 2) % 4];
                double part = i < 4 ? 0 : 0.03 * i;
                points[i] = (point){a->x + part * (b->x - a->x), a->y + part * (b->y - a->y)};
            }
            rectangle r = rectangle_around(points, hull_of(points, 13));
            for (int i = 0; i < 4; i++) {
                CU_ASSERT(is_near(r.corner[i].x, wanted.corner[i].x, 1e-9));
                CU_ASSERT(is_near(r.corner[i].y, wanted.corner[i].y, 1e-9));
            }
            rectangle grown = rectangle_grown(&r, 3);
            CU_ASSERT(is_near(rectangle_width(&grown), width + 6, 1e-9));
            CU_ASSERT(is_near(rectangle_height(&grown), height + 6, 1e-9));
            CU_ASSERT(is_near(grown.corner[0].x + grown.corner[2].x, 100, 1e-9));
        }
    }
}

/* ---- boxes ---- */

enum { MAP_WIDTH = 100, MAP_HEIGHT = 80 };

/* Sets the pixels whose centres lie in the rectangle. */
static void paint(float *map, const rectangle *r, float value) {
    double width = rectangle_width(r), ax = (r->corner[1].x - r->corner[0].x) / width;
    double ay = (r->corner[1].y - r->corner[0].y) / width;
    for (int i = 0; i < MAP_WIDTH * MAP_HEIGHT; i++) {
        double dx = i % MAP_WIDTH + 0.5 - r->corner[0].x, dy = (double)(i / MAP_WIDTH) + 0.5 - r->corner[0].y;
        double u = dx * ax + dy * ay, v = dy * ax - dx * ay;
        if (u >= 0 && u <= width && v >= 0 && v <= rectangle_height(r)) map[i] = value;
    }
}

static void boxes_in_a_map(void) {
    static float map[MAP_WIDTH * MAP_HEIGHT];
    text_box *boxes;
    memset(map, 0, sizeof map);
    CU_ASSERT_EQUAL(boxes_find(map, MAP_WIDTH, MAP_HEIGHT, &boxes), 0);
    CU_ASSERT_PTR_NULL(boxes);
    rectangle upright = rectangle_at(30, 20, 40, 10, 0), slanted = rectangle_at(60, 55, 50, 8, 0.3);
    rectangle faint = rectangle_at(80, 15, 20, 10, 0), small = rectangle_at(10, 60, 2, 2, 0);
    paint(map, &upright, 0.9f);
    paint(map, &slanted, 0.8f);
    paint(map, &faint, 0.5f); /* above the threshold, its mean is not */
    paint(map, &small, 0.9f);
    CU_ASSERT_EQUAL_FATAL(boxes_find(map, MAP_WIDTH, MAP_HEIGHT, &boxes), 2);
    double distance = 1.8 * 40 * 10 / (2 * (40 + 10));
    CU_ASSERT(is_near(boxes[0].score, 0.9, 1e-6));
    CU_ASSERT(is_near(boxes[0].place.corner[0].x, 10 - distance, 1e-9));
    CU_ASSERT(is_near(boxes[0].place.corner[2].y, 25 + distance, 1e-9));
    rectangle grown = rectangle_grown(&slanted, 1.8 * 50 * 8 / (2 * (50 + 8)));
    for (int i = 0; i < 4; i++) {
        CU_ASSERT(is_near(boxes[1].place.corner[i].x, grown.corner[i].x, 2.5));
        CU_ASSERT(is_near(boxes[1].place.corner[i].y, grown.corner[i].y, 2.5));
    }
    boxes_place(boxes, 2, 2, 3, 7);
    CU_ASSERT(is_near(boxes[0].place.corner[2].x, 2 * (50 + distance), 1e-9));
    CU_ASSERT(is_near(boxes[0].place.corner[2].y, 3 * (25 + distance) - 7, 1e-9));
    free(boxes);
}

/* A region hangs together across corners; what surrounds another one is one of its own, and edges are no neighbours. */
static void regions(void) {
    static float map[MAP_WIDTH * MAP_HEIGHT];
    text_box *boxes;
    memset(map, 0, sizeof map);
    for (int y = 10; y < 20; y++) /* two blocks, which a pixel above the gap joins across its corners */
        for (int x = 10; x < 31; x++) map[y * MAP_WIDTH + x] = x != 20;
    map[9 * MAP_WIDTH + 20] = 1;
    CU_ASSERT_EQUAL(boxes_find(map, MAP_WIDTH, MAP_HEIGHT, &boxes), 1);
    free(boxes);
    memset(map, 0, sizeof map);
    for (int y = 20; y < 30; y++) map[y * MAP_WIDTH + 99] = map[y * MAP_WIDTH + 98] = map[y * MAP_WIDTH + 97] = 1;
    for (int y = 21; y < 31; y++) map[y * MAP_WIDTH] = map[y * MAP_WIDTH + 1] = map[y * MAP_WIDTH + 2] = 1;
    CU_ASSERT_EQUAL(boxes_find(map, MAP_WIDTH, MAP_HEIGHT, &boxes), 2);
    free(boxes);
    for (int i = 0; i < MAP_WIDTH * MAP_HEIGHT; i++) map[i] = 1;
    CU_ASSERT_EQUAL_FATAL(boxes_find(map, MAP_WIDTH, MAP_HEIGHT, &boxes), 1);
    CU_ASSERT(is_near(rectangle_width(&boxes[0].place), 100 + 2 * 1.8 * 8000 / 360, 1e-9));
    free(boxes);
}

static void reading_order(void) {
    static const double places[][3] = {{70, 11, 3}, {20, 40, 2}, {10, 10, 3}, {40, 13, 3}, {10, 18, 3}, {60, 38, 2}};
    static const int wanted[] = {2, 3, 0, 4, 1, 5}; /* three in the first line, one, two */
    text_box boxes[6];
    for (int i = 0; i < 6; i++) {
        boxes[i].place = rectangle_at(places[i][0], places[i][1], 20, 8, 0);
        boxes[i].score = i;
    }
    boxes_order(boxes, 6);
    for (int i = 0; i < 6; i++) CU_ASSERT_EQUAL(boxes[i].score, wanted[i]);
}

/* ---- crops ---- */

/* A picture whose red grows by 2 a column, green by 3 a row. */
static picture slopes(int width, int height) {
    picture p = picture_make(width, height);
    for (int i = 0; i < width * height; i++) {
        p.rgb[3 * i] = (uint8_t)(2 * (i % width));
        p.rgb[3 * i + 1] = (uint8_t)(3 * (i / width));
        p.rgb[3 * i + 2] = 100;
    }
    return p;
}

static void crops(void) {
    picture p = slopes(80, 60);
    rectangle r = rectangle_at(40, 30, 30, 12, 0.5);
    picture cut = crop_cut(&p, &r);
    CU_ASSERT(cut.width == 30 && cut.height == 12);
    for (int y = 0; y < 12; y++) {
        for (int x = 0; x < 30; x++) { /* pixel i has its value at i + 0.5 */
            double u = x + 0.5 - 15, v = y + 0.5 - 6, at_x = 40 + u * cos(0.5) - v * sin(0.5);
            double at_y = 30 + u * sin(0.5) + v * cos(0.5);
            const uint8_t *rgb = cut.rgb + 3 * (30 * y + x);
            CU_ASSERT(is_near(rgb[0], 2 * (at_x - 0.5), 0.51) && is_near(rgb[1], 3 * (at_y - 0.5), 0.51) &&
                      rgb[2] == 100);
        }
    }
    free(cut.rgb);
    r = rectangle_at(40, 30.5, 10, 15, 0); /* tall: its top right becomes its top left */
    cut = crop_cut(&p, &r);
    CU_ASSERT(cut.width == 15 && cut.height == 10);
    CU_ASSERT(cut.rgb[0] == 2 * 44 && cut.rgb[1] == 3 * 23);
    CU_ASSERT(cut.rgb[3 * 14] == 2 * 44 && cut.rgb[3 * 14 + 1] == 3 * 37);
    crop_turn(&cut);
    CU_ASSERT(cut.rgb[0] == 2 * 35 && cut.rgb[1] == 3 * 37);
    free(cut.rgb);
    r = rectangle_at(0, 0, 20, 14, 0); /* partly outside: the edge goes on */
    cut = crop_cut(&p, &r);
    CU_ASSERT(cut.rgb[0] == 0 && cut.rgb[1] == 0 && cut.rgb[3 * (20 * 13 + 19)] == 2 * 9);
    free(cut.rgb);
    free(p.rgb);
}

static void scaled_planes(void) {
    static const crop_scale scale = {{0.5f, 0.25f, 0}, {0.5f, 1, 2}};
    static const int sizes[][2] = {{40, 20}, {80, 60}, {160, 90}, {1, 1}};
    picture p = slopes(80, 60);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        int width = sizes[k][0], height = sizes[k][1], room = width + 3;
        float *planes = crop_planes(&p, width, height, room, &scale);
        CU_ASSERT_PTR_NOT_NULL_FATAL(planes);
        for (int i = 0; i < 3 * height * room; i++) {
            int x = i % room, y = i / room % height, plane = i / room / height;
            double red = 2 * ((x + 0.5) * 80 / width - 0.5), green = 3 * ((y + 0.5) * 60 / height - 0.5);
            double value = plane == 0 ? 100 : plane == 1 ? green : red; /* blue comes first */
            value = (value / 255 - (double)scale.mean[plane]) / (double)scale.deviation[plane];
            int at_edge = k != 3 && (x == 0 || y == 0 || x == width - 1 || y == height - 1);
            if (x >= width) CU_ASSERT_EQUAL(planes[i], 0);
            if (x < width && !at_edge) CU_ASSERT(is_near((double)planes[i], value, 2e-4));
        }
        free(planes);
    }
    free(p.rgb);
}

/* ---- decoding ---- */

static void write_file(char *path, const char *text, size_t size) {
    int file = mkstemp(path);
    CU_ASSERT_FATAL(file >= 0);
    CU_ASSERT_EQUAL(write(file, text, size), (ssize_t)size);
    close(file);
}

static int read_characters(const char *text, size_t size, character_list *list) {
    char path[] = "/tmp/xpu-ocr-XXXXXX";
    file_error error;
    write_file(path, text, size);
    int status = characters_read(path, list, &error);
    CU_ASSERT(status ? error.rule && error.what && *error.why : !error.rule);
    unlink(path);
    return status;
}

static void decoding(void) {
    static const size_t steps[] = {0, 1, 1, 0, 1, 2, 2, 0, 0, 4, 3, 0}; /* with list->count 5 */
    character_list list;
    double mean;
    CU_ASSERT_EQUAL_FATAL(read_characters("a\n\xe9\x9f\xa9\r\nc", 8, &list), 0);
    CU_ASSERT_EQUAL_FATAL(list.count, 5);
    float probability[12 * 5];
    for (size_t i = 0; i < 60; i++) probability[i] = i % 5 == steps[i / 5] ? 0.5f + (float)(i / 5) / 100 : 0.1f;
    char *text = decode_text(probability, 12, &list, &mean);
    CU_ASSERT_STRING_EQUAL(text, "aa\xe9\x9f\xa9 c");
    CU_ASSERT(is_near(mean, (0.51 + 0.54 + 0.55 + 0.59 + 0.60) / 5, 1e-6));
    free(text);
    text = decode_text(probability, 1, &list, &mean);
    CU_ASSERT(*text == 0 && mean == 0);
    free(text);
    characters_clear(&list);
    CU_ASSERT_EQUAL(read_characters("", 0, &list), 2);
    characters_clear(&list);
    CU_ASSERT_EQUAL(read_characters("a\0b\n", 4, &list), 2);
    characters_clear(&list);
}

/* ---- pictures ---- */

/* Each beginning of a file, and each file with a byte changed, is a picture or an error; `open_end` bytes need not be
 * there. */
static void damaged_files(uint8_t *bytes, size_t size, size_t open_end) {
    for (size_t i = 0; i < 2 * size; i++) {
        uint8_t *copy = malloc(size), kept = bytes[i % size];
        CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
        size_t length = i < size ? i : size;
        picture p;
        file_error error;
        if (i >= size) bytes[i % size] ^= (uint8_t)(1 << i % 8);
        memcpy(copy, bytes, length);
        bytes[i % size] = kept;
        uint8_t *exact = realloc(copy, length ? length : 1); /* for the sanitizers */
        int status = picture_decode(exact, length, &p, &error);
        CU_ASSERT(status ? (status == 2 || status == 3) && error.rule && *error.why && !p.rgb : p.width > 0 && p.rgb);
        if (i + open_end < size) CU_ASSERT_EQUAL(status, 2);
        free(p.rgb);
        free(exact);
    }
}

static void png_files(void) {
    char path[] = "/tmp/xpu-ocr-XXXXXX";
    picture p = slopes(21, 13), again;
    file_error error;
    static const uint8_t red[] = {255, 0, 0};
    write_file(path, "", 0);
    picture_draw_line(&p, 2, 5, 30, 5, 2, red); /* rows 4 and 5, and beyond the edge */
    CU_ASSERT(p.rgb[3 * (21 * 4 + 20)] == 255 && p.rgb[3 * (21 * 5 + 10)] == 255 && p.rgb[3 * (21 * 6 + 10)] == 20);
    CU_ASSERT_EQUAL(picture_write(path, &p), 0);
    CU_ASSERT_EQUAL_FATAL(picture_read(path, &again, &error), 0);
    CU_ASSERT(again.width == 21 && again.height == 13);
    CU_ASSERT_EQUAL(memcmp(p.rgb, again.rgb, sizeof(uint8_t[3 * 21 * 13])), 0);
    free(again.rgb);
    free(p.rgb);
    const char *why;
    size_t size;
    uint8_t *bytes = file_read(path, &size, &why);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    unlink(path);
    damaged_files(bytes, size, 12);
    free(bytes);
}

/* The picture as a JPEG file, which is malloc'd. */
static uint8_t *compress(const picture *p, int is_progressive, size_t *size) {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr manager;
    unsigned char *bytes = NULL;
    unsigned long length = 0;
    jpeg.err = jpeg_std_error(&manager);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &bytes, &length);
    jpeg.image_width = (JDIMENSION)p->width;
    jpeg.image_height = (JDIMENSION)p->height;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 95, TRUE);
    if (is_progressive) jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    for (size_t y = 0; y < (size_t)p->height; y++) {
        JSAMPROW row = p->rgb + 3 * y * (size_t)p->width;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    *size = length;
    return bytes;
}

static void jpeg_files(void) {
    for (int is_progressive = 0; is_progressive < 2; is_progressive++) {
        picture p = slopes(37, 29), again;
        file_error error;
        size_t size;
        uint8_t *bytes = compress(&p, is_progressive, &size);
        CU_ASSERT_EQUAL_FATAL(picture_decode(bytes, size, &again, &error), 0);
        CU_ASSERT_FATAL(again.width == 37 && again.height == 29);
        for (int i = 0; i < 3 * 37 * 29; i++) CU_ASSERT(abs(again.rgb[i] - p.rgb[i]) <= 8);
        damaged_files(bytes, size, 4);
        free(again.rgb);
        free(p.rgb);
        free(bytes);
    }
}

XPU_TEST_MAIN("ocr", {"hulls", hulls}, {"smallest rectangles", smallest_rectangles}, {"boxes in a map", boxes_in_a_map},
              {"regions", regions}, {"reading order", reading_order}, {"crops", crops},
              {"scaled planes", scaled_planes}, {"decoding", decoding}, {"PNG files", png_files},
              {"JPEG files", jpeg_files})
