# Tests of the search space, the renderer, the operators and verification.
headtune_test(arch_test arch_test.cpp LINK headtune_templates LABEL unit)
headtune_test(launch_test launch_test.cpp LINK headtune_templates LABEL unit)
headtune_test(lds_layout_test lds_layout_test.cpp LINK headtune_templates LABEL unit)
headtune_test(space_test space_test.cpp expression_test.cpp LINK headtune_space headtune_render LABEL unit)
headtune_test(render_test render_test.cpp LINK headtune_render LABEL unit)
headtune_test(op_test op_dtype_test.cpp op_inputs_test.cpp op_reference_test.cpp LINK headtune_op LABEL unit)
headtune_test(verify_test verify_test.cpp LINK headtune_verify headtune_render LABEL unit)
