# Functions that turn folders into targets. A folder without sources yields no target, silently, so
# that a layer, a program or a test can be added by adding files alone.

# canopy_existing(<out> <target>...): those of the targets that exist.
function(canopy_existing out)
  set(found)
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      list(APPEND found ${target})
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# canopy_layer(<name> [DEPENDS <layer>...] [LIBS <target>...])
# src/<name>/*.cpp -> static library canopy_<name>.
function(canopy_layer name)
  cmake_parse_arguments(arg "" "" "DEPENDS;LIBS" ${ARGN})
  set_property(GLOBAL APPEND PROPERTY CANOPY_LAYERS ${name})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  list(TRANSFORM arg_DEPENDS PREPEND canopy_)
  canopy_existing(below ${arg_DEPENDS})
  add_library(canopy_${name} STATIC ${sources})
  target_include_directories(canopy_${name} PUBLIC
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(canopy_${name}
    PUBLIC canopy_options canopy_boost ${below} ${arg_LIBS}
    PRIVATE canopy_warnings)
endfunction()

# canopy_protobuf(<target>)
# proto/**/*.proto -> static library of generated code, included as "<path below proto>.pb.h".
function(canopy_protobuf target)
  file(GLOB_RECURSE protos CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/proto
       ${PROJECT_SOURCE_DIR}/proto/*.proto)
  if(NOT protos)
    return()
  endif()
  set(out ${PROJECT_BINARY_DIR}/proto)
  file(MAKE_DIRECTORY ${out})
  set(generated)
  foreach(proto IN LISTS protos)
    string(REGEX REPLACE "\\.proto$" "" stem ${proto})
    add_custom_command(
      OUTPUT ${out}/${stem}.pb.cc ${out}/${stem}.pb.h
      COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR}/proto --cpp_out=${out} ${proto}
      DEPENDS ${PROJECT_SOURCE_DIR}/proto/${proto} protobuf::protoc
      COMMENT "Generating ${stem}.pb.cc"
      VERBATIM)
    list(APPEND generated ${out}/${stem}.pb.cc ${out}/${stem}.pb.h)
  endforeach()
  add_library(${target} STATIC ${generated})
  target_include_directories(${target} SYSTEM PUBLIC ${out})
  target_link_libraries(${target} PUBLIC canopy_options protobuf::libprotobuf-lite)
endfunction()

# canopy_program(<name> [DEPENDS <layer>...] [LIBS <target>...])
# tools/<name>/*.cpp -> program <name>.
function(canopy_program name)
  cmake_parse_arguments(arg "" "" "DEPENDS;LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  list(TRANSFORM arg_DEPENDS PREPEND canopy_)
  canopy_existing(below ${arg_DEPENDS})
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tools ${PROJECT_SOURCE_DIR}/src
                             ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} PRIVATE ${below} ${arg_LIBS} canopy_options canopy_warnings)
endfunction()

# Tests need not run fast, and compile a quarter faster so.
set(CANOPY_TEST_OPTIONS "$<$<CONFIG:Release>:-O1;-g0>")

# canopy_tests(<folder> [SERIAL] [SERIAL_SCRIPTS <name>...] [DEPENDS <layer>...]
#              [LIBS <target>...] [PROGRAMS <target>...])
# tests/<folder>/*.cpp -> program <folder>_test, each of its cases a test of ctest;
# tests/<folder>/*_test.py -> one test each, which finds the programs in CANOPY_BIN_DIR.
# SERIAL, SERIAL_SCRIPTS: cases, or scripts, that measure times or keep the whole machine
# busy, so nothing else runs beside them. PROGRAMS: what they start.
function(canopy_tests folder)
  cmake_parse_arguments(arg "SERIAL" "" "DEPENDS;LIBS;PROGRAMS;SERIAL_SCRIPTS" ${ARGN})
  set(serial OFF)
  if(arg_SERIAL)
    set(serial ON)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*.cpp)
  if(sources)
    list(TRANSFORM arg_DEPENDS PREPEND canopy_)
    canopy_existing(below canopy_test_support ${arg_DEPENDS})
    add_executable(${folder}_test ${sources})
    target_include_directories(${folder}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests
                               ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_compile_definitions(${folder}_test PRIVATE
      CANOPY_TEST_DATA_DIR="${PROJECT_SOURCE_DIR}/tests/data"
      CANOPY_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
    target_link_libraries(${folder}_test PRIVATE
      ${below} ${arg_LIBS} GTest::gtest GTest::gtest_main canopy_options canopy_warnings)
    target_compile_options(${folder}_test PRIVATE ${CANOPY_TEST_OPTIONS})
    canopy_existing(programs ${arg_PROGRAMS})
    if(programs)
      add_dependencies(${folder}_test ${programs})
    endif()
    gtest_discover_tests(${folder}_test
      TEST_PREFIX "${folder}."
      DISCOVERY_MODE PRE_TEST
      DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT 300 RUN_SERIAL ${serial} LABELS ${folder})
  endif()

  file(GLOB scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*_test.py)
  foreach(script IN LISTS scripts)
    cmake_path(GET script STEM stem)
    add_test(NAME ${folder}.${stem} COMMAND Python3::Interpreter -B ${script})
    set(script_serial OFF)
    if(stem IN_LIST arg_SERIAL_SCRIPTS)
      set(script_serial ON)
    endif()
    set(environment
      CANOPY_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
      CANOPY_SOURCE_DIR=${PROJECT_SOURCE_DIR}
      CANOPY_BUILD_DIR=${PROJECT_BINARY_DIR}
      CANOPY_SANITIZE=${CANOPY_SANITIZE})
    set_tests_properties(${folder}.${stem} PROPERTIES
      TIMEOUT 600 RUN_SERIAL ${script_serial} SKIP_RETURN_CODE 77 LABELS ${folder}
      ENVIRONMENT "${environment}")
  endforeach()
endfunction()
