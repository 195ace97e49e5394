package explain

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/internal/testkit/testutil"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/protocols/ucp"
	"pmg/sms"
)

func load(t *testing.T, more string) *config.Config {
	t.Helper()
	b, err := os.ReadFile("testdata/pmg.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(b)+more)
}

func parse(t *testing.T, yaml string) *config.Config {
	t.Helper()
	c, _, err := config.Parse([]byte(yaml), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// limited is a configuration whose options limit what a message may be.
const limited = `
pdulog: {dir: /nonexistent}
accounts: [{system_id: acme, password: x, max_schedule: 1h, max_scheduled: 1, max_parts: 2, validity: 2h, max_validity: 3h, receipts: force, rate: 1, tlvs: [{tlv: 0x1400, value: "11"}, {tlv: user_message_reference, value: "7"}]}]
connectors:
  - {name: clients, direction: in, address: ":1"}
  - {name: one, direction: out, address: "a:1", system_id: x, long_messages: split8}
  - {name: two, direction: out, address: "a:2", system_id: x, protocol: ucp}
  - {name: three, direction: out, address: "a:2", system_id: x, protocol: ucp}
routes: [{keyword: STOP, to: one}, {to: [one, two, three]}]
`

// plugged is a configuration with plugins.
const plugged = `
pdulog: {enabled: false}
accounts: [{system_id: acme, password: x}]
plugins:
  - {name: spam, on_failure: refuse, rules: [{if: 'text contains "casino"', do: refuse, why: "no games"}, {if: 'text contains "bank"', do: hold, why: "doubtful"}]}
  - {name: night, on_failure: pass, rules: [{if: 'to startsWith "46"', do: delay, for: 8h, tags: ["net:24001"]}, {text: 'text + " /acme"', from: '"ACME"'}]}
  - {name: service, on_failure: hold, url: "http://127.0.0.1:1/"}
  - {name: leaving, on_failure: pass, rules: [{if: 'to endsWith "9"', do: refuse, why: "no nines"}, {if: 'to endsWith "8"', do: delay, for: 8h}, {from: '"Late"', text: 'text + " by " + connector'}]}
hooks: [{at: accept, plugin: spam}, {at: accept, plugin: night}, {at: accept, plugin: service, accounts: acme}, {at: send, plugin: service}, {at: send, plugin: leaving, connectors: two}]
connectors:
  - {name: clients, direction: in, address: ":1"}
  - {name: one, direction: out, address: "a:1", system_id: x}
  - {name: two, direction: out, address: "a:1", system_id: x}
routes: [{tag: "net:24001", to: two}, {to: one}]
`

func newDriver(protocol string, _ *config.Config) (protocols.Driver, error) {
	if protocol == "ucp" {
		return ucp.New(ucp.Options{}), nil
	}
	return smpp.New(smpp.Options{}), nil
}

// Each kind of answer reads as in testdata/answers.txt.
func TestAnswers(t *testing.T) {
	t.Parallel()
	c, parks, l, p := load(t, ""), load(t, "no_route: park\n"), parse(t, limited), parse(t, plugged)
	var b strings.Builder
	for _, q := range []struct {
		name string
		c    *config.Config
		q    Question
	}{
		{"one target, and a rule that changes only types", c, Question{Account: "acme", From: "name", To: "4612"}},
		{"a source that becomes too long", c, Question{Account: "acme", From: "xxxxxxxxxxxxxxxx", To: "4612"}},
		{"shares", c, Question{Account: "acme", From: "12345", To: "467"}},
		{"an address that becomes too long on its way out", c, Question{Account: "acme", From: "12345", To: "46712345"}},
		{"a list that allows", c, Question{Account: "other", From: "PMG", To: "46812"}},
		{"a list that refuses", c, Question{Account: "other", From: "PMG", To: "46712"}},
		{"no route", c, Question{Account: "acme", From: "1", To: "33"}},
		{"no route, parked", parks, Question{Account: "acme", From: "1", To: "33"}},
		{"from an SMSC, and back to it", c, Question{Connector: "two", From: "49170", To: "91"}},
		{"from an SMSC, and only back to it", c, Question{Connector: "two", From: "49170", To: "81"}},
		{"from an SMSC, no route", c, Question{Connector: "two", From: "49170", To: "7"}},
		{"to an account on two connectors", c, Question{Connector: "two", From: "49170", To: "12"}},
		{"to an in connector where none receives that", c, Question{Connector: "two", From: "49170", To: "22"}},
		{"all of the extension table", c, Question{Account: "acme", From: "PMG", To: "3", Text: strings.Repeat("€", 80)}},
		{"one more", c, Question{Connector: "one", From: "PMG", To: "3", Text: strings.Repeat("€", 81)}},
		{"not in GSM 7-bit", c, Question{Connector: "one", From: "PMG", To: "3", Text: strings.Repeat("ж", 70)}},
		{"surrogates are not cut", c, Question{Connector: "one", From: "PMG", To: "3", Text: "a" + strings.Repeat("😀", 67)}},
		{"too long", c, Question{Connector: "one", From: "PMG", To: "3", Text: strings.Repeat("a", 255*153+1)}},
		{"texts of several forms", c, Question{Account: "acme", From: "1", To: "77", Text: "Grüße, señor ¿qué?"}},
		{"texts with what few have", c, Question{Account: "acme", From: "1", To: "77", Text: "İstanbul’da ğ"}},
		{"references of 16 bits", c, Question{Connector: "one", From: "1", To: "78", Text: strings.Repeat("a", 161)}},
		{"a long one in tables of a language", c, Question{Account: "acme", From: "1", To: "77", Text: strings.Repeat("İstanbul'da ğ ", 20)}},
		{"a keyword, a validity, receipts that are forced", l, Question{To: "46", Text: "stop it"}},
		{"a validity that is too long, of a message with a delivery time", l, Question{To: "46", DeliverIn: time.Hour, Validity: 5 * time.Hour}},
		{"max_schedule", l, Question{To: "46", DeliverIn: time.Hour + time.Second}},
		{"max_scheduled", l, Question{To: "46", DeliverIn: time.Hour, Text: strings.Repeat("a", 161)}},
		{"max_parts", l, Question{To: "46", Text: "stop " + strings.Repeat("a", 400)}},
		{"a PDU with fields that another protocol lacks", l, Question{PDU: `submit_sm seq=1 source_addr=1 destination_addr=46 short_message="x" language_indicator=0x01 source_port=0x1234`}},
		{"the first of several recipients", l, Question{PDU: `submit_multi seq=3 source_addr=1 number_of_dests=2 dest_flag=1 destination_addr=46 dest_flag=1 destination_addr=47 short_message="stop"`}},
		{"plugins that change it", p, Question{From: "1", To: "461", Text: "Hello"}},
		{"a plugin that refuses it", p, Question{From: "1", To: "461", Text: "casino"}},
		{"a plugin that holds it", p, Question{From: "1", To: "461", Text: "bank"}},
		{"a plugin that refuses it as it leaves", p, Question{From: "1", To: "469", Text: "Hello"}},
		{"a plugin that delays it as it leaves", p, Question{From: "1", To: "468", Text: "Hello"}},
		{"a plugin of another connector", p, Question{From: "1", To: "471", Text: "Hello"}},
		{"a PDU without a destination", l, Question{PDU: `submit_sm seq=1 source_addr=1 short_message="x"`}},
	} {
		a, err := Ask(q.c, newDriver, q.q)
		if err != nil {
			t.Fatalf("%s: %v", q.name, err)
		}
		fmt.Fprintf(&b, "# %s\n%s\n", q.name, a)
	}
	testutil.Fresh(t, "testdata/answers.txt", b.String(), "go test ./cmd/pmg/explain -update")
}

// What a word of a list does is shown, and the reply to it.
func TestOptOut(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(file, []byte("4699\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := parse(t, limited+"lists: [{name: out, file: "+file+", opt_out_from: [one], stop_reply: You are out.}]\n")
	for _, q := range []struct{ from, text, want string }{
		{"46", "Stop", "step opt out: it adds 46 to list out, and is answered \"You are out.\"\n"},
		{"4699", "stop", "step opt out: 4699 is on list out already\n"},
		{"4699", "start", "step opt out: it removes 4699 from list out\n"},
		{"46", "start", "step opt out: 46 is not on list out\n"},
	} {
		a, err := Ask(c, newDriver, Question{Connector: "one", From: q.from, To: "1", Text: q.text})
		if err != nil || strings.Count(a, q.want) != 1 || strings.Count(a, "opt out") != 1 {
			t.Errorf("%+v: %v\n%s", q, err, a)
		}
	}
	if a, err := Ask(c, newDriver, Question{Connector: "one", From: "46", To: "1", Text: "no"}); err != nil || strings.Contains(a, "opt out") {
		t.Errorf("%v\n%s", err, a)
	}
	if b, err := os.ReadFile(file + ".changes"); err == nil && len(b) > 0 {
		t.Errorf("the list has changed: %s", b)
	}
}

// The network of a recipient is shown, and the route that asks for it.
func TestNetwork(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "networks.csv")
	if err := os.WriteFile(file, []byte("prefix,network,name\n4670,24001,Telia\n1,310,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := parse(t, strings.Replace(limited, "routes: [", "networks: {file: "+file+"}\nroutes: [{network: [\"24001\"], to: two}, ", 1))
	for _, q := range []struct{ to, network, route string }{
		{"+46700000001", "24001 (Telia)", "route of network 24001 "}, {"12025550100", "310", "route of all messages "},
		{"4570000001", "not known", "route of all messages "},
	} {
		a, err := Ask(c, newDriver, Question{Account: "acme", From: "1", To: q.to, Text: "text"})
		if err != nil || strings.Count(a, "  step network: its network is "+q.network+"\n") != 1 || !strings.Contains(a, q.route) {
			t.Errorf("%+v: %v\n%s", q, err, a)
		}
	}
}

// What the account pays is shown, and what each target of a route with policy cost costs, in the order in which the policy takes them.
func TestMoney(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"p": "+46,0.045\n", "dear": "*,0.04\n", "cheap": "+46,0.02\n", "mean": "+47,0.01\n", "networks": "4670,24001\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := parse(t, strings.ReplaceAll(`
prices: [{name: p, currency: EUR, file: DIR/p}, {name: dear, currency: EUR, file: DIR/dear}, {name: cheap, currency: EUR, file: DIR/cheap}, {name: mean, currency: EUR, file: DIR/mean}]
networks: {file: DIR/networks}
accounts: [{system_id: acme, password: x, prices: p}, {system_id: free, password: x}]
connectors:
  - {name: clients, direction: in, address: ":1"}
  - {name: second, direction: in, address: ":2"}
  - {name: dear, direction: out, address: "a:1", system_id: x, costs: dear}
  - {name: unknown, direction: out, address: "a:2", system_id: x, costs: mean}
  - {name: cheap, direction: out, address: "a:3", system_id: x, costs: cheap}
routes: [{policy: cost, least_delivered: 85, to: [dear, {account: free}, unknown, cheap]}]
`, "DIR", dir))
	long := strings.Repeat("a", 170)
	for _, q := range []struct{ account, to, text, want string }{
		{"acme", "+46700000001", "hi", "\nAccount acme pays 0.045 EUR for it.\n"},
		{"acme", "+46700000001", long, "\nAccount acme pays 0.09 EUR (2 short messages of 0.045) for it.\n"},
		{"acme", "+46700000001", "hi", "The cheapest target that is up and has delivered 85 % of the latest messages to the network, if that is known, gets"},
		{"acme", "+46700000001", "hi", "\n  1. connector cheap, cost 0.02 EUR: from"},
		{"acme", "+46700000001", "hi", "\n  2. connector dear, cost 0.04 EUR: from"},
		{"acme", "+46700000001", "hi", "\n  3. the sessions of account free on connector clients, cost not known: from"},
		{"acme", "+46700000001", "hi", "\n     or those on connector second, cost not known: from"},
		{"acme", "+46700000001", "hi", "\n  4. connector unknown, cost not known: from"},
		{"free", "+47700000001", "hi", "\n  1. connector unknown, cost 0.01 EUR: from"},
		{"acme", "+47700000001", "hi", "Refused as no_price by step credit: there is no price for network"},
	} {
		a, err := Ask(c, newDriver, Question{Account: q.account, From: "1", To: q.to, Text: q.text})
		if err != nil || strings.Count(a, q.want) != 1 || strings.Contains(a, "pays") != (q.account == "acme" && q.to[2] == '6') {
			t.Errorf("%+v: %v\n%s", q, err, a)
		}
	}
}

// What targets have delivered of late is shown where a gateway knows it: a target that delivers too little comes behind dearer ones, and
// policy quality takes the best.
func TestQualityOfTargets(t *testing.T) {
	t.Parallel()
	const file = `
accounts: [{system_id: acme, password: x}]
networks: {file: DIR/networks}
prices: [{name: dear, currency: EUR, file: DIR/dear}, {name: cheap, currency: EUR, file: DIR/cheap}]
connectors:
  - {name: clients, direction: in, address: ":1"}
  - {name: dear, direction: out, address: "a:1", system_id: x, costs: dear}
  - {name: cheap, direction: out, address: "a:3", system_id: x, costs: cheap}
  - {name: fresh, direction: out, address: "a:4", system_id: x, costs: dear}
routes: [{POLICY, to: [dear, cheap, fresh]}]
`
	dir := t.TempDir()
	for name, text := range map[string]string{"dear": "*,0.04\n", "cheap": "*,0.02\n", "networks": "4670,24001\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	quality := func(name string, n sms.Network) (int, bool) {
		if n.String() != "24001" {
			t.Errorf("asked about network %s", n)
		}
		q, known := map[string]int{"dear": 914, "cheap": 620}[name]
		if !known {
			return connector.MostQuality, false
		}
		return q, true
	}
	for policy, want := range map[string]string{
		"policy: cost":                      "cheap, cost 0.02 EUR, delivers 62.0 %|dear, cost 0.04 EUR, delivers 91.4 %|fresh, cost 0.04 EUR",
		"policy: cost, least_delivered: 85": "dear, cost 0.04 EUR, delivers 91.4 %|fresh, cost 0.04 EUR|cheap, cost 0.02 EUR, delivers 62.0 %",
		"policy: quality":                   "fresh|dear, delivers 91.4 %|cheap, delivers 62.0 %",
		"policy: failover":                  "dear|cheap|fresh",
	} {
		c := parse(t, strings.NewReplacer("DIR", dir, "POLICY", policy).Replace(file))
		a, err := Ask(c, newDriver, Question{From: "1", To: "+46700000001", Text: "hi", Quality: quality})
		var got []string
		for line := range strings.Lines(a) {
			if _, rest, ok := strings.Cut(line, ". connector "); ok {
				name, _, _ := strings.Cut(rest, ": ")
				got = append(got, name)
			}
		}
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("%s: %v\n%s\nnot %s\n%s", policy, err, strings.Join(got, "|"), want, a)
		}
	}
}

// The delivery time that the quiet hours of the recipient make is shown, or that they refuse the message.
func TestQuiet(t *testing.T) {
	t.Parallel()
	clock := func(ahead time.Duration) string { return time.Now().Add(ahead).UTC().Format("15:04") }
	end := clock(2 * time.Hour)
	quiet := fmt.Sprintf("quiet: {from: %q, to: %q, zones: [46=UTC]}", clock(-2*time.Hour), end)
	c := parse(t, strings.Replace(limited, "rate: 1", quiet, 1))
	for _, q := range []struct {
		validity time.Duration
		to, want string
	}{
		{0, "46701740605", "step quiet: it is delivered at "},
		{0, "46701740605", " " + end + " UTC, after the quiet hours of its recipient\n"},
		{0, "46701740605", "step validity: it is valid for 2h0m0s from its delivery time on\n"},
		{0, "47701740605", "step validity: it is valid for 2h0m0s\n"},
		{time.Minute, "46701740605", "Refused as bad_validity by step quiet: its recipient has quiet hours (quiet), and its validity ends before they do."},
	} {
		if a, err := Ask(c, newDriver, Question{To: q.to, Validity: q.validity}); err != nil || !strings.Contains(a, q.want) {
			t.Errorf("%+v: %v\n%s", q, err, a)
		}
	}
}

// A question that has no answer is refused with what to do.
func TestQuestions(t *testing.T) {
	t.Parallel()
	c := load(t, "")
	for want, q := range map[string]Question{
		`cannot explain a message without its origin: name the client with --account (there are: acme, other), or an SMSC with --connector`:         {To: "1"},
		`cannot explain a message without a destination: name one with --to`:                                                                        {Account: "acme"},
		`cannot explain a PDU and other fields: leave out --from, --to, --text, --deliver-in and --validity, because the PDU has them`:              {Connector: "one", To: "1", PDU: "deliver_sm"},
		`cannot explain a PDU that smpp does not know: cannot parse pdu: command "send_sm" is not known`:                                            {Connector: "one", PDU: "send_sm"},
		`cannot explain a PDU without a text: only messages are explained`:                                                                          {Connector: "one", PDU: "enquire_link seq=1"},
		`cannot explain a receipt: it goes to the client of its message, whatever the routes`:                                                       {Connector: "one", PDU: "deliver_sm seq=1 destination_addr=1 esm_class=0x4 short_message=\"x\""},
		`cannot explain a text that is not UTF-8`:                                                                                                   {Connector: "one", From: "PMG", To: "3", Text: "a\xff"},
		`cannot explain: the configuration has no account "nobody"`:                                                                                 {Account: "nobody", To: "1"},
		`cannot explain: the configuration has no connector "three"`:                                                                                {Connector: "three", To: "1"},
		`cannot explain: account other may not log in on connector clients`:                                                                         {Connector: "clients", Account: "other", To: "1"},
		`cannot explain: messages that arrive on connector one come from an SMSC and have no account: leave out --account, or name an in connector`: {Connector: "one", Account: "acme", To: "1"},
		`cannot explain address "` + strings.Repeat("1", 65) + `": it must have at most 64 characters`:                                              {Account: "acme", To: strings.Repeat("1", 65)},
	} {
		if _, err := Ask(c, newDriver, q); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, not %s", q, err, want)
		}
	}
}
