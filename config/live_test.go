package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"pmg/config/option"
	"pmg/protocols"
)

// everything has an entry in each list, so that every option is there.
const everything = `
admin: {tokens: [{name: anna, hash: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}]}
accounts: [{system_id: acme, password: secret, networks: 192.0.2.0/24, bind: receiver, connectors: clients, receives: "46"}]
connectors:
  - {name: clients, direction: in, addresses: ["127.0.0.1:0"]}
  - {name: operator, direction: out, address: "a:1", addresses: "b:1", system_id: pmg, password: secret}
lists: [{name: numbers, file: testdata/broken.txt}]
routes:
  - {account: acme, from: clients, destination: "46", source: "1", to: [operator, {account: acme}]}
`

// A leaf is one option of one entry, and the path to it from a Config: an index of a
// field or of an entry at each step.
type leaf struct {
	path  string
	field reflect.StructField
	way   []int
}

func leavesOf(v reflect.Value, path string, way []int) (all []leaf) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		at, down := option.Join(path, option.Key(f)), append(append([]int(nil), way...), i)
		if option.Key(f) == "" {
			at = path // its options are written among the others
		}
		switch {
		case option.IsSingle(f.Type) || f.Type.Kind() == reflect.Slice && option.IsSingle(f.Type.Elem()):
			all = append(all, leaf{at, f, down})
		case f.Type.Kind() == reflect.Struct:
			all = append(all, leavesOf(v.Field(i), at, down)...)
		default:
			for row := range v.Field(i).Len() {
				entry := v.Field(i).Index(row)
				all = append(all, leavesOf(entry, fmt.Sprintf("%s[%v]", at, entry.Field(0)), append(append([]int(nil), down...), row))...)
			}
		}
	}
	return all
}

// in returns the option in c.
func (l leaf) in(c *Config) reflect.Value {
	v := reflect.ValueOf(c).Elem()
	for _, i := range l.way {
		if v.Kind() == reflect.Slice {
			v = v.Index(i)
		} else {
			v = v.Field(i)
		}
	}
	return v
}

// another returns a value that v does not have.
func another(t *testing.T, v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Slice {
		one := reflect.New(v.Type().Elem()).Elem()
		return reflect.Append(v.Slice3(0, v.Len(), v.Len()), another(t, one))
	}
	var x any
	switch old := v.Interface().(type) {
	case string:
		x = old + "x"
	case int:
		x = old + 1
	case bool:
		x = !old
	case *bool:
		not := old == nil || !*old
		x = &not
	case time.Duration:
		x = old + time.Second
	case option.Size:
		x = old + 1
	case netip.Prefix:
		x = netip.MustParsePrefix("10.0.0.0/8")
	case Pipelines:
		x = old + 2
	case Window:
		x = old + 1
	case Pause:
		x = old + 1e9
	case protocols.BindType:
		x = old ^ protocols.Transceiver
	default:
		t.Fatalf("an option of type %T", old)
	}
	return reflect.ValueOf(x)
}

// F28: for each option, a reload puts a change in force or reports that it needs a
// restart, as the option's documentation says, and changes nothing else.
func TestReloadOfEveryOption(t *testing.T) {
	t.Parallel()
	old := mustParse(t, everything)
	leaves := leavesOf(reflect.ValueOf(old).Elem(), "", nil)
	for _, l := range leaves {
		live := l.field.Tag.Get("live") != "no"
		next := mustParse(t, everything)
		l.in(next).Set(another(t, l.in(old)))
		merged := next.LiveFrom(old)
		if name := l.field.Name; name == "Name" || name == "SystemID" && strings.HasPrefix(l.path, "accounts") {
			if !reflect.DeepEqual(merged.Diff(next), []Change(nil)) {
				t.Errorf("%s: an entry with another name is not the new one: %v", l.path, merged.Diff(next))
			}
			continue
		}

		path := l.path
		if strings.HasPrefix(path, "routes") {
			path = "routes[line 9]"
		}
		if changes := old.Diff(next); len(changes) != 1 || changes[0].Path != path || changes[0].Live != live {
			t.Errorf("%s, live %t: the change is named as %v", l.path, live, changes)
		}
		want := old
		if live {
			want = next
		}
		if !reflect.DeepEqual(l.in(merged).Interface(), l.in(want).Interface()) {
			t.Errorf("%s, live %t: after the reload it is %v, before %v", l.path, live, l.in(merged), l.in(old))
		}
		if !reflect.DeepEqual(merged, want) {
			t.Errorf("%s: the reload changed something else", l.path)
		}
	}
	if len(leaves) < 100 {
		t.Errorf("only %d options were tried", len(leaves))
	}
	if again := mustParse(t, everything); !reflect.DeepEqual(old, again) {
		t.Error("LiveFrom changes the old configuration")
	}
}

