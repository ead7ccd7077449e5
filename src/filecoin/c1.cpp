#include "filecoin/c1.h"

// A result that is used without a look at its error does not compile then; else it would throw out of this library.
#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include "field/fields.h"
#include "filecoin/shapes.h"

namespace cuzk::filecoin {
namespace {

namespace sj = simdjson::ondemand;

constexpr size_t kMaxName = 80;  // above the longest name there is; what a message may repeat of the text

// Errors on the way up are ".field[index].field: text"; each level puts its own name in front.
template <class... Args>
tl::unexpected<Error> fault(fmt::format_string<Args...> format, Args&&... args) {
  return fail(Code::kInvalidInput, ": {}", fmt::format(format, std::forward<Args>(args)...));
}
tl::unexpected<Error> fault(simdjson::error_code code) {
  if (code == simdjson::INCOMPLETE_ARRAY_OR_OBJECT || code == simdjson::UNCLOSED_STRING) {
    return fault("the JSON text is cut short, or its brackets or quotes do not match");
  }
  return fault("malformed JSON ({})", simdjson::error_message(code));
}
tl::unexpected<Error> fault(simdjson::error_code code, std::string_view expected) {
  return code == simdjson::INCORRECT_TYPE || code == simdjson::NUMBER_ERROR ? fault("expected {}", expected)
                                                                            : fault(code);
}
tl::unexpected<Error> under(std::string_view place, Error error) {
  return fail(error.code, "{}{}", place, error.message);
}

// Walks over a value that nobody asked for.
Status skip(sj::value value, unsigned depth) {
  if (depth > kMaxC1Depth) return fault("nested deeper than {} levels", kMaxC1Depth);
  sj::json_type type;
  if (auto code = value.type().get(type)) return fault(code);
  simdjson::error_code code = simdjson::SUCCESS;
  switch (type) {
    case sj::json_type::object: {
      sj::object object;
      if ((code = value.get_object().get(object))) return fault(code);
      for (auto field : object) {
        sj::value inner;
        if ((code = field.value().get(inner))) return fault(code);
        CUZK_TRY(skip(inner, depth + 1));
      }
      break;
    }
    case sj::json_type::array: {
      sj::array array;
      if ((code = value.get_array().get(array))) return fault(code);
      for (auto element : array) {
        sj::value inner;
        if ((code = element.get(inner))) return fault(code);
        CUZK_TRY(skip(inner, depth + 1));
      }
      break;
    }
    case sj::json_type::string: code = value.get_string().error(); break;
    case sj::json_type::number: code = value.get_double().error(); break;
    case sj::json_type::boolean: code = value.get_bool().error(); break;
    case sj::json_type::null: {
      bool is_null = false;
      code = value.is_null().get(is_null);
      if (!code && !is_null) code = simdjson::N_ATOM_ERROR;
      break;
    }
  }
  return code ? Status(fault(code)) : Status();
}

template <class Read>
struct Member {
  std::string_view name;
  Read read;  // Status(sj::value)
};
template <class Read>
Member(std::string_view, Read) -> Member<Read>;

// Reads the members of an object in whatever order; the answer has bit i set where member i was there.
template <class... Read>
Result<uint32_t> some_members(sj::object object, unsigned depth, const Member<Read>&... members) {
  uint32_t seen = 0;
  for (auto field : object) {
    std::string_view key;
    sj::value value;
    if (auto code = field.unescaped_key().get(key)) return fault(code);
    if (auto code = field.value().get(value)) return fault(code);
    unsigned i = 0;
    bool known = false;
    Status status;
    auto try_member = [&](const auto& member) {
      const uint32_t bit = uint32_t{1} << i++;
      if (known || key != member.name) return;
      known = true;
      status = seen & bit ? Status(fault("given twice")) : member.read(value);
      seen |= bit;
      if (!status) status = under(fmt::format(".{}", member.name), std::move(status).error());
    };
    (try_member(members), ...);
    if (!known) status = skip(value, depth + 1);
    CUZK_TRY(std::move(status));
  }
  return seen;
}

// As above, and every one must be there.
template <class... Read>
Status members(sj::value value, const Member<Read>&... all) {
  sj::object object;
  if (auto code = value.get_object().get(object)) return fault(code, "an object");
  CUZK_TRY_ASSIGN(uint32_t seen, some_members(object, 1, all...));
  const std::string_view names[] = {all.name...};
  for (size_t i = 0; i < sizeof...(all); i++) {
    if (!(seen >> i & 1)) return fault("'{}' is missing", names[i]);
  }
  return {};
}

struct Count {
  size_t least, most;
  Count(size_t exactly) : Count(exactly, exactly) {}
  Count(size_t from, size_t to) : least(from), most(to) {}
};

// Reads an array; `place` names an element in errors.
template <class T, class Read>
Status list(sj::value value, std::vector<T>& out, Count count, Read read, std::string_view place = "[{}]") {
  sj::array array;
  if (auto code = value.get_array().get(array)) return fault(code, "an array");
  out.reserve(count.least);
  for (auto element : array) {
    sj::value inner;
    if (auto code = element.get(inner)) return fault(code);
    if (out.size() == count.most) return fault("more than {} elements", count.most);
    if (Status status = read(inner, out.emplace_back()); !status) {
      return under(fmt::format(fmt::runtime(place), out.size() - 1), std::move(status).error());
    }
  }
  if (out.size() < count.least) return fault("expected {} elements, got {}", count.least, out.size());
  return {};
}

Status bytes32(sj::value value, Bytes32& out) {
  sj::array array;
  if (auto code = value.get_array().get(array)) return fault(code, "an array of 32 numbers");
  size_t i = 0;
  for (auto element : array) {
    uint64_t byte;
    if (auto code = element.get_uint64().get(byte)) return fault(code, "numbers from 0 to 255");
    if (byte > 255) return fault("number {} is {}, above 255", i, byte);
    if (i == 32) return fault("more than 32 numbers");
    out[i++] = static_cast<uint8_t>(byte);
  }
  if (i != 32) return fault("expected 32 numbers, got {}", i);
  return {};
}

// A node value: 32 bytes, little endian, below r.
Status node_value(sj::value value, Bytes32& out) {
  CUZK_TRY(bytes32(value, out));
  constexpr uint8_t kTopByteOfR = FrParams::kModulus[3] >> 56;
  if (out[31] >= kTopByteOfR && !Fr::from_bytes_le(out)) return fault("not a canonical field element (not below r)");
  return {};
}

template <class T>
Status number(sj::value value, T& out, uint64_t limit) {
  uint64_t wide;
  if (auto code = value.get_uint64().get(wide)) return fault(code, "a whole number");
  if (wide >= limit) return fault("{} is not below {}", wide, limit);
  out = static_cast<T>(wide);
  return {};
}

// Reads the vanilla proofs of one sector size.
class ProofReader {
 public:
  explicit ProofReader(const PorepShape& shape)
      : shape_(shape), base_levels_(path_arities(shape).size() - (shape.tree.sub > 0) - (shape.tree.top > 0)) {}

