// Messages at the limit: 2 GiB of copies and sockets, seconds on an idle machine.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/testing.h"

namespace cuzk::service {
namespace {

using ::testing::HasSubstr;
using testing::ServiceTest;

// The payload is a number with so many zeros before it that the message has the size.
TEST_F(ServiceTest, Case56_MessagesUpToTheLimitPass) {
  v1::ProveRequest message;
  *message.mutable_submit() = request("id", std::string(kMaxMessageBytes, '0'));
  const size_t around = message.ByteSizeLong() - kMaxMessageBytes;
  std::string& payload = *message.mutable_submit()->mutable_vanilla_proof();
  for (const int beyond : {-1, 0, 1}) {
    payload.assign(kMaxMessageBytes - around + beyond, '0');
    payload.back() = '3';
    ASSERT_EQ(message.ByteSizeLong(), kMaxMessageBytes + beyond);
    grpc::ClientContext context;
    v1::ProveResponse response;
    const grpc::Status status = stub_->Prove(&context, message, &response);
    if (beyond > 0) {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
      EXPECT_THAT(status.error_message(), HasSubstr(fmt::format("{} vs. {}", kMaxMessageBytes + 1, kMaxMessageBytes)));
    } else {
      EXPECT_EQ(response.result().status(), v1::AwaitProofResponse::COMPLETED) << status.error_message();
    }
  }
  v1::AwaitProofResponse result;
  ASSERT_TRUE(prove(request("after", "3"), result).ok()) << "over the same connection";
  EXPECT_EQ(result.status(), v1::AwaitProofResponse::COMPLETED);
}

}  // namespace
}  // namespace cuzk::service
