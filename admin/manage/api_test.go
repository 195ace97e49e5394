package manage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"pmg/admin"
	"pmg/config"
	"pmg/config/managed"
	"pmg/config/managed/editor"
	"pmg/gateway"
	"pmg/internal/passhash"
	"pmg/internal/testkit/apicheck"
	"pmg/internal/token"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/stages"
)

const yaml = `store: {engine: memory}
managed: {dir: managed}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
accounts: [{system_id: main, password: pa55word, block: [fixed]}]
lists: [{name: fixed, file: fixed.txt}]
routes: [{to: {account: main}}]
`

// A rig is a gateway with the API.
type rig struct {
	t    *testing.T
	url  string
	file string
	g    *gateway.Gateway
	fail error // of the next change that is to be put in force
	mu   sync.Mutex
}

func start(t *testing.T, text string) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, file: filepath.Join(dir, "pmg.yaml")}
	r.write("../pmg.yaml", text)
	r.write("../fixed.txt", "46701740600\n")
	cfg, _, err := config.Load(r.file, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.PDULog.Enabled, cfg.Admin.Address, cfg.Admin.Audit = false, "127.0.0.1:0", filepath.Join(dir, "audit")
	cfg.Admin.Tokens = []config.Token{
		{Name: "looker", Hash: token.Hash("pmg_look"), Scope: config.LookScope},
		{Name: "terra", Hash: token.Hash("pmg_act"), Scope: config.AdministerScope},
	}
	r.g, err = gateway.New(cfg, zerolog.Nop(), func(string, *config.Config) (protocols.Driver, error) { return smpp.New(smpp.Options{}), nil })
	if err != nil {
		t.Fatal(err)
	}
	e, err := stages.Start(r.g)
	if err != nil {
		t.Fatal(err)
	}
	cache := &config.Cache{}
	edit := func(_ context.Context, q editor.Request) (editor.Result, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		one := editor.Editor{
			Dir: managed.Open(r.g.Node.Config().Managed.Dir, nil), Running: r.g.Node.Config,
			Load: func(instead map[string][]byte) (*config.Config, error) {
				c, _, err := config.Load(r.file, config.Options{Instead: instead, Cache: cache})
				if err == nil {
					c.Admin, c.PDULog = cfg.Admin, cfg.PDULog
				}
				return c, err
			},
			Apply: func(c *config.Config, _ string) error {
				if r.fail != nil {
					return r.fail
				}
				_, err := r.g.Reload(c, e)
				return err
			},
		}
		return one.Do(q)
	}
	s, err := admin.Start(cfg, r.g, e, "test", admin.Parts{Routes: Routes(edit)})
	if err != nil {
		t.Fatal(err)
	}
	r.url = "http://" + s.Addr() + admin.Base
	t.Cleanup(func() {
		for _, err := range []error{s.Close(), e.Close(), r.g.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return r
}

// write writes a managed file by hand.
func (r *rig) write(file, text string) {
	r.t.Helper()
	path := filepath.Join(filepath.Dir(r.file), "managed", file)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.MkdirAll(filepath.Join(filepath.Dir(r.file), "managed"), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		r.t.Fatal(err)
	}
}

// ask sends a request, wants a status and texts in the answer, and returns the answer and its tag. Headers are written
// "Name: value" in front of the body, each on a line.
func (r *rig) ask(request, body string, want int, texts ...string) (answer, tag string) {
	r.t.Helper()
	return r.askAs("pmg_act", request, body, want, texts...)
}

func (r *rig) askAs(who, request, body string, want int, texts ...string) (answer, tag string) {
	r.t.Helper()
	method, path, _ := strings.Cut(request, " ")
	path, match, _ := strings.Cut(path, " ")
	q, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+who)
	q.Header.Set("Content-Type", "application/json")
	if name, value, ok := strings.Cut(match, ": "); ok {
		q.Header.Set(name, value)
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != want {
		r.t.Errorf("%s: %s, %v, not %d: %s", request, a.Status, err, want, b)
	}
	if strings.Contains(string(b), filepath.Dir(r.file)) {
		r.t.Errorf("%s: the answer has a directory of the machine: %s", request, b)
	}
	c, err := apicheck.Read(openapi)
	if err != nil {
		r.t.Fatal(err)
	}
	if c.Has(method, path) {
		if why := c.Wrong(method, path, a.StatusCode, a.Header.Get("Content-Type"), string(b)); why != "" {
			r.t.Errorf("%s: %s", request, why)
		}
	}
	for _, text := range texts {
		if !strings.Contains(string(b), text) {
			r.t.Errorf("%s lacks %s: %s", request, text, b)
		}
	}
	return string(b), a.Header.Get("ETag")
}

// read returns a managed file.
func (r *rig) read(file string) string {
	b, err := os.ReadFile(filepath.Join(filepath.Dir(r.file), "managed", file))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		r.t.Fatal(err)
	}
	return string(b)
}

const acme = "accounts/acme.yaml"

// An account is made, shown, changed and removed; a password is stored as a hash and never shown, and what is asked for twice
// is done once.
func TestAccount(t *testing.T) {
	t.Parallel()
	r := start(t, yaml)
	made := `{"password": "s3cret", "rate": 5, "bind": ["transceiver"], "quiet": {"from": "21:00", "to": "08:00", "zone": "UTC"}}`
	r.ask("PUT /accounts/acme?dry_run=1", made, 200, `accounts[acme]: absent -> added`)
	if r.read(acme) != "" || r.g.Table.Account("acme") != nil {
		t.Error("a dry run makes an account")
	}
	_, tag := r.ask("PUT /accounts/acme?comment=new+customer If-None-Match: *", made, 201, `"change":1`, `accounts[acme]: absent -> added`)
	if a := r.g.Table.Account("acme"); a == nil || a.Rate != 5 || !passhash.Matches([]byte(a.Password), []byte("s3cret")) {
		t.Errorf("%+v", a)
	}
	if text := r.read(acme); strings.Contains(text, "s3cret") || !strings.Contains(text, "password: \"$argon2id$") {
		t.Error(text)
	}
	if _, again := r.ask("PUT /accounts/acme", made, 200, `{"changes":[]}`); again != tag || tag == "" {
		t.Errorf("the tag of what was stored twice: %s, not %s", again, tag)
	}
	text, shown := r.ask("GET /accounts/acme", "", 200, `"password":"***"`, `"rate":5`, `"quiet":{"from":"21:00","to":"08:00","zone":"UTC"}`)
	if shown != tag || strings.Contains(text, "argon2") {
		t.Errorf("%s %s", shown, text)
	}
	if _, other := r.askAs("pmg_look", "GET /accounts/acme", "", 200); other != "" {
		t.Error("who may not write gets a tag of secrets")
	}
	r.ask("PUT /accounts/acme If-Match: "+tag, strings.Replace(text, `"rate":5`, `"rate":6`, 1), 200, `accounts[acme].rate: 5 -> 6`)
	if a := r.g.Table.Account("acme"); a == nil || a.Rate != 6 || !passhash.Matches([]byte(a.Password), []byte("s3cret")) {
		t.Errorf("%+v", a)
	}
	r.ask("PUT /accounts/acme If-Match: "+tag, made, 412, "it has changed since it was read")
	r.ask("PUT /accounts/acme If-None-Match: *", made, 412, "it exists")
	r.ask("DELETE /accounts/acme?dry_run=1", "", 200, `accounts[acme]: present -> removed`)
	r.ask("DELETE /accounts/acme", "", 200, `accounts[acme]: present -> removed`)
	r.ask("DELETE /accounts/acme", "", 404, "there is no acme below accounts")
	if r.g.Table.Account("acme") != nil {
		t.Error("it is still there")
	}
	r.ask("GET /changes?file=accounts/acme.yaml", "", 200, `"number":3`, `"by":"token terra from 127.0.0.1`, `"comment":"new customer"`)
	r.ask("GET /changes/3", "", 200, `"options":{`, `"password":"***"`)
	r.ask("GET /changes/9", "", 404)
	r.ask("POST /changes/3/revert", "", 201, `accounts[acme]: absent -> added`)
	if a := r.g.Table.Account("acme"); a == nil || a.Rate != 6 {
		t.Errorf("%+v", a)
	}
	audit, err := os.ReadFile(filepath.Join(filepath.Dir(r.file), "audit"))
	if err != nil || strings.Contains(string(audit), "s3cret") || !strings.Contains(string(audit), `"who":"token terra from 127.0.0.1`) ||
		!strings.Contains(string(audit), `"act":"put accounts/acme"`) || !strings.Contains(string(audit), `acme].rate: 5 -> 6`) {
		t.Errorf("%s %v", audit, err)
	}
}

// What the file defines stays as it is, with its place in the answer, and what cannot be is refused with its options.
func TestRefused(t *testing.T) {
	t.Parallel()
	r := start(t, yaml)
	for _, c := range []struct {
		request, body string
		status        int
		text          string
	}{
		{"PUT /accounts/main", `{}`, 409, "pmg.yaml line 5 defines it, so it is changed there"},
		{"DELETE /accounts/main", ``, 409, "pmg.yaml line 5 defines it"},
		{"PUT /lists/fixed", `{}`, 409, "pmg.yaml line 6 defines it"},
		{"PUT /accounts/acme", `{"password": "x", "rate": -1, "speed": 4}`, 422, `"option":"rate","detail":"must be 0 to 1000000`},
		{"PUT /accounts/acme", `{"password": "x", "speed": 4}`, 422, `"option":"speed"`},
		{"PUT /accounts/acme", `{"password": "x", "block": ["none"]}`, 422, `"option":"block[0]","detail":"names no list`},
		{"PUT /accounts/acme", `{"password": "${FILE:/etc/passwd}"}`, 422, "must not have a reference"},
		{"PUT /accounts/acme", `{"webhook": "a` + "\\u0000" + `b"}`, 422, "control characters"},
		{"PUT /routes/r", `{"to": "main", "destination_file": "/etc/passwd"}`, 422, "names a file of the gateway's machine"},
		{"PUT /routes/r", `{"to": "nowhere", "order": "first"}`, 422, `"option":"order"`},
		{"PUT /lists/l", `{"file": "/etc/passwd"}`, 422, "the gateway chooses the file"},
		{"PUT /lists/l", `{}`, 422, `"detail":"must have rows, in l.txt: PUT /lists/l/rows first","file":"lists/l.yaml"`},
		{"PUT /prices/p", `{"currency": "EUR"}`, 422, `"detail":"must have rows, in p.csv: PUT /prices/p/rows first","file":"prices/p.yaml"`},
		{"PUT /accounts/acme", `{"password": `, 400, "cannot read the options as JSON"},
		{"PUT /accounts/acme", `{} {}`, 400, "more behind the object"},
		{"PUT /accounts/acme", `null`, 400, "no object"},
		{"PUT /accounts/acme", `{"password": "` + strings.Repeat("x", managed.MaxOptions) + `"}`, 400, "as JSON"},
		{"PUT /accounts/a.b", `{}`, 400, "64 at most"},
		{"PUT /accounts/..%2Facme", `{}`, 400, "64 at most"},
		{"GET /accounts/none", ``, 404, "there is no none below accounts"},
		{"PUT /accounts/acme If-Match: x", `{}`, 400, "If-Match must be one tag"},
		{"PUT /accounts/acme If-Match: *", `{"password": "x"}`, 412, "it does not exist"},
		{"GET /accounts?limit=0", ``, 400, "limit must be"},
		{"POST /accounts/main/keys", `{"name": "shop"}`, 409, "defines it"},
		{"POST /accounts/none/keys", `{"name": "shop"}`, 404, "there is no account none"},
	} {
		r.ask(c.request, c.body, c.status, c.text)
	}
	for _, request := range []string{"PUT /accounts/acme", "DELETE /accounts/acme", "PUT /lists/l/rows", "POST /changes/1/revert", "POST /accounts/main/keys"} {
		r.askAs("pmg_look", request, `{}`, 403)
		r.askAs("pmg_none", request, `{}`, 401)
	}
	r.ask("GET /accounts/main", "", 200, `"system_id":"main"`, `"password":"***"`)
	r.ask("GET /accounts", "", 200, `{"accounts":[{"name":"main","defined":`)
	r.ask("GET /changes", "", 200, `{"changes":[]}`)
	r.fail = fmt.Errorf("cannot open %s: it is damaged", filepath.Join(r.g.Node.Config().Managed.Dir, "lists/l.txt"))
	r.ask("PUT /accounts/acme", `{"password": "x"}`, 500, "which stays unchanged: cannot open lists/l.txt: it is damaged")
	r.fail = errors.New("it cannot listen")
	r.ask("PUT /accounts/acme", `{"password": "x"}`, 500, "which stays unchanged: it cannot listen")
	if r.read(acme) != "" {
		t.Error("a change that cannot be put in force is kept")
	}
}

// A file that is edited by hand while the API writes is not overwritten, and one that is broken is named with its line.
func TestByHand(t *testing.T) {
	t.Parallel()
	r := start(t, yaml)
	_, tag := r.ask("PUT /accounts/acme", `{"password": "x"}`, 201)
	r.write(acme, "# by hand\npassword: y\nrate: 3\n")
	r.ask("PUT /accounts/acme If-Match: "+tag, `{"password": "x"}`, 412)
	r.ask("DELETE /accounts/acme If-Match: "+tag, ``, 412)
	if text := r.read(acme); !strings.HasPrefix(text, "# by hand") {
		t.Error(text)
	}
	r.write(acme, "password: [y\n")
	r.ask("PUT /accounts/other", `{"password": "x"}`, 422, acme, `"line":`)
	_, tag = r.ask("GET /accounts/acme", "", 409)
	for _, request := range []string{"PUT /accounts/acme", "PATCH /accounts/acme", "PUT /accounts/acme If-Match: " + tag} {
		r.ask(request, `{"password": "z"}`, 409, "edited")
	}
	r.ask("DELETE /accounts/acme", ``, 200)
	r.ask("PUT /accounts/acme", `{"password": "z"}`, 201)
}

// What curl calls a form is read as what it is, and neither that nor anything else of a body is in the audit log.
func TestCurl(t *testing.T) {
	t.Parallel()
	r := start(t, yaml)
	const form = " Content-Type: application/x-www-form-urlencoded"
	r.ask("PUT /accounts/acme"+form, `{"password": "S3CRETA&x=S3CRETB;", "users": [{"name": "ann", "password": "S3CRETC", "scope": "look"}]}`, 201)
	r.ask("PATCH /accounts/acme"+form, `{"webhook_key": "S3CRETD", "rate": 60}`, 422)
	r.ask("POST /accounts/acme/keys"+form, `{"name": "S3CRETE"}`, 200)
	r.ask("PUT /lists/l1/rows"+form, "+46700000001\n", 201)
	r.ask("PUT /prices/p1/rows"+form, "prefix;price\n4x;0.04\n", 422)
	if text := r.read("lists/l1.txt"); text != "+46700000001\n" {
		t.Errorf("%q", text)
	}
	r.ask("PUT /accounts/acme?S3CRETF=S3CRETG&dry_run=1"+form, `{"rate": 3}`, 200)
	audit, err := os.ReadFile(filepath.Join(filepath.Dir(r.file), "audit"))
	if err != nil || strings.Contains(strings.ReplaceAll(string(audit), "keys[S3CRETE]", ""), "S3CRET") || !strings.Contains(string(audit), `"others"`) {
		t.Errorf("%v: %s", err, audit)
	}
}

// A merge patch changes what it names; a PUT leaves keys and users that it does not name, and brings no key back.
func TestPatch(t *testing.T) {
	t.Parallel()
	r := start(t, yaml)
	r.ask("PATCH /accounts/acme", `{"rate": 60}`, 404)
	r.ask("PUT /accounts/acme", `{"password": "x", "rate": 50, "block": ["fixed"], "users": [{"name": "ann", "password": "hers", "scope": "look"}]}`, 201)
	r.ask("POST /accounts/acme/keys", `{"name": "shop", "scopes": ["send"]}`, 200)
	old, _ := r.ask("GET /accounts/acme", "", 200)
	before := r.read(acme)
	r.ask("PATCH /accounts/acme?dry_run=1", `{"rate": 60}`, 200, "accounts[acme].rate: 50 -> 60")
	_, tag := r.ask("PATCH /accounts/acme", `{"rate": 60}`, 200, "accounts[acme].rate: 50 -> 60")
	if want := strings.Replace(before, "rate: 50", "rate: 60", 1); r.read(acme) != want {
		t.Errorf("%s, not %s", r.read(acme), want)
	}
	r.ask("PATCH /accounts/acme If-Match: \"0123\"", `{"rate": 70}`, 412)
	r.ask("PATCH /accounts/acme If-Match: "+tag, `{"rate": null}`, 200)
	text, _ := r.ask("PUT /accounts/acme", `{"rate": 60}`, 200, "block goes")
	if strings.Contains(text, "keys") || strings.Contains(text, "users") || !strings.Contains(r.read(acme), "shop") {
		t.Errorf("%s: %s", text, r.read(acme))
	}
	r.ask("DELETE /accounts/acme/keys/shop", "", 200, "keys go")
	r.ask("PUT /accounts/acme", old, 409, "no key shop")
	r.ask("PATCH /accounts/acme", `{"keys": [{"name": "n", "hash": "sha256:`+strings.Repeat("0", 64)+`", "made": "2026-01-01"}]}`, 409, "no key n")
	_, tag = r.ask("GET /accounts/acme", "", 200)
	r.ask("PUT /accounts/acme If-Match: "+tag, old, 200, "keys[shop]: absent -> added")
	r.ask("PUT /accounts/acme", `{"keys": null, "users": null}`, 200, "keys go", "users go")
	if text := r.read(acme); strings.Contains(text, "shop") || strings.Contains(text, "ann") {
		t.Error(text)
	}
	r.ask("PATCH /lists/l1", `{"opt_out_from": ["a"]}`, 404)
	r.ask("PUT /routes/r1", `{"to": {"account": "main"}, "destination": ["46"], "order": 3}`, 201)
	r.ask("PATCH /routes/r1", `{"order": null, "destination": ["47"]}`, 200)
	if text := r.read("routes/r1.yaml"); strings.Contains(text, "order") || !strings.Contains(text, "main") || !strings.Contains(text, "47") {
		t.Error(text)
	}
}

// Two editors who have read the same do not overwrite each other: of those who write at the same moment one is first.
func TestTwoEditors(t *testing.T) {
	t.Parallel()
	r := start(t, yaml)
	_, tag := r.ask("PUT /accounts/acme", `{"password": "x"}`, 201)
	var all sync.WaitGroup
	counts := make(chan int, 8)
	for i := range 8 {
		all.Go(func() {
			q, _ := http.NewRequestWithContext(t.Context(), "PUT", r.url+"/accounts/acme", strings.NewReader(`{"rate": `+string(rune('1'+i))+`}`))
			q.Header.Set("Authorization", "Bearer pmg_act")
			q.Header.Set("If-Match", tag)
			a, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Error(err)
				return
			}
			_ = a.Body.Close()
			counts <- a.StatusCode
		})
	}
	all.Wait()
	close(counts)
	got := map[int]int{}
	for code := range counts {
		got[code]++
	}
	if got[200] != 1 || got[412] != 7 {
		t.Error(got)
	}
}

// A key is shown once, and what is stored is its hash; it is taken back by its name.
func TestKeys(t *testing.T) {
	t.Parallel()
	r := start(t, yaml)
	r.ask("PUT /accounts/acme", `{"password": "x"}`, 201)
	text, _ := r.ask("POST /accounts/acme/keys", `{"name": "shop", "scopes": ["send"], "expires": "2999-12-31"}`, 200, `"key":"pmg_`)
	var made newKey
	if err := json.Unmarshal([]byte(text), &made); err != nil {
		t.Fatal(err)
	}
	if a := r.g.Table.Account("acme"); len(a.Logins.Keys) != 1 || a.Logins.Keys[0].Hash != token.Hash(made.Key) || a.Logins.Keys[0].Name != "shop" {
		t.Errorf("%+v", a.Logins.Keys)
	}
	r.ask("POST /accounts/acme/keys", `{"name": "shop"}`, 422, "already used")
	r.ask("POST /accounts/acme/keys", `{"name": "other", "scopes": ["all"]}`, 422, `"option":"keys[other].scopes[0]"`)
	r.ask("DELETE /accounts/acme/keys/none", ``, 404)
	r.ask("DELETE /accounts/acme/keys/shop", ``, 200)
	if a := r.g.Table.Account("acme"); len(a.Logins.Keys) != 0 {
		t.Errorf("%+v", a.Logins.Keys)
	}
}

// Routes stand in front of the file's, and a list has its numbers before it has options; one that was cut off is not taken.
func TestRoutesAndLists(t *testing.T) {
	t.Parallel()
	r := start(t, yaml)
	r.ask("PUT /routes/second", `{"order": 20, "destination": ["46"], "to": {"account": "main"}}`, 201, `routes[second]: absent -> {destination: [\"46\"], to: account main}`)
	r.ask("PUT /routes/first", `{"order": 10, "destination": ["4670"], "to": [{"account": "main"}]}`, 201)
	cfg := r.g.Node.Config()
	if len(cfg.Routes) != 3 || cfg.Routes[0].Destination[0] != "4670" || cfg.Routes[1].Destination[0] != "46" {
		t.Errorf("%+v", cfg.Routes)
	}
	r.ask("GET /routes", "", 200, `{"next":"","routes":[{"name":"first"},{"name":"second"}]}`)
	r.ask("PUT /lists/stop/rows", "46701740601\n46701740602\n46701740603\n", 201, "lists/stop.txt: 0 lines -> 3 lines")
	r.ask("PUT /lists/stop", `{}`, 201, `lists[stop]: absent`)
	r.ask("PUT /accounts/acme", `{"password": "x", "block": ["stop"]}`, 201)
	r.ask("PUT /lists/stop/rows", "46701740601\n4670174", 422, "its last line has no end: was it cut off?")
	r.ask("PUT /lists/stop/rows", "46701740601\n", 409, "2 of 3 lines would go, as if it was cut off")
	r.ask("PUT /lists/stop/rows", strings.Repeat("x", 300)+"\n46701740601\n46701740602\n", 422, "lists/stop.txt")
	r.ask("PUT /lists/stop/rows?force=1", "46701740601\n", 200)
	r.ask("GET /lists/stop/rows", "", 200, "46701740601\n")
	r.ask("DELETE /lists/stop", ``, 422, `names no list`)
	r.ask("PUT /prices/std/rows", "for,price\n24001,0.04\n*,0.1\n", 201)
	r.ask("PUT /prices/std", `{"currency": "EUR"}`, 201, `prices[std]: absent -> added`)
	r.ask("PUT /prices/std/rows", "for,price\n24001,0.04\n*,0.1", 422, "its last line has no end")
	r.ask("PUT /prices/std/rows", "for,price\n24001,0.04\n24001,0.05\n", 422, "prices/std.csv")
	r.ask("PUT /prices/std/rows", "for,price,currency\n24001,0.04,SEK\n*,1,SEK\n", 422, "prices/std.csv")
	r.ask("PUT /accounts/acme", `{"block": ["stop"], "prices": "std"}`, 200, `accounts[acme].prices: \"\" -> std`)
	r.ask("DELETE /prices/std", ``, 422, `"option":"prices","detail":"names no list of prices`)
	r.ask("DELETE /lists/stop/rows", ``, 409, "these rows are used")
	r.ask("DELETE /accounts/acme", ``, 200)
	r.ask("DELETE /lists/stop", ``, 200)
	r.ask("DELETE /prices/std", ``, 200)
	r.ask("DELETE /lists/stop/rows", ``, 200)
}

// Without managed.dir there is nothing to manage.
func TestOff(t *testing.T) {
	t.Parallel()
	r := start(t, strings.Replace(yaml, "managed: {dir: managed}\n", "", 1))
	r.ask("GET /accounts", "", 404, "has no managed.dir")
	r.ask("PUT /accounts/acme", `{}`, 404, "has no managed.dir")
}

// The contract has what is served, and nothing else.
func TestContract(t *testing.T) {
	t.Parallel()
	c, err := apicheck.Read(openapi)
	if err != nil {
		t.Fatal(err)
	}
	served := map[string]bool{}
	for _, ro := range table() {
		method, path, _ := strings.Cut(ro.pattern, " ")
		for _, kind := range managed.Kinds() {
			if !strings.HasSuffix(path, "/rows") || managed.Rows(kind) != "" {
				served[strings.ToLower(method)+" "+strings.Replace(path, "{kind}", kind, 1)] = true
			}
		}
	}
	for path, methods := range c.Paths {
		for method, one := range methods {
			if method == "parameters" {
				continue
			}
			if !served[method+" "+path] || !strings.Contains(string(one), `"200"`) {
				t.Error(method, path, "is not served")
			}
			delete(served, method+" "+path)
		}
	}
	for request := range served {
		t.Error(request, "is not in the contract")
	}
	r := start(t, yaml)
	r.askAs("pmg_look", "GET /openapi.json", "", 200, `"openapi": "3.1.0"`)
}

// No list of operators hides an object: its path would be that of an object with this name.
func TestNoListHidesAnObject(t *testing.T) {
	t.Parallel()
	for _, l := range admin.Lists() {
		if kind, rest, below := strings.Cut(l.Name, "/"); below && !strings.Contains(rest, "/") && slices.Contains(managed.Kinds(), kind) {
			t.Errorf("GET %s hides what is managed under this name", l.Name)
		}
	}
}
