// SPDX-License-Identifier: Apache-2.0
// Names as PyTorch 2.11 has them.
#include "src/dry_run/kernel_form.h"

#include <gtest/gtest.h>

namespace headroom::dry_run {
namespace {

using Kind = KernelForm::Kind;

TEST(KernelForm, OfAnElementwiseKernelHasItsTensors) {
  const KernelForm form = kernel_form(
      "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIN3c108BFloat16EEESt5"
      "arrayIPcLm3EEEEviT0_T1_");
  EXPECT_EQ(form.kind, Kind::elementwise);
  EXPECT_TRUE(form.has_pointers);
  EXPECT_EQ(form.tensors, 3);
  EXPECT_EQ(form.width, 2);
}

// Where places are computed, the pointers are in the functor; how many there are, its arguments
// say.
TEST(KernelForm, OfAStridedKernelHasWhatItsFunctorReadsAndWrites) {
  const KernelForm copy = kernel_form(
      "_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_nocastIZZZNS0_23direct_"
      "copy_kernel_cudaERNS_18TensorIteratorBaseEENKUlvE1_clEvENKUlvE10_clEvEUlN3c108BFloat16EE_EE"
      "vS4_RKT_EUliE_EEviT1_");
  EXPECT_EQ(copy.kind, Kind::elementwise);
  EXPECT_FALSE(copy.has_pointers);
  EXPECT_EQ(copy.tensors, 2);
  EXPECT_EQ(copy.width, 2);
  const KernelForm add = kernel_form(
      "_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_nocastINS0_15CUDAFunctor"
      "_addIN3c108BFloat16EEEEEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_");
  EXPECT_EQ(add.tensors, 3);
}

TEST(KernelForm, OfListsOfTensorsHasWhatTheFunctorReadsAndWrites) {
  // Square roots: of one list into another.
  const KernelForm roots = kernel_form(
      "_ZN2at6native50_GLOBAL__N__b6ca21f8_17_ForeachUnaryOp_cu_77fe623d25multi_tensor_apply_"
      "kernelINS1_18TensorListMetadataILi2EEENS1_14UnaryOpFunctorIN3c108BFloat16ELi2ELi1ELi1EEEJNS0"
      "_4SqrtIfEEEEEvT_T0_DpT1_");
  EXPECT_EQ(roots.kind, Kind::chunks);
  EXPECT_EQ(roots.tensors, 2);
  // Adam's last: two are divided, one is read and written; the scalars are no tensors.
  const KernelForm update = kernel_form(
      "_ZN2at6native54_GLOBAL__N__f8a10d72_21_ForeachPointwiseOp_cu_ef478fac25multi_tensor_apply_"
      "kernelINS1_28TensorListScalarListMetadataIfLi3EEENS1_28PointwiseOpScalarListFunctorIN3c108"
      "BFloat16ELi3ELi3ELi0EEEJSt7dividesIfEEEEvT_T0_DpT1_");
  EXPECT_EQ(update.tensors, 4);
  EXPECT_EQ(update.width, 2);
}

TEST(KernelForm, OfAttentionHasItsBlocks) {
  const KernelForm forward = kernel_form(
      "_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd_kernel_traitsILi64ELi128ELi128ELi4ELb0ELb0"
      "EN7cutlass10bfloat16_tE19Flash_kernel_traitsILi64ELi128ELi128ELi4ES3_EELb0ELb1ELb0ELb0ELb0EL"
      "b1ELb0ELb0EEEvNS_16Flash_fwd_paramsE");
  EXPECT_EQ(forward.kind, Kind::flash_forward);
  EXPECT_EQ(forward.head, 64);
  EXPECT_EQ(forward.rows, 128);
  EXPECT_TRUE(forward.is_causal);
  EXPECT_EQ(forward.precision, Precision::bfloat16);
  const KernelForm backward = kernel_form(
      "_Z36fmha_cutlassB_f32_aligned_64x64_k128_sm80N22PyTorchMemEffAttention23AttentionBackward"
      "KernelIN7cutlass4arch4Sm80EfLb1ELb0ELb0ELi64ELi64ELi128ELb0EE6ParamsE");
  const KernelForm named = kernel_form("fmha_cutlassB_f32_aligned_64x64_k128_sm80(Params)");
  EXPECT_EQ(named.kind, Kind::efficient_backward);
  EXPECT_EQ(named.head, 128);
  EXPECT_EQ(named.precision, Precision::float32);
  EXPECT_EQ(backward.kind, named.kind);
}

TEST(KernelForm, OfAnotherKernelHasThePointersAmongItsArguments) {
  const KernelForm form = kernel_form(
      "_ZN2at6native53_GLOBAL__N__21739cd4_20_layer_norm_kernel_cu_9c5ada8a39layer_norm_grad_input_"
      "kernel_vectorizedIN3c108BFloat16EfLb0EEEvPKT_S7_PKT0_SA_S7_PS5_i");
  EXPECT_EQ(form.kind, Kind::pointers);
  EXPECT_EQ(form.pointers, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(kernel_form("not_mangled").kind, Kind::other);
}

}  // namespace
}  // namespace headroom::dry_run
