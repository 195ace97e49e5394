package web

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pmg/config"
)

// A moved route comes to its place, whatever orders and names there are, and the others stay in theirs. Most moves change one.
func TestMoved(t *testing.T) {
	t.Parallel()
	for _, orders := range [][]int{
		{0, 0, 0, 0}, {0, 0, 0, 1}, {0, 1, 2, 3}, {10, 20, 30, 40}, {highestOrder, highestOrder, highestOrder, highestOrder}, {0, highestOrder, highestOrder, highestOrder},
		{5, 5, 7, 8},
	} {
		for from := range 4 {
			for to := range 4 {
				var all, want []position
				for i, name := range []string{"a", "b", "c", "d"} {
					all = append(all, position{name, orders[i]})
				}
				want = slices.Insert(slices.Delete(slices.Clone(all), from, from+1), to, all[from])
				changed := moved(all, from, to)
				for _, p := range changed {
					all[slices.IndexFunc(all, func(q position) bool { return q.name == p.name })] = p
					if p.order < 0 || p.order > highestOrder {
						t.Errorf("%v, %d to %d: order %d", orders, from, to, p.order)
					}
				}
				slices.SortFunc(all, position.before)
				for i := range all {
					if all[i].name != want[i].name {
						t.Errorf("%v, %d to %d: %v, not %v", orders, from, to, all, want)
						break
					}
				}
				if orders[0] == 10 && len(changed) != 1 {
					t.Errorf("%v, %d to %d: %d are changed", orders, from, to, len(changed))
				}
			}
		}
	}
}

var (
	routeHead = regexp.MustCompile(`<th scope="row">([^<]*)</th>`)
	seenInput = regexp.MustCompile(`name="seen" value="([^"]*)"`)
)

// Routes are made, edited and moved by the pages, with a message that is tried before and after. A page that is not up to date
// moves nothing, and neither does who may only look.
func TestRoutes(t *testing.T) {
	t.Parallel()
	_, base, dir, _ := startOffice(t)
	c := visitor(t, base, config.AdministerScope)
	order := func() (names string, text string) {
		_, text, _ = ask(t, c, "GET", base+"/ui/routing", nil)
		for _, m := range routeHead.FindAllStringSubmatch(text, -1) {
			names += m[1] + " "
		}
		return names, text
	}
	move := func(name, way, seen string) string {
		code, text, _ := ask(t, c, "POST", base+"/ui/routing", url.Values{"name": {name}, way: {"1"}, "seen": {seen}})
		if code != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", name, code, text)
		}
		_, text, _ = ask(t, c, "GET", base+"/ui/routing", nil)
		return html.UnescapeString(text)
	}
	made := fill(t, c, base+"/ui/new/route").set("name", "sweden", "o.destination", "46, 47")
	made.send("compare", `<a href="/ui/connectors" aria-current="page">Connections</a>`, "Nothing has changed: see the fields below", `<strong class="bad" role="alert">must have to`)
	made.set("o.to.connector", "", "o.to.account", "nobody").send("compare", "names no account")
	made.set("o.to.account", "fixed", "try.to", "+46701", "try.account", "fixed").send(
		"compare", "routes[sweden]: absent -> {destination: [\"46\", \"47\"], to: account fixed}", "The message with the change", "2 routes, fixed to +46701", "The message as it is", "1 routes, fixed to +46701",
	).send("put", "In force, as change 1")
	if b, err := os.ReadFile(filepath.Join(dir, "routes", "sweden.yaml")); err != nil || string(b) != "destination: [\"46\",\"47\"]\nto: [{\"account\":\"fixed\"}]\n" {
		t.Errorf("%s %v", b, err)
	}
	fill(t, c, base+"/ui/new/route").set("name", "sweden", "o.to.account", "fixed").send("compare", "there is one of this name")
	like := fill(t, c, base+"/ui/new/route?like=sweden").set("name", "norway", "o.destination", "47")
	like.send("compare", "routes[norway]: absent")
	like.send("put", "In force, as change 2")
	fill(t, c, base+"/ui/managed/routes.norway").set("o.source", "1234").send("compare", "routes[norway]: {destination: [\"47\"], to: account fixed} -> {destination: [\"47\"], source: \"1234\", to: account fixed}").send("put", "In force, as change 3")
	fill(t, c, base+"/ui/new/route?like=sweden").set("name", "all", "o.destination", "4").send("compare", "routes/norway.yaml is never reached: the route in routes/all.yaml takes all of its messages").send("put", "In force, as change 4")

	names, text := order()
	if names != "all norway sweden line 9 " || strings.Count(text, `>Up<`) != 2 || strings.Count(text, `>Down<`) != 2 || !strings.Contains(text, "in the file") {
		t.Errorf("%s: %s", names, text)
	}
	seen := seenInput.FindStringSubmatch(text)[1]
	if text = move("sweden", "up", seen); !strings.Contains(text, "In force, as change 7") {
		t.Error(text)
	}
	if names, _ = order(); names != "all sweden norway line 9 " {
		t.Error(names)
	}
	if text = move("sweden", "up", seen); !strings.Contains(text, "Nothing has moved: the routes have changed since") {
		t.Error(text)
	}
	_, text = order()
	seen = seenInput.FindStringSubmatch(text)[1]
	for _, w := range []struct{ name, way, want string }{
		{"none", "up", "the routes have changed"}, {"../accounts/x", "up", "the routes have changed"}, {"all", "up", "it is there already"}, {"norway", "down", "it is there already"},
		{"all", "down", "In force, as change 8"},
	} {
		if text = move(w.name, w.way, seen); !strings.Contains(text, w.want) {
			t.Errorf("%+v: %s", w, text)
		}
	}
	if names, _ = order(); names != "sweden all norway line 9 " {
		t.Error(names)
	}
	look := visitor(t, base, config.LookScope)
	if code, _, _ := ask(t, look, "POST", base+"/ui/routing", url.Values{"name": {"all"}, "up": {"1"}, "seen": {seen}}); code != http.StatusForbidden {
		t.Error(code)
	}
	if _, text, _ := ask(t, look, "GET", base+"/ui/routing", nil); strings.Contains(text, "Actions") || strings.Contains(text, "New route") {
		t.Error(text)
	}
}