  // 126 partitions are the most there are (spec C.1); how many this proof must have, its registered name decides.
  Status partitions(sj::value value, std::vector<std::vector<ChallengeProof>>& out) const {
    auto challenges = [this](sj::value v, std::vector<ChallengeProof>& partition) {
      return list(
          v, partition, shape_.challenges_per_partition,
          [this](sj::value w, ChallengeProof& proof) { return challenge(w, proof); }, ", challenge {}");
    };
    return list(value, out, {1, 126}, challenges, ": partition {}");
  }

 private:
  Status challenge(sj::value value, ChallengeProof& out) const {
    constexpr TreeShape kDataTree = {2, 0, 0};
    const size_t data_levels = shape_.log2_nodes();
    auto label = [this](sj::value v, LabelingProof& proof) { return labeling(v, proof); };
    Status status = members(
        value, Member{"comm_d_proofs", [&](auto v) { return merkle(v, kDataTree, data_levels, out.comm_d); }},
        Member{"comm_r_last_proof", [&](auto v) { return merkle(v, shape_.tree, base_levels_, out.comm_r_last); }},
        Member{"replica_column_proofs", [&](auto v) { return columns(v, out); }},
        Member{"labeling_proofs", [&](auto v) { return list(v, out.labeling, shape_.layers, label); }},
        Member{"encoding_proof", [&](auto v) { return labeling(v, out.encoding); }});
    if (!status && status.error().message.starts_with('.')) status.error().message.replace(0, 1, ", ");
    return status;
  }

