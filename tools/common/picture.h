/* xpu-run's options for pictures: --image, --mean, --std, --bgr in; --top and --labels out. */
#ifndef XPU_TOOLS_PICTURE_H
#define XPU_TOOLS_PICTURE_H

#include "tools/common/inputs.h"
#include "tools/common/tool.h"

/* Rows for the table of options. */
#define XPU_PICTURE_OPTIONS                                                                                            \
    {"image", 0, "FILE|NAME=FILE", "an input from a BMP, PNG or JPEG picture, scaled to the input's size", XPU_READS}, \
        {"mean", 0, "R,G,B", "--image: subtracted from values of 0..1 (0)"},                                           \
        {"std", 0, "R,G,B", "--image: what values are divided by then (1)"},                                           \
        {"bgr", 0, NULL, "--image: the model's channels are blue, green, red"},                                        \
        {"top", 0, "N", "print the N largest elements of each row (5)"}, {                                             \
        "labels", 0, "FILE",                                                                                           \
            "print lines of this file instead of the elements' numbers; a line too many is a background class",        \
            XPU_READS                                                                                                  \
    }

/* Adds the pictures of --image to `inputs`. */
xpu_status xpu_picture_inputs(xpu_tool *tool, const xpurt_program *program, xpu_inputs *inputs);

/* How elements are printed. */
typedef struct {
    int top;
    int asked;           /* --top or --labels is given */
    const char **labels; /* NULL: none; NULL entries behind the last */
    int64_t label_count;
} xpu_presentation;
xpu_status xpu_presentation_read(xpu_tool *tool, xpu_presentation *presentation);

#endif
