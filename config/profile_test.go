package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pmg/config/document"
)

const profiled = `
accounts:
  - {system_id: acme, password: secret, profile: bank, rate: 5, quiet: {to: "07:00"}}
  - {system_id: shop, password: secret, profile: bank, flood: [], burst: }
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:2775", profile: carrier}
  - name: one
    direction: out
    address: "192.0.2.1:2776"
    system_id: pmg
    profile: carrier
    window: 7
    statuses: [{status: 0x58, is: temporary}]
    receipt_states: []
    rewrite: [{out: source, add: "1"}]
  - {name: two, direction: out, address: "192.0.2.1:2777", system_id: pmg, profile: carrier, retry: {lost: 2m}}
  - {name: three, direction: out, address: "192.0.2.1:2778", system_id: pmg, profile: ycloud}
routes: [{to: [one, two, three]}]
profiles:
  - name: carrier
    connector:
      window: 50
      enquire_interval: 60s
      statuses: [{status: 0x58, is: throttled}, {status: 0x400, is: permanent}]
      receipt_states: [{word: X, is: delivered}]
      retry: {temporary: [10s, 20s], lost: 1m}
      rewrite: [{out: destination, add: "46"}, {out: destination, strip: "00"}]
  - name: bank
    account:
      rate: 20
      burst: 4
      max_validity: 1h
      flood: {per: recipient, most: 5, within: 1h}
      quiet: {from: "21:00", to: "08:00", zone: UTC}
`

// What a connector or an account says itself counts more than its profile: each option, and each of a section; a list as a
// whole, but for maps, whose entries are put in front.
func TestProfiles(t *testing.T) {
	t.Parallel()
	c, warnings, err := Parse([]byte(profiled), speaksSMPP)
	if err != nil {
		t.Fatal(err)
	}
	acme, shop := &c.Accounts[0], &c.Accounts[1]
	in, one, two, three := &c.Connectors[0], &c.Connectors[1], &c.Connectors[2], &c.Connectors[3]
	for _, x := range []struct {
		what      string
		got, want any
	}{
		{"its own rate", acme.Rate, 5},
		{"rate of the profile", shop.Rate, 20},
		{"burst of the profile", acme.Burst, 4},
		{"burst of the profile in place of no value", shop.Burst, 4},
		{"max_validity of the profile", shop.Lifetime.Most, time.Hour},
		{"quiet, merged", acme.Policies.Quiet, Quiet{From: "21:00", To: "07:00", Zone: "UTC"}},
		{"hours of a merged section", acme.QuietHours() != nil, true},
		{"flood of the profile", len(acme.Policies.Flood), 1},
		{"its own flood, which is none", len(shop.Policies.Flood), 0},
		{"default of what neither has", shop.MaxParts, 10},
		{"its own window", int(one.Window), 7},
		{"window of the profile", int(two.Window), 50},
		{"instances, whose default depends on the direction", in.Instances, 1000},
		{"statuses, its own in front", len(one.SMPP.Statuses), 3},
		{"the first of them", one.SMPP.Statuses[0].Is, "temporary"},
		{"statuses of the profile", len(two.SMPP.Statuses), 2},
		{"its own receipt_states, which are none", len(one.SMPP.ReceiptStates), 0},
		{"its own rewrite as a whole", len(one.Rewrite), 1},
		{"rewrite of the profile", len(two.Rewrite), 2},
		{"a pause of the section of the profile", len(two.Retry.Temporary), 2},
		{"its own pause in that section", showList(reflect.ValueOf(two.Retry.Lost)), "[2m]"},
		{"one that comes with PMG", len(three.SMPP.Statuses), 2},
	} {
		if !reflect.DeepEqual(x.got, x.want) {
			t.Errorf("%s: %v, want %v", x.what, x.got, x.want)
		}
	}
	for _, w := range warnings {
		if w.Path == "connectors[clients].statuses" && strings.HasSuffix(w.Message, "(from profile carrier)") && w.Line == 24 {
			return
		}
	}
	t.Errorf("no warning of an option that has no effect: %v", warnings)
}

