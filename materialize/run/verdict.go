package run

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/eiderdb/eider/materialize/plan"
	"github.com/eiderdb/eider/materialize/state"
)

// summary is the row that ends a plan.
type summary struct {
	Materialized string         `json:"materialized"`
	Partition    string         `json:"partition"`
	Rows         *int64         `json:"rows"`
	Snapshot     *int64         `json:"snapshot_id"`
	Schema       []state.Column `json:"output_schema"`
	Drift        *plan.Drift    `json:"schema_drift"`
	Tests        []state.Test   `json:"data_tests"`
}

// UnmarshalJSON reads the lists also where they are JSON in a text.
func (s *summary) UnmarshalJSON(data []byte) error {
	type plainSummary summary
	var raw struct {
		plainSummary
		Schema json.RawMessage `json:"output_schema"`
		Tests  json.RawMessage `json:"data_tests"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*s = summary(raw.plainSummary)
	for _, part := range []struct {
		from json.RawMessage
		to   any
	}{{raw.Schema, &s.Schema}, {raw.Tests, &s.Tests}} {
		from := part.from
		if len(from) > 0 && from[0] == '"' {
			var text string
			if err := json.Unmarshal(from, &text); err != nil {
				return err
			}
			from = json.RawMessage(text)
		}
		if len(from) == 0 {
			continue
		}
		if err := json.Unmarshal(from, part.to); err != nil {
			return err
		}
	}
	return nil
}

// verdict says whether a run is materialized, or why not. Fewer outcomes than tests are never a
// silent pass.
func verdict(asset string, tests []state.Test, declared int) (text string, ok bool) {
	if len(tests) < declared {
		return fmt.Sprintf("%s: %d of %d data tests gave no outcome", asset, declared-len(tests), declared), false
	}
	failed := 0
	var lines []string
	for _, t := range tests {
		if t.Violating > 0 {
			failed++
			lines = append(lines, fmt.Sprintf("✗ %s: %d violating", t.Name, t.Violating))
		} else {
			lines = append(lines, "✓ "+t.Name)
		}
	}
	if failed == 0 {
		return "", true
	}
	return fmt.Sprintf("%s: %d of %d data tests failed\n", asset, failed, len(tests)) + strings.Join(lines, "\n"), false
}
