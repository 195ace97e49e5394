package httpload

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"pmg/loadtest"
)

// A line that is throttled is sent again until it is accepted, and the stream ends when all are.
func TestStreamRetry(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	came, accepted := map[string]int{}, map[string]int{}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		if err := c.EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		in := bufio.NewScanner(r.Body)
		for in.Scan() {
			var m struct{ Text string }
			if err := json.Unmarshal(in.Bytes(), &m); err != nil {
				t.Error(err)
			}
			mu.Lock()
			n := came[m.Text]
			came[m.Text]++
			if n == int(m.Text[12])%3 { // as many times as its number says

				accepted[m.Text]++
			}
			taken := accepted[m.Text] > 0
			mu.Unlock()
			answer := `{"status":503}`
			if taken {
				answer = fmt.Sprintf(`{"id":%q}`, m.Text)
			}
			fmt.Fprintln(w, answer)
			if err := c.Flush(); err != nil {
				return
			}
		}
	}))
	defer h.Close()
	for _, window := range []int{1, 5, 50} {
		o := Options{LoadOptions: loadtest.DefaultLoadOptions(), Way: Stream}
		o.To, o.Connections, o.Window, o.Messages, o.Retry, o.First = h.URL, 3, window, 200, time.Millisecond, int64(window)*1000
		r, err := Load(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if p := r.Problems(); p != nil || r.Accepted != 200 || r.Messages != 200 || r.Throttled == 0 || r.Resent != r.Throttled || r.Sent != 200+r.Resent {
			t.Errorf("window %d: %v, %+v", window, p, r)
		}
	}
	for text, n := range accepted {
		if n != 1 {
			t.Errorf("%s was accepted %d times", text, n)
		}
	}
	if len(accepted) != 600 {
		t.Errorf("%d were accepted", len(accepted))
	}
}

// Options that cannot be are refused.
func TestOptions(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Options){
		"connections": func(o *Options) { o.Connections = 0 },
		"messages":    func(o *Options) { o.Messages = 0 },
		"first":       func(o *Options) { o.First = -1 },
		"parts":       func(o *Options) { o.Parts = 2 },
		"mo-to":       func(o *Options) { o.MOTo = []string{"1001"} },
		"rate":        func(o *Options) { o.Rate, o.Way = 1, Stream },
		"retry":       func(o *Options) { o.Retry, o.Way = o.Timeout, Stream },
	} {
		o := Options{LoadOptions: loadtest.DefaultLoadOptions()}
		o.To, o.Messages = "127.0.0.1:1", 1
		change(&o)
		if _, err := Load(t.Context(), o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
