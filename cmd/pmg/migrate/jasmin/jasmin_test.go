package jasmin

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/parser"

	"pmg/cmd/pmg/migrate/draft"
	"pmg/config"
	"pmg/internal/testkit/testutil"
)

// numbered returns passwords that are the same each time.
func numbered() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprintf("made-%d", n)
	}
}

// translate returns what a dump becomes, and the configuration that it is.
func translate(t *testing.T, text string) (*draft.Draft, *config.Config) {
	t.Helper()
	d := Translate("dump.txt", Read([]byte(text)), numbered())
	c, _, err := config.Parse(d.Bytes(), config.Options{Protocols: []string{"smpp", "ucp", "http"}})
	if err != nil {
		t.Fatalf("%v\n%s", err, d.Bytes())
	}
	return d, c
}

func dump(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Dumps become the configurations in testdata, which PMG can use.
func TestTranslateIsFresh(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"small", "full"} {
		d, _ := translate(t, dump(t, name+".txt"))
		testutil.Fresh(t, filepath.Join("testdata", name+".yaml"), string(d.Bytes()), "make docs")
	}
}

// What matters of the full dump is there, whatever the golden file says.
func TestTranslateFull(t *testing.T) {
	t.Parallel()
	_, c := translate(t, dump(t, "full.txt"))
	alpha := c.Connectors[2]
	if alpha.Name != "alpha" || alpha.Password != ": #{x" || alpha.Rate != 20 || alpha.ReceiptIDs != "decimal" || alpha.Address != "smsc.example.net:2775" {
		t.Errorf("%+v", alpha)
	}
	if shop := c.Accounts[0]; shop.SystemID != "shop" || shop.Sessions.Most != 3 || shop.Rate != 20 || len(shop.Rewrite) != 2 || shop.Password != "made-1" {
		t.Errorf("%+v", shop)
	}
	first := func(match func(r *config.Route) bool) string {
		i := slices.IndexFunc(c.Routes, func(r config.Route) bool { return match(&r) })
		if i < 0 {
			return ""
		}
		return c.Routes[i].To[0].Connector + c.Routes[i].To[0].Account
	}
	for name, row := range map[string]struct{ got, want string }{
		"user and prefix": {first(func(r *config.Route) bool { return r.Account == "shop" && r.Prefixes()[0] == "46" }), "beta"},
		"group":           {first(func(r *config.Route) bool { return r.Account == "crm_login" }), "beta"},
		"mobile":          {first(func(r *config.Route) bool { return r.From == "gamma" && r.Prefixes()[0] == "4711" }), "shop"},
		"webhook":         {first(func(r *config.Route) bool { return r.From == "alpha" && r.Prefixes()[0] == "4712" }), "mo-crm"},
		"anything":        {first(func(r *config.Route) bool { return r.From == "http" && r.Prefixes()[0] == "" }), "alpha"},
	} {
		if row.got != row.want {
			t.Errorf("%s: %q, want %q", name, row.got, row.want)
		}
	}
}

// An unknown line within a record loses that line alone. Options of no record are named with their own lines.
func TestUnknownLineInRecord(t *testing.T) {
	t.Parallel()
	for _, unknown := range []string{"replace_if_present_flag 0", "what: ever", "word"} {
		text := "jcli : smppccm -s a\nratio 1\nhost 192.0.2.1\n" + unknown + "\nusername u\nsubmit_throughput 7\ncid a\n" +
			"jcli : user -s b\n" + unknown + "\nusername name\nuid b\njcli : x\nhost 192.0.2.2\nusername u\n"
		d := Read([]byte(text))
		var lost []string
		for _, row := range d.Unknown {
			lost = append(lost, fmt.Sprintf("%d %s", row.Line, row.Text))
		}
		want := []string{"2 ratio 1", "4 " + unknown, "9 " + unknown, "12 x", "13 host", "14 username"}
		if !slices.Equal(lost, want) || len(d.Connectors) != 1 || len(d.Users) != 1 {
			t.Fatalf("%q, %v, %v", lost, d.Connectors, d.Users)
		}
		a, b := d.Connectors[0], d.Users[0]
		if a.get("host") != "192.0.2.1" || a.get("username") != "u" || a.get("submit_throughput") != "7" || b.get("username") != "name" {
			t.Errorf("%v, %v", a, b)
		}
	}
}

