/*
 * The text in a picture, by three networks: a detector says where lines of text are, a classifier which of them stand
 * upside down, a recogniser what they say.
 *
 *     xpuc ch_PP-OCRv4_det_infer.onnx --shape=x=1,3,32..960:32,32..960:32
 *     xpuc ch_ppocr_mobile_v2.0_cls_infer.onnx --shape=x=1,3,48,192
 *     xpuc ch_PP-OCRv4_rec_infer.onnx --shape=x=1,3,48,32..2048:8
 *     ocr DETECTOR.xpu CLASSIFIER.xpu RECOGNISER.xpu CHARACTERS.txt PICTURE [--device=func|rtl|ref] [--line]
 *         [--side=PIXELS] [--boxes] [--png=FILE] [--crops=FOLDER]
 *
 * Lines of text go to standard output in reading order, each with the mean probability of its characters; --boxes puts
 * the corners before them. --line: the picture is one line of text. --side: the longer side of what the detector sees,
 * 32 to 960; without it the picture's, at most 960.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <errno.h>
#include <xpurt.h>

#include "boxes.h"
#include "crop.h"
#include "decode.h"
#include "examples/common/demo.h"
#include "picture.h"

enum { DETECTOR, CLASSIFIER, RECOGNISER, NETWORKS };
enum { STEP = 32, MOST = 960, STRIP = 8 }; /* the detector's sides; width / height of a strip */
enum { LINE_HEIGHT = 48, LINE_STEP = 8, LINE_LEAST = 32, LINE_MOST = 2048, SIDE_WIDTH = 192 };
#define UPSIDE_DOWN 0.9f

static const crop_scale imagenet = {{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}},
                        plain = {{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}};

typedef struct {
    const char *path;
    xpurt_program *program;
    xpurt_session *session;
    xpurt_tensor result; /* of the last run */
    long long cycles;
    int runs;
} network;

typedef struct {
    text_box box;
    char *text;
    double probability;
} line;

typedef struct {
    network networks[NETWORKS];
    const char *characters_path, *path, *device, *png, *crops;
    int one_line, print_boxes, side;
    character_list characters;
    picture picture;
    line *lines;
    long count;
    int map_width, map_height; /* the detector's size; 0: it did not run */
    double most;               /* the largest probability in its map */
} job;

static int usage(const char *what, const char *why) {
    return demo_fails(2, NULL, "usage", what, why,
                      "ocr DETECTOR.xpu CLASSIFIER.xpu RECOGNISER.xpu CHARACTERS.txt PICTURE [--device=func|rtl|ref] "
                      "[--line] [--side=PIXELS] [--boxes] [--png=FILE] [--crops=FOLDER]");
}

static int no_memory(const job *j) {
    return demo_fails(3, j->path, "memory", "there is not enough memory", "the picture is large", "scale it down");
}

/* ---- networks ---- */

static int wrong_program(const job *j, int which, const char *why) {
    static const char *const hints[] = {"xpuc ch_PP-OCRv4_det_infer.onnx --shape=x=1,3,32..960:32,32..960:32",
                                        "xpuc ch_ppocr_mobile_v2.0_cls_infer.onnx --shape=x=1,3,48,192",
                                        "xpuc ch_PP-OCRv4_rec_infer.onnx --shape=x=1,3,48,32..2048:8"};
    static const char *const what[] = {"the program detects no text", "the program classifies no lines of text",
                                       "the program recognises no characters of this list"};
    return demo_fails(2, j->networks[which].path, "ocr-program", what[which], why, hints[which]);
}

/* Whether a program takes pictures and gives a result of this rank, with so many classes (0: any). */
static int check_form(const job *j, int which, int rank, int64_t classes) {
    const network *n = &j->networks[which];
    xpurt_tensor in = {0}, out = {0};
    xpurt_input(n->program, 0, &in);
    xpurt_output(n->program, 0, &out);
    int good = xpurt_input_count(n->program) == 1 && xpurt_output_count(n->program) == 1 && in.rank == 4 &&
               in.dims[1] == 3 && strcmp(in.dtype, "float32") == 0 && out.rank == rank &&
               strcmp(out.dtype, "float32") == 0 && (!classes || out.dims[rank - 1] == classes);
    if (good) return 0;
    char why[160];
    snprintf(why, sizeof why, "it needs an input float32 [1,3,H,W], and one result of %d dims%s%.0lld", rank,
             classes ? ", the last one " : "", (long long)classes);
    return wrong_program(j, which, why);
}

static int open_network(network *n, const char *device) {
    xpurt_run_options options = {0};
    xpurt_error error = {0};
    n->program = xpurt_open(n->path, &error);
    int status = demo_passes_on(&error);
    if (!status) status = demo_find_device(n->program, device, &options.device);
    if (status) return status;
    n->session = xpurt_session_open(n->program, &options, &error);
    return demo_passes_on(&error);
}

