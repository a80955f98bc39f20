dnl Checks for the relay.
AC_DEFUN([RELAY_CHECK], [
  AC_CHECK_LIB([relay], [relay_push])
])

m4_define([relay_version], [1.0])
