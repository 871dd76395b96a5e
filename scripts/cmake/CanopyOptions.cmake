# Switches of the build, and the compiler flags that every target of the project shares.

# Off in a project that embeds this one.
option(CANOPY_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(CANOPY_STYLE_CHECKS "Run the style checks with the tests" ON)
option(CANOPY_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
option(CANOPY_FUZZERS "Build the libFuzzer targets (clang only)" OFF)
option(CANOPY_COVERAGE "Instrument for gcov" OFF)
set(CANOPY_SANITIZE "" CACHE STRING "Sanitizers, separated by commas: address,undefined or thread")

find_program(CANOPY_CCACHE ccache)
mark_as_advanced(CANOPY_CCACHE)
if(CANOPY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What ccache's manual asks for where headers are precompiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CANOPY_CCACHE})
endif()

# A link takes a sixth of the time that it takes by binutils' linker.
find_program(CANOPY_LLD ld.lld)
mark_as_advanced(CANOPY_LLD)
if(CANOPY_LLD)
  add_link_options(-fuse-ld=lld)
endif()

# canopy_options: language-wide flags. canopy_warnings: only for code written by hand.
add_library(canopy_options INTERFACE)
add_library(canopy_warnings INTERFACE)

target_compile_features(canopy_options INTERFACE cxx_std_20)
# The simulator's trace must not depend on the compiler: no contraction of a*b+c.
target_compile_options(canopy_options INTERFACE -ffp-contract=off)
target_compile_definitions(canopy_options INTERFACE CANOPY_VERSION="${PROJECT_VERSION}")
find_package(Threads REQUIRED)
target_link_libraries(canopy_options INTERFACE Threads::Threads)

# ccache's other wish: a hash of what is precompiled must be all that differs.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(canopy_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
else()
  target_compile_options(canopy_options INTERFACE -fpch-preprocess)
endif()

target_compile_options(canopy_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Woverloaded-virtual -Wold-style-cast
  -Wcast-qual -Wformat=2 -Wundef -Wextra-semi)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 finds -Wrestrict, -Warray-bounds and -Wstringop-overflow in std::string,
  # -Wmaybe-uninitialized in std::variant and std::optional, where nothing is wrong.
  target_compile_options(canopy_warnings INTERFACE
    -Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wno-restrict -Wno-array-bounds
    -Wno-stringop-overflow -Wno-maybe-uninitialized)
endif()
if(CMAKE_UNITY_BUILD)
  # Warns of types in anonymous namespaces in any file that is included, and here all are.
  target_compile_options(canopy_warnings INTERFACE -Wno-subobject-linkage)
endif()
if(CANOPY_WERROR)
  target_compile_options(canopy_warnings INTERFACE -Werror)
endif()

if(CANOPY_SANITIZE)
  target_compile_options(canopy_options INTERFACE
    -fsanitize=${CANOPY_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(canopy_options INTERFACE -fsanitize=${CANOPY_SANITIZE})
  if(CANOPY_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Asio has fences, which ThreadSanitizer does not see; locks order the same things.
    target_compile_options(canopy_options INTERFACE -Wno-tsan)
  endif()
  if(CANOPY_SANITIZE MATCHES "undefined")
    # The check of vptrs opens a pipe to find out what it may read: in a process that is out of
    # descriptors, as some tests are, it condemns everything.
    target_compile_options(canopy_options INTERFACE -fno-sanitize-recover=all -fno-sanitize=vptr)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      target_compile_options(canopy_options INTERFACE -fno-sanitize=function)
      target_link_options(canopy_options INTERFACE -fno-sanitize=function)
    endif()
  endif()
endif()

if(CANOPY_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "CANOPY_FUZZERS needs clang++: use the preset fuzz")
  endif()
  target_compile_options(canopy_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(CANOPY_COVERAGE)
  target_compile_options(canopy_options INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(canopy_options INTERFACE --coverage)
endif()
