package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"pmg/internal/testutil"
)

// A screen is what a command has printed so far.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// pmg dev takes a message by the curl command that it prints, tells of its end and of the reply, shows both on the phone, and ends.
func TestDev(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, ended := new(screen), make(chan error, 1)
	cmd := newRootCommand()
	cmd.SetOut(out)
	cmd.SetErr(out)
	cmd.SetArgs([]string{"dev", "--http", "0", "--smpp", "0", "--pages", "0", "--phones", "0", "--receipt-delay", "1ms"})
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	testutil.Eventually(t, "it says how it is used", func() bool { return strings.Contains(out.String(), "others are delivered") })
	find := func(pattern string) string {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(out.String())
		if m == nil {
			t.Fatalf("no %s in %s", pattern, out)
		}
		return m[1]
	}
	api, phones := find(`(http://\S+)/v1/messages`), find(`phones +(http://\S+)/`)
	ask := func(method, url, body string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth("dev", "secret")
		r.Header.Set("Content-Type", "application/json")
		r.Close = true
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		b, _ := io.ReadAll(answer.Body)
		return string(b)
	}
	if said := ask("POST", api+"/v1/messages", `{"from": "1234", "to": "+46700000008", "text": "Hello"}`); !strings.Contains(said, `"queued"`) {
		t.Fatal(said)
	}
	told := ""
	testutil.Eventually(t, "the end and the reply are told", func() bool {
		told += ask("GET", api+"/v1/events", "")
		return strings.Contains(told, "message.delivered") && strings.Contains(told, "inbound.received")
	})
	testutil.Eventually(t, "the phone shows both", func() bool {
		page := ask("GET", phones+"/texts?number=46700000008", "")
		return strings.Contains(page, "<p>Hello</p>") && strings.Contains(page, "<p>Re: Hello</p>")
	})
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
