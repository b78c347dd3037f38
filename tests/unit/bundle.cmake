headtune_test(bundle_test ${CMAKE_CURRENT_LIST_DIR}/bundle_test.cpp LINK headtune_bundle LABEL unit)
