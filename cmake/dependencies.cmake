# Third-party packages, all from Debian (style.md part 4 lists why each).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(tl-expected REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(simdjson REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(httplib REQUIRED IMPORTED_TARGET cpp-httplib)
find_package(SQLite3 REQUIRED)
if(BUILD_TESTING)
  find_package(GTest REQUIRED)
endif()
if(CUZK_BENCH)
  find_package(benchmark REQUIRED)
endif()

add_library(cuzk_options INTERFACE)
target_include_directories(cuzk_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
# GCC 12 sees overlaps in std::string that are not there (-Wrestrict, GCC bug 105651).
target_compile_options(cuzk_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wno-missing-field-initializers>"
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fconstexpr-steps=100000000>)  # inverses are computed by the compiler
# fmt 9 gives up constexpr under nvcc, but its C++20 text needs it.
target_compile_definitions(cuzk_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:FMT_USE_CONSTEXPR=1>)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(cuzk_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
if(CUZK_SANITIZE)
  target_compile_options(cuzk_options INTERFACE -fsanitize=${CUZK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_compile_definitions(cuzk_options INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(cuzk_options INTERFACE -fsanitize=${CUZK_SANITIZE})
endif()
target_link_libraries(cuzk_options INTERFACE Threads::Threads)

# Rebuilds of a clean clone are cheap where ccache is installed.
find_program(CUZK_CCACHE ccache)
if(CUZK_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CUZK_CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CUZK_CCACHE})
endif()
