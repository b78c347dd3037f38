headtune_test(frozen_file_test frozen_file_test.cpp LINK headtune_frozen LABEL unit)
headtune_test(variant_test variant_test.cpp LINK headtune_render LABEL unit)
