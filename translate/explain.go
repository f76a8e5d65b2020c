package translate

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
)

// execExplain is EXPLAIN [ANALYZE].
func (s *Session) execExplain(ctx context.Context, rq *request, st *ast.Explain) (*running, error) {
	analyze := st.Analyze
	for _, o := range st.Options {
		on := !o.Set
		if o.Set {
			on, _ = parseBool(o.Value)
		}
		switch o.Name {
		case "analyze":
			analyze = on
		case "format":
			if !strings.EqualFold(o.Value, "text") {
				return nil, errFeature("EXPLAIN (FORMAT %s) is not supported", upper(o.Value)).At(rq.sql, o.Pos)
			}
		}
	}
	inner := st.Stmt
	if ct, ok := inner.(*ast.CreateTable); ok && ct.As != nil && !analyze {
		inner = ct.As
	}
	if !isQuery(inner) {
		return nil, errFeature("EXPLAIN of this statement is not supported").At(rq.sql, st.Pos)
	}
	sub := rq.part(inner)
	start := s.now()
	t, err := s.newStatement()
	if err != nil {
		return nil, err
	}
	node, slots, err := s.planQuery(t, sub)
	if err != nil {
		return nil, err
	}
	planned := s.now()
	lines := planLines(node)
	if analyze {
		if s.tx.readOnly {
			if err := s.checkReadOnly(t, sub); err != nil {
				return nil, err
			}
		}
		ectx := s.execCtx(ctx, t, sub)
		ectx.Slots = slots
		r, err := s.open(node, ectx, inner)
		if err != nil {
			return nil, err
		}
		defer r.close()
		n := 0
		for r.iter != nil {
			_, err := r.iter.Next()
			if errors.Is(err, exec.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
			n++
		}
		ran := s.now()
		lines[0] += fmt.Sprintf(" (actual rows=%d)", n)
		lines = append(lines, "Planning Time: "+millis(planned.Sub(start)), "Execution Time: "+millis(ran.Sub(planned)))
	}
	out := make([]exec.Row, len(lines))
	for i, l := range lines {
		out[i] = exec.Row{textDatum(l)}
	}
	return rows(explainColumns(), "EXPLAIN", out), nil
}

func millis(d time.Duration) string {
	return fmt.Sprintf("%.3f ms", float64(d.Microseconds())/1000)
}

// describer is implemented by plan nodes that have more to say than their type.
type describer interface{ Describe() string }

// planLines draws a plan as an indented tree.
func planLines(n exec.Node) []string {
	var out []string
	var walk func(n exec.Node, depth int)
	walk = func(n exec.Node, depth int) {
		label := nodeLabel(n)
		if depth > 0 {
			label = strings.Repeat("  ", 3*(depth-1)+1) + "->  " + label
		}
		out = append(out, label)
		if depth > 64 {
			return
		}
		for _, c := range nodeInputs(n) {
			walk(c, depth+1)
		}
	}
	walk(n, 0)
	return out
}

func nodeLabel(n exec.Node) string {
	if d, ok := n.(describer); ok {
		return d.Describe()
	}
	t := reflect.TypeOf(n)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

// nodeInputs finds the nodes that a node reads from: its exported fields that are nodes.
func nodeInputs(n exec.Node) []exec.Node {
	v := reflect.ValueOf(n)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	var out []exec.Node
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		switch f := v.Field(i); f.Kind() {
		case reflect.Interface:
			if c, ok := f.Interface().(exec.Node); ok && !f.IsNil() {
				out = append(out, c)
			}
		case reflect.Slice:
			for k := range f.Len() {
				if e := f.Index(k); e.Kind() == reflect.Interface && !e.IsNil() {
					if c, ok := e.Interface().(exec.Node); ok {
						out = append(out, c)
					}
				}
			}
		}
	}
	return out
}
