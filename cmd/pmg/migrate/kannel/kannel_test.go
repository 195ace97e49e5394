package kannel

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pmg/cmd/pmg/migrate/draft"
	"pmg/config"
	"pmg/internal/testkit/testutil"
)

var options = config.Options{Protocols: []string{"smpp", "ucp", "http"}}

// secrets makes the password of each service.
func secrets() string { return "generated" }

// translate returns what a text becomes.
func translate(t *testing.T, text string) *draft.Draft {
	t.Helper()
	r := reader{open: func(string) ([]file, error) { return nil, errors.New("there are no other files") }}
	if err := r.read(file{"kannel.conf", text}); err != nil {
		t.Fatal(err)
	}
	return Translate("kannel.conf", r.groups, secrets)
}

// load returns the configuration that a draft is.
func load(t *testing.T, d *draft.Draft) *config.Config {
	t.Helper()
	c, _, err := config.Parse(d.Bytes(), options)
	if err != nil {
		t.Fatalf("%v\n%s", err, d.Bytes())
	}
	return c
}

// A configuration with every group becomes the one in testdata, which PMG can use.
func TestTranslateIsFresh(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"small", "full", "http"} {
		groups, err := ReadFile(filepath.Join("testdata", name+".conf"))
		if err != nil {
			t.Fatal(err)
		}
		d := Translate(name+".conf", groups, secrets)
		load(t, d)
		testutil.Fresh(t, filepath.Join("testdata", name+".yaml"), string(d.Bytes()), "make docs")
	}
}

// The samples that Debian's packages of Kannel install become configurations that PMG can use, where they are installed.
func TestInstalledSamples(t *testing.T) {
	t.Parallel()
	samples := []string{"/etc/kannel/kannel.conf", "/usr/lib/kannel/test/drive_smpp.conf"}
	more, err := filepath.Glob("/usr/share/doc/kannel/examples/*.conf")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range append(samples, more...) {
		groups, err := ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if n++; err != nil {
			t.Error(err)
		}
		load(t, Translate(name, groups, secrets))
	}
	if n == 0 {
		t.Skip("Kannel is not installed")
	}
}

