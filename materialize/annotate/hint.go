package annotate

import (
	"fmt"
	"sort"
	"strings"
	"unicode"

	"github.com/eiderdb/eider/internal/nearest"
)

// functionWords are words that sentences have and annotations have not.
var functionWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a about above after again all also an and any are as at be because been before below between both but by can
		could do does done down during each every few for from had has have he here how if in into is it its just like many may more most must my
		need needs never no not now of off on once one only or other our out over own same she should since so some such than that the their them
		then there these they this those through to too under until up us very was we were what when where which while who why will with without
		would you your`) {
		m[w] = true
	}
	return m
}()

// isProse tells whether what follows a keyword reads like the rest of a sentence: several
// words, a function word among them or many of them, and nothing that only annotations
// have.
func isProse(rest string) bool {
	words := strings.Fields(rest)
	if len(words) < 2 {
		return false
	}
	function, plain := false, true
	for _, w := range words {
		if strings.Contains(w, "://") || strings.ContainsAny(w, "=<>{}*") {
			return false
		}
		w = strings.ToLower(strings.Trim(w, ".,;:!?()"))
		function = function || functionWords[w]
		plain = plain && !strings.ContainsFunc(w, func(c rune) bool { return !unicode.IsLetter(c) && c != '-' && c != '\'' })
	}
	return function || plain && len(words) >= 5
}

// known are words that are written for annotations that are called something else, with
// what to write instead.
var known = map[string]string{
	"partition": keyPartitioned, "partition_by": keyPartitioned, "partitioned_by": keyPartitioned, "partitioning": keyPartitioned,
	"materialise": keyMaterialize, "materialized": keyMaterialize, "materialised": keyMaterialize, "materialization": keyMaterialize,
	"test": keyDataTest, "tests": keyDataTest, "datatest": keyDataTest, "data-test": keyDataTest, "data_tests": keyDataTest,
	"fresh": keyFreshness, "retries": keyRetry, "triggers": keyTrigger, "columns": keyColumn,
}

// misspelt looks at a comment whose first word is no keyword. It is complained of if the
// word is nearly one and the rest is what that one takes: prose hardly ever is.
func (p *parser) misspelt(word, rest string) {
	switch plain := strings.TrimSuffix(word, ":"); {
	case plain == "unique_key" && isWord(rest):
		p.word = plain
		p.say(CodeMisspelt, SeverityWarning, "the key is an option", "write key="+rest+" in the line of materialize")
		return
	case plain == "append" && rest == "":
		p.word = plain
		p.say(CodeMisspelt, SeverityWarning, "it is an option", "write append in the line of materialize")
		return
	case (plain == Schedule || plain == "cron") && len(strings.Fields(strings.Trim(rest, `"'`))) == 5 && strings.ContainsAny(rest, "*0123456789"):
		p.word = plain
		p.say(CodeMisspelt, SeverityWarning, "there is no such annotation", fmt.Sprintf("write on schedule cron=%q", strings.Trim(rest, `"'`)))
		return
	case word == "test:": // what a unit test of a script says, which is something else
		return
	}
	if near := p.nearest(word, rest); near != "" {
		p.word = near
		p.say(CodeMisspelt, SeverityWarning, fmt.Sprintf("%s is no annotation, and left out", word), "write "+strings.TrimSpace(near+" "+rest)+" if that is meant")
	}
}

// nearest is the keyword that word is a misspelling of, if rest is well-formed for it;
// empty if there is none.
func (p *parser) nearest(word, rest string) string {
	plain := strings.ToLower(strings.TrimRight(strings.TrimLeft(word, "@"), ":"))
	type candidate struct {
		name     string
		distance int
	}
	var list []candidate
	if name, ok := known[plain]; ok {
		list = append(list, candidate{name, 0})
	}
	for name := range p.keywords {
		d := nearest.Distance(plain, name)
		// Of short words too many others are near; of long ones a slip or two.
		if d == 0 || d == 1 && len(name) > 4 || d == 2 && len(name) > 6 || d == 3 && len(name) > 10 {
			list = append(list, candidate{name, d})
		}
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].distance < list[j].distance || list[i].distance == list[j].distance && list[i].name < list[j].name
	})
	for _, c := range list {
		if p.wellFormed(c.name, rest) {
			return c.name
		}
	}
	return ""
}

// wellFormed tells whether rest is what a keyword takes, without a complaint.
func (p *parser) wellFormed(name, rest string) bool {
	k := p.keywords[name]
	if k.plain || isProse(rest) {
		return false
	}
	trial := &parser{h: &Header{Lines: map[string]int{}}, keywords: p.keywords, word: name, at: 1}
	k.read(trial, rest)
	for _, t := range trial.h.Tests {
		if t.Kind == TestCustom && !strings.Contains(t.Script, "/") { // any word would do
			return false
		}
	}
	for _, d := range trial.h.Diagnostics {
		if d.Code != CodeNoEffect {
			return false
		}
	}
	return true
}

// unseen complains of an annotation that comes after the header's end. Comments in code are
// prose more often than not: only what is well-formed to the last word counts, and only of
// keywords that something must follow.
func (p *parser) unseen(comment string) {
	word, rest := cutWord(comment)
	rest = strings.TrimSpace(rest)
	if _, ok := p.keywords[word]; !ok || rest == "" || !p.wellFormed(word, rest) {
		return
	}
	p.word = word
	p.say(CodeUnseen, SeverityWarning, "the header has ended before this line, which is not read", "move it above the first line of code and above block comments")
}
