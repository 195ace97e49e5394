package portal

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/config"
)

// Somebody who manages an account adds, changes and removes templates. Users with the scope send choose them, and nobody else sees or changes them.
func TestTemplates(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	r.makeAcme("")
	b, sends := r.user("acme", config.ManageScope), r.user("acme", config.SendScope)
	set := func(code int, name, text string) {
		t.Helper()
		if w := b.post("templates", "name", name, "text", text); w.code != code {
			t.Errorf("%q: %+v", name, w)
		}
	}
	b.has("templates", "There is no template yet.")
	set(303, "delay", "We are late,\r\n{name}: <b>\"10\" min</b> # no comment")
	set(303, "open", "Yes.")
	set(303, "open", "Yes, until six.")
	for _, c := range [][2]string{
		{"", "x"}, {"x", ""}, {"x", " \n"}, {strings.Repeat("é", 65), "x"}, {"x", strings.Repeat("é", 1601)}, {"a\nb", "x"}, {"x", "${ENV:HOME}"}, {"${FILE:/etc/passwd}", "x"},
		{"x", "a\x00b"}, {"x", "a\tb"},
	} {
		set(422, c[0], c[1])
	}
	b.has("templates", "Yes, until six.", "&lt;b&gt;&#34;10&#34; min&lt;/b&gt;")
	b.has("templates?name=delay", "<textarea", `name="name" value="delay"`)
	for _, other := range []*person{sends, r.user("shop", config.ManageScope), r.user("rival", config.ManageScope)} {
		if w := other.post("templates", "name", "delay", "remove", "1"); w.code == 303 {
			t.Errorf("%+v", w)
		}
	}
	if w := r.user("rival", config.SendScope).has("templates"); strings.Contains(w.body, "delay") {
		t.Error(w.body)
	}
	if w := r.user("acme", config.LookScope).get("templates"); w.code != 403 || strings.Contains(w.body, "delay") {
		t.Errorf("%+v", w)
	}
	if w := sends.has("templates", "Yes, until six."); strings.Contains(w.body, "Remove") || strings.Contains(w.body, "Save") {
		t.Error(w.body)
	}
	w := sends.post("send", "to", "+46700000001", "from", "Acme", "text", "typed before", "template", "delay", "choose", "1")
	if w.code != 200 || !strings.Contains(w.body, "&lt;b&gt;&#34;10&#34; min&lt;/b&gt; # no comment</textarea>") || !strings.Contains(w.body, `value="&#43;46700000001"`) || !r.SMSC.Idle() {
		t.Errorf("%+v", w)
	}
	if w := sends.chooses("open"); w.code != 200 || !strings.Contains(w.body, ">Yes, until six.</textarea>") {
		t.Errorf("%+v", w)
	}
	if w := b.post("templates", "name", "delay", "remove", "1"); w.code != 303 {
		t.Errorf("%+v", w)
	}
	if w := b.post("templates", "name", "delay", "remove", "1"); w.code != 404 {
		t.Errorf("%+v", w)
	}
	if w := sends.chooses("delay"); w.code != 200 || !strings.Contains(w.body, "></textarea>") {
		t.Errorf("%+v", w)
	}
	for _, line := range []string{"templates/set map[account:acme name:open]: ok", "templates/remove map[account:acme name:delay]: ok"} {
		if !r.records.has("user manage of account acme 127.0.0.1 portal/" + line + "\n") {
			t.Errorf("%q", r.records.lines)
		}
	}
	if strings.Contains(strings.Join(r.records.lines, "\n"), "six") {
		t.Errorf("%q", r.records.lines)
	}
	text, err := os.ReadFile(filepath.Join(r.dir, "accounts", "acme.yaml"))
	if err != nil || !strings.Contains(string(text), "until six") || strings.Contains(string(text), "delay") {
		t.Errorf("%s, %v", text, err)
	}
}

// chooses asks the form of a mailing for the text of a template.
func (b *person) chooses(name string) reply {
	b.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, f := range [][2]string{{"from", "Acme"}, {"text", ""}, {"template", name}, {"choose", "1"}} {
		if err := w.WriteField(f[0], f[1]); err != nil {
			b.t.Fatal(err)
		}
	}
	_ = w.Close()
	r, err := http.NewRequestWithContext(b.t.Context(), "POST", b.base+mailingPath, &body)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", w.FormDataContentType())
	return b.done(r)
}

// An account has 100 templates at most; a full one can still change those it has.
func TestMostTemplates(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	var rows []string
	for i := range config.MaxTemplates {
		rows = append(rows, fmt.Sprintf("{name: t%d, text: x}", i))
	}
	r.makeAcme("templates: [" + strings.Join(rows, ", ") + "]")
	b := r.user("acme", config.ManageScope)
	if w := b.post("templates", "name", "another", "text", "x"); w.code != 422 || !strings.Contains(w.body, "too many templates") {
		t.Errorf("%+v", w)
	}
	if w := b.post("templates", "name", "t7", "text", "changed"); w.code != 303 {
		t.Errorf("%+v", w)
	}
	b.has("templates", "changed")
}
