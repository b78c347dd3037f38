headtune_test(select_test select_test.cpp LINK headtune_results LABEL unit)
headtune_test(store_test store_test.cpp LINK headtune_results LABEL unit)
headtune_test(emit_test emit_test.cpp LINK headtune_results LABEL unit)
headtune_test(tables_test tables_test.cpp LINK headtune_kernels LABEL unit)
