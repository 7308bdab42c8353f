// SPDX-License-Identifier: Apache-2.0
// Names as PyTorch 2.11 has them.
#include "src/dry_run/kernel_form.h"

#include <gtest/gtest.h>

#include <string>

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
  EXPECT_EQ(form.access, Access::vectors);
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
  EXPECT_EQ(copy.access, Access::narrow_scattered_numbers);
  const KernelForm add = kernel_form(
      "_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_nocastINS0_15CUDAFunctor"
      "_addIN3c108BFloat16EEEEEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_");
  EXPECT_EQ(add.tensors, 3);
  EXPECT_EQ(add.access, Access::narrow_numbers);
  const KernelForm multiply = kernel_form(
      "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<"
      "at::native::CUDAFunctor_add<float> >::{lambda(int)#1}>(int, at::native::A)");
  EXPECT_EQ(multiply.access, Access::numbers);
  const KernelForm wide = kernel_form(
      "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<"
      "at::native::direct_copy_kernel_cuda(A&)::{lambda(float)#1}> >(int, at::native::A)");
  EXPECT_EQ(wide.access, Access::scattered_numbers);
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
  EXPECT_EQ(kernel_form("fmha_cutlassB_bf16_aligned_128x64_k65536_sm80(Params)").head, 0);
  EXPECT_EQ(kernel_form("fmha_cutlassF_bf16_aligned_32x128_gmem_sm80(Params)").head, 0);
}

