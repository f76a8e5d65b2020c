package guard

import (
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/lake"
)

// The rows of DuckLake's tables as the types of package lake.

func (r relation) snapshot(t row.Tuple) lake.Snapshot {
	s := lake.Snapshot{
		ID: r.num(t, "snapshot_id"), SchemaVersion: r.num(t, "schema_version"),
		NextCatalogID: r.num(t, "next_catalog_id"), NextFileID: r.num(t, "next_file_id"),
	}
	s.Micros, _ = r.micros(t, "snapshot_time")
	return s
}

// snapshotID is a snapshot of which nothing else is known.
func (r relation) snapshotID(t row.Tuple) lake.Snapshot {
	return lake.Snapshot{ID: r.num(t, "snapshot_id")}
}

// changesOf says which snapshot changes are of, and nothing else.
func (r relation) changesOf(t row.Tuple) lake.Changes {
	return lake.Changes{SnapshotID: r.num(t, "snapshot_id")}
}

func (r relation) changes(t row.Tuple) lake.Changes {
	c := lake.Changes{SnapshotID: r.num(t, "snapshot_id"), Message: r.text(t, "commit_message")}
	if v := r.field(t, "changes_made"); v != nil {
		c.Made, c.HasMade = string(v), true
	}
	return c
}

func (r relation) schema(t row.Tuple) lake.Schema {
	return lake.Schema{
		Span: r.span(t), ID: r.num(t, "schema_id"), Name: r.text(t, "schema_name"),
		Path: r.text(t, "path"), Relative: r.truth(t, "path_is_relative"),
	}
}

func (r relation) table(t row.Tuple) lake.Table {
	return lake.Table{
		Span: r.span(t), ID: r.num(t, "table_id"), SchemaID: r.num(t, "schema_id"), Name: r.text(t, "table_name"),
		Path: r.text(t, "path"), Relative: r.truth(t, "path_is_relative"),
	}
}

func (r relation) view(t row.Tuple) lake.View {
	return lake.View{Span: r.span(t), ID: r.num(t, "view_id"), SchemaID: r.num(t, "schema_id"), Name: r.text(t, "view_name")}
}

func (r relation) macro(t row.Tuple) lake.Macro {
	return lake.Macro{Span: r.span(t), ID: r.num(t, "macro_id"), SchemaID: r.num(t, "schema_id"), Name: r.text(t, "macro_name")}
}

func (r relation) macroImpl(t row.Tuple) lake.MacroImpl {
	return lake.MacroImpl{MacroID: r.num(t, "macro_id"), ImplID: r.num(t, "impl_id"), Type: r.text(t, "type")}
}

func (r relation) columnRow(t row.Tuple) lake.Column {
	c := lake.Column{
		Span: r.span(t), ID: r.num(t, "column_id"), TableID: r.num(t, "table_id"), Name: r.text(t, "column_name"),
		Type: r.text(t, "column_type"), Order: r.num(t, "column_order"),
	}
	c.Parent, c.HasParent = r.optional(t, "parent_column")
	return c
}

func (r relation) tag(t row.Tuple) lake.Tag {
	return lake.Tag{Span: r.span(t), Object: r.num(t, "object_id"), Key: r.text(t, "key")}
}

func (r relation) columnTag(t row.Tuple) lake.ColumnTag {
	return lake.ColumnTag{Span: r.span(t), TableID: r.num(t, "table_id"), ColumnID: r.num(t, "column_id"), Key: r.text(t, "key")}
}

func (r relation) partition(t row.Tuple) lake.Partition {
	return lake.Partition{Span: r.span(t), ID: r.num(t, "partition_id"), TableID: r.num(t, "table_id")}
}

func (r relation) sort(t row.Tuple) lake.Sort {
	return lake.Sort{Span: r.span(t), ID: r.num(t, "sort_id"), TableID: r.num(t, "table_id")}
}

func (r relation) sortKey(t row.Tuple) lake.SortKey {
	return lake.SortKey{
		SortID: r.num(t, "sort_id"), TableID: r.num(t, "table_id"), Key: r.num(t, "sort_key_index"),
		Expression: r.text(t, "expression"),
	}
}

