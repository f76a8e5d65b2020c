package plan

import (
	"github.com/eiderdb/eider/translate/exec"
)

// rawScan recognises SELECT plain columns FROM one table WHERE conditions on stored bytes:
// its rows can be copied as they are stored.
func (c *coreBinder) rawScan(trees []*tree, scan *exec.Scan) exec.Node {
	if len(trees) != 1 || trees[0].rel == nil || len(c.order) > 0 || c.core.Distinct || len(c.on) > 0 || scan.Cond != nil {
		return nil
	}
	ts, ok := scan.Src.(*exec.TableScan)
	if !ok {
		return c.rawSub(trees, scan)
	}
	n := &exec.RawScan{Scan: ts, Plain: scan}
	for i := range c.targets {
		t := &c.targets[i]
		switch e := t.expr.(type) {
		case *exec.Col:
			if e.Src != any(trees[0].rel) || e.Att < exec.AttCtid {
				return nil
			}
			n.Atts = append(n.Atts, e.Att)
		case *exec.Const:
			if e.D.Valid {
				return nil
			}
			n.Atts = append(n.Atts, 0)
		default:
			return nil
		}
		n.Exprs = append(n.Exprs, t.expr)
		tab, attr := origin(t.expr)
		n.Cols = append(n.Cols, exec.Column{Name: t.name, Type: t.expr.Type(), Table: tab, Attr: attr})
	}
	return n
}

// rawSub sees through SELECT columns FROM (a raw scan).
func (c *coreBinder) rawSub(trees []*tree, scan *exec.Scan) exec.Node {
	sub, ok := scan.Src.(*exec.SubScan)
	if !ok || sub.Filter != nil || sub.Cell != nil {
		return nil
	}
	in, ok := sub.Node.(*exec.RawScan)
	if !ok {
		return nil
	}
	n := &exec.RawScan{Scan: in.Scan, Plain: in.Plain}
	for i := range c.targets {
		t := &c.targets[i]
		e, ok := t.expr.(*exec.Col)
		if !ok || e.Src != any(trees[0].rel) || e.Att < 1 || e.Att > len(in.Atts) {
			return nil
		}
		n.Atts = append(n.Atts, in.Atts[e.Att-1])
		n.Exprs = append(n.Exprs, in.Exprs[e.Att-1])
		tab, attr := origin(t.expr)
		n.Cols = append(n.Cols, exec.Column{Name: t.name, Type: t.expr.Type(), Table: tab, Attr: attr})
	}
	return n
}
