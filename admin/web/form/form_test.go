package form

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"pmg/config"
	"pmg/config/document"
	"pmg/config/managed"
	"pmg/config/managed/editor"
)

// fill returns the values that a browser would send for the form, with some of them changed.
func fill(f *Form, pairs ...string) url.Values {
	v := url.Values{}
	f.each(func(one *Field) {
		v.Set(Was+one.Name, one.Was)
		if one.Kind == Several {
			v[Now+one.Name] = split(one.Value)
		} else {
			v.Set(Now+one.Name, one.Value)
		}
	})
	f.eachRows(func(r *Rows) {
		v.Set(Was+r.Name, r.Was)
		for _, row := range r.Rows {
			for i, c := range r.Columns {
				v.Add(Now+r.Name+"."+c.Key, row[i])
			}
		}
	})
	for i := 0; i < len(pairs); i += 2 {
		if name, _, _ := strings.Cut(pairs[i], "."); v.Has(Was+name) && v.Has(Now+pairs[i]) && !v.Has(Was+pairs[i]) {
			v[Now+pairs[i]][0] = pairs[i+1] // in the first row
		} else {
			v.Set(Now+pairs[i], pairs[i+1])
		}
	}
	return v
}

func options(t *testing.T, text string) editor.Options {
	t.Helper()
	o, err := editor.ReadOptions([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

const acme = "system_id: acme\npassword: x\nrate: 50\nblock: [b, a]\nsenders: s\nnetworks: [192.0.2.1, 192.0.2.0/24]\npull: true\nprices: std\n" +
	"balance: {mode: postpaid, limit: \"99\"}\nusers: [{name: ann, password: h, scope: send}]\nquiet: {from: \"21:00\"}\n"

// Each field has the sentence and the facts of pmg config describe.
func TestDescribed(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{managed.Accounts, managed.Routes, managed.Lists} {
		f, ok := New(config.Default(), kind)
		if !ok {
			t.Fatal(kind)
		}
		f.each(func(f *Field) {
			if f.Doc == "" || f.Facts == "" || f.Label == "" {
				t.Errorf("%+v", f)
			}
		})
		f.eachRows(func(r *Rows) {
			if r.Doc == "" || len(r.Columns) == 0 {
				t.Errorf("%+v", r)
			}
		})
	}
	if _, ok := New(config.Default(), managed.Prices); ok {
		t.Error("prices have a form")
	}
}

// A form that nobody has changed changes nothing, and one that was changed changes what was changed alone.
func TestChange(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Prices = []config.Prices{{Name: "std", Currency: "EUR"}}
	cfg.Lists = []config.List{{Name: "a"}, {Name: "b"}, {Name: "s"}}
	for _, c := range []struct {
		change []string
		want   string
	}{
		{nil, `{}`},
		{[]string{"rate", "60"}, `{"rate":60}`},
		{[]string{"rate", ""}, `{"rate":null}`},
		{[]string{"rate", "many"}, `{"rate":"many"}`},
		{[]string{"password", "new"}, `{"password":"new"}`},
		{[]string{"block", "a"}, `{"block":["a"]}`},
		{[]string{"networks", "192.0.2.1,\r\n192.0.2.0/24"}, `{}`},
		{[]string{"pull", "false"}, `{"pull":null}`},
		{[]string{"balance.mode", "prepaid"}, `{"balance":{"limit":null,"mode":"prepaid"}}`},
		{[]string{"balance.mode", "none", "balance.limit", "5"}, `{"balance":{"limit":"5","mode":"none"}}`},
		{[]string{"balance.day", " 7 "}, `{"balance":{"day":"7"}}`},
		{[]string{"prices", ""}, `{"balance":{"limit":null,"mode":null},"prices":null}`},
		{[]string{"users.password", "hers"}, `{"users":[{"name":"ann","password":"hers","scope":"send"}]}`},
		{[]string{"users.password_once", "true"}, `{"users":[{"name":"ann","password_once":true,"scope":"send"}]}`},
		{[]string{"users.totp_secret", "off"}, `{"users":[{"name":"ann","scope":"send","totp_secret":null}]}`},
		{[]string{"users.name", ""}, `{"users":null}`},
	} {
		f, _ := New(cfg, managed.Accounts)
		f.Show(options(t, acme))
		f.Read(fill(f, c.change...))
		got, err := json.Marshal(f.Change())
		if err != nil || string(got) != c.want {
			t.Errorf("%q: %s, not %s", c.change, got, c.want)
		}
	}
}

func usersOf(f *Form) *Rows { return f.Sections[len(f.Sections)-1].Rows }

// The form of a route has each way to write its targets.
func TestRoute(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Connectors = []config.Connector{{Name: "telia", Direction: config.Out}, {Name: "agg", Direction: config.Out}, {Name: "clients", Direction: config.In}}
	for _, c := range []struct {
		was    string
		change []string
		want   string
	}{
		{"to: telia", nil, `{}`},
		{"to: [telia, {account: acme}]\norder: 5\ndestination: [46, 47]", nil, `{}`},
		{"to: {connector: gone, weight: 3}", nil, `{}`},
		{"to: telia", []string{"to.connector", "agg"}, `{"to":[{"connector":"agg"}]}`},
		{"to: telia", []string{"to.weight", "7"}, `{"to":[{"connector":"telia","weight":7}]}`},
		{"to: telia", []string{"to.connector", "", "to.account", "acme"}, `{"to":[{"account":"acme"}]}`},
		{"to: telia", []string{"to.connector", ""}, `{"to":null}`},
		{"to: telia", []string{"destination", "46, 47", "order", "20", "policy", "cost"}, `{"destination":["46","47"],"order":20,"policy":"cost"}`},
		{"to: telia\npolicy: cost\norder: 20", []string{"policy", "", "order", ""}, `{"order":null,"policy":null}`},
		{"to: telia\nfrom: clients", []string{"from", ""}, `{"from":null}`},
	} {
		f, _ := New(cfg, managed.Routes)
		f.Show(options(t, c.was))
		f.Read(fill(f, c.change...))
		if got, err := json.Marshal(f.Change()); err != nil || string(got) != c.want {
			t.Errorf("%s, %q: %s, not %s", c.was, c.change, got, c.want)
		}
	}
}

// What somebody else has changed meanwhile is in the form, beside what its user has changed.
func TestRebase(t *testing.T) {
	t.Parallel()
	f, _ := New(config.Default(), managed.Accounts)
	f.Show(options(t, acme))
	f.Read(fill(f, "balance.limit", "5", "rate", "70"))
	theirs := f.Rebase(options(t, "rate: 60\nprices: std\nbalance: {mode: postpaid, limit: \"99\", low: \"1\"}\nusers: [{name: bob, password: h}]\nblock: [a, b]\nsenders: [s]\nnetworks: [192.0.2.1, 192.0.2.0/24]\npull: true\n"))
	if len(theirs) != 3 || theirs[0] != "Short messages a second: 50 -> 60" || theirs[2] != "Users: ann may send -> bob may look" {
		t.Errorf("%q", theirs)
	}
	got, err := json.Marshal(f.Change())
	if want := `{"balance":{"limit":"5"},"rate":70}`; err != nil || string(got) != want {
		t.Errorf("%s, not %s", got, want)
	}
	if o := Template(options(t, acme)); o["password"] != nil || o["users"] != nil || o["system_id"] != nil || o["quiet"] == nil {
		t.Errorf("%v", o)
	}
	rest := f.Place(document.Problems{{Path: "balance.limit", Message: "is wrong"}, {Path: "users[0].name", Message: "is wrong"}, {Path: "quiet", Message: "is wrong"}, {Path: "rated", Message: "is wrong"}})
	if len(rest) != 2 || usersOf(f).Wrong == "" {
		t.Errorf("%v", rest)
	}
}
