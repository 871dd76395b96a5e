#include "gateway/signature.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "gateway/percent.hpp"
#include "gateway/sha256.hpp"

namespace canopy::gateway {

namespace {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view scope_end = "/aws4_request";
constexpr std::size_t signed_headers_max = 64;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

template <class Use>
void for_each_part(std::string_view text, char separator, Use use) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    use(part);
  }
}

std::string decoded(std::string_view encoded) {
  std::string text;
  percent_decode(encoded, true, text);
  return text;
}

// The decoded value of a query's parameter; nothing: it is not there.
std::optional<std::string> parameter(std::string_view query, std::string_view name) {
  std::optional<std::string> value;
  for_each_part(query, '&', [&](std::string_view pair) {
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (!value && decoded(pair.substr(0, equals)) == name)
      value = decoded(pair.substr(std::min(equals + 1, pair.size())));
  });
  return value;
}

// Regions become parts of queues' names.
bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

// KEY/DATE/REGION/SERVICE/aws4_request; a key id may have slashes of its own.
bool set_credential(std::string_view credential, Signature& signature) {
  std::string* const parts[] = {&signature.service, &signature.region, &signature.date};
  if (!credential.ends_with(scope_end)) return false;
  credential.remove_suffix(scope_end.size());
  for (std::string* part : parts) {
    const std::size_t slash = credential.rfind('/');
    if (slash == std::string_view::npos) return false;
    *part = credential.substr(slash + 1);
    credential = credential.substr(0, slash);
  }
  signature.key_id = credential;
  return !signature.key_id.empty() && is_label(signature.region) && is_label(signature.service) &&
         is_label(signature.date);
}

bool set_signed_headers(std::string_view list, Signature& signature) {
  const auto separators = static_cast<std::size_t>(std::count(list.begin(), list.end(), ';'));
  signature.signed_headers.reserve(std::min(separators, signed_headers_max) + 1);
  for_each_part(list, ';', [&](std::string_view name) {
    if (signature.signed_headers.size() <= signed_headers_max)
      signature.signed_headers.emplace_back(name);
  });
  return !signature.signed_headers.empty() && signature.signed_headers.size() <= signed_headers_max;
}

Failure malformed_credential() {
  return incomplete_signature(
      "Credential must have exactly 5 slash-delimited elements, e.g. "
      "keyid/date/region/service/term.");
}

boost::system::result<std::optional<Signature>, Failure> from_header(const Request& request,
                                                                     std::string_view header) {
  Signature signature;
  std::string_view credential, headers;
  for_each_part(header.substr(algorithm.size()), ',', [&](std::string_view item) {
    item = trimmed(item);
    const std::size_t equals = std::min(item.find('='), item.size());
    const std::string_view name = item.substr(0, equals);
    const std::string_view value = item.substr(std::min(equals + 1, item.size()));
    if (name == "Credential") credential = value;
    if (name == "SignedHeaders") headers = value;
    if (name == "Signature") signature.signature = value;
  });
  signature.timestamp = request.field("x-amz-date");
  std::string missing;
  const auto require = [&](bool there, std::string_view name) {
    if (!there) missing += fmt::format("Authorization header requires '{}' parameter. ", name);
  };
  require(!credential.empty(), "Credential");
  require(!signature.signature.empty(), "Signature");
  require(!headers.empty(), "SignedHeaders");
  if (signature.timestamp.empty())
    missing +=
        "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' "
        "header. ";
  if (!missing.empty()) return incomplete_signature(missing + "Authorization=AWS4-HMAC-SHA256");
  if (!set_credential(credential, signature)) return malformed_credential();
  if (!set_signed_headers(headers, signature)) return incomplete_signature("Too many headers.");
  return std::optional(std::move(signature));
}

boost::system::result<std::optional<Signature>, Failure> from_query(std::string_view query) {
  Signature signature;
  signature.presigned = true;
  const auto credential = parameter(query, "X-Amz-Credential");
  const auto headers = parameter(query, "X-Amz-SignedHeaders");
  const auto expires = parameter(query, "X-Amz-Expires");
  signature.signature = parameter(query, "X-Amz-Signature").value_or("");
  signature.timestamp = parameter(query, "X-Amz-Date").value_or("");
  if (!credential || !headers || signature.signature.empty() || signature.timestamp.empty())
    return incomplete_signature(
        "AWS query-string parameters must include 'X-Amz-Algorithm', 'X-Amz-Credential', "
        "'X-Amz-Signature', 'X-Amz-SignedHeaders' and 'X-Amz-Date'.");
  if (!set_credential(*credential, signature)) return malformed_credential();
  if (!set_signed_headers(*headers, signature)) return incomplete_signature("Too many headers.");
  if (expires) {
    std::int64_t seconds = 0;
    const auto [end, error] =
        std::from_chars(expires->data(), expires->data() + expires->size(), seconds);
    if (error != std::errc() || end != expires->data() + expires->size() || seconds < 0 ||
        seconds > 604'800)
      return incomplete_signature("X-Amz-Expires must be between 0 and 604800 seconds.");
    signature.expires = seconds;
  }
  return std::optional(std::move(signature));
}

// Without empty and dot segments, and with each segment encoded once more: what
// was %20 on the way is %2520 here.
void append_canonical_path(std::string_view path, std::string& out) {
  std::vector<std::string_view> segments;
  for_each_part(path, '/', [&](std::string_view segment) {
    if (segment.empty() || segment == ".") return;
    if (segment != "..")
      segments.push_back(segment);
    else if (!segments.empty())
      segments.pop_back();
  });
  for (const std::string_view segment : segments) {
    out += '/';
    percent_encode(segment, false, out);
  }
  if (segments.empty() || path.ends_with('/')) out += '/';
}

void append_canonical_query(std::string_view query, bool presigned, std::string& out) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for_each_part(query, '&', [&](std::string_view pair) {
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string name = decoded(pair.substr(0, equals));
    if (pair.empty() || (presigned && name == "X-Amz-Signature")) return;
    auto& canonical = pairs.emplace_back();
    percent_encode(name, false, canonical.first);
    percent_encode(decoded(pair.substr(std::min(equals + 1, pair.size()))), false,
                   canonical.second);
  });
  std::sort(pairs.begin(), pairs.end());
  bool first = true;
  for (const auto& [name, value] : pairs) {
    if (!first) out += '&';
    first = false;
    out.append(name).append("=").append(value);
  }
}

