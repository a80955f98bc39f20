project(relay VERSION 1.0)
find_package(Threads REQUIRED)

option(RELAY_TESTS "Build the tests" ON)
set(RELAY_SOURCES
  main.cpp
  queue.cpp
)

# Adds a tool with its tests.
function(relay_add_tool name)
  add_executable(${name} ${ARGN})
  relay_warnings(${name})
endfunction()

macro(relay_warnings target)
  target_compile_options(${target} PRIVATE -Wall)
endmacro()

add_library(relay_core STATIC ${RELAY_SOURCES})
relay_add_tool(relayd main.cpp)
