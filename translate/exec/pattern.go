package exec

import (
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// pattern is a compiled expression that can be searched from a place on.
type pattern struct {
	*regexp.Regexp
	// context says that a match depends on what stands before it (^, \b, …), so that the text
	// before a place cannot be cut off.
	context bool
}

func newPattern(re *regexp.Regexp) *pattern {
	p := &pattern{Regexp: re, context: true}
	if tree, err := syntax.Parse(re.String(), syntax.Perl); err == nil {
		p.context = looksBack(tree)
	}
	return p
}

func looksBack(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	for _, s := range re.Sub {
		if looksBack(s) {
			return true
		}
	}
	return false
}

// each calls f for the matches from a byte offset on, until it says that it has enough. As in
// PostgreSQL the next search begins where a match ends, or a character later when it was empty.
func (p *pattern) each(c *Ctx, s string, from int, f func(m []int) (more bool, err error)) error {
	if p.context {
		return p.eachInContext(c, s, from, f)
	}
	for from <= len(s) {
		if err := c.Check(); err != nil {
			return err
		}
		m := p.FindStringSubmatchIndex(s[from:])
		if m == nil {
			return nil
		}
		for i := range m {
			if m[i] >= 0 {
				m[i] += from
			}
		}
		more, err := f(m)
		if err != nil || !more {
			return err
		}
		if from = m[1]; m[0] == m[1] {
			_, w := utf8.DecodeRuneInString(s[from:])
			from += max(1, w)
		}
	}
	return nil
}

// eachInContext finds the matches of the whole text and passes over those before from.
func (p *pattern) eachInContext(c *Ctx, s string, from int, f func(m []int) (more bool, err error)) error {
	for _, m := range p.FindAllStringSubmatchIndex(s, -1) {
		if err := c.Check(); err != nil {
			return err
		}
		if m[0] < from {
			continue
		}
		if more, err := f(m); err != nil || !more {
			return err
		}
	}
	return nil
}
