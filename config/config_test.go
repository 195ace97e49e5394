package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pmg/config/document"
	"pmg/config/option"
	"pmg/internal/testkit/testutil"
	"pmg/protocols"
)

var speaksSMPP = Options{Protocols: []string{"smpp"}}

func mustParse(t *testing.T, text string) *Config {
	t.Helper()
	c, _, err := Parse([]byte(text), speaksSMPP)
	if err != nil {
		t.Fatalf("cannot parse:\n%v", err)
	}
	return c
}

// The example of the design: every option that is not given has a default.
const contract = `
log: {level: info}
pdulog: {dir: pdulog, enabled: true}
store: {engine: pebble, dir: data}
admin: {address: "127.0.0.1:2780"}
accounts:
  - {system_id: load, password: secret}
connectors:
  - {name: clients,  direction: in,  protocol: smpp, address: "127.0.0.1:2775", instances: 1000, window: 100}
  - {name: operator, direction: out, protocol: smpp, address: "127.0.0.1:2776", instances: 4, window: 10,
     system_id: pmg, password: secret, bind: transceiver}
routes:
  - {to: operator}
`

func TestContract(t *testing.T) {
	t.Parallel()
	c := mustParse(t, contract)
	want := Default()
	want.Admin.Address = "127.0.0.1:2780"
	account := defaultAccount()
	account.SystemID, account.Password = "load", "secret"
	want.Accounts = []Account{account}
	in, out := defaultConnector(In), defaultConnector(Out)
	in.Name, in.Address, in.Window = "clients", "127.0.0.1:2775", 100
	out.Name, out.Address, out.Instances, out.SystemID, out.Password = "operator", "127.0.0.1:2776", 4, "pmg", "secret"
	static := true
	out.Static = &static
	want.Connectors = []Connector{in, out}
	want.Routes = []Route{{To: []Target{{Connector: "operator", Weight: 1}}, Policy: Failover}}
	c.found = found{}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("contract differs:\n%s\nwant\n%s", Show(c), Show(want))
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	c := Default()
	if c.PDULog.MaxSize != 100<<20 || c.PDULog.RotateEvery != 24*time.Hour || c.Limits.MaxJobs != 100000 {
		t.Errorf("defaults are\n%s", Show(c))
	}
	if empty := mustParse(t, "connectors: []\n"); !reflect.DeepEqual(empty, c) {
		t.Errorf("a file that sets nothing is\n%s", Show(empty))
	}
	if n := defaultConnector(In).Instances; n != 1000 {
		t.Errorf("an in connector has %d instances", n)
	}
	out := defaultConnector(Out)
	if out.Instances != 1 || out.SMPP.Bind != protocols.Transceiver || !out.IsStatic() {
		t.Errorf("an out connector is %+v", out)
	}
	if out.SMPP.Bind = protocols.Transmitter; out.IsStatic() {
		t.Error("a transmitter is static")
	}
}

// Options that can be written in more than one way.
func TestForms(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `
accounts:
  - {system_id: 0123, password: "x", networks: [192.0.2.0/24, "2001:db8::1"], bind: transmitter}
connectors:
  - {name: in, direction: in, address: ":0"}
  - {name: a, direction: out, addresses: ["a:1", "[::1]:2"], system_id: x, static: false, idle_max: 1m}
  - {name: b, direction: out, address: "b:1", system_id: x}
routes:
  - {destination: "+46", to: [a, b]}
  - to: [{connector: a, weight: 3}, b]
  - to: {connector: a}
    policy:
`)
	if a := c.Accounts[0]; a.SystemID != "0123" || len(a.Networks) != 2 || a.Networks[1].String() != "2001:db8::1/128" || a.Bind[0] != protocols.Transmitter {
		t.Errorf("the account is %+v", a)
	}
	if o := &c.Connectors[1]; o.IsStatic() || o.IdleMax != time.Minute || len(o.AllAddresses()) != 2 {
		t.Errorf("connector is %+v", o)
	}
	want := []Route{
		{Destination: []string{"+46"}, To: []Target{{Connector: "a", Weight: 1}, {Connector: "b", Weight: 1}}, Policy: Failover},
		{To: []Target{{Connector: "a", Weight: 3}, {Connector: "b", Weight: 1}}, Policy: Weighted},
		{To: []Target{{Connector: "a", Weight: 1}}, Policy: Failover},
	}
	if !reflect.DeepEqual(c.Routes, want) {
		t.Errorf("routes are %+v", c.Routes)
	}
}

