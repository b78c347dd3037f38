/* out[i] = 2 * in[i] + i, with a local exchange between neighbours */
__kernel void scale(__global const float* in, __global float* out) {
  __local float tile[64];
  const uint lane = __builtin_amdgcn_workitem_id_x();
  const uint i = __builtin_amdgcn_workgroup_id_x() * 64 + lane;
  tile[lane ^ 1] = in[i];
  __builtin_amdgcn_s_barrier();
  out[i] = 2.0f * tile[lane ^ 1] + (float)i;
}
