package admin

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmg/cluster/report"
	"pmg/config"
	"pmg/internal/token"
)

// A node that stands by shows its part of the cluster to those who may look, and none of what only a gateway has.
func TestStandbyMetrics(t *testing.T) {
	t.Parallel()
	var known *report.Report
	secret := token.New()
	hash := token.Hash(secret)
	cfg := config.Admin{Address: "127.0.0.1:0", Tokens: []config.Token{{Name: "prometheus", Hash: hash, Scope: config.LookScope}}}
	server := httptest.NewServer(StandbyMetrics(cfg, func() *report.Report { return known }, zerolog.Nop()))
	defer server.Close()
	get := func(bearer string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+bearer)
		a, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		b, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(b)
	}
	if code, body := get("wrong"); code != http.StatusUnauthorized || strings.Contains(body, "pmg_") {
		t.Errorf("a wrong token: %d %s", code, body)
	}
	if code, body := get(secret); code != http.StatusOK || strings.Contains(body, "pmg_cluster") || !strings.Contains(body, "go_goroutines") {
		t.Errorf("before it takes part: %d %s", code, body)
	}
	known = &report.Report{Figures: report.Figures{Epoch: 3, Record: 48200, Behind: 11, Heartbeat: 0.5, Unfit: report.Drained}}
	code, body := get(secret)
	for _, want := range []string{
		"pmg_cluster_owner 0\n", "pmg_cluster_epoch 3\n", "pmg_cluster_record 48200\n", "pmg_cluster_records_behind 11\n",
		"pmg_cluster_heartbeat_age_seconds 0.5\n", "pmg_cluster_nodes_ready 0\n",
		"pmg_cluster_cannot_take_over{reason=\"drained\"} 1\n", "pmg_cluster_cannot_take_over{reason=\"reading\"} 0\n",
	} {
		if code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%d, without %q", code, want)
		}
	}
	if strings.Contains(body, "pmg_ready") || strings.Contains(body, "pmg_store") {
		t.Error("it shows what only a gateway has")
	}
}
