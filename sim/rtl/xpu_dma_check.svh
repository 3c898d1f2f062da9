// Check, a stage of xpu_dma, within its block: takes a descriptor, looks at its rules and addresses, and hands its loops
// on. A dimension a cycle: 6 cycles, beside the other stages.
      slot = c_slot;
      case (c_state)
        C_IDLE: if (desc_valid && ready_i) begin
          c_desc = desc; c_state = C_FIELDS; moved = 1; taken = taken + 1;
        end
        C_FIELDS: begin
          moved = 1; c_state = C_DIMENSION; c_step = 0; c_elements = 1; c_ended = 0; cause = NO_FAULT; where = 0;
          c_fill = c_desc.opcode == xpu_chip_pkg::OPCODE_FILL; c_gather = c_desc.opcode == xpu_chip_pkg::OPCODE_GATHER;
          c_convert = !c_fill && c_desc.src_type != c_desc.dst_type;
          c_widen = c_desc.dst_type == xpu_chip_pkg::TYPE_F32;
          c_size[0] = c_desc.size0; c_size[1] = c_desc.size1; c_size[2] = c_desc.size2; c_size[3] = c_desc.size3;
          c_stride[0] = c_desc.src_stride0; c_stride[1] = c_desc.src_stride1; c_stride[2] = c_desc.src_stride2;
          c_stride[3] = c_desc.src_stride3; c_stride[4] = c_desc.dst_stride0; c_stride[5] = c_desc.dst_stride1;
          c_stride[6] = c_desc.dst_stride2; c_stride[7] = c_desc.dst_stride3;
          p_empty[slot] = c_size[0] == 0 || c_size[1] == 0 || c_size[2] == 0 || c_size[3] == 0;
          p_fill[slot] = c_fill; p_gather[slot] = c_gather && !p_empty[slot]; p_convert[slot] = c_convert;
          p_widen[slot] = c_widen;
          p_divide[slot] = c_convert && c_desc.scale_mode == xpu_chip_pkg::SCALE_DIVISOR;
          `SET(p_zero[slot], c_desc.dst_type == xpu_chip_pkg::TYPE_I8 ?
                             {{2{c_desc.zero[7]}}, c_desc.zero} : {2'd0, c_desc.zero});
          p_signed[slot] = c_desc.dst_type == xpu_chip_pkg::TYPE_I8;
          p_wide[slot] = (c_widen ? c_desc.src_type : c_desc.dst_type) == xpu_chip_pkg::TYPE_I16;
          from_size = log_bytes(c_desc.src_type); to_size = log_bytes(c_desc.dst_type);
          c_weave = !c_fill && !c_gather && !p_empty[slot] && c_size[2] > 1 && c_size[3] > 1 && c_size[3] <= PLANES;
          // planes that share bytes are written in the order of the dimensions
          size = c_stride[7][31] ? 32'd0 - c_stride[7] : c_stride[7];
          c_unweave = c_weave && c_stride[3] == 32'd1 << from_size && c_stride[7] != 32'd1 << to_size &&
                      c_stride[6] == 32'd1 << to_size && size >= c_size[2] << to_size;
          c_weave = c_weave && c_stride[2] == 32'd1 << from_size && c_stride[3] != 32'd1 << from_size &&
                    c_stride[7] == 32'd1 << to_size;
          p_weave[slot] = c_weave; p_unweave[slot] = c_unweave; p_block[slot] = c_weave || c_unweave;
          p_lanes[slot] = c_convert || c_weave || c_unweave;
          p_apart[slot] = c_unweave && c_stride[2] != c_size[3] << from_size;
          size = {27'd0, 5'd1 + 5'(4'(c_size[2] - 1))};
          `SET(p_steps_full[slot], p_apart[slot] ? 5'd16 : c_size[3][4:0]);
          `SET(p_steps_tail[slot], p_apart[slot] ? size[4:0] :
                                   c_weave ? c_size[3][4:0] : 5'((9'(size) * 9'(c_size[3][4:0]) + 9'd15) >> 4));
          `SET(p_planes[slot], c_size[3][4:0]); `SET(p_tail[slot], 5'd1 + 5'(4'(c_size[2] - 1)));
          `SET(p_source_size[slot], from_size); `SET(p_target_size[slot], to_size);
          `SET(p_scale[slot], c_desc.scale); `SET(p_scale_mode[slot], c_desc.scale_mode);
          dim = c_desc.gather_dim;
          `SET(p_step[{1'b0, slot}], c_stride[{1'b0, dim}]); `SET(p_step[{1'b1, slot}], c_stride[{1'b1, dim}]);
          `SET(p_steps[slot], c_size[dim]);
          `SET(p_first[{2'd2, slot}], c_desc.index); `SET(p_last[{2'd2, slot}], c_desc.index + (c_size[dim] << 2) - 1);
          `SET(p_first[{2'd3, slot}], c_desc.scale_address); `SET(p_last[{2'd3, slot}], c_desc.scale_address + 3);
          // types and scale
          if (c_desc.dst_type > xpu_chip_pkg::TYPE_F32 || (!c_fill && c_desc.src_type > xpu_chip_pkg::TYPE_F32))
            cause = BAD;
          else if (p_divide[slot]) begin // a positive normal number divides
            if (c_desc.src_type != xpu_chip_pkg::TYPE_F32 || c_desc.dst_type > xpu_chip_pkg::TYPE_U8 ||
                c_desc.scale[31] || c_desc.scale[30:23] == 8'd0 || c_desc.scale[30:23] == 8'd255) cause = BAD;
          end else if (c_convert) begin
            if (c_widen ? c_desc.src_type == xpu_chip_pkg::TYPE_U8 :
                c_desc.src_type != xpu_chip_pkg::TYPE_F32 ||
                (c_desc.dst_type != xpu_chip_pkg::TYPE_I8 && c_desc.dst_type != xpu_chip_pkg::TYPE_I16)) cause = BAD;
            else if (c_desc.scale_mode == xpu_chip_pkg::SCALE_ABSMAX && c_desc.src_type == xpu_chip_pkg::TYPE_I32)
              cause = BAD;
            else if (c_desc.scale_mode != xpu_chip_pkg::SCALE_IMMEDIATE) begin
              where = c_desc.scale_address;
              if (where[1:0] != 0) cause = MISALIGNED;
              else if (!inside_memory({24'd0, c_desc.scale_address_hi, where}, 64'd4)) cause = OUTSIDE;
            end
          end
          // what a gather adds
          if (c_gather && !p_empty[slot] && cause == NO_FAULT) begin
            where = c_desc.src;
            if (off(c_stride[{1'b0, dim}], from_size) || off(c_stride[{1'b1, dim}], to_size))
              cause = MISALIGNED;
            else begin
              where = c_desc.index;
              if (where[1:0] != 0) cause = MISALIGNED;
              else if (!inside_memory({24'd0, c_desc.index_hi, where}, {30'd0, c_size[dim], 2'd0})) cause = OUTSIDE;
            end
          end
          c_cause = cause; c_fault_at = where;
          if (!c_gather || p_empty[slot]) begin
            `SET(p_first[{2'd2, slot}], 32'hffffffff); `SET(p_last[{2'd2, slot}], 0);
          end
          if (!c_convert || p_divide[slot] || c_desc.scale_mode == xpu_chip_pkg::SCALE_IMMEDIATE) begin
            `SET(p_first[{2'd3, slot}], 32'hffffffff); `SET(p_last[{2'd3, slot}], 0);
          end
          for (i = 0; i < 2; i = i + 1) begin
            c_low[i] = 0; c_high[i] = 0; c_box_fault[i] = NO_FAULT; c_loops[i] = 0;
            c_run[i] = 32'd1 << (i == SOURCE ? from_size : to_size);
            for (k = 0; k < 4; k = k + 1) `SET(p_count[{26'd0, i[0], slot, 2'd0} + k], 0);
          end
        end
        C_DIMENSION: begin
          moved = 1;
          // rules, from dimension 0 on
          dim = c_step;
          size = c_gather && dim == c_desc.gather_dim ? 32'd1 : c_size[dim];
          if (size == 0) c_ended = 1;
          c_elements = c_elements * {32'd0, size};
          for (i = 0; i < 2; i = i + 1) begin
            stride = c_stride[{i[0], dim}];
            reach = {32'd0, size - 1} * {{32{stride[31]}}, stride};
            if (!c_ended && c_box_fault[i] == NO_FAULT) begin
              if (reach[63]) c_low[i] = c_low[i] + reach; else c_high[i] = c_high[i] + reach;
              if (c_elements > 64'h80000000) c_box_fault[i] = BAD;
              else if (size != 1 && off(stride, i == SOURCE ? p_source_size[slot] : p_target_size[slot]))
                c_box_fault[i] = MISALIGNED;
            end
          end
          // loops, from the innermost on
          dim = 2'd3 - c_step;
          if (c_gather) dim = c_step == 2'd3 ? c_desc.gather_dim : dim > c_desc.gather_dim ? dim : 2'd2 - c_step;
          size = c_size[dim];
          for (i = 0; i < 2; i = i + 1) begin
            stride = c_stride[{i[0], dim}];
            if ((i == SOURCE ? c_weave : c_unweave) && c_step == 2'd1) begin // the planes are the innermost loop
              c_run[i] = 32'd16 << (i == SOURCE ? p_source_size[slot] : p_target_size[slot]);
              k = {26'd0, i[0], slot, 2'd1};
              `SET(p_count[k], (size - 1) >> 4); `SET(p_stride[k], c_run[i]); c_loops[i] = 2;
            end else if (size != 1 && !(c_gather && c_step == 2'd3 && i == SOURCE)) begin
              hit = c_unweave && (c_step[1] || (c_step == 2'd1 && p_apart[slot])); // rows, and pixels that lie apart
              if (c_loops[i] == 0 && stride == c_run[i] && !hit) c_run[i] = c_run[i] * size;
              else begin
                k = {26'd0, i[0], slot, 2'd0} + {29'd0, c_loops[i]};
                `SET(p_count[k], size - 1); `SET(p_stride[k], stride); c_loops[i] = c_loops[i] + 1;
              end
            end
          end
          if (c_step == 2'd3) c_state = C_RANGE;
          c_step = c_step + 1;
        end
        default: begin // C_RANGE
          moved = 1; c_state = C_IDLE; c_slot = c_slot + 1; c_ahead = c_ahead + 1;
          for (i = 0; i < 2; i = i + 1) begin
            where = i == SOURCE ? c_desc.src : c_desc.dst;
            a = {24'd0, i == SOURCE ? c_desc.src_hi : c_desc.dst_hi, where};
            reach = a + c_low[i];
            product = c_high[i] - c_low[i] + (64'd1 << (i == SOURCE ? p_source_size[slot] : p_target_size[slot]));
            cause = c_box_fault[i];
            if (cause == NO_FAULT && !c_ended && off(where, i == SOURCE ? p_source_size[slot] : p_target_size[slot]))
              cause = MISALIGNED;
            if (cause == NO_FAULT && !c_ended && !c_gather && !inside_memory(reach, product)) cause = OUTSIDE;
            k = {28'd0, i[0], slot};
            `SET(p_address[k], where); `SET(p_run[k], c_run[i]); `SET(p_length[k], product);
            `SET(p_low[k], c_low[i] + {a[63:32], 32'd0}); // with a gather's address bits above 32: no step is inside
            `SET(p_step_fault[k], cause);
            `SET(p_first[k], reach[31:0]); `SET(p_last[k], reach[31:0] + product[31:0] - 1);
            if (c_gather) begin
              `SET(p_first[k], region_first(where)); `SET(p_last[k], region_last(where));
            end
            if (p_empty[slot] || (c_fill && i == SOURCE)) begin
              `SET(p_first[k], 32'hffffffff); `SET(p_last[k], 0);
            end
            if (c_cause == NO_FAULT && !c_gather && !(c_fill && i == SOURCE)) begin
              c_cause = cause; c_fault_at = where;
            end
          end
          `SET(p_cause[slot], c_cause); `SET(p_fault_at[slot], c_fault_at);
        end
      endcase
