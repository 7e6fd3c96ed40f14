// Arrays with names, as a dict of NumPy's.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings/arrays.hpp"

namespace perceptive {

inline nb::dict to_dict(Arrays arrays) {
    nb::dict found;
    for (auto& [name, array] : arrays)
        std::visit([&, &key = name](auto& values) { found[key.c_str()] = to_numpy(std::move(values)); }, array);
    return found;
}

// The arrays of a dict, kept alive while they are looked at.
class NamedArrays {
  public:
    explicit NamedArrays(const nb::dict& given) {
        for (const auto& [key, value] : given) {
            const ReadOnly& array = arrays_.emplace_back(nb::cast<ReadOnly>(value, false));
            const AnyView* types = nullptr;
            require(array.ndim() == 1 && add(nb::cast<std::string>(key), array, types),
                    "an array of another type than it should have");
        }
    }
    const ArrayViews& views() const { return views_; }

  private:
    // Add the view of an array, if it has numbers of one of these types.
    template <class... T>
    bool add(const std::string& name, const ReadOnly& array, const std::variant<View<T>...>*) {
        const auto add_as = [&](auto type) {
            if (array.dtype() != nb::dtype<decltype(type)>()) return false;
            views_.add(name, View<decltype(type)>{static_cast<const decltype(type)*>(array.data()), array.size()});
            return true;
        };
        return (add_as(T{}) || ...);
    }

    ArrayViews views_;
    std::vector<ReadOnly> arrays_;
};

}  // namespace perceptive
