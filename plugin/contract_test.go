package plugin_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/plugin"
	"pmg/plugin/expression"
	"pmg/plugin/plugintest"
	"pmg/plugin/program"
	"pmg/plugin/service"
)

func TestMain(m *testing.M) {
	plugintest.Speak()
	testutil.NoLeaks(m)
}

// kinds are the kinds of plugin, each of which decides as plugintest.Decide does.
var kinds = map[string]func(t *testing.T) plugin.Plugin{
	"expression": func(t *testing.T) plugin.Plugin {
		p, problems := expression.Compile([]expression.Rule{
			{If: `to endsWith "7"`, Do: plugin.Refuse, Status: "throttled", Why: "seven"},
			{Text: `to + " " + text`, Tags: []string{"a:1"}},
		})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return p
	},
	"service": func(t *testing.T) plugin.Plugin { return newService(t, 1, plugintest.Service) },
	"service in batches": func(t *testing.T) plugin.Plugin {
		return newService(t, 20, plugintest.Service)
	},
	"program": func(t *testing.T) plugin.Plugin {
		return program.New(program.Options{Command: plugintest.Command("decide"), Workers: 4})
	},
}

func newService(t *testing.T, batch int, h http.HandlerFunc) plugin.Plugin {
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return service.New(service.Options{URL: server.URL, Batch: batch})
}

// each runs a test with each kind of plugin. The plugin is closed at its end.
func each(t *testing.T, f func(t *testing.T, p plugin.Plugin)) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := kind(t)
			t.Cleanup(p.Close)
			f(t, p)
		})
	}
}

// All kinds have the same verdict about the same message, and leave it as it is.
func TestSameVerdicts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p plugin.Plugin) {
		for i := range 10 {
			m := plugintest.Message(i)
			m.Arrived = time.Date(2026, 7, 1, 20, 30, 0, 123456789, time.UTC)
			before := *m
			v, err := p.Ask(t.Context(), m)
			if want := plugintest.Describe(plugintest.Decide(m)); err != nil || plugintest.Describe(v) != want || v.Check() != nil {
				t.Errorf("%d: %s, %v, want %s", i, plugintest.Describe(v), err, want)
			}
			if *m != before {
				t.Errorf("%d: it has become %+v", i, m)
			}
		}
	})
}

// Texts of any characters and length go there and back.
func TestTexts(t *testing.T) {
	t.Parallel()
	texts := []string{"", "\x00\r\n\t\"\\", "日本語 🎉", "{\"n\":1}\n{\"n\":2}\n", "\u2028\u2029\ufffd", strings.Repeat("å", 4000)}
	each(t, func(t *testing.T, p plugin.Plugin) {
		for _, text := range texts {
			m := plugintest.Message(1)
			m.Text = text
			if v, err := p.Ask(t.Context(), m); err != nil || v.Text == nil || *v.Text != m.To+" "+text {
				t.Errorf("%.40q: %.100s, %v", text, plugintest.Describe(v), err)
			}
		}
	})
}

// A thousand callers at the same time have their own verdicts, through a pool and without.
func TestThousandCallers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p plugin.Plugin) {
		pool := plugin.NewPool(p, plugin.Options{Name: "p", Workers: 64, Queue: 1000, Deadline: testutil.Patience, OnFailure: plugin.Hold})
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				m := plugintest.Message(i)
				want := plugintest.Describe(plugintest.Decide(m))
				if d := pool.Ask(m); d.Failure != nil || plugintest.Describe(d.Verdict) != want {
					t.Errorf("%d: %s, %v", i, plugintest.Describe(d.Verdict), d.Failure)
				}
			})
			all.Go(func() {
				m := plugintest.Message(1000 + i)
				want := plugintest.Describe(plugintest.Decide(m))
				if v, err := p.Ask(t.Context(), m); err != nil || plugintest.Describe(v) != want {
					t.Errorf("%d: %s, %v", i, plugintest.Describe(v), err)
				}
			})
		}
		all.Wait()
		if f := pool.Figures(); f.Asked != 1000 || f.Failed != 0 || f.Refused != 100 || f.Changed != 900 || f.InFlight+f.Waiting != 0 {
			t.Errorf("%+v", f)
		}
	})
}

// A caller whose time is over harms no other, before, at and behind its question.
func TestCallersEnd(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p plugin.Plugin) {
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				if i%2 == 0 {
					cancel()
				} else {
					go cancel()
				}
				m := plugintest.Message(i)
				v, err := p.Ask(ctx, m)
				if err == nil && plugintest.Describe(v) != plugintest.Describe(plugintest.Decide(m)) {
					t.Errorf("%d: %s", i, plugintest.Describe(v))
				}
			})
		}
		all.Wait()
		testutil.Eventually(t, "it answers", func() bool { _, err := p.Ask(t.Context(), plugintest.Message(1)); return err == nil })
	})
}

// Close may be called again, and ends what hangs.
func TestCloseEnds(t *testing.T) {
	t.Parallel()
	came := make(chan bool, 1)
	for name, p := range map[string]plugin.Plugin{
		"service": newService(t, 1, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the connection ends
			came <- true
			<-r.Context().Done()
		}),
		"program": program.New(program.Options{Command: plugintest.Command("deaf")}),
	} {
		errs := make(chan error)
		go func() { _, err := p.Ask(context.Background(), plugintest.Message(1)); errs <- err }()
		if name == "service" {
			testutil.Receive(t, "a question", came)
		}
		p.Close()
		if err := testutil.Receive(t, "its end", errs); err == nil || err.Error() != "it is closed" {
			t.Errorf("%s: %v", name, err)
		}
		p.Close()
		if _, err := p.Ask(t.Context(), plugintest.Message(1)); err == nil {
			t.Errorf("%s: it answers when it is closed", name)
		}
	}
}

// FuzzAnswer reads what services and programs may answer.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"do":"delay","until":"2026-01-01T00:00:00Z","tags":["a"],"to":"+46"}`))
	f.Add([]byte(`{} {}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var v plugin.Verdict
		if err := plugin.ReadAnswer(b, &v); err != nil && len(err.Error()) > 4*80+400+len(b) {
			t.Error(err)
		}
		if n := len(plugin.Quote(b)); n > 4*80+10 {
			t.Errorf("%d octets", n)
		}
	})
}
