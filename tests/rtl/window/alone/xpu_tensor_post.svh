// In place of the post-processor where the window engine is measured without it: takes each result in the cycle after it
// has come, and a descriptor is done with its last one.
  logic [31:0] p_left[4];   // results of a descriptor
  logic [2:0] p_write, p_start, p_setup;
  logic drained, post_busy;
  logic [3:0] failed;
  logic [31:0] failed_at;

  task automatic step_post;
    int unsigned k;
    logic [31:0] groups;
    k = 0; groups = 0;
    if (rst) begin
      p_write = 0; p_start = 0; p_setup = 0; drained = 0; post_busy = 0; failed = NO_FAULT; failed_at = 0;
      s_valid <= 0; s_address <= 0; y_valid <= 0; y_address <= 0; y_mask <= 0;
    end else begin
      drained = 0;
      if (q_read != q_write) begin
        for (k = 0; k < 16; k = k + 1) y_wdata[k*32+:32] <= low[q_read[1:0]][k&(COLUMNS-1)];
        q_read = q_read + 1; p_left[p_setup[1:0]] = p_left[p_setup[1:0]] - 1;
        if (p_left[p_setup[1:0]] == 0) begin
          drained = 1; p_setup = p_setup + 1;
        end
      end
      p_start = p_write;
      if (taken) begin
        groups = (32'(in.columns) + COLUMNS - 1) / COLUMNS;
        p_left[p_write[1:0]] = 32'(in.oh) * 32'(in.ow) * groups; p_write = p_write + 1;
      end
    end
  endtask
