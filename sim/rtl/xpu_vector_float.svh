// Float operations on lanes that do not round, and conversions to 16 bits: R[i] = op(A[i], B[i]), i < 16 (conversions:
// i < n), the bits of floats in the low half of 64 bits. Part of the clocked block of xpu_vector; flags of active
// lanes go to n_flags. fr_*: one of them is 1, the rounding mode (none: towards zero).
          case (a_c[`VC_OP])
            VO_FSGNJ: begin `LOOP(i, 16) R[i] = (A[i] & 64'h7fffffff) | (B[i] & 64'h80000000); `ENDLOOP(i) end
            VO_FSGNJN: begin `LOOP(i, 16) R[i] = (A[i] & 64'h7fffffff) | (~B[i] & 64'h80000000); `ENDLOOP(i) end
            VO_FSGNJX: begin `LOOP(i, 16) R[i] = A[i] ^ (B[i] & 64'h80000000); `ENDLOOP(i) end
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
                fs = fs | (((fk & fd) | (fm & ~(fa >> 22)) | (fn & ~(fb >> 22))) & K[i] & 64'd1);
              `ENDLOOP(i)
              n_flags[4] = fs[0];
            end
            VO_TO_INT: begin // of 16 bits
              fb = 64'd1 << (bits[5:0] - {5'd0, a_c[`VC_X1]}); // the limit
              fh = {63'd0, a_c[`VC_X1]}; fs = 64'd0; ft = 64'd0;
              `LOOP_TO(i, n, 32)
                fa = A[i];
                `VECTOR_TO_INT
                R[i] = fg != 0 ? 64'd0 - fw : fw;
                fc = K[i] & 64'd1;
                fs = fs | (fx & fc); ft = ft | ((fi | fj) & ~fx & fc);
              `ENDLOOP(i)
              n_flags[4] = fs[0];
              n_flags[0] = ft[0];
            end
            default: ;
          endcase
