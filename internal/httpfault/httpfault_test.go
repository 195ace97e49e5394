package httpfault

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmg/internal/testkit/testutil"
)

// A panic is logged, and answered while nothing else was.
func TestHandler(t *testing.T) {
	t.Parallel()
	var logged testutil.Log
	s := httptest.NewUnstartedServer(Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		switch r.URL.Path {
		case "/begun":
			_, _ = io.WriteString(w, "half of")
			_ = http.NewResponseController(w).Flush()
		case "/aborted":
			panic(http.ErrAbortHandler)
		case "/good":
			_, _ = io.WriteString(w, "good")
			return
		}
		panic("of " + r.URL.Path)
	}), zerolog.New(&logged), func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "failed", http.StatusInternalServerError) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	defer s.Close()
	for path, want := range map[string]string{
		"/good":    "200 image/png good",
		"/early":   "500 text/plain; charset=utf-8 failed",
		"/begun":   "cut off",
		"/aborted": "cut off",
	} {
		got := "cut off"
		if r, err := http.Get(s.URL + path); err == nil {
			b, err := io.ReadAll(r.Body)
			_ = r.Body.Close()
			if err == nil {
				got = strings.TrimSpace(r.Status[:3] + " " + r.Header.Get("Content-Type") + " " + string(b))
			}
		}
		if got != want {
			t.Errorf("%s: %s, not %s", path, got, want)
		}
	}
	if text := logged.String(); strings.Count(text, "a request failed") != 2 || !strings.Contains(text, `"panic":"of /early"`) || !strings.Contains(text, "httpfault_test.go") {
		t.Errorf("the log has\n%s", text)
	}
}
