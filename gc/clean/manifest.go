package clean

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
)

// What a Line says is done with a file.
const (
	ActionDelete     = "delete"
	ActionQuarantine = "quarantine"
	ActionClient     = "left to the client"
)

// Line is a file in a manifest.
type Line struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"` // bytes; -1 when it is not known
	Reason string `json:"reason"`
	Action string `json:"action"`
}

// Sink takes a manifest: every file that goes, or would go, in no certain order.
type Sink interface {
	Write(l Line) error
}

type discard struct{}

func (discard) Write(Line) error { return nil }

// JSONLines writes a JSON object in a line for each file.
func JSONLines(w io.Writer) Sink {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return jsonLines{e}
}

type jsonLines struct{ e *json.Encoder }

func (j jsonLines) Write(l Line) error { return j.e.Encode(l) }

// CSV writes comma-separated values, after a line with the names of the columns.
func CSV(w io.Writer) Sink { return &csvLines{w: csv.NewWriter(w)} }

type csvLines struct {
	w     *csv.Writer
	begun bool
}

func (c *csvLines) Write(l Line) error {
	if !c.begun {
		c.begun = true
		if err := c.w.Write([]string{"path", "size", "reason", "action"}); err != nil {
			return err
		}
	}
	if err := c.w.Write([]string{l.Path, strconv.FormatInt(l.Size, 10), l.Reason, l.Action}); err != nil {
		return err
	}
	c.w.Flush()
	return c.w.Error()
}
