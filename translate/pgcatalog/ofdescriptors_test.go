package pgcatalog

import (
	"slices"
	"testing"
	"time"

	"github.com/eiderdb/eider/translate/types"
)

// elsewhere is another session of another user of another server.
type elsewhere struct{ fakeSession }

func (*elsewhere) User() string             { return "other" }
func (*elsewhere) SessionUser() string      { return "other" }
func (*elsewhere) Database() string         { return "elsewhere" }
func (*elsewhere) DatabaseOID() uint32      { return 17000 }
func (*elsewhere) PID() int32               { return 1 }
func (*elsewhere) SearchPath() []string     { return []string{"s2"} }
func (*elsewhere) StatementTime() time.Time { return time.Unix(1_800_000_000, 0) }
func (*elsewhere) Roles() []Role            { return []Role{{OID: 20000, Name: "other"}} }
func (*elsewhere) Settings() []Setting      { return nil }
func (*elsewhere) Activities() []Activity   { return nil }
func (*elsewhere) Databases() []Database    { return []Database{{OID: 17000, Name: "elsewhere"}} }

// TestOfDescriptors: where the descriptors are the same, so are the rows of the relations that say so, and of others not.
func TestOfDescriptors(t *testing.T) {
	t.Parallel()
	here := fixture(t)
	there := *here
	there.Session, there.Env = &elsewhere{}, types.DefaultEnv()
	differ := 0
	for name := range New().byName[catalogName] {
		a, err := readAll(here, name, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := readAll(&there, name, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Equal(a, b) {
			continue
		}
		differ++
		if OfDescriptors(name) {
			t.Errorf("%s: %q, elsewhere %q", name, a, b)
		}
	}
	if differ < 3 {
		t.Errorf("%d relations differ", differ)
	}
	for name := range ofDescriptors {
		if _, ok := New().Table(catalogName, name); !ok {
			t.Errorf("there is no %s", name)
		}
	}
}
