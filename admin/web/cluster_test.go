package web

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pmg/cluster/report"
	"pmg/config"
)

// The page shows the nodes as pmg cluster status does, to those who may look, and is absent where the gateway is alone.
func TestCluster(t *testing.T) {
	t.Parallel()
	now := time.Now()
	known := func() *report.Report {
		return &report.Report{
			Node: "a", Owner: "a", Figures: report.Figures{Owner: true, Epoch: 3, Heartbeat: 0.2},
			Nodes: []report.State{
				{Node: "a", State: "owner", Epoch: 3, Applied: 48211, Config: "77f3", Version: "v1", At: now,
					Full: report.Fullness{Share: 0.634, Of: "the limit of the stream PMG"}},
				{Node: `<b>"c`, State: "standby", Epoch: 3, Applied: 48200, Reason: "its <i>configuration</i> differs", At: now},
				{Node: "d", State: "standby", Epoch: 3, Applied: 48211, At: now.Add(-time.Hour)},
			},
		}
	}
	base := "http://" + startNode(t, known).Addr()
	c := visitor(t, base, config.LookScope)
	code, body, _ := ask(t, c, "GET", base+"/ui/cluster", nil)
	for _, want := range []string{
		"<h1>Cluster</h1>", "48,211", ">11<", "&lt;b&gt;&#34;c", "its &lt;i&gt;configuration&lt;/i&gt; differs", ">silent<",
		"Another node could take over</dt><dd><span data-k=\"ready\">no<", `href="/ui/cluster" aria-current="page"`, "data-stream",
		`Stream of the journal</dt><dd><span data-k="full">63 % of the limit of the stream PMG is used<`, "start the other nodes, or raise the limit",
	} {
		if code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%d, without %q: %s", code, want, body)
		}
	}
	if code, body, _ = ask(t, c, "GET", base+"/ui/cluster?filter=owner&sort=-record", nil); code != http.StatusOK || strings.Contains(body, ">silent<") {
		t.Errorf("%d: it is not filtered: %s", code, body)
	}
	if code, _, h := ask(t, visitor(t, base, ""), "GET", base+"/ui/cluster", nil); code != http.StatusSeeOther || !strings.HasPrefix(h.Get("Location"), "/ui/login") {
		t.Errorf("nobody has logged in: %d", code)
	}
	alone, _ := start(t)
	c = visitor(t, alone, config.LookScope)
	if code, body, _ = ask(t, c, "GET", alone+"/ui/cluster", nil); code != http.StatusNotFound || strings.Contains(body, `href="/ui/cluster"`) {
		t.Errorf("a gateway that is alone: %d %s", code, body)
	}
}