// What matters of the full configuration is there, whatever the golden file says.
func TestTranslateFull(t *testing.T) {
	t.Parallel()
	groups, err := ReadFile("testdata/full.conf")
	if err != nil {
		t.Fatal(err)
	}
	c := load(t, Translate("full.conf", groups, secrets))
	alpha := c.Connectors[1]
	if alpha.Password != ": #{x" || alpha.Instances != 2 || alpha.Rate != 25 || alpha.Window != 5 || alpha.ReceiptIDs != "decimal" || alpha.SMPP.Version != "3.3" {
		t.Errorf("%+v", alpha)
	}
	for name, operator := range map[string]string{"Alpha-receiver": "Alpha", "Alpha-2": "Alpha", "Beta-net-receiver": "Beta-net", "gamma": "gamma"} {
		i := slices.IndexFunc(c.Connectors, func(c config.Connector) bool { return c.Name == name })
		if i < 0 || c.Connectors[i].OperatorName() != operator {
			t.Errorf("%s: %d", name, i)
		}
	}
	if a := c.Accounts[0]; a.Password != `foo "bar\` || len(a.Networks) != 2 || a.MaxParts != 3 {
		t.Errorf("%+v", a)
	}
}

// No option disappears: each one that Kannel has becomes one of PMG's, or a comment names it.
func TestEveryOption(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"core", "smsbox", "sendsms-user", "sms-service", "smsc"} {
		types := []string{""}
		if kind == "smsc" {
			types = []string{"smsc = smpp\n", "smsc = emi\n", "smsc = http\nsystem-type = kannel\n", "smsc = http\nsystem-type = generic\n", "smsc = http\n", "smsc = at\n"}
		}
		idle := map[string]int{} // how many types an option has no effect with
		for _, typed := range types {
			var b strings.Builder
			fmt.Fprintf(&b, "group = %s\n%s", kind, typed)
			for _, r := range Table() {
				if r.Group == kind && r.Option != "smsc" && !(r.Option == "system-type" && strings.Contains(typed, r.Option)) {
					fmt.Fprintf(&b, "%s = 7\n", r.Option)
				}
			}
			b.WriteString("surprise = 7\n")
			if kind == "core" { // others take some of its options
				b.WriteString("\ngroup = smsc\nsmsc = smpp\nuse-ssl = 1\nport = 7\n\ngroup = smsc\nsmsc = http\nsystem-type = kannel\n\ngroup = smsbox\nsendsms-port = 7\nsendsms-port-ssl = 1\n")
			}
			made := string(translate(t, b.String()).Bytes())
			made = strings.Join(strings.Fields(strings.ReplaceAll(made, "#", " ")), " ")
			for _, r := range append(Table(), draft.Row{Group: kind, Option: "surprise", Why: "?"}) {
				if r.Group != kind {
					continue
				}
				named := strings.Contains(made, r.Option+` = "7"`) || strings.Contains(made, r.Option+":") || strings.Contains(made, r.Option+",")
				if r.To == "" && !named {
					t.Errorf("%s%s: %s is not named in\n%s", typed, kind, r.Option, made)
				}
				if strings.Contains(made, " "+r.Option+` = "7": has no effect`) || strings.Contains(made, " "+r.Option+`: has no effect`) {
					idle[r.Option]++
				}
				if (r.To == "") == (r.Why == "") {
					t.Errorf("%s: %s: it must be translated, or have a reason", kind, r.Option)
				}
			}
		}
		for name, n := range idle {
			if kind != "smsc" || n == 4 {
				t.Errorf("%s: nothing takes %s, which the table says becomes something", kind, name)
			}
		}
	}
}

// Routes lead where Kannel sends a message, for each account and any number.
func TestRoutes(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	list := func(words ...string) string {
		var some []string
		for _, w := range words {
			if rnd.IntN(3) == 0 {
				some = append(some, w)
			}
		}
		return strings.Join(some, ";")
	}
	prefixes := []string{"4", "46", "467", "4670", "49", "5"}
	checked := 0
	for range 300 {
		text := "group = smsbox\nsendsms-port = 13013\n\n"
		for i := range 1 + rnd.IntN(4) {
			text += fmt.Sprintf("group = smsc\nsmsc = smpp\nsmsc-id = s%d\nhost = h%d\nport = 1\ntransceiver-mode = 1\nsmsc-username = u\nsmsc-password = p\nallowed-smsc-id = \"%s\"\ndenied-smsc-id = \"%s\"\n"+
				"preferred-smsc-id = \"%s\"\nallowed-prefix = \"%s\"\ndenied-prefix = \"%s\"\npreferred-prefix = \"%s\"\n\n",
				i, i, list("a", "b"), list("a", "b"), list("a", "b"), list(prefixes...), list(prefixes...), list(prefixes...))
		}
		text += "group = sendsms-user\nusername = one\npassword = p\nforced-smsc = a\n\n"
		if rnd.IntN(2) == 0 {
			text += "group = sendsms-user\nusername = two\npassword = p\n\n"
		}
		d := translate(t, text)
		c := load(t, d)
		unsure := slices.ContainsFunc(d.Remarks, func(n draft.Remark) bool { return strings.Contains(n.Text, "no list refuses the others") })
		for _, number := range []string{"4", "41", "4612", "46712", "46701", "4912", "512", "61"} {
			for i := range c.Accounts {
				a := &c.Accounts[i]
				id := map[string]string{"one": "a", "two": ""}[a.SystemID]
				want, got := kannelTargets(t, text, id, number), routeTargets(c, a, number)
				if unsure && len(want) == 0 {
					continue
				}
				if checked++; !slices.Equal(want, got) {
					t.Fatalf("account %s, number %s: %v, want %v\n%s\n%s", a.SystemID, number, got, want, text, d.Bytes())
				}
			}
		}
	}
	if checked < 2000 {
		t.Errorf("only %d", checked)
	}
}

// kannelTargets returns the SMSCs that Kannel could send a message by, those that are preferred first, as it decides.
func kannelTargets(t *testing.T, text, id, number string) (names []string) {
	t.Helper()
	r := reader{}
	if err := r.read(file{"kannel.conf", text}); err != nil {
		t.Fatal(err)
	}
	var others []string
	for _, of := range r.groups {
		if of.Kind != "smsc" {
			continue
		}
		g := newGroup(of, &draft.Entry{})
		in := func(option, what string) bool {
			return slices.ContainsFunc(g.List(option), func(s string) bool {
				return s == what && !strings.HasSuffix(option, "prefix") || strings.HasPrefix(what, s) && strings.HasSuffix(option, "prefix")
			})
		}
		switch {
		case g.Given("allowed-smsc-id") && !in("allowed-smsc-id", id), !g.Given("allowed-smsc-id") && in("denied-smsc-id", id):
		case g.Given("allowed-prefix") && !g.Given("denied-prefix") && !in("allowed-prefix", number):
		case g.Given("denied-prefix") && !g.Given("allowed-prefix") && in("denied-prefix", number):
		case g.Given("denied-prefix") && g.Given("allowed-prefix") && !in("allowed-prefix", number) && in("denied-prefix", number):
		case in("preferred-smsc-id", id), in("preferred-prefix", number):
			names = append(names, g.Take("smsc-id"))
		default:
			others = append(others, g.Take("smsc-id"))
		}
	}
	return append(names, others...)
}

// routeTargets returns where the configuration sends a message.
func routeTargets(c *config.Config, a *config.Account, number string) (names []string) {
	for _, rules := range [][]string{denied(a.Rewrite), denied(c.Connectors[0].Rewrite)} {
		for _, p := range rules {
			if strings.HasPrefix(number, strings.TrimSuffix(p, "*")) {
				return nil
			}
		}
	}
	for i := range c.Routes {
		r := &c.Routes[i]
		if r.Account != "" && r.Account != a.SystemID || !slices.ContainsFunc(r.Prefixes(), func(p string) bool { return strings.HasPrefix(number, p) }) {
			continue
		}
		for _, to := range r.To {
			names = append(names, to.Connector)
		}
		return names
	}
	return nil
}

func denied[R interface{ ~[]E }, E any](rules R) (all []string) {
	for _, r := range rules {
		text := fmt.Sprint(r)
		if _, list, found := strings.Cut(text, "deny: ["); found {
			all = append(all, strings.Split(strings.TrimSuffix(list, "]}"), ", ")...)
		}
	}
	return all
}