/* Runs on a picture that is scaled to width x height, within `room` columns. */
static int run(job *j, int which, const picture *p, int width, int height, int room, const crop_scale *scale) {
    network *n = &j->networks[which];
    float *planes = crop_planes(p, width, height, room, scale);
    if (!planes) return no_memory(j);
    char *stats = NULL;
    xpurt_error error = {0};
    xpurt_tensor in = {NULL, "float32", 4, {1, 3, height, room}, planes};
    xpurt_run_options options = {.stats = strcmp(j->device, "rtl") == 0 ? &stats : NULL};
    xpurt_tensor_clear(&n->result);
    xpurt_session_run(n->session, &in, 1, &n->result, &options, &error);
    n->cycles += demo_cycles(stats);
    n->runs++;
    free(stats);
    free(planes);
    return demo_passes_on(&error);
}

/* ---- steps ---- */

static int multiple(double value, int step) {
    int times = (int)lround(value / step);
    return (times < 1 ? 1 : times) * step;
}

static int take_boxes(job *j, const text_box *boxes, long count) {
    j->lines = calloc(count ? (size_t)count : 1, sizeof *j->lines);
    if (count < 0 || !j->lines) return no_memory(j);
    for (long i = 0; i < count; i++) j->lines[i].box = boxes[i];
    j->count = count;
    return 0;
}

/* How much a picture grows for the detector. */
static double detector_scale(const job *j, const picture *p) {
    int longer = p->width > p->height ? p->width : p->height;
    int side = j->side ? j->side : longer > MOST ? MOST : longer;
    return (double)side / longer;
}

static int find_boxes(job *j, const picture *p, double up) {
    double scale = detector_scale(j, p);
    j->map_width = multiple(p->width * scale, STEP);
    j->map_height = multiple(p->height * scale, STEP);
    int status = run(j, DETECTOR, p, j->map_width, j->map_height, j->map_width, &imagenet);
    if (status) return status;
    const xpurt_tensor *result = &j->networks[DETECTOR].result;
    if (result->dims[2] != j->map_height || result->dims[3] != j->map_width) {
        return wrong_program(j, DETECTOR, "its result has another size than the picture");
    }
    const float *map = result->data;
    for (int i = 0; i < j->map_width * j->map_height; i++) j->most = fmax(j->most, (double)map[i]);
    text_box *boxes;
    long count = boxes_find(map, j->map_width, j->map_height, &boxes);
    boxes_place(boxes, count, (double)p->width / j->map_width, (double)p->height / j->map_height, up);
    boxes_order(boxes, count);
    status = take_boxes(j, boxes, count);
    free(boxes);
    return status;
}

/* The detector needs room around text: a strip gets some above and below, where its edges go on. */
static int detect(job *j) {
    double width = j->picture.width, height = j->picture.height, up = ceil((width / STRIP - height) / 2);
    if (up <= 0) return find_boxes(j, &j->picture, 0);
    rectangle around = {{{0, -up}, {width, -up}, {width, height + up}, {0, height + up}}};
    picture roomy = crop_cut(&j->picture, &around);
    int status = roomy.rgb ? find_boxes(j, &roomy, up) : no_memory(j);
    free(roomy.rgb);
    return status;
}

static int whole_picture(job *j) {
    double width = j->picture.width, height = j->picture.height;
    text_box box = {{{{0, 0}, {width, 0}, {width, height}, {0, height}}}, 1};
    return take_boxes(j, &box, 1);
}

/* The width of a line that is LINE_HEIGHT high. */
static int line_width(const picture *cut, int most) {
    double width = ceil((double)LINE_HEIGHT * cut->width / cut->height);
    return width > most ? most : (int)width;
}

static int save_crop(const job *j, long i, const picture *cut) {
    char name[4200];
    snprintf(name, sizeof name, "%s/%03ld.png", j->crops, i + 1);
    int failure = mkdir(j->crops, 0777) && errno != EEXIST ? errno : picture_write(name, cut);
    if (!failure) return 0;
    return demo_fails(3, name, "io-write", "the crop cannot be written", strerror(failure),
                      "another folder for --crops");
}

static int read_cut(job *j, long i, picture *cut) {
    line *l = &j->lines[i];
    int status = run(j, CLASSIFIER, cut, line_width(cut, SIDE_WIDTH), LINE_HEIGHT, SIDE_WIDTH, &plain);
    if (status) return status;
    if (((const float *)j->networks[CLASSIFIER].result.data)[1] > UPSIDE_DOWN) crop_turn(cut);
    if (j->crops) status = save_crop(j, i, cut);
    if (status) return status;
    int width = line_width(cut, LINE_MOST), room = (width + LINE_STEP - 1) / LINE_STEP * LINE_STEP;
    status = run(j, RECOGNISER, cut, width, LINE_HEIGHT, room < LINE_LEAST ? LINE_LEAST : room, &plain);
    if (status) return status;
    const xpurt_tensor *result = &j->networks[RECOGNISER].result;
    l->text = decode_text(result->data, (size_t)result->dims[1], &j->characters, &l->probability);
    return l->text ? 0 : no_memory(j);
}

