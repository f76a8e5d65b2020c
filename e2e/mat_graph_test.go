package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/materialize/graph"
	"github.com/eiderdb/eider/materialize/lineage"
)

// browser is a Chromium, if the machine has one.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium on this machine (Debian: apt-get install chromium); the page's markup is tested without one in materialize/graph")
	return ""
}

// inPage opens the page, runs a script of the test's own in it and gives what that returns.
func inPage(t *testing.T, page, script string) string {
	t.Helper()
	path := browser(t)
	script = `window.addEventListener("load", () => { let r; try { r = (() => {` + script + `})(); } catch (e) { r = "" + e.stack; } document.body.dataset.result = r; });`
	hash := sha256.Sum256([]byte(script))
	page = strings.Replace(page, "script-src '", "script-src 'sha256-"+base64.StdEncoding.EncodeToString(hash[:])+"' '", 1)
	page = strings.Replace(page, "</body>", "<script>"+script+"</script>\n</body>", 1)
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+filepath.Join(dir, "profile"),
		"--window-size=1400,800", "--virtual-time-budget=5000", "--dump-dom", "file://"+file)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, after, ok := strings.Cut(string(out), `data-result="`)
	if !ok {
		t.Fatalf("the test's script did not run:\n%.2000s", out)
	}
	result, _, _ := strings.Cut(after, `"`)
	return html.UnescapeString(result)
}

// geometry tells of boxes that overlap, and of labels that are not inside of theirs, as the
// browser's own fonts draw them.
const geometry = `
	const wrong = [];
	const boxes = [...document.querySelectorAll("svg .box")].map((g) => ({ g, r: g.querySelector(".body").getBBox() }));
	for (const { g, r } of boxes) {
		for (const t of g.querySelectorAll("text")) {
			const b = t.getBBox();
			if (b.x < r.x || b.y < r.y || b.x + b.width > r.x + r.width || b.y + b.height > r.y + r.height) wrong.push("label " + t.textContent);
		}
		for (const o of boxes) if (o.g !== g && r.x < o.r.x + o.r.width && o.r.x < r.x + r.width && r.y < o.r.y + o.r.height && o.r.y < r.y + r.height) wrong.push("overlap " + g.dataset.id);
	}
`

// pipeline is n stages of three scripts each.
func pipeline(n int) []graph.Script {
	var scripts []graph.Script
	for i := range n {
		for k := range 3 {
			s := graph.Script{
				Name: fmt.Sprintf("stage_%d/WIDE_Mixed_%d_with_a_long_name", i, k), Strategy: "replace", Writes: []string{fmt.Sprintf("ducklake://shop/t_%d_%d", i, k)},
				Status: graph.Status{State: graph.StateMaterialized, Rows: 123456, At: time.Date(2026, 5, 17, 6, 0, 0, 0, time.UTC)},
			}
			s.Reads = []string{"s3://raw/ünïcødé/データ.parquet"}
			if i > 0 {
				s.Reads = []string{fmt.Sprintf("ducklake://shop/t_%d_%d", i-1, k), fmt.Sprintf("ducklake://shop/t_%d_%d", i-1, (k+1)%3)}
				s.Columns = []lineage.AssetColumn{
					{Name: "a", From: []lineage.AssetRef{{Asset: s.Reads[0], Column: "a"}}, Exact: true},
					{Name: "b", From: []lineage.AssetRef{{Asset: s.Reads[1], Column: "b"}}, Exact: true},
				}
			}
			scripts = append(scripts, s)
		}
	}
	return scripts
}

func pageOf(t *testing.T, scripts []graph.Script) string {
	t.Helper()
	g, err := graph.New(scripts)
	if err != nil {
		t.Fatal(err)
	}
	page, err := g.HTML(graph.HTMLOptions{Title: "Shop"})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// A real browser draws the page, and clicks, search and columns do what they say.
func TestGraphPage(t *testing.T) {
	got := inPage(t, pageOf(t, pipeline(4)), geometry+`
		if (boxes.length !== 13) wrong.push("boxes " + boxes.length);
		const box = (id) => boxes.find((b) => b.g.dataset.id === id).g;
		const lit = () => boxes.filter((b) => b.g.classList.contains("lit")).map((b) => b.g.dataset.id);
		const details = document.getElementById("details");
		const last = "script:stage_3/WIDE_Mixed_0_with_a_long_name";
		box(last).dispatchEvent(new MouseEvent("click", { bubbles: true }));
		if (details.querySelector("h2").textContent !== last.slice(7)) wrong.push("details: " + details.textContent);
		if (lit().length !== 10) wrong.push("upstream: " + lit());
		const column = [...details.querySelectorAll(".column button")].find((b) => b.textContent === "a");
		column.click();
		if (lit().length !== 4 || lit().some((id) => !id.includes("Mixed_0"))) wrong.push("column a: " + lit());
		const search = document.getElementById("search");
		search.value = "stage_2 mixed_1";
		search.dispatchEvent(new Event("input"));
		if (lit().length !== 1 || document.getElementById("found").textContent !== "1 found") wrong.push("search: " + lit());
		search.value = "";
		search.dispatchEvent(new Event("input"));
		document.querySelector("#canvas").dispatchEvent(new MouseEvent("click", { bubbles: true }));
		if (document.querySelector("svg.graph").classList.contains("choosing")) wrong.push("still chosen");
		const before = document.querySelector("svg.graph").getAttribute("viewBox");
		document.getElementById("in").click();
		if (document.querySelector("svg.graph").getAttribute("viewBox") === before) wrong.push("no zoom");
		return wrong.join("; ") || "fine";
	`)
	if got != "fine" {
		t.Error(got)
	}
}

// Nothing of a script's text is run or becomes an element.
func TestGraphPageHostile(t *testing.T) {
	var scripts []graph.Script
	for i, h := range []string{
		`</script><script>window.hit = 1</script>`, `"><img src=x onerror="window.hit=1">`, `' onload='window.hit=1`, `<!--<script>`, `]]><svg onload=window.hit=1>`,
		`</style></svg></title><script>window.hit=1</script>`, "\x1b[2J\u2028\u202e\x00", `<iframe srcdoc="<script>parent.hit=1</script>">`,
	} {
		scripts = append(scripts, graph.Script{
			Name: h, File: h, Comment: h, Writes: []string{h + "/w"}, Reads: []string{h + "/r"}, Triggers: []graph.Trigger{{Native: h}, {Asset: h}}, Strategy: h, Tags: []string{h},
			Tests: []string{h}, Freshness: h, Schedule: h, Partition: h, Columns: []lineage.AssetColumn{{Name: h, From: []lineage.AssetRef{{Asset: h, Column: h}}}},
			Status: graph.Status{State: graph.State(h), Error: h, Snapshot: int64(i)},
		})
	}
	got := inPage(t, pageOf(t, scripts), geometry+`
		for (const { g } of boxes) g.dispatchEvent(new MouseEvent("click", { bubbles: true }));
		for (const b of document.querySelectorAll("#details button")) b.click();
		if (window.hit) wrong.push("a script ran");
		for (const e of document.querySelectorAll("img, iframe, object, embed, link, svg svg")) wrong.push("element " + e.tagName);
		if (document.querySelectorAll("script").length !== 3) wrong.push("scripts");
		if (boxes.length < 8) wrong.push("boxes " + boxes.length);
		return wrong.join("; ") || "fine";
	`)
	if got != "fine" {
		t.Error(got)
	}
}