// A list is made by the form with an empty file, edited, and found on the page of lists; what it needs is said.
func TestListByForm(t *testing.T) {
	t.Parallel()
	_, base, dir, _ := startOffice(t)
	c := visitor(t, base, config.AdministerScope)
	made := fill(t, c, base+"/ui/new/list").set("name", "optouts", "o.stop_reply", "Goodbye, Åsa")
	made.send("compare", "Nothing has changed: see the fields below")
	made.set("o.stop_reply", "").send("compare", "lists[optouts]: absent -> added", "lists/optouts.txt: 0 lines -> 1 lines", "lists/optouts.yaml is not used").send("put", "In force, as change")
	if b, err := os.ReadFile(filepath.Join(dir, "lists", "optouts.txt")); err != nil || string(b) != noNumbers {
		t.Errorf("%q %v", b, err)
	}
	fill(t, c, base+"/ui/managed/lists.optouts").set("o.stop", "STOP, NEJ TACK").send("compare", `-> [STOP, "NEJ TACK"]`)
	if _, text, _ := ask(t, c, "GET", base+"/ui/lists", nil); !strings.Contains(text, "optouts") || !strings.Contains(text, "New list") {
		t.Error(text)
	}
	if _, text, _ := ask(t, c, "GET", base+"/ui/lists/optouts", nil); !strings.Contains(text, "Edit this list") {
		t.Error(text)
	}
	fill(t, c, base+"/ui/new/list?like=optouts").set("name", "more").send("compare", "lists[more]: absent -> added").send("put", "In force")
}

// explained says how many routes a configuration has.
func explained(c *config.Config, q Question) (string, error) {
	return fmt.Sprintf("%d routes, %s to %s", len(c.Routes), q.Account, q.To), nil
}
