#include "xpu_runtime/program/transfers.h"

xpu_recorded_moves xpu_moves_of_layers(const xpu_program *program, const xpu_place *places, uint32_t layer,
                                       uint32_t count, xpu_arena *arena) {
    XPU_ARRAY(xpu_recorded_move) moves = {0}, copies = {0};
    uint32_t come = 0;
    for (uint32_t i = 0; i < program->transfers.count; i++) {
        const xpu_program_transfer *t = &program->transfers.items[i];
        const xpu_program_buffer *b = &program->buffers.items[t->buffer];
        const int is_first = i == 0 || program->transfers.items[i - 1].buffer != t->buffer;
        if (is_first) come = 0;
        if (!places || places[t->buffer].level == XPU_LEVEL_L3) {
            const int64_t bytes = xpu_dim_eval(&program->graph->dims, b->bytes, NULL);
            xpu_recorded_move whole = {.from = XPU_GM_BASE + (uint32_t)b->copy_offset,
                                       .to = XPU_L3_BASE,
                                       .row_bytes = (uint32_t)b->copy_row,
                                       .pitch = (uint32_t)b->copy_pitch,
                                       .bytes = (uint32_t)bytes};
            if (places) whole.from = places[b->copy_of].address + (uint32_t)b->copy_offset;
            if (places) whole.to = places[t->buffer].address;
            xpu_recorded_move part = whole;
            part.first = come;
            part.bytes = (uint32_t)t->bytes;
            if (t->layer >= layer && t->layer - layer < count) XPU_PUSH(arena, &moves, part);
            if (is_first && b->last_layer >= layer && b->last_layer - layer < count) XPU_PUSH(arena, &copies, whole);
        }
        come += (uint32_t)t->bytes;
    }
    return (xpu_recorded_moves){moves.items, moves.count, copies.items, copies.count};
}
