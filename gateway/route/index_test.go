package route

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pmg/config"
	"pmg/internal/smstext"
	"pmg/sms"
)

// nameOf resolves a target to the name of its connector or account.
func nameOf(t config.Target) string { return t.Connector + t.Account }

func everyone(string) bool { return true }

// indexOf builds from the routes of a configuration, with connectors a, b and c
// and accounts x and y.
func indexOf(t testing.TB, routes string) *index[string] {
	t.Helper()
	c, _, err := config.Parse([]byte(`
accounts: [{system_id: x, password: x, receives: ""}, {system_id: y, password: y}]
connectors:
  - {name: a, direction: out, address: "a:1", system_id: x}
  - {name: b, direction: out, address: "b:1", system_id: x}
  - {name: c, direction: in, address: ":0"}
routes:
`+routes), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return newIndex(c.Routes, nameOf)
}

// row returns the index of the route that Route returns, or -1.
func row(tab *index[string], account, from, dest, source string) int {
	found, ok := tab.Route(&Traits{Account: account, From: from, Dest: withoutPlus([]byte(dest)), Source: withoutPlus([]byte(source))})
	for i := range tab.routes {
		if ok && found == &tab.routes[i] {
			return i
		}
	}
	return -1
}

// A keyword is the first word of a text, in any letter case; a route with one takes no other
// texts, and the others are as without it.
func TestKeyword(t *testing.T) {
	t.Parallel()
	tab := indexOf(t, `
  - {destination: "46", keyword: [stop, "NÄR"], to: a}
  - {account: x, keyword: "7", to: b}
  - {to: c}
`)
	for text, want := range map[string]int{
		"stop": 0, " *Stop*, please": 0, "STOP.": 0, "stopped": 2, "please stop": 2, "": 2, "...": 2, "när?": 0, "7 of us": 1,
	} {
		r, ok := tab.Route(&Traits{Account: "x", From: "c", Dest: []byte("4670"), Keyword: smstext.FirstWord(text)})
		if !ok || r.Index != want {
			t.Errorf("%q takes another route than %d", text, want)
		}
	}
	if r, _ := tab.Route(&Traits{Account: "x", From: "c", Dest: []byte("4770"), Keyword: smstext.FirstWord("stop")}); r.Index != 2 || !tab.keywords {
		t.Error("the keyword counts alone")
	}
	if r, _ := tab.Route(&Traits{Account: "x", From: "c", Dest: []byte("4670")}); r.Index != 2 {
		t.Error("a message without a text has a keyword")
	}
}

// A route with tags takes messages that have one of them, and no others.
func TestTagged(t *testing.T) {
	t.Parallel()
	tab := indexOf(t, `
  - {destination: "46", tag: [vip, "net:24001"], to: a}
  - {account: x, tag: spam, to: b}
  - {to: c}
`)
	for tags, want := range map[string]int{
		"": 2, "vip": 0, "net:24001": 0, "a vip b": 0, "vi": 2, "vip2": 2, "spam": 1, "spam vip": 0, "net": 2,
	} {
		if r, _ := tab.Route(&Traits{Account: "x", Dest: []byte("4670"), Tags: []byte(tags)}); r == nil || r.Index != want {
			t.Errorf("%q takes another route than %d", tags, want)
		}
	}
	if r, _ := tab.Route(&Traits{Dest: []byte("4770"), Tags: []byte("vip spam")}); r == nil || r.Index != 2 {
		t.Error("a tag counts alone")
	}
}

// A route with networks takes messages to numbers of these, of any network of a country, or to numbers of which none is known.
func TestByNetwork(t *testing.T) {
	t.Parallel()
	tab := indexOf(t, `
  - {network: ["24001", "24007"], destination: "46", to: a}
  - {network: "240", to: b}
  - {account: y, network: unknown, to: b}
  - {account: x, network: "310410", source: PMG, to: a}
  - {network: ["310410", "310410"], tag: vip, to: a}
  - {to: c}
`)
	for _, c := range []struct {
		network, dest, account string
		want                   int
	}{
		{"24001", "46701", "x", 0}, {"24007", "46701", "y", 0}, {"24001", "47701", "x", 1}, {"24005", "46701", "x", 1}, {"240", "46701", "x", 1},
		{"240001", "46701", "", 1}, {"", "46701", "x", 5}, {"", "46701", "y", 2}, {"24101", "46701", "y", 5}, {"310410", "1", "x", 3},
		{"310410", "1", "y", 4}, {"310411", "1", "x", 5},
	} {
		network, _ := sms.ReadNetwork(c.network)
		of := Traits{Account: c.account, Dest: []byte(c.dest), Source: []byte("PMG"), Tags: []byte("vip"), Network: network}
		if r, _ := tab.Route(&of); r == nil || r.Index != c.want {
			t.Errorf("%+v takes another route: %+v", c, r)
		}
	}
}

func TestIndexedRoute(t *testing.T) {
	t.Parallel()
	tab := indexOf(t, `
  - {account: x, destination: "4670", to: a}
  - {destination: "+46", source: PMG, to: b}
  - {from: a, to: c}
  - {account: y, source: "+45", to: a}
  - {destination: 467, to: b}
  - {account: y, destination: "", to: c}
  - {destination: "4", from: c, to: a}
`)
	for _, c := range []struct {
		account, from, dest, source string
		want                        int
	}{
		{"x", "c", "46701", "123", 0},
		{"x", "c", "+46701", "123", 0},
		{"x", "c", "4670", "123", 0},
		{"x", "c", "467", "123", 4},
		{"y", "c", "46701", "123", 4},
		{"y", "c", "46801", "PMG", 1},
		{"x", "c", "+46801", "PMGS", 1},
		{"x", "c", "46801", "pmg", 6},
		{"", "a", "46701", "123", 2},
		{"", "a", "46701", "PMG", 1},
		{"y", "c", "33", "4512", 3},
		{"y", "c", "33", "+4512", 3},
		{"y", "c", "33", "33", 5},
		{"y", "c", "", "", 5},
		{"x", "c", "33", "33", -1},
		{"z", "b", "4", "", -1},
		{"", "c", "", "", -1},
		{"x", "c", "+", "+", -1},
	} {
		got := row(tab, c.account, c.from, c.dest, c.source)
		if got != c.want {
			t.Errorf("message of %q from %s to %q, source %q: route %d, want %d", c.account, c.from, c.dest, c.source, got, c.want)
		}
	}
}

// It depends on the keyword where a route with one comes before that without, and takes the message
// otherwise.
func TestDependsOnKeyword(t *testing.T) {
	t.Parallel()
	tab := indexOf(t, `
  - {from: a, destination: "72", keyword: [VOTE], to: c}
  - {from: a, to: c}
  - {from: b, to: c}
  - {from: b, keyword: [STOP], to: c}
  - {from: a, destination: "73", keyword: [STOP], to: c}
`)
	for _, f := range []struct {
		from, dest string
		want       bool
	}{{"a", "7212", true}, {"a", "7112", false}, {"a", "7312", false}, {"b", "7212", false}, {"c", "72", false}} {
		if got := tab.DependsOnKeyword(Traits{From: f.from, Dest: []byte(f.dest)}); got != f.want {
			t.Errorf("from %s to %s: %t", f.from, f.dest, got)
		}
	}
}

// The index finds the same route as a linear search.
func TestRouteAgainstLinear(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	oneOf := func(words ...string) string { return words[r.IntN(len(words))] }
	digits := func(n int) string {
		return strings.Repeat("1", r.IntN(n)) + strings.Repeat("2", r.IntN(n))
	}
	for range 200 {
		routes := make([]config.Route, r.IntN(12))
		for i := range routes {
			routes[i] = config.Route{Account: oneOf("", "x", "y"), From: oneOf("", "a", "b"), Source: digits(2)}
			for range r.IntN(4) { // none of them is as any
				routes[i].Destination = append(routes[i].Destination, oneOf("", "+")+digits(3))
			}
		}
		tab := newIndex(routes, nameOf)
		for range 50 {
			account, from, dest, source := oneOf("", "x", "y", "z"), oneOf("a", "b", "c"), digits(5), digits(4)
			want := -1
			for i, c := range routes {
				if (c.Account == "" || c.Account == account) && (c.From == "" || c.From == from) &&
					slices.ContainsFunc(c.Prefixes(), func(p string) bool { return strings.HasPrefix(dest, p) }) && strings.HasPrefix(source, c.Source) {
					want = i
					break
				}
			}
			got := row(tab, account, from, dest, source)
			if got != want {
				t.Fatalf("message of %q from %s to %q, source %q: route %d, want %d of %+v", account, from, dest, source, got, want, routes)
			}
		}
	}
}

// An account can be a target, like a connector.
func TestAccountTargets(t *testing.T) {
	t.Parallel()
	r, _ := indexOf(t, "  - {to: [{account: x}, b, {account: y}]}").Route(&Traits{})
	for up, want := range map[string]string{"xby": "x", "by": "b", "y": "y", "": "x"} {
		if got := pickOf(r, 0, func(to string) bool { return strings.Contains(up, to) }); got != want {
			t.Errorf("with %q up: %s, want %s", up, got, want)
		}
	}
	r, _ = indexOf(t, "  - {to: [{account: x, weight: 3}, b]}").Route(&Traits{})
	got := map[string]int{}
	for range 400 {
		got[pickOf(r, 0, everyone)]++
	}
	if n := got["x"]; n < 297 || n > 303 || len(got) != 2 {
		t.Errorf("by weight: %v of 400, want 300 for x", got)
	}
}

func TestFailover(t *testing.T) {
	t.Parallel()
	r, _ := indexOf(t, "  - {to: [a, b, c]}").Route(&Traits{})
	for up, want := range map[string]string{"abc": "a", "bc": "b", "c": "c", "": "a"} {
		if got := pickOf(r, 0, func(c string) bool { return strings.Contains(up, c) }); got != want {
			t.Errorf("with %q up: %s, want %s", up, got, want)
		}
	}
}

func TestWeighted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		up   string
		want map[string]int // of 1000
	}{
		{"abc", map[string]int{"a": 600, "b": 300, "c": 100}},
		{"ab", map[string]int{"a": 667, "b": 333}},
		{"bc", map[string]int{"b": 750, "c": 250}},
		{"c", map[string]int{"c": 1000}},
		{"", map[string]int{"a": 600, "b": 300, "c": 100}},
	} {
		r, _ := indexOf(t, "  - to: [{connector: a, weight: 6}, {connector: b, weight: 3}, c]").Route(&Traits{})
		up := func(connector string) bool { return strings.Contains(c.up, connector) }
		got := map[string]int{}
		inRow, longest, last := 0, 0, ""
		for range 1000 {
			to := pickOf(r, 0, up)
			got[to]++
			if to != last {
				inRow, last = 0, to
			}
			inRow++
			longest = max(longest, inRow)
		}
		if longest > 4 && len(c.up) != 1 {
			t.Errorf("with %q up one is picked %d times in a row", c.up, longest)
		}
		for to, want := range c.want {
			if n := got[to]; n < want-5 || n > want+5 || len(got) != len(c.want) {
				t.Errorf("with %q up: %v of 1000, want %v", c.up, got, c.want)
			}
		}
	}
}

