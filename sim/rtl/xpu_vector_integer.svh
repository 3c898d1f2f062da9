// Integer and fixed-point operations on lanes: R[i] = op(A[i], B[i], D[i]), i < n, all two's complement of 64 bits,
// from which the result's width is taken. Part of the clocked block of xpu_vector. bits: the width of an element,
// shifts: what remains of a shift amount, least, most: limits of saturation, with TOP inverted; S: carries, later shift
// amounts; K: all ones where an element is active. Comparisons give 0 or 1.
          case (a_c[`VC_OP])
            VO_ADD: begin `LOOP_TO(i, n, 64) R[i] = A[i] + B[i]; `ENDLOOP(i) end
            VO_SUB: begin `LOOP_TO(i, n, 64) R[i] = A[i] - B[i]; `ENDLOOP(i) end
            VO_RSUB: begin `LOOP_TO(i, n, 64) R[i] = B[i] - A[i]; `ENDLOOP(i) end
            VO_MIN: begin `LOOP_TO(i, n, 64) R[i] = (A[i] ^ TOP) < (B[i] ^ TOP) ? A[i] : B[i]; `ENDLOOP(i) end
            VO_MAX: begin `LOOP_TO(i, n, 64) R[i] = (A[i] ^ TOP) > (B[i] ^ TOP) ? A[i] : B[i]; `ENDLOOP(i) end
            VO_AND: begin `LOOP_TO(i, n, 64) R[i] = A[i] & B[i]; `ENDLOOP(i) end
            VO_OR: begin `LOOP_TO(i, n, 64) R[i] = A[i] | B[i]; `ENDLOOP(i) end
            VO_XOR: begin `LOOP_TO(i, n, 64) R[i] = A[i] ^ B[i]; `ENDLOOP(i) end
            VO_MOVE: begin `LOOP_TO(i, n, 64) R[i] = B[i]; `ENDLOOP(i) end
            VO_EXTEND: begin `LOOP_TO(i, n, 64) R[i] = A[i]; `ENDLOOP(i) end
            VO_MERGE: begin
              `LOOP_TO(i, n, 64) R[i] = A[i] ^ ((A[i] ^ B[i]) & (64'd0 - S[i])); `ENDLOOP(i)
            end
            VO_ADC: begin `LOOP_TO(i, n, 64) R[i] = A[i] + B[i] + S[i]; `ENDLOOP(i) end
            VO_SBC: begin `LOOP_TO(i, n, 64) R[i] = A[i] - B[i] - S[i]; `ENDLOOP(i) end
            VO_MADC: begin
              `LOOP_TO(i, n, 64) R[i] = ((A[i] + B[i] + S[i]) >> bits[5:0]) & 64'd1; `ENDLOOP(i)
            end
            VO_MSBC: begin
              `LOOP_TO(i, n, 64) R[i] = (A[i] - B[i] - S[i]) >> 63; `ENDLOOP(i)
            end
            VO_SLL: begin `LOOP_TO(i, n, 64) fx = B[i] & shifts; R[i] = A[i] << fx[5:0]; `ENDLOOP(i) end
            VO_SHR: begin
              `LOOP_TO(i, n, 64) fx = B[i] & shifts; R[i] = ((A[i] ^ TOP) >> fx[5:0]) - (TOP >> fx[5:0]); `ENDLOOP(i)
            end
            VO_MUL: begin `LOOP_TO(i, n, 64) R[i] = A[i] * B[i]; `ENDLOOP(i) end
            VO_MULH: begin `LOOP_TO(i, n, 64) R[i] = (A[i] * B[i]) >> bits[5:0]; `ENDLOOP(i) end
            VO_MACC: begin `LOOP_TO(i, n, 64) R[i] = D[i] + A[i] * B[i]; `ENDLOOP(i) end
            VO_NMSAC: begin `LOOP_TO(i, n, 64) R[i] = D[i] - A[i] * B[i]; `ENDLOOP(i) end
            VO_MADD: begin `LOOP_TO(i, n, 64) R[i] = A[i] + D[i] * B[i]; `ENDLOOP(i) end
            VO_NMSUB: begin `LOOP_TO(i, n, 64) R[i] = A[i] - D[i] * B[i]; `ENDLOOP(i) end
            VO_SADD, VO_SSUB, VO_SMUL, VO_CLIP, VO_AADD, VO_ASUB, VO_SSHR: begin
              // the exact value and what it is shifted by
              case (a_c[`VC_OP])
                VO_SADD: begin `LOOP_TO(i, n, 64) C[i] = A[i] + B[i]; S[i] = 64'd0; `ENDLOOP(i) end
                VO_SSUB: begin `LOOP_TO(i, n, 64) C[i] = A[i] - B[i]; S[i] = 64'd0; `ENDLOOP(i) end
                VO_AADD: begin `LOOP_TO(i, n, 64) C[i] = A[i] + B[i]; S[i] = 64'd1; `ENDLOOP(i) end
                VO_ASUB: begin `LOOP_TO(i, n, 64) C[i] = A[i] - B[i]; S[i] = 64'd1; `ENDLOOP(i) end
                VO_SMUL: begin `LOOP_TO(i, n, 64) C[i] = A[i] * B[i]; S[i] = bits - 64'd1; `ENDLOOP(i) end
                default: begin `LOOP_TO(i, n, 64) C[i] = A[i]; S[i] = B[i] & shifts; `ENDLOOP(i) end
              endcase
              // rounded as vxrm says: fh the last bit that goes, fi whether others do
              `LOOP_TO(i, n, 64)
                fa = C[i]; fb = S[i];
                fc = ((fa ^ TOP) >> fb[5:0]) - (TOP >> fb[5:0]);
                fd = (64'd1 << fb[5:0]) >> 1;
                fh = `FLAG((fa & fd) != 0);
                fi = `FLAG((fa & (fd - 64'd1) & ~(64'd0 - `FLAG(fd == 0))) != 0);
                fx = (rx_up & fh) | (rx_even & fh & (fi | fc)) | (rx_odd & (fh | fi) & ~fc);
                R[i] = fc + (fx & 64'd1);
              `ENDLOOP(i)
              if (a_c[`VC_OP] != VO_AADD && a_c[`VC_OP] != VO_ASUB && a_c[`VC_OP] != VO_SSHR) begin
                fs = 64'd0;
                `LOOP_TO(i, n, 64)
                  fa = R[i]; fx = (fa ^ TOP) > most ? most ^ TOP : fa; fx = (fa ^ TOP) < least ? least ^ TOP : fx;
                  R[i] = fx; fs = fs | ((fx ^ fa) & K[i]);
                `ENDLOOP(i)
                if (fs != 64'd0) n_sat = 1'b1;
              end
            end
            VO_EQ: begin `LOOP_TO(i, n, 64) R[i] = `FLAG(A[i] == B[i]); `ENDLOOP(i) end
            VO_NE: begin `LOOP_TO(i, n, 64) R[i] = `FLAG(A[i] != B[i]); `ENDLOOP(i) end
            VO_LT: begin `LOOP_TO(i, n, 64) R[i] = `FLAG((A[i] ^ TOP) < (B[i] ^ TOP)); `ENDLOOP(i) end
            VO_LE: begin `LOOP_TO(i, n, 64) R[i] = `FLAG((A[i] ^ TOP) <= (B[i] ^ TOP)); `ENDLOOP(i) end
            VO_GT: begin `LOOP_TO(i, n, 64) R[i] = `FLAG((A[i] ^ TOP) > (B[i] ^ TOP)); `ENDLOOP(i) end
            VO_ID: begin `LOOP_TO(i, n, 64) R[i] = {54'd0, a_e} + {32'd0, i}; `ENDLOOP(i) end
            VO_IOTA: begin
              fs = window2 & (masked ? window0 : ~64'd0);
              // Sums of 1, 2, 4 and so on bits up to each, then of those before it
              fx = 64'd0;
              `LOOP_TO(i, n, 64) R[i] = (fs >> fx[5:0]) & 64'd1; C[i] = R[i]; fx = fx + 64'd1; `ENDLOOP(i)
              for (to = 1; to < 64; to = to * 2) if (to < n) begin
                `LOOP_TO(i, n, 64) B[i] = C[i]; `ENDLOOP(i)
                `LOOP_TO(i, n - to, 64 - to) C[i+to] = B[i+to] + B[i]; `ENDLOOP(i)
              end
              fa = {54'd0, a_sum};
              `LOOP_TO(i, n, 64) R[i] = fa + C[i] - R[i]; `ENDLOOP(i)
              a_sum = a_sum + C[6'(n - 32'd1)][9:0];
            end
            VO_SLIDE_DOWN: begin // what comes from behind the group is 0
              `LOOP_TO(i, n, 64)
                R[i] = A[i] & (64'd0 - `FLAG({22'd0, a_e} + i + {21'd0, offset} < {22'd0, a_most}));
              `ENDLOOP(i)
            end
            VO_SLIDE_UP: begin `LOOP_TO(i, n, 64) R[i] = A[i]; `ENDLOOP(i) end
            VO_SLIDE1_UP: begin
              `LOOP_TO(i, n, 64) R[i] = A[i]; `ENDLOOP(i)
              if (a_e == 10'd0) R[0] = {32'd0, a_s};
            end
            VO_SLIDE1_DOWN: begin
              `LOOP_TO(i, n, 64) R[i] = {22'd0, a_e} + i + 32'd1 == {22'd0, a_vl} ? {32'd0, a_s} : A[i]; `ENDLOOP(i)
            end
            default: ;
          endcase
