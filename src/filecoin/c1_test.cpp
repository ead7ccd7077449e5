#include "filecoin/c1.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/allocation_testing.h"
#include "base/testing.h"
#include "field/fields.h"
#include "filecoin/synthetic.h"

namespace cuzk::filecoin {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string written(const SealCommit& commit, C1Form form) {
  std::string text;
  Status status = write_c1(commit, form, [&](std::string_view piece) {
    text += piece;
    return Status();
  });
  EXPECT_TRUE(status) << status.error().message;
  return text;
}

// The same value with the members of every object in another order.
Json shuffled(const Json& value, std::mt19937_64& random) {
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& element : value) out.push_back(shuffled(element, random));
    return out;
  }
  if (!value.is_object()) return value;
  std::vector<std::string> keys;
  for (const auto& [key, member] : value.items()) keys.push_back(key);
  std::ranges::shuffle(keys, random);
  Json out = Json::object();
  for (const std::string& key : keys) out[key] = shuffled(value[key], random);
  return out;
}

// Every C1 output among the vectors, as folder and whether it has the bare form beside the wrapped one.
std::vector<std::filesystem::path> vector_folders() {
  std::vector<std::filesystem::path> out;
  for (const char* group : {"seal", "sparse"}) {
    for (const auto& entry : std::filesystem::directory_iterator(cuzk::testing::vectors() / group)) {
      if (std::filesystem::exists(entry.path() / "c1-wrapped.json")) out.push_back(entry.path());
    }
  }
  return out;
}

TEST(C1Vectors, ComeBackByteForByte) {
  CUZK_SKIP_WITHOUT_VECTORS();
  const auto folders = vector_folders();
  ASSERT_GE(folders.size(), 13u);
  for (const auto& folder : folders) {
    SCOPED_TRACE(folder.string());
    const std::string wrapped = read_file(folder / "c1-wrapped.json");
    auto commit = parse_c1(as_bytes(wrapped));
    ASSERT_TRUE(commit) << commit.error().message;
    EXPECT_EQ(written(*commit, C1Form::kWrapped), wrapped);

    const Json meta = Json::parse(read_file(folder / "meta.json"));
    EXPECT_EQ(commit->registered_proof, meta["registered_proof"]);
    EXPECT_EQ(commit->sector_number, meta["sector_id"].get<uint64_t>());
    EXPECT_EQ(commit->partitions.size(), meta["partitions"].get<size_t>());
    EXPECT_EQ(to_hex(commit->comm_r), meta["comm_r"]);
    EXPECT_EQ(to_hex(commit->comm_d), meta["comm_d"]);
    EXPECT_EQ(to_hex(commit->replica_id), meta["replica_id"]);
    EXPECT_EQ(to_hex(commit->seed), meta["seed"]);
    EXPECT_EQ(to_hex(commit->ticket), meta["ticket"]);
    EXPECT_EQ(to_hex(commit->partitions[0][0].c_x.inclusion.root), meta["comm_c"]);
    EXPECT_EQ(to_hex(commit->partitions[0][0].comm_r_last.root), meta["comm_r_last"]);

    if (!std::filesystem::exists(folder / "c1.json")) continue;
    const std::string bare = read_file(folder / "c1.json");
    EXPECT_EQ(written(*commit, C1Form::kBare), bare);
    auto same = parse_c1(as_bytes(bare));
    ASSERT_TRUE(same) << same.error().message;
    commit->sector_number.reset();
    EXPECT_TRUE(*same == *commit);
  }
}

// A sector of each tree shape, made without vectors.
class C1 : public ::testing::TestWithParam<const char*> {
 protected:
  exec::Pool pool_{1};
  SealCommit commit_ = synthetic_porep(*parse_size(GetParam()), cuzk::testing::seed(), pool_).value();
};

TEST_P(C1, RoundTripsInBothForms) {
  auto wrapped = parse_c1(as_bytes(written(commit_, C1Form::kWrapped)));
  ASSERT_TRUE(wrapped) << wrapped.error().message;
  EXPECT_TRUE(*wrapped == commit_);
  commit_.sector_number.reset();
  auto bare = parse_c1(as_bytes(written(commit_, C1Form::kBare)));
  ASSERT_TRUE(bare) << bare.error().message;
  EXPECT_TRUE(*bare == commit_);
}

