package annotate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/eiderdb/eider/internal/nearest"
)

// option is one KEY=VALUE of a line, or a word that is none.
type option struct {
	// key is empty for a word that is no option.
	key, value string
	// word is a word that is no option.
	word string
	// open is set for a quoted value without an end.
	open bool
	// bare is set for a value without quotes.
	bare bool
	// cut is set for a value whose rest, after a space, was complained of.
	cut bool
}

// parseOptions takes options apart. A value is a word, or a text in quotes, which may hold
// spaces and which the end of the line ends, too. A word without = or with nothing before
// it is no option.
func parseOptions(text string) []option {
	var list []option
	for {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if text == "" {
			return list
		}
		word, rest := cutWord(text)
		key, value, ok := strings.Cut(word, "=")
		if !ok || key == "" {
			list = append(list, option{word: word})
			text = rest
			continue
		}
		if value == "" || !strings.ContainsRune(`"'`, rune(value[0])) {
			list = append(list, option{key: key, value: value, bare: true})
			text = rest
			continue
		}
		quote := value[0]
		body := text[len(key)+2:]
		value, rest, ok = strings.Cut(body, string(quote))
		list = append(list, option{key: key, value: value, open: !ok})
		text = rest
	}
}

// cutWord is the first word of s, which begins with one, and what follows it.
func cutWord(s string) (word, rest string) {
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// options are the values of a line by key, and its bare words. Everything that a keyword
// does not have is complained of with the nearest that it has; severity says how hard.
// lists are the keys whose values are lists.
func (p *parser) options(text string, severity Severity, keys, bare, lists []string) (values map[string]string, words map[string]bool) {
	values, words = map[string]string{}, map[string]bool{}
	var before option
	for _, o := range parseOptions(text) {
		switch {
		case o.key == "" && slices.Contains(bare, o.word):
			words[o.word] = true
		case o.key == "" && before.cut && before.key == "cron":
			o = before
		case o.key == "" && before.bare && before.key == "cron":
			p.say(CodeStray, severity, fmt.Sprintf("a space ends the value of cron: it is %q", before.value), `write it in quotes, cron="0 6 * * *"`)
			o = before
			o.cut = true
		case o.key == "" && before.bare && slices.Contains(lists, before.key) && (strings.HasSuffix(before.value, ",") || strings.HasPrefix(o.word, ",")):
			p.say(CodeStray, severity, fmt.Sprintf("a space ends the list of %s: %q is left out", before.key, o.word),
				fmt.Sprintf("write it without spaces, %s=a,b, or in quotes, %s=\"a, b\"", before.key, before.key))
			// What follows belongs to the same list.
			o = option{key: before.key, value: o.word, bare: true}
		case o.key == "":
			p.say(CodeStray, severity, fmt.Sprintf("%q is no option", o.word), optionRemedy(o.word, keys, bare))
		case !slices.Contains(keys, o.key):
			p.say(CodeOption, severity, fmt.Sprintf("there is no option %s", o.key), optionRemedy(o.key, keys, bare))
		default:
			if _, ok := values[o.key]; ok {
				p.say(CodeDuplicate, SeverityWarning, fmt.Sprintf("%s is given twice: the later one, %q, counts", o.key, o.value), "remove one")
			}
			if o.open {
				p.say(CodeValue, severity, fmt.Sprintf("the quoted value of %s has no end", o.key), "close the quotes; a quote inside cannot be escaped")
			}
			values[o.key] = o.value
		}
		before = o
	}
	return values, words
}

// optionRemedy names the nearest option, or all.
func optionRemedy(word string, keys, bare []string) string {
	written := func(name string) string {
		if slices.Contains(keys, name) {
			return name + "=…"
		}
		return name
	}
	all := slices.Concat(bare, keys)
	if near := nearest.Of(word, all); near != "" && len(word) > 2 {
		return "is " + written(near) + " meant?"
	}
	if len(all) == 0 {
		return "remove it"
	}
	for i, name := range all {
		all[i] = written(name)
	}
	return "options are " + strings.Join(all, ", ")
}