// What is shown is what is merged, and a file that means the same without profiles.
func TestProfilesShown(t *testing.T) {
	t.Parallel()
	c := mustParse(t, profiled)
	shown := Show(c)
	for _, want := range []string{"\n    # profile: bank\n", "\n    window: 50\n", "\n      - status: [\"0x400\"]\n"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%s", want, shown)
		}
	}
	again := mustParse(t, strings.ReplaceAll(shown, document.Masked, "secret"))
	for i := range c.Accounts {
		c.Accounts[i].Profile = ""
	}
	for i := range c.Connectors {
		c.Connectors[i].Profile = ""
	}
	if got, want := Show(again), Show(c); got != want {
		t.Errorf("shown again it is\n%s\nnot\n%s", got, want)
	}
}

// A profile that changes is a change of those that take it, and of no others.
func TestProfilesReloaded(t *testing.T) {
	t.Parallel()
	before := mustParse(t, profiled)
	after := mustParse(t, strings.NewReplacer("window: 50", "window: 60", "burst: 4", "burst: 8").Replace(profiled)+
		"  - {name: unused, account: {rate: 1}}\n")
	var got []string
	for _, c := range before.Diff(after) {
		got = append(got, c.String())
	}
	want := []string{
		"profiles[unused]: absent -> added",
		"accounts[acme].burst: 4 -> 8", "accounts[shop].burst: 4 -> 8",
		"connectors[clients].window: 50 -> 60 (for new sessions)", "connectors[two].window: 50 -> 60 (for new sessions)",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("changes %q, want %q", got, want)
	}
	if !before.Connectors[2].Rebinds(&after.Connectors[2]) || before.Connectors[1].Rebinds(&after.Connectors[1]) {
		t.Error("the wrong sessions are bound anew")
	}
	if live := after.LiveFrom(before); live.Connectors[2].Window != 60 || live.Accounts[0].Burst != 8 {
		t.Errorf("not in force after a reload:\n%s", Show(live))
	}
}

// Each profile that comes with PMG names its source, and can be taken. One of the file with the same name takes its place.
func TestBuiltinProfiles(t *testing.T) {
	t.Parallel()
	if names := BuiltinProfiles(); len(names) < 5 {
		t.Errorf("only %q", names)
	}
	for _, name := range BuiltinProfiles() {
		text, _ := BuiltinProfile(name)
		source, _, _ := strings.Cut(text, "profiles:")
		if strings.Count(source, "\n# ") < 1 || !strings.Contains(source, "/") && !strings.Contains(source, ".com ") {
			t.Errorf("%s names no source:\n%s", name, source)
		}
		p := builtinProfile(name)
		if p == nil || len(p.sections) == 0 {
			t.Fatalf("%s has no profile of its name", name)
		}
		file := text + `
accounts: [{system_id: load, password: secret}]
connectors: [{name: operator, direction: out, address: "192.0.2.1:2776", system_id: pmg, profile: ` + name + `}]
`
		taken := mustParse(t, strings.TrimPrefix(file, text))
		if copied := mustParse(t, file); Show(taken) != Show(copied) {
			t.Errorf("%s means something else in the file:\n%s", name, Show(copied))
		}
	}
	own := mustParse(t, `
accounts: []
connectors: [{name: operator, direction: out, address: "192.0.2.1:2776", system_id: pmg, profile: ycloud}]
profiles: [{name: ycloud, connector: {window: 3}}]
`)
	if c := &own.Connectors[0]; c.Window != 3 || len(c.SMPP.Statuses) != 0 {
		t.Errorf("a profile of the file does not take the place of PMG's:\n%s", ShowConnector(c))
	}
	_, _, err := Parse([]byte(`accounts: []
connectors: [{name: operator, direction: out, protocol: ucp, address: "192.0.2.1:2776", profile: ycloud}]`), Options{})
	const want = "config:2:98: connectors[operator].statuses is an option of protocol smpp, and this connector speaks ucp (from profile ycloud)"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if _, ok := BuiltinProfile("../profile"); ok {
		t.Error("a path is the name of a profile")
	}
}
