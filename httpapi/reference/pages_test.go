package reference

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"pmg/protocols/httpsms/own"
)

func pages(t *testing.T) (*Pages, []byte) {
	t.Helper()
	b, err := os.ReadFile("../v1/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	return New(b), b
}

// shownTo returns the page as a client sees it who names the gateway as host.
func (p *Pages) shownTo(host string) string {
	r := httptest.NewRequest(http.MethodGet, Path, nil)
	r.Host = host
	return string(p.Docs(r))
}

// Everything that the contract says is on the page: each operation, call, type, member, limit and description.
func TestComplete(t *testing.T) {
	t.Parallel()
	p, b := pages(t)
	var document any
	if err := json.Unmarshal(b, &document); err != nil {
		t.Fatal(err)
	}
	page := p.shownTo("localhost:8080")
	text := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " "))
	for _, k := range own.Kinds() {
		if !strings.Contains(page, `id="problem-`+k.Name) || !strings.Contains(text, k.Doc) {
			t.Errorf("the page lacks the problem %s", k.Name)
		}
	}
	leaves := 0
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			isNamed := strings.HasSuffix(path, "/properties") || strings.HasSuffix(path, "/schemas") || strings.HasSuffix(path, "/paths") || strings.HasSuffix(path, "/webhooks")
			for name, one := range v {
				if isNamed && !strings.Contains(text, name) {
					t.Errorf("the page lacks %s of %s", name, path)
				}
				walk(path+"/"+name, one)
			}
		case []any:
			for i, one := range v {
				walk(fmt.Sprint(path, "/", i), one)
			}
		default:
			name := path[strings.LastIndexByte(path, '/')+1:]
			switch {
			case strings.Contains(path, "/info/") || strings.Contains(path, "/servers/") || strings.Contains(path, "/example") || path == "/openapi":
				return
			case strings.Contains(path, "/securitySchemes/") && name == "type", strings.Contains(path, "/responses/Problem/"):
				return // http; a problem is explained by the table of problems
			}
			word, in := fmt.Sprint(v), text
			switch {
			case name == "operationId":
				word, in = `id="`+word+`"`, page
			case name == "$ref" && strings.Contains(word, "/schemas/"):
				word = nameOf(word)
			case name == "$ref":
				word = "" // what it refers to stands in the place of its name
			}
			if leaves++; !strings.Contains(in, word) {
				t.Errorf("the page lacks %q of %s", word, path)
			}
		}
	}
	if walk("", document); leaves < 500 {
		t.Errorf("the contract has %d values", leaves)
	}
	for _, row := range []string{
		`<td><code>from</code><td>string<td><td class="text">Up to 20 digits`, `<td><code>messages</code><td>array of <a href="#Message">Message</a><small class="detail">1 to 1000 items</small><td>required`,
		`<td>object of string<small class="detail">up to 64 members</small>`, `<small class="detail">one of: none, final, all; default: final</small>`, `<small class="detail">0 to 255</small>`,
		`<small class="detail">up to 64 octets</small>`, `<small class="detail">base64</small>`, `<small class="detail">date-time</small>`, `<small class="detail">1 to 1000; default: 100</small>`,
	} {
		if !strings.Contains(page, row) {
			t.Errorf("the page lacks %s", row)
		}
	}
}

// The page names the gateway as its client does, but a name that could end a literal of an example is not taken.
func TestOrigin(t *testing.T) {
	t.Parallel()
	p, _ := pages(t)
	for host, want := range map[string]string{
		"sms.example.com": "http://sms.example.com", "127.0.0.1:8080": "http://127.0.0.1:8080", "[::1]:8080": "http://[::1]:8080",
		"a'b": "http://localhost:8080", "a\"<b>": "http://localhost:8080", "": "http://localhost:8080", "$(id)": "http://localhost:8080", "a/b": "http://localhost:8080",
		strings.Repeat("a", 300): "http://localhost:8080",
	} {
		page := p.shownTo(host)
		if got := strings.Count(page, want+"/v1/account"); got != len(languages) || strings.Contains(page, standIn) {
			t.Errorf("%q: %d examples at %s", host, got, want)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "https://sms.example.com"+Path, nil)
	if page := string(p.Docs(r)); !strings.Contains(page, "https://sms.example.com/v1/account") {
		t.Error("examples for a client of TLS are without it")
	}
}

// Nothing of a page runs but files of the gateway, and no control has a name by which a browser could send a key in a URL.
func TestNoScript(t *testing.T) {
	t.Parallel()
	p, _ := pages(t)
	page := p.shownTo("localhost")
	for _, part := range []string{"<form", ` name="key"`, " style=", " onclick", "javascript:", "<script>"} {
		if strings.Contains(page, part) {
			t.Errorf("the page has %q", part)
		}
	}
	if n := strings.Count(page, "<script"); n != strings.Count(page, `src="/v1/docs/static/`) || n != 2 {
		t.Errorf("%d scripts", n)
	}
}

// A contract that is none is said to be that.
func TestBroken(t *testing.T) {
	t.Parallel()
	for _, openapi := range []string{"", "{", `{"paths": 1}`, `{"paths": {"/": {"get": 1}}}`, `{"paths": {"/": {"parameters": 1}}}`, `{"webhooks": {"a": {"post": 1}}}`} {
		if page := New([]byte(openapi)).shownTo("localhost"); !strings.Contains(page, "cannot be shown") {
			t.Errorf("%s: %.100s", openapi, page)
		}
	}
}

// A text keeps each of its octets as a literal of a language, also one that would end the literal.
func TestQuotes(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{
		"shell": `'a'\''b` + "`" + `\${c}"'`, "javascript": "`a'b\\`\\\\\\${c}\"`", "python": `'''a\'b` + "`" + `\\${c}"'''`, "golang": `"a'b` + "`" + `\\${c}\""`,
	} {
		if got := quotes[language].(func(string) string)("a'b`\\${c}\""); got != want {
			t.Errorf("%s: %s, want %s", language, got, want)
		}
	}
}
