// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/sample_cache.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <type_traits>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "src/base/checked_math.hpp"
#include "src/base/error.hpp"
#include "src/base/file.hpp"

namespace charter {
namespace {

static_assert(std::endian::native == std::endian::little, "the cache is read as it lies in memory");

constexpr char magic[8] = {'C', 'H', 'S', 'A', 'M', 'P', 'L', 'E'};
constexpr std::uint32_t format_version = 1;
constexpr std::int64_t alignment = 64;

struct Header {
  char magic[8];
  std::uint32_t version;
  std::int32_t largest_id;
  std::int64_t file_bytes;
  std::int64_t samples;
  std::int64_t ids;
  std::int64_t description_bytes;
  Fingerprint content;
  Fingerprint description;
  std::uint8_t unused[32];
  Fingerprint header;  // of all bytes above
};
static_assert(sizeof(Header) == 128);
static_assert(std::is_trivially_copyable_v<Header> && std::has_unique_object_representations_v<Header>);

Fingerprint hash_of(std::span<const std::byte> bytes) {
  StreamHash hash;
  hash.update(bytes);
  return hash.digest();
}

Fingerprint header_hash(const Header& header) {
  return hash_of(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, header)));
}

// Where each section starts, in file order, and where the file ends.
struct Layout {
  std::int64_t ids, mask, offsets, loss_tokens, description, end;
};

std::int64_t after(std::int64_t start, std::int64_t count, std::int64_t element_bytes) {
  const std::int64_t end =
      checked_add(start, checked_mul(count, element_bytes, "sample cache"), "sample cache");
  return checked_add(end, alignment - 1, "sample cache") / alignment * alignment;
}

Layout layout_of(std::int64_t samples, std::int64_t ids, std::int64_t description_bytes) {
  Layout layout{};
  layout.ids = after(0, 1, sizeof(Header));
  layout.mask = after(layout.ids, ids, sizeof(TokenId));
  layout.offsets = after(layout.mask, ids / 64 + (ids % 64 != 0 ? 1 : 0), sizeof(std::uint64_t));
  layout.loss_tokens = after(layout.offsets, checked_add(samples, 1, "sample cache"), sizeof(std::int64_t));
  layout.description = after(layout.loss_tokens, samples, sizeof(std::int32_t));
  layout.end = checked_add(layout.description, description_bytes, "sample cache");
  return layout;
}

[[noreturn]] void damaged(const std::filesystem::path& path, const std::string& what) {
  fail(ExitCode::bad_input, fmt::format("{}: damaged sample cache: {}; delete the file to have it made again",
                                        path.string(), what));
}

template <class T>
std::span<const T> section(const MappedFile& file, std::int64_t offset, std::int64_t count) {
  return {reinterpret_cast<const T*>(file.bytes().data() + offset), static_cast<std::size_t>(count)};
}

Header read_header(const MappedFile& file) {
  Header header{};
  if (file.size() < static_cast<std::int64_t>(sizeof header)) {
    damaged(file.path(), fmt::format("it has {} bytes, the header alone {}", file.size(), sizeof header));
  }
  std::memcpy(&header, file.bytes().data(), sizeof header);
  if (std::memcmp(header.magic, magic, sizeof magic) != 0)
    damaged(file.path(), "it does not begin with CHSAMPLE");
  if (header.version != format_version) {
    fail(ExitCode::bad_input,
         fmt::format("{}: sample cache of format {}, this program reads {}; delete the file to have it "
                     "made again",
                     file.path().string(), header.version, format_version));
  }
  if (header.header != header_hash(header)) damaged(file.path(), "the header's hash does not fit");
  if (header.file_bytes != file.size()) {
    damaged(file.path(), fmt::format("it has {} bytes, written were {}", file.size(), header.file_bytes));
  }
  // Each counts things of at least one byte, so a count beyond the length is refused before it is multiplied.
  for (const std::int64_t count : {header.samples, header.ids, header.description_bytes}) {
    if (count < 0 || count > file.size())
      damaged(file.path(), fmt::format("it cannot hold {} elements", count));
  }
  if (layout_of(header.samples, header.ids, header.description_bytes).end != file.size()) {
    damaged(file.path(), "its counts do not add up to its length");
  }
  return header;
}

}  // namespace

