# SPDX-License-Identifier: Apache-2.0
"""A program of the driver's functions alone, without PyTorch, as numba's and PyCUDA's are."""
import ctypes

SIZE = 256 << 20
cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    """By the name without a version, as the bindings of Python look functions up."""
    function = ctypes.c_void_p()
    assert cuda.cuGetProcAddress_v2(name.encode(), ctypes.byref(function), 13000,
                                    ctypes.c_uint64(0), None) == 0, name
    of_pointers = ctypes.CFUNCTYPE(ctypes.c_int, *[type(one) for one in arguments])
    return of_pointers(function.value)(*arguments)


def pointer_to(value):
    return ctypes.c_void_p(ctypes.addressof(value))


size, no_stream = ctypes.c_size_t(SIZE), ctypes.c_void_p(0)
text, total, context = ctypes.create_string_buffer(64), ctypes.c_size_t(), ctypes.c_void_p()
assert call("cuInit", ctypes.c_int(0)) == 0
assert call("cuDeviceGetName", pointer_to(text), ctypes.c_int(64), ctypes.c_int(0)) == 0
assert text.value.startswith(b"NVIDIA"), text.value
assert call("cuDeviceTotalMem", pointer_to(total), ctypes.c_int(0)) == 0
assert call("cuDevicePrimaryCtxRetain", pointer_to(context), ctypes.c_int(0)) == 0
assert call("cuCtxSetCurrent", context) == 0

block, left = ctypes.c_void_p(), ctypes.c_size_t()
assert call("cuMemAlloc", pointer_to(block), size) == 0
assert call("cuMemGetInfo", pointer_to(left), pointer_to(total)) == 0
assert left.value <= total.value - SIZE
sent, back = ctypes.c_int(7), ctypes.c_int(0)
four = ctypes.c_size_t(4)
assert call("cuMemcpyHtoD", block, pointer_to(sent), four) == 0
assert call("cuMemcpyDtoH", pointer_to(back), block, four) == 0
assert back.value == 7

first, length = ctypes.c_void_p(), ctypes.c_size_t()
inside = ctypes.c_void_p(block.value + 100)
assert call("cuMemGetAddressRange", pointer_to(first), pointer_to(length), inside) == 0
assert first.value == block.value and length.value == SIZE
handle = ctypes.create_string_buffer(64)
assert call("cuIpcGetMemHandle", pointer_to(handle), block) == 0
# numba finds this one by its name in the library, and makes all modules by way of a linker.
assert cuda.cuIpcOpenMemHandle_v2
linker, code = ctypes.c_void_p(), ctypes.c_void_p()
assert call("cuLinkCreate", ctypes.c_uint(0), no_stream, no_stream, pointer_to(linker)) == 0
assert call("cuLinkComplete", linker, pointer_to(code), pointer_to(length)) == 0
module = ctypes.c_void_p()
assert call("cuModuleLoadDataEx", pointer_to(module), code, ctypes.c_uint(0), no_stream,
            no_stream) == 0

begin, end, library, kernel = (ctypes.c_void_p() for _ in range(4))
for event in (begin, end):
    assert call("cuEventCreate", pointer_to(event), ctypes.c_uint(0)) == 0
nothing, none = ctypes.c_void_p(0), ctypes.c_uint(0)
assert call("cuLibraryLoadData", pointer_to(library), nothing, nothing, nothing, none, nothing,
            nothing, none) == 0
assert call("cuLibraryGetKernel", pointer_to(kernel), library, ctypes.c_char_p(b"add")) == 0
assert call("cuEventRecord", begin, no_stream) == 0
one = ctypes.c_uint(1)
assert call("cuLaunchKernel", kernel, ctypes.c_uint(1 << 20), one, one, ctypes.c_uint(256), one,
            one, none, no_stream, nothing, nothing) == 0
assert call("cuEventRecord", end, no_stream) == 0
assert call("cuCtxSynchronize") == 0
took = ctypes.c_float()
assert call("cuEventElapsedTime", pointer_to(took), begin, end) == 0
assert took.value > 0.1, took.value

assert call("cuMemFree", block) == 0
huge = ctypes.c_size_t(1 << 40)
assert call("cuMemAlloc", pointer_to(block), huge) == 2  # CUDA_ERROR_OUT_OF_MEMORY
assert cuda.cuGetProcAddress_v2(b"cuNoSuchThing", pointer_to(block), 13000, ctypes.c_uint64(0),
                                None) == 500  # CUDA_ERROR_NOT_FOUND
