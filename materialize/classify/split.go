package classify

import "strings"

// Split takes a script apart at its semicolons, those outside of strings, quoted names and
// comments. What has only comments is no statement. It never fails: what has no end, ends
// with the script.
func Split(script string) []Statement {
	list, _ := split(script)
	return list
}

// split is Split; open is the token that the script ends in, nil if it ends in none.
func split(script string) (list []Statement, open *token) {
	var text strings.Builder
	var at Statement // the place of the statement at work
	line, lineStart := 1, 0
	end := 0 // of text, without trailing white space
	flush := func() {
		if end > 0 {
			at.Text = text.String()[:end]
			list = append(list, at)
		}
		text.Reset()
		end = 0
	}
	for s := newScanner(script); ; {
		t, ok := s.next()
		if !ok {
			break
		}
		piece := script[t.start:t.end]
		if t.open {
			open = &t
		}
		switch {
		case piece == ";":
			flush()
		case t.kind == tokComment && end > 0:
			text.WriteString(blank(piece))
		case t.kind == tokSpace && end > 0:
			text.WriteString(piece)
		case t.kind != tokComment && t.kind != tokSpace:
			if end == 0 {
				at = Statement{Offset: t.start, Line: line, Col: t.start - lineStart + 1}
			}
			text.WriteString(piece)
			end = text.Len()
		}
		if n := strings.Count(piece, "\n"); n > 0 {
			line += n
			lineStart = t.start + strings.LastIndexByte(piece, '\n') + 1
		}
	}
	flush()
	return list, open
}
