module relay
use iso_c_binding
implicit none
integer, parameter :: limit = 64

type :: event
  integer :: size
end type event

contains

! Adds an event.
subroutine push(queue, item)
integer :: queue(:), item
if (item > 0) then
call check(item)
end if
end subroutine push

pure integer function total(queue)
integer, intent(in) :: queue(:)
total = weigh(queue)
end function total

end module relay

program main
call start(1)
end program main
