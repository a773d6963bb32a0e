// SPDX-License-Identifier: Apache-2.0
// Names, shapes and ranges on the command line: NAME=VALUE splits at the last '=' whose left side is a known name.
#include <algorithm>
#include <charconv>

#include "cli/cli.h"
#include "core/check.h"
#include "knob/knob.h"

namespace rota::cli {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < 12; ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > 12 ? text + ", …" : text;
}

std::vector<std::string> splitAt(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

/// MIN:OPT:MAX of dims, or one dims for all three.
Result<std::vector<DimRange>> parseRange(const std::string& text, const std::string& option) {
  const std::vector<std::string> parts = splitAt(text, ':');
  if (parts.size() != 1 && parts.size() != 3)
    return Status(ErrorCode::kUsage, "a range has the form MIN:OPT:MAX").at(option).found(text);
  std::vector<std::vector<std::int64_t>> dims;
  for (const std::string& p : parts) {
    auto d = parseDims(p);
    if (!d) return d.status().at(option);
    dims.push_back(std::move(*d));
  }
  if (dims.size() == 1) dims.resize(3, dims[0]);
  if (dims[1].size() != dims[0].size() || dims[2].size() != dims[0].size())
    return Status(ErrorCode::kUsage, "the shapes of a range have different ranks").at(option).found(text);
  std::vector<DimRange> ranges;
  for (std::size_t i = 0; i < dims[0].size(); ++i) {
    const DimRange r{dims[0][i], dims[1][i], dims[2][i]};
    if (r.min > r.opt || r.opt > r.max)
      return Status(ErrorCode::kUsage, "a range is not MIN <= OPT <= MAX").at(option).found(text);
    ranges.push_back(r);
  }
  return ranges;
}

Status addInputRange(Ranges& ranges, const std::string& name, std::vector<DimRange> fresh,
                     const std::vector<NamedRank>& inputs, const std::string& option) {
  for (const NamedRank& input : inputs) {
    if (input.name != name || input.rank == fresh.size()) continue;
    return Status(ErrorCode::kInputShape, "the number of dims differs from the input's")
        .at(option)
        .expected(std::to_string(input.rank))
        .found(std::to_string(fresh.size()));
  }
  const auto [it, inserted] = ranges.inputs.emplace(name, fresh);
  if (inserted) return Status::ok();
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const DimRange& a = it->second[i];
    if (a.min != fresh[i].min || a.opt != fresh[i].opt || a.max != fresh[i].max) {
      return Status(ErrorCode::kUsage, "an input is given two different shapes or ranges")
          .at(option)
          .fix("give --shape or --profile once for each input");
    }
  }
  return Status::ok();
}

bool sameRanges(const std::vector<DimRange>& a, const std::vector<DimRange>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const DimRange& x, const DimRange& y) {
    return x.min == y.min && x.opt == y.opt && x.max == y.max;
  });
}

/// PROFILE:NAME=… without the profile, which is kept for the parts that follow; an input's own name may hold a colon.
std::string withoutProfileName(const std::string& part, const std::vector<std::string>& names,
                               std::string& profile) {
  const std::size_t equals = part.rfind('=');
  const std::string left = part.substr(0, equals);
  const std::size_t colon = left.find(':');
  const auto known = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (equals == std::string::npos || known(left) || colon == std::string::npos || colon == 0) return part;
  std::string name = left.substr(colon + 1);
  if (name.size() >= 2 && name.front() == '\'' && name.back() == '\'') name = name.substr(1, name.size() - 2);
  if (!known(name)) return part;
  profile = left.substr(0, colon);
  return part.substr(colon + 1);
}

/// Parts without a profile name fill one profile, until they name an input again: then the next one begins.
Status addToProfile(Ranges& ranges, const std::string& profile, const std::string& input,
                    std::vector<DimRange> fresh, const std::string& option) {
  std::vector<ProfileSpec>& all = ranges.profiles;
  std::string name = profile;
  if (name.empty()) {
    std::size_t count = 0;
    for (const ProfileSpec& p : all) count += p.name.starts_with("profile") ? 1U : 0U;
    const auto last = std::find_if(all.begin(), all.end(), [&](const ProfileSpec& p) {
      return count > 0 && p.name == "profile" + std::to_string(count - 1);
    });
    const bool isNext =
        last != all.end() && last->inputs.contains(input) && !sameRanges(last->inputs[input], fresh);
    name = "profile" + std::to_string(count == 0 || isNext ? count : count - 1);
  }
  auto at = std::find_if(all.begin(), all.end(), [&](const ProfileSpec& p) { return p.name == name; });
  if (at == all.end()) at = all.insert(all.end(), ProfileSpec{.name = name, .inputs = {}});
  const auto [it, inserted] = at->inputs.emplace(input, fresh);
  if (inserted || sameRanges(it->second, fresh)) return Status::ok();
  return Status(ErrorCode::kUsage, "a profile gives an input two different ranges")
      .at(option)
      .fix("give each input once in a profile of this name");
}