// Each transcript in testdata is a file with as many problems as one run can report,
// and its report.
func TestProblems(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("testdata/*.yaml")
	for _, file := range files {
		_, warnings, err := Load(file, speaksSMPP)
		var got strings.Builder
		if err != nil {
			got.WriteString(err.Error() + "\n")
		}
		for _, w := range warnings {
			if !strings.Contains(w.Message, "every user of this machine") { // depends on how the file was checked out
				got.WriteString("warning: " + w.String() + "\n")
			}
		}
		golden(t, strings.TrimSuffix(file, ".yaml")+".txt", got.String())
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	testutil.Fresh(t, file, got, "go test ./config -update")
}

func TestEveryOptionIsDocumented(t *testing.T) {
	t.Parallel()
	for _, o := range Describe() {
		if len(o.Doc) < 10 || !strings.HasSuffix(o.Doc, ".") {
			t.Errorf("%s has doc %q, want a sentence", o.Path, o.Doc)
		}
		if strings.HasSuffix(o.Path, ".") || strings.HasSuffix(o.Path, "]") {
			t.Errorf("%s has no key", o.Path)
		}
	}
	known := []string{"yaml", "default", "in", "ucp", "http", "test", "range", "enum", "required", "only", "secret", "live", "doc", "protocol", "merge", "lines"}
	tag := regexp.MustCompile(`(\w+):"`)
	each(reflect.TypeFor[Config](), func(f reflect.StructField) {
		for _, m := range tag.FindAllStringSubmatch(string(f.Tag), -1) {
			if !slices.Contains(known, m[1]) {
				t.Errorf("%s has tag %s, which nothing reads", f.Name, m[1])
			}
		}
		if live := f.Tag.Get("live"); live != "yes" && live != "no" && live != "rebind" {
			t.Errorf("%s does not say whether a reload applies it", f.Name)
		}
		if def, ok := f.Tag.Lookup("default"); ok {
			of, values := f.Type, []string{def}
			if of.Kind() == reflect.Slice {
				of, values = of.Elem(), strings.Split(def, ", ")
			}
			for _, value := range values {
				if err := setScalar(reflect.New(of).Elem(), value, f.Tag); err != nil {
					t.Errorf("default of %s %v", f.Name, err)
				}
			}
		}
	})
}

func each(t reflect.Type, visit func(reflect.StructField)) {
	for f := range option.All(t) {
		visit(f)
		switch {
		case option.IsSingle(f.Type):
		case f.Type.Kind() == reflect.Struct:
			each(f.Type, visit)
		case !option.IsSingle(f.Type.Elem()):
			each(f.Type.Elem(), visit)
		}
	}
}

// mustParseStarter parses a starter file, which must have no warning.
func mustParseStarter(t *testing.T, text string) *Config {
	t.Helper()
	c, warnings, err := Parse([]byte(text), Options{Protocols: []string{"smpp", "http"}})
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	return c
}

// The starter file loads, sets nothing but its examples, and means the same with every
// commented option enabled.
func TestTemplate(t *testing.T) {
	t.Parallel()
	asItIs := mustParseStarter(t, Template())
	all := mustParseStarter(t, regexp.MustCompile(`(?m)^( *)#([a-z])`).ReplaceAllString(Template(), "$1$2"))
	if !reflect.DeepEqual(asItIs, all) {
		t.Errorf("with every option switched on the starter file is\n%s\nnot\n%s", Show(all), Show(asItIs))
	}
	asItIs.Accounts, asItIs.Connectors, asItIs.Routes, asItIs.found = nil, nil, nil, found{}
	want := Default()
	want.Admin.Address = "127.0.0.1:2780"
	if !reflect.DeepEqual(asItIs, want) {
		t.Errorf("the starter file without its lists is\n%s\nnot\n%s", Show(asItIs), Show(want))
	}
	for _, o := range Describe() {
		if o.Protocol != "" && o.Protocol != "smpp" {
			continue // its examples speak SMPP
		}
		if key := o.Path[strings.LastIndex(o.Path, ".")+1:]; !strings.Contains(Template(), key+":") && !strings.Contains(o.Path, ".to[]") && !strings.Contains(o.Path, ".rewrite[]") && !strings.Contains(o.Path, "tlvs[]") && !strings.Contains(o.Path, "receipt_states[]") && !strings.Contains(o.Path, ".keys[]") && !strings.Contains(o.Path, "accounts[].users[]") && !strings.Contains(o.Path, ".flood[]") && !strings.HasPrefix(o.Path, "lists[]") && !strings.HasPrefix(o.Path, "prices[]") && !strings.HasPrefix(o.Path, "plugins[]") && !strings.HasPrefix(o.Path, "hooks[]") {
			t.Errorf("the starter file has no %s", o.Path)
		}
	}
}

// The short starter file means the same as the long one, also with every commented option enabled, and has the options of the first
// month in at most 80 lines.
func TestShortTemplate(t *testing.T) {
	t.Parallel()
	short := ShortTemplate()
	enabled := regexp.MustCompile(`(?m)^( *)#([a-z])`).ReplaceAllString(short, "$1$2")
	want := Show(mustParseStarter(t, Template()))
	for _, text := range []string{short, enabled} {
		if got := Show(mustParseStarter(t, text)); got != want {
			t.Errorf("%s\nis\n%s\nnot\n%s", text, got, want)
		}
	}
	if n := strings.Count(short, "\n"); n > 80 {
		t.Errorf("%d lines", n)
	}
	for path := range firstMonth {
		section, key, _ := strings.Cut(path, ".")
		_, rest, _ := strings.Cut(short, "\n"+section+":\n")
		if rest, _, _ = strings.Cut(rest, "\n\n"); key != "" && !strings.Contains(rest, "#"+key+":") || key == "" && !strings.Contains(short, section+":\n") {
			t.Errorf("%s is missing", path)
		}
	}
}

// showsSecret reports whether a text has the password of the tests, which is also a part of names of options.
func showsSecret(text string) bool {
	return strings.Contains(regexp.MustCompile(`\b(client_|old_|cluster\.)?secret( must|:)`).ReplaceAllString(text, ""), "secret")
}

// The output of Show is a file with the same meaning.
func TestShow(t *testing.T) {
	t.Parallel()
	c := mustParse(t, contract+`
  - {account: load, from: clients, destination: "46", source: "yes", to: [{connector: operator, weight: 2}]}
`)
	shown := Show(c)
	if showsSecret(shown) {
		t.Errorf("a password is shown:\n%s", shown)
	}
	again, warnings, err := Parse([]byte(shown), speaksSMPP)
	if err != nil || len(warnings) != 1 { // of the route behind the catch-all
		t.Fatalf("cannot parse what is shown: %v %v\n%s", err, warnings, shown)
	}
	if Show(again) != shown {
		t.Errorf("shown again it is\n%s\nnot\n%s", Show(again), shown)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	a := mustParse(t, contract)
	b := mustParse(t, `
log: {level: debug}
admin: {address: "127.0.0.1:2780"}
accounts:
  - {system_id: new, password: other}
  - {system_id: load, password: changed, networks: 10.0.0.0/8}
connectors:
  - {name: operator, direction: out, address: "127.0.0.1:2776", instances: 4, system_id: pmg, password: secret, window: 20}
routes:
  - {to: operator}
  - {to: operator, policy: weighted}
`)
	var got []string
	for _, c := range a.Diff(b) {
		got = append(got, c.String())
	}
	want := []string{
		"log.level: info -> debug",
		`accounts[load].password: "********" -> "********"`,
		`accounts[load].networks: [] -> ["10.0.0.0/8"]`,
		"accounts[new]: absent -> added",
		"connectors[clients]: present -> removed",
		"connectors[operator].window: 10 -> 20 (for new sessions)",
		"routes[line 11]: absent -> {to: operator, policy: weighted}",
	}
	if !slices.Equal(got, want) {
		t.Errorf("diff is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if d := a.Diff(a); d != nil {
		t.Errorf("nothing changed, but diff is %v", d)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := WriteText(&b, "connectors.instances"); err != nil || !strings.Contains(b.String(), "default 1 (in: 1000)") {
		t.Errorf("description is %q, %v", b.String(), err)
	}
	b.Reset()
	if err := WriteText(&b, "window"); err != nil || !strings.Contains(b.String(), "connectors[].window") { // O25
		t.Errorf("window: %v, %s", err, &b)
	}
	if err := WriteText(&b, "nonsense"); err == nil {
		t.Error("nonsense is described")
	}
}

// S9: a protocol's options are written among the connector's, and only connectors of
// the protocol have them.
func TestOptionsOfAProtocol(t *testing.T) {
	t.Parallel()
	parse := func(protocol, option string) (*Config, error) {
		text := "connectors: [{name: a, direction: out, address: \"h:1\", system_id: x, protocol: " + protocol + ", " + option + "}]\n"
		c, _, err := Parse([]byte(text), Options{})
		return c, err
	}
	c, err := parse("smpp", "system_type: VMA")
	if err != nil || c.Connectors[0].SMPP.SystemType != "VMA" || !strings.Contains(Show(c), "\n    system_type: VMA\n") {
		t.Fatalf("error %v", err)
	}
	other, _ := parse("smpp", "system_type: OTA")
	if d := c.Diff(other); len(d) != 1 || d[0].Path != "connectors[a].system_type" {
		t.Errorf("changes are %v", d)
	}
	if c, err = parse("morse", "window: 1"); err != nil || c.Connectors[0].ProtocolOptions() != nil || strings.Contains(Show(c), "system_type") {
		t.Errorf("error %v", err)
	}
	const want = "connectors[a].system_type is an option of protocol smpp, and this connector speaks ucp"
	if _, err = parse("ucp", "system_type: VMA"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want %s", err, want)
	}
	if c, err = parse("ucp", "timezone: Europe/Stockholm, traffic: transmitter"); err != nil || c.Connectors[0].UCP.Timezone != "Europe/Stockholm" || c.Connectors[0].IsStatic() {
		t.Errorf("error %v", err)
	}
	for _, long := range []string{"join", "payload", "sar"} {
		if _, err = parse("ucp", "long_messages: "+long); err == nil || !strings.Contains(err.Error(), "must be pass, split8 or split16 with protocol ucp: only SMPP has a field for "+long) {
			t.Error(err)
		}
	}
	if _, err = parse("ucp", "window: 100"); err == nil || !strings.Contains(err.Error(), "must be at most 99, the most that ucp can pair with answers") {
		t.Errorf("got error %v", err)
	}
	if _, err = parse("smpp", "system_type: longer-than-12"); err == nil || !strings.Contains(err.Error(), "must be at most 12 characters") {
		t.Errorf("got error %v", err)
	}
}

// F26: an account that can log in at no connector is refused, and the problem names the option that
// helps.
func TestLongPasswords(t *testing.T) {
	t.Parallel()
	f := func(password, connectors, want string) {
		t.Helper()
		_, _, err := Parse([]byte("accounts: [{system_id: load, password: "+password+"}]\nconnectors:\n"+connectors), speaksSMPP)
		switch {
		case want == "" && err != nil:
			t.Errorf("password of %d: %v", len(password), err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), "accounts[load].password "+want)):
			t.Errorf("password of %d: got error %v, want %q", len(password), err, want)
		}
	}
	const short, long = "  - {name: a, direction: in, address: \":1\"}\n", "  - {name: b, direction: in, address: \":2\", long_passwords: true}\n"
	const hint = "must be at most 8 characters, not 9, unless a connector that the client may log in on has long_passwords: true"
	f("12345678", short, "")
	f("123456789", short, hint)
	f("123456789", short+long, "")
	f("123456789", long+short, "")
	f("123456789, connectors: [a]", short+long, "must be at most 8 characters, not 9, unless a connector that the client may log in on has long_passwords: true")
	f(strings.Repeat("1", 64), long, "")
	f(strings.Repeat("1", 65), long, "must be at most 64 characters")
	f("$2a$05$abcdefghijklmnopqrstuuKvqIyxOgcBOn54i3MsM4xCeZ7bXeJyW", short, "")          // the length of a hashed password is not known
	f("123456789", "  - {name: o, direction: out, address: \"h:1\", system_id: x}\n", "") // no client can log in anyway
}

// A system_id of 16 characters is refused, and the problem names the option that helps, unless that is given.
func TestLongSystemIDs(t *testing.T) {
	t.Parallel()
	const long = "long_system_ids: true"
	f := func(text, want string) {
		t.Helper()
		_, _, err := Parse([]byte(text), speaksSMPP)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	in, out := "{name: a, direction: in, address: \":1\"%s}", "{name: b, direction: out, address: \"h:1\", system_id: %s%s}"
	for n, name := range map[int]string{16: strings.Repeat("x", 16), 32: strings.Repeat("x", 32), 33: strings.Repeat("x", 33)} {
		account := "accounts: [{system_id: " + name + ", password: secret}]\nconnectors: [" + in + "]"
		hint := map[bool]string{true: long, false: "must be at most 15 characters"}[n <= 32]
		f(fmt.Sprintf(account, ""), hint)
		f("connectors: ["+fmt.Sprintf(out, name, "")+"]", hint)
		if hint = "must be at most 32 characters"; n <= 32 {
			hint = ""
		}
		f(fmt.Sprintf(account, ", "+long), hint)
		f("connectors: ["+fmt.Sprintf(out, name, ", "+long)+"]", hint)
	}
}

// defaultAccount is an account for which nothing was given.
func defaultAccount() (a Account) {
	option.SetDefaults(reflect.ValueOf(&a).Elem(), "default")
	return a
}

// defaultConnector is a connector for which nothing but its direction was given.
func defaultConnector(direction string) Connector {
	c := Connector{}
	v := reflect.ValueOf(&c).Elem()
	option.SetDefaults(v, "default")
	c.Direction = direction
	if c.Listens() {
		option.SetDefaults(v, "in")
	}
	return c
}

// idle_max of a connector whose sessions are always open is noticed.
func TestIdleMaxOfStatic(t *testing.T) {
	for options, warned := range map[string]bool{
		"direction: out, address: a:1, system_id: x": true, "direction: out, address: a:1, system_id: x, static: false": false,
		"direction: out, address: a:1, system_id: x, bind: transmitter": false, "direction: in, address: a:1": false,
	} {
		_, warnings, err := Parse([]byte("accounts: []\nconnectors: [{name: a, idle_max: 1m, "+options+"}]"), speaksSMPP)
		found := slices.ContainsFunc(warnings, func(w document.Problem) bool {
			return strings.Contains(w.String(), "connectors[a].idle_max logs sessions out")
		})
		if err != nil || found != warned {
			t.Errorf("%s: %v, %v", options, warnings, err)
		}
	}
}

// A zone that there is not is refused, on connectors of either direction.
func TestReceiptTimezone(t *testing.T) {
	for _, zone := range []string{"UTC", "Europe/Stockholm", "Nowhere/Land"} {
		for _, c := range []string{"direction: in, address: \"127.0.0.1:0\"", "direction: out, address: \"127.0.0.1:1\", system_id: a, password: b"} {
			_, _, err := Parse([]byte("connectors: [{name: a, "+c+", receipt_timezone: "+zone+"}]"), speaksSMPP)
			refused := err != nil && strings.Contains(err.Error(), `connectors[a].receipt_timezone must be a time zone as Europe/Stockholm or UTC, not "Nowhere/Land"`)
			if refused != (zone == "Nowhere/Land") {
				t.Errorf("%s, %s: %v", zone, c, err)
			}
		}
	}
}

// That messages from mobiles have no route is said to those who check a file: many gateways only send, and would hear of it at each start.
func TestUnrouted(t *testing.T) {
	t.Parallel()
	const sends = `
accounts: [{system_id: acme, password: secret}]
connectors:
  - {name: clients, direction: in, address: ":2775"}
  - {name: operator, direction: out, address: "a:1", system_id: x%s}
routes: [{to: operator}]
`
	for _, c := range []struct {
		options string
		o       Options
		warned  bool
	}{
		{"", Options{Thorough: true}, true},
		{"", Options{}, false},
		{", bind: transmitter", Options{Thorough: true}, false},
	} {
		_, warnings, err := Parse([]byte(strings.Replace(sends, "%s", c.options, 1)), c.o)
		if err != nil {
			t.Fatal(err)
		}
		warned := slices.ContainsFunc(warnings, func(w document.Warning) bool { return strings.Contains(w.String(), "messages from mobiles") })
		if warned != c.warned {
			t.Errorf("%q %+v: %v", c.options, c.o, warnings)
		}
	}
}

// A window that the gateway finds is for SMSCs of two protocols, and at most what the protocol can pair with answers.
func TestWindowAuto(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		connector string
		most      int
	}{
		{`{name: o, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, window: auto}`, 1000},
		{`{name: o, direction: out, protocol: ucp, address: "127.0.0.1:1", system_id: pmg, password: secret, window: auto}`, 99},
		{`{name: o, direction: in, address: "127.0.0.1:1", window: auto}`, 0},
		{`{name: o, direction: out, protocol: test, window: auto}`, 0},
	} {
		cfg, _, err := Parse([]byte("accounts: [{system_id: load, password: secret}]\nconnectors: ["+test.connector+"]\nroutes: [{to: o}]\n"), Options{Protocols: []string{"smpp", "ucp", "test"}})
		if test.most == 0 {
			if err == nil || !strings.Contains(err.Error(), "auto is for out connectors of smpp and ucp") {
				t.Errorf("%s: %v", test.connector, err)
			}
			continue
		}
		if doc, _ := reflect.TypeFor[Connector]().FieldByName("Window"); !strings.Contains(doc.Tag.Get("doc"), fmt.Sprintf("up to %d ", mostAuto)) {
			t.Errorf("another limit than %d: %s", mostAuto, doc.Tag.Get("doc"))
		}
		if err != nil || cfg.Connectors[0].MostRequests() != test.most || cfg.Connectors[0].Window.String() != "auto" {
			t.Errorf("%s: %v", test.connector, err)
		}
	}
}