SampleCache open_sample_cache(const std::filesystem::path& path, CacheCheck check) {
  const auto file = std::make_shared<const MappedFile>(path);
  const Header header = read_header(*file);
  const Layout layout = layout_of(header.samples, header.ids, header.description_bytes);
  const SampleArrays arrays{section<TokenId>(*file, layout.ids, header.ids),
                            section<std::uint64_t>(*file, layout.mask, (header.ids + 63) / 64),
                            section<std::int64_t>(*file, layout.offsets, header.samples + 1),
                            section<std::int32_t>(*file, layout.loss_tokens, header.samples)};
  check_sample_arrays(arrays, path.string());
  const auto description = section<char>(*file, layout.description, header.description_bytes);
  if (hash_of(std::as_bytes(description)) != header.description)
    damaged(path, "the description's hash does not fit");
  if (check == CacheCheck::full) {
    if (sample_arrays_fingerprint(arrays) != header.content)
      damaged(path, "the hash of its samples does not fit");
    // A model of more tokens than largest_id is indexed by these without another look.
    for (const TokenId id : arrays.ids) {
      if (id < 0 || id > header.largest_id) {
        damaged(path, fmt::format("it holds the id {}, its header says 0 to {}", id, header.largest_id));
      }
    }
  }
  return {SampleStore(arrays, header.content, file),
          parse_json({description.data(), description.size()}, path.string() + " (description)"),
          header.largest_id};
}

SampleCacheWriter::SampleCacheWriter(const std::filesystem::path& path)
    : path_(path), temporary_(path.string() + ".tmp") {
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) give_up("creating");
  const Header placeholder{};
  write(std::as_bytes(std::span(&placeholder, 1)));
  pad();
}

SampleCacheWriter::~SampleCacheWriter() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

void SampleCacheWriter::give_up(const char* step) const {
  const std::string reason = std::strerror(errno);
  fail(ExitCode::cannot_write,
       fmt::format("{}: {} failed after {} bytes: {}", temporary_.string(), step, written_, reason));
}

void SampleCacheWriter::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) give_up("writing");
    written_ += put;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void SampleCacheWriter::pad() {
  static constexpr std::byte zeros[alignment]{};
  write(std::span(zeros).first(static_cast<std::size_t>((alignment - written_ % alignment) % alignment)));
}

void SampleCacheWriter::add(const Sample& sample) {
  index_.add(sample);
  for (const TokenId id : sample.ids) {
    require(id >= 0, "a token id is not negative");
    largest_id_ = std::max(largest_id_, id);
  }
  pending_.insert(pending_.end(), sample.ids.begin(), sample.ids.end());
  if (pending_.size() < std::size_t{1} << 18) return;
  content_.update(std::as_bytes(std::span(pending_)));
  write(std::as_bytes(std::span(pending_)));
  pending_.clear();
}

void SampleCacheWriter::finish(const Json& description) {
  require(fd_ >= 0, "a sample cache is finished once");
  const std::string text = description.dump(-1, ' ', false, Json::error_handler_t::replace);
  Header header{};
  std::memcpy(header.magic, magic, sizeof magic);
  header.version = format_version;
  header.largest_id = largest_id_;
  header.samples = samples();
  header.ids = index_.ids();
  header.description_bytes = static_cast<std::int64_t>(text.size());
  header.file_bytes = layout_of(header.samples, header.ids, header.description_bytes).end;
  const auto put = [&](std::span<const std::byte> bytes) {
    content_.update(bytes);
    write(bytes);
  };
  put(std::as_bytes(std::span(pending_)));
  pad();
  put(std::as_bytes(std::span(index_.mask())));
  pad();
  put(std::as_bytes(std::span(index_.offsets())));
  pad();
  put(std::as_bytes(std::span(index_.loss_tokens())));
  pad();
  write(std::as_bytes(std::span(text)));
  require(written_ == header.file_bytes, "a sample cache has the length its header says");
  header.content = content_.digest();
  header.description = hash_of(std::as_bytes(std::span(text)));
  header.header = header_hash(header);
  if (::pwrite(fd_, &header, sizeof header, 0) != sizeof header) give_up("writing the header");
  if (::fsync(fd_) != 0) give_up("fsync");
  if (::close(std::exchange(fd_, -1)) != 0) {
    const int reason = errno;
    ::unlink(temporary_.c_str());
    errno = reason;
    give_up("closing");
  }
  move_into_place(temporary_, path_);
}

}  // namespace charter
