package browser

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// The library that draws the charts is as it was published, and is sent to browsers that do not have it yet.
func TestLibrary(t *testing.T) {
	t.Parallel()
	site := &Site{Base: "/ui/"}
	for name, want := range map[string]string{
		"uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
		"uPlot.min.css":     "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
	} {
		b, err := staticFiles.ReadFile("static/uplot/" + name)
		if got := fmt.Sprintf("%x", sha256.Sum256(b)); err != nil || got != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	for tag, want := range map[string]int{"": http.StatusOK, `"19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f"`: http.StatusNotModified} {
		r := httptest.NewRequest("GET", "/ui/static/uplot/uPlot.iife.min.js", nil)
		r.Header.Set("If-None-Match", tag)
		w := httptest.NewRecorder()
		if site.Static().ServeHTTP(w, r); w.Code != want || w.Code == http.StatusOK && w.Body.Len() != 51081 {
			t.Errorf("a browser that has %q: %d, %d octets", tag, w.Code, w.Body.Len())
		}
	}
	if _, err := staticFiles.ReadFile("static/uplot/LICENSE"); err != nil {
		t.Error(err)
	}
}

// After a login and an action a browser goes to pages of the gateway alone.
func TestOwnPaths(t *testing.T) {
	t.Parallel()
	site := &Site{Base: "/ui/"}
	for path, want := range map[string]string{
		"/ui/sessions?page=2": "/ui/sessions?page=2", "": "/ui/", "//evil.example/ui/": "/ui/", "https://evil.example/ui/": "/ui/", "/admin/v1/status": "/ui/",
		`/\evil.example/ui/`: "/ui/", `\\evil`: "/ui/", "javascript:alert(1)": "/ui/", "/ui/../x": "/ui/../x", "%zz": "/ui/",
	} {
		if got := site.OwnPath(path); got != want {
			t.Errorf("%q: %q", path, got)
		}
	}
}
