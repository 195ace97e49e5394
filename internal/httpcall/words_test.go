package httpcall

import (
	"errors"
	"net/url"
	"testing"
)

// A server that has closed a connection which waited for the next call is told from one that closes during a call.
func TestWordsOfClosedIdle(t *testing.T) {
	t.Parallel()
	err := &url.Error{Op: "Post", URL: "http://127.0.0.1/", Err: errors.New("http: server closed idle connection")}
	if text, slow := words(err); text != "closed the connection before the call" || slow {
		t.Error(text, slow)
	}
}
