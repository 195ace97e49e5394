package apitest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A Client makes requests. It logs in as Name with the password "secret" or with the header Login, if that is set.
type Client struct {
	T           *testing.T
	URL         string
	Name, Login string
}

// A Reply is an answer.
type Reply struct {
	Status int
	Header http.Header
	Body   string
	t      *testing.T
}

// Do makes a request, "METHOD /path", and reads its answer.
func (c *Client) Do(request, body string, headers ...string) Reply {
	c.T.Helper()
	method, path, _ := strings.Cut(request, " ")
	r, err := http.NewRequestWithContext(c.T.Context(), method, c.URL+path, strings.NewReader(body))
	if err != nil {
		c.T.Fatal(err)
	}
	switch {
	case c.Login != "":
		r.Header.Set("Authorization", c.Login)
	case c.Name != "":
		r.SetBasicAuth(c.Name, "secret")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		c.T.Fatal(err)
	}
	defer w.Body.Close()
	b, err := io.ReadAll(w.Body)
	if err != nil {
		c.T.Error(err)
	}
	return Reply{w.StatusCode, w.Header, string(b), c.T}
}

// Want checks the status of an answer, and that its body has the words.
func (r Reply) Want(status int, words ...string) Reply {
	r.t.Helper()
	for _, w := range words {
		if !strings.Contains(r.Body, w) {
			r.t.Errorf("%d %s, want %d with %s", r.Status, r.Body, status, w)
			return r
		}
	}
	if r.Status != status {
		r.t.Errorf("%d %s, want %d", r.Status, r.Body, status)
	}
	return r
}

// Field returns a member of an answer's object, as text.
func (r Reply) Field(name string) string {
	var all map[string]any
	_ = json.Unmarshal([]byte(r.Body), &all)
	if v, ok := all[name]; ok {
		return fmt.Sprint(v)
	}
	return ""
}
