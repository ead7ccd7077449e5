// Messages near the limit: 900 MiB of copies and sockets, seconds on an idle machine.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/testing.h"

namespace cuzk::service {
namespace {

using testing::ServiceTest;
using ::testing::StartsWith;

TEST_F(ServiceTest, LargeMessagesPassAndTooLargeOnesAreRefused) {
  v1::AwaitProofResponse result;
  ASSERT_TRUE(prove(request("300 MiB", std::string(300 << 20, 'x')), result).ok());
  EXPECT_THAT(result.error_message(), StartsWith("invalid_input: C1 parse failed"));
  grpc::Status refused = prove(request("600 MiB", std::string(600 << 20, 'x')), result);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << refused.error_message();
  ASSERT_TRUE(prove(request("after", "3"), result).ok());
  EXPECT_EQ(result.status(), v1::AwaitProofResponse::COMPLETED);
}

}  // namespace
}  // namespace cuzk::service