/// The importer wants one range for each input: from the least to the largest of all profiles.
Status addHulls(Ranges& ranges, const std::vector<NamedRank>& inputs,
                const std::map<std::string, std::string>& written) {
  std::map<std::string, std::vector<DimRange>> hulls;
  for (const ProfileSpec& profile : ranges.profiles)
    for (const auto& [name, dims] : profile.inputs) {
      const auto [it, inserted] = hulls.emplace(name, dims);
      if (inserted) continue;
      if (it->second.size() != dims.size())
        return Status(ErrorCode::kUsage, "two profiles give an input different numbers of dims")
            .at("--profile " + name);
      for (std::size_t i = 0; i < dims.size(); ++i) {
        it->second[i].min = std::min(it->second[i].min, dims[i].min);
        it->second[i].max = std::max(it->second[i].max, dims[i].max);
      }
    }
  for (const auto& [name, dims] : hulls)
    ROTA_RETURN_IF_ERROR(addInputRange(ranges, name, dims, inputs, "--profile " + written.at(name)));
  return Status::ok();
}

}  // namespace

Result<std::vector<std::int64_t>> parseDims(const std::string& text) {
  std::vector<std::int64_t> dims;
  if (text.empty() || text == "scalar") return dims;
  for (const std::string& part : splitAt(text, 'x')) {
    std::int64_t dim = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), dim);
    if (error != std::errc() || end != part.data() + part.size() || part.empty() || dim < 0) {
      return Status(ErrorCode::kUsage, "a shape is not numbers joined by 'x'")
          .expected("for example 1x3x224x224, or scalar")
          .found(text);
    }
    dims.push_back(dim);
  }
  return dims;
}

Result<std::pair<std::string, std::string>> splitName(const std::string& text,
                                                      const std::vector<std::string>& names,
                                                      const char* option) {
  for (std::size_t at = text.rfind('='); at != std::string::npos;
       at = at == 0 ? std::string::npos : text.rfind('=', at - 1)) {
    std::string left = text.substr(0, at);
    if (left.size() >= 2 && left.front() == '\'' && left.back() == '\'')
      left = left.substr(1, left.size() - 2);
    if (std::find(names.begin(), names.end(), left) != names.end())
      return std::pair(left, text.substr(at + 1));
    if (at == 0) break;
  }
  const std::size_t at = text.rfind('=');
  if (at == std::string::npos)
    return Status(ErrorCode::kUsage, std::string(option) + " has the form NAME=VALUE").found(text);
  std::string near;
  for (const std::string& n : knob::nearestNames(text.substr(0, at), names))
    near += (near.empty() ? "did you mean " : ", ") + n;
  return Status(ErrorCode::kUnknownName, std::string(option) + " names nothing that the model has")
      .at(text.substr(0, at))
      .expected("one of " + listed(names))
      .fix(near.empty() ? "`rota inspect` lists the names" : near + "?");
}

Result<Ranges> parseRanges(const ModelArguments& arguments, const std::vector<NamedRank>& inputs) {
  Ranges ranges;
  std::vector<std::string> names;
  for (const NamedRank& i : inputs) names.push_back(i.name);
  for (const std::string& text : arguments.shapes) {
    const std::string option = "--shape " + text;
    const std::size_t equals = text.rfind('=');
    std::vector<std::string> matching;
    if (equals != std::string::npos && text.substr(0, equals).find_first_of("*?") != std::string::npos) {
      for (const std::string& n : names)
        if (knob::globMatch(text.substr(0, equals), n)) matching.push_back(n);
    }
    std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (matching.empty()) {
      auto split = splitName(text, names, "--shape");
      if (!split) return split.status();
      matching.push_back(split->first);
      value = split->second;
    }
    auto dims = parseDims(value);
    if (!dims) return dims.status();
    for (const std::string& name : matching) {
      std::vector<DimRange> fixed;
      for (std::int64_t d : *dims) fixed.push_back({d, d, d});
      ROTA_RETURN_IF_ERROR(addInputRange(ranges, name, std::move(fixed), inputs, option));
    }
  }
  std::map<std::string, std::string> written;  // an input's range as it stands on the command line
  for (const std::string& text : arguments.profiles) {
    std::string profile;
    for (const std::string& part : splitAt(text, ',')) {
      const std::string rest = withoutProfileName(part, names, profile);
      auto split = splitName(rest, names, "--profile");
      if (!split) return split.status();
      auto range = parseRange(split->second, "--profile " + part);
      if (!range) return range.status();
      written.emplace(split->first, part);
      ROTA_RETURN_IF_ERROR(
          addToProfile(ranges, profile, split->first, std::move(*range), "--profile " + part));
    }
  }
  ROTA_RETURN_IF_ERROR(addHulls(ranges, inputs, written));
  for (const std::string& text : arguments.dims) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0)
      return Status(ErrorCode::kUsage, "--dim has the form SYMBOL=N or SYMBOL=MIN:OPT:MAX").found(text);
    auto range = parseRange(text.substr(equals + 1), "--dim " + text);
    if (!range) return range.status();
    if (range->size() != 1)
      return Status(ErrorCode::kUsage, "--dim takes one number, or MIN:OPT:MAX").found(text);
    ranges.symbols[text.substr(0, equals)] = range->front();
  }
  return ranges;
}

}  // namespace rota::cli
