package admin

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"pmg/cluster/report"
)

const monitoring = "../docs/monitoring"

// A query is an expression of a rule or a panel.
type query struct{ where, expr string }

type alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func alerts(t *testing.T) (all []alert) {
	t.Helper()
	b, err := os.ReadFile(monitoring + "/pmg.rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []struct{ Rules []alert } }
	if err := yaml.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("no rules")
	}
	return all
}

type dashboard struct {
	UID, Title string
	Templating struct {
		List []struct{ Name, Type, Definition string }
	}
	Panels []struct {
		ID                       int
		Type, Title, Description string
		GridPos                  struct{ H, W, X, Y int }
		Targets                  []struct{ Expr string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	b, err := os.ReadFile(monitoring + "/pmg.dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// queries returns the expressions of rules and dashboard, with values for Grafana's variables.
func queries(t *testing.T) (all []query) {
	t.Helper()
	for _, a := range alerts(t) {
		all = append(all, query{a.Alert, a.Expr})
	}
	values := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*", "$connector", ".*", "$account", ".*")
	d := readDashboard(t)
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all = append(all, query{p.Title, values.Replace(target.Expr)})
		}
	}
	for _, v := range d.Templating.List {
		if inner := regexp.MustCompile(`^label_values\((.*), (\w+)\)$`).FindStringSubmatch(v.Definition); inner != nil {
			all = append(all, query{"variable " + v.Name, "sum by (" + inner[2] + ") (" + values.Replace(inner[1]) + ")"})
		}
	}
	return all
}

// exported returns the metrics that /metrics may show, which TestMetrics compares with a gateway,
// each with its labels.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{"up": nil}
	for _, m := range metrics(nil) {
		all[m.name] = m.labels
		if m.kind == histogram {
			all[m.name+"_bucket"] = append(slices.Clone(m.labels), "le")
			all[m.name+"_count"], all[m.name+"_sum"] = m.labels, m.labels
		}
	}
	r := prometheus.NewRegistry()
	r.MustRegister(newGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		all[f.GetName()] = nil
	}
	return all
}

// unknowns returns the metrics and labels of an expression that no gateway has.
func unknowns(expr string, all map[string][]string) (wrong []string) {
	plain := regexp.MustCompile(`"(\\.|[^"\\])*"`).ReplaceAllString(expr, `""`)
	labels := []string{"job", "instance"}
	for _, m := range regexp.MustCompile(`\b(up|(?:pmg|process|go)_\w+)\b(?:\{([^}]*)\})?`).FindAllStringSubmatch(plain, -1) {
		own, ok := all[m[1]]
		if !ok {
			wrong = append(wrong, m[1])
			continue
		}
		labels = append(labels, own...)
		for _, l := range regexp.MustCompile(`(\w+)\s*[=!]`).FindAllStringSubmatch(m[2], -1) {
			if l[1] != "job" && l[1] != "instance" && !slices.Contains(own, l[1]) {
				wrong = append(wrong, m[1]+"{"+l[1]+"}")
			}
		}
	}
	for _, m := range regexp.MustCompile(`\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)`).FindAllStringSubmatch(plain, -1) {
		for l := range strings.SplitSeq(m[1], ",") {
			if l = strings.TrimSpace(l); l != "" && !slices.Contains(labels, l) {
				wrong = append(wrong, l)
			}
		}
	}
	return wrong
}

func TestUnknowns(t *testing.T) {
	all := exported(t)
	for expr, want := range map[string]string{
		`rate(pmg_connector_pdus_total{connector="a",status!~"x{y=z}"}[5m])`:              "",
		`sum by (job, connector) (pmg_connector_sessions_ready{instance=~".*"}) > 3`:      "",
		`sum by (le) (rate(pmg_connector_answer_seconds_bucket[5m]))`:                     "",
		`pmg_nothing == 0 and up{job="pmg"} == 1`:                                         "pmg_nothing",
		`pmg_connector_sessions_ready{conector="a"}`:                                      "pmg_connector_sessions_ready{conector}",
		`sum by (account) (pmg_connector_sessions_ready)`:                                 "account",
		`process_nothing_seconds + on (instance) pmg_account_sessions{account="a",b="c"}`: "process_nothing_seconds pmg_account_sessions{b}",
	} {
		if got := strings.Join(unknowns(expr, all), " "); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}

// Rules and dashboard ask for metrics and labels that a gateway has.
func TestDocumentsMonitoring(t *testing.T) {
	all := exported(t)
	for _, q := range queries(t) {
		for _, name := range unknowns(q.expr, all) {
			t.Errorf("%s: no gateway has %s", q.where, name)
		}
	}
}

// The alerts and the page of clusters have the shares of a full stream from which on the log and pmg cluster status say so.
func TestDocumentsFullStream(t *testing.T) {
	want := map[string]float64{"PMGClusterFilling": report.FullEnough, "PMGClusterFull": report.AlmostFull}
	for _, a := range alerts(t) {
		if share, ok := want[a.Alert]; ok && !strings.HasSuffix(a.Expr, fmt.Sprint("> ", share)) {
			t.Errorf("%s is not of %v: %s", a.Alert, share, a.Expr)
		}
		delete(want, a.Alert)
	}
	page, err := os.ReadFile("../docs/cluster.md")
	if text := fmt.Sprintf("From %.0f %% ", 100*report.FullEnough); err != nil || !strings.Contains(strings.ReplaceAll(string(page), "\n", " "), text) {
		t.Errorf("cluster.md has no %q, %v", text, err)
	}
	for name := range want {
		t.Errorf("there is no alert %s", name)
	}
}

// Each alert says what to do and where more is, and names labels that its expression has.
func TestDocumentsAlerts(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range alerts(t) {
		if seen[a.Alert] || !strings.HasPrefix(a.Alert, "PMG") {
			t.Errorf("%q occurs twice, or does not begin with PMG", a.Alert)
		}
		seen[a.Alert] = true
		if s := a.Labels["severity"]; s != "page" && s != "ticket" {
			t.Errorf("%s: severity %q", a.Alert, s)
		}
		if a.Annotations["summary"] == "" || !strings.HasSuffix(a.Annotations["description"], ".") {
			t.Errorf("%s: no summary, or a description that is not a sentence", a.Alert)
		}
		file, heading, _ := strings.Cut(a.Annotations["runbook"], "#")
		page, err := os.ReadFile("../" + file)
		if err != nil {
			t.Errorf("%s: %v", a.Alert, err)
		} else if heading != "" && !slices.Contains(headings(string(page)), heading) {
			t.Errorf("%s: %s has no heading %s", a.Alert, file, heading)
		}
	}
}

// headings returns the anchors of a page.
func headings(page string) (all []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		plain := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(plain, " ", "-"))
	}
	return all
}

