headtune_test(frozen_file_test frozen_file_test.cpp LINK headtune_frozen LABEL unit)
