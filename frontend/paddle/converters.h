/* ops_*.c: the converters that operators.c names, and what they share. */
#ifndef XPU_FRONTEND_PADDLE_CONVERTERS_H
#define XPU_FRONTEND_PADDLE_CONVERTERS_H

#include "frontend/paddle/importer.h"

xpu_paddle_convert xpu_paddle_convert_addmm, xpu_paddle_convert_arg, xpu_paddle_convert_assign_value,
    xpu_paddle_convert_batch_norm, xpu_paddle_convert_binary, xpu_paddle_convert_cast, xpu_paddle_convert_clip,
    xpu_paddle_convert_combine, xpu_paddle_convert_composed, xpu_paddle_convert_concat, xpu_paddle_convert_conv,
    xpu_paddle_convert_conv_transpose, xpu_paddle_convert_cumulate, xpu_paddle_convert_divmod, xpu_paddle_convert_dot,
    xpu_paddle_convert_dropout, xpu_paddle_convert_einsum, xpu_paddle_convert_embedding, xpu_paddle_convert_expand,
    xpu_paddle_convert_fc, xpu_paddle_convert_fill, xpu_paddle_convert_fill_batch, xpu_paddle_convert_fill_like,
    xpu_paddle_convert_flatten, xpu_paddle_convert_flip, xpu_paddle_convert_full_int_array, xpu_paddle_convert_gather,
    xpu_paddle_convert_gather_nd, xpu_paddle_convert_gelu, xpu_paddle_convert_grid_sample,
    xpu_paddle_convert_group_norm, xpu_paddle_convert_hard_swish, xpu_paddle_convert_identity,
    xpu_paddle_convert_increment, xpu_paddle_convert_index_select, xpu_paddle_convert_index_sample,
    xpu_paddle_convert_interp, xpu_paddle_convert_is, xpu_paddle_convert_layer_norm, xpu_paddle_convert_logsumexp,
    xpu_paddle_convert_lrn, xpu_paddle_convert_matmul, xpu_paddle_convert_matmul_v1, xpu_paddle_convert_mean_of_all,
    xpu_paddle_convert_meshgrid, xpu_paddle_convert_mul, xpu_paddle_convert_mv, xpu_paddle_convert_nonzero,
    xpu_paddle_convert_norm, xpu_paddle_convert_not_equal, xpu_paddle_convert_one_hot, xpu_paddle_convert_p_norm,
    xpu_paddle_convert_pad, xpu_paddle_convert_pad3d, xpu_paddle_convert_pixel_shuffle, xpu_paddle_convert_pool,
    xpu_paddle_convert_pow, xpu_paddle_convert_prelu, xpu_paddle_convert_range, xpu_paddle_convert_reduce,
    xpu_paddle_convert_reduce_bool, xpu_paddle_convert_reshape, xpu_paddle_convert_roll, xpu_paddle_convert_scale,
    xpu_paddle_convert_scatter_nd_add, xpu_paddle_convert_shape, xpu_paddle_convert_shrink, xpu_paddle_convert_size,
    xpu_paddle_convert_slice, xpu_paddle_convert_softmax, xpu_paddle_convert_softplus, xpu_paddle_convert_split,
    xpu_paddle_convert_squeeze, xpu_paddle_convert_stack, xpu_paddle_convert_sum, xpu_paddle_convert_take,
    xpu_paddle_convert_take_apart, xpu_paddle_convert_tile, xpu_paddle_convert_top, xpu_paddle_convert_transpose,
    xpu_paddle_convert_triangle, xpu_paddle_convert_unary, xpu_paddle_convert_unsqueeze, xpu_paddle_convert_unstack,
    xpu_paddle_convert_where;
/* ops_quantised.c */
xpu_paddle_convert xpu_paddle_convert_dequantize_linear, xpu_paddle_convert_fake_channel_dequantize,
    xpu_paddle_convert_fake_dequantize, xpu_paddle_convert_fake_quantize, xpu_paddle_convert_fake_quantize_own,
    xpu_paddle_convert_quantize_linear;
/* ops_branch.c, ops_loop.c, ops_array.c */
xpu_paddle_convert xpu_paddle_convert_array_length, xpu_paddle_convert_array_to_tensor, xpu_paddle_convert_assign,
    xpu_paddle_convert_conditional_block, xpu_paddle_convert_create_array, xpu_paddle_convert_if,
    xpu_paddle_convert_read_array, xpu_paddle_convert_select_input, xpu_paddle_convert_select_output,
    xpu_paddle_convert_while, xpu_paddle_convert_write_array;

/* ops_rearrange.c */
xpu_paddle_convert xpu_paddle_convert_channel_shuffle, xpu_paddle_convert_crop, xpu_paddle_convert_fold,
    xpu_paddle_convert_maxout, xpu_paddle_convert_partial, xpu_paddle_convert_pixel_unshuffle,
    xpu_paddle_convert_repeat_interleave, xpu_paddle_convert_set_value, xpu_paddle_convert_temporal_shift,
    xpu_paddle_convert_unfold;
