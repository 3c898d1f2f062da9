// Weave, a stage of xpu_dma, within its block: of a complete block up to 64 bytes go into the outer ring, in the order of
// the target; where pixels become planes, 16 pixels of a plane.
      if (d_active && v_full != 0 && ro_level <= 9'd128) begin
        slot = d_slot;
        n = 32'd64 >> p_target_size[slot];
        if ({23'd0, v_count[v_empty] - v_at} < n) n = {23'd0, v_count[v_empty] - v_at};
        j = (v_empty ? 16 * PLANES : 0) + {23'd0, v_at}; // what comes behind the block's elements is not used
        if (p_unweave[slot]) begin
          n = v_tail[v_empty] ? {27'd0, p_tail[slot]} : 32'd16; last = {27'd0, p_planes[slot]};
          `LOOP(k, 16) v_plane[k] = v_block[(j+k*last)&(32*PLANES-1)]; `ENDLOOP(k)
          if (p_target_size[slot] == 2'd0) begin
            `LOOP(k, 8)
              a = 0;
              for (i = 0; i < 8; i = i + 1) a = a | (64'(v_plane[(8*k+i)&15]) & 64'hff) << (8 * i);
              packed_words[k] = a;
            `ENDLOOP(k)
          end else if (p_target_size[slot] == 2'd1) begin
            `LOOP(k, 8)
              a = 0;
              for (i = 0; i < 4; i = i + 1) a = a | (64'(v_plane[(4*k+i)&15]) & 64'hffff) << (16 * i);
              packed_words[k] = a;
            `ENDLOOP(k)
          end else begin
            `LOOP(k, 8) packed_words[k] = {v_plane[2*k+1], v_plane[2*k]}; `ENDLOOP(k)
          end
        end else if (p_target_size[slot] == 2'd0) begin
          `LOOP(k, 8)
            a = 0;
            for (i = 0; i < 8; i = i + 1) a = a | (64'(v_block[(j+8*k+i)&(32*PLANES-1)]) & 64'hff) << (8 * i);
            packed_words[k] = a;
          `ENDLOOP(k)
        end else if (p_target_size[slot] == 2'd1) begin
          `LOOP(k, 8)
            a = 0;
            for (i = 0; i < 4; i = i + 1) a = a | (64'(v_block[(j+4*k+i)&(32*PLANES-1)]) & 64'hffff) << (16 * i);
            packed_words[k] = a;
          `ENDLOOP(k)
        end else begin
          `LOOP(k, 8)
            packed_words[k] = {v_block[(j+2*k+1)&(32*PLANES-1)], v_block[(j+2*k)&(32*PLANES-1)]};
          `ENDLOOP(k)
        end
        v_at = v_at + (p_unweave[slot] ? 9'd1 : 9'(n));
        if (v_at == v_count[v_empty]) begin
          v_at = 0; v_empty = !v_empty; v_full = v_full - 1;
        end
        n = n << p_target_size[slot];
        shift = {ro_write[2:0], 3'd0}; keep = (64'd1 << shift) - 1;
        first = {27'd0, ro_write[7:3]};
        a = packed_words[0];
        `SET(ring[32 + first], (ring[32 + first] & keep) | (a << shift));
        `LOOP(k, 8)
          b = k == 7 ? 64'd0 : packed_words[(k+1)&7];
          `SET(ring[32 + ((first + k + 1) & 31)], (b << shift) | ((a >> 1) >> (6'd63 - shift)));
          a = b;
        `ENDLOOP(k)
        ro_write = ro_write + 8'(n); ro_level = ro_level + 9'(n); moved = 1; busy = 1;
      end
