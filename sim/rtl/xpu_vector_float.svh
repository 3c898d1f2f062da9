// Float operations on lanes: R[i] = op(A[i], B[i], D[i]), i < 16 (conversions: i < n), the bits of floats in the low half of
// 64 bits. Part of the clocked block of xpu_vector. Branch-free, see xpu_lanes.svh; flags of active lanes go to n_flags.
// fr_*: one of them is 1, the rounding mode (none: towards zero); fo_p, fo_n: whether what is too large becomes the
// largest number, by sign.
          case (a_c[`VC_OP])
            VO_FMA: begin
              // A * B + C, rounded once; an addition multiplies by 1, a multiplication adds a zero of the product's sign
              fa = {32'd0, a_c[`VC_FMA_NEG], 31'd0}; fb = {32'd0, a_c[`VC_FMA_SUB], 31'd0};
              if (a_c[`VC_FMA_ADD]) begin
                if (a_c[`VC_FMA_SWAP]) begin
                  `LOOP(i, 16) fc = A[i] ^ fb; A[i] = B[i]; C[i] = fc; B[i] = 64'h3f800000; `ENDLOOP(i)
                end else begin
                  `LOOP(i, 16) C[i] = B[i] ^ fb; B[i] = 64'h3f800000; `ENDLOOP(i)
                end
              end else if (a_c[`VC_FMA_MUL]) begin
                `LOOP(i, 16) C[i] = (A[i] ^ B[i]) & 64'h80000000; `ENDLOOP(i)
              end else if (a_c[`VC_FMA_SWAP]) begin
                `LOOP(i, 16) C[i] = A[i] ^ fb; A[i] = D[i] ^ fa; `ENDLOOP(i)
              end else begin
                `LOOP(i, 16) C[i] = D[i] ^ fb; A[i] = A[i] ^ fa; `ENDLOOP(i)
              end
              `VECTOR_FMA
            end
            VO_FSGNJ: begin `LOOP(i, 16) R[i] = (A[i] & 64'h7fffffff) | (B[i] & 64'h80000000); `ENDLOOP(i) end
            VO_FSGNJN: begin `LOOP(i, 16) R[i] = (A[i] & 64'h7fffffff) | (~B[i] & 64'h80000000); `ENDLOOP(i) end
            VO_FSGNJX: begin `LOOP(i, 16) R[i] = A[i] ^ (B[i] & 64'h80000000); `ENDLOOP(i) end
            VO_FMIN, VO_FMAX: begin
              fd = a_c[`VC_OP] == VO_FMAX ? ~64'd0 : 64'd0;
              fs = 64'd0;
              `LOOP(i, 16)
                fa = A[i]; fb = B[i];
                fx = (`FLOAT_KEY(fa) ^ fd) < (`FLOAT_KEY(fb) ^ fd) ? fa : fb;
                fi = `FLOAT_NAN_FLAG(fa); fj = `FLOAT_NAN_FLAG(fb);
                fx = fj != 0 ? fa : fx; fx = fi != 0 ? fb : fx; R[i] = (fi & fj) != 0 ? 64'h7fc00000 : fx;
                fs = fs | (((fi & ~(fa >> 22)) | (fj & ~(fb >> 22))) & (act >> i[5:0]) & 64'd1);
              `ENDLOOP(i)
              n_flags[4] = fs[0];
            end
            VO_FCLASS: begin
              `LOOP(i, 16)
                fa = A[i]; fe = (fa >> 23) & 64'd255; fm = fa & 64'h7fffff;
                fi = fe == 0 ? (fm == 0 ? 64'd8 : 64'd4) : 64'd2; fi = fe == 64'd255 ? 64'd1 : fi;
                fj = fe == 0 ? (fm == 0 ? 64'd16 : 64'd32) : 64'd64; fj = fe == 64'd255 ? 64'd128 : fj;
                fx = (fa >> 31) != 0 ? fi : fj;
                R[i] = `FLOAT_NAN_FLAG(fa) != 0 ? ((fa & 64'h400000) != 0 ? 64'h200 : 64'h100) : fx;
              `ENDLOOP(i)
            end
            VO_FEQ, VO_FNE, VO_FLT, VO_FLE, VO_FGT, VO_FGE: begin
              // quiet NaNs are invalid in order comparisons
              fd = a_c[`VC_OP] == VO_FEQ || a_c[`VC_OP] == VO_FNE ? 64'd0 : 64'd1;
              fw = a_c[`VC_OP] == VO_FLT || a_c[`VC_OP] == VO_FLE || a_c[`VC_OP] == VO_FNE ? 64'd1 : 64'd0; // less
              fe = a_c[`VC_OP] == VO_FGT || a_c[`VC_OP] == VO_FGE || a_c[`VC_OP] == VO_FNE ? 64'd1 : 64'd0; // greater
              fg = a_c[`VC_OP] == VO_FEQ || a_c[`VC_OP] == VO_FLE || a_c[`VC_OP] == VO_FGE ? 64'd1 : 64'd0; // equal
              fh = a_c[`VC_OP] == VO_FNE ? 64'd1 : 64'd0;                                         // not ordered
              fs = 64'd0;
              `LOOP(i, 16)
                fa = A[i]; fb = B[i];
                fm = `FLOAT_NAN_FLAG(fa); fn = `FLOAT_NAN_FLAG(fb);
                fk = fm | fn;
                fx = `FLOAT_KEY(fa); ft = `FLOAT_KEY(fb);
                fc = `FLAG(fx == ft) | `FLAG(((fa | fb) & 64'h7fffffff) == 0);
                fx = (fc & fg) | (~fc & ((`FLAG(fx < ft) & fw) | (`FLAG(fx > ft) & fe)));
                R[i] = (fk & fh) | (fx & ~fk & 64'd1);
                fs = fs | (((fk & fd) | (fm & ~(fa >> 22)) | (fn & ~(fb >> 22))) & (act >> i[5:0]) & 64'd1);
              `ENDLOOP(i)
              n_flags[4] = fs[0];
            end
            VO_TO_INT: begin
              // magnitude with its half bit below; numbers below a quarter keep a sticky bit
              fb = 64'd1 << (bits[5:0] - {5'd0, a_c[`VC_X1]}); // limit: 2^bits or 2^(bits - 1)
              fh = {63'd0, a_c[`VC_X1]}; fs = 64'd0; ft = 64'd0;
              `LOOP_TO(i, n, 32)
                fa = A[i]; fe = (fa >> 23) & 64'd255; fk = `FLOAT_NAN_FLAG(fa);
                fm = ((fa & 64'h7fffff) | 64'h800000) << 39; fm = fe < 64'd126 ? `FLOAT_SOME_FLAG(fa) : fm;
                fg = (fa >> 31) & ~fk & 64'd1;
                fd = fe >= 64'd159 ? 64'd30 : 64'd188 - fe; fd = fe < 64'd126 ? 64'd62 : fd;
                fw = fm >> fd[5:0]; fi = `FLAG((fw << fd[5:0]) != fm); fj = fw & 64'd1; fw = fw >> 1;
                fx = (fr_ne & fj & (fi | fw)) | (fr_mm & fj) | ((fi | fj) & ((fr_up & ~fg) | (fr_dn & fg)));
                fw = fw + (fx & 64'd1);
                fn = (fb & (64'd0 - (fh | (fg ^ 64'd1)))) - ((fg & fh) ^ 64'd1); // the largest magnitude
                fn = (fg & ~fh) != 0 ? 64'd0 : fn;
                fx = `FLAG(fw > fn) | `FLAG(fe >= 64'd159);
                fw = fx != 0 ? fn : fw;
                R[i] = fg != 0 ? 64'd0 - fw : fw;
                fc = (act >> i[5:0]) & 64'd1;
                fs = fs | (fx & fc); ft = ft | ((fi | fj) & ~fx & fc);
              `ENDLOOP(i)
              n_flags[4] = fs[0];
              n_flags[0] = ft[0];
            end
            VO_FROM_INT: begin
              fk = 64'd0;
              `LOOP(i, 16)
                fa = A[i]; fg = fa >> 63; fs = fg != 0 ? 64'd0 - fa : fa; fe = 64'd1213;
                `FLOAT_NORM(fs, fe)
                fj = `FLAG((fs & 64'h3fffffffff) != 0); fi = (fs >> 38) & 64'd1;
                fx = (fr_ne & fi & (fj | (fs >> 39))) | (fr_mm & fi) | ((fi | fj) & ((fr_up & ~fg) | (fr_dn & fg)));
                fx = (fs >> 39) + (fx & 64'd1) + ((fe - 64'd1025) << 23);
                R[i] = fs == 0 ? 64'd0 : (fg << 31) | fx;
                fk = fk | ((fi | fj) & (act >> i[5:0]) & 64'd1);
              `ENDLOOP(i)
              n_flags[0] = fk[0];
            end
            default: ;
          endcase
