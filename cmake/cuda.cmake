# CUDA is used where its compiler is found and left out where it is not; nothing else in the build asks.
#
# A folder with .cu files has an unavailable.cpp beside them that defines the same functions for machines without CUDA.
# cuzk_library compiles one or the other, so callers contain no #if: what a call does is decided when linking.
set(CUZK_CUDA AUTO CACHE STRING "AUTO, ON (an error where nvcc is missing) or OFF")
set(CUZK_WITH_CUDA OFF)
if(CUZK_CUDA)
  find_program(CUZK_NVCC nvcc PATHS /usr/local/cuda/bin ENV CUDA_PATH PATH_SUFFIXES bin)
  if(CUZK_NVCC)
    set(CMAKE_CUDA_COMPILER ${CUZK_NVCC})
    # Machine code for Hopper, and code that the driver compiles once for any other card from Ampere on. Each
    # architecture more costs its share of a build; packagers name theirs.
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80-virtual 90-real)
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25.1 does not know it
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    # Formulas written once, as constexpr templates over the field, serve host and device.
    string(APPEND CMAKE_CUDA_FLAGS " --expt-relaxed-constexpr")
    set(CUZK_WITH_CUDA ON)
  elseif(NOT CUZK_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "CUZK_CUDA is ${CUZK_CUDA}, but there is no nvcc; put it on PATH or set CUZK_CUDA=AUTO")
  endif()
endif()
message(STATUS "CUDA: ${CUZK_WITH_CUDA}")
