package apitest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A Hook is the server of a webhook. It answers 200 until the test sets another answer.
type Hook struct {
	URL string

	mu     sync.Mutex
	status int
	header [2]string
	body   string
	before func(body string)
	calls  []Call
}

// A Call is a call that a Hook has answered.
type Call struct {
	Method, Path, Body string // Path has the query
	Header             http.Header
	Status             int // status of the answer
}

// NewHook starts a server.
func NewHook(t *testing.T) *Hook {
	h := &Hook{status: http.StatusOK}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	h.URL = s.URL
	return h
}

// ServeHTTP implements http.Handler.
func (h *Hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	before := h.before
	h.mu.Unlock()
	if before != nil {
		before(string(b))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, Call{r.Method, r.URL.String(), string(b), r.Header, h.status})
	if h.header[0] != "" {
		w.Header().Set(h.header[0], h.header[1])
	}
	w.WriteHeader(h.status)
	_, _ = io.WriteString(w, h.body)
}

// Answers sets the answer: a status, a body, and a header "Name: value" or "".
func (h *Hook) Answers(status int, body, header string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	name, value, _ := strings.Cut(header, ": ")
	h.status, h.body, h.header = status, body, [2]string{name, value}
}

// AnswersAfresh sets the status of the answer, and forgets the calls so far.
func (h *Hook) AnswersAfresh(status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status, h.body, h.header, h.calls = status, "", [2]string{}, nil
}

// Before sets a function that is called with the body of each call, before the call is counted.
func (h *Hook) Before(f func(body string)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.before = f
}

// Calls returns the calls that have all words in their path or their body.
func (h *Hook) Calls(words ...string) (some []Call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.calls {
		if c.has(words) {
			some = append(some, c)
		}
	}
	return some
}

// Took returns the calls, among those that Calls returns, that were answered with 2xx.
func (h *Hook) Took(words ...string) (some []Call) {
	for _, c := range h.Calls(words...) {
		if c.Status/100 == 2 {
			some = append(some, c)
		}
	}
	return some
}

func (c *Call) has(words []string) bool {
	for _, w := range words {
		if !strings.Contains(c.Path+" "+c.Body, w) {
			return false
		}
	}
	return true
}
