package v1

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"pmg/internal/testkit/chrome"
	"pmg/internal/testkit/testutil"
)

// newDocsRig serves the API to an account with the key pmg_docs.
func newDocsRig(t *testing.T) *rig {
	key := fmt.Sprintf(`{name: docs, hash: "sha256:%x"}`, sha256.Sum256([]byte("pmg_docs")))
	return newRig(t, ", pull: true, keys: ["+key+"]", "", "")
}

// programs returns how the programs of a language are run: the name of the file, and the command.
func programs() map[string][]string {
	return map[string][]string{
		"curl": {"call.sh", "bash"}, "JavaScript": {"call.mjs", "node"}, "Python": {"call.py", "python3"}, "Go": {"main.go", "go", "run"}, "PHP": {"call.php", "php"},
	}
}

var (
	sections = regexp.MustCompile(`(?s)<h2 id="([a-zA-Z]+)">.*?</section>`)
	program  = regexp.MustCompile(`(?s)<summary>([A-Za-z]+)</summary><pre tabindex="0">(.*?)</pre>`)
)

// Each example of the page is carried out by the gateway as it stands there, but for the id of a message, which is one that waits.
func TestExamples(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	r := newDocsRig(t)
	page := r.client.Do("GET /v1/docs", "").Want(200).Body
	ran, missing := 0, map[string]bool{}
	for _, section := range sections.FindAllStringSubmatch(page, -1) {
		for _, p := range program.FindAllStringSubmatch(section[0], -1) {
			file, command := programs()[p[1]][0], programs()[p[1]][1:]
			if _, err := exec.LookPath(command[0]); err != nil {
				missing[command[0]] = true
				continue
			}
			id := r.submit(`,"send_at":"` + in(time.Hour) + `"`).Field("id")
			text := strings.ReplaceAll(html.UnescapeString(p[2]), "000660ed2b029375", id)
			path := filepath.Join(t.TempDir(), file)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), testutil.Patience)
			c := exec.CommandContext(ctx, command[0], append(command[1:], path)...)
			c.Env = append(os.Environ(), "PMG_KEY=pmg_docs", "NO_PROXY=*", "GOFLAGS=")
			answer, err := c.Output()
			cancel()
			for _, line := range strings.Split(strings.TrimSpace(string(answer)), "\n") {
				if !json.Valid([]byte(line)) {
					t.Errorf("%s in %s: %v\n%s\n%s", section[1], p[1], err, text, answer)
				}
			}
			ran++
		}
	}
	languages := len(programs()) - len(missing)
	if operations := strings.Count(page, "/v1/docs#") + strings.Count(page, `class="more try"`); ran != languages*operations || operations < 11 {
		t.Errorf("%d examples of %d operations were run", ran, operations)
	}
	for name := range missing {
		t.Logf("%s is not installed: its examples are not run", name)
	}
}

// Each example fails if the gateway refuses the request.
func TestExamplesRefused(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	r := newDocsRig(t)
	page := r.client.Do("GET /v1/docs", "").Body
	section := page[strings.Index(page, `<h2 id="getAccount">`):]
	for _, p := range program.FindAllStringSubmatch(section, len(programs())) {
		command := programs()[p[1]][1:]
		if _, err := exec.LookPath(command[0]); err != nil {
			continue
		}
		path := filepath.Join(t.TempDir(), programs()[p[1]][0])
		if err := os.WriteFile(path, []byte(html.UnescapeString(p[2])), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), testutil.Patience)
		c := exec.CommandContext(ctx, command[0], append(command[1:], path)...)
		c.Env = append(os.Environ(), "PMG_KEY=pmg_other", "NO_PROXY=*", "GOFLAGS=")
		out, err := c.CombinedOutput()
		if cancel(); err == nil {
			t.Errorf("%s: a wrong key makes no error: %s", p[1], out)
		}
	}
}

// The page and its files are served without a login, under a policy by which no script runs but those of the gateway.
func TestDocsServed(t *testing.T) {
	t.Parallel()
	r := newDocsRig(t).by("", "")
	for path, kind := range map[string]string{
		"/v1/docs": "text/html", "/problems/no-credit": "text/html", "/v1/docs/static/pmg.css": "text/css", "/v1/docs/static/try.js": "text/javascript",
	} {
		w := r.client.Do("GET "+path, "").Want(200)
		if !strings.HasPrefix(w.Header.Get("Content-Type"), kind) || !strings.HasPrefix(w.Header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; ") ||
			w.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, w.Header)
		}
	}
	r.client.Do("GET /v1/docs/static/", "").Want(404)
	r.client.Do("GET /v1/docs/other", "").Want(404)
	if w := r.client.Do("POST /v1/docs", ""); w.Status != 405 {
		t.Error(w.Status)
	}
}

// In a real browser a reader sends requests with a key, or with a name and a password, and sees the answers, also that of a wrong
// login. The page fits a phone, can be read in both colors, and keeps the key nowhere.
func TestDocsBrowser(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	b := chrome.Start(t)
	r := newDocsRig(t)
	try := func(id string) string {
		return `//section[@aria-labelledby="` + id + `"]//details[contains(@class, "try")]`
	}
	send := func(id, want string) {
		t.Helper()
		b.Do(chromedp.Evaluate(`document.querySelector('section[aria-labelledby=`+id+`] .try').open = true`, nil), chrome.Click(try(id)+`//button`),
			chromedp.WaitVisible(try(id)+`//pre[contains(text(), '`+want+`')]`))
	}
	login := func(text string) {
		b.Do(chromedp.SetValue(`#key`, text))
	}
	b.Do(chromedp.Navigate(r.client.URL+"/v1/docs"), chromedp.WaitVisible(`#key`))
	login("pmg_docs")
	send("postMessage", `"client_reference": "parcel 7"`)
	send("listMessages", `"parcel 7"`)
	login("shop:secret")
	send("getAccount", "HTTP 200")
	login("pmg_wrong")
	send("getAccount", "HTTP 401")
	if r.SMSC.Take().Message == nil {
		t.Error("nothing is sent")
	}
	if wrong := b.Nameless(); len(wrong) > 0 {
		t.Errorf("controls without a name: %q", wrong)
	}
	for _, scheme := range []string{"light", "dark"} {
		b.Do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
		if pale := b.Pale(); len(pale) > 0 {
			t.Errorf("texts that are hard to read in %s colors: %q", scheme, pale)
		}
	}
	var wide, kept int
	b.Do(emulation.SetDeviceMetricsOverride(390, 844, 1, true), chromedp.Evaluate(`document.documentElement.scrollWidth`, &wide),
		chromedp.Evaluate(`localStorage.length + sessionStorage.length + document.cookie.length + (location.href.includes('pmg_') ? 1 : 0)`, &kept))
	if wide > 390 || kept > 0 {
		t.Errorf("%d px wide, %d kept", wide, kept)
	}
	b.Silent("401")
}