TEST_P(C1, TakesKeysInAnyOrderWithBlanksAndUnknownKeys) {
  auto random = cuzk::testing::rng(1);
  Json bare = Json::parse(written(commit_, C1Form::kBare));
  bare["note"] = Json::parse(R"({"deep":[[[1.5,-2e3,true,false,null,"\u00e9\n",{}]]],"comm_r":"elsewhere"})");
  auto& proof = bare["vanilla_proofs"].front()[0][0];
  proof["encoding_proof"]["extra"] = {1, 2, 3};
  proof["replica_column_proofs"]["c_x"]["column"].erase("_h");
  for (int round = 0; round < 4; round++) {
    const std::string inner = shuffled(bare, random).dump(round - 1);
    Json outer = {{"SectorNum", *commit_.sector_number},
                  {"Phase1Out", to_base64(as_bytes(inner))},
                  {"SectorSize", *parse_size(GetParam())}};
    for (const std::string& text : {inner, shuffled(outer, random).dump(round - 1)}) {
      auto parsed = parse_c1(as_bytes(text));
      ASSERT_TRUE(parsed) << parsed.error().message;
      parsed->sector_number = commit_.sector_number;
      EXPECT_TRUE(*parsed == commit_);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, C1, ::testing::Values("2KiB", "4KiB", "16KiB", "32KiB"));

class C1Faults : public ::testing::Test {
 protected:
  exec::Pool pool_{1};
  SealCommit commit_ = synthetic_porep(2048, cuzk::testing::seed(), pool_).value();
  std::string bare_ = written(commit_, C1Form::kBare);
  std::string wrapped_ = written(commit_, C1Form::kWrapped);
  Json json_ = Json::parse(bare_);
  Json& challenge(size_t i) { return json_["vanilla_proofs"]["StackedDrg2KiBV1"][0][i]; }

  Error error_of(const std::string& text) {
    auto parsed = parse_c1(as_bytes(text));
    if (parsed) ADD_FAILURE() << "accepted: " << text.substr(0, 200);
    return parsed ? Error{Code::kInternal, "accepted"} : parsed.error();
  }
  // The text is refused as invalid input, and its message says so.
  void expect_fault(const std::string& text, std::string_view message) {
    const Error error = error_of(text);
    EXPECT_EQ(code_name(error.code), code_name(Code::kInvalidInput));
    EXPECT_THAT(error.message, StartsWith(std::string(message)));
  }
  void expect_fault(std::string_view message) { expect_fault(json_.dump(), message); }
  std::string wrap(std::string_view phase1, const std::string& size = "2048") {
    return fmt::format(R"({{"SectorNum":1,"Phase1Out":"{}","SectorSize":{}}})", phase1, size);
  }
};

// The text has no counts to believe; where it states a number, that is no count.
TEST_F(C1Faults, Case58_NumbersAreNoCounts) {
  for (const char* text : {R"({"SectorNum":4294967295,"SectorSize":4294967295,"Phase1Out":"AAAA"})",
                           R"({"vanilla_proofs":{"StackedDrg64GiBV1":[[{"labeling_proofs":4294967295}]]}})",
                           R"({"vanilla_proofs":{"StackedDrg4294967295V1":[4294967295]}})"}) {
    cuzk::testing::LargestAllocation largest;
    EXPECT_EQ(code_name(error_of(text).code), code_name(Code::kInvalidInput));
    EXPECT_LT(largest.bytes(), size_t{1} << 20) << text;
  }
}

TEST_F(C1Faults, NothingOrTooMuch) {
  EXPECT_THAT(error_of("").message, HasSubstr("empty"));
  auto limited = parse_c1(as_bytes(bare_), bare_.size() - 1);
  ASSERT_FALSE(limited);
  EXPECT_EQ(code_name(limited.error().code), code_name(Code::kTooLarge));
  EXPECT_TRUE(parse_c1(as_bytes(bare_), bare_.size()));
  // A body above the default limit is refused before it is looked at.
  const std::string huge(kMaxC1Bytes + 1, ' ');
  EXPECT_EQ(code_name(error_of(huge).code), code_name(Code::kTooLarge));
}

TEST_F(C1Faults, NotTheJsonOfAnObject) {
  expect_fault("   ", "malformed JSON");
  expect_fault("null", "expected an object");
  expect_fault("[" + bare_ + "]", "expected an object");
  expect_fault("<html><body>502</body></html>", "expected an object");
  expect_fault(bare_ + bare_, "text after the end of the JSON object");
  expect_fault(bare_ + " x", "the JSON text is cut short");
  expect_fault("{\"a\":\"\xff\"," + bare_.substr(1), "malformed JSON");
}

// Whatever the place of the cut, the end of the text is missed.
TEST_F(C1Faults, Case59_Truncated) {
  auto random = cuzk::testing::rng(2);
  for (const std::string& text : {bare_, wrapped_}) {
    for (int round = 0; round < 200; round++) {
      const size_t size = 1 + random() % (text.size() - 1);
      EXPECT_FALSE(parse_c1(as_bytes(text.substr(0, size)))) << size;
    }
  }
  expect_fault(bare_.substr(0, bare_.size() / 2), "the JSON text is cut short");
  expect_fault(wrap(to_base64(as_bytes(bare_.substr(0, bare_.size() / 2)))), "Phase1Out: the JSON text is cut short");
}

TEST_F(C1Faults, Nesting) {
  for (char bracket : {'[', '{'}) {
    const std::string open = bracket == '[' ? "[" : "{\"k\":", close = bracket == '[' ? "]" : "}";
    auto nested = [&](unsigned levels) {
      std::string out;
      for (unsigned i = 0; i < levels; i++) out += open;
      out += "1";
      for (unsigned i = 0; i < levels; i++) out += close;
      return out;
    };
    EXPECT_TRUE(parse_c1(as_bytes("{\"x\":" + nested(30) + "," + bare_.substr(1))));
    expect_fault("{\"x\":" + nested(200) + "," + bare_.substr(1), "nested deeper than 64 levels");
    expect_fault("{\"x\":" + nested(100000) + "," + bare_.substr(1), "nested deeper than 64 levels");
    EXPECT_FALSE(parse_c1(as_bytes(nested(200))));
    EXPECT_FALSE(parse_c1(as_bytes("{\"vanilla_proofs\":" + nested(200) + "}")));
    EXPECT_FALSE(parse_c1(as_bytes(wrap(to_base64(as_bytes(nested(200)))))));
  }
}

// Values that nobody asked for must be values all the same. "nope" once ended the process.
TEST_F(C1Faults, DamagedValueOfAnUnknownKey) {
  for (const std::string token : {"nope", "nul", "nulll", "tru", "falsy", "-", "1e", "1e999", "+1", "00", "\"\\q\""}) {
    expect_fault("{\"x\":" + token + "," + bare_.substr(1), "malformed JSON");
  }
}

TEST_F(C1Faults, Wrapper) {
  const std::string phase1 = to_base64(as_bytes(bare_));
  EXPECT_TRUE(parse_c1(as_bytes(wrap(phase1))));
  EXPECT_TRUE(parse_c1(as_bytes(fmt::format(R"({{"Phase1Out":"{}"}})", phase1))));
  std::string escaped;  // some writers put a backslash before every slash
  for (char c : phase1) escaped += c == '/' ? "\\/" : std::string(1, c);
  EXPECT_TRUE(parse_c1(as_bytes(wrap(escaped))));
  expect_fault(wrap("!" + phase1.substr(1)), "Phase1Out: not a base64 character at offset 0");
  expect_fault(wrap(phase1.substr(1)), "Phase1Out: base64 length");
  expect_fault(wrap(""), "Phase1Out: ");
  expect_fault(wrap(to_base64(as_bytes(wrapped_))), "Phase1Out: 'Phase1Out' inside 'Phase1Out'");
  expect_fault(wrap(phase1, "4096"), "SectorSize 4096 is not that of StackedDrg2KiBV1_1, 2048");
  expect_fault(wrap(phase1, "\"2048\""), "SectorSize: expected a whole number");
  expect_fault(R"({"SectorNum":1,"Phase1Out":7})", "Phase1Out: expected a string");
  expect_fault(R"({"SectorNum":1.5,"Phase1Out":""})", "SectorNum: expected a whole number");
  expect_fault(R"({"SectorNum":1,"SectorSize":2048})", "'registered_proof' is missing");
  expect_fault("{\"Phase1Out\":\"" + phase1 + "\"," + bare_.substr(1), "'Phase1Out' beside 'registered_proof'");
  expect_fault("{\"SectorSize\":4096," + bare_.substr(1), "SectorSize 4096 is not that of StackedDrg2KiBV1_1, 2048");
  // What is wrong inside is said with the place inside.
  json_["comm_r"][31] = 256;
  expect_fault(wrap(to_base64(as_bytes(json_.dump()))), "Phase1Out.comm_r: number 31 is 256, above 255");
}

TEST_F(C1Faults, RegisteredProof) {
  for (const char* name : {"StackedDrg3KiBV1_1", "StackedDrg2KiBV9", "", "stackeddrg2kibv1_1", "StackedDrg2KiBV1_1 "}) {
    json_["registered_proof"] = name;
    expect_fault("registered_proof: ");
  }
  json_["registered_proof"] = std::string(100000, 'x');
  EXPECT_LT(error_of(json_.dump()).message.size(), 400u);
  json_["registered_proof"] = 5;
  expect_fault("registered_proof: expected a string");
  json_["registered_proof"] = "StackedDrg8MiBV1_1";
  expect_fault("vanilla_proofs are of a 2KiB sector, but registered_proof is StackedDrg8MiBV1_1");
  json_["registered_proof"] = "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep";
  expect_fault("StackedDrg2KiBV1_2_Feat_NonInteractivePoRep has 13 partitions, but vanilla_proofs has 1");
}

TEST_F(C1Faults, VariantOfVanillaProofs) {
  const Json partitions = json_["vanilla_proofs"]["StackedDrg2KiBV1"];
  for (const char* tag : {"StackedDrg2KiBV1_1", "StackedDrgV1", "Stacked", "", "StackedDrg3KiBV1", "2KiB"}) {
    json_["vanilla_proofs"] = {{tag, partitions}};
    expect_fault(fmt::format("vanilla_proofs: unknown kind of vanilla proof '{}'", tag));
  }
  json_["vanilla_proofs"] = {{"StackedDrg4KiBV1", partitions}};  // 4 KiB has one level more
  expect_fault(
      "vanilla_proofs: partition 0, challenge 0, comm_d_proofs.data.Single.path.path: expected 7 elements, got 6");
  json_["vanilla_proofs"] = {{"StackedDrg2KiBV1", partitions}, {"StackedDrg4KiBV1", partitions}};
  expect_fault("vanilla_proofs: more than one kind");
  json_["vanilla_proofs"] = Json::object();
  expect_fault("vanilla_proofs: empty");
  json_["vanilla_proofs"] = partitions;
  expect_fault("vanilla_proofs: expected an object");
}

TEST_F(C1Faults, Counts) {
  auto partitions = [&]() -> Json& { return json_["vanilla_proofs"]["StackedDrg2KiBV1"]; };
  const Json whole = json_;
  struct Case {
    std::function<void()> damage;
    const char* message;
  };
  const Case cases[] = {
      {[&] { partitions() = Json::array(); }, "vanilla_proofs: expected 1 elements, got 0"},
      {[&] { partitions().push_back(partitions()[0]); },
       "StackedDrg2KiBV1_1 has 1 partitions, but vanilla_proofs has 2"},
      {[&] { partitions() = Json(127, partitions()[0]); }, "vanilla_proofs: more than 126 elements"},
      {[&] { partitions()[0].erase(1); }, "vanilla_proofs: partition 0: expected 2 elements, got 1"},
      {[&] { partitions()[0].push_back(partitions()[0][0]); }, "vanilla_proofs: partition 0: more than 2 elements"},
      {[&] { challenge(1)["replica_column_proofs"]["drg_parents"].erase(0); },
       "vanilla_proofs: partition 0, challenge 1, replica_column_proofs.drg_parents: expected 6 elements, got 5"},
      {[&] { challenge(1)["replica_column_proofs"]["exp_parents"].erase(0); },
       "vanilla_proofs: partition 0, challenge 1, replica_column_proofs.exp_parents: expected 8 elements, got 7"},
      {[&] { challenge(0)["replica_column_proofs"]["exp_parents"][3]["column"]["rows"].erase(0); },
       "vanilla_proofs: partition 0, challenge 0, replica_column_proofs.exp_parents[3].column.rows: expected 2 "
       "elements, got 1"},
      {[&] { challenge(0)["labeling_proofs"][1]["parents"].erase(36); },
       "vanilla_proofs: partition 0, challenge 0, labeling_proofs[1].parents: expected 37 elements, got 36"},
      {[&] { challenge(0)["labeling_proofs"].push_back(challenge(0)["encoding_proof"]); },
       "vanilla_proofs: partition 0, challenge 0, labeling_proofs: more than 2 elements"},
      {[&] { challenge(0)["comm_r_last_proof"]["data"]["Single"]["path"]["path"].erase(0); },
       "vanilla_proofs: partition 0, challenge 0, comm_r_last_proof.data.Single.path.path: expected 2 elements, got 1"},
      {[&] { challenge(0)["comm_r_last_proof"]["data"]["Single"]["path"]["path"][1]["hashes"].erase(0); },
       "vanilla_proofs: partition 0, challenge 0, comm_r_last_proof.data.Single.path.path[1].hashes: expected 7 "
       "elements, got 6"},
      {[&] {
         challenge(0)["comm_r_last_proof"]["data"] = {{"Sub", challenge(0)["comm_r_last_proof"]["data"]["Single"]}};
       },
       "vanilla_proofs: partition 0, challenge 0, comm_r_last_proof.data: 'Single' is missing"},
  };
  for (const Case& one : cases) {
    json_ = whole;
    one.damage();
    expect_fault(one.message);
  }
}

TEST_F(C1Faults, Numbers) {
  const Json whole = json_;
  const std::string place = "vanilla_proofs: partition 0, challenge 1, encoding_proof.";
  for (const auto& [value, message] : std::vector<std::pair<Json, std::string>>{
           {256, "number 5 is 256, above 255"},
           {-1, "expected numbers from 0 to 255"},
           {1.0, "expected numbers from 0 to 255"},
           {"1", "expected numbers from 0 to 255"},
           {nullptr, "expected numbers from 0 to 255"},
           {UINT64_MAX, "number 5 is 18446744073709551615, above 255"},
       }) {
    json_ = whole;
    challenge(1)["encoding_proof"]["parents"][7][5] = value;
    expect_fault(place + "parents[7]: " + message);
  }
  json_ = whole;
  challenge(1)["encoding_proof"]["parents"][0].push_back(1);
  expect_fault(place + "parents[0]: more than 32 numbers");
  json_ = whole;
  challenge(1)["encoding_proof"]["parents"][0].erase(0);
  expect_fault(place + "parents[0]: expected 32 numbers, got 31");
  json_ = whole;
  challenge(1)["encoding_proof"]["node"] = 64;
  expect_fault(place + "node: 64 is not below 64");
  json_ = whole;
  challenge(1)["encoding_proof"]["layer_index"] = 3;
  expect_fault(place + "layer_index: 3 is not below 3");
  json_ = whole;
  challenge(1)["comm_d_proofs"]["data"]["Single"]["path"]["path"][5]["index"] = 2;
  expect_fault(
      "vanilla_proofs: partition 0, challenge 1, comm_d_proofs.data.Single.path.path[5].index: 2 is not below 2");
  json_ = whole;
  challenge(0)["replica_column_proofs"]["c_x"]["column"]["index"] = uint64_t{1} << 32;
  expect_fault(
      "vanilla_proofs: partition 0, challenge 0, replica_column_proofs.c_x.column.index: 4294967296 is not below 64");
}

// r stands for an input of 0, to which r was added.
TEST_F(C1Faults, Case64_FieldElementsMustBeCanonical) {
  std::array<uint8_t, 32> r{}, below{};
  for (size_t i = 0; i < 4; i++) store_le(r.data() + 8 * i, Fr::kModulus[i]);
  (-Fr::one()).to_bytes_le(below);
  const Json whole = json_;
  auto places = [&]() -> std::vector<std::pair<std::string, Json*>> {
    return {{"comm_r", &json_["comm_r"]},
            {"comm_d", &json_["comm_d"]},
            {"replica_id", &json_["replica_id"]},
            {"vanilla_proofs: partition 0, challenge 1, comm_d_proofs.data.Single.leaf",
             &challenge(1)["comm_d_proofs"]["data"]["Single"]["leaf"]},
            {"vanilla_proofs: partition 0, challenge 1, labeling_proofs[0].parents[36]",
             &challenge(1)["labeling_proofs"][0]["parents"][36]}};
  };
  for (size_t i = 0; i < places().size(); i++) {
    json_ = whole;
    *places()[i].second = r;
    expect_fault(places()[i].first + ": not a canonical field element");
    *places()[i].second = Json(32, 255);
    expect_fault(places()[i].first + ": not a canonical field element");
    *places()[i].second = below;
    EXPECT_TRUE(parse_c1(as_bytes(json_.dump())));
  }
  // Seed and ticket are any 32 bytes.
  json_ = whole;
  json_["seed"] = json_["ticket"] = Json(32, 255);
  EXPECT_TRUE(parse_c1(as_bytes(json_.dump())));
}

TEST_F(C1Faults, MissingOrGivenTwiceOrZero) {
  const Json whole = json_;
  for (const char* key : {"registered_proof", "vanilla_proofs", "comm_r", "comm_d", "replica_id", "seed", "ticket"}) {
    json_ = whole;
    json_.erase(key);
    expect_fault(fmt::format("'{}' is missing", key));
    expect_fault(fmt::format("{{\"{}\":{},{}", key, whole[key].dump(), bare_.substr(1)),
                 fmt::format("{}: given twice", key));
  }
  // An escaped key is the same key.
  expect_fault("{\"\\u0063omm_r\":" + whole["comm_r"].dump() + "," + bare_.substr(1), "comm_r: given twice");
  for (const char* key : {"seed", "comm_d", "comm_r"}) {
    json_ = whole;
    json_[key] = Json(32, 0);
    expect_fault(fmt::format("{} is all zeros", key));
  }
  json_ = whole;
  challenge(1)["replica_column_proofs"].erase("c_x");
  expect_fault("vanilla_proofs: partition 0, challenge 1, replica_column_proofs: 'c_x' is missing");
  json_ = whole;
  challenge(1).erase("encoding_proof");
  expect_fault("vanilla_proofs: partition 0, challenge 1: 'encoding_proof' is missing");
}

// Any damaged byte is either refused or read as what it says; nothing crashes.
TEST_F(C1Faults, DamagedBytesDoNotCrash) {
  auto random = cuzk::testing::rng(3);
  size_t refused = 0;
  for (int round = 0; round < 500; round++) {
    std::string text = round % 2 ? bare_ : wrapped_;
    for (int i = 0; i < 3; i++) text[random() % text.size()] = static_cast<char>(random());
    refused += !parse_c1(as_bytes(text));
  }
  EXPECT_GT(refused, 400u);
}

TEST_F(C1Faults, Writing) {
  const auto discard = [](std::string_view) { return Status(); };
  commit_.sector_number.reset();
  EXPECT_TRUE(write_c1(commit_, C1Form::kBare, discard));
  EXPECT_FALSE(write_c1(commit_, C1Form::kWrapped, discard));
  size_t calls = 0;
  Status full = write_c1(commit_, C1Form::kBare, [&](std::string_view) {
    calls++;
    return Status(fail(Code::kIo, "disk full"));
  });
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().message, "disk full");
  EXPECT_EQ(calls, 1u);
  commit_.registered_proof = "StackedDrg7KiBV1_1";
  EXPECT_FALSE(write_c1(commit_, C1Form::kBare, discard));
}

}  // namespace
}  // namespace cuzk::filecoin
