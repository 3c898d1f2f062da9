/* Boxes of objects: what the converters of non-maximum suppression share (ops_nms.c, ops_nms_steps.c, ops_retinanet.c).
 */
#ifndef XPU_FRONTEND_PADDLE_NMS_H
#define XPU_FRONTEND_PADDLE_NMS_H

#include "frontend/paddle/compose.h"

enum { XPU_MOST_PAIRS = 4096 }; /* boxes that are held against each other */

/* Candidates: of each class of each image the K boxes with the largest scores, from there on. */
typedef struct {
    xpu_paddle_node *node;
    fe_builder b;
    xpu_dim images, all, kept, total; /* N, M, K, C * K */
    int64_t classes, sides;           /* C: without the background; S: of a box, 4 but for polygons */
    xpu_value boxes, labels;          /* [N,M,4], or with own boxes [C,M,4]; [C] */
    xpu_value scores, places, near;   /* [N,C,K], [N,C,K] among the M, boxes [N * C,K,4] */
    int has_own;                      /* each class has boxes of its own; N is 1 */
    xpu_value merged;                 /* or {0}: boxes [N,M,S] that are given; those of `boxes`, [N * C,M,S], decide */
} xpu_paddle_candidates;

/* Of all candidates of an image, [N, C * K], those that are picked: scores, -inf where one is not. */
typedef struct {
    xpu_value scores, places, labels, boxes; /* boxes [N, C * K, 4] */
} xpu_paddle_findings;

/* The keep_top_k best of each image, in the order of the scores, or by class; *kept: how many there are room for. 0
 * after reporting. */
int xpu_paddle_keep_best(xpu_paddle_candidates *c, xpu_paddle_findings *f, int by_class, xpu_dim *kept);
/* Gives [how many, 6]: class, score, box; then the places among all boxes of all images, and how many each image has.
 */
xpu_value xpu_paddle_give_findings(xpu_paddle_candidates *c, xpu_paddle_findings *f, xpu_dim kept);

/* How far boxes x [T,K,4] and y [T,L,4] overlap, [T,K,L]: the area of both in that of either, as xa_sides_overlap has
 * it: of boxes without area it is NaN, and where corners are in the wrong order it may be any number. */
xpu_value xpu_paddle_overlaps(fe_builder *b, xpu_value x, xpu_value y, int has_pixels);
/* The same of polygons x [T,K,S] and y [T,L,S], S / 2 corners one after the other; 0 of those without area. */
xpu_value xpu_paddle_polygon_overlaps(fe_builder *b, xpu_value polygons, xpu_value others);
/* x with this number in place of each NaN. */
xpu_value xpu_paddle_counted(fe_builder *b, xpu_value x, float none);

/* As xpu_paddle_suppress, of scores in order: with each box that is kept the threshold becomes smaller, times `eta`,
 * while it is above a half. */
int xpu_paddle_suppress_adapting(fe_builder *b, const xpu_paddle_suppression *form, float eta, xpu_value overlaps,
                                 xpu_value *places, xpu_value *flags);

/* Boxes [N,M,4] or polygons with scores [N,M] in their order: one that overlaps the last one more than that becomes
 * part of it, by their scores, which are added. What came about is at the place of its first part; the other parts keep
 * their boxes, and their scores become -inf. 0 after reporting. */
int xpu_paddle_merge_near(fe_builder *b, xpu_value *boxes, xpu_value *scores, float overlap, int has_pixels);

#endif
