package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/httpapi/apitest"
	"pmg/internal/testkit/testutil"
)

// The network of a message stays with it, over a restart with another table: in the answers and calls of the HTTP API for an account
// that may see it, in its event and in that of its receipt, and in the counts of its connector.
func TestNetworkOfMessage(t *testing.T) {
	parallel(t)
	h, dir := apitest.NewHook(t), filepath.Join(t.TempDir(), "events")
	table := filepath.Join(t.TempDir(), "networks.csv")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(table, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("prefix,network,name\n46700,24001,Telia\n1,310,US\n")
	operator := newSMSC(t)
	s := site{
		operator: operator, store: vfs.NewMem(), top: eventsIn(dir) + "networks: {file: " + table + "}\n", more: withAPI,
		accounts: fmt.Sprintf("{system_id: shop, password: s3cret, show_network: true, bind: [transmitter], webhook: \"%s/shop\"}\n", h.URL) +
			"{system_id: other, password: s3cret, bind: [transmitter]}\n",
		routes: "{network: \"24001\", to: operator}\n",
	}
	operator.down() // so that messages wait
	g := start(t, s)
	ids := map[string]string{}
	shows := func(name, want string) {
		t.Helper()
		a := g.api()
		a.name = name
		if ids[name] == "" {
			ids[name] = a.do("POST", "/v1/messages", `{"from":"1234","to":"+46700000001","text":"hello","receipt":"all"}`).want(t, 202, "").text("id")
		}
		for _, path := range []string{"/v1/messages/" + ids[name], "/v1/messages"} {
			if r := a.do("GET", path, ""); strings.Contains(r.body, `"network"`) != (want != "") || !strings.Contains(r.body, want) {
				t.Errorf("%s sees %s", name, r.body)
			}
		}
	}
	shows("shop", `"network":"24001"`)
	shows("other", "")
	a := g.api()
	a.do("POST", "/v1/messages", `{"from":"1234","to":"+12025550100","text":"hello"}`).want(t, 422, "")
	g.stop()

	put("prefix,network\n4670,24007\n")
	s.routes = "{to: operator}\n"
	operator.up()
	g = start(t, s)
	shows("shop", `"network":"24001"`)
	smsc := operator.session()
	for i := range 2 {
		smsc.accepts(fmt.Sprint("70000", i))
	}
	smsc.fence()
	for i := range 2 {
		smsc.send(receiptOf(fmt.Sprint("70000", i), "DELIVRD"))
		smsc.want("deliver_sm_resp")
	}
	testutil.Eventually(t, "the webhook was called", func() bool { return len(h.Calls("/shop")) >= 2 })
	for _, c := range h.Calls("/shop") {
		if !strings.Contains(c.Body, `"network":"24001"`) {
			t.Errorf("the webhook was called with %s", c.Body)
		}
	}
	shows("shop", `"network":"24001"`)
	shows("other", "")
	testutil.Eventually(t, "everything has ended", func() bool { return g.Pending() == 0 })
	counts := g.stats("operator").Networks.Counts()
	if len(counts) != 1 || counts[0].Network.String() != "24001" || counts[0].Sent != 2 || counts[0].Delivered != 2 {
		t.Errorf("%+v", counts)
	}
	smsc.conn.Close()
	g.stop()
	kinds := map[string]int{}
	for _, e := range readEvents(t, dir) {
		if kinds[e.Kind]++; e.Network != "24001" {
			t.Errorf("%+v", e)
		}
	}
	if kinds["submit"] != 2 || kinds["receipt"] == 0 {
		t.Errorf("%v", kinds)
	}
}

// A table that has changed is in force for the next message, without a reload; one that is damaged is a problem, and the one before
// stays in force.
func TestNetworksChange(t *testing.T) {
	parallel(t)
	table := filepath.Join(t.TempDir(), "networks.csv")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(table, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("46700,24001\n")
	g := start(t, site{
		operator: newSMSC(t), memory: true, top: "networks: {file: " + table + "}\n",
		routes: "{network: [\"24001\", \"24005\"], to: operator}\n",
	})
	c, n := g.bind("transmitter"), 0
	submits := func(status string) bool {
		n++
		c.send(fmt.Sprintf(`submit_sm seq=%d source_addr=1 destination_addr=46700000001 short_message="a"`, n))
		return strings.Contains(c.want("submit_sm_resp", fmt.Sprintf("seq=%d", n)), "status="+status)
	}
	if !submits("0") {
		t.Error("a message to a network with a route was refused")
	}
	put("46700,24007\n46701,24005\n")
	testutil.Eventually(t, "the new table is in force", func() bool { return submits("0xb") })
	put("46700,24001\n46700,24005\n")
	problem := func() bool {
		return strings.Contains(strings.Join(g.Problems(), "\n"), "networks.csv:2: its numbers are of network 24005")
	}
	testutil.Eventually(t, "the damaged table is a problem", problem)
	if !submits("0xb") {
		t.Error("a damaged table is in force")
	}
	put("46700,24005\n46701,24001\n")
	testutil.Eventually(t, "the mended table is in force", func() bool { return submits("0") })
	testutil.Eventually(t, "there is no problem any more", func() bool { return !problem() })
}
