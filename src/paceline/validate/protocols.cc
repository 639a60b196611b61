// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/protocols.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

#include "paceline/base/random.h"
#include "paceline/stats/fit.h"
#include "paceline/validate/search.h"

namespace paceline::validate {
namespace {

constexpr double kRepeats = 3;  // of an experiment on one host

/// What a constant that is e times what was thought before any cell weighs, as
/// the relative error of a cell: enough to hold what no cell tells.
constexpr double kPrior = 1e-3;

/// Constants and the cells that are heard on them; no other part shares either.
struct Part {
  std::vector<Constant> ids;
  std::vector<const Cell*> cells;
};

std::vector<Part> parts_of(std::span<const Cell* const> cells,
                           std::span<const Constant> ids) {
  std::vector<Part> parts;
  for (const Cell* cell : cells) {
    Part joined{.ids = {}, .cells = {cell}};
    for (const Constant id : ids) {
      if (is_heard_on(*cell, id)) {
        joined.ids.push_back(id);
      }
    }
    std::erase_if(parts, [&](const Part& part) {
      const bool shares = std::ranges::any_of(part.ids, [&](Constant id) {
        return std::ranges::find(joined.ids, id) != joined.ids.end();
      });
      if (shares) {
        joined.ids.insert(joined.ids.end(), part.ids.begin(), part.ids.end());
        joined.cells.insert(
            joined.cells.begin(), part.cells.begin(), part.cells.end());
      }
      return shares;
    });
    std::ranges::sort(joined.ids);
    joined.ids.erase(std::ranges::unique(joined.ids).begin(), joined.ids.end());
    if (!joined.ids.empty()) {
      parts.push_back(std::move(joined));
    }
  }
  // What a part depends on beside its own stands before it in the table.
  std::ranges::sort(parts, {}, [](const Part& part) { return part.ids[0]; });
  return parts;
}

/// Those of the parts on whose constants the predictions of `asked` depend,
/// and those on which these depend in turn.
std::vector<Part> needed(std::vector<Part> parts,
                         std::span<const Cell* const> asked) {
  const auto tells = [](const Part& part, std::span<const Cell* const> cells) {
    return std::ranges::any_of(cells, [&](const Cell* cell) {
      return std::ranges::any_of(
          part.ids, [&](Constant id) { return depends_on(*cell, id); });
    });
  };
  std::vector<Part> chosen;
  // What a part depends on stands before it.
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const bool wanted = tells(*part, asked) ||
                        std::ranges::any_of(chosen, [&](const Part& behind) {
                          return tells(*part, behind.cells);
                        });
    if (wanted) {
      chosen.push_back(std::move(*part));
    }
  }
  std::ranges::reverse(chosen);
  return chosen;
}

/// The best fit of one part; the other constants stay as `base` has them.
void fit_part(Examinee& examinee,
              const Part& part,
              std::span<const Constants> starts,
              Constants& base) {
  const auto at = [&](const std::vector<double>& values) {
    Constants constants = base;
    for (std::size_t i = 0; i < part.ids.size(); ++i) {
      constants[part.ids[i]] = values[i];
    }
    return constants;
  };
  stats::FitProblem problem;
  const Constants before = Constants::before();
  problem.residuals = part.cells.size() + part.ids.size();
  problem.residual = [&](std::size_t i, const std::vector<double>& values) {
    if (i >= part.cells.size()) {
      const std::size_t j = i - part.cells.size();
      return kPrior * std::log(values[j] / before[part.ids[j]]);
    }
    const Cell& cell = *part.cells[i];
    const double error =
        std::log(examinee.samples_per_s(cell, at(values)) / *cell.published);
    const bool repeated = cell.table == Table::kSurvey && cell.gpus() == 4;
    return repeated ? error / std::sqrt(kRepeats) : error;
  };
  problem.depends = [&](std::size_t i, std::size_t j) {
    return i < part.cells.size() ? is_heard_on(*part.cells[i], part.ids[j])
                                 : i - part.cells.size() == j;
  };
  std::vector<std::vector<double>> from;
  for (const Constants& start : starts) {
    from.emplace_back();
    for (const Constant id : part.ids) {
      from.back().push_back(start[id]);
    }
  }
  base = at(search(problem, from));
}

}  // namespace

