// Arrays with names, of whatever number type: what model files and snapshots are made of.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "require.hpp"
#include "rows.hpp"

namespace perceptive {

using Array = std::variant<std::vector<std::uint8_t>, std::vector<std::int8_t>, std::vector<std::uint16_t>,
                           std::vector<std::int16_t>, std::vector<std::int32_t>, std::vector<i64>,
                           std::vector<std::uint64_t>, std::vector<float>, std::vector<double>>;
using Arrays = std::vector<std::pair<std::string, Array>>;

// Whole numbers in the narrowest type that holds them.
inline Array narrowest(const std::vector<std::int32_t>& values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const auto as = [&](auto narrow) { return Array(std::vector<decltype(narrow)>(values.begin(), values.end())); };
    if (values.empty() || (*low >= 0 && *high <= UINT8_MAX)) return as(std::uint8_t{});
    if (*low >= INT8_MIN && *high <= INT8_MAX) return as(std::int8_t{});
    if (*low >= 0 && *high <= UINT16_MAX) return as(std::uint16_t{});
    if (*low >= INT16_MIN && *high <= INT16_MAX) return as(std::int16_t{});
    return as(std::int32_t{});
}

// An array where it lies, perhaps in a mapped file that changes meanwhile: read each number once.
template <class T>
struct View {
    const T* data;
    std::size_t size;
    std::vector<T> copy() const { return std::vector<T>(data, data + size); }
};
using AnyView = std::variant<View<std::uint8_t>, View<std::int8_t>, View<std::uint16_t>, View<std::int16_t>,
                             View<std::int32_t>, View<i64>, View<std::uint64_t>, View<float>, View<double>>;

class ArrayViews {
  public:
    void add(std::string name, AnyView view) { views_.insert_or_assign(std::move(name), view); }
    bool has(const std::string& name) const { return views_.count(name) > 0; }

    const AnyView& operator[](const std::string& name) const {
        const auto found = views_.find(name);
        if (found == views_.end()) throw std::invalid_argument("no array " + name);
        return found->second;
    }
    template <class T>
    View<T> get(const std::string& name) const {
        const auto* view = std::get_if<View<T>>(&(*this)[name]);
        require(view, "an array of another type than it should have");
        return *view;
    }

  private:
    std::map<std::string, AnyView> views_;
};

// Whole numbers of any type that narrowest() gives.
class Numbers {
  public:
    Numbers(const ArrayViews& arrays, const std::string& name) : type_(static_cast<int>(arrays[name].index())) {
        require(type_ < 5, "an array of another type than it should have");
        std::visit([&](const auto& view) { data_ = view.data, size_ = view.size; }, arrays[name]);
    }
    std::size_t size() const { return size_; }
    std::int32_t operator[](std::size_t i) const {
        switch (type_) {
            case 0: return static_cast<const std::uint8_t*>(data_)[i];
            case 1: return static_cast<const std::int8_t*>(data_)[i];
            case 2: return static_cast<const std::uint16_t*>(data_)[i];
            case 3: return static_cast<const std::int16_t*>(data_)[i];
            default: return static_cast<const std::int32_t*>(data_)[i];
        }
    }

  private:
    int type_;
    const void* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace perceptive
