package browser

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
)

//go:embed static
var staticFiles embed.FS

// Policy allows a page to load files of its server, and nothing else. No script runs but those of its files.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Protect sets the headers that keep a page's content from doing anything, and its browser from keeping it.
func Protect(h http.Header) {
	h.Set("Content-Security-Policy", Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	// without a referrer browsers send no origin either, and forms would be refused
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// Static serves the files that the pages of a site load. An embedded file has no time. Without a tag of its content, browsers
// would load it anew with each page.
func (s *Site) Static() http.Handler {
	files, err := fs.Sub(staticFiles, "static")
	if err != nil {
		panic(err) // the directory is embedded
	}
	serve := http.FileServerFS(files)
	return http.StripPrefix(s.Base+"static/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := fs.ReadFile(files, r.URL.Path)
		if err != nil { // the path is unknown, or names a directory, which is not listed
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(b)))
		w.Header().Set("Cache-Control", "no-cache") // browsers must ask whether the tag has changed
		serve.ServeHTTP(w, r)
	}))
}
