package hold

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/eiderdb/eider/conflict"
)

// compareRows is tier 3: every row of the sources is in the outputs under its id. It sees
// what tier 2 cannot, ids that changed places. It reads everything, for tests.
//
// Columns are known by their field ids, or names in files without; those that not all
// files have are left out, since a column that was added later has a default where the
// file has nothing. Integers and floats are compared as wide ones, since types are promoted.
func (e *examiner) compareRows() ([]conflict.Violation, error) {
	all := slices.Concat(e.sources, e.outputs)
	var common []string
	for i := range all {
		names, err := e.leaves(&all[i])
		if err != nil {
			return nil, err
		}
		if i == 0 {
			common = names
			continue
		}
		common = slices.DeleteFunc(common, func(n string) bool { return !slices.Contains(names, n) })
	}
	want, err := e.content(e.sources, common)
	if err != nil {
		return nil, err
	}
	got, err := e.content(e.outputs, common)
	if err != nil || slices.Equal(want, got) {
		return nil, err
	}
	return []conflict.Violation{moved(e.c, e.outputs, want, got)}, nil
}

// content is what a row holds.
type content struct {
	id   int64
	hash uint64
}

func byContent(a, b content) int {
	return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.hash, b.hash))
}

// moved says of rows with the same ids how many have another one's content.
func moved(c *Compaction, outputs []table, want, got []content) conflict.Violation {
	under := make(map[uint64]int64, len(got))
	for _, r := range got {
		under[r.hash] = r.id
	}
	var differ, was, is int64
	for i, r := range want {
		if i < len(got) && got[i] == r {
			continue
		}
		if differ++; differ == 1 {
			was, is = r.id, -1
			if id, ok := under[r.hash]; ok {
				is = id
			}
		}
	}
	output := int64(0)
	if len(outputs) > 0 {
		output = outputs[0].id
	}
	if is < 0 {
		return conflict.RowIDsLost(c.Table, output, []int64{was}, nil)
	}
	return conflict.RowIDsChange(c.Table, output, differ, int64(len(want)), was, is)
}

// name is what a column is known by across files.
func name(parent string, c *parquet.Column) string {
	if id := c.ID(); id != 0 {
		return parent + "/" + strconv.Itoa(id)
	}
	return parent + "/" + c.Name()
}

func walk(parent string, c *parquet.Column, fn func(name string, leaf *parquet.Column)) {
	for _, child := range c.Columns() {
		n := name(parent, child)
		if child.Leaf() {
			fn(n, child)
			continue
		}
		walk(n, child, fn)
	}
}

// leaves are the names of a file's own columns.
func (e *examiner) leaves(t *table) (out []string, err error) {
	r, err := e.v.open(e.ctx, t.file, wantFooter)
	if err != nil {
		return nil, e.blame(t, t.file, err)
	}
	err = guarded(func() error {
		walk("", r.pq.Root(), func(n string, leaf *parquet.Column) {
			if i := leaf.Index(); i != t.ft.id && i != t.ft.snapshot {
				out = append(out, n)
			}
		})
		return nil
	})
	return out, e.blame(t, t.file, errors.Join(err, r.Close()))
}

// content returns the rows of tables, in order of ids.
func (e *examiner) content(tables []table, common []string) ([]content, error) {
	var out []content
	for i := range tables {
		t := &tables[i]
		if err := e.spend(max(t.file.Size, 0)); err != nil {
			return nil, e.blame(t, t.file, err)
		}
		hashes, err := e.hashes(t, common)
		if err != nil {
			return nil, e.blame(t, t.file, err)
		}
		// Row ids and hashes run side by side, with the same rows left out.
		k := keeper{deleted: t.deleted}
		words := make([]int64, len(hashes))
		for j, h := range hashes {
			words[j] = int64(h)
		}
		words, _ = k.filter(words, nil)
		at := 0
		err = e.rows(t, false, func(ids, _ []int64) error {
			for _, id := range ids {
				out = append(out, content{id, uint64(words[at])})
				at++
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, byContent)
	return out, nil
}

// hashes returns the hash of each row.
func (e *examiner) hashes(t *table, common []string) (out []uint64, err error) {
	r, err := e.v.open(e.ctx, t.file, wantAll)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	err = guarded(func() error {
		seed := map[int]uint64{}
		walk("", r.pq.Root(), func(n string, leaf *parquet.Column) {
			if i := slices.Index(common, n); i >= 0 {
				seed[leaf.Index()] = mix(uint64(i) + 1)
			}
		})
		buf := make([]parquet.Row, 256)
		for _, g := range r.pq.RowGroups() {
			rows := g.Rows()
			for {
				n, err := rows.ReadRows(buf)
				for _, row := range buf[:n] {
					out = append(out, hashRow(row, seed))
				}
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					return errors.Join(damaged(err), rows.Close())
				}
				if err := e.ctx.Err(); err != nil {
					return errors.Join(err, rows.Close())
				}
			}
			if err := rows.Close(); err != nil {
				return damaged(err)
			}
		}
		return nil
	})
	return out, err
}

// hashRow adds the values up, each with its column and its place in it, so that the order
// of columns does not matter and that of list elements does.
func hashRow(row parquet.Row, seed map[int]uint64) uint64 {
	var sum uint64
	place := map[int]uint64{}
	for _, v := range row {
		s, ok := seed[v.Column()]
		if !ok {
			continue
		}
		place[v.Column()]++
		sum += mix(hashValue(v) ^ mix(s+place[v.Column()]))
	}
	return sum
}

func hashValue(v parquet.Value) uint64 {
	const fnvOffset, fnvPrime = 14695981039346656037, 1099511628211
	if v.IsNull() {
		return uint64(v.DefinitionLevel()) + 7
	}
	switch v.Kind() {
	case parquet.Boolean:
		if v.Boolean() {
			return mix(1)
		}
		return mix(2)
	case parquet.Int32:
		return mix(uint64(int64(v.Int32())))
	case parquet.Int64:
		return mix(uint64(v.Int64()))
	case parquet.Float:
		return mix(math.Float64bits(float64(v.Float())))
	case parquet.Double:
		return mix(math.Float64bits(v.Double()))
	case parquet.Int96:
		x := v.Int96()
		return mix(uint64(x[0])|uint64(x[1])<<32) + mix(uint64(x[2]))
	}
	h := uint64(fnvOffset)
	b := v.ByteArray()
	for ; len(b) >= 8; b = b[8:] {
		h = (h ^ binary.LittleEndian.Uint64(b)) * fnvPrime
	}
	for _, c := range b {
		h = (h ^ uint64(c)) * fnvPrime
	}
	return mix(h + uint64(len(v.ByteArray())))
}
