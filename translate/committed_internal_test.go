package translate

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/translate/guard"
)

// TestCommitPayload: any commit's payload is JSON below the limit that says what was
// committed, or that a part of it is missing.
func TestCommitPayload(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   guard.Added
		want string
	}{
		{guard.Added{Lake: "public", Snapshot: 12, Changes: "inserted_into_table:3"}, `{"lake":"public","snapshot_id":12,"changes":"inserted_into_table:3"}`},
		{
			guard.Added{Lake: "l", Changes: `created_table:"main"."a<b"`, Author: "me", Message: "it\nis"},
			`{"lake":"l","snapshot_id":0,"changes":"created_table:\"main\".\"a<b\"","author":"me","message":"it\nis"}`,
		},
	} {
		if got := commitPayload(&c.in); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	text := rapid.Custom(func(rt *rapid.T) string {
		unit := rapid.SampledFrom([]string{"a", "\"", "\x01", "ö", "\u2028", "𝄞", "\xff", "\x7f", "<"}).Draw(rt, "unit")
		return strings.Repeat(unit, rapid.IntRange(0, 9000).Draw(rt, "times"))
	})
	rapid.Check(t, func(rt *rapid.T) {
		a := guard.Added{
			Lake: text.Draw(rt, "lake"), Snapshot: rapid.Int64().Draw(rt, "snapshot"), Changes: text.Draw(rt, "changes"),
			Author: text.Draw(rt, "author"), Message: text.Draw(rt, "message"),
		}
		got := commitPayload(&a)
		if len(got) > maxPayload {
			rt.Fatalf("%d bytes", len(got))
		}
		var p struct {
			Lake, Changes, Author, Message string
			Snapshot                       int64 `json:"snapshot_id"`
			Cut                            bool
		}
		if err := json.Unmarshal([]byte(got), &p); err != nil {
			rt.Fatalf("%s: %v", got, err)
		}
		if p.Snapshot != a.Snapshot {
			rt.Fatalf("snapshot %d, want %d", p.Snapshot, a.Snapshot)
		}
		cut := false
		for _, part := range [][2]string{{p.Lake, a.Lake}, {p.Changes, a.Changes}, {p.Author, a.Author}, {p.Message, a.Message}} {
			is, was := part[0], strings.ToValidUTF8(strings.ReplaceAll(part[1], "\xff", "\ufffd"), "")
			if !strings.HasPrefix(was, is) || !utf8.ValidString(is) {
				rt.Fatalf("%.50q is not how %.50q begins", is, was)
			}
			cut = cut || len(is) < len(was)
		}
		if cut != p.Cut {
			rt.Fatalf("cut is %v, said to be %v", cut, p.Cut)
		}
	})
}