  static auto element_reader(unsigned arity) {
    return [arity](sj::value value, PathElement& out) {
      return members(value, Member{"hashes", [&](auto v) { return list(v, out.hashes, arity - 1, node_value); }},
                     Member{"index", [&](auto v) { return number(v, out.index, arity); }});
    };
  }

  Status merkle(sj::value value, const TreeShape& tree, size_t base_levels, MerkleProof& out) const {
    return members(value, Member{"data", [&](auto v) { return proof_data(v, tree, base_levels, out); }});
  }

  // {"Single": {...}}, {"Sub": {...}} or {"Top": {...}}, as the tree has one, two or three parts.
  Status proof_data(sj::value value, const TreeShape& tree, size_t base_levels, MerkleProof& out) const {
    std::vector<PathElement> base, sub, top;
    auto path = [&](std::vector<PathElement>& levels, size_t count, unsigned arity) {
      return [&levels, count, arity](sj::value v) {
        return members(v, Member{"path", [&](auto w) { return list(w, levels, count, element_reader(arity)); }});
      };
    };
    const Member root{"root", [&](auto v) { return node_value(v, out.root); }};
    const Member leaf{"leaf", [&](auto v) { return node_value(v, out.leaf); }};
    const Member base_proof{"base_proof", path(base, base_levels, tree.base)};
    const Member sub_proof{"sub_proof", path(sub, 1, tree.sub)};
    const Member top_proof{"top_proof", path(top, 1, tree.top)};
    const Member single{"Single", [&](auto v) {
                          return members(v, root, leaf, Member{"path", path(base, base_levels, tree.base)});
                        }};
    const Member with_sub{"Sub", [&](auto v) { return members(v, base_proof, sub_proof, root, leaf); }};
    const Member with_top{"Top", [&](auto v) { return members(v, base_proof, sub_proof, top_proof, root, leaf); }};
    CUZK_TRY(tree.top ? members(value, with_top) : tree.sub ? members(value, with_sub) : members(value, single));
    out.path = std::move(base);
    out.path.insert(out.path.end(), std::make_move_iterator(sub.begin()), std::make_move_iterator(sub.end()));
    out.path.insert(out.path.end(), std::make_move_iterator(top.begin()), std::make_move_iterator(top.end()));
    return {};
  }

  Status columns(sj::value value, ChallengeProof& out) const {
    auto column = [this](sj::value v, ColumnProof& proof) { return column_proof(v, proof); };
    return members(value, Member{"c_x", [&](auto v) { return column_proof(v, out.c_x); }},
                   Member{"drg_parents", [&](auto v) { return list(v, out.drg_parents, kDrgDegree, column); }},
                   Member{"exp_parents", [&](auto v) { return list(v, out.exp_parents, kExpanderDegree, column); }});
  }

  Status column_proof(sj::value value, ColumnProof& out) const {
    auto column = [&](sj::value v) {
      return members(v, Member{"index", [&](auto w) { return number(w, out.column.index, shape_.nodes); }},
                     Member{"rows", [&](auto w) { return list(w, out.column.rows, shape_.layers, node_value); }});
    };
    return members(value, Member{"column", column}, Member{"inclusion_proof", [&](auto v) {
                                                             return merkle(v, shape_.tree, base_levels_, out.inclusion);
                                                           }});
  }

  Status labeling(sj::value value, LabelingProof& out) const {
    return members(value, Member{"parents", [&](auto v) { return list(v, out.parents, kLabelParents, node_value); }},
                   Member{"layer_index", [&](auto v) { return number(v, out.layer, shape_.layers + 1); }},
                   Member{"node", [&](auto v) { return number(v, out.node, shape_.nodes); }});
  }