// Entries are added and removed as in the new configuration, in its order.
func TestReloadOfEntries(t *testing.T) {
	t.Parallel()
	old := mustParse(t, everything)
	next := mustParse(t, `
limits: {max_jobs: 5000}
accounts: [{system_id: new, password: x}]
connectors:
  - {name: operator, direction: out, address: "c:1", system_id: other, rate: 7}
  - {name: more, direction: in, address: ":1", window: 3}
`)
	merged := next.LiveFrom(old)
	if c := merged.Connectors[0]; len(merged.Connectors) != 2 || c.Address != "a:1" || c.SystemID != "other" || c.Rate != 7 {
		t.Errorf("operator is %+v", c)
	}
	if !reflect.DeepEqual(merged.Connectors[1], next.Connectors[1]) || !reflect.DeepEqual(merged.Accounts, next.Accounts) || len(merged.Routes) != 0 {
		t.Errorf("new entries are not there:\n%s", Show(merged))
	}
	if merged.Limits.MaxJobs != old.Limits.MaxJobs {
		t.Error("limits.max_jobs changed")
	}
	if err := merged.Check(); err != nil {
		t.Error(err)
	}
}

// Options that are valid together may not fit the options that need a restart.
func TestReloadThatDoesNotFit(t *testing.T) {
	t.Parallel()
	old := mustParse(t, everything)
	next := mustParse(t, strings.NewReplacer(
		"name: clients, direction: in", "name: clients, direction: out, system_id: x",
		"name: operator, direction: out", "name: operator, direction: in",
		`addresses: ["127.0.0.1:0"]`, `addresses: ["c:1"]`,
		`address: "a:1", addresses: "b:1"`, `address: "127.0.0.1:0"`,
		"connectors: clients", "connectors: operator", "from: clients", "from: operator",
	).Replace(everything))
	if err := next.LiveFrom(old).Check(); err == nil || !strings.Contains(err.Error(), "operator, which is an out connector") {
		t.Errorf("got %v", err)
	}
}

// What a reload checks has no lines: a warning about it, such as of a route that is never reached, or a name that is used twice,
// is about a place that it cannot name by a line.
func TestCheckWithoutLines(t *testing.T) {
	t.Parallel()
	const file = "connectors: [{name: c, direction: in, address: \"127.0.0.1:0\"}]\naccounts: [{system_id: a, password: pa55word}]\n"
	for _, routes := range []string{
		"routes: [{to: {account: a}}, {destination: 46, to: {account: a}}]", "routes: [{destination: 46, to: {account: a}}, {destination: 467, to: {account: a}}]",
		"routes: [{source: 46, to: {account: a}}, {source: 46, to: {account: a}}]",
	} {
		c, warnings, err := Parse([]byte(file+routes), Options{Protocols: []string{"smpp"}})
		if err != nil || len(warnings) != 1 {
			t.Fatal(err, warnings)
		}
		if err := c.LiveFrom(c).Check(); err != nil {
			t.Error(err)
		}
		c.Accounts = append(c.Accounts, c.Accounts[0])
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), `"a" is already used in accounts[0]`) {
			t.Error(err)
		}
	}
}