// What was typed, the login, and what is for the terminal make no difference; nor does the missing end of lines.
func TestSessions(t *testing.T) {
	t.Parallel()
	full := dump(t, "full.txt")
	want := strings.Join(strings.Fields(lines(translateText(full))), " ")
	for name, change := range map[string]func(string) string{
		"without echo": func(s string) string { return unecho(s, "jcli : ") },
		"only LF":      func(s string) string { return strings.ReplaceAll(s, "\r", "") },
		"telnet ends":  func(s string) string { return strings.ReplaceAll(s, "\r\n", "\r\r\r\n") },
		"only CR":      func(s string) string { return strings.ReplaceAll(s, "\n", "") },
		"colors":       func(s string) string { return strings.ReplaceAll(s, "jcli : ", "\x1b[4h\x1b[1;32mjcli : \x1b[0m") },
		"prompts":      func(s string) string { return strings.ReplaceAll(s, "jcli : ", "jcli : jcli : ") },
		"telnet":       func(s string) string { return "\xff\xfd\x18\xff\xf1" + s },
	} {
		if got := strings.Join(strings.Fields(lines(translateText(change(full)))), " "); got != want {
			t.Errorf("%s: %s", name, testutil.Difference(got, want))
		}
	}
}

func translateText(text string) string {
	return string(Translate("x", Read([]byte(text)), numbered()).Bytes())
}

// The number of a line is the one that an editor shows, however it ends.
func TestLineNumbers(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"\n", "\r\n", "\r\r\r\n"} {
		if unknown := Read([]byte("Session ref: 1" + end + end + "what" + end)).Unknown; len(unknown) != 1 || unknown[0].Line != 3 {
			t.Errorf("%q: %v", end, unknown)
		}
	}
}

// lines removes the numbers of lines, which differ.
func lines(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, "line ") {
		if i > 0 {
			part = strings.TrimLeft(strings.TrimLeft(part, "0123456789"), ".,) ")
		}
		b.WriteString(part + " ")
	}
	return strings.ReplaceAll(b.String(), "#", "")
}

// unecho removes the commands behind prompts, and the ends of their lines.
func unecho(text, prompt string) string {
	parts := strings.Split(text, prompt)
	for i := 1; i < len(parts); i++ {
		_, parts[i], _ = strings.Cut(parts[i], "\n")
	}
	return strings.Join(parts, prompt)
}

// No option disappears: each one becomes one of PMG's, or a comment names it.
func TestEveryOption(t *testing.T) {
	t.Parallel()
	for kind, id := range map[string]string{smppccm: "cid", user: "uid"} {
		var b strings.Builder
		for _, r := range Table() {
			if r.Group == kind {
				fmt.Fprintf(&b, "%s 1\n", r.Option)
			}
		}
		made := strings.Join(strings.Fields(strings.ReplaceAll(translateText(b.String()), "#", "")), " ")
		for _, r := range Table() {
			if r.Group != kind || r.Option == id || r.Option == "gid" {
				continue
			}
			if named := strings.Contains(made, r.Option+` = "1"`); named != (r.To == "") {
				t.Errorf("%s: named is %v in\n%s", r.Option, named, made)
			}
			if (r.To == "") == (r.Why == "") {
				t.Errorf("%s must be translated, or have a reason", r.Option)
			}
		}
		usual := usualConnector()
		if kind == user {
			usual = usualUser()
		}
		for name := range usual {
			if !slices.ContainsFunc(Table(), func(r draft.Row) bool { return r.Group == kind && r.Option == name && r.To == "" }) {
				t.Errorf("%s: the table has no reason for it", name)
			}
		}
	}
}

