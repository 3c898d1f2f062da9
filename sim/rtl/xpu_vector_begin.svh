// The oldest instruction of the queue begins in its pipe. Part of the clocked block of xpu_vector.
      if (q_count != 2'd0 && !dead && (q_insn[0][6] ? !a_valid : !m_valid)) begin
        active = 1'b1;
        rest = q_rest[0];
        word = q_insn[0];
        c = vector_decode(word, rest[18:17]);
        // elements of a group, registers of a group of each width
        count = rest[16] ? (10'd64 >> rest[18:17]) >> (3'd0 - rest[16:14]) : (10'd64 >> rest[18:17]) << rest[15:14];
        if (word[6]) begin
          a_valid = 1'b1;
          a_hold = 1'b0;
          a_begun = 1'b0;
          a_c = c;
          a_tag = rest[32:29];
          a_rd = word[11:7];
          a_rs1 = word[19:15];
          a_rs2 = word[24:20];
          a_sew = rest[18:17];
          a_s = word[14:12] == 3'd3 ? {{27{word[19] && !c[`VC_IMMEDIATE]}}, word[19:15]} : q_x1[0];
          a_y = extended(a_s, a_sew, c[`VC_X1]);
          a_vl = rest[28:19];
          a_vstart = {1'b0, rest[13:5]};
          a_frm = rest[4:2];
          a_vxrm = rest[1:0];
          a_most = count;
          if (c[`VC_FORM] == VF_WHOLE) begin
            a_vl = ({5'd0, a_rs1} + 10'd1) << 6 >> a_sew;
            count = a_vl;
          end
          if (c[`VC_SCALAR]) begin
            a_vl = a_vstart < a_vl ? 10'd1 : 10'd0;
            a_vstart = 10'd0;
            count = 10'd1;
          end
          a_zero = !word[25];
          a_masked = a_zero && !c[`VC_CARRY];
          a_n = 10'd64 >> (c[`VC_TO_MASK] ? {1'b0, a_sew} : c[`VC_KIND] == VK_REDUCE ? c[`VC_W2] : c[`VC_WD]);
          a_e = 10'd0;
          a_next = 10'd0;
          a_sum = 10'd0;
          a_flags = 5'd0;
          a_sat = 1'b0;
          a_lanes = c[`VC_KIND] == VK_REDUCE || (c[`VC_KIND] == VK_LANES && (c[`VC_IS_FLOAT]
                    || (c[`VC_OP] >= VO_SADD && c[`VC_OP] <= VO_CLIP)));
          a_float = c[`VC_KIND] == VK_LANES && c[`VC_IS_FLOAT] &&
                    (c[`VC_OP] == VO_FMA || c[`VC_OP] == VO_FMIN || c[`VC_OP] == VO_FMAX || c[`VC_OP] == VO_FROM_INT ||
                     (c[`VC_OP] == VO_TO_INT && !c[`VC_NARROW]));
          if (a_float) a_lanes = 1'b0;
          a_reads = {31'd0, a_zero};
          if (c[`VC_R2])
            a_reads = a_reads | register_range(a_rs2, c[`VC_KIND] == VK_MASK || c[`VC_KIND] == VK_GET ||
                c[`VC_FORM] == VF_IOTA
                                                          ? a_rs2 : last_register(a_rs2, count, c[`VC_W2]));
          if (c[`VC_R1])
            a_reads = a_reads | register_range(a_rs1, c[`VC_KIND] == VK_MASK || c[`VC_FORM] == VF_REDUCE ||
                c[`VC_FORM] == VF_COMPRESS
                                                          ? a_rs1 : last_register(a_rs1, count, c[`VC_W1]));
          a_writes = 32'd0;
          if (c[`VC_KIND] != VK_GET && a_vl > a_vstart) begin
            a_writes = register_range(a_rd, c[`VC_TO_MASK] || c[`VC_KIND] == VK_MASK || c[`VC_FORM] == VF_REDUCE
                                                ? a_rd : last_register(a_rd, count, c[`VC_WD]));
          end
          touched = a_writes;
          m_older = m_valid;
        end else begin
          m_valid = 1'b1;
          m_older = 1'b0;
          m_store = word[5];
          m_masked = !word[25];
          m_tag = rest[32:29];
          m_rd = word[11:7];
          m_rs2 = word[24:20];
          m_eew = c[`VC_WD_LOW];
          m_ieew = c[`VC_W1_LOW];
          m_indexed = word[26];
          m_fields = word[31:29];
          m_units = word[27:26] == 2'd0 && m_fields == 3'd0;
          m_first = word[27:26] == 2'd0 && word[24:20] == 5'h10;
          m_base = q_x1[0];
          m_vl = rest[28:19];
          m_vstart = {1'b0, rest[13:5]};
          m_whole = 1'b0;
          count = (count << m_eew) >> 6; // registers of a field
          m_group = count[3] ? 2'd3 : count[2] ? 2'd2 : count[1] ? 2'd1 : 2'd0;
          m_stride = word[27] ? q_x2[0] : ({29'd0, m_fields} + 32'd1) << m_eew;
          if (c[`VC_FORM] == VF_WHOLE) begin
            m_whole = 1'b1;
            m_units = 1'b1;
            m_vl = ({7'd0, m_fields} + 10'd1) << 6 >> m_eew;
            m_stride = 32'd1 << m_eew;
            m_group = 2'd0;
          end
          if (c[`VC_FORM] == VF_ANY) begin
            m_whole = 1'b1;
            m_vl = (m_vl + 10'd7) >> 3;
            m_group = 2'd0;
          end
          touched = register_range(m_rd, m_rd + (({2'd0, m_fields} + 5'd1) << m_group) - 5'd1);
          if (m_whole && c[`VC_FORM] == VF_WHOLE) m_fields = 3'd0;
          if ((m_base & ((32'd1 << m_eew) - 32'd1)) != 32'd0) m_units = 1'b0; // a fault, if it accesses anything
          m_asked = m_vstart >= m_vl;
          if (m_asked) touched = 32'd0;
          m_writes = m_store ? 32'd0 : touched;
          m_reads = (m_store ? touched : 32'd0) | {31'd0, m_masked};
          if (m_indexed) m_reads = m_reads | register_range(m_rs2, last_register(m_rs2, rest[28:19], c[`VC_W1]));
          m_address = m_base + {22'd0, m_vstart} * m_stride;
          word = m_base + ({22'd0, m_vstart} << m_eew);
          word = {word[31:6], 6'd0} - m_base;
          m_p = word[12:0];
          m_e = m_vstart;
          m_f = 3'd0;
          m_far = 1'b0;
          m_stopped = 1'b0;
          m_fault = 1'b0;
          touched = m_writes;
        end
        for (int unsigned k = 0; k < 32; k = k + 1) if (touched[k]) writer_q[k] = rest[32:29];
        q_insn[0] = q_insn[1];
        q_x1[0] = q_x1[1];
        q_x2[0] = q_x2[1];
        q_rest[0] = q_rest[1];
        q_count = q_count - 2'd1;
      end