TEST(KernelForm, OfAnotherKernelHasThePointersAmongItsArguments) {
  const KernelForm form = kernel_form(
      "_ZN2at6native53_GLOBAL__N__21739cd4_20_layer_norm_kernel_cu_9c5ada8a39layer_norm_grad_input_"
      "kernel_vectorizedIN3c108BFloat16EfLb0EEEvPKT_S7_PKT0_SA_S7_PS5_i");
  EXPECT_EQ(form.kind, Kind::whole);
  EXPECT_EQ(form.pointers, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
  const KernelForm pooling =
      kernel_form("void at::native::max_pool<float>(int, float const*, long, float*, long**)");
  EXPECT_EQ(pooling.kind, Kind::pointers);
  EXPECT_EQ(pooling.pointers, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(kernel_form("not_mangled").kind, Kind::other);
}

TEST(KernelForm, OfALookUpHasItsOutputFirst) {
  const KernelForm rows = kernel_form(
      "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long)");
  EXPECT_EQ(rows.kind, Kind::gather);
  EXPECT_EQ(rows.access, Access::vectors);
  EXPECT_EQ(rows.pointers, (std::vector<std::size_t>{0, 1, 2}));
}

// Its three passes over rows are the largest number, the sum and what it writes.
TEST(KernelForm, OfASoftmaxOfWideRowsHasWhatItGoesThroughAgain) {
  const KernelForm wide = kernel_form(
      "void at::native::cunn_SoftMaxForward<4, float, Epilogue>(float*, float const*, int)");
  EXPECT_EQ(wide.kind, Kind::whole);
  EXPECT_EQ(wide.access, Access::vectors);
  EXPECT_EQ(wide.again, (std::vector<std::size_t>{1, 1}));
  const KernelForm kept = kernel_form(
      "void at::native::cunn_SoftMaxForwardSmem<4, float, Epilogue>(float*, float const*, int)");
  EXPECT_EQ(kept.kind, Kind::whole);
  EXPECT_TRUE(kept.again.empty());
}

TEST(KernelForm, OfAnotherLibraryHasWhatIsWritten) {
  const KernelForm keep = kernel_form(
      "vision::ops::gather_keep_from_mask(bool*, unsigned long long const*, float*, int)");
  EXPECT_EQ(keep.pointers, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(keep.written, (std::vector<std::size_t>{0, 2}));
  EXPECT_TRUE(kernel_form("void at::native::max_pool<float>(int, float*)").written.empty());
}

TEST(KernelForm, OfAStructureThatBeginsWithAPointerHasIt) {
  const KernelForm dropout = kernel_form(
      "void at::native::fused_dropout<float>(at::cuda::detail::TensorInfo<float const, int>, "
      "at::cuda::detail::TensorInfo<float, int>, int)");
  EXPECT_EQ(dropout.pointers, (std::vector<std::size_t>{0, 1}));
  const KernelForm windows = kernel_form(
      "void at::native::conv_depthwise3d_cuda_kernel<float>(GenericPackedTensorAccessor<"
      "float const>, float*)");
  EXPECT_EQ(windows.kind, Kind::other);
  // All of a concatenation's output is read elsewhere, and written.
  const KernelForm cat = kernel_form(
      "void at::native::CatArrayBatchedCopy<float>(float*, CatArrInputTensorMetadata, int)");
  EXPECT_EQ(cat.kind, Kind::whole);
  EXPECT_EQ(cat.pointers, (std::vector<std::size_t>{0, 0}));
}

TEST(KernelForm, OfDepthwiseConvolutionsIsTheirPass) {
  constexpr const char* kBegin =
      "_ZN2at6native51_GLOBAL__N__a30dace1_18_DepthwiseConv2d_cu_99594870";
  const auto kind = [](const std::string& name) {
    return kernel_form((kBegin + name).c_str()).kind;
  };
  EXPECT_EQ(kind("31conv_depthwise2d_forward_kernelILi3EN3c104HalfEiEEvv"),
            Kind::depthwise_forward);
  EXPECT_EQ(kind("39conv_depthwise2d_forward_kernel_genericIN3c104HalfEiEEvv"),
            Kind::depthwise_forward);
  EXPECT_EQ(kind("32conv_depthwise2d_backward_kernelILi0ELi1EN3c104HalfEiEEvv"),
            Kind::depthwise_of_input);
  EXPECT_EQ(kind("35conv_depthwise2d_grad_weight_kernelIN3c104HalfEjEEvv"),
            Kind::depthwise_of_filter);
}

TEST(KernelForm, OfBatchNormalizationHasItsPasses) {
  constexpr const char* kArguments =
      "(torch::headeronly::detail::GenericPackedTensorAccessor<c10::BFloat16 const, 3ul>)";
  const KernelForm backward = kernel_form(
      (std::string("void at::native::batch_norm_backward_kernel<c10::BFloat16, float>") +
       kArguments)
          .c_str());
  EXPECT_EQ(backward.kind, Kind::batch_norm);
  EXPECT_EQ(backward.tensors, 5);
  EXPECT_EQ(backward.width, 2);
  const std::string statistics =
      std::string(
          "void at::native::batch_norm_collect_statistics_kernel<at::native::Var, "
          "c10::BFloat16>") +
      kArguments;
  EXPECT_EQ(kernel_form(statistics.c_str()).tensors, 2);
  const std::string transform =
      std::string("void at::native::batch_norm_transform_input_kernel<c10::BFloat16>") + kArguments;
  EXPECT_EQ(kernel_form(transform.c_str()).kind, Kind::whole);
}

TEST(KernelForm, OfDropoutAndDistributionsIsChance) {
  const KernelForm dropout = kernel_form(
      "_ZN2at6native43_GLOBAL__N__50f1b6c4_10_Dropout_cu_0e96ed3824fused_dropout_kernel_vecIN3c104"
      "HalfEfjLi1ELi8EbEEvNS_4cuda6detail10TensorInfoIKT_T1_EENS7_IS8_SA_EENS7_IT4_SA_EESA_T0_NS_"
      "15PhiloxCudaStateE");
  EXPECT_EQ(dropout.kind, Kind::dropout);
  EXPECT_EQ(dropout.pointers, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(dropout.access, Access::vectors);
  const KernelForm uniform = kernel_form(
      "void at::native::distribution_elementwise_grid_stride_kernel<float, 4>(long, "
      "at::PhiloxCudaState)");
  EXPECT_EQ(uniform.kind, Kind::random);
  EXPECT_EQ(uniform.width, 4);
}

}  // namespace
}  // namespace headroom::dry_run