// Targets that have failed are not picked again, whatever the policy.
func TestPickUntried(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"  - to: [a, b, c]": "a b c -",
		"  - to: [{connector: a, weight: 6}, {connector: b, weight: 3}, c]": "",
	} {
		r, _ := indexOf(t, to).Route(&Traits{})
		for range 20 {
			var tried uint16
			got := ""
			for range 4 {
				i, ok := r.PickUntried(tried, 0, everyone)
				if !ok {
					got += "-"
					break
				}
				if tried>>i&1 != 0 {
					t.Errorf("%s: %d is picked again", to, i)
				}
				tried |= 1 << i
				got += r.Targets[i].To + " "
			}
			if tried != 7 || want != "" && got != want {
				t.Errorf("%s: %s", to, got)
			}
		}
		if i, ok := r.PickUntried(1, 0, func(c string) bool { return c == "c" }); !ok || r.Targets[i].To != "c" {
			t.Errorf("%s: with c up alone %d, %t", to, i, ok)
		}
		if _, ok := r.PickUntried(1, 0, func(c string) bool { return c == "a" }); ok {
			t.Errorf("%s: a is picked again", to)
		}
	}
}

// pickOf returns the target that a route takes for a new message.
func pickOf(r *Route[string], together uint64, up func(string) bool) string {
	i, ok := r.PickUntried(0, together, up)
	if !ok {
		i, _ = r.PickUntried(0, together, func(string) bool { return true })
	}
	return r.Targets[i].To
}

