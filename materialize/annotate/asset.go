package annotate

import (
	"strings"
	"unicode"
)

// Kind is what an asset is. Its text is the scheme of references.
type Kind string

// The kinds of assets.
const (
	KindLake      Kind = "ducklake"  // a table of a lake: ducklake://LAKE/TABLE
	KindDataTable Kind = "datatable" // a table of a plain database
	KindS3        Kind = "s3"        // an object, or objects, of a bucket
	KindResource  Kind = "res"       // a resource by its path; $res: is the same
	KindVolume    Kind = "volume"    // a file of a volume
)

// PartitionPlaceholder stands in assets and in SQL for the value of the partition.
const PartitionPlaceholder = "{partition}"

// mainPath is the path that the bare words ducklake and datatable stand for.
const mainPath = "main"

// Asset is something that scripts read or write. The zero Asset is none.
type Asset struct {
	Kind Kind
	// Path is what follows the scheme. Never empty. Of an S3 asset it has no leading
	// slashes, since s3:///k, s3://k and s3:////k are spellings of one asset.
	Path string
}

// schemes are the spellings of references, by kind.
var schemes = []struct {
	prefix string
	kind   Kind
}{
	{"ducklake://", KindLake},
	{"datatable://", KindDataTable},
	{"s3://", KindS3},
	{"res://", KindResource},
	{"$res:", KindResource},
	{"volume://", KindVolume},
}

// ParseAsset reads a reference such as ducklake://analytics/orders. A reference is one
// word: with white space in it, with an unknown scheme or without a path it is none.
func ParseAsset(s string) (Asset, bool) {
	if strings.IndexFunc(s, unicode.IsSpace) >= 0 {
		return Asset{}, false
	}
	for _, scheme := range schemes {
		path, ok := strings.CutPrefix(s, scheme.prefix)
		if !ok {
			continue
		}
		if scheme.kind == KindS3 {
			path = strings.TrimLeft(path, "/")
		}
		if path == "" {
			return Asset{}, false
		}
		return Asset{Kind: scheme.kind, Path: path}, true
	}
	return Asset{}, false
}

// ParseTarget is ParseAsset that also takes the bare words ducklake and datatable, which
// stand for the path main. Lines of materialize, relationships and column have them.
func ParseTarget(s string) (Asset, bool) {
	switch s {
	case string(KindLake), string(KindDataTable):
		return Asset{Kind: Kind(s), Path: mainPath}, true
	}
	return ParseAsset(s)
}

// String is the reference to the asset, which ParseAsset reads back; empty for the zero
// Asset.
func (a Asset) String() string {
	if a == (Asset{}) {
		return ""
	}
	return string(a.Kind) + "://" + a.Path
}

// Lake is the name of the lake, or of the database, that a table is in: the path up to the
// first slash, or all of it.
func (a Asset) Lake() string {
	lake, _, _ := strings.Cut(a.Path, "/")
	return lake
}

// Table is the name of a table in its lake, as TABLE or SCHEMA.TABLE: the path after the
// first slash. Empty if there is none.
func (a Asset) Table() string {
	_, table, _ := strings.Cut(a.Path, "/")
	return table
}

// PartitionBearing tells whether the asset is another one in each partition.
func (a Asset) PartitionBearing() bool { return strings.Contains(a.Path, PartitionPlaceholder) }
