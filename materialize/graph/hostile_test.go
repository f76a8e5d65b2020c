package graph

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/eiderdb/eider/materialize/lineage"
)

// hostile are texts that break out of what they are written into, if anything does.
var hostile = []string{
	`</script><script>alert(1)</script>`,
	`"><img src=x onerror=alert(1)>`,
	`' onload='alert(1)`,
	`<!--<script>`,
	`]]><svg onload=alert(1)>`,
	`&lt;b&gt;&#0;`,
	`</style></svg></title><script>alert(1)</script>`,
	"\x1b[2J\x1b]0;title\x07\r\nnew line\u2028\u202e\x00\xff\ufffe",
	`\"; drop -> "x`,
	`javascript:alert(1)`,
}

// hostileScripts have the texts everywhere.
func hostileScripts() []Script {
	var out []Script
	for i, h := range hostile {
		out = append(out, Script{
			Name: h, File: h, Comment: h, Writes: []string{h + "/w"}, Reads: []string{h + "/r", hostile[(i+1)%len(hostile)] + "/w"}[:1+i%2],
			Triggers: []Trigger{{Native: h}, {Asset: h + "/t"}}, Partition: h, Strategy: h, Tags: []string{h}, Tests: []string{h},
			Freshness: h, Schedule: h, Columns: []lineage.AssetColumn{{Name: h, From: []lineage.AssetRef{{Asset: h, Column: h}}}},
			Status: Status{State: State(h), Error: h},
		})
	}
	return out
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	g, err := New(hostileScripts())
	if err != nil {
		t.Fatal(err)
	}
	checkPicture(t, g) // no elements and attributes but the picture's own
	page, err := g.HTML(HTMLOptions{Title: hostile[0], Note: hostile[1]})
	if err != nil {
		t.Fatal(err)
	}
	rest := page
	for _, ours := range []string{pageJS, pageCSS, pictureCSS} {
		rest = strings.Replace(rest, ours, "", 1)
	}
	if n := strings.Count(rest, "<script"); n != 2 {
		t.Errorf("%d scripts", n)
	}
	for _, bad := range []string{"<img", "onerror=alert(1)>", "<!--", "]]>", "<svg onload", "\x1b", "\u202e", "\x00"} {
		if strings.Contains(rest, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, form := range []string{g.Text(TextOptions{}), g.DOT()} {
		for _, r := range form {
			if r < ' ' && r != '\n' && r != '\t' || r == '\u202e' || r == 0x7f {
				t.Errorf("%q in %q", r, form)
			}
		}
	}
	// In DOT no quote ends a text early: outside of quotes there are only our own words.
	outside, quoted := "", false
	for i, s := 0, g.DOT(); i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case !quoted:
			outside += s[i : i+1]
		}
	}
	if quoted || strings.ContainsAny(outside, "<>'&\\") && strings.Contains(outside, "alert") {
		t.Error(outside)
	}
}

// The policy lets the page's script run and no other, and names nothing outside.
func TestPolicy(t *testing.T) {
	t.Parallel()
	g, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	page, err := g.HTML(HTMLOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(page, "</script>\n<script>")
	script, _, _ = strings.Cut(script, "</script>")
	hash := sha256.Sum256([]byte(script))
	if want := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"; !strings.Contains(page, want) {
		t.Errorf("the policy does not say %s", want)
	}
	for _, bad := range []string{"src=", "href=", "@import", "fetch(", "XMLHttpRequest", "innerHTML", "eval("} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := strings.Count(page, "://"); n != strings.Count(page, `xmlns="http://www.w3.org/2000/svg"`) {
		t.Errorf("the page names %d places outside", n)
	}
}
