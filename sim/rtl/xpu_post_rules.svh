          // Rules of what all kinds with a post-processor share. The including task sets quantised, the sizes ys and bs
          // of an element of y and of the branch, places: oh x ow, and absmax_fits: the input may have an absmax.
          `RULE(memory_fault({in.params_hi, in.params}, 4 * xpu_chip_pkg::POST_WORDS, 2), in.params)
          is_bad = in.oh == 0 || in.ow == 0 || in.columns == 0 || (in.activation == xpu_chip_pkg::ACT_HARD_SWISH &&
                    (quantised || in.y_type != xpu_chip_pkg::TYPE_F32 || {in.branch_hi, in.branch} != 0)) ||
                   (in.clip_last && (quantised || in.y_type != xpu_chip_pkg::TYPE_F32 ||
                                     in.activation == xpu_chip_pkg::ACT_HARD_SWISH)) ||
                   !(quantised ? is_byte(in.y_type) : is_float(in.y_type)) ||
                   ({in.branch_hi, in.branch} != 0 &&
                    !(quantised ? is_byte(in.branch_type) : is_float(in.branch_type))) ||
                   (quantised ? {in.bias_hi, in.bias, in.findmax_hi, in.findmax} != 0 : {in.lookup_hi, in.lookup} != 0);
          `RULE(is_bad ? BAD : NO_FAULT, 0)
          `RULE(box_fault({in.y_hi, in.y}, 32'(in.oh), in.y_row_stride, 32'(in.ow), in.y_pixel_stride, places, in.columns,
                          ys), in.y)
          if ({in.branch_hi, in.branch} != 0)
            `RULE(box_fault({in.branch_hi, in.branch}, 32'(in.oh), in.branch_row_stride, 32'(in.ow),
                            in.branch_pixel_stride, places, in.columns, bs), in.branch)
          `MEMORY(lookup, 256, 0)
          `MEMORY(findmax, 4, 2)
          if ({in.absmax_hi, in.absmax} != 0 && !absmax_fits) `RULE(BAD, 0)
          `MEMORY(absmax, 4, 2)
          `MEMORY(scale, 32'(in.columns) << 2, 2)
          `MEMORY(bias, 32'(in.columns) << 2, 2)
