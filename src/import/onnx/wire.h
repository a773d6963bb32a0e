// SPDX-License-Identifier: Apache-2.0
// Reading protobuf messages in place. `Fields` walks one message; every access checks the wire type first (protozero only asserts it), so
// any bytes end in a value or an exception of this header. Exceptions stay inside the component: `guarded` turns them into a Status.
// Internal to import/onnx.
#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <protozero/pbf_reader.hpp>

#include <rota/status.h>

namespace rota::onnx {

/// What a reader below throws when the bytes are well-formed protobuf but not what ONNX allows.
struct ParseFailure {
  Status status;
};

[[noreturn]] inline void fail(ErrorCode code, std::string message) {
  throw ParseFailure{Status(code, std::move(message))};
}

/// A cursor over the fields of one message. The bytes must outlive everything that is taken from it.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : reader_(bytes.data(), bytes.size()) {}

  bool next() {
    if (!reader_.next()) return false;
    if (reader_.wire_type() == protozero::pbf_wire_type::length_delimited) checkLength();
    return true;
  }
  std::uint32_t field() const { return reader_.tag(); }
  void skip() { reader_.skip(); }

  /// A nested message, bytes or string.
  std::string_view bytes() {
    expect(protozero::pbf_wire_type::length_delimited);
    const auto view = reader_.get_view();
    return {view.data(), view.size()};
  }
  /// A string that must be UTF-8.
  std::string_view text();
  /// The name of something: UTF-8 of at most 4096 bytes, since names are repeated in the names of what is inside.
  std::string_view name();
  std::int64_t integer() {
    expect(protozero::pbf_wire_type::varint);
    return reader_.get_int64();
  }
  float real() {
    expect(protozero::pbf_wire_type::fixed32);
    return reader_.get_float();
  }
  /// Appends one value or a packed run; numbers of any encoding that protobuf allows.
  void append(std::vector<std::int64_t>& values);
  void append(std::vector<float>& values);
  void append(std::vector<double>& values);

 private:
  /// Protozero keeps lengths in 32 bits and would take a longer one modulo 2^32.
  void checkLength() const;
  void expect(protozero::pbf_wire_type type) const {
    if (reader_.wire_type() != type) {
      fail(ErrorCode::kModelInvalid, "field " + std::to_string(reader_.tag()) + " has a wrong wire type");
    }
  }
  protozero::pbf_reader reader_;
};

/// True when `text` is well-formed UTF-8.
bool isUtf8(std::string_view text);

template <typename T> struct Guarded {
  using Type = Result<T>;
};
template <typename T> struct Guarded<Result<T>> {
  using Type = Result<T>;
};

/// Runs a reader (of a value or a Result) and turns what it throws into a Status.
template <typename Reader> auto guarded(Reader&& reader) -> typename Guarded<decltype(reader())>::Type {
  try {
    return reader();
  } catch (const ParseFailure& failure) {
    return failure.status;
  } catch (const protozero::end_of_buffer_exception&) {
    return Status(ErrorCode::kModelTruncated, "the bytes end in the middle of a field");
  } catch (const protozero::exception&) {
    return Status(ErrorCode::kModelInvalid, "the bytes are not a protobuf message");
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "no memory to read the model");
  }
}

}  // namespace rota::onnx
