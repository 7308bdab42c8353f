// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>

#include "src/dry_run/small_formulas.h"
#include "src/dry_run/small_patterns.h"

// Operations on bits and bools. Where one side decides the result, it is known without the other.
namespace headroom::dry_run {

template <std::integral T>
constexpr std::array kBits{
    Known<T>{{"13BinaryFunctorI???", "17BitwiseAndFunctorI?E", "TTT", Holds::nothing},
             &bits_of_both<T>},
    Known<T>{{"13BinaryFunctorI???", "16BitwiseOrFunctorI?E", "TTT", Holds::nothing},
             &bits_of_one<T>},
    Known<T>{{"13BinaryFunctorI???", "17BitwiseXorFunctorI?E", "TTT", Holds::nothing},
             &bits_of_one_of_two<T>},
    Known<T>{{"13AUnaryFunctorI???", "17BitwiseAndFunctorI?E", "TT", Holds::two_numbers},
             &with_held<T, &bits_of_both<T>>},
    Known<T>{{"13AUnaryFunctorI???", "16BitwiseOrFunctorI?E", "TT", Holds::two_numbers},
             &with_held<T, &bits_of_one<T>>},
    Known<T>{{"13AUnaryFunctorI???", "17BitwiseXorFunctorI?E", "TT", Holds::two_numbers},
             &with_held<T, &bits_of_one_of_two<T>>},
};

/// Since PyTorch 2.15 of numbers of any type, as bits.
template <class T>
constexpr std::array kChoicesOfBits{
    Known<T>{{"17where_kernel_impl", "EUlb??E_", "TbTT", Holds::nothing}, &either<T>},
};

/// Computed as double, by which any number but 0 is true.
inline constexpr std::array kOfBools{
    Known<double>{{"13BinaryFunctorIbbb", "10MulFunctorIbE", "bbb", Holds::nothing},
                  &both_hold<double>},
    Known<double>{{"13BinaryFunctorIbbb", "23logical_and_kernel_cuda", "bbb", Holds::nothing},
                  &both_hold<double>},
    Known<double>{{"13BinaryFunctorIbbb", "22logical_or_kernel_cuda", "bbb", Holds::nothing},
                  &one_holds<double>},
    Known<double>{{"13BinaryFunctorIbbb", "23logical_xor_kernel_cuda", "bbb", Holds::nothing},
                  &one_of_two_holds<double>},
    Known<double>{{"13BinaryFunctorIbbb", "17BitwiseXorFunctorIbE", "bbb", Holds::nothing},
                  &one_of_two_holds<double>},
    Known<double>{{"13BinaryFunctorIbbb", "17BitwiseAndFunctorIbE", "bbb", Holds::nothing},
                  &both_hold<double>},
    Known<double>{{"13BinaryFunctorIbbb", "16BitwiseOrFunctorIbE", "bbb", Holds::nothing},
                  &one_holds<double>},
    Known<double>{{"13AUnaryFunctorIbbb", "10MulFunctorIbE", "bb", Holds::two_flags},
                  &with_flag<&both_hold<double>>},
    Known<double>{{"13AUnaryFunctorIbbb", "23logical_and_kernel_cuda", "bb", Holds::two_flags},
                  &with_flag<&both_hold<double>>},
    Known<double>{{"13AUnaryFunctorIbbb", "22logical_or_kernel_cuda", "bb", Holds::two_flags},
                  &with_flag<&one_holds<double>>},
    Known<double>{{"13AUnaryFunctorIbbb", "23logical_xor_kernel_cuda", "bb", Holds::two_flags},
                  &with_flag<&one_of_two_holds<double>>},
    Known<double>{{"13AUnaryFunctorIbbb", "17BitwiseXorFunctorIbE", "bb", Holds::two_flags},
                  &with_flag<&one_of_two_holds<double>>},
    Known<double>{{"13AUnaryFunctorIbbb", "17BitwiseAndFunctorIbE", "bb", Holds::two_flags},
                  &with_flag<&both_hold<double>>},
    Known<double>{{"13AUnaryFunctorIbbb", "16BitwiseOrFunctorIbE", "bb", Holds::two_flags},
                  &with_flag<&one_holds<double>>},
    Known<double>{{"13BinaryFunctorIbbb", "19maximum_kernel_cuda", "bbb", Holds::nothing},
                  &one_holds<double>},
    Known<double>{{"13BinaryFunctorIbbb", "19minimum_kernel_cuda", "bbb", Holds::nothing},
                  &both_hold<double>},
    Known<double>{{"13AUnaryFunctorIbbb", "19maximum_kernel_cuda", "bb", Holds::two_flags},
                  &with_flag<&one_holds<double>>},
    Known<double>{{"13AUnaryFunctorIbbb", "19minimum_kernel_cuda", "bb", Holds::two_flags},
                  &with_flag<&both_hold<double>>},
    Known<double>{{"15CUDAFunctor_addIbE", "", "bbb", Holds::flag}, &add_flags},
    Known<double>{{"21CUDAFunctorOnSelf_addIbE", "", "bb", Holds::two_flags}, &add_held_flag},
    Known<double>{{"22CUDAFunctorOnOther_addIbE", "", "bb", Holds::two_flags}, &add_to_held_flag},
    Known<double>{{"14CompareFunctorIbE", "", "bbb", Holds::which}, &compare<double>},
    Known<double>{{"13BinaryFunctorIbbb", "16CompareEqFunctorIbE", "bbb", Holds::which},
                  &equals<double>},
    Known<double>{{"13AUnaryFunctorIbbb", "16CompareEqFunctorIbE", "bb", Holds::which_and_flag},
                  &equals_flag},
    Known<double>{{"23bitwise_not_kernel_cuda", "EUlbE_", "bb", Holds::nothing}, &is_zero<double>},
    Known<double>{{"23logical_not_kernel_cuda", "EUlbE_", "bb", Holds::nothing}, &is_zero<double>},
    Known<double>{{"23direct_copy_kernel_cuda", "EUlbE_", "bb", Holds::nothing}, &same<double>},
    Known<double>{{"11FillFunctorIbE", "", "b", Holds::flag}, &filled_by_flag<double>},
    Known<double>{{"17where_kernel_impl", "EUlbbbE_", "bbbb", Holds::nothing}, &either<double>},
    Known<double>{{"18masked_fill_kernel", "EUlbbE_", "bbb", Holds::flag},
                  &replaced_by_flag<double>},
};

}  // namespace headroom::dry_run
