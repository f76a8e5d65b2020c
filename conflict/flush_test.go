package conflict_test

import (
	"errors"
	"testing"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/lake"
)

func live(begin int64) lake.Span       { return lake.Span{Begin: begin} }
func ended(begin, end int64) lake.Span { return lake.Span{Begin: begin, End: end, Ended: true} }

func TestMisplacedFlushes(t *testing.T) {
	t.Parallel()
	flush := lake.DeleteFile{Span: live(4), ID: 9, DataFileID: 1, HasPartialMax: true, PartialMax: 4}
	cases := []struct {
		name  string
		added lake.DeleteFile
		data  lake.Span
		other []lake.Span
		want  bool
	}{
		{"rewritten file with a delete file", flush, ended(2, 5), []lake.Span{ended(3, 5)}, true},
		{"rewritten file, the other delete file ended before", flush, ended(2, 5), []lake.Span{ended(3, 4)}, false},
		{"rewritten file without a delete file", flush, ended(2, 5), nil, false},
		{"live file: the flush reads its delete file", flush, live(2), []lake.Span{ended(3, 6)}, false},
		{"the other one begins after the data file ended", flush, ended(2, 5), []lake.Span{live(6)}, false},
		{"an ordinary delete file", lake.DeleteFile{Span: live(4), ID: 9, DataFileID: 1}, ended(2, 5), []lake.Span{ended(3, 5)}, false},
		{"a file that nobody knows", lake.DeleteFile{Span: live(4), ID: 9, DataFileID: 2, HasPartialMax: true, PartialMax: 4}, ended(2, 5), []lake.Span{ended(3, 5)}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := conflict.MisplacedFlushes([]lake.DeleteFile{c.added}, conflict.Files{
				DataFile: func(id int64) (lake.DataFile, bool, error) {
					return lake.DataFile{Span: c.data, ID: 1}, id == 1, nil
				},
				DeletesOf: func(int64) ([]lake.DeleteFile, error) {
					out := []lake.DeleteFile{c.added}
					for i, s := range c.other {
						out = append(out, lake.DeleteFile{Span: s, ID: int64(i)})
					}
					return out, nil
				},
			})
			if err != nil || (len(got) == 1) != c.want {
				t.Fatalf("%v, %v", got, err)
			}
		})
	}
}

func TestMisplacedFlushesPassesErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	added := []lake.DeleteFile{{DataFileID: 1, HasPartialMax: true}}
	f := conflict.Files{
		DataFile:  func(int64) (lake.DataFile, bool, error) { return lake.DataFile{}, false, broken },
		DeletesOf: func(int64) ([]lake.DeleteFile, error) { return nil, broken },
	}
	if _, err := conflict.MisplacedFlushes(added, f); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	f.DataFile = func(int64) (lake.DataFile, bool, error) { return lake.DataFile{Span: ended(1, 2)}, true, nil }
	if _, err := conflict.MisplacedFlushes(added, f); !errors.Is(err, broken) {
		t.Fatal(err)
	}
}
