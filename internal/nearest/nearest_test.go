package nearest

import "testing"

func TestOf(t *testing.T) {
	t.Parallel()
	known := []string{"listen", "data", "cache-size", "datum"}
	for name, want := range map[string]string{
		"listne": "listen", "Cache_Size": "cache-size", "cache": "", "xxxxxx": "", "dat": "data", "": "", "datu": "data",
	} {
		if got := Of(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if d := Distance("kitten", "sitting"); d != 3 {
		t.Errorf("distance %d, want 3", d)
	}
}
