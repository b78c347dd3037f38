headtune_test(routing_test routing_test.cpp LINK headtune_templates LABEL unit)
headtune_test(model_config_test model_config_test.cpp LINK headtune_model_config LABEL unit)
target_compile_definitions(model_config_test PRIVATE HEADTUNE_FIXTURES="${PROJECT_SOURCE_DIR}/tests/fixtures")
