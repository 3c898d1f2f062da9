// One element of a division, square root, gather, compress or float reduction. Part of the clocked block of xpu_vector.
            // Element a_e of vs2 and vs1 (for a gather the index), whether it is active
            e = a_e;
            masked = a_masked && window0[0] == 1'b0; // window0 begins with this element
            single = write && e >= a_vstart && !masked;
            last = e + 10'd1 >= a_vl;
            lane = a_n[6] ? e[5:0] : a_n[5] ? {1'b0, e[4:0]} : {2'd0, e[3:0]};
            reg_d = a_rd;
            if (a_c[`VC_FORM] == VF_COMPRESS) begin
              single = write && v_q[a_rs1][e[8:5]][e[4:0]];
              lane = a_n[6] ? a_next[5:0] : a_n[5] ? {1'b0, a_next[4:0]} : {2'd0, a_next[3:0]};
              reg_d = a_rd + {1'b0, elements_register(a_next, a_c[`VC_WD])};
            end else if (a_c[`VC_FORM] != VF_REDUCE) begin
              reg_d = a_rd + {1'b0, elements_register(e, a_c[`VC_WD])};
            end
            if (lane == 6'd0 && a_c[`VC_FORM] != VF_REDUCE) begin
              `LOOP(i, 16) M[i] = v_q[reg_d][i]; `ENDLOOP(i)
            end
            word = a_s;
            if (a_c[`VC_R1] && a_c[`VC_FORM] != VF_COMPRESS && a_c[`VC_FORM] != VF_REDUCE) begin
              to = {22'd0, e} << a_c[`VC_W1];
              fx = extended(`WORD({23'd0, a_rs1, 4'd0} + (to >> 2)) >> {to[1:0], 3'd0}, a_c[`VC_W1_LOW], a_c[`VC_X1]);
              word = fx[31:0];
            end else begin
              fx = extended(a_s, a_sew, a_c[`VC_X1]);
            end
            fb = fx;
            to = {22'd0, e};
            if (a_c[`VC_OP] == VS_GATHER) to = word;
            full = a_c[`VC_OP] == VS_GATHER && to >= {22'd0, a_most}; // beyond the group: 0
            to = (to & 32'd1023) << a_c[`VC_W2];
            fa = extended(`WORD({23'd0, a_rs2, 4'd0} + (to >> 2)) >> {to[1:0], 3'd0}, a_c[`VC_W2_LOW], a_c[`VC_X2]);
            if (full) fa = 64'd0;
            if (single) begin
              case (a_c[`VC_OP])
                VS_DIV: fx = divide(fa, fb, 1'b0);
                VS_REM: fx = divide(fa, fb, 1'b1);
                VS_FDIV: {n_flags, fx[31:0]} = float_divide(fa[31:0], fb[31:0], a_frm);
                VS_FRDIV: {n_flags, fx[31:0]} = float_divide(fb[31:0], fa[31:0], a_frm);
                VS_FSQRT: {n_flags, fx[31:0]} = float_root(fa[31:0], a_frm);
                VS_FREC7: {n_flags, fx[31:0]} = float_reciprocal7(fa[31:0], a_frm);
                VS_FRSQRT7: {n_flags, fx[31:0]} = float_root_reciprocal7(fa[31:0]);
                default: fx = fa;
              endcase
              word = fx[31:0];
              case (a_c[`VC_WD_LOW])
                2'd2: M[lane[3:0]] = word;
                2'd1: M[lane[4:1]][{lane[0], 4'd0} +: 16] = word[15:0];
                default: M[lane[5:2]][{lane[1:0], 3'd0} +: 8] = word[7:0];
              endcase
            end
            if (a_c[`VC_FORM] == VF_REDUCE) begin
              if (e == 10'd0) a_acc = {32'd0, v_q[a_rs1][0]};
              if (single && a_c[`VC_OP] == VS_FREDSUM) begin
                {n_flags, word} = float_add(a_acc[31:0], fa[31:0], a_frm);
                a_acc = {32'd0, word};
              end else if (single) begin
                {n_flags, word} = float_extreme(a_acc[31:0], fa[31:0], a_c[`VC_OP] == VS_FREDMAX);
                a_acc = {32'd0, word};
              end
              `LOOP(i, 16) O[i] = v_q[a_rd][i]; `ENDLOOP(i)
              O[0] = a_acc[31:0];
              write = write && last;
            end else begin
              `LOOP(i, 16) O[i] = M[i]; `ENDLOOP(i)
              if (a_c[`VC_FORM] == VF_COMPRESS) begin
                if (single) a_next = a_next + 10'd1;
                write = write && ((single && {26'd0, lane} + 1 == n) || (last && (single || lane != 6'd0)));
              end else begin
                write = write && ({26'd0, lane} + 1 == n || last);
              end
            end
            a_e = a_e + 10'd1;
