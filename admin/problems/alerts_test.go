package problems

import (
	"os"
	"testing"

	"github.com/goccy/go-yaml"
)

// elsewhere has the alerts that a gateway cannot know itself, and why.
var elsewhere = map[string]string{
	"PMGDown":            "a gateway that does not answer shows no list",
	"PMGAbsent":          "it is about Prometheus",
	"PMGRestarts":        "a gateway does not know how often it was started",
	"PMGFileDescriptors": "/readyz tells when clients are refused for want of descriptors",
	"PMGDeliveredFalls":  "it compares with six hours before, and a gateway knows the last hour",
	"PMGAccountSilent":   "the same, and with the day before",
	"PMGConnectorSilent": "the same, and with the day before",

	"PMGPluginRests":    "PMGRouteDown has its line",
	"PMGPluginCrowded":  "the page Plugins shows it",
	"PMGListUnreadable": "PMGRouteDown has its line",
	"PMGOptOutsStopped": "it compares with the week before",
	"PMGBalanceLow":     "the page of the account shows it, and its webhook is called",

	"PMGClusterNoOwner":        "nodes that stand by show no list",
	"PMGClusterCannotTakeOver": "the same",
	"PMGClusterBehind":         "the same",
	"PMGClusterChanges":        "the process of an owner ends with each of them",
	"PMGClusterForeign":        "the log of each node that stands by says so",
	"PMGClusterFilling":        "pmg cluster status and the log of each node say so",
	"PMGClusterFull":           "the same",
	"PMGClusterAlone":          "the page Cluster and pmg cluster status show it, with the reason of each node",
}

// severities returns those of the alert rules.
func severities(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("../../docs/monitoring/pmg.rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert  string
				Labels map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if r.Alert != "" {
				all[r.Alert] = r.Labels["severity"]
			}
		}
	}
	if len(all) == 0 {
		t.Fatal("no alerts")
	}
	return all
}

// The list of problems and the alert rules know the same: each alert has a rule of the same severity, or a reason why it has none.
func TestProblemsAndAlerts(t *testing.T) {
	t.Parallel()
	known := map[string]string{}
	for _, r := range rules() {
		known[r.alert] = r.severity
	}
	for alert, severity := range severities(t) {
		here, isKnown := known[alert]
		switch {
		case isKnown && severity != here:
			t.Errorf("%s: severity %s here, %s in pmg.rules.yaml", alert, here, severity)
		case isKnown == (elsewhere[alert] != ""):
			t.Errorf("%s needs a row of rules, or a reason in elsewhere", alert)
		}
		delete(known, alert)
	}
	for name := range known {
		t.Errorf("pmg.rules.yaml has no alert %s", name)
	}
}
