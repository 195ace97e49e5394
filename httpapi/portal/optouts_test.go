package portal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/config"
	"pmg/sms/numbers"
)

// An account sees and changes its own list of opt-outs, number by number and as CSV, as far as its user may; of who else has changed
// it there is no name. Lists that others use, and those that no mobile changes, are as if they did not exist.
func TestOptOuts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lists := "lists: ["
	for _, name := range []string{"outs", "shared", "blocked"} {
		file := filepath.Join(dir, name+".txt")
		if err := os.WriteFile(file, []byte("46700000009\n467111*\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		lists += fmt.Sprintf("{name: %s, file: %s%s}, ", name, file, map[bool]string{true: ", opt_out_from: operator"}[name != "blocked"])
	}
	all := strings.Replace(accounts(", block: [outs, shared, blocked]"), "{system_id: bare,", "{system_id: bare, block: [shared],", 1)
	r := newRig(t, all, "", "", lists+"]")
	operator := numbers.Origin{Source: numbers.API, Who: "token crm", Reason: "an operator's reason"}
	if _, err := r.Gateway.Lists.Change("outs", true, operator, "46700000001"); err != nil {
		t.Fatal(err)
	}
	b, sender, looker, rival := r.user("shop", config.ManageScope), r.user("shop", config.SendScope), r.user("shop", config.LookScope), r.user("rival", config.ManageScope)
	w := b.has("opt-outs?number=%2B46700000001", "It is on the list", ">46700000001</th>", "<td>api</td>", "Remove")
	if strings.Contains(w.body, "token crm") || strings.Contains(w.body, "reason</td>") || strings.Contains(w.body, "shared") || strings.Contains(w.body, "blocked") {
		t.Errorf("%s", w.body)
	}
	b.has("opt-outs?number=46700000009", "It is on the list")
	b.has("opt-outs?number=4671112", "by a prefix")
	b.has("opt-outs?number=46700000002", "It is not on the list")
	b.has("opt-outs?number=4670x", `role="alert"`)
	for _, c := range []struct {
		who  *person
		form []string
		want int
	}{
		{sender, []string{"number", "+46700000002", "reason", "by letter"}, 303}, {sender, []string{"number", "+46700000001", "remove", "1", "reason", "why"}, 403},
		{looker, []string{"number", "46700000003"}, 403}, {b, []string{"number", "46700000001", "remove", "1"}, 422},
		{b, []string{"number", "46700000001", "remove", "1", "reason", "asked for it"}, 303}, {b, []string{"number", "4671112", "remove", "1", "reason", "x"}, 422},
		{b, []string{"number", "4670x"}, 422}, {b, []string{"number", ""}, 422}, {b, []string{"number", "46700000004", "reason", strings.Repeat("a", 201)}, 422},
		{b, []string{"list", "shared", "number", "46700000004"}, 404}, {b, []string{"list", "blocked", "number", "46700000004"}, 404},
		{rival, []string{"list", "outs", "number", "46700000004"}, 404}, {rival, []string{"number", "46700000004"}, 404},
	} {
		if w := c.who.post("opt-outs", c.form...); w.code != c.want {
			t.Errorf("%q: %+v", c.form, w)
		}
	}
	looker.has("opt-outs?number=46700000002", "It is on the list", "<td>page</td><td>send</td>", "by letter")
	csv := looker.has("opt-outs.csv?all=1", "46700000002,yes,", "46700000001,no,", ",page,manage,,", "467111*,yes,")
	if strings.Contains(csv.body, "token") || strings.Contains(csv.body, "operator") {
		t.Error(csv.body)
	}
	if w := b.post("send", "from", "Shop", "to", "+46700000002", "text", "hello"); w.code != 403 {
		t.Errorf("a message to a number that has opted out: %+v", w)
	}
	for _, path := range []string{"opt-outs?list=outs", "opt-outs.csv?list=outs", "opt-outs.csv"} {
		if w := rival.get(path); w.code != 404 || strings.Contains(w.body, "4670") {
			t.Errorf("%s: %+v", path, w)
		}
	}
	rival.has("opt-outs", "No list of opt-outs is your account")
	lines := strings.Join(r.records.lines, "\n")
	if !r.records.has("portal/opt-outs/add map[list:outs]: ok\n") || !r.records.has("portal/opt-outs/remove map[list:outs]: ok\n") || strings.Contains(lines, "4670") {
		t.Error(lines)
	}
}
