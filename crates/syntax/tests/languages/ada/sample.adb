with Ada.Text_IO;

--  Buffers of the relay.
package body Ring is

   Size : constant Integer := 64;

   type Slot is range 0 .. 63;

   --  Puts an item at the end.
   procedure Push (Item : Integer) is
   begin
      if Item > 0 then
         Store (Item);
      end if;
   end Push;

   function Length return Integer;

   function Is_Empty return Boolean is
   begin
      return Length = 0;
   end Is_Empty;

   package Bytes renames Ada.Streams;

end Ring;
