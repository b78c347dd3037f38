// Whether two C function types have the same calling convention, argument by argument.
#pragma once

#include <type_traits>

namespace headtune::abi {

/// Same register class and size: an enum is the int (or unsigned) under it, every pointer to data is a pointer.
/// References never occur in C. Pointers must agree in depth, so that a handle is not taken for its address.
template <class Ours, class Theirs>
constexpr bool corresponds() {
  if constexpr (std::is_same_v<Ours, Theirs>) {
    return true;
  } else if constexpr (std::is_enum_v<Theirs>) {
    return std::is_integral_v<Ours> && sizeof(Ours) == sizeof(Theirs);
  } else if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) {
    using OurTarget = std::remove_cv_t<std::remove_pointer_t<Ours>>;
    using TheirTarget = std::remove_cv_t<std::remove_pointer_t<Theirs>>;
    // Opaque objects and void are leaves.
    constexpr bool our_leaf = std::is_class_v<OurTarget> || std::is_void_v<OurTarget>;
    constexpr bool their_leaf = std::is_class_v<TheirTarget> || std::is_void_v<TheirTarget>;
    if constexpr (our_leaf || their_leaf) {
      return our_leaf && their_leaf;
    } else {
      return corresponds<OurTarget, TheirTarget>();
    }
  } else {
    return std::is_integral_v<Ours> && std::is_integral_v<Theirs> && sizeof(Ours) == sizeof(Theirs);
  }
}

template <class Ours, class Theirs>
struct SameCall : std::false_type {};

template <class OurResult, class... Ours, class TheirResult, class... Theirs>
struct SameCall<OurResult (*)(Ours...), TheirResult (*)(Theirs...)> {
  static constexpr bool arguments() {
    if constexpr (sizeof...(Ours) == sizeof...(Theirs)) {
      return (corresponds<Ours, Theirs>() && ...);
    } else {
      return false;
    }
  }
  static constexpr bool value = arguments() && corresponds<OurResult, TheirResult>();
};

template <class Ours, class Theirs>
inline constexpr bool same_call = SameCall<std::remove_cv_t<Ours>, Theirs>::value;

}  // namespace headtune::abi
