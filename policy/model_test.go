package policy

import (
	"encoding/json"
	"testing"
)

// TestPresence: an empty list is present, an absent one is not, and both stay so in JSON.
func TestPresence(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{}`, `{"primaryKey":[]}`, `{"table":{"partitionBy":[]}}`, `{"table":{}}`, `{"enabled":false}`} {
		var p Policy
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		back, err := json.Marshal(p)
		if err != nil || string(back) != text {
			t.Errorf("%s became %s (%v)", text, back, err)
		}
	}
}
