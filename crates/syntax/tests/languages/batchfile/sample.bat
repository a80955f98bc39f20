@echo off
set TARGET=release

call :build %TARGET%
exit /b 0

rem Builds one target.
:build
cl /O2 main.c
call :clean
exit /b 0

:clean
del *.obj
exit /b 0
