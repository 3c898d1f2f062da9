// The load and store pipe: one request, one answer a cycle. Part of the clocked block of xpu_vector.
      if (waits && vm_ready) begin
        waits = 1'b0;
        active = 1'b1;
      end
      if (m_valid && !m_asked && !waits && f_count != 3'd4 && (f_count == 3'd0 || !m_far)) begin
        probe = 1'b0;
        skips = 1'b0;
        asks = 1'b1;
        e = m_e;
        at = 0;
        last = 1'b0;
        // What others have still to read (reads) or write (hazards)
        hazards = inflight;
        reads = 32'd0;
        if (a_valid && !m_older) begin
          hazards = hazards | a_writes;
          reads = a_reads;
        end
        if (((m_masked ? 32'd1 : 32'd0) & hazards) != 32'd0) begin
          asks = 1'b0;
        end else if (m_units) begin
          line_at = {2'd0, m_rd, 6'd0} + m_p;
          address = m_base + {{19{m_p[12]}}, m_p};
          // bytes `from` to `to` - 1 of the line
          from = {22'd0, m_vstart} << m_eew;
          to = {22'd0, m_vl} << m_eew;
          from = from - {{19{m_p[12]}}, m_p};
          if (from[31]) from = 0;
          to = to - {{19{m_p[12]}}, m_p};
          last = to <= 64;
          line_mask = ~64'd0 << from[5:0];
          if (to < 64) line_mask = line_mask & ~(~64'd0 << to[5:0]);
          if (m_masked) begin
            count = m_p[9:0]; // first element of the line
            count = $unsigned($signed(count) >>> m_eew);
            if (m_p[12]) begin
              window0 = {v_q[0][1], v_q[0][0]} << (7'd0 - count[6:0]);
            end else begin
              at = {27'd0, count[9:5]};
              shift = count[4:0];
              window0 = {`WORD(at + 1), `WORD(at)} >> shift;
              if (shift != 5'd0) window0 = window0 | {32'd0, `WORD(at + 2)} << (7'd64 - {2'd0, shift});
            end
            line_mask = line_mask & spread(window0, m_eew);
          end
          at = to > 64 ? {19'd0, line_at} + 63 : {19'd0, line_at} + to - 1;
          touched = register_range(m_p[12] ? m_rd : line_at[10:6], at[10:6]);
          if (line_mask == 64'd0) begin
            asks = 1'b0;
            active = 1'b1;
            m_p = m_p + 13'd64;
            m_asked = last;
          end
        end else begin
          last = m_f == m_fields;
          address = m_address;
          if (m_indexed) begin
            to = {22'd0, e} << m_ieew;
            fx = extended(`WORD({23'd0, m_rs2, 4'd0} + (to >> 2)) >> {to[1:0], 3'd0}, m_ieew, 1'b0);
            address = m_base + fx[31:0];
            if ((hazards & register_range(m_rs2, last_register(m_rs2, m_vl, {1'b0, m_ieew}))) != 32'd0) asks = 1'b0;
          end
          address = address + ({29'd0, m_f} << m_eew);
          from = (({27'd0, m_rd} + ({29'd0, m_f} << m_group)) << 6) + ({22'd0, e} << m_eew);
          line_at = from[12:0] - {7'd0, address[5:0]};
          touched = 32'd1 << from[10:6];
          line_mask = ~(~64'd0 << (7'd1 << m_eew)) << address[5:0];
          if ((address & ((32'd1 << m_eew) - 32'd1)) != 32'd0) begin
            probe = 1'b1;
            line_mask = 64'd0;
          end
          skips = m_masked && !v_q[0][e[8:5]][e[4:0]];
          if (skips) begin
            asks = 1'b0;
            last = 1'b1;
            active = 1'b1;
          end
        end
        if ((touched & (hazards | (m_store ? 32'd0 : reads))) != 32'd0) asks = 1'b0;
        in_lm = address[31:20] == xpu_chip_pkg::LM_BASE[31:20] && {12'd0, address[19:0]} < LM_BYTES;
        if (!in_lm && f_count != 3'd0) asks = 1'b0;
        if (asks) begin
          active = 1'b1;
          waits = 1'b1;
          m_far = !in_lm || probe;
          vm_write <= m_store && !probe;
          vm_address <= address;
          vm_mask <= line_mask;
          if (m_store) begin
            at = {{21{line_at[12]}}, line_at[12:2]};
            shift = {line_at[1:0], 3'd0};
            from_reg = at[8:4];
            if (line_at[5:0] == 6'd0) begin
              `LOOP(i, 16) L[i] = v_q[from_reg][i]; `ENDLOOP(i)
            end else begin
              `LOOP(i, 16) L[i] = `WORD(at + i) >> shift; `ENDLOOP(i)
            end
            if (shift != 5'd0) begin
              `LOOP(i, 16) L[i] = L[i] | `WORD(at + i + 1) << (6'd32 - {1'b0, shift}); `ENDLOOP(i)
            end
            for (int unsigned k = 0; k < 16; k = k + 1) wide[32 * k +: 32] = L[k];
            vm_wdata <= wide;
          end
          f_at[f_count[1:0]] = line_at;
          f_mask[f_count[1:0]] = line_mask;
          f_e[f_count[1:0]] = e;
          f_address[f_count[1:0]] = address;
          f_count = f_count + 3'd1;
          if (probe) m_asked = 1'b1;
        end
        if (m_units) begin
          if (asks) begin
            m_p = m_p + 13'd64;
            m_asked = last;
            to = ({19'd0, line_at} + 64) >> 6;
            if (m_store) m_reads = (m_reads & (~32'd0 << to[5:0])) | {31'd0, m_masked};
          end
        end else if (asks || skips) begin
          m_f = last ? 3'd0 : m_f + 3'd1;
          if (last) begin
            m_e = m_e + 10'd1;
            m_address = m_address + m_stride;
            if (m_e >= m_vl) m_asked = 1'b1;
          end
        end
      end
      // ---- An answer ----
      if (vm_done && f_count != 3'd0) begin
        active = 1'b1;
        line_at = f_at[0];
        line_mask = f_mask[0];
        address = f_address[0];
        if (vm_error || line_mask == 64'd0) begin
          m_asked = 1'b1;
          e = f_e[0];
          if (m_units) begin // the first byte that counts
            offset = 11'd0;
            fx = line_mask;
            if (fx[31:0] == 32'd0) begin fx = fx >> 32; offset = offset + 11'd32; end
            if (fx[15:0] == 16'd0) begin fx = fx >> 16; offset = offset + 11'd16; end
            if (fx[7:0] == 8'd0) begin fx = fx >> 8; offset = offset + 11'd8; end
            if (fx[3:0] == 4'd0) begin fx = fx >> 4; offset = offset + 11'd4; end
            if (fx[1:0] == 2'd0) begin fx = fx >> 2; offset = offset + 11'd2; end
            if (!fx[0]) offset = offset + 11'd1;
            address = address + {21'd0, offset};
            line_at = line_at + {2'd0, offset} - {2'd0, m_rd, 6'd0};
            e = line_at[9:0] >> m_eew;
          end
          if (m_first && e != 10'd0) begin
            m_stopped = 1'b1;
            m_new_vl = e;
          end else begin
            m_fault = 1'b1;
            m_cause = vm_error ? xpu_chip_pkg::FAULT_ADDRESS : xpu_chip_pkg::FAULT_MISALIGNED;
            m_fault_address = m_whole ? m_base + ({22'd0, m_vstart} << m_eew) : address;
          end
        end else if (!m_store) begin
          if (m_units) begin
            for (int unsigned k = 0; k < 16; k = k + 1) L[k + 1] = vm_rdata[32 * k +: 32];
            at = {{21{line_at[12]}}, line_at[12:2]};
            shift = {line_at[1:0], 3'd0};
            from_reg = at[8:4];
            if (line_mask == ~64'd0 && line_at[5:0] == 6'd0) begin
              `LOOP(i, 16) `SET(v_q[from_reg][i], L[i + 1]); `ENDLOOP(i)
            end else begin
              L[0] = 32'd0;
              L[17] = 32'd0;
              if (shift != 5'd0) begin
                `LOOP(i, 17) S[i] = {32'd0, L[i + 1] << shift | L[i] >> (6'd32 - {1'b0, shift})}; `ENDLOOP(i)
              end else begin
                `LOOP(i, 17) S[i] = {32'd0, L[i + 1]}; `ENDLOOP(i)
              end
              // bytes of the mask that reach word i: bits 4 * i - (0 to 3) to 4 * i + 3
              fa = line_mask << line_at[1:0];
              fb = line_at[1:0] == 2'd0 ? 64'd0 : line_mask >> (7'd64 - {5'd0, line_at[1:0]});
              `LOOP(i, 17)
                fx = i == 16 ? fb : fa >> {i[3:0], 2'd0};
                w = byte_mask(fx[3:0]);
                if (w != 32'd0) `SET(`WORD(at + i), (`WORD(at + i) & ~w) | (S[i][31:0] & w));
              `ENDLOOP(i)
            end
            to = ({19'd0, line_at} + 64) >> 6;
            m_writes = m_writes & (~32'd0 << to[5:0]);
          end else begin
            line_at = line_at + {7'd0, address[5:0]};
            w = m_eew == 2'd2 ? ~32'd0 : m_eew == 2'd1 ? 32'hffff : 32'hff;
            word = (vm_rdata[{address[5:2], 5'd0} +: 32] >> {address[1:0], 3'd0}) & w;
            shift = {line_at[1:0], 3'd0};
            at = {23'd0, line_at[10:2]};
            `SET(`WORD(at), (`WORD(at) & ~(w << shift)) | (word << shift));
          end
        end
        `LOOP(i, 3)
          f_at[i] = f_at[i + 1];
          f_mask[i] = f_mask[i + 1];
          f_e[i] = f_e[i + 1];
          f_address[i] = f_address[i + 1];
        `ENDLOOP(i)
        f_count = f_count - 3'd1;
      end
