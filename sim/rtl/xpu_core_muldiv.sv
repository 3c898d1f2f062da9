// xpu_core_muldiv: integer multiplication and division of the scalar core.
//   Latency, from issue to issue of a user: a product 3 cycles, a quotient or remainder 2 + (8, 16, 24 or 32, by the
//   bytes of the dividend) cycles. Throughput: one product a cycle, one division at a time beside them.
//   Back-pressure: none; the core starts no second division before done_divide. A finished division waits for a cycle
//   without a product.
module xpu_core_muldiv (
  input  logic        clk,
  input  logic        rst,
  input  logic        valid,
  input  logic [2:0]  op,          // funct3
  input  logic [31:0] a,
  input  logic [31:0] b,
  input  logic [5:0]  rd,
  input  logic [3:0]  tag,
  output logic        done,
  output logic        done_divide,
  output logic [31:0] result,
  output logic [5:0]  result_rd,
  output logic [3:0]  result_tag
);
  logic        m_valid_q, m_high_q;
  logic [63:0] m_product_q;
  logic [5:0]  m_rd_q;
  logic [3:0]  m_tag_q;
  logic        d_busy_q, d_negative_q, d_rest_q;
  logic [5:0]  d_count_q;
  logic [31:0] d_quotient_q, d_divisor_q;
  logic [31:0] d_remainder_q;
  logic [5:0]  d_rd_q;
  logic [3:0]  d_tag_q;

  // Later steps stand first, so each sees what the one before had.
  logic        done_q; // what `done` shows
  always_ff @(posedge clk) begin : p_muldiv
    logic [63:0] x, y;
    logic [31:0] value;
    logic [32:0] difference;
    x = 64'd0; y = 64'd0; value = 32'd0; difference = 33'd0;
    if (rst) begin
      m_valid_q = 1'b0;
      d_busy_q = 1'b0;
      done_q = 1'b0;
      done <= 1'b0;
      done_divide <= 1'b0;
    end else if (valid || m_valid_q || d_busy_q || done_q) begin
      done <= m_valid_q;
      done_q = m_valid_q;
      done_divide <= 1'b0;
      if (m_valid_q) begin
        result <= m_high_q ? m_product_q[63:32] : m_product_q[31:0];
        result_rd <= m_rd_q;
        result_tag <= m_tag_q;
      end
      if (d_busy_q) begin
        if (d_count_q != 6'd0) begin
          difference = {d_remainder_q, d_quotient_q[31]} - {1'b0, d_divisor_q};
          d_remainder_q = difference[32] ? {d_remainder_q[30:0], d_quotient_q[31]} : difference[31:0];
          d_quotient_q = {d_quotient_q[30:0], !difference[32]};
          d_count_q = d_count_q - 6'd1;
        end
        if (d_count_q == 6'd0 && !m_valid_q) begin
          value = d_rest_q ? d_remainder_q : d_quotient_q;
          done <= 1'b1;
          done_q = 1'b1;
          done_divide <= 1'b1;
          result <= d_negative_q ? ~value + 32'd1 : value;
          result_rd <= d_rd_q;
          result_tag <= d_tag_q;
          d_busy_q = 1'b0;
        end
      end
      m_valid_q = valid && !op[2];
      if (m_valid_q) begin
        x = {{32{a[31] && op[1:0] != 2'd3}}, a};
        y = {{32{b[31] && !op[1]}}, b};
        m_product_q = x * y;
        m_high_q = op[1:0] != 2'd0;
        m_rd_q = rd;
        m_tag_q = tag;
      end
      if (valid && op[2]) begin
        d_busy_q = 1'b1;
        d_rest_q = op[1];
        d_negative_q = !op[0] && (op[1] ? a[31] : a[31] != b[31] && b != 32'd0);
        d_divisor_q = !op[0] && b[31] ? ~b + 32'd1 : b;
        d_quotient_q = !op[0] && a[31] ? ~a + 32'd1 : a;
        d_remainder_q = 32'd0;
        d_count_q = 6'd32;
        // leading zero bytes of the dividend give zero bits, but not where the divisor is 0
        if (d_quotient_q[31:8] == 24'd0 && b != 32'd0) begin
          d_count_q = 6'd8;
          d_quotient_q = d_quotient_q << 24;
        end else if (d_quotient_q[31:16] == 16'd0 && b != 32'd0) begin
          d_count_q = 6'd16;
          d_quotient_q = d_quotient_q << 16;
        end else if (d_quotient_q[31:24] == 8'd0 && b != 32'd0) begin
          d_count_q = 6'd24;
          d_quotient_q = d_quotient_q << 8;
        end
        d_rd_q = rd;
        d_tag_q = tag;
      end
    end
  end
endmodule
