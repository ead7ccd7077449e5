# cuzk_proto: the messages and stubs of proto/, generated into the build folder. Only src/service links it.
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)

set(proto_folder ${CMAKE_BINARY_DIR}/proto)
set(proto_base ${proto_folder}/cuzk/v1/prover)
set(proto_sources ${proto_base}.pb.cc ${proto_base}.grpc.pb.cc)
add_custom_command(
  OUTPUT ${proto_sources} ${proto_base}.pb.h ${proto_base}.grpc.pb.h
  COMMAND ${CMAKE_COMMAND} -E make_directory ${proto_folder}
  COMMAND protobuf::protoc --proto_path=${CMAKE_SOURCE_DIR}/proto --cpp_out=${proto_folder} --grpc_out=${proto_folder}
          --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin> cuzk/v1/prover.proto
  DEPENDS ${CMAKE_SOURCE_DIR}/proto/cuzk/v1/prover.proto
  VERBATIM)
add_library(cuzk_proto STATIC ${proto_sources})
target_link_libraries(cuzk_proto PUBLIC gRPC::grpc++ protobuf::libprotobuf)
target_include_directories(cuzk_proto SYSTEM PUBLIC ${proto_folder})
