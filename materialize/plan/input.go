package plan

import (
	"fmt"
	"strings"

	"github.com/eiderdb/eider/materialize/annotate"
)

// CheckInput says whether a plan can be made of the header and the partition, as far as that can be
// told without a lake. It is an *Error.
func CheckInput(in *Input) error {
	h := in.Header
	m := h.Materialize
	if m == nil {
		if len(h.Tests) > 0 {
			return &Error{ErrInput, h.Tests[0].Line, "a data_test needs a table to look at", "add a line with materialize ducklake://LAKE/TABLE"}
		}
		return &Error{Err: ErrInput, Message: "the header has no materialize line", Remedy: "add -- materialize ducklake://LAKE/TABLE"}
	}
	if err := checkTarget(h); err != nil {
		return err
	}
	if m.Manual {
		return nil
	}
	if m.History && m.Key == "" {
		return &Error{ErrInput, m.Line, "history needs the column that tells rows apart", "add key=COLUMN"}
	}
	if m.History && h.Partitioned != nil {
		return &Error{ErrInput, h.Partitioned.Line, "history cannot be partitioned", "leave out partitioned: a history has the versions of all times in one table"}
	}
	if h.Partitioned != nil && in.Partition == "" {
		return &Error{ErrInput, h.Partitioned.Line, "the script is partitioned and there is no value for its partition", "give one with --partition"}
	}
	if strings.ContainsRune(in.Partition, 0) {
		return &Error{Err: ErrInput, Message: "the partition has a NUL byte"}
	}
	if h.Partitioned == nil && in.Partition != "" {
		return &Error{ErrInput, m.Line, fmt.Sprintf("there is a partition %q and the script has none", in.Partition), "leave out --partition, or add a line with partitioned"}
	}
	if in.Script == nil {
		return &Error{Err: ErrInput, Message: "the script was not read"}
	}
	return nil
}

func checkTarget(h *annotate.Header) error {
	m := h.Materialize
	if m.Asset.Kind != annotate.KindLake {
		if len(h.Tests) > 0 {
			return &Error{ErrInput, h.Tests[0].Line, fmt.Sprintf("data tests look at tables of lakes, and %s is none", m.Asset), "leave out data_test, or materialize ducklake://LAKE/TABLE"}
		}
		if !m.Manual {
			return &Error{ErrInput, m.Line, fmt.Sprintf("only tables of lakes are written, and %s is none", m.Asset), "materialize ducklake://LAKE/TABLE, or add manual"}
		}
		return nil
	}
	if err := checkTable(m.Asset, m.Line, "the target"); err != nil {
		return err
	}
	if m.Manual && len(h.Tests) > 0 {
		return &Error{ErrInput, h.Tests[0].Line, "a manual script has no data tests", "leave out manual, or the tests"}
	}
	return nil
}

// checkTable says whether an asset is LAKE/TABLE or LAKE/SCHEMA.TABLE.
func checkTable(a annotate.Asset, line int, what string) error {
	bad := func(why, remedy string) error {
		return &Error{ErrInput, line, fmt.Sprintf("%s %s %s", what, a, why), remedy}
	}
	table := a.Table()
	switch parts := strings.Split(table, "."); {
	case a.Lake() == "":
		return bad("names no lake", "write ducklake://LAKE/TABLE")
	case table == "":
		return bad("names a lake and no table in it", fmt.Sprintf("write ducklake://%s/TABLE", a.Lake()))
	case strings.Contains(table, "/"):
		return bad("has a slash in its table's name", "write ducklake://LAKE/SCHEMA.TABLE")
	case len(parts) > 2:
		return bad("has more than one dot in its table's name", "write ducklake://LAKE/SCHEMA.TABLE")
	case parts[0] == "" || parts[len(parts)-1] == "":
		return bad("has an empty name in it", "write ducklake://LAKE/SCHEMA.TABLE")
	case strings.Contains(a.Path, annotate.PartitionPlaceholder):
		return bad("has a partition in its name", "all partitions are in one table; leave it out")
	}
	return nil
}