// A connector or user that the dump only lists is missed, and lines of something else are reported.
func TestMissing(t *testing.T) {
	t.Parallel()
	d, _ := translate(t, dump(t, "full.txt"))
	made := strings.Join(strings.Fields(strings.ReplaceAll(string(d.Bytes()), "#", "")), " ")
	for _, want := range []string{
		"smppccm -s missing shows", "user -s lost shows", `nothing that pmg import knows: "Unknown connector: nothing"`, "interceptor, line", "no filter <TI",
		"smpps(nobody) is not in the dump", "its group is disabled", "the user is disabled", "pmg credit add ACCOUNT AMOUNT",
	} {
		if !strings.Contains(made, want) {
			t.Errorf("%q is not told", want)
		}
	}
	if d, _ := translate(t, "jcli : "); !strings.Contains(string(d.Bytes()), "shows no connector and no user") {
		t.Error("an empty dump is not told")
	}
	if _, err := ReadFile(t.TempDir()); err == nil {
		t.Error("a directory was read")
	}
	if _, err := ReadFile("/dev/zero"); err == nil {
		t.Error("a device was read")
	}
}

// Regular expressions are prefixes, whole addresses, anything, or nothing that PMG has.
func TestPrefixes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		pattern, want string
		ok            bool
	}{
		{".*", "", true}, {"", "", true}, {"^.*$", "", true}, {`^\d+$`, "", true}, {"^46", "46*", true}, {"46.*", "46*", true}, {`^\+?46\d+$`, "46*", true},
		{"^(46|47)", "46* 47*", true}, {"^(?:46|47).*$", "46* 47*", true}, {"^4711$", "4711", true}, {"^Shop$", "Shop", true}, {"^$", "", false},
		{"^46|^47", "", false}, {"^4[67]", "", false}, {"(46", "", false}, {"^(46|)$", "", false}, {".", "", false}, {"^4.*7", "", false},
	} {
		words, ok := prefixes(row.pattern)
		if got := strings.Join(words, " "); got != row.want || ok != row.ok {
			t.Errorf("%q: %q, %v", row.pattern, got, ok)
		}
	}
}

// Whatever comes in becomes YAML.
func FuzzTranslate(f *testing.F) {
	for _, name := range []string{"small.txt", "full.txt"} {
		f.Add([]byte(dump(f, name)))
		for _, part := range strings.Split(dump(f, name), "jcli : ") {
			f.Add([]byte("jcli : " + part))
		}
	}
	f.Add([]byte("\xff\xff\xfd"))
	f.Fuzz(func(t *testing.T, text []byte) {
		made := Translate("dump.txt", Read(text), numbered()).Bytes()
		if _, err := parser.ParseBytes(made, 0); err != nil {
			t.Fatalf("%v\n%s", err, made)
		}
	})
}

// Connectors to one SMSC share an operator, what httpccm -s shows is an HTTP client, and a route of a whole number stays.
func TestWhatJasminShows(t *testing.T) {
	t.Parallel()
	smppc := func(cid, bind, ids string) string {
		return "cid " + cid + "\nhost 192.0.2.7\nport 2775\nusername u\npassword p\nbind " + bind + "\ndlr_msgid " + ids + "\ndlr_expiry 1209600\n"
	}
	const head = "jcli : morouter -l\n#Order Type                    Connector ID(s)   Filter(s)\n"
	d, _ := translate(t, "jcli : smppccm -s tx\n"+smppc("tx", "transmitter", "0")+"jcli : smppccm -s rx\n"+smppc("rx", "receiver", "0")+"jcli : smppccm -s odd\n"+smppc("odd", "receiver", "2")+
		"jcli : httpccm -s HTTP-01\nurl http://192.0.2.9/mo\nmethod POST\ncid HTTP-01\n"+head+"#10    StaticMORoute          http(HTTP-01)     <DA (dst_addr=^85111$)>\n")
	made := strings.Join(strings.Fields(strings.ReplaceAll(string(d.Bytes()), "#", "")), " ")
	for _, want := range []string{
		`operator: "tx"`, "it leads to the SMSC of connector tx", `name: "rx"`, `webhook: "http://192.0.2.9/mo"`, "jasmin-post", `destination: ["85111"]`, "DECIDE: the filter is of a whole address, 85111", "keep: 1209600s",
	} {
		if !strings.Contains(made, want) {
			t.Errorf("%q is not in\n%s", want, made)
		}
	}
	if strings.Contains(made, `name: "HTTP-01"`) || strings.Count(made, `operator: "tx"`) != 1 {
		t.Error(made)
	}
}
