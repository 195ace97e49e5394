package admin

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/config"
	"pmg/gateway/privacy"
	"pmg/internal/token"
)

// Administrators alone have numbers forgotten, one request at a time. No number is in an answer to others, or in the audit log.
func TestForget(t *testing.T) {
	t.Parallel()
	sink := startSink(t)
	cfg := parse(t, wholeConfig, t.TempDir(), sink.Addr())
	cfg.Admin.Audit = filepath.Join(t.TempDir(), "audit.log")
	r := start(t, cfg, false)
	r.await("/readyz", 200, "ok\n")
	r.setTokens([]config.Token{
		{Name: "actor", Hash: token.Hash(testToken), Scope: config.AdministerScope},
		{Name: "operator", Hash: token.Hash("pmg_operate"), Scope: config.OperateScope},
	})
	const path, number = "/admin/v1/forget?dry_run=1&number=", "46709999999"
	post := func(c *http.Client, path string, want int) (body string) {
		t.Helper()
		answer, err := c.Post(r.url+path, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		b, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != want {
			t.Errorf("%s: %d %s, %v", path, answer.StatusCode, b, err)
		}
		return string(b)
	}
	post(&http.Client{Transport: authorized("pmg_operate")}, path+number, 403)
	post(&http.Client{Transport: authorized("pmg_wrong")}, path+number, 401)
	for _, bad := range []string{"", "ACME", "0709999999", "1234", number + "&number=x"} {
		if body := post(client(), path+bad, 400); strings.Contains(body, number) {
			t.Errorf("the answer has the number: %s", body)
		}
	}
	var report privacy.Report
	if err := json.Unmarshal([]byte(post(client(), path+number+"&number=%2B46709999998", 200)), &report); err != nil {
		t.Fatal(err)
	}
	if report.Numbers != 2 || !report.DryRun || len(report.Removed) != 0 || len(report.Left) == 0 {
		t.Errorf("%+v", report)
	}
	r.admin.forgetter.busy.Store(true)
	post(client(), path+number, 503)
	if _, body := r.get("/admin/v1/forgetting"); !strings.Contains(body, `"running":true`) {
		t.Error(body)
	}
	r.admin.forgetter.busy.Store(false)
	b, err := os.ReadFile(cfg.Admin.Audit)
	if err != nil || strings.Contains(string(b), number) || strings.Contains(string(b), "46709999998") {
		t.Errorf("%v: the audit log has %s", err, b)
	}
	for _, want := range []string{`"act":"forget"`, `"number":["***"]`, `"numbers":2`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the audit log has no %s: %s", want, b)
		}
	}
}

// A request may take longer than others: this one waits until lines are flushed, which is when others would count as gone.
func TestForgetTakesLong(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for as long as a request may take")
	}
	t.Parallel()
	cfg := parse(t, wholeConfig, t.TempDir(), startSink(t).Addr())
	cfg.PDULog.Flush = timeout
	r := start(t, cfg, false)
	r.await("/readyz", 200, "ok\n")
	answer, err := client().Post(r.url+"/admin/v1/forget?number=46709999999", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if b, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != 200 {
		t.Errorf("%d %s, %v", answer.StatusCode, b, err)
	}
}
