headtune_test(judgement_test judgement_test.cpp LINK headtune_gate LABEL unit)
headtune_test(gate_test check_plan_test.cpp check_report_test.cpp merge_test.cpp table_diff_test.cpp
              LINK headtune_report LABEL unit)
