library ieee;
use ieee.std_logic_1164.all;

-- A queue of events.
entity queue is
  port (clk : in std_logic);
end entity queue;

architecture rtl of queue is
  constant DEPTH : integer := 64;
  type level is (low, high);

  function weigh(a : integer) return integer is
  begin
    return scale(a);
  end function;
begin
  work : process (clk)
  begin
    if rising_edge(clk) then
      count <= weigh(1);
    end if;
  end process;
end architecture;

package body weights is
 function weigh_all (
    a : integer;
    b : integer)
    return integer is
  begin
    return scale(a);
  end function weigh_all;

  function weigh_mean (a : integer) return integer is
  begin
    return scale(a);
  end function weigh_mean;
end package body weights;
