# Decides whether the CUDA device is built in (CONVOY_HAS_CUDA) and finds what it needs: nvcc of CUDA 12.1 or newer (the
# fold of gradients takes 8 KB of arguments, and kernels of 12.0 take 4), its cublasLt, cuDNN 9 with its frontend (headers
# only, 1.13 or newer) and NCCL 2.19 or newer. Imported here: the headers convoy_cublas, convoy_cudnn, convoy_nccl, whose
# libraries are opened when a GPU is first used; and CUDA::cudart_static by FindCUDAToolkit.
set(CONVOY_CUDA AUTO CACHE STRING "The CUDA device: AUTO (where all that it needs is found), ON (or an error) or OFF")
set_property(CACHE CONVOY_CUDA PROPERTY STRINGS AUTO ON OFF)

# The numbers of "#define NAME 9" lines, joined by dots; empty without such a line.
function(convoy_header_version result header)
  set(version "")
  if(EXISTS "${header}")
    file(READ "${header}" text)
    foreach(name ${ARGN})
      if(text MATCHES "#define[ \t]+${name}[ \t]+([0-9]+)")
        string(APPEND version ".${CMAKE_MATCH_1}")
      endif()
    endforeach()
    string(REGEX REPLACE "^\\." "" version "${version}")
  endif()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# Everything lies in the toolkit, in a place of the system or where CMAKE_PREFIX_PATH says.
function(convoy_find_in_toolkit prefix header library)
  get_filename_component(toolkit "${CMAKE_CUDA_COMPILER}/../.." REALPATH)
  find_path(${prefix}_INCLUDE_DIR ${header} HINTS ${toolkit}/include)
  mark_as_advanced(${prefix}_INCLUDE_DIR)
  if(library)
    find_library(${prefix}_LIBRARY ${library} HINTS ${toolkit}/lib64 ${toolkit}/lib)
    mark_as_advanced(${prefix}_LIBRARY)
  endif()
endfunction()