/* What has no character is no line. */
static int read_lines(job *j) {
    int status = 0;
    long kept = 0;
    for (long i = 0; !status && i < j->count; i++) {
        picture cut = crop_cut(&j->picture, &j->lines[i].box.place);
        status = cut.rgb ? read_cut(j, i, &cut) : no_memory(j);
        free(cut.rgb);
        line read = j->lines[i];
        j->lines[i].text = NULL;
        if (read.text && *read.text)
            j->lines[kept++] = read;
        else
            free(read.text);
    }
    j->count = kept;
    return status;
}

/* ---- what is said ---- */

static void print(const job *j) {
    static const char *const names[] = {"detector", "classifier", "recogniser"};
    for (long i = 0; i < j->count; i++) {
        const line *l = &j->lines[i];
        for (int k = 0; j->print_boxes && k < 4; k++)
            printf("%.1f,%.1f ", l->box.place.corner[k].x, l->box.place.corner[k].y);
        printf("%.3f  %s\n", l->probability, l->text);
    }
    if (!j->count) printf("no text (%.3f at most)\n", j->most);
    printf("%s: %ld line%s of text on %s", file_base(j->path), j->count, j->count == 1 ? "" : "s", j->device);
    if (j->map_width) printf(", detector %d x %d", j->map_height, j->map_width);
    for (int i = 0; i < NETWORKS; i++) {
        const network *n = &j->networks[i];
        if (n->cycles) printf(", %s %lld cycles", names[i], n->cycles / n->runs);
        if (n->cycles && n->runs > 1) fputs(" each", stdout);
    }
    putchar('\n');
}

static int draw(job *j) {
    static const uint8_t red[] = {230, 30, 30};
    picture *p = &j->picture;
    double thick = fmax(2, (p->width + p->height) / 800.0);
    for (long i = 0; i < j->count; i++) {
        const point *c = j->lines[i].box.place.corner;
        for (int k = 0; k < 4; k++)
            picture_draw_line(p, c[k].x, c[k].y, c[(k + 1) % 4].x, c[(k + 1) % 4].y, thick, red);
    }
    int failure = picture_write(j->png, p);
    if (!failure) return 0;
    return demo_fails(3, j->png, "io-write", "the picture cannot be written", strerror(failure),
                      "another file for --png");
}

static int work(job *j) {
    file_error wrong = {0};
    int status = picture_read(j->path, &j->picture, &wrong);
    if (status) return demo_fails(status, j->path, wrong.rule, wrong.what, wrong.why, wrong.hint);
    status = characters_read(j->characters_path, &j->characters, &wrong);
    if (status) return demo_fails(status, j->characters_path, wrong.rule, wrong.what, wrong.why, wrong.hint);
    for (int i = 0; !status && i < NETWORKS; i++) status = open_network(&j->networks[i], j->device);
    if (!status) status = check_form(j, DETECTOR, 4, 0);
    if (!status) status = check_form(j, CLASSIFIER, 2, 2);
    if (!status) status = check_form(j, RECOGNISER, 3, (int64_t)j->characters.count);
    if (!status) status = j->one_line ? whole_picture(j) : detect(j);
    if (!status) status = read_lines(j);
    if (status) return status;
    print(j);
    return j->png ? draw(j) : 0;
}

static int read_side(const char *text, int *side) {
    char *end;
    long value = strtol(text, &end, 10);
    *side = (int)value;
    return end > text && !*end && value >= STEP && value <= MOST;
}

static int read_options(job *j, int argc, char **argv) {
    static const struct option options[] = {{"device", 1, NULL, 'd'},
                                            {"line", 0, NULL, 'l'},
                                            {"boxes", 0, NULL, 'b'},
                                            {"png", 1, NULL, 'p'},
                                            {"crops", 1, NULL, 'c'},
                                            {"side", 1, NULL, 's'},
                                            {0}};
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "d:", options, NULL)) != -1;) {
        if (c == 'd') j->device = optarg;
        if (c == 'l') j->one_line = 1;
        if (c == 'b') j->print_boxes = 1;
        if (c == 'p') j->png = optarg;
        if (c == 'c') j->crops = optarg;
        if (c == 's' && !read_side(optarg, &j->side)) return usage("--side is not 32 to 960", optarg);
        if (c == '?') return usage("there is no such option, or it has no value", argv[optind - 1]);
    }
    if (strcmp(j->device, "func") && strcmp(j->device, "rtl") && strcmp(j->device, "ref"))
        return usage("there is no such device", j->device);
    if (argc - optind != NETWORKS + 2)
        return usage("five files are needed", "three programs, characters and a picture");
    for (int i = 0; i < NETWORKS; i++) j->networks[i].path = argv[optind + i];
    j->characters_path = argv[optind + NETWORKS];
    j->path = argv[optind + NETWORKS + 1];
    return 0;
}

int main(int argc, char **argv) {
    job j = {.device = "func"};
    int status = read_options(&j, argc, argv);
    if (!status) status = work(&j);
    for (long i = 0; i < j.count; i++) free(j.lines[i].text);
    for (int i = 0; i < NETWORKS; i++) {
        xpurt_session_close(j.networks[i].session);
        xpurt_tensor_clear(&j.networks[i].result);
        xpurt_close(j.networks[i].program);
    }
    free(j.lines);
    free(j.picture.rgb);
    characters_clear(&j.characters);
    return status;
}