std::vector<Constants> fit_starts() {
  constexpr int kStarts = 2;
  constexpr double kSpread = 0.3;  // of the logarithm
  std::vector<Constants> all(kStarts, Constants::before());
  for (std::size_t i = 1; i < all.size(); ++i) {
    Random random(2, i);
    for (const ConstantInfo& info : constant_table()) {
      all[i][info.id] *= std::exp(kSpread * random.normal());
    }
  }
  return all;
}

Examinees::Examinees(const std::vector<Cell>& cells,
                     const std::filesystem::path& reference,
                     std::size_t threads) {
  for (std::size_t i = 0; i < std::max<std::size_t>(1, threads); ++i) {
    all_.push_back(std::make_unique<Examinee>(cells, reference));
  }
}

void Examinees::for_each(
    std::size_t count,
    const std::function<void(Examinee&, std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr thrown;
  std::mutex mutex;
  const auto serve = [&](Examinee& examinee) {
    try {
      for (std::size_t i = next++; i < count; i = next++) {
        work(examinee, i);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      thrown = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (const auto& examinee : all_) {
      threads.emplace_back([&] { serve(*examinee); });
    }
  }
  if (thrown != nullptr) {
    std::rethrow_exception(thrown);
  }
}

Constants fit_to(Examinee& examinee,
                 std::span<const Cell* const> cells,
                 std::span<const Constant> ids,
                 std::span<const Constants> starts) {
  Constants constants = starts.front();
  for (const Part& part : parts_of(cells, ids)) {
    fit_part(examinee, part, starts, constants);
  }
  return constants;
}

Errors errors_of(Examinee& examinee,
                 std::span<const Cell* const> cells,
                 const Constants& constants) {
  Errors errors;
  for (const Cell* cell : cells) {
    errors[cell] =
        100 * (examinee.samples_per_s(*cell, constants) / *cell->published - 1);
  }
  return errors;
}

Errors cross_validate(Examinees& examinees,
                      std::span<const Cell* const> cells,
                      const std::function<std::string(const Cell&)>& group) {
  std::set<std::string> groups;
  for (const Cell* cell : cells) {
    groups.insert(group(*cell));
  }
  groups.erase("");
  const std::vector<std::string> names(groups.begin(), groups.end());
  std::vector<Errors> errors(names.size());
  const std::vector<Constants> from = fit_starts();
  examinees.for_each(names.size(), [&](Examinee& examinee, std::size_t index) {
    std::vector<const Cell*> known, asked;
    for (const Cell* cell : cells) {
      (group(*cell) == names[index] ? asked : known).push_back(cell);
    }
    const auto ids = constants_of(cells.front()->table);
    Constants fitted = from.front();
    for (const Part& part : needed(parts_of(known, ids), asked)) {
      fit_part(examinee, part, from, fitted);
    }
    errors[index] = errors_of(examinee, asked, fitted);
  });
  Errors all;
  for (Errors& some : errors) {
    all.merge(some);
  }
  return all;
}

Errors new_network(Examinees& examinees, std::span<const Cell* const> cells) {
  const auto networks = survey_networks();
  std::vector<Errors> errors(networks.size());
  const std::vector<Constants> from = fit_starts();
  examinees.for_each(
      networks.size(), [&](Examinee& examinee, std::size_t index) {
        std::vector<const Cell*> others, shown, asked;
        for (const Cell* cell : cells) {
          if (cell->key[2] != networks[index]) {
            others.push_back(cell);
          } else if (shown_of_new_network(*cell)) {
            shown.push_back(cell);
          } else if (cell->gpus() > 4) {
            asked.push_back(cell);
          }
        }
        const auto all = constants_of(Table::kSurvey);
        const Constants shared = fit_to(examinee, others, all, from);
        const Constants fitted =
            fit_to(examinee, shown, own_constants(networks[index]), {{shared}});
        errors[index] = errors_of(examinee, asked, fitted);
      });
  Errors all;
  for (Errors& some : errors) {
    all.merge(some);
  }
  return all;
}

}  // namespace paceline::validate