# The headers of a library. An imported target: their warnings are not ours.
function(convoy_import_headers name)
  add_library(${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${name} INTERFACE ${ARGN})
endfunction()

# Tells a source file which library it opens when one of its functions is first called (src/device/cuda/lazy_library.h).
function(convoy_opens source prefix)
  get_filename_component(file "${${prefix}_LIBRARY}" REALPATH)
  string(REGEX MATCH "[^/]*\\.so(\\.[0-9]+)?" name "${file}")  # libcudnn.so.9 of libcudnn.so.9.19.0
  set_source_files_properties(${source} PROPERTIES
    COMPILE_DEFINITIONS "CONVOY_${prefix}_NAME=\"${name}\";CONVOY_${prefix}_FILE=\"${file}\"")
endfunction()

# Which GPUs to compile for: Ampere and Hopper, whose kernels unit_kernels checks. Newer GPUs compile Hopper's intermediate
# code when a kernel is first used. Older GPUs (Volta, Turing) have no bf16, and the attention kernels need more registers
# there than a thread has: who compiles for one is told so.
set(CONVOY_CUDA_ARCHITECTURES 80-real 90)
function(convoy_warn_of_old_architectures)
  set(old ${CMAKE_CUDA_ARCHITECTURES})
  list(FILTER old INCLUDE REGEX "^[1-7][0-9](-|$)")
  if(old)
    list(JOIN old ", " old)
    message(WARNING "CMAKE_CUDA_ARCHITECTURES has ${old}: on GPUs older than architecture 80 Convoy is not tested, bf16 does "
                    "not work, and attention is slow, because its kernels keep values in memory instead of in registers.")
  endif()
endfunction()

function(convoy_find_cuda result_missing)
  set(missing "")
  if(NOT CMAKE_CUDA_COMPILER AND DEFINED ENV{CUDACXX})
    set(CMAKE_CUDA_COMPILER "$ENV{CUDACXX}")
  endif()
  find_program(CMAKE_CUDA_COMPILER nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES bin NO_CACHE)
  if(NOT CMAKE_CUDA_COMPILER)
    set(${result_missing} "nvcc" PARENT_SCOPE)
    return()
  endif()
  get_filename_component(CUDAToolkit_ROOT "${CMAKE_CUDA_COMPILER}/../.." REALPATH)
  find_package(CUDAToolkit 12.1 QUIET)
  if(NOT CUDAToolkit_FOUND OR NOT TARGET CUDA::cudart_static)
    list(APPEND missing "the CUDA toolkit 12.1 or newer (nvcc is ${CMAKE_CUDA_COMPILER})")
  endif()
  convoy_find_in_toolkit(CUBLASLT cublasLt.h cublasLt)
  if(NOT CUBLASLT_INCLUDE_DIR OR NOT CUBLASLT_LIBRARY)
    list(APPEND missing "cublasLt")
  endif()
  convoy_find_in_toolkit(CUDNN cudnn.h cudnn)
  convoy_header_version(version "${CUDNN_INCLUDE_DIR}/cudnn_version.h" CUDNN_MAJOR CUDNN_MINOR)
  if(NOT CUDNN_LIBRARY OR version VERSION_LESS 9)
    list(APPEND missing "cuDNN 9")
  endif()
  convoy_find_in_toolkit(CUDNN_FRONTEND cudnn_frontend.h "")
  convoy_header_version(version "${CUDNN_FRONTEND_INCLUDE_DIR}/cudnn_frontend_version.h"
                        CUDNN_FRONTEND_MAJOR_VERSION CUDNN_FRONTEND_MINOR_VERSION)
  if(version VERSION_LESS 1.13)
    list(APPEND missing "the headers of cudnn-frontend 1.13 or newer (tools/install_deps)")
  endif()
  convoy_find_in_toolkit(NCCL nccl.h nccl)
  convoy_header_version(version "${NCCL_INCLUDE_DIR}/nccl.h" NCCL_MAJOR NCCL_MINOR)
  if(NOT NCCL_LIBRARY OR version VERSION_LESS 2.19)
    list(APPEND missing "NCCL 2.19 or newer")
  endif()
  list(JOIN missing ", " missing)
  set(${result_missing} "${missing}" PARENT_SCOPE)
  set(CMAKE_CUDA_COMPILER "${CMAKE_CUDA_COMPILER}" PARENT_SCOPE)
endfunction()

set(CONVOY_HAS_CUDA OFF)
if(NOT CONVOY_CUDA)
  message(STATUS "CUDA device: no (CONVOY_CUDA=${CONVOY_CUDA})")
  return()
endif()
if(CONVOY_SANITIZE)
  set(missing "a build without sanitizers, which nvcc does not know")
else()
  convoy_find_cuda(missing)
endif()
if(missing AND CONVOY_CUDA STREQUAL "AUTO")
  message(STATUS "CUDA device: no, for want of ${missing}")
  return()
elseif(missing)
  message(FATAL_ERROR "CONVOY_CUDA=${CONVOY_CUDA}, but this is missing: ${missing}. CMAKE_PREFIX_PATH may say where it is.")
endif()

if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})  # before CUDA is enabled, which has a default of its own
  set(CMAKE_CUDA_ARCHITECTURES "${CONVOY_CUDA_ARCHITECTURES}" CACHE STRING "GPUs to compile for, as numbers of their architecture")
endif()
set(CMAKE_CUDA_HOST_COMPILER "${CMAKE_CXX_COMPILER}" CACHE FILEPATH "What nvcc hands the host's code to")
enable_language(CUDA)
convoy_warn_of_old_architectures()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)  # CMake 3.25 does not know it
endif()
# fmt 9 takes its functions for constant expressions in part only under nvcc, whose later versions know them all.
add_compile_definitions($<$<COMPILE_LANGUAGE:CUDA>:FMT_USE_CONSTEXPR=1>)

convoy_import_headers(convoy_cublas "${CUBLASLT_INCLUDE_DIR}")
convoy_import_headers(convoy_cudnn "${CUDNN_INCLUDE_DIR}" "${CUDNN_FRONTEND_INCLUDE_DIR}")
convoy_import_headers(convoy_nccl "${NCCL_INCLUDE_DIR}")
set(CONVOY_HAS_CUDA ON)
list(JOIN CMAKE_CUDA_ARCHITECTURES ", " architectures)
message(STATUS "CUDA device: yes, CUDA ${CMAKE_CUDA_COMPILER_VERSION}, for architectures ${architectures}")