// Runs of spaces as one, none at the ends.
void append_canonical_value(std::string_view value, std::string& out) {
  value = trimmed(value);
  if (value.find("  ") == std::string_view::npos && value.find('\t') == std::string_view::npos) {
    out += value;
    return;
  }
  bool space = false;
  for (const char c : value) {
    const bool is_space = c == ' ' || c == '\t';
    if (!is_space && space) out += ' ';
    if (!is_space) out += c;
    space = is_space;
  }
}

// False: there is no such header.
bool append_canonical_header(const Request& request, std::string_view name, std::string& out) {
  bool found = false;
  for (const Field& field : request.fields) {
    if (!equal_ignoring_case(field.name, name)) continue;
    out += found ? std::string_view(",") : name;
    if (!found) out += ':';
    append_canonical_value(field.value, out);
    found = true;
  }
  out += '\n';
  return found;
}

constexpr std::string_view unsigned_payload = "UNSIGNED-PAYLOAD";

}  // namespace

std::string Signature::scope() const {
  std::string text;
  text.reserve(date.size() + region.size() + service.size() + scope_end.size() + 2);
  return text.append(date).append("/").append(region).append("/").append(service).append(scope_end);
}

boost::system::result<std::optional<Signature>, Failure> signature_of(const Request& request) {
  const std::string_view header = request.field("authorization");
  if (header.starts_with(algorithm)) return from_header(request, header);
  if (header.empty() && request.query().find("X-Amz-Algorithm=") != std::string_view::npos &&
      parameter(request.query(), "X-Amz-Algorithm") == algorithm)
    return from_query(request.query());
  return std::optional<Signature>();
}

std::optional<std::int64_t> parse_timestamp(std::string_view text) noexcept {
  if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z') return std::nullopt;
  const auto number = [&](std::size_t begin, std::size_t size) {
    int value = 0;
    for (const char c : text.substr(begin, size))
      value = c >= '0' && c <= '9' && value >= 0 ? value * 10 + (c - '0') : -1;
    return value;
  };
  using namespace std::chrono;
  const year_month_day day{year(number(0, 4)), month(static_cast<unsigned>(number(4, 2))),
                           std::chrono::day(static_cast<unsigned>(number(6, 2)))};
  const int hour = number(9, 2), minute = number(11, 2), second = number(13, 2);
  if (number(0, 4) < 0 || !day.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
      second < 0 || second > 60)
    return std::nullopt;
  return sys_days(day).time_since_epoch().count() * std::int64_t{86'400} + hour * 3'600 +
         minute * 60 + second;
}

std::string format_timestamp(std::int64_t seconds) {
  using namespace std::chrono;
  const sys_seconds time{std::chrono::seconds(seconds)};
  const auto midnight = floor<days>(time);
  const year_month_day day(midnight);
  const hh_mm_ss clock(time - midnight);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(day.year()),
                     static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::optional<std::string> canonical_request(const Request& request, const Signature& signature) {
  std::string text;
  text.reserve(1'024);
  text.append(request.method).append("\n");
  append_canonical_path(request.path(), text);
  text += '\n';
  append_canonical_query(request.query(), signature.presigned, text);
  text += '\n';
  for (const std::string& name : signature.signed_headers)
    if (!append_canonical_header(request, name, text)) return std::nullopt;
  text += '\n';
  for (const std::string& name : signature.signed_headers)
    text.append(&name == signature.signed_headers.data() ? "" : ";").append(name);
  text += '\n';
  const std::string_view stated = request.field("x-amz-content-sha256");
  if (stated == unsigned_payload) return text.append(unsigned_payload);
  const std::string actual = to_hex(view_of(sha256(request.body)));
  if (!stated.empty() && stated != actual) return std::nullopt;
  return text.append(actual);
}

std::string string_to_sign(const Signature& signature, std::string_view canonical) {
  std::string text;
  text.reserve(256);
  text.append(algorithm).append("\n").append(signature.timestamp).append("\n");
  text.append(signature.scope()).append("\n");
  return text.append(to_hex(view_of(sha256(canonical))));
}

}  // namespace canopy::gateway