/* ops_index.c */
xpu_paddle_convert xpu_paddle_convert_affine_channel, xpu_paddle_convert_affine_grid, xpu_paddle_convert_atan2,
    xpu_paddle_convert_cross, xpu_paddle_convert_data_norm, xpu_paddle_convert_dequantize_log, xpu_paddle_convert_diag,
    xpu_paddle_convert_dist, xpu_paddle_convert_eye, xpu_paddle_convert_index_put, xpu_paddle_convert_kthvalue,
    xpu_paddle_convert_linspace, xpu_paddle_convert_masked_select, xpu_paddle_convert_put_along_axis,
    xpu_paddle_convert_scatter, xpu_paddle_convert_sequence_mask, xpu_paddle_convert_softmax_loss;

/* ops_boxes.c, ops_recurrent.c */
xpu_paddle_convert xpu_paddle_convert_anchor_generator, xpu_paddle_convert_box_coder,
    xpu_paddle_convert_density_prior_box, xpu_paddle_convert_prior_box, xpu_paddle_convert_rnn,
    xpu_paddle_convert_yolo_box;

/* ops_volume.c */
xpu_paddle_convert xpu_paddle_convert_conv3d, xpu_paddle_convert_conv3d_transpose, xpu_paddle_convert_pool3d,
    xpu_paddle_convert_unpool;

/* ops_rois.c, ops_nms.c, ops_proposals.c, ops_retinanet.c */
xpu_paddle_convert xpu_paddle_convert_box_clip, xpu_paddle_convert_collect_fpn_proposals,
    xpu_paddle_convert_distribute_fpn_proposals, xpu_paddle_convert_generate_proposals,
    xpu_paddle_convert_locality_aware_nms, xpu_paddle_convert_retinanet, xpu_paddle_convert_matrix_nms,
    xpu_paddle_convert_multiclass_nms, xpu_paddle_convert_nms, xpu_paddle_convert_psroi_pool,
    xpu_paddle_convert_roi_align, xpu_paddle_convert_roi_pool;

/* ops_sequence.c, ops_gates.c; im2sequence of ops_rearrange.c */
xpu_paddle_convert xpu_paddle_convert_ctc_align, xpu_paddle_convert_gather_tree, xpu_paddle_convert_gru,
    xpu_paddle_convert_gru_unit, xpu_paddle_convert_im2sequence, xpu_paddle_convert_lod_reset, xpu_paddle_convert_lstm,
    xpu_paddle_convert_sequence_concat, xpu_paddle_convert_sequence_conv, xpu_paddle_convert_sequence_expand,
    xpu_paddle_convert_sequence_pad, xpu_paddle_convert_sequence_pool, xpu_paddle_convert_sequence_reshape,
    xpu_paddle_convert_sequence_reverse, xpu_paddle_convert_sequence_softmax, xpu_paddle_convert_sequence_unpad,
    xpu_paddle_convert_var_conv;

/* ops_fourier.c */
xpu_paddle_convert xpu_paddle_convert_abs, xpu_paddle_convert_as_complex, xpu_paddle_convert_as_real,
    xpu_paddle_convert_complex, xpu_paddle_convert_conj, xpu_paddle_convert_fft_c2c, xpu_paddle_convert_fft_c2r,
    xpu_paddle_convert_fft_r2c, xpu_paddle_convert_frame, xpu_paddle_convert_part, xpu_paddle_convert_stft;

/* ops_places.c */
xpu_paddle_convert xpu_paddle_convert_merge_rows, xpu_paddle_convert_split_rows;

/* ops_paths.c */
xpu_paddle_convert xpu_paddle_convert_crf_decoding, xpu_paddle_convert_inverse, xpu_paddle_convert_match_matrix,
    xpu_paddle_convert_viterbi_decode;

/* ops_beams.c, ops_chance.c, ops_deformable.c, ops_distinct.c, ops_fused.c */
xpu_paddle_convert xpu_paddle_convert_beam_search, xpu_paddle_convert_beam_search_decode,
    xpu_paddle_convert_correlation, xpu_paddle_convert_deformable_conv, xpu_paddle_convert_fused_attention,
    xpu_paddle_convert_empty, xpu_paddle_convert_is_empty, xpu_paddle_convert_lookup_table_dequant,
    xpu_paddle_convert_polygon_box_transform, xpu_paddle_convert_random, xpu_paddle_convert_sampling_id,
    xpu_paddle_convert_unique;

/* Adaptive pooling of x [N,C,...], whose spatial dims are known: `size` windows along each, of means or maxima. */
xpu_value xpu_paddle_adapt(xpu_paddle_node *node, fe_builder *b, xpu_value x, fe_ints size, int is_max);
/* A scalar of this type. */
xpu_value xpu_paddle_single(const xpu_paddle_node *node, xpu_dtype dtype, double value);

#endif
