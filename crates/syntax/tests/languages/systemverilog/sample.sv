`include "defs.svh"
`define LIMIT 64

// A queue of events.
module queue #(
  parameter int WIDTH = 8
) (
  input logic clk
);
localparam DEPTH = 64;

typedef enum { LOW, HIGH } level_t;

function automatic int weigh(input int a);
  return scale(a);
endfunction

task push(input int item);
  store(item);
endtask

always @(posedge clk) begin
  push(1);
end
endmodule

class Slot;
  extern function int at();
endclass

function automatic [(1 << 3)-1:0] mask;
  input a;
  mask = a;
endfunction
