SELECT * FROM _wm_target.orders WHERE _wm_partition = {partition} AND amount < 0