func (r relation) dataFile(t row.Tuple) lake.DataFile {
	f := lake.DataFile{
		Span: r.span(t), ID: r.num(t, "data_file_id"), TableID: r.num(t, "table_id"), Path: r.text(t, "path"),
		Relative: r.truth(t, "path_is_relative"), Records: r.num(t, "record_count"), Size: r.num(t, "file_size_bytes"),
		Footer: r.num(t, "footer_size"), Key: r.text(t, "encryption_key"),
	}
	f.RowIDStart, f.HasRowIDStart = r.optional(t, "row_id_start")
	f.PartitionID, f.HasPartition = r.optional(t, "partition_id")
	f.MappingID, f.HasMapping = r.optional(t, "mapping_id")
	f.PartialMax, f.HasPartialMax = r.optional(t, "partial_max")
	return f
}

func (r relation) deleteFile(t row.Tuple) lake.DeleteFile {
	d := lake.DeleteFile{
		Span: r.span(t), ID: r.num(t, "delete_file_id"), TableID: r.num(t, "table_id"), DataFileID: r.num(t, "data_file_id"),
		Path: r.text(t, "path"), Relative: r.truth(t, "path_is_relative"), Format: r.text(t, "format"),
		Count: r.num(t, "delete_count"), Size: r.num(t, "file_size_bytes"), Footer: r.num(t, "footer_size"),
		Key: r.text(t, "encryption_key"),
	}
	d.PartialMax, d.HasPartialMax = r.optional(t, "partial_max")
	return d
}

func (r relation) fileValue(t row.Tuple) lake.PartitionValue {
	v := lake.PartitionValue{FileID: r.num(t, "data_file_id"), TableID: r.num(t, "table_id"), Key: r.num(t, "partition_key_index")}
	if b := r.field(t, "partition_value"); b != nil {
		v.Value, v.HasValue = string(b), true
	}
	return v
}

func (r relation) tableStats(t row.Tuple) lake.TableStats {
	return lake.TableStats{
		TableID: r.num(t, "table_id"), Records: r.num(t, "record_count"), NextRowID: r.num(t, "next_row_id"),
		Size: r.num(t, "file_size_bytes"),
	}
}

func (r relation) columnStats(t row.Tuple) lake.ColumnStats {
	return lake.ColumnStats{
		TableID: r.num(t, "table_id"), ColumnID: r.num(t, "column_id"), Min: r.textPtr(t, "min_value"),
		Max: r.textPtr(t, "max_value"), ContainsNull: r.truthPtr(t, "contains_null"), ContainsNaN: r.truthPtr(t, "contains_nan"),
	}
}

func (r relation) schemaVersion(t row.Tuple) lake.SchemaVersion {
	v := lake.SchemaVersion{Begin: r.num(t, "begin_snapshot"), Version: r.num(t, "schema_version")}
	v.TableID, v.HasTable = r.optional(t, "table_id")
	return v
}

func (r relation) scheduled(t row.Tuple) lake.Scheduled {
	s := lake.Scheduled{ID: r.num(t, "data_file_id"), Path: r.text(t, "path"), Relative: r.truth(t, "path_is_relative")}
	s.Start, _ = r.micros(t, "schedule_start")
	return s
}

func (r relation) registered(t row.Tuple) lake.InlinedTable {
	return lake.InlinedTable{TableID: r.num(t, "table_id"), Name: r.text(t, "table_name"), SchemaVersion: r.num(t, "schema_version")}
}

func (r relation) option(t row.Tuple) lake.Option {
	return lake.Option{Key: r.text(t, "key"), Value: r.text(t, "value"), Scope: r.text(t, "scope"), ScopeID: r.num(t, "scope_id")}
}

func (r relation) mapping(t row.Tuple) lake.Mapping {
	return lake.Mapping{ID: r.num(t, "mapping_id"), TableID: r.num(t, "table_id")}
}
