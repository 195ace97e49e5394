package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// ask returns the status and the body of an answer.
func (a *api) ask(method, path, body string) string {
	a.t.Helper()
	req, err := http.NewRequest(method, a.url+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	if strings.HasPrefix(path, "/secure/") {
		req.SetBasicAuth("api", "s3cret")
	}
	resp, err := a.http.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return fmt.Sprint(resp.StatusCode, " ", string(b))
}