// The dashboard's panels have a meaning and a query each, and do not overlap.
func TestDocumentsDashboard(t *testing.T) {
	d := readDashboard(t)
	if d.UID != "pmg" || len(d.Templating.List) != 4 || d.Templating.List[0].Type != "datasource" {
		t.Errorf("uid %q, variables %+v", d.UID, d.Templating.List)
	}
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || p.Type != "row" && (p.Description == "" || len(p.Targets) == 0) {
			t.Errorf("panel %d %q: id twice, or no title, description or query", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("%s is on %s, or beyond the right", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

// promtool takes the rules and every expression of the dashboard, and the tests of the rules pass.
func TestDocumentsPromtool(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("needs promtool (Debian: prometheus)")
	}
	var b strings.Builder
	b.WriteString("groups:\n- name: queries\n  rules:\n")
	for i, q := range queries(t) {
		fmt.Fprintf(&b, "  - {record: \"query:%d\", expr: %q}\n", i, q.expr)
	}
	file := filepath.Join(t.TempDir(), "queries.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	all := [][]string{{"check", "rules", file}, {"check", "rules", monitoring + "/pmg.rules.yaml"}}
	if !testing.Short() { // half a minute of CPU for days of samples
		all = append(all, []string{"test", "rules", monitoring + "/pmg.rules.test.yaml"})
	}
	for _, args := range all {
		if out, err := exec.Command("promtool", args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
