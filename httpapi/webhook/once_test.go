package webhook

import (
	"io"
	"slices"
	"strings"
	"testing"

	"pmg/httpapi/apitest"
	"pmg/internal/testkit/testutil"
	"pmg/protocols/httpsms"
)

// once calls the URLs of a batch.
func once(c *Service, urls ...string) {
	var calls []*httpsms.Call
	for _, u := range urls {
		calls = append(calls, &httpsms.Call{Method: "GET", URL: u})
	}
	c.CallOnce(c.rooms.Options.Account("client"), calls)
}

// The calls of a batch are made in their order and once each, whatever is answered, until nobody answers or a URL may not be called; the log says
// so once.
func TestCallOnce(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	var log testutil.Log
	g := apitest.NewGateway(t, &log)
	down := "http://" + testutil.FreeAddress(t)
	g.Table.Account("client").CallbackURLs = []string{h.URL + "/", down + "/"}
	c := New(roomsOf(g), idleEngine{}, nil)
	defer c.Close()
	h.Answers(500, "", "")
	ended := func() bool {
		c.batches.mu.Lock()
		defer c.batches.mu.Unlock()
		return c.batches.all == 0 && len(c.batches.of) == 0
	}
	once(c, h.URL+"/1", h.URL+"/2", h.URL+"/3")
	testutil.Eventually(t, "they are called", func() bool { return len(h.Calls()) == 3 && ended() })
	if text := log.String(); strings.Contains(text, "was not called") {
		t.Error(text)
	}
	once(c, h.URL+"/4", down+"/secret?x=1", h.URL+"/never")
	testutil.Eventually(t, "it has ended", ended)
	if text := log.String(); !strings.Contains(text, "was not called") || !strings.Contains(text, `"url":"`+down+`/secret","reason":"`) {
		t.Error(text)
	}
	once(c, h.URL+"/5", "http://192.0.2.1/", h.URL+"/never")
	testutil.Eventually(t, "it has ended", ended)
	var paths []string
	for _, one := range h.Calls() {
		paths = append(paths, one.Path)
	}
	if want := []string{"/1", "/2", "/3", "/4", "/5"}; !slices.Equal(paths, want) || strings.Count(log.String(), "was not called") != 1 {
		t.Errorf("called are %q: %s", paths, log.String())
	}
}

// An account that may name no URLs of its own has none called that its callback_urls lack, wherever that leads.
func TestCallOnceForbidden(t *testing.T) {
	t.Parallel()
	var log testutil.Log
	g := apitest.NewGateway(t, &log)
	g.Table.Account("client").CallbacksTo = ""
	c := New(roomsOf(g), idleEngine{}, nil)
	defer c.Close()
	once(c, "http://nobody.invalid/")
	testutil.Eventually(t, "the log says so", func() bool { return strings.Contains(log.String(), "was not called") })
	if text := log.String(); !strings.Contains(text, `"reason":"its URL `) {
		t.Error(text)
	}
}

// Behind the end of the gateway nothing is called, and nothing waits for it.
func TestClosed(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	g := apitest.NewGateway(t, io.Discard)
	g.Table.Account("client").CallbackURLs = []string{h.URL + "/"}
	c := New(roomsOf(g), idleEngine{}, nil)
	c.Close()
	once(c, h.URL+"/1")
	if c.batches.all != 0 || len(h.Calls()) > 0 {
		t.Errorf("%d batches, %d calls", c.batches.all, len(h.Calls()))
	}
}

// A call that is under way when the gateway ends is cut; its event is neither refused nor lost, and the log is silent about it.
func TestCut(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	r := newRig(t, h, "", "")
	under, release := make(chan struct{}), make(chan struct{})
	h.Before(func(string) { close(under); <-release })
	id := r.delivered()
	<-under
	r.service.Close()
	eventually(t, "it waits", func() bool { return r.row().UnderWay == 0 && r.Gateway.Pending() == 1 })
	close(release)
	if text := r.Log.String(); strings.Contains(text, "a webhook did not take an event") || len(r.attempts(id)) != 1 {
		t.Error(text)
	}
}
