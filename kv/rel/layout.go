package rel

// bigint columns lead the layouts; a table whose column of that name has another type
// is not the table we know.
const layoutType = oidInt8

// known is the layout of one DuckLake table. A part "x?" is "x IS NULL". Every column
// must be present as bigint (behind "?" too); otherwise the table gets row-id order,
// which works for anything.
type known struct {
	layout []string
	// hidden are columns (of bigint or varchar) with a secondary index of the store's own.
	hidden []string
}

// knownLayouts: tables with validity intervals keep live rows apart from ended ones,
// because readers of the newest snapshot want the former and expiry the latter. Where
// clients aggregate in scan order (tags, macro parameters, inlined rows) rows of one
// parent stay in insertion order.
func knownLayout(name string) known {
	switch name {
	case "ducklake_data_file":
		return known{[]string{"table_id", "end_snapshot?"}, []string{"path"}}
	case "ducklake_delete_file":
		return known{[]string{"table_id", "end_snapshot?"}, []string{"data_file_id", "path"}}
	case "ducklake_table", "ducklake_column", "ducklake_partition_info", "ducklake_sort_info":
		return known{layout: []string{"table_id", "end_snapshot?"}}
	case "ducklake_file_column_stats", "ducklake_file_variant_stats":
		return known{[]string{"table_id", "column_id", "data_file_id"}, []string{"data_file_id"}}
	case "ducklake_file_partition_value":
		return known{[]string{"table_id", "data_file_id"}, []string{"data_file_id"}}
	case "ducklake_table_column_stats":
		return known{layout: []string{"table_id", "column_id"}}
	case "ducklake_table_stats", "ducklake_partition_column", "ducklake_sort_expression", "ducklake_column_tag",
		"ducklake_inlined_data_tables", "ducklake_column_mapping", "ducklake_schema_versions":
		return known{layout: []string{"table_id"}}
	case "ducklake_tag":
		return known{layout: []string{"object_id"}}
	case "ducklake_name_mapping":
		return known{layout: []string{"mapping_id"}}
	case "ducklake_files_scheduled_for_deletion":
		return known{hidden: []string{"data_file_id", "path"}}
	}
	return known{}
}

// ChooseLayout returns the clustering of a table about to be created, and the columns
// that get hidden indexes, judging by its name and columns. Temporary tables and views
// have neither.
func ChooseLayout(t *Table) (layout []KeyPart, hidden [][]int16) {
	if t.Kind != KindTable || t.Temp {
		return nil, nil
	}
	k := knownLayout(t.Name)
	for _, part := range k.layout {
		isNull := part[len(part)-1] == '?'
		if isNull {
			part = part[:len(part)-1]
		}
		c, ok := t.Column(part)
		if !ok || c.Type != layoutType {
			return nil, nil
		}
		layout = append(layout, KeyPart{Column: c.Num, IsNull: isNull})
	}
	for _, name := range k.hidden {
		c, ok := t.Column(name)
		if !ok || (c.Type != oidInt8 && c.Type != oidText && c.Type != oidVarchar) {
			return layout, nil
		}
		hidden = append(hidden, []int16{c.Num})
	}
	return layout, hidden
}
