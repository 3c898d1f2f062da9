// A step of the arithmetic pipe: operands are read, a register of the result (or an element of it) is made in O. Part
// of the clocked block of xpu_vector.
      if (a_valid && a_hold) begin
        a_hold = 1'b0;
        active = 1'b1;
      end else if (a_valid) begin
        n = {22'd0, a_n};
        masked = a_masked;
        last = {1'b0, a_e} + {1'b0, a_n} >= {1'b0, a_vl};
        write = a_vl > a_vstart;
        reg_d = a_c[`VC_TO_MASK] || a_c[`VC_KIND] != VK_LANES ? a_rd : a_rd + {1'b0, elements_register(a_e,
            a_c[`VC_WD])};
        act = element_range(a_e, a_vstart, a_vl);
        if (a_zero) begin
          at = {27'd0, a_e[9:5]};
          shift = a_e[4:0];
          window0 = {`WORD(at + 1), `WORD(at)} >> shift;
          if (shift != 5'd0) window0 = window0 | {32'd0, `WORD(at + 2)} << (7'd64 - {2'd0, shift});
          if (masked) act = act & window0;
        end
        if (!a_n[6]) act = act & ~(~64'd0 << a_n[5:0]);
        slides = a_c[`VC_KIND] == VK_LANES && a_c[`VC_OP] >= VO_SLIDE_UP && a_c[`VC_OP] <= VO_SLIDE1_DOWN;
        full = a_c[`VC_KIND] == VK_LANES && !masked && a_c[`VC_OP] != VO_SLIDE_UP && !a_c[`VC_SCALAR] &&
            a_e >= a_vstart &&
               {1'b0, a_e} + {1'b0, a_n} <= {1'b0, a_vl};
        // What it has to wait for
        if (a_c[`VC_KIND] == VK_LANES || a_c[`VC_KIND] == VK_REDUCE) begin
          reads = {31'd0, a_zero};
          if (a_c[`VC_R2]) begin
            if (slides) reads = reads | a_reads;
            else if (a_c[`VC_FORM] == VF_IOTA) reads = reads | 32'd1 << a_rs2;
            else
              reads = reads | register_range(a_rs2 + {1'b0, elements_register(a_e, a_c[`VC_W2])},
                                             a_rs2 + {1'b0,
                                                 elements_register(last ? (a_vl == 10'd0 ? 10'd0 : a_vl - 10'd1)
                                                                                    : a_e + a_n - 10'd1, a_c[`VC_W2])});
          end
          if (a_c[`VC_KIND] == VK_REDUCE || a_c[`VC_TO_MASK]) begin
            if (!a_begun) reads = reads | 32'd1 << a_rd;
            if (a_c[`VC_KIND] == VK_REDUCE && !a_begun) reads = reads | 32'd1 << a_rs1;
          end else if (a_c[`VC_RD] || !full) begin
            reads = reads | 32'd1 << reg_d;
          end
          if (a_c[`VC_KIND] == VK_LANES && a_c[`VC_R1])
            reads = reads | 32'd1 << (a_rs1 + {1'b0, elements_register(a_e, a_c[`VC_W1])});
          touched = write ? 32'd1 << reg_d : 32'd0;
          hazards = reads & inflight;
        end else begin
          touched = a_writes;
          hazards = a_begun ? 32'd0 : (a_reads | a_writes) & inflight;
          reads = a_reads | a_writes;
        end
        if (m_older) hazards = hazards | (reads & m_writes) | (touched & (m_writes | m_reads));
        fires = hazards == 32'd0;
      end
      if (fires) begin
        active = 1'b1;
        fr_ne = `FLAG(a_frm == 3'd0 && !a_c[`VC_RTZ]); fr_mm = `FLAG(a_frm == 3'd4 && !a_c[`VC_RTZ]);
        fr_up = `FLAG(a_frm == 3'd3 && !a_c[`VC_RTZ]); fr_dn = `FLAG(a_frm == 3'd2 && !a_c[`VC_RTZ]);
        case (a_c[`VC_KIND])
          VK_LANES, VK_REDUCE: begin
            // vs2
            if (a_float && !a_c[`VC_NARROW]) begin
              from_reg = a_rs2 + {2'd0, a_e[6:4]};
              `LOOP(i, 16) X[i] = {32'd0, v_q[from_reg][i]}; `ENDLOOP(i)
            end else if (a_c[`VC_R2] && a_c[`VC_FORM] != VF_IOTA) begin
              at = {23'd0, a_rs2, 4'd0} + (({22'd0, a_e} << a_c[`VC_W2]) >> 2);
              if (slides) begin
                // from so many elements before or behind; offsets beyond the group are as far as its end
                offset = a_s > 32'd1024 ? 11'd1024 : a_s[10:0];
                if (a_c[`VC_OP] >= VO_SLIDE1_UP) offset = 11'd1;
                to = {22'd0, a_e};
                if (a_c[`VC_OP] == VO_SLIDE_UP || a_c[`VC_OP] == VO_SLIDE1_UP) to = to - {21'd0, offset};
                else to = to + {21'd0, offset};
                to = ({27'd0, a_rs2} << 6) + (to << a_c[`VC_W2]);
                at = to >> 2;
                shift = {to[1:0], 3'd0};
                `LOOP(i, 16) W[i] = `WORD(at + i) >> shift; `ENDLOOP(i)
                if (shift != 5'd0) begin
                  `LOOP(i, 16) W[i] = W[i] | `WORD(at + i + 1) << (6'd32 - {1'b0, shift}); `ENDLOOP(i)
                end
                if (a_c[`VC_OP] == VO_SLIDE_UP) act = act & element_range(a_e, offset[9:0] | {10{offset[10]}},
                    10'd1023);
              end else begin
                if (n << a_c[`VC_W2] == 64) begin
                  from_reg = at[8:4];
                  `LOOP(i, 16) W[i] = v_q[from_reg][i]; `ENDLOOP(i)
                end else begin
                  `FETCH(at, (n << a_c[`VC_W2]) >> 2, 32)
                end
              end
              `UNPACK(A, a_c[`VC_W2_LOW], a_c[`VC_X2])
            end
            if (a_c[`VC_FORM] == VF_IOTA) begin
              at = {23'd0, a_rs2, 4'd0} + {27'd0, a_e[9:5]};
              shift = a_e[4:0];
              window2 = {`WORD(at + 1), `WORD(at)} >> shift;
            end
            // vs1
            if (a_float) begin
              if (a_c[`VC_NARROW]) begin
                `LOOP(i, 16) X[i] = A[i] & 64'hffffffff; `ENDLOOP(i)
              end
              if (a_c[`VC_R1]) begin
                from_reg = a_rs1 + {2'd0, a_e[6:4]};
                `LOOP(i, 16) Y[i] = {32'd0, v_q[from_reg][i]}; `ENDLOOP(i)
              end else begin
                fx = {32'd0, a_s};
                `LOOP(i, 16) Y[i] = fx; `ENDLOOP(i)
              end
              // All forms as x * y + z
              if (a_c[`VC_OP] == VO_FMA) begin
                fa = {32'd0, a_c[`VC_FMA_NEG], 31'd0};
                fb = {32'd0, a_c[`VC_FMA_SUB], 31'd0};
                if (a_c[`VC_FMA_MUL]) begin
                  `LOOP(i, 16) Z[i] = (X[i] ^ Y[i]) & 64'h80000000; `ENDLOOP(i)
                end else if (a_c[`VC_FMA_ADD]) begin
                  if (a_c[`VC_FMA_SWAP]) begin
                    `LOOP(i, 16) Z[i] = X[i] ^ fb; X[i] = Y[i]; Y[i] = 64'h3f800000; `ENDLOOP(i)
                  end else begin
                    `LOOP(i, 16) Z[i] = Y[i] ^ fb; Y[i] = 64'h3f800000; `ENDLOOP(i)
                  end
                end else if (a_c[`VC_FMA_SWAP]) begin
                  `LOOP(i, 16) Z[i] = X[i] ^ fb; X[i] = {32'd0, v_q[reg_d][i]} ^ fa; `ENDLOOP(i)
                end else begin
                  `LOOP(i, 16) Z[i] = {32'd0, v_q[reg_d][i]} ^ fb; X[i] = X[i] ^ fa; `ENDLOOP(i)
                end
              end
            end else if (a_c[`VC_KIND] == VK_LANES) begin
              if (a_c[`VC_R1]) begin
                at = {23'd0, a_rs1, 4'd0} + (({22'd0, a_e} << a_c[`VC_W1]) >> 2);
                if (n << a_c[`VC_W1] == 64) begin
                  from_reg = at[8:4];
                  `LOOP(i, 16) W[i] = v_q[from_reg][i]; `ENDLOOP(i)
                end else begin
                  `FETCH(at, (n << a_c[`VC_W1]) >> 2, 16)
                end
                `UNPACK(B, a_c[`VC_W1_LOW], a_c[`VC_X1])
              end else begin
                fx = a_y;
                `LOOP_TO(i, n, 64) B[i] = fx; `ENDLOOP(i)
              end
              if (a_c[`VC_RD]) begin
                `LOOP(i, 16) W[i] = v_q[reg_d][i]; `ENDLOOP(i)
                `UNPACK(D, a_c[`VC_WD_LOW], 1'b0)
              end
            end
            bits = 64'd8 << (a_c[`VC_OP] == VO_TO_INT ? a_c[`VC_WD_LOW] : a_sew);
            shifts = (64'd8 << a_c[`VC_W2]) - 64'd1;
            // lanes of masks: carries, or those that count (fx is i, see xpu_vector_round.svh)
            if (a_c[`VC_CARRY]) begin
              carries = a_zero ? window0 : 64'd0;
              fx = 64'd0;
              `LOOP_TO(i, n, 64) S[i] = (carries >> fx[5:0]) & 64'd1; fx = fx + 64'd1; `ENDLOOP(i)
            end
            if (a_lanes) begin
              carries = act;
              fx = 64'd0;
              `LOOP_TO(i, n, 64) K[i] = 64'd0 - ((carries >> fx[5:0]) & 64'd1); fx = fx + 64'd1; `ENDLOOP(i)
            end
            if (a_float) begin
              f_valid = 1'b1;
              f_op = a_c[`VC_OP] == VO_FMA ? 3'd0 : a_c[`VC_OP] == VO_FMIN ? 3'd1 : a_c[`VC_OP] == VO_FMAX ? 3'd2
                     : a_c[`VC_OP] == VO_FROM_INT ? 3'd3 : 3'd4;
              f_signed = a_c[`VC_OP] == VO_FROM_INT ? a_c[`VC_X2] : a_c[`VC_X1];
              f_mode = a_c[`VC_RTZ] ? 3'd1 : a_frm;
              f_active = act[15:0];
              n_lanes = {1'b1, act[15:0]};
              if (!full) begin
                `LOOP(i, 16) O[i] = v_q[reg_d][i]; `ENDLOOP(i)
              end
            end else if (a_c[`VC_KIND] == VK_REDUCE) begin
              if (!a_begun) a_acc = extended(v_q[a_rs1][0], a_c[`VC_W1_LOW], a_c[`VC_X1]);
              // A tree. Elements that do not count are 0 in sums, else the accumulator, with which nothing changes
              fa = a_acc;
              fb = a_c[`VC_OP] == VO_ADD || a_c[`VC_OP] == VO_XOR ? 64'd0 : fa;
              `LOOP_TO(i, n, 64) R[i] = fb ^ ((fb ^ A[i]) & K[i]); `ENDLOOP(i)
              for (to = 32; to > 0; to = to / 2) if (to < n) begin
                case (a_c[`VC_OP])
                  VO_ADD: begin `LOOP(i, to) R[i] = R[i] + R[i+to]; `ENDLOOP(i) end
                  VO_AND: begin `LOOP(i, to) R[i] = R[i] & R[i+to]; `ENDLOOP(i) end
                  VO_OR: begin `LOOP(i, to) R[i] = R[i] | R[i+to]; `ENDLOOP(i) end
                  VO_XOR: begin `LOOP(i, to) R[i] = R[i] ^ R[i+to]; `ENDLOOP(i) end
                  VO_MIN: begin `LOOP(i, to) R[i] = (R[i] ^ TOP) < (R[i+to] ^ TOP) ? R[i] : R[i+to]; `ENDLOOP(i) end
                  default: begin `LOOP(i, to) R[i] = (R[i] ^ TOP) > (R[i+to] ^ TOP) ? R[i] : R[i+to]; `ENDLOOP(i) end
                endcase
              end
              fb = R[0];
              case (a_c[`VC_OP])
                VO_ADD: fa = fa + fb;
                VO_AND: fa = fa & fb;
                VO_OR: fa = fa | fb;
                VO_XOR: fa = fa ^ fb;
                VO_MIN: fa = (fb ^ TOP) < (fa ^ TOP) ? fb : fa;
                default: fa = (fb ^ TOP) > (fa ^ TOP) ? fb : fa;
              endcase
              a_acc = fa;
              `LOOP(i, 16) O[i] = v_q[a_rd][i]; `ENDLOOP(i)
              O[0] = a_c[`VC_WD_LOW] == 2'd2 ? fa[31:0] : a_c[`VC_WD_LOW] == 2'd1 ? {O[0][31:16], fa[15:0]}
                                                                             : {O[0][31:8], fa[7:0]};
              write = write && last;
            end else begin
              if (a_c[`VC_OP] < VO_FMA) begin
                if (a_c[`VC_OP] >= VO_SADD && a_c[`VC_OP] <= VO_CLIP) begin
                  rx_up = `FLAG(a_vxrm == 2'd0); rx_even = `FLAG(a_vxrm == 2'd1); rx_odd = `FLAG(a_vxrm == 2'd3);
                  most = TOP ^ ((64'd1 << (bits[5:0] - {5'd0, a_c[`VC_X2]})) - 64'd1);
                  least = a_c[`VC_X2] ? TOP ^ (64'd0 - (64'd1 << (bits[5:0] - 6'd1))) : TOP;
                end
                `include "xpu_vector_integer.svh"
              end else begin
                `include "xpu_vector_float.svh"
              end
              if (a_c[`VC_TO_MASK]) begin
                if (!a_begun) begin
                  `LOOP(i, 16) M[i] = v_q[a_rd][i]; `ENDLOOP(i)
                end
                fx = 64'd0;
                fa = 64'd0;
                `LOOP_TO(i, n, 64) fx = fx | ((R[i] & 64'd1) << fa[5:0]); fa = fa + 64'd1; `ENDLOOP(i)
                at = {28'd0, a_e[8:5]};
                fa = {M[at[3:0] | 4'd1], M[at[3:0]]};
                shift = a_e[4:0];
                fa = (fa & ~(act << shift)) | ((fx & act) << shift);
                M[at[3:0]] = fa[31:0];
                if (n == 64) M[at[3:0] | 4'd1] = fa[63:32];
                `LOOP(i, 16) O[i] = M[i]; `ENDLOOP(i)
                write = write && last;
              end else begin
                case (a_c[`VC_WD_LOW])
                  2'd2: begin `LOOP(i, 16) O[i] = R[i][31:0]; `ENDLOOP(i) end
                  2'd1: begin `LOOP(i, 16) O[i] = {R[2 * i + 1][15:0], R[2 * i][15:0]}; `ENDLOOP(i) end
                  default: begin
                    `LOOP(i, 16)
                      O[i] = {R[4 * i + 3][7:0], R[4 * i + 2][7:0], R[4 * i + 1][7:0], R[4 * i][7:0]};
                    `ENDLOOP(i)
                  end
                endcase
                if (!full) begin
                  fx = spread(act, a_c[`VC_WD_LOW]);
                  `LOOP(i, 16)
                    fa = fx >> {i[3:0], 2'd0};
                    w = byte_mask(fa[3:0]);
                    O[i] = (O[i] & w) | (v_q[reg_d][i] & ~w);
                  `ENDLOOP(i)
                end
              end
            end
            a_e = a_e + a_n;
            a_hold = !last && a_c[`VC_KIND] == VK_LANES && !a_c[`VC_TO_MASK] && a_c[`VC_W2_LOW] > a_c[`VC_WD_LOW] &&
                a_c[`VC_R2];
            a_writes = a_c[`VC_TO_MASK] || a_c[`VC_KIND] == VK_REDUCE ? a_writes : a_writes & (~32'd0 << ({1'b0,
                reg_d} + 6'd1));
          end
          VK_MASK: begin
            count = 10'd0; // 1 behind the first set bit
            lane = a_c[`VC_OP];
            `LOOP(i, 16)
              w = word_range(i[3:0], a_vstart, a_vl);
              fa = {32'd0, v_q[a_rs2][i]}; fb = {32'd0, v_q[a_rs1][i]};
              if (masked) w = w & v_q[0][i];
              if (lane[3]) begin
                fa = fa & {32'd0, w};
                fb = fa & (64'd0 - fa);                        // the first
                fc = fa == 0 ? ~64'd0 : fb - 64'd1;            // those before it
                if (count[0]) begin fb = 64'd0; fc = 64'd0; end
                if (fa != 0) count[0] = 1'b1;
                fx = lane[1:0] == 2'd1 ? fc : lane[1:0] == 2'd2 ? fb : fb | fc;
              end else begin
                case (lane[2:0])
                  3'd0: fx = fa & ~fb;
                  3'd1: fx = fa & fb;
                  3'd2: fx = fa | fb;
                  3'd3: fx = fa ^ fb;
                  3'd4: fx = fa | ~fb;
                  3'd5: fx = ~(fa & fb);
                  3'd6: fx = ~(fa | fb);
                  default: fx = ~(fa ^ fb);
                endcase
              end
              O[i] = (fx[31:0] & w) | (v_q[a_rd][i] & ~w);
            `ENDLOOP(i)
            last = 1'b1;
          end
          VK_GET: begin
            last = 1'b1;
            write = 1'b0;
            n_x = 32'd0;
            if (a_c[`VC_OP] == VG_MOVE || a_c[`VC_OP] == VG_FMOVE) begin
              fx = extended(v_q[a_rs2][0], a_sew, a_c[`VC_X2]);
              n_x = fx[31:0];
            end else begin
              if (a_c[`VC_OP] == VG_FIRST) n_x = ~32'd0;
              fs = 64'd0;
              `LOOP(i, 16)
                w = v_q[a_rs2][i] & word_range(i[3:0], a_vstart, a_vl);
                if (masked) w = w & v_q[0][i];
                if (a_c[`VC_OP] == VG_CPOP) W[i] = ones(w);
                else if (w != 32'd0 && fs == 0) begin
                  fs = 64'd1;
                  n_x = {23'd0, i[3:0], 5'd0} + ones(~w & (w - 32'd1));
                end
              `ENDLOOP(i)
              if (a_c[`VC_OP] == VG_CPOP) begin
                for (to = 8; to > 0; to = to / 2) begin
                  `LOOP(i, to) W[i] = W[i] + W[i+to]; `ENDLOOP(i)
                end
                n_x = W[0];
              end
            end
          end
          default: begin
            `include "xpu_vector_element.svh"
          end
        endcase
        a_flags = a_flags | n_flags;
        a_sat = a_sat | n_sat;
        a_begun = 1'b1;
        n_c = {write || last, last, write, a_c[`VC_KIND] == VK_GET && a_c[`VC_OP] != VG_FMOVE,
            a_c[`VC_KIND] == VK_GET && a_c[`VC_OP] == VG_FMOVE,
               a_sat, a_flags, reg_d, a_tag};
        if (write) inflight = inflight | 32'd1 << reg_d;
        if (last) begin
          a_valid = 1'b0;
          a_reads = 32'd0;
          a_writes = 32'd0;
        end
      end