  const PorepShape& shape_;
  size_t base_levels_;
};

// {"StackedDrg32GiBV1": [[challenge, ...], ...]}. The tag states the sector size, always by its V1 name, whatever the
// api version; it comes before the proofs, so their counts are checked as they are read.
Status vanilla_proofs(sj::value value, std::optional<PorepShape>& shape,
                      std::vector<std::vector<ChallengeProof>>& out) {
  sj::object object;
  if (auto code = value.get_object().get(object)) return fault(code, "an object");
  for (auto field : object) {
    std::string_view tag;
    sj::value proofs;
    if (auto code = field.unescaped_key().get(tag)) return fault(code);
    if (auto code = field.value().get(proofs)) return fault(code);
    if (shape) return fault("more than one kind of vanilla proof");
    constexpr std::string_view kHead = "StackedDrg", kTail = "V1";
    if (tag.size() > kHead.size() + kTail.size() && tag.starts_with(kHead) && tag.ends_with(kTail)) {
      const std::string_view size = tag.substr(kHead.size(), tag.size() - kHead.size() - kTail.size());
      auto found = parse_size(size).and_then(porep_shape);
      if (found) shape = *found;
    }
    if (!shape) return fault("unknown kind of vanilla proof '{}'", tag.substr(0, kMaxName));
    CUZK_TRY(ProofReader(*shape).partitions(proofs, out));
  }
  return shape ? Status() : fault("empty");
}

// The text of a string without copying it; a copy in the parser's memory where something is escaped.
Status string(sj::value value, std::string_view& out) {
  std::string_view token = value.raw_json_token();
  if (!token.starts_with('"')) return fault("expected a string");
  if (token.find('\\') != token.npos) {
    auto code = value.get_string().get(out);
    return code ? Status(fault(code)) : Status();
  }
  out = token.substr(1, token.rfind('"') - 1);
  return {};
}

constexpr std::array<std::string_view, 7> kBareFields = {"registered_proof", "vanilla_proofs", "comm_r", "comm_d",
                                                         "replica_id",       "seed",           "ticket"};
constexpr uint32_t kAllBareFields = (1 << kBareFields.size()) - 1;
constexpr uint32_t kPhase1Out = 1 << 9;

// What the top object of a text says; which of the two forms it is shows only at its end.
struct Document {
  SealCommit commit;
  std::optional<PorepShape> shape;
  std::optional<uint64_t> sector_bytes;
  std::string_view phase1;  // base64, in the text or the parser
  uint32_t seen = 0;
};

Status read_document(sj::parser& parser, simdjson::padded_string_view json, Document& out) {
  sj::document document;
  sj::object object;
  if (auto code = parser.iterate(json).get(document)) return fault(code);
  if (auto code = document.get_object().get(object)) return fault(code, "an object");
  SealCommit& commit = out.commit;
  std::string_view name;
  CUZK_TRY_ASSIGN(
      out.seen,
      some_members(object, 1, Member{kBareFields[0], [&](auto v) { return string(v, name); }},
                   Member{kBareFields[1], [&](auto v) { return vanilla_proofs(v, out.shape, commit.partitions); }},
                   Member{kBareFields[2], [&](auto v) { return node_value(v, commit.comm_r); }},
                   Member{kBareFields[3], [&](auto v) { return node_value(v, commit.comm_d); }},
                   Member{kBareFields[4], [&](auto v) { return node_value(v, commit.replica_id); }},
                   Member{kBareFields[5], [&](auto v) { return bytes32(v, commit.seed); }},
                   Member{kBareFields[6], [&](auto v) { return bytes32(v, commit.ticket); }},
                   Member{"SectorNum", [&](auto v) { return number(v, commit.sector_number.emplace(), UINT64_MAX); }},
                   Member{"SectorSize", [&](auto v) { return number(v, out.sector_bytes.emplace(), UINT64_MAX); }},
                   Member{"Phase1Out", [&](auto v) { return string(v, out.phase1); }}));
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
    return fault("text after the end of the JSON object");
  commit.registered_proof = name.substr(0, kMaxName);
  return {};
}

// A wrapper's statement of the size.
Status check_sector_size(const std::optional<uint64_t>& stated, const RegisteredProof& proof) {
  if (!stated || *stated == proof.sector_bytes) return {};
  return fault("SectorSize {} is not that of {}, {}", *stated, proof.name, proof.sector_bytes);
}

// The statements of a bare document, against each other.
Result<SealCommit> finish(Document document) {
  for (size_t i = 0; i < kBareFields.size(); i++) {
    if (!(document.seen >> i & 1)) return fault("'{}' is missing", kBareFields[i]);
  }
  SealCommit& commit = document.commit;
  auto proof = seal_proof(commit.registered_proof);
  if (!proof) return under(".registered_proof: ", std::move(proof).error());
  CUZK_TRY(check_sector_size(document.sector_bytes, *proof));
  if (proof->sector_bytes != document.shape->sector_bytes) {
    return fault("vanilla_proofs are of a {} sector, but registered_proof is {}",
                 format_size(document.shape->sector_bytes), commit.registered_proof);
  }
  if (commit.partitions.size() != proof->partitions) {
    return fault("{} has {} partitions, but vanilla_proofs has {}", commit.registered_proof, proof->partitions,
                 commit.partitions.size());
  }
  if (commit.seed == Bytes32{}) return fault("seed is all zeros");
  if (commit.comm_d == Bytes32{}) return fault("comm_d is all zeros");
  if (commit.comm_r == Bytes32{}) return fault("comm_r is all zeros");
  return std::move(document.commit);
}

Result<SealCommit> parse_bare(const simdjson::padded_string& json) {
  sj::parser parser;
  Document document;
  CUZK_TRY(read_document(parser, json, document));
  if (document.seen & kPhase1Out) return fault("'Phase1Out' inside 'Phase1Out'");
  return finish(std::move(document));
}

// The bare text inside a wrapped one, in `inner`; or the proof itself where the text is bare.
Result<std::optional<SealCommit>> parse_outer(ByteSpan json, simdjson::padded_string& inner, Document& wrapper) {
  sj::parser parser;
  const simdjson::padded_string padded(as_text(json));
  CUZK_TRY(read_document(parser, padded, wrapper));
  if (!(wrapper.seen & kPhase1Out)) return finish(std::move(wrapper));
  if (uint32_t both = wrapper.seen & kAllBareFields; both != 0) {
    return fault("'Phase1Out' beside '{}': neither wrapped nor bare", kBareFields[std::countr_zero(both)]);
  }
  inner = simdjson::padded_string(base64_size(wrapper.phase1));
  Status decoded = from_base64(wrapper.phase1, {reinterpret_cast<uint8_t*>(inner.data()), inner.size()});
  if (!decoded) return under(".Phase1Out: ", std::move(decoded).error());
  return std::nullopt;
}

Result<SealCommit> parse(ByteSpan json) {
  simdjson::padded_string inner;
  Document wrapper;
  CUZK_TRY_ASSIGN(std::optional<SealCommit> commit, parse_outer(json, inner, wrapper));
  if (commit) return *std::move(commit);

  auto proof = parse_bare(inner);
  if (!proof) return under(".Phase1Out", std::move(proof).error());
  CUZK_TRY(check_sector_size(wrapper.sector_bytes, *seal_proof(proof->registered_proof)));
  proof->sector_number = wrapper.commit.sector_number;
  return proof;
}

}  // namespace

Result<SealCommit> parse_c1(ByteSpan text, uint64_t max_bytes) {
  if (text.empty()) return fail(Code::kInvalidInput, "the C1 output is empty");
  if (text.size() > max_bytes) {
    return fail(Code::kTooLarge, "the C1 output has {} bytes, more than the limit of {}", text.size(), max_bytes);
  }
  auto commit = parse(text);
  if (commit) return commit;
  Error& error = commit.error();
  error.message.erase(0, error.message.find_first_not_of(".: "));
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace cuzk::filecoin