// Messages that belong together take the same target, and different ones are shared by weight.
func TestPickTogether(t *testing.T) {
	t.Parallel()
	r, _ := indexOf(t, "  - to: [{connector: a, weight: 6}, {connector: b, weight: 3}, c]").Route(&Traits{})
	got := map[string]int{}
	for n := range uint64(1000) {
		to := pickOf(r, n+1, everyone)
		got[to]++
		if pickOf(r, 0, everyone); pickOf(r, n+1, everyone) != to {
			t.Fatalf("messages with number %d take two targets", n+1)
		}
	}
	if got["a"] < 580 || got["a"] > 620 || got["c"] < 80 || got["c"] > 120 {
		t.Errorf("%v of 1000", got)
	}
}

// Routes with the same targets have the same number, and others another.
func TestNumber(t *testing.T) {
	t.Parallel()
	number := func(to string) uint16 {
		r, _ := indexOf(t, "  - to: ["+to+"]").Route(&Traits{})
		return r.number
	}
	if number("a, b") != number("a, {connector: b, weight: 3}") || number("a, b") == number("b, a") || number("a, b") == number("a, b, c") {
		t.Errorf("%d %d %d", number("a, b"), number("b, a"), number("a, b, c"))
	}
}

func TestNoAllocation(t *testing.T) {
	tab := indexOf(t, "  - {account: x, destination: 46, source: \"1\", to: a, policy: weighted}\n  - {to: [a, b]}")
	dest, source := []byte("46700000001"), []byte("123")
	if n := testing.AllocsPerRun(100, func() {
		for _, account := range []string{"x", "y"} {
			r, _ := tab.Route(&Traits{Account: account, From: "c", Dest: dest, Source: source, Tags: []byte("a b")})
			pickOf(r, 0, everyone)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkRoute measures finding a route and picking a target, by number of routes.
// Only the last route matches.
func BenchmarkRoute(b *testing.B) {
	for _, n := range []int{1, 10, 10_000} {
		b.Run("routes="+strconv.Itoa(n), func(b *testing.B) {
			routes := make([]config.Route, n)
			for i := range routes {
				routes[i] = config.Route{Destination: []string{fmt.Sprint(46, 70_000+i)}, To: []config.Target{{Connector: "a"}}}
			}
			routes[n-1].Destination = nil
			tab := newIndex(routes, nameOf)
			dest, source := []byte("+4679999999"), []byte("12345")
			b.ReportAllocs()
			for b.Loop() {
				r, _ := tab.Route(&Traits{Account: "x", From: "c", Dest: dest, Source: source})
				pickOf(r, 0, everyone)
			}
		})
	}
}

func BenchmarkPick(b *testing.B) {
	for _, policy := range []string{config.Failover, config.Weighted} {
		b.Run("policy="+policy, func(b *testing.B) {
			tab := newIndex([]config.Route{{Policy: policy, To: []config.Target{{Connector: "a", Weight: 3}, {Connector: "b", Weight: 1}}}}, nameOf)
			r, _ := tab.Route(&Traits{})
			b.ReportAllocs()
			for b.Loop() {
				pickOf(r, 0, everyone)
			}
		})
	}
}

// What no route matches has none.
func TestNoRoute(t *testing.T) {
	t.Parallel()
	tab := indexOf(t, "  - {destination: \"46\", to: a}\n  - {account: x, destination: \"47\", to: b}")
	for _, c := range []struct {
		account, dest string
		found         bool
	}{{"", "46", true}, {"x", "4670", true}, {"x", "47", true}, {"y", "47", false}, {"", "4", false}, {"", "", false}, {"x", "48", false}} {
		if r, ok := tab.Route(&Traits{Account: c.account, Dest: []byte(c.dest)}); ok != c.found || ok != (r != nil) {
			t.Errorf("%s, %s: %v, %t", c.account, c.dest, r, ok)
		}
	}
}

// Targets behind the sixteenth have no bit of their own: once one has failed they are not picked.
func TestManyTargets(t *testing.T) {
	t.Parallel()
	route := config.Route{To: []config.Target{{Connector: "b", Weight: 1}}}
	for range 16 {
		route.To = slices.Insert(route.To, 0, config.Target{Connector: "a", Weight: 1})
	}
	r, _ := newIndex([]config.Route{route}, nameOf).Route(&Traits{})
	onlyB := func(c string) bool { return c == "b" }
	if i, ok := r.PickUntried(0, 0, onlyB); !ok || i != 16 {
		t.Errorf("the last one, with none tried: %d, %t", i, ok)
	}
	if i, ok := r.PickUntried(1, 0, onlyB); ok {
		t.Errorf("the last one, with one tried: %d", i)
	}
	if i, ok := r.PickUntried(1, 0, everyone); !ok || i != 1 || r.weighted {
		t.Errorf("the second: %d, %t", i, ok)
	}
	if weighted, _ := indexOf(t, "  - to: [{connector: a, weight: 2}, b]").Route(&Traits{}); !weighted.weighted {
		t.Error("weights are not seen")
	}
}
