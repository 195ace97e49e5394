package form

import (
	"encoding/json"
	"net/url"
	"testing"

	"pmg/config"
	"pmg/config/document"
	"pmg/config/managed/editor"
)

// fill returns the values that a browser would send for the form, with some of them changed.
func fill(f *Form, pairs ...string) url.Values {
	v := url.Values{Was + "users": {f.Users.Was}}
	f.each(func(one *Field) {
		v.Set(Was+one.Name, one.Was)
		if one.Kind == Several {
			v[Now+one.Name] = split(one.Value)
		} else {
			v.Set(Now+one.Name, one.Value)
		}
	})
	for _, u := range f.Users.Rows {
		v.Add(Now+"users.name", u.Name)
		v.Add(Now+"users.password", u.Password)
		v.Add(Now+"users.scope", u.Scope)
	}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(Now+pairs[i], pairs[i+1])
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
	New(config.Default()).each(func(f *Field) {
		if f.Doc == "" || f.Facts == "" || f.Label == "" {
			t.Errorf("%+v", f)
		}
	})
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
		{[]string{"users.name", ""}, `{"users":null}`},
	} {
		f := New(cfg)
		f.Show(options(t, acme))
		f.Read(fill(f, c.change...))
		got, err := json.Marshal(f.Change())
		if err != nil || string(got) != c.want {
			t.Errorf("%q: %s, not %s", c.change, got, c.want)
		}
	}
}

// What somebody else has changed meanwhile is in the form, beside what its user has changed.
func TestRebase(t *testing.T) {
	t.Parallel()
	f := New(config.Default())
	f.Show(options(t, acme))
	f.Read(fill(f, "balance.limit", "5", "rate", "70"))
	theirs := f.Rebase(options(t, "rate: 60\nprices: std\nbalance: {mode: postpaid, limit: \"99\", low: \"1\"}\nusers: [{name: bob, password: h}]\nblock: [a, b]\nsenders: [s]\nnetworks: [192.0.2.1, 192.0.2.0/24]\npull: true\n"))
	if len(theirs) != 3 || theirs[0] != "Short messages a second: 50 -> 60" || theirs[2] != "Users: ann (send) -> bob (look)" {
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
	if len(rest) != 2 || f.Users.Wrong == "" {
		t.Errorf("%v", rest)
	}
}
