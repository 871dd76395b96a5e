# Libraries from Debian packages; scripts/setup installs them.

# Where the 1.74 headers of Debian's default Boost are installed, scripts/setup unpacks 1.81 here.
set(CANOPY_PRIVATE_BOOST ${PROJECT_SOURCE_DIR}/build/deps/boost/usr)
if(EXISTS ${CANOPY_PRIVATE_BOOST}/include/boost/version.hpp)
  list(PREPEND CMAKE_PREFIX_PATH ${CANOPY_PRIVATE_BOOST})
endif()

find_package(Boost 1.81 REQUIRED CONFIG)
find_package(OpenSSL 3.0 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(Protobuf REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(RocksDB REQUIRED)
find_package(ZLIB REQUIRED)

# Boost is used through its headers only. Asio and JSON are compiled once, in src/net/asio.cpp and
# src/base/boost_json.cpp.
add_library(canopy_boost INTERFACE)
target_link_libraries(canopy_boost INTERFACE Boost::headers)
target_compile_definitions(canopy_boost INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED BOOST_ERROR_CODE_HEADER_ONLY
  BOOST_ALL_NO_LIB)
